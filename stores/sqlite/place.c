// See place.h.
#include "place.h"

#include <errno.h>
#include <string.h>

cadre_status cdr_sqlite_place_init(cdr_sqlite_place *place, const char *path,
                                   cadre_error *err)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': %.200s: %s", path,
                          strerrordesc_np(errno));
    *place = (cdr_sqlite_place){path, found.st_dev, found.st_ino};
    return CADRE_OK;
}

cadre_status cdr_sqlite_place_check(const cdr_sqlite_place *place, cadre_error *err)
{
    struct stat found;
    if (stat(place->path, &found) == 0 && found.st_dev == place->device &&
        found.st_ino == place->inode)
        return CADRE_OK;
    return cadre_fail(err, CADRE_ESTORE,
                      "store 'sqlite': %.200s: was removed or replaced while it was in "
                      "use",
                      place->path);
}
