// See secrets.h.
#include "net/secrets.h"

#include "base/base64.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Words in the names of headers and of a URL's parameters. No request of ours has one
// of these in a name for anything else.
static const char *const secret_words[] = {
    "auth",     "key",    "token",      "cookie",    "secret",
    "password", "passwd", "credential", "signature", "session",
};

static bool is_secret_name(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof secret_words / sizeof secret_words[0]; i++) {
        size_t n = strlen(secret_words[i]);
        for (size_t at = 0; at + n <= len; at++)
            if ((name[at] | 0x20) == secret_words[i][0] &&
                strncasecmp(name + at, secret_words[i], n) == 0)
                return true;
    }
    return false;
}

static void add_as_is(cdr_secrets *secrets, const char *text, size_t len)
{
    if (len >= CDR_SECRET_MIN && secrets->count < CDR_SECRETS_MAX)
        secrets->items[secrets->count++] = (cdr_secret){text, len};
}

// Also as some servers write it in JSON: "\/" for "/". False: no memory.
static bool add(cdr_secrets *secrets, const char *text, size_t len)
{
    add_as_is(secrets, text, len);
    if (!memchr(text, '/', len))
        return true;
    char *escaped = cdr_arena_alloc(&secrets->arena, 2 * len);
    if (!escaped)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '/')
            escaped[used++] = '\\';
        escaped[used++] = text[i];
    }
    add_as_is(secrets, escaped, used);
    return true;
}

// "Bearer KEY": the key; "a=b; c=d" of a cookie: each value.
static bool add_header(cdr_secrets *secrets, const cdr_http_header *header)
{
    const char *value = header->value;
    const char *blank = strchr(value, ' ');
    bool is_good = true;
    if (!strcasestr(header->name, "cookie")) {
        value = blank ? blank + 1 : value;
        return add(secrets, value, strlen(value));
    }
    while (*value) {
        size_t len = strcspn(value, ";");
        const char *equals = memchr(value, '=', len);
        const char *from = equals ? equals + 1 : value;
        is_good &= add(secrets, from, (size_t)(value + len - from));
        value += len;
        value += strspn(value, "; ");
    }
    return is_good;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c | 0x20) : NULL;
    return found ? (int)(found - digits) : -1;
}

// A part of a URL, as it stands there and as it is meant.
static bool add_part(cdr_secrets *secrets, const char *part, size_t len)
{
    bool is_good = add(secrets, part, len);
    if (!memchr(part, '%', len))
        return is_good;
    char *plain = cdr_arena_copy(&secrets->arena, part, len);
    if (!plain)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        int high = part[i] == '%' && i + 2 < len ? hex_digit(part[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(part[i + 2]) : -1;
        plain[used++] = (char)(low >= 0 ? high * 16 + low : part[i]);
        i += low >= 0 ? 2 : 0;
    }
    plain[used] = '\0';
    return add(secrets, plain, used) && is_good;
}

// "user:password" as Basic authentication sends it.
static bool add_basic(cdr_secrets *secrets, const char *user, size_t len)
{
    cdr_buf sent = CDR_BUF_INIT;
    cdr_base64_append(&sent, user, len);
    const char *kept =
        sent.failed ? NULL : cdr_arena_text(&secrets->arena, cdr_buf_text(&sent));
    bool is_good = kept && add(secrets, kept, sent.len);
    cdr_buf_fini(&sent);
    return is_good;
}

static bool add_user(cdr_secrets *secrets, const char *user, size_t len)
{
    const char *colon = memchr(user, ':', len);
    size_t name_len = colon ? (size_t)(colon - user) : len;
    bool is_good = add_part(secrets, user, name_len);
    if (colon)
        is_good &= add_part(secrets, colon + 1, len - name_len - 1);
    return is_good && add_basic(secrets, user, len);
}

static bool add_parameters(cdr_secrets *secrets, const char *query)
{
    bool is_good = true;
    while (*query && *query != '#') {
        size_t len = strcspn(query, "&#");
        const char *equals = memchr(query, '=', len);
        size_t name_len = equals ? (size_t)(equals - query) : len;
        if (equals && is_secret_name(query, name_len))
            is_good &= add_part(secrets, equals + 1, len - name_len - 1);
        query += len;
        query += *query == '&';
    }
    return is_good;
}

static bool add_url(cdr_secrets *secrets, const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme ? scheme + 3 : url;
    size_t len = strcspn(host, "/?#");
    const char *user_end = memrchr(host, '@', len);
    bool is_good = !user_end || add_user(secrets, host, (size_t)(user_end - host));
    const char *query = strchr(host, '?');
    return (!query || add_parameters(secrets, query + 1)) && is_good;
}

bool cdr_secrets_init(cdr_secrets *secrets, const cadre_http *http)
{
    bool is_good = true;
    *secrets = (cdr_secrets){.arena = CDR_ARENA_INIT};
    for (size_t i = 0; i < http->n_headers; i++) {
        const cdr_http_header *header = &http->headers[i];
        if (is_secret_name(header->name, strlen(header->name)))
            is_good &= add_header(secrets, header);
    }
    return (!http->url || add_url(secrets, http->url)) && is_good;
}

void cdr_secrets_fini(cdr_secrets *secrets)
{
    cdr_arena_fini(&secrets->arena);
    secrets->count = 0;
}

static size_t count_same(const char *a, size_t a_len, const cdr_secret *secret)
{
    size_t n = 0;
    while (n < a_len && n < secret->len && a[n] == secret->text[n])
        n++;
    return n;
}

void cdr_secrets_cover(const cdr_secrets *secrets, char *text)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len; at++) {
        size_t longest = 0;
        for (size_t i = 0; i < secrets->count; i++) {
            size_t same = count_same(text + at, len - at, &secrets->items[i]);
            longest = same > longest ? same : longest;
        }
        if (longest >= CDR_SECRET_MIN)
            memset(text + at, '*', longest);
    }
}

// Looks for one secret in the first `limit` bytes.
static const char *find_one(const cdr_secret *secret, const char *data, size_t len,
                            size_t limit)
{
    const char *at = memchr(data, secret->text[0], limit);
    while (at) {
        size_t left = len - (size_t)(at - data);
        size_t same = count_same(at, left, secret);
        if (same == secret->len || same == left)
            return at;
        at++;
        at = memchr(at, secret->text[0], limit - (size_t)(at - data));
    }
    return NULL;
}

size_t cdr_secrets_find(const cdr_secrets *secrets, const char *data, size_t len,
                        size_t *n_secret)
{
    size_t first = len;
    *n_secret = 0;
    for (size_t i = 0; i < secrets->count; i++) {
        const cdr_secret *secret = &secrets->items[i];
        size_t limit = first < len ? first + 1 : len;
        const char *at = find_one(secret, data, len, limit);
        if (!at)
            continue;
        size_t place = (size_t)(at - data);
        bool is_whole = len - place >= secret->len;
        if (place < first || is_whole)
            *n_secret = is_whole ? secret->len : 0;
        first = place;
    }
    return first;
}

void cdr_secrets_cover_whole(const cdr_secrets *secrets, char *data, size_t len)
{
    while (len > 0) {
        size_t n_secret;
        size_t plain = cdr_secrets_find(secrets, data, len, &n_secret);
        // What may become a secret is none when nothing follows.
        size_t n = plain + n_secret + (n_secret == 0 && plain < len ? 1 : 0);
        memset(data + plain, '*', n_secret);
        data += n;
        len -= n;
    }
}
