// Documents that are refused: with which message, at which place.
#include "support/check.h"

#include "base/buf.h"
#include "team/yaml.h"

#include <stdlib.h>
#include <string.h>

static void check_accepted(const char *name, const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    CHECK_OK(cdr_document_parse(name, text, strlen(text), &document, &err), &err);
    cdr_document_free(document);
}

static void check_bytes_refused(const char *name, const char *text, size_t len,
                                const char *message)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    CHECK_STATUS(cdr_document_parse(name, text, len, &document, &err), CADRE_ECONFIG,
                 &err);
    CHECK_TEXT(err.text, message);
    CHECK(document == NULL);
    cdr_document_free(document);
}

static void check_refused(const char *text, const char *message)
{
    check_bytes_refused("t.yaml", text, strlen(text), message);
}

static void test_yaml_refusals__refuses_duplicate_keys_with_both_places(void)
{
    check_refused("agents:\n  writer:\n    model: m\n  writer:\n    model: m2\n",
                  "t.yaml:4:3: duplicate key 'writer' (first at line 2)");
    check_refused("{a: 1, \"a\": 2}",
                  "t.yaml:1:8: duplicate key 'a' (first at line 1, column 2)");
    check_refused("a: {b: {c: 1}}\nd: {b: 1, e: {}}\na: 2\n",
                  "t.yaml:3:1: duplicate key 'a' (first at line 1)");
    check_accepted("t.yaml", "a: {b: 1}\nb: {a: 1}\n");
}

static void test_yaml_refusals__refuses_what_team_files_do_not_use(void)
{
    check_refused("base: &b {x: 1}\nc:\n  <<: *b\n",
                  "t.yaml:3:3: merge keys ('<<') are not read; write the keys out, or "
                  "let an alias stand for a whole value");
    check_accepted("t.yaml", "\"<<\": 1");
    check_refused("a: 1\n---\nb: 2\n",
                  "t.yaml:2:1: a second document starts here; a file holds one");
    check_refused("a: !!str 7\n", "t.yaml:1:4: tags are not read "
                                  "('tag:yaml.org,2002:str'); quote a value to make it "
                                  "text");
    check_refused("a: !mine [7]\n",
                  "t.yaml:1:4: tags are not read ('!mine'); quote a value to make it "
                  "text");
    check_refused("a: !mine\n  b: 7\n",
                  "t.yaml:1:4: tags are not read ('!mine'); quote a value to make it "
                  "text");
    check_refused("? [a]\n: b\n", "t.yaml:1:3: a key must be a text, not an array; "
                                  "quote a text that starts with '['");
    check_refused("text: {{input}}\n",
                  "t.yaml:1:8: a key must be a text, not an object; "
                  "quote a text that starts with '{'");
    check_refused("a: &x b\n*x : c\n",
                  "t.yaml:2:1: a key must be a text, not an alias");
    check_refused("&x a: b\n", "t.yaml:1:1: a key cannot have an anchor ('&x')");
    check_refused("?\n: b\n", "t.yaml:1:2: a key is missing before ':'");
}

static void test_yaml_refusals__explains_syntax_errors(void)
{
    check_refused("a:\n\tb: 1\n", "t.yaml:2:1: found character that cannot start any "
                                  "token: a tab cannot indent; use spaces");
    check_refused(
        "a: b\nc: @x\n",
        "t.yaml:2:4: found character that cannot start any token: quote a text "
        "that starts with such a character");
    check_refused("a: b: c\n",
                  "t.yaml:1:5: mapping values are not allowed in this context: quote a "
                  "text that holds ': ', or check the indentation");
    check_refused("x: 1\na: [1, 2\nb: 3\n",
                  "t.yaml:3:2: did not find expected ',' or ']' (while parsing a flow "
                  "sequence that starts at line 2)");
    check_refused("a: \"x\nb: 2\n", "t.yaml:3:1: found unexpected end of stream (while "
                                    "scanning a quoted scalar that starts at line 1)");
    check_refused(
        "a: \"\\ud83d\\ude00\"\n",
        "t.yaml:1:7: found invalid Unicode character escape code (while parsing "
        "a quoted scalar that starts at line 1): write the character itself, "
        "or \\U and 8 digits");
}

