// Errors: the first wins, and what they quote is one harmless line.
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static void test_error__records_status_class_and_text(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_fail(&err, CADRE_ECONFIG, "agent '%s': no model", "triage"),
                 CADRE_ECONFIG, &err);
    CHECK_INT(err.error_class, CADRE_CLASS_CONFIG);
    CHECK(!err.retryable);
    CHECK_TEXT(err.text, "agent 'triage': no model");
}

static void test_error__first_failure_wins(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fail_class(&err, CADRE_EIO, CADRE_CLASS_CONNECTION, true, "no route");
    CHECK_INT(cadre_fail(&err, CADRE_ESTORE, "disk full"), CADRE_ESTORE);
    CHECK_INT(err.status, CADRE_EIO);
    CHECK_INT(err.error_class, CADRE_CLASS_CONNECTION);
    CHECK(err.retryable);
    CHECK_TEXT(err.text, "no route");
}

static void test_error__clear_makes_room_for_the_next(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fail_class(&err, CADRE_EIO, CADRE_CLASS_CONNECTION, true, "no route");
    cadre_error_clear(&err);
    CHECK_INT(err.status, CADRE_OK);
    CHECK_INT(err.error_class, CADRE_CLASS_NONE);
    CHECK(!err.retryable);
    CHECK_TEXT(err.text, "");
    cadre_fail(&err, CADRE_ESTORE, "disk full");
    CHECK_TEXT(err.text, "disk full");
}

static void test_error__null_takes_only_the_status(void)
{
    CHECK_INT(cadre_fail(NULL, CADRE_EBUSY, "%s", "x"), CADRE_EBUSY);
    CHECK_INT(cadre_fail_class(NULL, CADRE_EIO, CADRE_CLASS_QUOTA, false, "y"),
              CADRE_EIO);
    cadre_error_clear(NULL);
}

static void test_error__class_follows_from_the_status(void)
{
    static const struct {
        cadre_status status;
        cadre_error_class error_class;
    } cases[] = {
        {CADRE_ECONFIG, CADRE_CLASS_CONFIG},     {CADRE_EABORTED, CADRE_CLASS_ABORTED},
        {CADRE_ETIMEOUT, CADRE_CLASS_TIMEOUT},   {CADRE_ESTORE, CADRE_CLASS_STORE},
        {CADRE_EDIVERGED, CADRE_CLASS_DIVERGED}, {CADRE_ELIMIT, CADRE_CLASS_LIMIT},
        {CADRE_EINVAL, CADRE_CLASS_ERROR},       {CADRE_EIO, CADRE_CLASS_ERROR},
        {CADRE_EFAILED, CADRE_CLASS_ERROR},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cadre_error err = CADRE_ERROR_INIT;
        cadre_fail(&err, cases[i].status, "x");
        CHECK_INT(err.error_class, cases[i].error_class);
    }
}

static void test_error__text_is_one_harmless_line(void)
{
    static const struct {
        const char *quoted;
        const char *shown;
    } cases[] = {
        {"two\nlines\r\tend", "two\\nlines\\r\\tend"},
        {"\x1b[2J\x07\x7f", "\\x1b[2J\\x07\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\x9b31m"},    // C1: a control sequence in one character
        {"a\xe2\x80\xae" // directions closed again, or the compiler's friends warn
         "b\xe2\x80\xac"
         "c\xe2\x81\xa6"
         "d\xe2\x81\xa9\xe2\x80\xa8",
         "a\\u202eb\\u202cc\\u2066d\\u2069\\u2028"},
        {"na\xc3\xafve \xf0\x9f\x99\x82", "na\xc3\xafve \xf0\x9f\x99\x82"},
        {"\xff\xc0\x80 \xed\xa0\x80 \xc3", "\\xff\\xc0\\x80 \\xed\\xa0\\x80 \\xc3"},
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cadre_error err = CADRE_ERROR_INIT;
        cadre_fail(&err, CADRE_EINVAL, "%s", cases[i].quoted);
        CHECK_TEXT(err.text, cases[i].shown);
    }
}

