// URLs in messages: everything that may be a secret is left out.
#include "base/url_text.h"

#include "support/check.h"

#include <string.h>

static void test_url_text__leaves_out_user_password_query_and_fragment(void)
{
    static const char *const rows[][2] = {
        {"https://h.example/v1", "https://h.example/v1"},
        {"https://user:pass@h.example:8443/v1", "https://h.example:8443/v1"},
        {"http://token@[::1]:80/v1/?key=abc&x=1#part", "http://[::1]:80/v1/?..."},
        {"https://h/a@b/c", "https://h/a@b/c"},
        {"https://u@x:p@h/", "https://h/"},
        {"https://h?key=a://b@c", "https://h?..."},
        {"https://h#key", "https://h"},
        {"/v1/chat?key=abc", "/v1/chat?..."},
        {"//user:pass@h/v1", "//h/v1"},
        {"user:pass@h.example/v1", "h.example/v1"},
        {"ftp://user:pass@h", "ftp://h"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char shown[CDR_URL_TEXT_SIZE];
        CHECK_TEXT(cdr_url_text(shown, rows[i][0]), rows[i][1]);
    }
}

static void test_url_text__is_cut_at_a_character(void)
{
    char url[1024] = "https://h/";
    char shown[CDR_URL_TEXT_SIZE];
    for (size_t len = strlen(url); len + 3 < sizeof url; len += 2)
        memcpy(url + len, "\xC3\xBC", 3);
    cdr_url_text(shown, url);
    size_t len = strlen(shown);
    CHECK(len > CDR_URL_TEXT_SIZE - 8 && len < CDR_URL_TEXT_SIZE);
    CHECK_TEXT(shown + len - 5, "\xC3\xBC...");
    // One that fits to the last byte is whole.
    for (size_t n = CDR_URL_TEXT_SIZE - 10; n < CDR_URL_TEXT_SIZE + 2; n++) {
        memset(url, 'a', n);
        url[n] = '\0';
        cdr_url_text(shown, url);
        CHECK(strcmp(shown, url) == 0 || strcmp(shown + strlen(shown) - 3, "...") == 0);
        CHECK(strncmp(shown, url, strlen(shown) - 3) == 0);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_url_text__leaves_out_user_password_query_and_fragment),
    CHECK_TEST(test_url_text__is_cut_at_a_character),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/url_text", tests);
}
