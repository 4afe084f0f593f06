// JSON from outside: what is refused, where, and what is repaired.
#include "support/check.h"

#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

static json_t *parse(const char *text, cadre_error *err)
{
    return cdr_json_parse(text, strlen(text), err);
}

// Parses and writes again; `expected` NULL: must be refused.
static void check_round(const char *text, const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = parse(text, &err);
    char *written = value ? cdr_json_dump(value) : NULL;
    if (!CHECK_TEXT(written, expected))
        CHECK_TEXT(text, "the case above");
    CHECK_INT(err.status, expected ? CADRE_OK : CADRE_EINVAL);
    free(written);
    json_decref(value);
}

static void test_json_text__parses_values_of_every_type(void)
{
    static const char *const cases[][2] = {
        {" {\"b\": 1, \"a\": [true, null]} ", "{\"b\":1,\"a\":[true,null]}"},
        {"\"text\"", "\"text\""},
        {"-12", "-12"},
        {"1.5", "1.5"},
        {"false", "false"},
        {"null\n", "null"},
        {"{\"k\":1,\"k\":2}", "{\"k\":2}"},
        {"\"\\ud83d\\ude42\"", "\"\xf0\x9f\x99\x82\""},
        {"\"\\u2028\\/\"", "\"\xe2\x80\xa8/\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_round(cases[i][0], cases[i][1]);
}

static void test_json_text__refuses_what_is_not_json(void)
{
    static const char *const cases[] = {
        "",
        "   ",
        "{",
        "[1,]",
        "{'a':1}",
        "nul",
        "1 2",
        "{} x",
        "\"open",
        "\"\xff\"",
        "\"\n\"",
        "01",
        "[1e999]",
        "\xef\xbb\xbf{}",
        "\"\\x41\"",
        "\"\\u12g4\"",
        "]",
        "{\"a\" 1}",
        "18446744073709551616",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_round(cases[i], NULL);
}

static void test_json_text__error_names_line_and_column(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(parse("{\n  \"a\": oops\n}", &err) == NULL);
    CHECK_INT(err.status, CADRE_EINVAL);
    CHECK_CONTAINS(err.text, "bad JSON at 2:11: ");
    CHECK_CONTAINS(err.text, "oops");
    cadre_error_clear(&err);
    CHECK(parse("[1] [2]", &err) == NULL);
    CHECK_CONTAINS(err.text, "bad JSON at 1:5: end of file expected");
    cadre_error_clear(&err);
    CHECK(cdr_json_parse("[1\0]", 4, &err) == NULL); // jansson alone would not mind
    CHECK_TEXT(err.text, "bad JSON at 1:3: a NUL byte");
    cadre_error_clear(&err);
    CHECK(cdr_json_parse("", 0, &err) == NULL);
    CHECK_TEXT(err.text, "bad JSON: the text is empty");
    CHECK(cdr_json_parse("{", 1, NULL) == NULL);
}

// `depth` open brackets, lists and objects in turn, and as many closed ones.
static char *nested(size_t depth)
{
    char *text = malloc(depth * 8 + 2);
    if (!text)
        return NULL;
    char *at = text;
    for (size_t i = 0; i < depth; i++) {
        const char *open = i % 2 ? "{\"k\":" : "[";
        memcpy(at, open, strlen(open));
        at += strlen(open);
    }
    *at++ = '1';
    for (size_t i = depth; i > 0; i--)
        *at++ = (i - 1) % 2 ? '}' : ']';
    *at = '\0';
    return text;
}

static void test_json_text__depth_128_passes_and_129_does_not(void)
{
    char *text = nested(CDR_JSON_MAX_DEPTH);
    check_round(text, text);
    free(text);
    text = nested(CDR_JSON_MAX_DEPTH + 1);
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(parse(text, &err) == NULL);
    CHECK_TEXT(err.text, "bad JSON at 1:385: nested deeper than 128 levels");
    free(text);
}

static void test_json_text__a_million_brackets_are_refused(void)
{
    size_t n = 1000000;
    char *text = malloc(n);
    if (!CHECK(text != NULL))
        return;
    memset(text, '[', n);
    text[1] = '\n';
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(cdr_json_parse(text, n, &err) == NULL);
    CHECK_TEXT(err.text, "bad JSON at 2:128: nested deeper than 128 levels");
    free(text);
}

static void test_json_text__brackets_in_strings_are_no_depth(void)
{
    char text[2000] = "[\"\\\"";
    memset(text + 4, '[', 1000);
    strncat(text, "\\\\\",\"{{{{\"]", sizeof(text) - strlen(text) - 1);
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = parse(text, &err);
    CHECK_OK(err.status, &err);
    CHECK_INT(json_string_length(json_array_get(value, 0)), 1002);
    json_decref(value);
}

static void test_json_text__many_values_side_by_side_are_no_depth(void)
{
    char text[3002]; // [[],[],...]
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        text[i] = ",[]"[i % 3];
    text[0] = '[';
    text[sizeof(text) - 2] = ']';
    text[sizeof(text) - 1] = '\0';
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = parse(text, &err);
    CHECK_OK(err.status, &err);
    CHECK_INT(json_array_size(value), 1000);
    json_decref(value);
}

static void test_json_text__half_surrogates_and_nul_become_replacements(void)
{
    static const char *const cases[][2] = {
        {"\"cut \\ud83d\"", "\"cut \xef\xbf\xbd\""},
        {"\"\\uDE42 low\"", "\"\xef\xbf\xbd low\""},
        {"\"\\ud83d\\u0041\"", "\"\xef\xbf\xbd"
                               "A\""},
        {"\"\\ud83d\\ud83d\\ude42\"", "\"\xef\xbf\xbd\xf0\x9f\x99\x82\""},
        {"\"\\ud83d\\n\"", "\"\xef\xbf\xbd\\n\""},
        {"\"a\\u0000b\"", "\"a\xef\xbf\xbd"
                          "b\""},
        {"{\"k\\u0000\":\"\\ud800\"}", "{\"k\xef\xbf\xbd\":\"\xef\xbf\xbd\"}"},
        {"[\"\\\\ud83d\",\"\\ud83d\"]", "[\"\\\\ud83d\",\"\xef\xbf\xbd\"]"},
        {"[\"\\\\\\u0000\"]", "[\"\\\\\xef\xbf\xbd\"]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_round(cases[i][0], cases[i][1]);
}

static void test_json_text__repair_hides_no_other_mistake(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(parse("[\"\\ud83d\",\n oops]", &err) == NULL);
    CHECK_CONTAINS(err.text, "bad JSON at 2:5: ");
    CHECK_CONTAINS(err.text, "oops");
    check_round("\"\\ud83d\\u12\"", NULL);
    check_round("\"\\ud83d\\", NULL);
    check_round("\"\\ud83", NULL);
    check_round("\\", NULL);
}

static void test_json_text__text_need_not_end_with_nul(void)
{
    static const char *const cases[] = {"[1]", "\"\\u0000\"", "\"\\ud83d\"", "12"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t len = strlen(cases[i]);
        char *exact = malloc(len); // so that the sanitizer sees a read beyond
        if (!CHECK(exact != NULL))
            return;
        memcpy(exact, cases[i], len);
        cadre_error err = CADRE_ERROR_INIT;
        json_t *value = cdr_json_parse(exact, len, &err);
        CHECK_OK(err.status, &err);
        json_decref(value);
        for (size_t cut = 1; cut < len; cut++) {
            char *part = malloc(cut);
            if (!CHECK(part != NULL))
                break;
            memcpy(part, cases[i], cut);
            json_decref(cdr_json_parse(part, cut, NULL));
            free(part);
        }
        free(exact);
    }
}

static void test_json_text__arguments_may_be_blank(void)
{
    static const char *const cases[] = {"", "  \r\n\t", "{}", " { } "};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cadre_error err = CADRE_ERROR_INIT;
        json_t *value = cdr_json_parse_arguments(cases[i], strlen(cases[i]), &err);
        CHECK_OK(err.status, &err);
        CHECK(json_is_object(value) && json_object_size(value) == 0);
        json_decref(value);
    }
}

static void test_json_text__arguments_that_are_no_object_are_named(void)
{
    static const char *const cases[][2] = {
        {"[1]", "got an array: [1]"},    {"\"x\"", "got a string: \"x\""},
        {" 7", "got a number: 7"},       {"1.5", "got a number: 1.5"},
        {"true", "got a boolean: true"}, {"null", "got null: null"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cadre_error err = CADRE_ERROR_INIT;
        json_t *value =
            cdr_json_parse_arguments(cases[i][0], strlen(cases[i][0]), &err);
        CHECK(value == NULL);
        CHECK_INT(err.status, CADRE_EINVAL);
        CHECK_CONTAINS(err.text, cases[i][1]);
    }
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(cdr_json_parse_arguments("{\"a\":", 5, &err) == NULL);
    CHECK_CONTAINS(err.text, "bad JSON at 1:5: ");
}

static void test_json_text__quoted_arguments_tear_no_character(void)
{
    static const char smile[4] = {'\xf0', '\x9f', '\x99', '\x82'};
    for (size_t lead = 0; lead < 4; lead++) {
        char text[400] = "\"";
        memset(text + 1, 'x', lead);
        for (size_t at = 1 + lead; at < 300; at += 4)
            memcpy(text + at, smile, sizeof(smile));
        text[strlen(text)] = '"';
        cadre_error err = CADRE_ERROR_INIT;
        CHECK(cdr_json_parse_arguments(text, strlen(text), &err) == NULL);
        CHECK_LACKS(err.text, "\\x");
        CHECK_CONTAINS(err.text, "\xf0\x9f\x99\x82");
    }
}

static void test_json_text__dump_is_compact_and_keeps_the_order(void)
{
    json_t *value = json_pack("{s:s,s:[ifb],s:n}", "z", "\"\n", "a", 1, 2.0, 1, "m");
    char *text = cdr_json_dump(value);
    CHECK_TEXT(text, "{\"z\":\"\\\"\\n\",\"a\":[1,2.0,true],\"m\":null}");
    free(text);
    json_decref(value);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_json_text__parses_values_of_every_type),
    CHECK_TEST(test_json_text__refuses_what_is_not_json),
    CHECK_TEST(test_json_text__error_names_line_and_column),
    CHECK_TEST(test_json_text__depth_128_passes_and_129_does_not),
    CHECK_TEST(test_json_text__a_million_brackets_are_refused),
    CHECK_TEST(test_json_text__brackets_in_strings_are_no_depth),
    CHECK_TEST(test_json_text__many_values_side_by_side_are_no_depth),
    CHECK_TEST(test_json_text__half_surrogates_and_nul_become_replacements),
    CHECK_TEST(test_json_text__repair_hides_no_other_mistake),
    CHECK_TEST(test_json_text__text_need_not_end_with_nul),
    CHECK_TEST(test_json_text__arguments_may_be_blank),
    CHECK_TEST(test_json_text__arguments_that_are_no_object_are_named),
    CHECK_TEST(test_json_text__quoted_arguments_tear_no_character),
    CHECK_TEST(test_json_text__dump_is_compact_and_keeps_the_order),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/json_text", tests);
}
