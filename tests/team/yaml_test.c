// Documents: values, their places, and how scalars are written.
#include "support/check.h"

#include "base/buf.h"
#include "base/schema.h"
#include "team/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cdr_document *parse_as(const char *name, const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    CHECK_OK(cdr_document_parse(name, text, strlen(text), &document, &err), &err);
    return document;
}

static cdr_document *parse(const char *text)
{
    return parse_as("t.yaml", text);
}

static json_t *root_of(const cdr_document *document)
{
    return cdr_document_root(document).value;
}

static void check_values(const char *name, const char *text, const char *expected)
{
    cdr_document *document = parse_as(name, text);
    if (!document)
        return;
    char *json = json_dumps(root_of(document),
                            JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    CHECK_TEXT(json, expected);
    free(json);
    cdr_document_free(document);
}

static void check_stands_at(cdr_place place, int line, int column)
{
    CHECK_INT(place.line, line);
    CHECK_INT(place.column, column);
}

static void test_yaml__reads_values_of_every_kind(void)
{
    check_values("t.yaml",
                 "version: 1\n"
                 "text: plain words  # a note\n"
                 "quoted: \"7\"\n"
                 "block: |\n  two\n  lines\n"
                 "folded: >-\n  one\n  line\n"
                 "list: [a, 1.50, true, null]\n"
                 "steps:\n- {to: x}\n- nothing:\n"
                 "no: no\n"
                 "1.10: 0755\n",
                 "{\"version\":1,\"text\":\"plain words\",\"quoted\":\"7\","
                 "\"block\":\"two\\nlines\\n\",\"folded\":\"one line\","
                 "\"list\":[\"a\",1.5,true,null],"
                 "\"steps\":[{\"to\":\"x\"},{\"nothing\":null}],"
                 "\"no\":\"no\",\"1.10\":\"0755\"}");
    check_values("t.yaml", "%YAML 1.2\n---\na: 1\n...\n", "{\"a\":1}");
    check_values("t.yaml", "just text", "\"just text\"");
    check_values("t.yaml", "a: {}\nb: []", "{\"a\":{},\"b\":[]}");
    check_values("t.yaml",
                 "\xEF\xBB\xBF"
                 "a: gr\xC3\xBC\xC3\x9F\n",
                 "{\"a\":\"gr\xC3\xBC\xC3\x9F\"}");
}

static void test_yaml__gives_null_for_an_empty_file(void)
{
    static const char *const texts[] = {"", "# only a note\n", "---\n", "\xEF\xBB\xBF"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cdr_document *document = parse(texts[i]);
        cdr_document_value root = cdr_document_root(document);
        CHECK(json_is_null(root.value));
        CHECK(root.place.line >= 1 && root.place.column >= 1);
        CHECK_TEXT(root.text, "");
        cdr_document_free(document);
    }
}

static void test_yaml__knows_the_place_of_keys_and_values(void)
{
    cdr_document *document = parse("# team\n"
                                   "agents:\n"
                                   "  desk:\n"
                                   "    \xC3\xBC: true\n"
                                   "    quiet:   true\n"
                                   "    tools: [a, true, {b: null}]\n");
    json_t *agents = json_object_get(root_of(document), "agents");
    json_t *desk = json_object_get(agents, "desk");
    json_t *tools = json_object_get(desk, "tools");

    check_stands_at(cdr_document_root(document).place, 2, 1);
    cdr_document_value value = cdr_document_member(document, agents, "desk");
    CHECK(value.value == desk);
    check_stands_at(value.key_place, 3, 3);
    check_stands_at(value.place, 4, 5);
    CHECK_TEXT(value.text, NULL);

    // Two members with the same value have each their own place.
    value = cdr_document_member(document, desk, "\xC3\xBC");
    CHECK(json_is_true(value.value));
    check_stands_at(value.key_place, 4, 5);
    check_stands_at(value.place, 4, 8); // columns count characters
    value = cdr_document_member(document, desk, "quiet");
    CHECK(json_is_true(value.value));
    check_stands_at(value.key_place, 5, 5);
    check_stands_at(value.place, 5, 14);

    value = cdr_document_element(document, tools, 1);
    CHECK(json_is_true(value.value));
    check_stands_at(value.place, 6, 16);
    check_stands_at(value.key_place, 6, 16);
    value = cdr_document_member(document, json_array_get(tools, 2), "b");
    CHECK(json_is_null(value.value));
    check_stands_at(value.place, 6, 26);
    CHECK_TEXT(cdr_document_name(document), "t.yaml");
    cdr_document_free(document);
}

static void test_yaml__gives_nothing_for_what_is_not_there(void)
{
    cdr_document *document = parse("a: [1]\nb: {}\n");
    json_t *root = root_of(document);
    json_t *list = json_object_get(root, "a");
    json_t *foreign = json_pack("{si}", "a", 1);
    CHECK(cdr_document_member(document, root, "c").value == NULL);
    CHECK(cdr_document_member(document, list, "a").value == NULL);
    CHECK(cdr_document_member(document, foreign, "a").value == NULL);
    CHECK(cdr_document_member(document, json_true(), "a").value == NULL);
    CHECK(cdr_document_element(document, list, 1).value == NULL);
    CHECK(cdr_document_element(document, root, 0).value == NULL);
    CHECK_INT(cdr_document_element(document, list, 1).place.line, 0);
    CHECK(cdr_document_at(document, NULL, NULL, 0).value == root);
    CHECK(cdr_document_at(document, root, "a", 0).value == list);
    CHECK(cdr_document_at(document, list, NULL, 0).value == json_array_get(list, 0));
    json_decref(foreign);
    cdr_document_free(document);
    cdr_document_free(NULL);
}

static void test_yaml__keeps_scalars_as_written(void)
{
    cdr_document *document =
        parse("[1.10, 0755, 1e3, ~, true, \"7\", 'it''s', 0x1F, ]");
    static const struct {
        const char *text;
        bool is_plain;
    } expected[] = {
        {"1.10", true}, {"0755", true}, {"1e3", true},   {"~", true},
        {"true", true}, {"7", false},   {"it's", false}, {"0x1F", true},
    };
    size_t n_expected = sizeof expected / sizeof expected[0];
    CHECK_INT(json_array_size(root_of(document)), n_expected);
    for (size_t i = 0; i < n_expected; i++) {
        cdr_document_value value = cdr_document_element(document, root_of(document), i);
        CHECK_TEXT(value.text, expected[i].text);
        CHECK(value.is_plain == expected[i].is_plain);
    }
    cdr_document_free(document);
    document = parse("a: |\n  7\n");
    CHECK(!cdr_document_member(document, root_of(document), "a").is_plain);
    cdr_document_free(document);
}

static void check_settled(const char *name, const char *text, const char *expected)
{
    static const char schema_text[] =
        "{\"properties\": {\"agents\": {\"items\": {\"properties\": {"
        "  \"name\": {\"type\": \"string\"}, \"turns\": {\"type\": \"integer\"}}}},"
        " \"either\": {\"type\": [\"string\", \"integer\"]},"
        " \"names\": {\"items\": {\"type\": \"string\"}}},"
        " \"additionalProperties\": {\"additionalProperties\": {\"type\": "
        "\"string\"}}}";
    json_t *schema = json_loads(schema_text, 0, NULL);
    cdr_document *document = parse_as(name, text);
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cdr_document_settle_text(document, root_of(document), schema, &err), &err);
    char *json = json_dumps(root_of(document), JSON_COMPACT);
    CHECK_TEXT(json, expected);
    free(json);
    cdr_document_free(document);
    json_decref(schema);
}