static void test_error__long_text_is_cut_at_a_character(void)
{
    static const char smile[4] = {'\xf0', '\x9f', '\x99', '\x82'};
    // One to four bytes before the emoji run move the cut through every byte of one.
    for (size_t lead = 0; lead < 4; lead++) {
        char quoted[1024] = "";
        memset(quoted, 'x', lead);
        for (size_t at = lead; at + 4 < sizeof(quoted); at += 4)
            memcpy(quoted + at, smile, sizeof(smile));
        cadre_error err = CADRE_ERROR_INIT;
        cadre_fail(&err, CADRE_EINVAL, "%s", quoted);
        size_t len = strlen(err.text);
        CHECK(len < sizeof(err.text) && len >= sizeof(err.text) - 8);
        CHECK_TEXT(err.text + len - 3, "...");
        CHECK_INT((len - 3 - lead) % 4, 0);
        CHECK_INT(strncmp(err.text, quoted, len - 3), 0);
    }
}

static void test_error__text_that_just_fits_is_whole(void)
{
    char quoted[sizeof(((cadre_error *)0)->text)];
    memset(quoted, 'x', sizeof(quoted) - 1);
    quoted[sizeof(quoted) - 1] = '\0';
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fail(&err, CADRE_EINVAL, "%s", quoted);
    CHECK_TEXT(err.text, quoted);
    cadre_error_clear(&err);
    quoted[10] = '\n'; // one byte more when shown
    cadre_fail(&err, CADRE_EINVAL, "%s", quoted);
    CHECK_INT(strlen(err.text), sizeof(quoted) - 1);
    CHECK_TEXT(err.text + sizeof(quoted) - 4, "...");
}

static void test_error__megabytes_are_quoted_in_linear_time(void)
{
    size_t len = 8U << 20;
    char *quoted = malloc(len + 1);
    if (!CHECK(quoted != NULL))
        return;
    memset(quoted, '\n', len);
    quoted[len] = '\0';
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fail(&err, CADRE_EINVAL, "%s", quoted);
    free(quoted);
    CHECK_INT(strlen(err.text), sizeof(err.text) - 1); // 248 escapes and the mark
    CHECK_TEXT(err.text + sizeof(err.text) - 6, "\\n...");
}

static void test_error__class_names_go_there_and_back(void)
{
    CHECK(cadre_error_class_name(CADRE_CLASS_NONE) == NULL);
    for (int i = CADRE_CLASS_AUTH; i <= CADRE_CLASS_ERROR; i++) {
        const char *name = cadre_error_class_name((cadre_error_class)i);
        if (CHECK(name != NULL))
            CHECK_INT(cadre_error_class_from_name(name), i);
    }
    CHECK_TEXT(cadre_error_class_name(CADRE_CLASS_CONTEXT_LENGTH), "context_length");
    CHECK_TEXT(cadre_error_class_name(CADRE_CLASS_EMPTY_RESPONSE), "empty_response");
    CHECK_TEXT(cadre_error_class_name((cadre_error_class)999), NULL);
    CHECK_INT(cadre_error_class_from_name("Auth"), CADRE_CLASS_NONE);
    CHECK_INT(cadre_error_class_from_name(NULL), CADRE_CLASS_NONE);
}

static void test_error__status_names_differ(void)
{
    for (int i = CADRE_OK; i <= CADRE_EIO; i++) {
        for (int j = CADRE_OK; j < i; j++)
            CHECK(strcmp(cadre_status_name((cadre_status)i),
                         cadre_status_name((cadre_status)j)) != 0);
    }
    CHECK_TEXT(cadre_status_name(CADRE_EABORTED), "aborted");
    CHECK_TEXT(cadre_status_name((cadre_status)999), "unknown");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_error__records_status_class_and_text),
    CHECK_TEST(test_error__first_failure_wins),
    CHECK_TEST(test_error__clear_makes_room_for_the_next),
    CHECK_TEST(test_error__null_takes_only_the_status),
    CHECK_TEST(test_error__class_follows_from_the_status),
    CHECK_TEST(test_error__text_is_one_harmless_line),
    CHECK_TEST(test_error__long_text_is_cut_at_a_character),
    CHECK_TEST(test_error__text_that_just_fits_is_whole),
    CHECK_TEST(test_error__megabytes_are_quoted_in_linear_time),
    CHECK_TEST(test_error__class_names_go_there_and_back),
    CHECK_TEST(test_error__status_names_differ),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/error", tests);
}
