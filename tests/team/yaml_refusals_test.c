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
    size_t n_problems = 0;
    if (!CHECK_OK(cdr_document_parse(name, text, strlen(text), &document, &err), &err))
        return;
    cdr_document_problems(document, &n_problems);
    CHECK_INT(n_problems, 0);
    CHECK(cdr_document_root(document).value != NULL);
    cdr_document_free(document);
}

// The problems are these lines, as "line:column: text"; `is_read` says whether there
// are values all the same. The document is given out for more.
static cdr_document *parse_flawed(const char *name, const char *text, size_t len,
                                  bool is_read, const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    cdr_buf told = CDR_BUF_INIT;
    size_t n_problems = 0;
    if (!CHECK_OK(cdr_document_parse(name, text, len, &document, &err), &err))
        return NULL;
    const cdr_document_problem *problems = cdr_document_problems(document, &n_problems);
    for (size_t i = 0; i < n_problems; i++)
        cdr_buf_printf(&told, "%s%d:%d: %s", i > 0 ? "\n" : "", problems[i].place.line,
                       problems[i].place.column, problems[i].text);
    CHECK_TEXT(cdr_buf_text(&told), expected);
    CHECK((cdr_document_root(document).value != NULL) == is_read);
    cdr_buf_fini(&told);
    return document;
}

// Reading stops.
static void check_bytes_refused(const char *name, const char *text, size_t len,
                                const char *expected)
{
    cdr_document_free(parse_flawed(name, text, len, false, expected));
}

// Reading goes on; this is what was read.
static void check_read(const char *name, const char *text, const char *values,
                       const char *expected)
{
    cdr_document *document = parse_flawed(name, text, strlen(text), true, expected);
    if (!document)
        return;
    char *json =
        json_dumps(cdr_document_root(document).value, JSON_COMPACT | JSON_ENCODE_ANY);
    CHECK_TEXT(json, values);
    free(json);
    cdr_document_free(document);
}

static void check_told(const char *text, const char *values, const char *expected)
{
    check_read("t.yaml", text, values, expected);
}

static void check_refused(const char *text, const char *message)
{
    check_bytes_refused("t.yaml", text, strlen(text), message);
}

static void test_yaml_refusals__tells_duplicate_keys_with_both_places(void)
{
    check_told("agents:\n  writer:\n    model: m\n  writer:\n    model: m2\n",
               "{\"agents\":{\"writer\":{\"model\":\"m\"}}}",
               "4:3: duplicate key 'writer' (first at line 2)");
    check_told("{a: 1, \"a\": 2}", "{\"a\":1}",
               "1:8: duplicate key 'a' (first at line 1, column 2)");
    check_told("a: {b: {c: 1}}\nd: {b: 1, e: {}}\na: 2\n",
               "{\"a\":{\"b\":{\"c\":1}},\"d\":{\"b\":1,\"e\":{}}}",
               "3:1: duplicate key 'a' (first at line 1)");
    check_accepted("t.yaml", "a: {b: 1}\nb: {a: 1}\n");
}

static void test_yaml_refusals__tells_each_duplicate_key_in_file_order(void)
{
    check_told(
        "a: 1\nb: {x: 1, x: 2}\na: {y: 1, y: 2}\nc: 3\na: [{z: 1, z: 2}]\nb: 4\n",
        "{\"a\":1,\"b\":{\"x\":1},\"c\":3}",
        "2:11: duplicate key 'x' (first at line 2, column 5)\n"
        "3:1: duplicate key 'a' (first at line 1)\n"
        "3:11: duplicate key 'y' (first at line 3, column 5)\n"
        "5:1: duplicate key 'a' (first at line 1)\n"
        "5:12: duplicate key 'z' (first at line 5, column 6)\n"
        "6:1: duplicate key 'b' (first at line 2)");
    // What is left out can be named all the same.
    check_told("a: 1\na: &x [2]\nb: *x\n", "{\"a\":1,\"b\":[2]}",
               "2:1: duplicate key 'a' (first at line 1)");
}

