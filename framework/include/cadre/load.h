// Team files read otherwise than they say: the same members, another topology.
//
// Thread: any; the team is one thread's until it is given out.
#ifndef CADRE_LOAD_H
#define CADRE_LOAD_H

#include "cadre/team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_load {
    size_t struct_size;
    const char *type; // of the root, instead of the one that is written; NULL: that
} cadre_load;

#define CADRE_LOAD(...)                                                                \
    (&(const cadre_load){.struct_size = sizeof(cadre_load), __VA_ARGS__})

// Loads as cadre_team_load does, with what `options` says otherwise (NULL: nothing).
// With another type the root must be a topology already: its members, entry and the
// block of the new type are those of the file. What cannot work so is a mistake of the
// team that says "(by --type TYPE)". A run of such a team is gone on with by one that
// was loaded the same way: cadre_record_info.type tells how. Errors: as of
// cadre_team_load; EINVAL with the nearest name and all others: there is no such
// topology.
CADRE_API cadre_status cadre_team_load_as(cadre_runtime *runtime, const char *path,
                                          const cadre_load *options, cadre_team **out,
                                          cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
