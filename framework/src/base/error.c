// Statuses and errors: the first failure, as one line of UTF-8.
//
// Error texts quote what users, models and servers sent, and are printed on
// terminals. So a text is made harmless here, once: control characters, line and
// direction marks and bytes that are not UTF-8 stand as escapes (`\n`, `\u202e`,
// `\xff`).
#include "cadre/error.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TEXT_SIZE (sizeof(((cadre_error *)0)->text))
#define CUT_MARK "..."

// A character of UTF-8 text: its code point and bytes, or one byte that is not part
// of any.
typedef struct utf8_char {
    uint32_t code;
    size_t len;
    bool is_valid;
} utf8_char;

static utf8_char next_char(const char *at, const char *end)
{
    uint32_t code;
    size_t len = cdr_utf8_decode(at, (size_t)(end - at), &code);
    if (len == 0)
        return (utf8_char){(unsigned char)*at, 1, false};
    return (utf8_char){code, len, true};
}

// Writes the character as it is shown. Returns the number of bytes, at most 7.
static size_t show_char(utf8_char c, const char *at, char shown[8])
{
    if (c.is_valid && !cdr_utf8_is_harmful(c.code)) {
        memcpy(shown, at, c.len);
        return c.len;
    }
    int n;
    if (!c.is_valid)
        n = snprintf(shown, 8, "\\x%02x", (unsigned)c.code);
    else if (c.code == '\n' || c.code == '\r' || c.code == '\t')
        n = snprintf(shown, 8, "\\%c",
                     c.code == '\n'   ? 'n'
                     : c.code == '\r' ? 'r'
                                      : 't');
    else
        n = snprintf(shown, 8, c.code < 0x100 ? "\\x%02x" : "\\u%04x",
                     (unsigned)c.code);
    return n > 0 ? (size_t)n : 0;
}

// Copies `raw` as one harmless line, cut at a character when it is too long.
static void set_text(char text[TEXT_SIZE], const char *raw, size_t len, bool was_cut)
{
    const char *at = raw;
    const char *end = at + len;
    size_t used = 0;
    size_t cut_at = 0; // where the mark still has room
    while (at < end) {
        utf8_char c = next_char(at, end);
        bool is_torn = was_cut && !c.is_valid && end - at < 4 && c.code >= 0xc2;
        if (is_torn)
            break;
        char shown[8];
        size_t n = show_char(c, at, shown);
        if (used + n >= TEXT_SIZE) {
            was_cut = true;
            break;
        }
        memcpy(text + used, shown, n);
        used += n;
        at += c.len;
        if (used + strlen(CUT_MARK) < TEXT_SIZE)
            cut_at = used;
    }
    text[used] = '\0';
    if (was_cut)
        memcpy(text + cut_at, CUT_MARK, sizeof(CUT_MARK));
}

static void record(cadre_error *err, const char *format, va_list args)
    CADRE_PRINTF(2, 0);

static void record(cadre_error *err, const char *format, va_list args)
{
    char raw[TEXT_SIZE];
    int n = format ? vsnprintf(raw, sizeof(raw), format, args) : -1;
    if (n < 0) { // no format, longer than INT_MAX, or no memory for a number
        set_text(err->text, cadre_status_name(err->status),
                 strlen(cadre_status_name(err->status)), false);
        return;
    }
    bool was_cut = (size_t)n >= sizeof(raw);
    set_text(err->text, raw, was_cut ? sizeof(raw) - 1 : (size_t)n, was_cut);
}

static cadre_error_class class_of(cadre_status status)
{
    switch (status) {
    case CADRE_ECONFIG:
        return CADRE_CLASS_CONFIG;
    case CADRE_EABORTED:
        return CADRE_CLASS_ABORTED;
    case CADRE_ETIMEOUT:
        return CADRE_CLASS_TIMEOUT;
    case CADRE_ESTORE:
        return CADRE_CLASS_STORE;
    case CADRE_EDIVERGED:
        return CADRE_CLASS_DIVERGED;
    case CADRE_ELIMIT:
        return CADRE_CLASS_LIMIT;
    default:
        return CADRE_CLASS_ERROR;
    }
}

// False: there is nobody to tell, or an earlier failure stands.
static bool claim(cadre_error *err, cadre_status status, cadre_error_class error_class,
                  bool retryable)
{
    assert(status != CADRE_OK);
    if (!err || err->status != CADRE_OK)
        return false;
    err->status = status;
    err->error_class = error_class;
    err->retryable = retryable;
    return true;
}