static void test_yaml_refusals__tells_what_came_before_it_stops(void)
{
    check_refused("a: !x 1\nb:\n  c: 1\n  c: 2\na: 3\nd: [\n",
                  "1:4: tags are not read ('!x'); quote a value to make it text\n"
                  "4:3: duplicate key 'c' (first at line 3)\n"
                  "5:1: duplicate key 'a' (first at line 1)\n"
                  "7:1: did not find expected node content");
}

static void test_yaml_refusals__tells_what_team_files_do_not_use(void)
{
    check_told("base: &b {x: 1}\nc:\n  <<: *b\n  y: 2\n",
               "{\"base\":{\"x\":1},\"c\":{\"y\":2}}",
               "3:3: merge keys ('<<') are not read; write the keys out, or "
               "let an alias stand for a whole value");
    check_accepted("t.yaml", "\"<<\": 1");
    check_told("a: 1\n---\nb: 2\n", "{\"a\":1}",
               "2:1: a second document starts here; a file holds one");
    check_told(
        "a: !!str 7\nb: 1\n", "{\"a\":7,\"b\":1}",
        "1:4: tags are not read ('tag:yaml.org,2002:str'); quote a value to make "
        "it text");
    check_told("a: !mine [7]\n", "{\"a\":[7]}",
               "1:4: tags are not read ('!mine'); quote a value to make it text");
    check_told("a: !mine\n  b: 7\n", "{\"a\":{\"b\":7}}",
               "1:4: tags are not read ('!mine'); quote a value to make it text");
    check_told("a: \"x\\0y\"\nb: 1\n", "{\"a\":\"x\",\"b\":1}",
               "1:4: the text holds a NUL character, which no text may");
}

static void test_yaml_refusals__leaves_out_what_has_no_text_for_a_key(void)
{
    check_told("? [a, {b: c}]\n: {d: e}\nf: g\n", "{\"f\":\"g\"}",
               "1:3: a key must be a text, not a list; quote a text that starts with "
               "'['");
    check_told("text: {{input}}\nf: g\n", "{\"text\":{},\"f\":\"g\"}",
               "1:8: a key must be a text, not a mapping; quote a text that starts "
               "with '{'");
    check_told("a: &x b\n*x : c\nd: e\n", "{\"a\":\"b\",\"d\":\"e\"}",
               "2:1: a key must be a text, not an alias");
    check_told("&x a: b\nc: *x\n", "{\"a\":\"b\",\"c\":\"a\"}",
               "1:1: a key cannot have an anchor ('&x')");
    check_told("?\n: b\nc: d\n", "{\"c\":\"d\"}", "1:2: a key is missing before ':'");
    check_told("\"x\\0y\": 1\nc: d\n", "{\"c\":\"d\"}",
               "1:1: the text holds a NUL character, which no text may");
}

static void test_yaml_refusals__marks_what_is_not_what_was_meant(void)
{
    static const char text[] = "a: {b: !x 1, c: 2}\nd: {<<: 1}\ne: {f: 1, f: 2}\n"
                               "g: [*no, [2]]\nh: 1\n";
    cdr_document *document = parse_flawed(
        "t.yaml", text, strlen(text), true,
        "1:8: tags are not read ('!x'); quote a value to make it text\n"
        "2:5: merge keys ('<<') are not read; write the keys out, or let an "
        "alias stand for a whole value\n"
        "3:11: duplicate key 'f' (first at line 3, column 5)\n"
        "4:5: the alias '*no' names nothing: no '&no' stands before it");
    if (!document)
        return;
    cdr_document_value root = cdr_document_root(document);
    static const struct {
        const char *path[2];
        bool is_doubtful, holds_doubts, is_repeated;
    } expected[] = {
        {{"a"}, false, true, false},       {{"a", "b"}, true, true, false},
        {{"a", "c"}, false, false, false}, {{"d"}, true, true, false},
        {{"e"}, false, false, false},      {{"e", "f"}, false, false, true},
        {{"g"}, false, true, false},       {{"h"}, false, false, false},
    };
    CHECK(root.holds_doubts && !root.is_doubtful);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const char *const *path = expected[i].path;
        cdr_document_value value = cdr_document_member(document, root.value, path[0]);
        if (path[1])
            value = cdr_document_member(document, value.value, path[1]);
        CHECK(value.value != NULL);
        CHECK_INT(value.is_doubtful, expected[i].is_doubtful);
        CHECK_INT(value.holds_doubts, expected[i].holds_doubts);
        CHECK_INT(value.is_repeated, expected[i].is_repeated);
    }
    const json_t *array = json_object_get(root.value, "g");
    CHECK(cdr_document_element(document, array, 0).is_doubtful);
    CHECK(!cdr_document_element(document, array, 1).holds_doubts);
    cdr_document_free(document);
}

