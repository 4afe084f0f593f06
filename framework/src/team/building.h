// What the files of the builder in C share: whether a team may be added to, the structs
// that callers fill in, and options.
//
// Thread: one at a time, as building is.
#ifndef CDR_BUILDING_H
#define CDR_BUILDING_H

#include "team/build.h"

// May it be added to? A sealed team is read by runs; whoever adds to one has a mistake
// to find, so the next to seal or run it is told of the `call`.
bool cdr_building_is_open(cadre_team *team, const char *call);

// Copies a caller's struct, which `macro` makes. False: told.
bool cdr_building_take(cadre_team *team, void *own, size_t size, const void *given,
                       const char *macro);

// Copies hooks to the team; NULL: none were given, or told.
const cadre_hooks *cdr_building_hooks(cadre_team *team, const cadre_hooks *given);

// Is there a name at all? False: told.
bool cdr_building_has_name(cadre_team *team, const char *name, const char *macro);

// The place of a thing made in C: only what it is called.
cdr_at cdr_building_place(cadre_team *team, const char *kind, const char *name);

// Adds names to those that are resolved by sealing; NULL ones are told.
void cdr_building_add_names(cadre_team *team, cdr_name_refs *refs,
                            const cadre_names *names, const cdr_at *at,
                            const char *part);

// A timeout that was given; 0 for none and for what is told.
int64_t cdr_building_timeout(cadre_team *team, int64_t given, const cdr_at *at);

// The reports of a check of options, with the place of what they belong to.
typedef struct cdr_options_check {
    cadre_team *team;
    const cdr_at *at;
    bool is_struct; // they were fields of a struct, and no JSON text
    bool is_flawed;
} cdr_options_check;

// Checks options against a type's schema. New reference; NULL: told.
json_t *cdr_building_read_options(cdr_options_check *check, const char *options_schema,
                                  const json_t *given);

// The same of JSON text; NULL: none.
json_t *cdr_building_parse_options(cdr_options_check *check, const char *options_schema,
                                   const char *text);

#endif
