// See state_file.h.
#include "state_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *cli_state_variable(const char *name)
{
    const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe): one thread yet

    return value && *value ? value : NULL;
}

// Relative paths in XDG variables are to be ignored (XDG Base Directory Specification).
bool cli_state_file(const char *name, char *path, size_t size_bytes)
{
    const char *state = cli_state_variable("XDG_STATE_HOME");
    const char *home = cli_state_variable("HOME");
    int len = 0;

    if (state && state[0] == '/')
        len = snprintf(path, size_bytes, "%s/cadre/%s", state, name);
    else if (home)
        len = snprintf(path, size_bytes, "%s/.local/state/cadre/%s", home, name);
    return len > 0 && (size_t)len < size_bytes;
}

cadre_status cli_state_make_folders(const char *file, cadre_error *err)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s", file);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return cadre_fail(err, CADRE_ESTORE, "%s: the folder %s cannot be made: %s",
                              file, path, strerrordesc_np(errno));
        *slash = '/';
    }
    return CADRE_OK;
}