static void test_yaml_refusals__refuses_bytes_that_are_not_text(void)
{
    check_bytes_refused(
        "t.yaml", "a: 1\nb: x\0y\n", 12,
        "t.yaml:2:5: the control character U+0000; write it as an escape, "
        "or remove it");
    check_refused("a: \x1b[2J\n",
                  "t.yaml:1:4: the control character U+001B; write it as "
                  "an escape, or remove it");
    check_refused("a: \"x\\0y\"\n",
                  "t.yaml:1:4: the text holds a NUL character, which no text may");
    check_refused("\"x\\0y\": 1\n",
                  "t.yaml:1:1: the text holds a NUL character, which no text may");
    static const char *const broken[] = {
        "\xC3\xBC\xFF",     // no such byte
        "\xC3\xBC\xC0\x80", // overlong
        "\xC3\xBC\xE0\x80\x80",
        "\xC3\xBC\xED\xA0\x80",     // a surrogate
        "\xC3\xBC\xF4\x90\x80\x80", // above U+10FFFF
        "\xC3\xBC\xE2\x82",         // cut off
        "\xC3\xBC\x80",             // starts in the middle
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        check_refused(broken[i],
                      "t.yaml:1:2: a byte that is not UTF-8; save the file as "
                      "UTF-8");
    check_bytes_refused("t.yaml",
                        "\xFF\xFE"
                        "a\0",
                        4, "t.yaml:1:1: this is UTF-16; save the file as UTF-8");
}

static void test_yaml_refusals__refuses_aliases_that_name_nothing_or_themselves(void)
{
    check_refused("a: *y\n",
                  "t.yaml:1:4: the alias '*y' names nothing: no '&y' stands before it");
    check_refused("a: *y\nb: &y 1\n",
                  "t.yaml:1:4: the alias '*y' names nothing: no '&y' stands before it");
    check_refused("a: &x [1, *x]\n",
                  "t.yaml:1:11: the alias '*x' stands inside the value it names");
}

static void test_yaml_refusals__stops_alias_bombs(void)
{
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_append_text(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 60; i++) {
        cdr_buf_printf(&text, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            cdr_buf_printf(&text, "*a%d, ", i - 1);
        cdr_buf_append_text(&text, "]\n");
    }
    check_refused(cdr_buf_text(&text),
                  "t.yaml:6:10: more than 200000 values, with aliases expanded");
    cdr_buf_clear(&text);
    cdr_buf_append_text(&text, "a: &a ");
    for (int i = 0; i < 100000; i++)
        cdr_buf_append_text(&text, "0123456789");
    cdr_buf_append_text(&text, "\nb: [");
    for (int i = 0; i < 100; i++)
        cdr_buf_append_text(&text, "*a,");
    cdr_buf_append_text(&text, "]");
    check_refused(cdr_buf_text(&text),
                  "t.yaml:2:50: more than 16 MiB of text, with aliases expanded");
    cdr_buf_fini(&text);
}

static void check_nested(const char *name, const char *before, int n_levels,
                         const char *message)
{
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_append_text(&text, before);
    for (int i = 0; i < n_levels; i++)
        cdr_buf_append_text(&text, "[");
    for (int i = 0; i < n_levels; i++)
        cdr_buf_append_text(&text, "]");
    if (message)
        check_bytes_refused(name, cdr_buf_text(&text), text.len, message);
    else
        check_accepted(name, cdr_buf_text(&text));
    cdr_buf_fini(&text);
}

static void test_yaml_refusals__stops_at_its_depth(void)
{
    check_nested("t.yaml", "", 64, NULL);
    check_nested("t.json", "", 64, NULL);
    check_nested("t.yaml", "", 65, "t.yaml:1:65: nested deeper than 64 levels");
    check_nested("t.json", "", 65, "t.json:1:65: nested deeper than 64 levels");
    check_nested("t.yaml", "", 50000, "t.yaml:1:65: nested deeper than 64 levels");
    check_nested("t.yaml", "a: ", 64, "t.yaml:1:67: nested deeper than 64 levels");
    // An alias is as deep as what it names.
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_append_text(&text, "a: &a [[[[[[[[1]]]]]]]]\nb: ");
    for (int i = 0; i < 56; i++)
        cdr_buf_append_text(&text, "[");
    cdr_buf_append_text(&text, "*a");
    for (int i = 0; i < 56; i++)
        cdr_buf_append_text(&text, "]");
    check_refused(cdr_buf_text(&text), "t.yaml:2:60: nested deeper than 64 levels");
    cdr_buf_fini(&text);
}

static void test_yaml_refusals__holds_json_to_its_own_syntax(void)
{
    static const char *const cases[][2] = {
        {"{\"agents\":{\"writer\":{\"model\":\"m\"},\"writer\":{\"model\":\"m2\"}}}",
         "t.json:1:35: duplicate key 'writer' (first at line 1, column 12)"},
        {"{\"a\": 1,\n \"\\u0061\": {\"b\": 2}}",
         "t.json:2:2: duplicate key 'a' (first at line 1)"},
        {"{\"a\": {\"b\" 2}}", "t.json:1:12: ':' expected near '2'"},
        {"{\"a\": 1}\n{}", "t.json:2:1: end of file expected near '{'"},
        {"{\"a\": 1e999}", "t.json:1:11: real number overflow near '1e999'"},
        {"{\"a\": \"\\u0000\"}",
         "t.json:1:14: the text holds a NUL character, which no text may"},
        {"a: 1", "t.json:1:1: invalid token near 'a'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_bytes_refused("t.json", cases[i][0], strlen(cases[i][0]), cases[i][1]);
}

static void test_yaml_refusals__start_above_4_mib(void)
{
    size_t len = CDR_DOCUMENT_MAX_BYTES;
    char *text = malloc(len + 2);
    memset(text, 'x', len + 1);
    memcpy(text, "a: ", 3);
    text[len] = '\0';
    check_accepted("t.yaml", text);
    text[len] = 'x';
    check_bytes_refused("t.yaml", text, len + 1, "t.yaml: larger than 4 MiB");
    free(text);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_yaml_refusals__refuses_duplicate_keys_with_both_places),
        CHECK_TEST(test_yaml_refusals__refuses_what_team_files_do_not_use),
        CHECK_TEST(test_yaml_refusals__explains_syntax_errors),
        CHECK_TEST(test_yaml_refusals__refuses_bytes_that_are_not_text),
        CHECK_TEST(test_yaml_refusals__refuses_aliases_that_name_nothing_or_themselves),
        CHECK_TEST(test_yaml_refusals__stops_alias_bombs),
        CHECK_TEST(test_yaml_refusals__stops_at_its_depth),
        CHECK_TEST(test_yaml_refusals__holds_json_to_its_own_syntax),
        CHECK_TEST(test_yaml_refusals__start_above_4_mib),
        CU_TEST_INFO_NULL,
    };
    return check_main("team/yaml_refusals", tests);
}
