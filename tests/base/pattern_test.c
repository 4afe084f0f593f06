// Regular expressions: UTF-8, limits, and the cache.
#include "support/check.h"

#include "base/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLENTY_NS INT64_MAX

static cdr_pattern *pattern_or_abort(const char *text)
{
    cdr_pattern *pattern = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cdr_pattern_new(text, strlen(text), &pattern, &err), &err))
        abort();
    return pattern;
}

static void test_pattern__finds_characters_and_not_bytes(void)
{
    static const struct {
        const char *pattern;
        const char *text;
        bool fits;
    } cases[] = {
        {"b", "abc", true},
        {"^b", "abc", false},
        {"^.$", "\xc3\xab", true},
        {"^\\w+$", "Zo\xc3\xab", true},
        {"(?i)^ZO\xc3\x8b$", "zo\xc3\xab", true},
        {"", "", true},
        {"(?m)^two$", "one\ntwo", true},
        {"(\\w)\\1", "hello", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cdr_pattern *pattern = pattern_or_abort(cases[i].pattern);
        cdr_subject subject = {cases[i].text, strlen(cases[i].text), PLENTY_NS};
        bool fits = !cases[i].fits;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(cdr_pattern_match(pattern, &subject, &fits, &err), &err);
        if (!CHECK_INT(fits, cases[i].fits))
            fprintf(stderr, "  of: %s\n", cases[i].pattern);
        cdr_pattern_free(pattern);
    }
}

static void test_pattern__refuses_what_is_none(void)
{
    static const struct {
        const char *text;
        size_t len;
        const char *message;
    } cases[] = {
        {"a(", 2, "regular expression 'a(': missing closing parenthesis (at byte 2)"},
        {"[z-a]", 5,
         "regular expression '[z-a]': range out of order in character class (at byte "
         "3)"},
        {"\xff", 1,
         "regular expression '\\xff': UTF-8 error: illegal byte (0xfe or 0xff) (at "
         "byte "
         "0)"},
        {"\\C", 2,
         "regular expression '\\C': using \\C is disabled by the application (at byte "
         "2)"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cdr_pattern *pattern = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cdr_pattern_new(cases[i].text, cases[i].len, &pattern, &err),
                     CADRE_EINVAL, &err);
        CHECK_TEXT(err.text, cases[i].message);
        CHECK(pattern == NULL);
    }
    size_t len = 70000;
    char *text = malloc(len);
    memset(text, 'a', len);
    cdr_pattern *pattern = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cdr_pattern_new(text, len, &pattern, &err), CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "pattern string is longer than the limit");
    free(text);
}

static void check_cut(const char *written, const cdr_subject *subject, const char *why)
{
    cdr_pattern *pattern = pattern_or_abort(written);
    bool fits = true;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cdr_pattern_match(pattern, subject, &fits, &err), CADRE_EFAILED, &err);
    CHECK_INT(err.error_class, CADRE_CLASS_HOOK);
    CHECK_CONTAINS(err.text, why);
    CHECK(fits); // untouched
    cdr_pattern_free(pattern);
}

static void test_pattern__is_cut_by_steps_and_by_the_clock(void)
{
    static const char too_many[] = "it takes too many steps on this text";
    static char text[20000];
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '!';
    cdr_subject subject = {text, sizeof(text), PLENTY_NS};
    check_cut("(a+)+$", &subject, too_many);
    // No place takes many steps: without a clock this would be 2e8 in all.
    subject.deadline_ns = cdr_cpu_now_ns();
    check_cut("a*[bc]", &subject, too_many);
    // A short match is not in the way of a deadline that is over.
    cdr_pattern *pattern = pattern_or_abort("a");
    bool fits = false;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cdr_pattern_match(pattern, &subject, &fits, &err), &err);
    CHECK(fits);
    cdr_pattern_free(pattern);
}

static void test_pattern__texts_are_utf8_without_nul(void)
{
    static const char *const texts[] = {"a\xff", "\xc3", "a\0b"};
    static const size_t lens[] = {2, 1, 3};
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        cdr_subject subject = {texts[i], lens[i], PLENTY_NS};
        check_cut("a", &subject, "the text is not UTF-8, or has a NUL");
    }
}

static void test_pattern__the_cache_keeps_the_last_few(void)
{
    cdr_pattern_cache cache = {.next = 0};
    const cdr_pattern *first = NULL;
    const cdr_pattern *again = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cdr_pattern_cache_get(&cache, "a", 1, &first, &err), &err);
    char text[3] = "x0";
    for (int i = 0; i < CDR_PATTERN_CACHE_SIZE - 1; i++) {
        const cdr_pattern *other = NULL;
        text[1] = (char)('0' + i);
        CHECK_OK(cdr_pattern_cache_get(&cache, text, 2, &other, &err), &err);
        CHECK(other != first);
    }
    CHECK_OK(cdr_pattern_cache_get(&cache, "a", 1, &again, &err), &err);
    CHECK(again == first);
    CHECK_STATUS(cdr_pattern_cache_get(&cache, "(", 1, &again, &err), CADRE_EINVAL,
                 &err);
    cadre_error_clear(&err);
    CHECK_OK(cdr_pattern_cache_get(&cache, "b", 1, &again, &err), &err);
    for (size_t i = 0; i < CDR_PATTERN_CACHE_SIZE; i++) // "a" was the oldest
        CHECK(i == 0 ? cache.patterns[i] == again : cache.patterns[i] != again);
    cdr_pattern_cache_fini(&cache);
    CHECK(cache.patterns[0] == NULL);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_pattern__finds_characters_and_not_bytes),
    CHECK_TEST(test_pattern__refuses_what_is_none),
    CHECK_TEST(test_pattern__is_cut_by_steps_and_by_the_clock),
    CHECK_TEST(test_pattern__texts_are_utf8_without_nul),
    CHECK_TEST(test_pattern__the_cache_keeps_the_last_few),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/pattern", tests);
}
