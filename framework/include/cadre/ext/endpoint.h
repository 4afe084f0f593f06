// Where a model's requests go, and what is the same in each of them: URL, headers and
// the start of the body. Made by cadre_model_ops.init, written first by encode.
//
// Thread: immutable once made.
#ifndef CADRE_EXT_ENDPOINT_H
#define CADRE_EXT_ENDPOINT_H

#include "cadre/ext/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Zeroed before it is made.
typedef struct cadre_endpoint {
    char *url;
    char *key_env;          // where the key is from, for messages; "": none is sent
    char *key_header;       // what carries it
    const char *key_prefix; // before it there
    char *head;             // the body without its last brace
    json_t *headers;        // further ones, the option `headers`; NULL: none
} cadre_endpoint;

typedef struct cadre_endpoint_plan {
    char *url; // taken over; NULL: no memory
    // Writes what of the body is the same each time. False: no memory.
    bool (*fill_body)(const cadre_model_config *config, json_t *body);
    const char *const *reserved; // keys that `extra_body` may not have; NULL at the end
    const char *key_header;
    const char *key_prefix; // static
} cadre_endpoint_plan;

// Adds the option `extra_body` to the body. Errors: EINVAL, with a key that is
// reserved; ENOMEM. To be freed in any case.
CADRE_API cadre_status cadre_endpoint_init(cadre_endpoint *endpoint,
                                           const cadre_model_config *config,
                                           const cadre_endpoint_plan *plan,
                                           cadre_error *err);
CADRE_API void cadre_endpoint_fini(cadre_endpoint *endpoint);

// Sets URL and headers of a request: JSON asked for as a stream. `key` may be NULL or
// "".
CADRE_API void cadre_endpoint_begin(const cadre_endpoint *endpoint, const char *key,
                                    cadre_http *http);

// Joins a base URL and a path that starts with `/`: a query of the base, such as
// Azure's ?api-version=..., stays at the end. free() it; NULL: no memory.
CADRE_API char *cadre_wire_url(const char *base_url, const char *path);

// The same with a version, such as "/v1", between the two, unless the base ends in one
// (/v1, /v1beta): providers' own programs differ on whether a base URL has it.
CADRE_API char *cadre_wire_versioned_url(const char *base_url, const char *version,
                                         const char *path);

#ifdef __cplusplus
}
#endif

#endif
