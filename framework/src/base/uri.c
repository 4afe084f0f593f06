// See uri.h.
#include "base/uri.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    const char *text;
    size_t len;
    bool is_there; // also an empty one may be
} part;

typedef struct uri {
    part scheme, authority, path, query;
} uri;

// Takes `len` bytes off the front of what is left.
static part take(const char **at, size_t len)
{
    part taken = {*at, len, true};
    *at += len;
    return taken;
}

// Splits by the expression of RFC 3986, appendix B; the fragment is left out.
static uri split(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789+-.";
    uri parts = {0};
    size_t len = strspn(text, letters);
    if (isalpha((unsigned char)*text) && text[len] == ':') {
        parts.scheme = take(&text, len);
        text++;
    }
    if (strncmp(text, "//", 2) == 0) {
        text += 2;
        parts.authority = take(&text, strcspn(text, "/?#"));
    }
    parts.path = take(&text, strcspn(text, "?#"));
    if (*text == '?') {
        text++;
        parts.query = take(&text, strcspn(text, "#"));
    }
    return parts;
}

static void append_part(cdr_buf *out, const part *piece)
{
    cdr_buf_append(out, piece->text, piece->len);
}

static void drop_last_segment(cdr_buf *out, size_t start)
{
    while (out->len > start && out->data[out->len - 1] != '/')
        out->len--;
    if (out->len > start)
        out->len--;
}

// Appends a path without its dot segments (5.2.4).
static void append_path(cdr_buf *out, const char *path, size_t len)
{
    size_t start = out->len;
    const char *end = path + len;
    while (path < end) {
        const char *slash = *path == '/' ? path : NULL;
        const char *segment = slash ? path + 1 : path;
        const char *next = segment;
        while (next < end && *next != '/')
            next++;
        size_t n = (size_t)(next - segment);
        bool is_up = n == 2 && memcmp(segment, "..", 2) == 0;
        bool is_here = n == 1 && *segment == '.';
        if (is_up)
            drop_last_segment(out, start);
        if (!is_up && !is_here)
            cdr_buf_append(out, path, (size_t)(next - path));
        else if (next == end)
            cdr_buf_append_text(out, "/");
        path = next;
    }
}

// The path of a reference that has no authority and does not start at the root (5.2.3).
static void append_merged(cdr_buf *out, const uri *base, const uri *reference)
{
    cdr_buf merged = CDR_BUF_INIT;
    size_t len = base->path.len;
    while (len > 0 && base->path.text[len - 1] != '/')
        len--;
    if (base->authority.is_there && base->path.len == 0)
        cdr_buf_append_text(&merged, "/");
    else
        cdr_buf_append(&merged, base->path.text, len);
    append_part(&merged, &reference->path);
    append_path(out, cdr_buf_text(&merged), merged.len);
    out->failed |= merged.failed;
    cdr_buf_fini(&merged);
}

void cdr_uri_resolve(const char *base_text, const char *reference_text, cdr_buf *out)
{
    uri base = split(base_text);
    uri reference = split(reference_text);
    const uri *query = &reference;
    const part *scheme = reference.scheme.is_there ? &reference.scheme : &base.scheme;
    bool is_whole = reference.scheme.is_there || reference.authority.is_there;
    const part *authority = is_whole ? &reference.authority : &base.authority;
    if (scheme->is_there) {
        append_part(out, scheme);
        cdr_buf_append_text(out, ":");
    }
    if (authority->is_there) {
        cdr_buf_append_text(out, "//");
        append_part(out, authority);
    }
    if (!is_whole && reference.path.len == 0) {
        append_part(out, &base.path);
        query = reference.query.is_there ? &reference : &base;
    } else if (is_whole || reference.path.text[0] == '/') {
        append_path(out, reference.path.text, reference.path.len);
    } else {
        append_merged(out, &base, &reference);
    }
    if (query->query.is_there) {
        cdr_buf_append_text(out, "?");
        append_part(out, &query->query);
    }
}

const char *cdr_uri_fragment(const char *text)
{
    const char *hash = strchr(text, '#');
    return hash ? hash + 1 : "";
}

void cdr_uri_decode(const char *text, size_t len, cdr_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        char digits[3] = {0};
        char byte = text[i];
        if (byte == '%' && i + 2 < len && isxdigit((unsigned char)text[i + 1]) &&
            isxdigit((unsigned char)text[i + 2])) {
            memcpy(digits, text + i + 1, 2);
            byte = (char)strtoul(digits, NULL, 16);
            i += 2;
        }
        cdr_buf_append(out, &byte, 1);
    }
}
