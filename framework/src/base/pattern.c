// Regular expressions: compile, and match against the clock.
//
// PCRE2 counts its steps anew at each place where a match may start, so its limit alone
// would let a long text take hours. Patterns are compiled to call us before each of
// their items (PCRE2_AUTO_CALLOUT, at most twice the time), and every few calls we read
// the clock. A text is checked to be UTF-8 here, which leaves out PCRE2's own check.
#include "base/pattern.h"

#include "base/pattern_ecma.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MAX_PATTERN_BYTES 65536
#define MATCH_LIMIT 100000
#define HEAP_LIMIT_KIB 8192
#define CLOCK_EVERY 256 // callouts

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

// What is compiled: the pattern's own text, or that in other words.
typedef struct source {
    const char *text;
    size_t len;
    uint32_t options;
} source;

#define PERL_OPTIONS PCRE2_UCP
#define ECMA_OPTIONS                                                                   \
    (PCRE2_ALLOW_EMPTY_CLASS | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF)

static cadre_status compile(cdr_pattern *pattern, const source *from, cadre_error *err)
{
    const uint32_t options =
        PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT | from->options;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a regular expression");
    pcre2_set_max_pattern_length(context, MAX_PATTERN_BYTES);
    int code = 0;
    size_t at = 0;
    pattern->code =
        pcre2_compile((PCRE2_SPTR)from->text, from->len, options, &code, &at, context);
    pcre2_compile_context_free(context);
    return pattern->code ? CADRE_OK : fail_compile(pattern, code, at, err);
}

static cdr_pattern *new_pattern(const char *text, size_t len)
{
    cdr_pattern *pattern = calloc(1, sizeof(*pattern));
    if (pattern)
        pattern->text = malloc(len + 1);
    if (!pattern || !pattern->text) {
        cdr_pattern_free(pattern);
        return NULL;
    }
    memcpy(pattern->text, text, len);
    pattern->text[len] = '\0';
    pattern->len = len;
    return pattern;
}

cadre_status cdr_pattern_new(const char *text, size_t len, cdr_pattern **out,
                             cadre_error *err)
{
    cdr_pattern *pattern = new_pattern(text, len);
    if (!pattern)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a regular expression");
    source from = {pattern->text, len, PERL_OPTIONS};
    cadre_status status = compile(pattern, &from, err);
    if (status != CADRE_OK) {
        cdr_pattern_free(pattern);
        return status;
    }
    *out = pattern;
    return CADRE_OK;
}

cadre_status cdr_pattern_new_ecma(const char *text, size_t len, cdr_pattern **out,
                                  cadre_error *err)
{
    cdr_buf rewritten = CDR_BUF_INIT;
    cdr_pattern *pattern = new_pattern(text, len);
    cadre_status status =
        pattern ? cdr_pattern_rewrite_ecma(text, len, &rewritten, err)
                : cadre_fail(err, CADRE_ENOMEM, "no memory for a regular expression");
    if (status == CADRE_OK) {
        source from = {cdr_buf_text(&rewritten), rewritten.len, ECMA_OPTIONS};
        status = compile(pattern, &from, err);
    }
    cdr_buf_fini(&rewritten);
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

typedef struct watch {
    int64_t deadline_ns;
    unsigned n_callouts;
} watch;

static int look_at_clock(pcre2_callout_block *block, void *ctx)
{
    (void)block;
    watch *self = ctx;
    if (++self->n_callouts % CLOCK_EVERY != 0 || cdr_cpu_now_ns() <= self->deadline_ns)
        return 0;
    return PCRE2_ERROR_MATCHLIMIT;
}

// Returns what pcre2_match does.
static int match(const pcre2_code *code, const cdr_subject *subject)
{
    int result = PCRE2_ERROR_NOMEMORY;
    watch clock = {.deadline_ns = subject->deadline_ns};
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    if (data && context) {
        pcre2_set_match_limit(context, MATCH_LIMIT);
        pcre2_set_heap_limit(context, HEAP_LIMIT_KIB);
        pcre2_set_callout(context, look_at_clock, &clock);
        result = pcre2_match(code, (PCRE2_SPTR)subject->text, subject->len, 0,
                             PCRE2_NO_UTF_CHECK, data, context);
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    return result;
}

cadre_status cdr_pattern_match(const cdr_pattern *pattern, const cdr_subject *subject,
                               bool *out, cadre_error *err)
{
    if (cdr_utf8_prefix(subject->text, subject->len) != subject->len)
        return cadre_fail_class(
            err, CADRE_EFAILED, CADRE_CLASS_HOOK, false,
            "regular expression '%.100s': the text is not UTF-8, or "
            "has a NUL",
            pattern->text);
    int result = match(pattern->code, subject);
    if (result < 0 && result != PCRE2_ERROR_NOMATCH)
        return fail_match(pattern, result, err);
    *out = result >= 0;
    return CADRE_OK;
}

cadre_status cdr_pattern_cache_get(cdr_pattern_cache *cache, const char *text,
                                   size_t len, const cdr_pattern **out,
                                   cadre_error *err)
{
    for (size_t i = 0; i < CDR_PATTERN_CACHE_SIZE; i++) {
        const cdr_pattern *known = cache->patterns[i];
        if (known && known->len == len && memcmp(known->text, text, len) == 0) {
            *out = known;
            return CADRE_OK;
        }
    }
    cdr_pattern *pattern = NULL;
    cadre_status status = cdr_pattern_new(text, len, &pattern, err);
    if (status != CADRE_OK)
        return status;
    cdr_pattern_free(cache->patterns[cache->next]);
    cache->patterns[cache->next] = pattern;
    cache->next = (cache->next + 1) % CDR_PATTERN_CACHE_SIZE;
    *out = pattern;
    return CADRE_OK;
}

void cdr_pattern_cache_fini(cdr_pattern_cache *cache)
{
    for (size_t i = 0; i < CDR_PATTERN_CACHE_SIZE; i++)
        cdr_pattern_free(cache->patterns[i]);
    *cache = (cdr_pattern_cache){.next = 0};
}
