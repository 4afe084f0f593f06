// See url_text.h.
#include "base/url_text.h"

#include "base/utf8.h"

#include <string.h>

#define CUT_MARK "..."

static size_t scheme_len(const char *url)
{
    if (strncmp(url, "//", 2) == 0) // a location may leave the scheme out
        return 2;
    const char *end = strstr(url, "://");
    const char *other = strpbrk(url, "/?#@");
    // "://" may also come later, in a path or in a query.
    return end && (!other || end < other) ? (size_t)(end - url) + 3 : 0;
}

static size_t add(char out[CDR_URL_TEXT_SIZE], size_t used, const char *text,
                  size_t len)
{
    size_t room = CDR_URL_TEXT_SIZE - sizeof(CUT_MARK) - used;
    size_t n = len <= room ? len : cdr_utf8_prefix(text, room);
    memcpy(out + used, text, n);
    used += n;
    if (n < len) {
        memcpy(out + used, CUT_MARK, sizeof(CUT_MARK) - 1);
        used += sizeof(CUT_MARK) - 1;
    }
    out[used] = '\0';
    return used;
}

const char *cdr_url_text(char out[CDR_URL_TEXT_SIZE], const char *url)
{
    size_t scheme = scheme_len(url);
    const char *host = url + scheme;
    size_t authority = strcspn(host, "/?#");
    const char *user_end = memrchr(host, '@', authority);
    const char *shown = user_end ? user_end + 1 : host;
    size_t len = strcspn(shown, "?#");
    size_t used = add(out, 0, url, scheme);
    used = add(out, used, shown, len);
    bool is_whole = used == scheme + len;
    if (is_whole && shown[len] == '?' && used + 4 < CDR_URL_TEXT_SIZE)
        memcpy(out + used, "?" CUT_MARK, sizeof("?" CUT_MARK));
    return out;
}
