// The secrets of a request: which they are, and that nothing shows them.
#include "net/secrets.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

// Gathers those of one header, or of a URL (name NULL), as "a|b|".
static const char *found_in(const char *name, const char *value, char out[512])
{
    cadre_http http;
    cdr_secrets secrets;
    size_t used = 0;
    out[0] = '\0';
    cdr_http_init(&http);
    if (name)
        cadre_http_set_header(&http, name, "%s", value);
    else
        cadre_http_set_url(&http, "%s", value);
    CHECK(cdr_secrets_init(&secrets, &http));
    for (size_t i = 0; i < secrets.count; i++)
        used += (size_t)snprintf(out + used, 512 - used, "%.*s|",
                                 (int)secrets.items[i].len, secrets.items[i].text);
    cdr_secrets_fini(&secrets);
    cdr_http_fini(&http);
    return out;
}

static void test_secrets__are_told_by_the_names_of_headers_and_parameters(void)
{
    static const char *const rows[][3] = {
        {"Authorization", "Bearer sk-12345678", "sk-12345678|"},
        {"X-Api-Key", "sk-12345678", "sk-12345678|"},
        {"x-goog-api-key", "AIza12345678", "AIza12345678|"},
        {"Proxy-Authorization", "Basic dXNlcjpwYXNz", "dXNlcjpwYXNz|"},
        {"Cookie", "a=12345678; b=87654321", "12345678|87654321|"},
        {"X-Session", "abcdefgh", "abcdefgh|"},
        {"api-key", "abc/defg/h", "abc/defg/h|abc\\/defg\\/h|"},
        {"api-key", "test", ""}, // too short to be one
        {"Content-Type", "application/json", ""},
        {"anthropic-version", "2023-06-01", ""},
        {NULL, "https://h/v1?api-version=2024-10-21&key=AIza12345678#x",
         "AIza12345678|"},
        {NULL, "https://h/v1?access_token=abcdefgh&sig=1", "abcdefgh|"},
        {NULL, "https://h/v1?key=abc%2Fdefgh", "abc%2Fdefgh|abc/defgh|abc\\/defgh|"},
        {NULL, "https://somebody:p%40ssword@h/v1",
         "somebody|p%40ssword|p@ssword|c29tZWJvZHk6cCU0MHNzd29yZA==|"},
        {NULL, "https://h:8080/v1", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char found[512];
        CHECK_TEXT(found_in(rows[i][0], rows[i][1], found), rows[i][2]);
    }
}

static const cdr_secrets two = {.items = {{"sk-12345678", 11}, {"sk-1234567890", 13}},
                                .count = 2};

static void test_secrets__in_an_error_every_part_is_covered(void)
{
    static const char *const rows[][2] = {
        {"key sk-12345678.", "key ***********."},
        {"sk-12345678sk-12345678", "**********************"},
        {"cut sk-12345", "cut ********"},
        {"too little sk-1234", "too little sk-1234"},
        {"the longer sk-1234567890", "the longer *************"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s", rows[i][0]);
        cdr_secrets_cover(&two, text);
        CHECK_TEXT(text, rows[i][1]);
    }
}

static void test_secrets__in_an_answer_only_a_whole_one_is_covered(void)
{
    static const char *const rows[][2] = {
        {"key sk-12345678.", "key ***********."},
        {"cut sk-1234567", "cut sk-1234567"},
        {"sk-sk-sk-12345678", "sk-sk-***********"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s", rows[i][0]);
        cdr_secrets_cover_whole(&two, text, strlen(text));
        CHECK_TEXT(text, rows[i][1]);
    }
}

static void test_secrets__what_may_become_one_is_found(void)
{
    size_t n = 0;
    CHECK_INT(cdr_secrets_find(&two, "abc", 3, &n), 3);
    CHECK_INT(n, 0);
    CHECK_INT(cdr_secrets_find(&two, "abc sk-12", 9, &n), 4);
    CHECK_INT(n, 0);
    CHECK_INT(cdr_secrets_find(&two, "sk-1x s", 7, &n), 6);
    CHECK_INT(n, 0);
    CHECK_INT(cdr_secrets_find(&two, "a sk-12345678 b", 15, &n), 2);
    CHECK_INT(n, 11);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_secrets__are_told_by_the_names_of_headers_and_parameters),
    CHECK_TEST(test_secrets__in_an_error_every_part_is_covered),
    CHECK_TEST(test_secrets__in_an_answer_only_a_whole_one_is_covered),
    CHECK_TEST(test_secrets__what_may_become_one_is_found),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("net/secrets", tests);
}
