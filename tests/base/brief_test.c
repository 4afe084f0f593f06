// Values in messages: short, on one line, harmless to a terminal.
#include "support/check.h"

#include "base/brief.h"

#include <string.h>

static void test_brief__cuts_long_text_at_a_character(void)
{
    char out[CDR_BRIEF_SIZE];
    CHECK_TEXT(cdr_brief_text(out, "short", '\''), "'short'");
    CHECK_TEXT(cdr_brief_text(out, "", '"'), "\"\"");
    CHECK_TEXT(cdr_brief_text(out, "bare", '\0'), "bare");
    char text[4 * 50 + 1];
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = "\xF0\x9F\x98\x80"[i % 4];
    text[sizeof text - 1] = '\0';
    cdr_brief_text(out, text, '\'');
    CHECK_INT(strlen(out), 1 + 48 * 4 + 3 + 1);
    CHECK_CONTAINS(out, "\x9F\x98\x80...'");
}

static void test_brief__shows_no_control_characters(void)
{
    // As bytes: checkers refuse such marks in string literals.
    static const char turned[] = {'x', '\xE2', '\x80', '\xAE', '\0'};
    static const char isolated[] = {'\xE2', '\x81', '\xA6', 'x', '\0'};
    char out[CDR_BRIEF_SIZE];
    CHECK_TEXT(cdr_brief_text(out, "a\x1b[2Jb\nc\x7f", '\0'), "a?[2Jb?c?");
    CHECK_TEXT(cdr_brief_text(out, "\xC2\x9B\xE2\x80\xA8", '\0'), "??");
    CHECK_TEXT(cdr_brief_text(out, turned, '\0'), "x?");
    CHECK_TEXT(cdr_brief_text(out, isolated, '\0'), "?x");
    CHECK_TEXT(cdr_brief_text(out, "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC", '\0'),
               "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC");
    CHECK_TEXT(cdr_brief_text(out, "\x80", '\0'), "?");
}

static void test_brief__says_what_a_value_is(void)
{
    static const struct {
        const char *json;
        const char *brief;
    } cases[] = {
        {"null", "null"},
        {"true", "true"},
        {"-7", "-7"},
        {"1.1", "1.1"},
        {"1e300", "1e300"},
        {"\"x\"", "\"x\""},
        {"{}", "an empty object"},
        {"{\"a\": 1}", "an object"},
        {"[]", "an empty array"},
        {"[1]", "an array"},
    };
    char out[CDR_BRIEF_SIZE];
    CHECK_TEXT(cdr_brief_json(out, NULL), "nothing");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *value = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
        CHECK_TEXT(cdr_brief_json(out, value), cases[i].brief);
        json_decref(value);
    }
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_brief__cuts_long_text_at_a_character),
        CHECK_TEST(test_brief__shows_no_control_characters),
        CHECK_TEST(test_brief__says_what_a_value_is),
        CU_TEST_INFO_NULL,
    };
    return check_main("base/brief", tests);
}
