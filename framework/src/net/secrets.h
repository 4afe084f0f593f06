// The secrets of a request, and keeping them out of what comes back: servers quote the
// key that they refuse, gateways echo what they were sent, redirects repeat the query.
//
// Secrets are
// - the values of headers whose names say so (authorization, api-key, token, cookie,
// ...),
//   without a scheme such as "Bearer";
// - of the URL the user and the password, plain and as they are sent, and the values of
//   parameters whose names say so,
// - each also with "\/" for "/", as some servers write JSON.
// What is shorter than CDR_SECRET_MIN bytes is none ("test", "any").
//
// In errors every part is covered that repeats so much of a secret's start: quotations
// are cut. In answers only a whole one is: a text may begin as a key does.
//
// Thread: filled by one, then read by any.
#ifndef CDR_SECRETS_H
#define CDR_SECRETS_H

#include "base/arena.h"
#include "net/http_request.h"

#define CDR_SECRET_MIN 8
#define CDR_SECRETS_MAX 16 // of one request; further ones are not known

typedef struct cdr_secret {
    const char *text;
    size_t len;
} cdr_secret;

typedef struct cdr_secrets {
    cdr_secret items[CDR_SECRETS_MAX];
    size_t count;
    cdr_arena arena; // of those that stand nowhere as they are sent
} cdr_secrets;

// Gathers those of a request, which must outlive them. False: no memory.
bool cdr_secrets_init(cdr_secrets *secrets, const cadre_http *http);
void cdr_secrets_fini(cdr_secrets *secrets);

// Covers every part of a text that repeats the start of a secret.
void cdr_secrets_cover(const cdr_secrets *secrets, char *text);

// Covers every whole secret.
void cdr_secrets_cover_whole(const cdr_secrets *secrets, char *data, size_t len);

// Returns how many of the first bytes can be shown, whatever follows: then comes a
// whole secret of `*n_secret` bytes, or (0) what may become one, or nothing.
size_t cdr_secrets_find(const cdr_secrets *secrets, const char *data, size_t len,
                        size_t *n_secret);

#endif
