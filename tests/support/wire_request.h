// A request in the words of a wire format: what is sent for a list of messages.
//
// Running out of memory ends the program; what cannot be encoded is a failed check.
// Thread: one at a time.
#ifndef SUPPORT_WIRE_REQUEST_H
#define SUPPORT_WIRE_REQUEST_H

#include "net/http_request.h"

typedef struct wire_request {
    const char *provider;
    const char *model;    // of the provider; NULL: "m"
    const char *base_url; // NULL: "http://h"
    const char *options;  // JSON; NULL: none
    const char *system;   // NULL: "Be brief."
    const cadre_message *messages;
    size_t n_messages;
    const cadre_tool_info *tools;
    size_t n_tools;
    const char *output_schema; // JSON; NULL: none
} wire_request;

// Gives the body, which must be JSON without keys that repeat. The caller's. `http`:
// all of the request, to be released with cdr_http_fini; NULL: only the body is wanted.
char *wire_request_encode(const wire_request *request, cadre_http *http);

#endif