static void test_yaml_refusals__explains_syntax_errors(void)
{
    check_refused("a:\n\tb: 1\n", "2:1: found character that cannot start any "
                                  "token: a tab cannot indent; use spaces");
    check_refused("a: b\nc: @x\n",
                  "2:4: found character that cannot start any token: quote a text "
                  "that starts with such a character");
    check_refused("a: b: c\n",
                  "1:5: mapping values are not allowed in this context: quote a "
                  "text that holds ': ', or check the indentation");
    check_refused("x: 1\na: [1, 2\nb: 3\n",
                  "3:2: did not find expected ',' or ']' (while parsing a flow "
                  "sequence that starts at line 2)");
    check_refused("a: \"x\nb: 2\n", "3:1: found unexpected end of stream (while "
                                    "scanning a quoted scalar that starts at line 1)");
    check_refused("a: \"\\ud83d\\ude00\"\n",
                  "1:7: found invalid Unicode character escape code (while parsing "
                  "a quoted scalar that starts at line 1): write the character itself, "
                  "or \\U and 8 digits");
}

static void test_yaml_refusals__refuses_bytes_that_are_not_text(void)
{
    check_bytes_refused("t.yaml", "a: 1\nb: x\0y\n", 12,
                        "2:5: the control character U+0000; write it as an escape, "
                        "or remove it");
    check_refused("a: \x1b[2J\n", "1:4: the control character U+001B; write it as "
                                  "an escape, or remove it");
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
        check_refused(broken[i], "1:2: a byte that is not UTF-8; save the file as "
                                 "UTF-8");
    check_bytes_refused("t.yaml",
                        "\xFF\xFE"
                        "a\0",
                        4, "1:1: this is UTF-16; save the file as UTF-8");
}

static void test_yaml_refusals__reads_null_for_aliases_of_nothing_or_themselves(void)
{
    check_told("a: *y\nb: 1\n", "{\"a\":null,\"b\":1}",
               "1:4: the alias '*y' names nothing: no '&y' stands before it");
    check_told("a: *y\nb: &y 1\n", "{\"a\":null,\"b\":1}",
               "1:4: the alias '*y' names nothing: no '&y' stands before it");
    check_told("a: &x [1, *x, 2]\nb: *x\n", "{\"a\":[1,null,2],\"b\":[1,null,2]}",
               "1:11: the alias '*x' stands inside the value it names");
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
                  "6:10: more than 200000 values, with aliases expanded");
    cdr_buf_clear(&text);
    cdr_buf_append_text(&text, "a: &a ");
    for (int i = 0; i < 100000; i++)
        cdr_buf_append_text(&text, "0123456789");
    cdr_buf_append_text(&text, "\nb: [");
    for (int i = 0; i < 100; i++)
        cdr_buf_append_text(&text, "*a,");
    cdr_buf_append_text(&text, "]");
    check_refused(cdr_buf_text(&text),
                  "2:50: more than 16 MiB of text, with aliases expanded");
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
    check_nested("t.yaml", "", 65, "1:65: nested deeper than 64 levels");
    check_nested("t.json", "", 65, "1:65: nested deeper than 64 levels");
    check_nested("t.yaml", "", 50000, "1:65: nested deeper than 64 levels");
    check_nested("t.yaml", "a: ", 64, "1:67: nested deeper than 64 levels");
    // An alias is as deep as what it names.
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_append_text(&text, "a: &a [[[[[[[[1]]]]]]]]\nb: ");
    for (int i = 0; i < 56; i++)
        cdr_buf_append_text(&text, "[");
    cdr_buf_append_text(&text, "*a");
    for (int i = 0; i < 56; i++)
        cdr_buf_append_text(&text, "]");
    check_refused(cdr_buf_text(&text), "2:60: nested deeper than 64 levels");
    cdr_buf_fini(&text);
}

