// What the bodies and addresses of all wire formats have in common.
//
// Thread: plain functions, for cadre_model_ops.init.
#ifndef CADRE_EXT_WIRE_BODY_H
#define CADRE_EXT_WIRE_BODY_H

#include "cadre/ext/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Joins a base URL and a path that starts with `/`: a query of the base, such as
// Azure's ?api-version=..., stays at the end. free() it; NULL: no memory.
CADRE_API char *cadre_wire_url(const char *base_url, const char *path);

// Copies those options into a body that have a name of the list, which ends with NULL.
// False: no memory.
CADRE_API bool cadre_wire_pass(const json_t *options, const char *const *names,
                               json_t *body);

// Gives the part of a body that is the same for each request: the object with the
// option `extra_body` added, without its last brace. A key of `extra_body` that is in
// the list `reserved`, which ends with NULL, is refused. free() it. Errors: EINVAL,
// ENOMEM.
CADRE_API cadre_status cadre_wire_head(const cadre_model_config *config, json_t *body,
                                       const char *const *reserved, char **out,
                                       cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
