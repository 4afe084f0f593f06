// Assertions over CUnit that show what they saw.
#include "check.h"

#include <CUnit/Basic.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Texts are shown from a little before their first difference, at most so much.
#define SHOWN_BEFORE 40
#define SHOWN_MAX 400

// CUnit counts checks without a lock; tests check on several threads.
static pthread_mutex_t count_mu = PTHREAD_MUTEX_INITIALIZER;

// False in a program that is none of CUnit's, such as a fuzz target.
static bool is_in_test(void)
{
    return CU_get_current_test() != NULL;
}

static bool held(check_place place)
{
    pthread_mutex_lock(&count_mu);
    if (is_in_test())
        CU_assertImplementation(CU_TRUE, place.line, place.code, place.file, "",
                                CU_FALSE);
    pthread_mutex_unlock(&count_mu);
    return true;
}

static bool failed(check_place place, const char *format, ...) CADRE_PRINTF(2, 3);

static bool failed(check_place place, const char *format, ...)
{
    char message[4 * SHOWN_MAX];
    int used = snprintf(message, sizeof(message), "%.200s: ", place.code);
    if (used < 0)
        used = 0;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message + used, sizeof(message) - (size_t)used, format, args);
    va_end(args);
    pthread_mutex_lock(&count_mu);
    if (!is_in_test()) {
        (void)fprintf(stderr, "%s:%u: %s\n", place.file, place.line, message);
        abort();
    }
    CU_assertImplementation(CU_FALSE, place.line, message, place.file, "", CU_FALSE);
    pthread_mutex_unlock(&count_mu);
    return false;
}

void check_note(check_place place, bool holds)
{
    if (holds)
        held(place);
    else
        failed(place, "is false");
}

bool check_status(check_place place, cadre_status actual, cadre_status expected,
                  const cadre_error *err)
{
    const char *text = err && err->text[0] ? err->text : "(no text)";
    if (actual != expected)
        return failed(place, "status %s, expected %s: %s", cadre_status_name(actual),
                      cadre_status_name(expected), text);
    if (err && err->status != expected)
        return failed(place, "status %s, but the error says %s: %s",
                      cadre_status_name(actual), cadre_status_name(err->status), text);
    return held(place);
}

static size_t first_difference(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0;
    while (i < a_len && i < b_len && a[i] == b[i])
        i++;
    return i;
}

bool check_bytes(check_place place, const char *actual, size_t actual_len,
                 const char *expected, size_t expected_len)
{
    size_t at = first_difference(actual, actual_len, expected, expected_len);
    if (at == actual_len && at == expected_len)
        return held(place);
    size_t from = at > SHOWN_BEFORE ? at - SHOWN_BEFORE : 0;
    size_t n_actual = actual_len - from < SHOWN_MAX ? actual_len - from : SHOWN_MAX;
    size_t n_expected =
        expected_len - from < SHOWN_MAX ? expected_len - from : SHOWN_MAX;
    return failed(place,
                  "differs at byte %zu (lengths %zu and %zu)\n"
                  "        is: %s\"%.*s\"\n  expected: %s\"%.*s\"",
                  at, actual_len, expected_len, from ? "..." : "", (int)n_actual,
                  actual + from, from ? "..." : "", (int)n_expected, expected + from);
}

bool check_text(check_place place, const char *actual, const char *expected)
{
    if (!actual && !expected)
        return held(place);
    if (!actual)
        return failed(place, "is NULL, expected \"%.*s\"", SHOWN_MAX, expected);
    if (!expected)
        return failed(place, "is \"%.*s\", expected NULL", SHOWN_MAX, actual);
    return check_bytes(place, actual, strlen(actual), expected, strlen(expected));
}

bool check_int(check_place place, int64_t actual, int64_t expected)
{
    if (actual == expected)
        return held(place);
    return failed(place, "is %" PRId64 ", expected %" PRId64, actual, expected);
}

bool check_contains(check_place place, const char *text, const char *part)
{
    if (!text)
        return failed(place, "is NULL, expected it to contain \"%.*s\"", SHOWN_MAX,
                      part);
    if (!strstr(text, part))
        return failed(place, "\"%.*s\" does not contain \"%.*s\"", SHOWN_MAX, text,
                      SHOWN_MAX, part);
    return held(place);
}

bool check_lacks(check_place place, const char *text, const char *part)
{
    if (text && strstr(text, part))
        return failed(place, "\"%.*s\" contains \"%.*s\"", SHOWN_MAX, text, SHOWN_MAX,
                      part);
    return held(place);
}

static int report_cunit(const char *name)
{
    (void)fprintf(stderr, "%s: %s\n", name, CU_get_error_msg());
    return EXIT_FAILURE;
}

// Returns how many tests were added, -1 when one was not.
static int add_tests(CU_pSuite suite, const CU_TestInfo *tests)
{
    int n = 0;
    for (; tests[n].pName; n++) {
        if (!CU_add_test(suite, tests[n].pName, tests[n].pTestFunc)) {
            report_cunit(tests[n].pName);
            return -1;
        }
    }
    return n;
}

static int run(const char *suite_name, const CU_TestInfo *tests)
{
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    if (!suite) {
        return report_cunit(suite_name);
    }
    int n_added = add_tests(suite, tests);
    if (n_added <= 0)
        return EXIT_FAILURE;
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_ErrorCode ran = CU_basic_run_tests();
    bool all = ran == CUE_SUCCESS &&
               CU_get_number_of_tests_run() == (unsigned)n_added &&
               CU_get_number_of_failures() == 0;
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}

int check_main(const char *suite, const CU_TestInfo *tests)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return report_cunit(suite);
    }
    int status = run(suite, tests);
    CU_cleanup_registry();
    return status;
}