static void test_yaml_refusals__holds_json_to_its_own_syntax(void)
{
    static const char *const cases[][2] = {
        {"{\"a\": {\"b\" 2}}", "1:12: ':' expected near '2'"},
        {"{\"a\": 1}\n{}", "2:1: end of file expected near '{'"},
        {"{\"a\": 1e999,\n \"b\" 2}", "2:6: ':' expected near '2'"},
        {"{\"a\\u0000\": 1}", "1:10: a key holds a NUL character, which no text may"},
        {"a: 1", "1:1: invalid token near 'a'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_bytes_refused("t.json", cases[i][0], strlen(cases[i][0]), cases[i][1]);
}

static void test_yaml_refusals__goes_on_in_json_too(void)
{
    static const char *const cases[][3] = {
        {"{\"agents\":{\"writer\":{\"model\":\"m\"},\"writer\":{\"model\":\"m2\"}}}",
         "{\"agents\":{\"writer\":{\"model\":\"m\"}}}",
         "1:35: duplicate key 'writer' (first at line 1, column 12)"},
        {"{\"a\": 1,\n \"\\u0061\": {\"b\": 2, \"b\": 3}}", "{\"a\":1}",
         "2:2: duplicate key 'a' (first at line 1)\n"
         "2:21: duplicate key 'b' (first at line 2, column 13)"},
        {"{\"a\": [1e999, -92233720368547758080, 7], \"b\": \"1e999\"}",
         "{\"a\":[\"1e999\",\"-92233720368547758080\",7],\"b\":\"1e999\"}",
         "1:8: the number 1e999 is out of range\n"
         "1:15: the number -92233720368547758080 is out of range"},
        {"{\"a\": \"x\\u0000y\", \"b\": 1}", "{\"a\":\"x\",\"b\":1}",
         "1:7: the text holds a NUL character, which no text may"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_read("t.json", cases[i][0], cases[i][1], cases[i][2]);
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
    check_bytes_refused("t.yaml", text, len + 1, "0:0: larger than 4 MiB");
    free(text);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_yaml_refusals__tells_duplicate_keys_with_both_places),
        CHECK_TEST(test_yaml_refusals__tells_each_duplicate_key_in_file_order),
        CHECK_TEST(test_yaml_refusals__tells_what_came_before_it_stops),
        CHECK_TEST(test_yaml_refusals__tells_what_team_files_do_not_use),
        CHECK_TEST(test_yaml_refusals__leaves_out_what_has_no_text_for_a_key),
        CHECK_TEST(test_yaml_refusals__marks_what_is_not_what_was_meant),
        CHECK_TEST(test_yaml_refusals__explains_syntax_errors),
        CHECK_TEST(test_yaml_refusals__refuses_bytes_that_are_not_text),
        CHECK_TEST(test_yaml_refusals__reads_null_for_aliases_of_nothing_or_themselves),
        CHECK_TEST(test_yaml_refusals__stops_alias_bombs),
        CHECK_TEST(test_yaml_refusals__stops_at_its_depth),
        CHECK_TEST(test_yaml_refusals__holds_json_to_its_own_syntax),
        CHECK_TEST(test_yaml_refusals__goes_on_in_json_too),
        CHECK_TEST(test_yaml_refusals__start_above_4_mib),
        CU_TEST_INFO_NULL,
    };
    return check_main("team/yaml_refusals", tests);
}
