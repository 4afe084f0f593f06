// What the bodies and addresses of all wire formats have in common.
//
// Thread: plain functions, for cadre_model_ops.init and encode.
#ifndef CADRE_EXT_WIRE_BODY_H
#define CADRE_EXT_WIRE_BODY_H

#include "cadre/ext/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Joins a base URL and a path that starts with `/`: a query of the base, such as
// Azure's ?api-version=..., stays at the end. free() it; NULL: no memory.
CADRE_API char *cadre_wire_url(const char *base_url, const char *path);

// The same with a version, such as "/v1", between the two, unless the base ends in one
// (/v1, /v1beta): providers' own programs differ on whether a base URL has it.
CADRE_API char *cadre_wire_versioned_url(const char *base_url, const char *version,
                                         const char *path);

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

// Appends, without quotes and escaped for a JSON string, what tells a model in words to
// answer with JSON that fits a schema: where a provider has no other place for that.
CADRE_API void cadre_wire_tell_schema(cadre_http *http, const json_t *schema);

#ifdef __cplusplus
}
#endif

#endif