static void test_yaml__settles_plain_scalars_where_text_is_wanted(void)
{
    check_settled("t.yaml",
                  "agents:\n"
                  "- {name: no, turns: 3}\n"
                  "- {name: null, turns: no}\n"
                  "- {name: 1.10, turns: 0755}\n"
                  "- {name: true, turns: 1.5}\n"
                  "- name: 1e3\n"
                  "- name: ~\n"
                  "- name:\n"
                  "names: [no, on, null, 1.10, 0755, 12:30, 1e3, 2024-01-01]\n"
                  "either: 7\n"
                  "env: {PORT: 8080, DEBUG: true, LIST: [1]}\n",
                  "{\"agents\":[{\"name\":\"no\",\"turns\":3},"
                  "{\"name\":\"null\",\"turns\":\"no\"},"
                  "{\"name\":\"1.10\",\"turns\":\"0755\"},"
                  "{\"name\":\"true\",\"turns\":1.5},"
                  "{\"name\":\"1e3\"},{\"name\":\"~\"},{\"name\":null}],"
                  "\"names\":[\"no\",\"on\",\"null\",\"1.10\",\"0755\",\"12:30\","
                  "\"1e3\",\"2024-01-01\"],"
                  "\"either\":7,"
                  "\"env\":{\"PORT\":\"8080\",\"DEBUG\":\"true\",\"LIST\":[1]}}");
    check_settled("t.json", "{\"names\": [1, null]}", "{\"names\":[1,null]}");
}

