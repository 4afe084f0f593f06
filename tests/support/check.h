// Assertions over CUnit that show what they saw: status and error text, both texts,
// both numbers. None ends the test; each returns whether it held, so that a test may
// stop where going on makes no sense: `if (!CHECK_OK(status, &err)) return;`
//
// A test program is a table and one line (`#include "support/check.h"`):
//
//     static const CU_TestInfo tests[] = {
//         CHECK_TEST(test_sse__joins_data_lines),
//         CU_TEST_INFO_NULL,
//     };
//
//     int main(void)
//     {
//         return check_main("net/sse", tests);
//     }
//
// In a program that runs no tests, such as a fuzz target, a check that fails ends it.
//
// Thread: any thread of the running test; each argument is evaluated once.
#ifndef CHECK_H
#define CHECK_H

#include "cadre/error.h"

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct check_place {
    const char *file;
    unsigned line;
    const char *code; // the checked expression as it is written
} check_place;

#define CHECK_PLACE(code) ((check_place){__FILE__, __LINE__, code})

// An entry of the table; the function's name is the test's.
// clang-format off
#define CHECK_TEST(function) {#function, function}
// clang-format on

// The condition holds.
#define CHECK(condition) check_that(CHECK_PLACE(#condition), (condition))

// The status is CADRE_OK; else status and error are shown. `err` may be NULL.
#define CHECK_OK(status, err) CHECK_STATUS(status, CADRE_OK, err)

// The status is the expected one, and `err`, unless NULL, says the same.
#define CHECK_STATUS(status, expected, err)                                            \
    check_status(CHECK_PLACE(#status), (status), (expected), (err))

// Both texts are equal; NULL equals only NULL.
#define CHECK_TEXT(actual, expected)                                                   \
    check_text(CHECK_PLACE(#actual), (actual), (expected))

// The bytes are equal in number and value.
#define CHECK_BYTES(actual, actual_len, expected, expected_len)                        \
    check_bytes(CHECK_PLACE(#actual), (actual), (actual_len), (expected),              \
                (expected_len))

// Both integers are equal.
#define CHECK_INT(actual, expected)                                                    \
    check_int(CHECK_PLACE(#actual), (int64_t)(actual), (int64_t)(expected))

// The text has the part, or lacks it.
#define CHECK_CONTAINS(text, part) check_contains(CHECK_PLACE(#text), (text), (part))
#define CHECK_LACKS(text, part) check_lacks(CHECK_PLACE(#text), (text), (part))

void check_note(check_place place, bool holds);
bool check_status(check_place place, cadre_status actual, cadre_status expected,
                  const cadre_error *err);
bool check_text(check_place place, const char *actual, const char *expected);
bool check_bytes(check_place place, const char *actual, size_t actual_len,
                 const char *expected, size_t expected_len);
bool check_int(check_place place, int64_t actual, int64_t expected);
bool check_contains(check_place place, const char *text, const char *part);
bool check_lacks(check_place place, const char *text, const char *part);

// Stands here so that an analyser sees what is known after `if (!CHECK(p != NULL))`.
static inline bool check_that(check_place place, bool holds)
{
    check_note(place, holds);
    return holds;
}

// Runs a table that ends with CU_TEST_INFO_NULL. Returns the exit status: 0 only if
// every test was registered and run, and no check failed.
int check_main(const char *suite, const CU_TestInfo *tests);

#endif
