// Regular expressions: compile, and match window by window.
//
// 1. PCRE2 counts its steps anew at each place where a match may start. So a long text
//    is searched in windows of such places, and the clock is read between them.
// 2. The text is checked to be UTF-8 once; PCRE2 would do it for each window.
// 3. Nothing depends on how fast a machine is until the deadline is over, which is
//    a failure in any case.
#include "expression/pattern.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MAX_PATTERN_BYTES 65536
#define MATCH_LIMIT 100000
#define HEAP_LIMIT_KIB 8192
#define WINDOW 1024

struct cdr_pattern {
    pcre2_code *code;
    char *text;
    size_t len;
};

int64_t cdr_cpu_now_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static cadre_status fail_compile(const cdr_pattern *pattern, int code, size_t at,
                                 cadre_error *err)
{
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a regular expression");
    char message[160] = "it is refused";
    pcre2_get_error_message(code, (PCRE2_UCHAR *)message, sizeof(message));
    return cadre_fail(err, CADRE_EINVAL,
                      "regular expression '%.100s': %s (at byte %zu)", pattern->text,
                      message, at);
}

static cadre_status compile(cdr_pattern *pattern, cadre_error *err)
{
    const uint32_t options =
        PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a regular expression");
    pcre2_set_max_pattern_length(context, MAX_PATTERN_BYTES);
    int code = 0;
    size_t at = 0;
    pattern->code = pcre2_compile((PCRE2_SPTR)pattern->text, pattern->len, options,
                                  &code, &at, context);
    pcre2_compile_context_free(context);
    return pattern->code ? CADRE_OK : fail_compile(pattern, code, at, err);
}

cadre_status cdr_pattern_new(const char *text, size_t len, cdr_pattern **out,
                             cadre_error *err)
{
    cdr_pattern *pattern = calloc(1, sizeof(*pattern));
    if (pattern)
        pattern->text = malloc(len + 1);
    if (!pattern || !pattern->text) {
        cdr_pattern_free(pattern);
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a regular expression");
    }
    memcpy(pattern->text, text, len);
    pattern->text[len] = '\0';
    pattern->len = len;
    cadre_status status = compile(pattern, err);
    if (status != CADRE_OK) {
        cdr_pattern_free(pattern);
        return status;
    }
    *out = pattern;
    return CADRE_OK;
}

void cdr_pattern_free(cdr_pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_code_free(pattern->code);
    free(pattern->text);
    free(pattern);
}

bool cdr_pattern_is(const cdr_pattern *pattern, const char *text, size_t len)
{
    return pattern->len == len && memcmp(pattern->text, text, len) == 0;
}

static cadre_status fail_match(const cdr_pattern *pattern, int code, cadre_error *err)
{
    if (code == PCRE2_ERROR_NOMEMORY)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to match");
    bool is_limit = code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_DEPTHLIMIT ||
                    code == PCRE2_ERROR_HEAPLIMIT;
    char message[160] = "it cannot be matched";
    if (!is_limit)
        pcre2_get_error_message(code, (PCRE2_UCHAR *)message, sizeof(message));
    return cadre_fail_class(
        err, CADRE_EFAILED, CADRE_CLASS_HOOK, false, "regular expression '%.100s': %s",
        pattern->text, is_limit ? "it takes too many steps on this text" : message);
}

typedef struct search {
    const cdr_pattern *pattern;
    pcre2_match_data *data;
    pcre2_match_context *context;
} search;

static bool search_init(search *self, const cdr_pattern *pattern)
{
    *self = (search){.pattern = pattern};
    self->data = pcre2_match_data_create(1, NULL);
    self->context = pcre2_match_context_create(NULL);
    if (!self->data || !self->context)
        return false;
    pcre2_set_match_limit(self->context, MATCH_LIMIT);
    pcre2_set_heap_limit(self->context, HEAP_LIMIT_KIB);
    return true;
}

static void search_fini(search *self)
{
    pcre2_match_data_free(self->data);
    pcre2_match_context_free(self->context);
}

// The last place of the window that starts at `from`: the start of a character.
static size_t window_end(const char *text, size_t len, size_t from)
{
    if (len - from <= WINDOW)
        return len;
    size_t end = from + WINDOW;
    while (((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    return end;
}

// Returns what pcre2_match says of the whole text, or PCRE2_ERROR_MATCHLIMIT when the
// time is over.
static int search_run(search *self, const cdr_subject *subject)
{
    const char *text = subject->text;
    size_t len = subject->len;
    for (size_t from = 0;;) {
        size_t end = window_end(text, len, from);
        pcre2_set_offset_limit(self->context, end);
        int code = pcre2_match(self->pattern->code, (PCRE2_SPTR)text, len, from,
                               PCRE2_NO_UTF_CHECK, self->data, self->context);
        if (code != PCRE2_ERROR_NOMATCH || end == len)
            return code;
        if (cdr_cpu_now_ns() > subject->deadline_ns)
            return PCRE2_ERROR_MATCHLIMIT;
        from = end;
    }
}

cadre_status cdr_pattern_match(const cdr_pattern *pattern, const cdr_subject *subject,
                               bool *out, cadre_error *err)
{
    if (cdr_utf8_prefix(subject->text, subject->len) != subject->len)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_HOOK, false,
                                "regular expression '%.100s': the text is not UTF-8",
                                pattern->text);
    search self;
    cadre_status status = CADRE_OK;
    if (search_init(&self, pattern)) {
        int code = search_run(&self, subject);
        if (code < 0 && code != PCRE2_ERROR_NOMATCH)
            status = fail_match(pattern, code, err);
        else
            *out = code >= 0;
    } else {
        status = cadre_fail(err, CADRE_ENOMEM, "no memory to match");
    }
    search_fini(&self);
    return status;
}