static void test_yaml__keeps_places_when_text_is_settled(void)
{
    cdr_document *document = parse("a: x\nname: 1.10\n");
    json_t *schema =
        json_loads("{\"properties\": {\"name\": {\"type\": \"string\"}}}", 0, NULL);
    CHECK_OK(cdr_document_settle_text(document, root_of(document), schema, NULL), NULL);
    cdr_document_value name = cdr_document_member(document, root_of(document), "name");
    CHECK_TEXT(json_string_value(name.value), "1.10");
    CHECK_TEXT(name.text, "1.10");
    check_stands_at(name.place, 2, 7);
    json_decref(schema);
    cdr_document_free(document);
}

typedef struct located {
    const cdr_document *document;
    cdr_buf text;
} located;

static void locate(void *ctx, const cdr_schema_problem *problem)
{
    located *found = ctx;
    cdr_document_value at = cdr_document_at(found->document, problem->container,
                                            problem->key, problem->index);
    cdr_place place = problem->is_key ? at.key_place : at.place;
    cdr_buf_printf(&found->text, "%d:%d: %s: %s\n", place.line, place.column,
                   problem->path, problem->text);
}

static void test_yaml__places_what_a_schema_finds(void)
{
    cdr_document *document = parse("agents:\n"
                                   "- name: r\n"
                                   "  instrutions: Be brief.\n"
                                   "- name: [x]\n"
                                   "- note: 1\n"
                                   "stream: yes\n");
    located found = {document, CDR_BUF_INIT};
    json_t *schema = json_loads(
        "{\"properties\": {\"stream\": {\"type\": \"boolean\"}, \"agents\": "
        "{\"items\": {"
        " \"required\": [\"name\"], \"additionalProperties\": false, \"properties\": {"
        " \"name\": {\"type\": \"string\"}, \"instructions\": {}, \"note\": {}}}}}}",
        0, NULL);
    CHECK_INT(cdr_schema_check(schema, root_of(document), locate, &found), 4);
    CHECK_TEXT(cdr_buf_text(&found.text),
               "3:3: agents[0]: unknown property 'instrutions'; "
               "did you mean 'instructions'?\n"
               "4:9: agents[1].name: expected a string, got an array\n"
               "5:3: agents[2]: missing property 'name'\n"
               "6:9: stream: expected true or false, got \"yes\"\n");
    cdr_buf_fini(&found.text);
    json_decref(schema);
    cdr_document_free(document);
}