cadre_status cadre_fail(cadre_error *err, cadre_status status, const char *format, ...)
{
    if (!claim(err, status, class_of(status), false))
        return status;
    va_list args;
    va_start(args, format);
    record(err, format, args);
    va_end(args);
    return status;
}

cadre_status cadre_fail_class(cadre_error *err, cadre_status status,
                              cadre_error_class error_class, bool retryable,
                              const char *format, ...)
{
    if (!claim(err, status, error_class, retryable))
        return status;
    va_list args;
    va_start(args, format);
    record(err, format, args);
    va_end(args);
    return status;
}

void cadre_error_clear(cadre_error *err)
{
    if (!err)
        return;
    err->status = CADRE_OK;
    err->error_class = CADRE_CLASS_NONE;
    err->retryable = false;
    err->retry_after_ms = 0;
    err->text[0] = '\0';
}

const char *cadre_status_name(cadre_status status)
{
    static const char *const names[] = {
        [CADRE_OK] = "ok",
        [CADRE_DONE] = "done",
        [CADRE_ESCALATED] = "escalated",
        [CADRE_EFAILED] = "failed",
        [CADRE_EREFUSED] = "refused",
        [CADRE_EABORTED] = "aborted",
        [CADRE_ETIMEOUT] = "timeout",
        [CADRE_EPARKED] = "parked",
        [CADRE_EDIVERGED] = "diverged",
        [CADRE_ESTORE] = "store",
        [CADRE_EBUSY] = "busy",
        [CADRE_ELOST] = "lost",
        [CADRE_ENOTFOUND] = "not_found",
        [CADRE_ELIMIT] = "limit",
        [CADRE_EINVAL] = "invalid",
        [CADRE_ECONFIG] = "config",
        [CADRE_ENOMEM] = "memory",
        [CADRE_EIO] = "io",
    };
    size_t i = (size_t)status;
    return i < sizeof(names) / sizeof(names[0]) ? names[i] : "unknown";
}

static const char *const class_names[] = {
    [CADRE_CLASS_NONE] = NULL,
    [CADRE_CLASS_AUTH] = "auth",
    [CADRE_CLASS_INVALID_REQUEST] = "invalid_request",
    [CADRE_CLASS_CONTEXT_LENGTH] = "context_length",
    [CADRE_CLASS_CONTENT_FILTER] = "content_filter",
    [CADRE_CLASS_RATE_LIMITED] = "rate_limited",
    [CADRE_CLASS_QUOTA] = "quota",
    [CADRE_CLASS_OVERLOADED] = "overloaded",
    [CADRE_CLASS_SERVER] = "server",
    [CADRE_CLASS_CONNECTION] = "connection",
    [CADRE_CLASS_TIMEOUT] = "timeout",
    [CADRE_CLASS_TRUNCATED] = "truncated",
    [CADRE_CLASS_EMPTY_RESPONSE] = "empty_response",
    [CADRE_CLASS_BAD_RESPONSE] = "bad_response",
    [CADRE_CLASS_LIMIT] = "limit",
    [CADRE_CLASS_LOOP] = "loop",
    [CADRE_CLASS_BUDGET] = "budget",
    [CADRE_CLASS_ABORTED] = "aborted",
    [CADRE_CLASS_TOOL] = "tool",
    [CADRE_CLASS_HOOK] = "hook",
    [CADRE_CLASS_CONFIG] = "config",
    [CADRE_CLASS_STORE] = "store",
    [CADRE_CLASS_LEASE] = "lease",
    [CADRE_CLASS_DIVERGED] = "diverged",
    [CADRE_CLASS_ERROR] = "error",
};

#define N_CLASSES (sizeof(class_names) / sizeof(class_names[0]))

const char *cadre_error_class_name(cadre_error_class error_class)
{
    size_t i = (size_t)error_class;
    return i < N_CLASSES ? class_names[i] : NULL;
}

cadre_error_class cadre_error_class_from_name(const char *name)
{
    for (size_t i = CADRE_CLASS_NONE + 1; name && i < N_CLASSES; i++) {
        if (strcmp(name, class_names[i]) == 0)
            return (cadre_error_class)i;
    }
    return CADRE_CLASS_NONE;
}
