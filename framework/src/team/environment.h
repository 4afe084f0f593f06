// What a team file may take from its surroundings: variables and paths.
//
// Thread: any, as long as nobody changes the environment.
#ifndef CDR_ENVIRONMENT_H
#define CDR_ENVIRONMENT_H

#include "cadre/error.h"

#include "base/buf.h"

// The value of a variable; NULL when it is not set or empty.
const char *cdr_environment_get(const char *name);

// Appends `text` with ${VAR} and ${VAR:-default} replaced; `$${` gives a plain `${`.
// Errors: EINVAL: VAR is not set and there is no default, or it is no variable.
cadre_status cdr_environment_expand(const char *text, cdr_buf *out, cadre_error *err);

// Appends `path` as it is reached from here: it starts in `directory` and must stay
// there. Errors: EINVAL: empty, absolute, or with a `..` in it.
cadre_status cdr_path_resolve(const char *directory, const char *path, cdr_buf *out,
                              cadre_error *err);

#endif