static void test_yaml__copies_what_an_alias_names(void)
{
    cdr_document *document = parse("a: &x {k: [1.10, true]}\n"
                                   "b: *x\n"
                                   "c: [*x, &y text, *y]\n"
                                   "d: &x 7\n"
                                   "e: *x\n");
    json_t *root = root_of(document);
    char *json = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15));
    CHECK_TEXT(json, "{\"a\":{\"k\":[1.1,true]},\"b\":{\"k\":[1.1,true]},"
                     "\"c\":[{\"k\":[1.1,true]},\"text\",\"text\"],\"d\":7,\"e\":7}");
    free(json);
    cdr_document_value original = cdr_document_member(document, root, "a");
    cdr_document_value copy = cdr_document_member(document, root, "b");
    CHECK(original.value != copy.value);
    check_stands_at(original.place, 1, 4);
    check_stands_at(copy.place, 2, 4);
    check_stands_at(copy.key_place, 2, 1);
    json_t *list = json_object_get(copy.value, "k");
    CHECK(list != json_object_get(original.value, "k"));
    check_stands_at(cdr_document_member(document, copy.value, "k").place, 1, 11);
    CHECK_TEXT(cdr_document_element(document, list, 0).text, "1.10");
    json_t *third = json_object_get(root, "c");
    CHECK_TEXT(cdr_document_element(document, third, 2).text, "text");
    check_stands_at(cdr_document_element(document, third, 2).place, 3, 18);
    cdr_document_free(document);
}

static void test_yaml__reads_json_with_places(void)
{
    static const char text[] = "{\"agents\":\n"
                               "  {\"wr\\u0069ter\": {\"n\": 1.10, \"ok\": true},\n"
                               "   \"list\": [\"a\\\"]\", null, -1e2, {}]}}\n";
    check_values("t.json", text,
                 "{\"agents\":{\"writer\":{\"n\":1.1,\"ok\":true},"
                 "\"list\":[\"a\\\"]\",null,-100.0,{}]}}");
    cdr_document *document = parse_as("t.json", text);
    json_t *agents = json_object_get(root_of(document), "agents");
    cdr_document_value writer = cdr_document_member(document, agents, "writer");
    check_stands_at(writer.key_place, 2, 4);
    check_stands_at(writer.place, 2, 19);
    cdr_document_value n = cdr_document_member(document, writer.value, "n");
    CHECK_TEXT(n.text, "1.10");
    CHECK(n.is_plain);
    json_t *list = json_object_get(agents, "list");
    cdr_document_value first = cdr_document_element(document, list, 0);
    CHECK_TEXT(first.text, "a\"]");
    CHECK(!first.is_plain);
    check_stands_at(cdr_document_element(document, list, 3).place, 3, 33);
    cdr_document_free(document);
    check_values("t.json", "\xEF\xBB\xBF 7", "7");
}

static void test_yaml__finds_each_of_many_members(void)
{
    cdr_buf text = CDR_BUF_INIT;
    for (int i = 0; i < 20000; i++)
        cdr_buf_printf(&text, "k%d: {v: [%d]}\n", i, i);
    cdr_document *document = parse(cdr_buf_text(&text));
    const char *key;
    json_t *member;
    int line = 0;
    json_object_foreach(root_of(document), key, member)
    {
        line++;
        cdr_document_value value =
            cdr_document_member(document, root_of(document), key);
        json_t *list = json_object_get(member, "v");
        if (value.value != member || value.key_place.line != line ||
            cdr_document_element(document, list, 0).place.line != line) {
            CHECK_TEXT(key, "a member at its place");
            break;
        }
    }
    CHECK_INT(line, 20000);
    cdr_document_free(document);
    cdr_buf_fini(&text);
}

static void check_only_problem(const cdr_document *document, int line, const char *text)
{
    size_t n_problems = 0;
    const cdr_document_problem *problems = cdr_document_problems(document, &n_problems);
    if (!CHECK_INT(n_problems, 1))
        return;
    CHECK_INT(problems[0].place.line, line);
    CHECK_TEXT(problems[0].text, text);
}

