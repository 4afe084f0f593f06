// What a provider says when it fails, as an error with its class.
//
// Thread: any.
#ifndef CADRE_EXT_PROVIDER_ERROR_H
#define CADRE_EXT_PROVIDER_ERROR_H

#include "cadre/ext/json_scan.h"

#ifdef __cplusplus
extern "C" {
#endif

// Fails with the class that an HTTP status and the provider's own code and message
// give; `code` and `message` may be "". The text quotes the message.
CADRE_API cadre_status cadre_fail_http(cadre_error *err, int http_status,
                                       const char *code, const char *message);

// Takes the value of a field `error` and gives a bookmark of it; false: it says nothing
// (null, false, "").
CADRE_API bool cadre_scan_error(cadre_scan *scan, cadre_scan *out);

// Is the object that `scan` stands before an error by itself, without a field `error`?
// For events and bodies that say nothing else: {"detail": "..."} (FastAPI), {"object":
// "error", "message": "..."} (vLLM), {"errors": [...]}, {"base_resp": {...}} (MiniMax).
CADRE_API bool cadre_scan_says_error(const cadre_scan *scan);

// Fails with what an error says that `scan` stands before: an object with `message` or
// `detail` and `code`, `type` or `status`, a text, or a list of these. A number as code
// counts as the status where the answer had one of success. How long the provider asks
// to wait, in a field or in words, goes to `err`. Returns what to return.
CADRE_API cadre_status cadre_fail_error(cadre_error *err, int http_status,
                                        cadre_scan *scan);

// Fails with what a body says that is no answer: an error, alone or as `error` of an
// object, a list of such, or the same as a server-sent event; of a page its title; else
// its first bytes. `key_env` names the variable of the key, for a 401; "": none was
// sent.
CADRE_API cadre_status cadre_fail_body(cadre_error *err, int http_status,
                                       const char *key_env, const char *data,
                                       size_t len);

// Fails with an event of a stream that is not JSON. Another attempt may fare better.
CADRE_API cadre_status cadre_fail_event(cadre_error *err, const char *data, size_t len);

// Fails with a whole body that is not `what` it should be ("a message"): one that was
// cut may be whole the next time, another one is what the server has.
CADRE_API cadre_status cadre_fail_answer(cadre_error *err, const char *what,
                                         const cadre_scan *scan, const char *data,
                                         size_t len);

#ifdef __cplusplus
}
#endif

#endif
