// Classes of provider errors: by status, and where that says little by words.
#include "cadre/ext/model.h"

#include "support/check.h"

#include <string.h>

typedef struct row {
    int http_status;
    const char *code, *message;
    cadre_error_class error_class;
    bool retryable;
} row;

static void check_rows(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        cadre_status status =
            cadre_fail_http(&err, rows[i].http_status, rows[i].code, rows[i].message);
        CHECK_STATUS(status, CADRE_EIO, NULL);
        if (!CHECK_TEXT(cadre_error_class_name(err.error_class),
                        cadre_error_class_name(rows[i].error_class)) ||
            !CHECK_INT(err.retryable, rows[i].retryable))
            CHECK_TEXT(err.text, "the row above");
    }
}

static void test_http_error__status_gives_the_class(void)
{
    static const row rows[] = {
        {400, "", "bad", CADRE_CLASS_INVALID_REQUEST, false},
        {401, "", "no key", CADRE_CLASS_AUTH, false},
        {402, "", "pay", CADRE_CLASS_QUOTA, false},
        {403, "", "no", CADRE_CLASS_AUTH, false},
        {404, "", "gone", CADRE_CLASS_INVALID_REQUEST, false},
        {405, "", "", CADRE_CLASS_INVALID_REQUEST, false},
        {408, "", "", CADRE_CLASS_TIMEOUT, true},
        {409, "", "", CADRE_CLASS_SERVER, true},
        {413, "", "too large", CADRE_CLASS_CONTEXT_LENGTH, false},
        {422, "", "", CADRE_CLASS_INVALID_REQUEST, false},
        {429, "", "slow down", CADRE_CLASS_RATE_LIMITED, true},
        {500, "", "", CADRE_CLASS_SERVER, true},
        {501, "", "", CADRE_CLASS_SERVER, false},
        {502, "", "", CADRE_CLASS_SERVER, true},
        {503, "", "", CADRE_CLASS_OVERLOADED, true},
        {504, "", "", CADRE_CLASS_SERVER, true},
        {520, "", "", CADRE_CLASS_SERVER, true},
        {529, "", "", CADRE_CLASS_OVERLOADED, true},
        {302, "", "", CADRE_CLASS_INVALID_REQUEST, false},
    };
    check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_http_error__words_make_a_status_more_exact(void)
{
    static const row rows[] = {
        {429, "insufficient_quota", "", CADRE_CLASS_QUOTA, false},
        {429, "billing_hard_limit_reached", "", CADRE_CLASS_QUOTA, false},
        {403, "insufficient_quota", "", CADRE_CLASS_QUOTA, false},
        {400, "context_length_exceeded", "", CADRE_CLASS_CONTEXT_LENGTH, false},
        {400, "", "This model's Maximum Context Length is 8192 tokens",
         CADRE_CLASS_CONTEXT_LENGTH, false},
        {400, "exceed_context_size_error", "", CADRE_CLASS_CONTEXT_LENGTH, false},
        {500, "", "the request exceeds the available context size",
         CADRE_CLASS_CONTEXT_LENGTH, false},
        {400, "content_filter", "", CADRE_CLASS_CONTENT_FILTER, false},
        {400, "", "triggering Azure OpenAI's content management policy",
         CADRE_CLASS_CONTENT_FILTER, false},
        {400, "", "Your credit balance is too low", CADRE_CLASS_QUOTA, false},
        {500, "overloaded_error", "", CADRE_CLASS_OVERLOADED, true},
        // Not misled by what a text speaks of.
        {429, "", "you exceeded your context window of requests",
         CADRE_CLASS_RATE_LIMITED, true},
        {401, "", "content filter", CADRE_CLASS_AUTH, false},
        {503, "", "maximum context length", CADRE_CLASS_OVERLOADED, true},
    };
    check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_http_error__words_alone_class_an_error_inside_an_answer(void)
{
    static const row rows[] = {
        {200, "insufficient_quota", "quota exceeded", CADRE_CLASS_QUOTA, false},
        {200, "rate_limit_exceeded", "", CADRE_CLASS_RATE_LIMITED, true},
        {200, "overloaded_error", "Overloaded", CADRE_CLASS_OVERLOADED, true},
        {200, "server_error", "", CADRE_CLASS_SERVER, true},
        {200, "invalid_request_error", "", CADRE_CLASS_INVALID_REQUEST, false},
        {200, "authentication_error", "", CADRE_CLASS_AUTH, false},
        {200, "timeout", "", CADRE_CLASS_TIMEOUT, true},
        {200, "", "maximum context length", CADRE_CLASS_CONTEXT_LENGTH, false},
        {200, "", "the model is overloaded", CADRE_CLASS_OVERLOADED, true},
        {200, "", "something broke", CADRE_CLASS_SERVER, true},
        {0, "", "", CADRE_CLASS_SERVER, true},
    };
    check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_http_error__says_status_class_and_message_in_one_line(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fail_http(&err, 429, "", "  slow\r\n\t down\x01now  ");
    CHECK_TEXT(err.text, "HTTP 429 rate_limited: slow down now");
    cadre_error_clear(&err);
    cadre_fail_http(&err, 404, "", "no such model");
    CHECK_TEXT(err.text, "HTTP 404 invalid_request: no such model (check base_url and "
                         "model)");
    cadre_error_clear(&err);
    cadre_fail_http(&err, 500, "", "");
    CHECK_TEXT(err.text, "HTTP 500 server");
    cadre_error_clear(&err);
    cadre_fail_http(&err, 0, "overloaded", "");
    CHECK_TEXT(err.text, "overloaded: overloaded");
}

static void test_http_error__cuts_a_long_message_at_a_character(void)
{
    char message[2001];
    for (size_t i = 0; i + 2 < sizeof(message); i += 2)
        memcpy(message + i, "\xC3\xA9", 2);
    message[2000] = '\0';
    message[0] = 'x';
    message[1] = 'y'; // so that the limit falls into a character or not
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fail_http(&err, 404, "", message);
    CHECK_CONTAINS(err.text, "\xC3\xA9... (check base_url and model)");
    CHECK_LACKS(err.text, "\\x");
    cadre_error_clear(&err);
    cadre_fail_http(&err, 404, "", message + 1);
    CHECK_CONTAINS(err.text, "\xC3\xA9... (check base_url and model)");
    CHECK_LACKS(err.text, "\\x");
    CHECK_STATUS(cadre_fail_http(NULL, 500, "", message), CADRE_EIO, NULL);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_http_error__status_gives_the_class),
    CHECK_TEST(test_http_error__words_make_a_status_more_exact),
    CHECK_TEST(test_http_error__words_alone_class_an_error_inside_an_answer),
    CHECK_TEST(test_http_error__says_status_class_and_message_in_one_line),
    CHECK_TEST(test_http_error__cuts_a_long_message_at_a_character),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("net/http_error", tests);
}
