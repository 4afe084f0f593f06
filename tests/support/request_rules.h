// What endpoints refuse: the rules that a request's body keeps, whatever the history
// was.
//
// Thread: any of the running test.
#ifndef SUPPORT_REQUEST_RULES_H
#define SUPPORT_REQUEST_RULES_H

#include <stdbool.h>

// Checks that the body is one JSON object without repeated keys, and keeps what is
// known of the provider's own rules. False: a check has failed.
bool request_rules_check(const char *provider, const char *body);

#endif
