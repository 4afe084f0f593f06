// URLs as messages show them: without user, password, query and fragment, any of which
// may be a secret. What is no URL is shown by the same rule, since the mistake may be
// in it.
//
// Thread: any.
#ifndef CDR_URL_TEXT_H
#define CDR_URL_TEXT_H

#define CDR_URL_TEXT_SIZE 256

// Writes `https://host:port/path`, with `?...` where a query is left out, cut when it
// is too long. Returns `out`.
const char *cdr_url_text(char out[CDR_URL_TEXT_SIZE], const char *url);

#endif