static void test_yaml__knows_where_the_text_of_a_literal_block_stands(void)
{
    static const struct {
        const char *text;
        int line, column;
    } cases[] = {
        {"a: |\n  one\n  two\n", 2, 3},
        {"# \xC3\xBC\r\nb: \xC3\xBC\r\na: |- # note\r\n\r\n    one\r\n", 4, 5},
        {"a: |2\n    one\n", 2, 3},
        {"a: |\n", 0, 0},
        {"a: &x |\n  one\n", 0, 0},
        {"a: >\n  one\n", 0, 0},
        {"a: one\n", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cdr_document *document = parse(cases[i].text);
        json_t *root = root_of(document);
        check_stands_at(cdr_document_member(document, root, "a").text_place,
                        cases[i].line, cases[i].column);
        cdr_document_free(document);
    }
}

static void test_yaml__loads_files(void)
{
    char path[] = "/tmp/cadre-yaml-XXXXXX.yaml";
    int file = mkstemps(path, 5);
    if (!CHECK(file >= 0))
        return;
    CHECK_INT(write(file, "a: 1\na: 2\n", 10), 10);
    cadre_error err = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    if (CHECK_OK(cdr_document_load(path, &document, &err), &err))
        check_only_problem(document, 2, "duplicate key 'a' (first at line 1)");
    cdr_document_free(document);
    document = NULL;
    CHECK_INT(ftruncate(file, 5), 0);
    cadre_error none = CADRE_ERROR_INIT;
    if (CHECK_OK(cdr_document_load(path, &document, &none), &none)) {
        CHECK_TEXT(cdr_document_name(document), path);
        CHECK_INT(json_integer_value(json_object_get(root_of(document), "a")), 1);
        cdr_document_free(document);
        document = NULL;
    }
    CHECK_INT(ftruncate(file, CDR_DOCUMENT_MAX_BYTES + 100), 0);
    cadre_error large = CADRE_ERROR_INIT;
    if (CHECK_OK(cdr_document_load(path, &document, &large), &large))
        check_only_problem(document, 0, "larger than 4 MiB");
    cdr_document_free(document);
    close(file);
    unlink(path);
}

static void test_yaml__names_files_it_cannot_read(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    CHECK_STATUS(cdr_document_load("/nonexistent/t.yaml", &document, &err), CADRE_EIO,
                 &err);
    CHECK_TEXT(err.text,
               "cannot read '/nonexistent/t.yaml': No such file or directory");
    cadre_error directory = CADRE_ERROR_INIT;
    CHECK_STATUS(cdr_document_load("/", &document, &directory), CADRE_EIO, &directory);
    CHECK_TEXT(directory.text, "cannot read '/': Is a directory");
    CHECK(document == NULL);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_yaml__reads_values_of_every_kind),
        CHECK_TEST(test_yaml__gives_null_for_an_empty_file),
        CHECK_TEST(test_yaml__knows_the_place_of_keys_and_values),
        CHECK_TEST(test_yaml__gives_nothing_for_what_is_not_there),
        CHECK_TEST(test_yaml__keeps_scalars_as_written),
        CHECK_TEST(test_yaml__settles_plain_scalars_where_text_is_wanted),
        CHECK_TEST(test_yaml__keeps_places_when_text_is_settled),
        CHECK_TEST(test_yaml__places_what_a_schema_finds),
        CHECK_TEST(test_yaml__copies_what_an_alias_names),
        CHECK_TEST(test_yaml__reads_json_with_places),
        CHECK_TEST(test_yaml__finds_each_of_many_members),
        CHECK_TEST(test_yaml__knows_where_the_text_of_a_literal_block_stands),
        CHECK_TEST(test_yaml__loads_files),
        CHECK_TEST(test_yaml__names_files_it_cannot_read),
        CU_TEST_INFO_NULL,
    };
    return check_main("team/yaml", tests);
}
