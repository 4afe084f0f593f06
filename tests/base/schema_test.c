// Schemas: which values pass, what the messages say, where they point.
#include "support/check.h"
#include "support/schema_text.h"

#include "base/buf.h"
#include "base/schema.h"

#include <stdlib.h>
#include <string.h>

static void test_schema__names_the_expected_and_the_actual_type(void)
{
    static const char *const cases[][3] = {
        {"{'type': 'string'}", "7", "|expected a string, got 7"},
        {"{'type': 'string'}", "null", "|expected a string, got null"},
        {"{'type': 'string'}", "{'a': 1}", "|expected a string, got an object"},
        {"{'type': 'boolean'}", "'yes'", "|expected true or false, got \"yes\""},
        {"{'type': 'integer'}", "'0755'", "|expected an integer, got \"0755\""},
        {"{'type': 'integer'}", "3.7", "|expected an integer, got 3.7"},
        {"{'type': 'number'}", "true", "|expected a number, got true"},
        {"{'type': 'object'}", "[]", "|expected an object, got an empty array"},
        {"{'type': 'array'}", "{}", "|expected an array, got an empty object"},
        {"{'type': 'null'}", "0", "|expected null, got 0"},
        {"{'type': ['string', 'integer', 'null']}", "true",
         "|expected a string, an integer or null, got true"},
        {"false", "1", "|is not allowed here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        schema_text_check(cases[i][0], cases[i][1], cases[i][2]);
}

static void test_schema__accepts_what_fits(void)
{
    static const char *const cases[][2] = {
        {"{'type': 'integer'}", "3.0"},
        {"{'type': 'integer'}", "-9223372036854775808"},
        {"{'type': 'integer'}", "1e300"},
        {"{'type': 'number'}", "3"},
        {"{'type': ['string', 'null']}", "null"},
        {"{'enum': [1, 'a', {'b': [2]}]}", "{'b': [2]}"},
        {"{'enum': [1]}", "1.0"},
        {"{'const': 3}", "3"},
        {"{'minLength': 2, 'maxLength': 2}", "'\xC3\xA9\xF0\x9F\x98\x80'"},
        {"{'minLength': 2, 'minimum': 4, 'minItems': 1}", "true"},
        {"{'exclusiveMinimum': 0, 'exclusiveMaximum': 1}", "0.5"},
        {"{'additionalProperties': {'type': 'integer'}}", "{'a': 1, 'b': 2}"},
        {"{'properties': {'a': true}, 'additionalProperties': false}", "{'a': [1]}"},
        {"{'required': ['a']}", "7"},
        {"{'title': 'no check', 'format': 'duration'}", "'y'"},
        {"{}", "{'anything': [null]}"},
        {"true", "[1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        schema_text_check(cases[i][0], cases[i][1], "");
}

static void test_schema__gives_the_range(void)
{
    static const char *const cases[][3] = {
        {"{'type': 'integer', 'minimum': 1, 'maximum': 100}", "-1",
         "|expected an integer from 1 to 100, got -1"},
        {"{'type': 'integer', 'minimum': 1, 'maximum': 100}", "'10'",
         "|expected an integer from 1 to 100, got \"10\""},
        {"{'type': 'integer', 'maximum': 2147483647}", "4294967297",
         "|expected an integer of at most 2147483647, got 4294967297"},
        {"{'minimum': 0.5}", "0.25", "|expected a number of at least 0.5, got 0.25"},
        {"{'type': 'number', 'exclusiveMinimum': 0}", "0",
         "|expected a number above 0, got 0"},
        {"{'type': 'number', 'minimum': 0, 'exclusiveMaximum': 1}", "1.0",
         "|expected a number of at least 0 below 1, got 1.0"},
        {"{'type': 'string', 'minLength': 1}", "''",
         "|expected a string of at least 1 character, got 0"},
        {"{'type': 'string', 'minLength': 1, 'maxLength': 3}", "'\xC3\xA9\xC3\xA9zz'",
         "|expected a string of 1 to 3 characters, got 4"},
        {"{'type': 'array', 'minItems': 2, 'maxItems': 2}", "[1]",
         "|expected an array of exactly 2 elements, got 1"},
        {"{'maxItems': 1}", "[1, 2]", "|expected an array of at most 1 element, got 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        schema_text_check(cases[i][0], cases[i][1], cases[i][2]);
}

static void test_schema__compares_numbers_exactly(void)
{
    schema_text_check("{'maximum': 9223372036854775806}", "9223372036854775807",
                      "|expected a number of at most 9223372036854775806, "
                      "got 9223372036854775807");
    // 2^53 + 1 is no double; it is above 2^53, and not equal to it.
    schema_text_check("{'const': 9007199254740992.0}", "9007199254740993",
                      "|expected 9.00719925474099e15, got 9007199254740993");
    schema_text_check("{'exclusiveMaximum': 9007199254740993}", "9007199254740992.0",
                      "");
    schema_text_check("{'minimum': -1e300}", "-9223372036854775808", "");
    schema_text_check("{'maximum': 1e300}", "9223372036854775807", "");
    schema_text_check("{'maximum': 2}", "2.5",
                      "|expected a number of at most 2, got 2.5");
    schema_text_check("{'minimum': -2}", "-2.5",
                      "|expected a number of at least -2, got -2.5");
}

static void test_schema__lists_the_allowed_values(void)
{
    schema_text_check("{'enum': ['a', 'b', 'c']}", "'d9'",
                      "|expected one of: a, b, c; got \"d9\"");
    schema_text_check("{'type': 'string', 'enum': ['safe', 'unsafe']}", "true",
                      "|expected one of: safe, unsafe; got true");
    schema_text_check("{'enum': ['append', 'merge', 3]}", "'apend'",
                      "|expected one of: append, merge, 3; got \"apend\"; "
                      "did you mean 'append'?");
    schema_text_check("{'const': 'x'}", "1", "|expected \"x\", got 1");
}

static void test_schema__offers_the_nearest_property(void)
{
    const char *schema = "{'type': 'object', 'additionalProperties': false, "
                         "'properties': {'instructions': {}, 'model': {}}}";
    schema_text_check(schema, "{'instrutions': 1}",
                      "|unknown property 'instrutions'; did you mean 'instructions'?");
    schema_text_check(schema, "{'zzz': 1}",
                      "|unknown property 'zzz' (known: instructions, model)");
    schema_text_check("{'additionalProperties': false}", "{'a\\u001bb': 1}",
                      "|unknown property 'a?b'");
}

static void test_schema__reports_every_problem_with_its_path(void)
{
    schema_text_check(
        "{'type': 'object', 'required': ['name', 'to'], 'properties': {"
        "  'name': {'type': 'string'},"
        "  'members': {'type': 'array', 'items': {'type': 'object',"
        "    'required': ['to'], 'properties': {'to': {'type': 'string'}}}}}}",
        "{'name': 7, 'members': [{'to': 'a'}, {'to': 1}, {}], "
        " 'odd key': 1}",
        "|missing property 'to'\n"
        "name|expected a string, got 7\n"
        "members[1].to|expected a string, got 1\n"
        "members[2]|missing property 'to'");
    schema_text_check("{'additionalProperties': {'items': false}}", "{'a.b c': [1]}",
                      "[\"a.b c\"][0]|is not allowed here");
}

typedef struct seen_slot {
    const json_t *value;
    const json_t *container;
    char key[32];
    size_t index;
    bool is_key;
} seen_slot;

static void see(void *ctx, const cdr_schema_problem *problem)
{
    seen_slot *seen = ctx;
    *seen = (seen_slot){.value = problem->value,
                        .container = problem->container,
                        .index = problem->index,
                        .is_key = problem->is_key};
    if (problem->key)
        strncpy(seen->key, problem->key, sizeof seen->key - 1);
}

static void check_slot(const char *schema_text, json_t *value,
                       const seen_slot *expected)
{
    json_t *schema = schema_text_read(schema_text);
    seen_slot seen = {0};
    CHECK_INT(cdr_schema_check(schema, value, see, &seen), 1);
    CHECK(seen.value == expected->value);
    CHECK(seen.container == expected->container);
    CHECK_TEXT(seen.key, expected->key);
    CHECK_INT(seen.index, expected->index);
    CHECK(seen.is_key == expected->is_key);
    json_decref(schema);
}

static void test_schema__says_in_which_slot_a_problem_is(void)
{
    json_t *value = schema_text_read("{'list': [true, true], 'wrong': true}");
    json_t *list = json_object_get(value, "list");
    check_slot("{'type': 'array'}", value, &(seen_slot){.value = value});
    check_slot("{'required': ['x']}", value, &(seen_slot){.value = value});
    check_slot("{'properties': {'list': {'required': ['x'], 'maxItems': 1}}}", value,
               &(seen_slot){.value = list, .container = value, .key = "list"});
    json_array_set_new(list, 1, json_integer(4));
    check_slot(
        "{'properties': {'list': {'items': {'type': 'boolean'}}}}", value,
        &(seen_slot){.value = json_array_get(list, 1), .container = list, .index = 1});
    check_slot(
        "{'properties': {'list': {}}, 'additionalProperties': false}", value,
        &(seen_slot){
            .value = json_true(), .container = value, .key = "wrong", .is_key = true});
    json_decref(value);
}

static void test_schema__takes_every_word_it_knows(void)
{
    schema_text_check_schema(
        "{'$schema': 'https://json-schema.org/draft/2020-12/schema', 'title': 't', "
        "'description': 'd', 'examples': [1],"
        " 'type': ['object', 'null'], 'required': ['a'], 'default': {'a': 1},"
        " 'x-note': {'free': true}, 'additionalProperties': false, 'properties': {"
        "  'a': {'type': 'integer', 'minimum': 1, 'maximum': 9, 'default': 2},"
        "  'b': {'type': 'string', 'minLength': 0, 'maxLength': 4, 'format': 'size'},"
        "  'c': {'type': 'array', 'items': {'enum': ['x']}, 'minItems': 0,"
        "        'maxItems': 2},"
        "  'd': {'const': null}, 'type': true,"
        "  'e': {'type': 'number', 'exclusiveMinimum': 0, 'exclusiveMaximum': 1.5}}}",
        "");
    schema_text_check_schema("true", "");
}

static void test_schema__refuses_schemas_with_mistakes(void)
{
    static const char *const cases[][2] = {
        {"7", "|expected a schema (an object, true or false), got 7"},
        {"{'tpye': 'string'}", "|unknown schema word 'tpye'; did you mean 'type'?"},
        {"{'order': {}}", "|unknown schema word 'order'; a property of this name "
                          "belongs under 'properties'"},
        {"{'$dynamicRef': '#x'}", "|the schema word '$dynamicRef' is not supported"},
        {"{'anyOf': []}", "anyOf|expected an array of at least 1 schema, "
                          "got an empty array"},
        {"{'type': 'strnig'}",
         "type|unknown type \"strnig\"; did you mean \"string\"?"},
        {"{'type': ['string', 'foo']}",
         "type[1]|unknown type \"foo\" (known: string, integer, number, boolean, "
         "object, array, null)"},
        {"{'type': []}", "type|expected the name of a type or an array of such names, "
                         "got an empty array"},
        {"{'minimum': '1'}", "minimum|expected a number, got \"1\""},
        {"{'maxItems': -1}", "maxItems|expected an integer of at least 0, got -1"},
        {"{'enum': []}", "enum|expected an array of at least 1 value, "
                         "got an empty array"},
        {"{'required': 'a'}",
         "required|expected an array of property names, got \"a\""},
        {"{'required': [1]}", "required[0]|expected a string, got 1"},
        {"{'properties': []}",
         "properties|expected an object of schemas, got an empty array"},
        {"{'$schema': 'https://json-schema.org/draft/2020-12/schema', 'items': [{}]}",
         "items|expected a schema (an object, true or false), got an array"},
        {"{'properties': {'a': {'items': {'typ': 1}}}, 'title': 2}",
         "properties.a.items|unknown schema word 'typ'; did you mean 'type'?\n"
         "title|expected a string, got 2"},
        {"{'properties': {'n': {'type': 'integer', 'default': 'x'}}}",
         "properties.n.default|the default does not fit: expected an integer, "
         "got \"x\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        schema_text_check_schema(cases[i][0], cases[i][1]);
}

static void check_defaults(const char *schema_text, const char *value_text,
                           const char *expected)
{
    json_t *schema = schema_text_read(schema_text);
    json_t *value = schema_text_read(value_text);
    json_t *before = json_deep_copy(value);
    json_t *filled = cdr_schema_with_defaults(schema, value);
    char *text = json_dumps(filled, JSON_COMPACT | JSON_ENCODE_ANY);
    CHECK_TEXT(text, expected);
    CHECK(json_equal(value, before));
    free(text);
    json_decref(filled);
    json_decref(before);
    json_decref(value);
    json_decref(schema);
}

static void test_schema__fills_in_defaults(void)
{
    const char *schema =
        "{'properties': {'a': {'default': 1}, 'b': {'default': {}, 'properties': {"
        "'c': {'default': [2]}}}, 'd': {'properties': {'e': {'default': 3}}},"
        "'l': {'items': {'properties': {'m': {'default': 4}}}}},"
        "'additionalProperties': {'properties': {'n': {'default': 5}}}}";
    check_defaults(schema, "{}", "{\"a\":1,\"b\":{\"c\":[2]}}");
    check_defaults(schema, "{'d': {}, 'b': {'c': 0}, 'a': null, 'l': [{}, 7], 'z': {}}",
                   "{\"d\":{\"e\":3},\"b\":{\"c\":0},\"a\":null,"
                   "\"l\":[{\"m\":4},7],\"z\":{\"n\":5}}");
    check_defaults(schema, "7", "7");
    check_defaults("true", "{'a': 1}", "{\"a\":1}");
}

// All schemas of an object fill in what they miss before any goes down into it.
static void test_schema__fills_in_defaults_of_all_schemas_at_once(void)
{
    const char *added =
        "{'additionalProperties': {'properties': {'n': {'default': 5}}},"
        "'$ref': '#/$defs/z', '$defs': {'z': {'allOf': ["
        "{'properties': {'z': {'default': {}, 'properties': {'m': {'default': 6}}}}},"
        "{'properties': {'z': {'default': 7}}}]}}}";
    check_defaults(added, "{}", "{\"z\":{\"n\":5,\"m\":6}}");
    check_defaults("{'items': {'allOf': [{'properties': {'a': {'default': 1}}}]}}",
                   "[{}, {'a': 2}]", "[{\"a\":1},{\"a\":2}]");
}

static void test_schema__spoils_no_value_with_its_defaults(void)
{
    const char *choice = "{'properties': {'a': {'default': 1}, 'c': {'default': 3}},"
                         "'oneOf': [{'required': ['a']}, {'required': ['b']}]}";
    check_defaults(choice, "{'b': 2}", "{\"b\":2}");
    check_defaults(choice, "{'a': 2}", "{\"a\":2,\"c\":3}");
    check_defaults(choice, "{}", "{\"a\":1,\"c\":3}");
}

static void test_schema__tells_a_model_all_problems_in_one_text(void)
{
    json_t *schema = schema_text_read("{'required': ['id'], 'properties': {'order': "
                                      "{'type': 'string'}}}");
    json_t *value = schema_text_read("{'order': 7}");
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cdr_schema_check_text(schema, value, &err), CADRE_EINVAL, &err);
    CHECK_TEXT(err.text, "missing property 'id'; order: expected a string, got 7");
    json_object_set_new(value, "order", json_string("x"));
    json_object_set_new(value, "id", json_null());
    cadre_error none = CADRE_ERROR_INIT;
    CHECK_OK(cdr_schema_check_text(schema, value, &none), &none);
    json_decref(value);
    json_decref(schema);
}

static void test_schema__counts_problems_that_do_not_fit_the_text(void)
{
    json_t *schema = schema_text_read("{'items': {'type': 'string'}}");
    json_t *value = json_array();
    for (int i = 0; i < 100000; i++)
        json_array_append_new(value, json_integer(i));
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cdr_schema_check_text(schema, value, &err), CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "[0]: expected a string, got 0; [1]: ");
    CHECK_CONTAINS(err.text, "; and 99986 more");
    json_decref(value);
    json_decref(schema);
}

// Nests `value` in `depth` objects {"a": ...}, or schemas {"items": ...}.
static json_t *nest(json_t *value, const char *key, int depth)
{
    for (int i = 0; i < depth; i++)
        value = json_pack("{so}", key, value);
    return value;
}

static void test_schema__stops_at_its_depth(void)
{
    cdr_buf found = CDR_BUF_INIT;
    json_t *schema = nest(json_true(), "items", 1500);
    CHECK_INT(cdr_schema_check_schema(schema, schema_text_gather, &found), 1);
    CHECK_CONTAINS(cdr_buf_text(&found), "|nested deeper than 128");
    json_t *value = json_null();
    for (int i = 0; i < 1500; i++)
        value = json_pack("[o]", value);
    cdr_buf_clear(&found);
    CHECK_INT(cdr_schema_check(schema, value, schema_text_gather, &found), 1);
    CHECK_TEXT(cdr_buf_text(&found), "|nested deeper than 128");
    json_t *filled = cdr_schema_with_defaults(schema, value);
    CHECK(json_equal(filled, value));
    json_decref(filled);
    json_decref(value);
    json_decref(schema);
    cdr_buf_fini(&found);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_schema__names_the_expected_and_the_actual_type),
        CHECK_TEST(test_schema__accepts_what_fits),
        CHECK_TEST(test_schema__gives_the_range),
        CHECK_TEST(test_schema__compares_numbers_exactly),
        CHECK_TEST(test_schema__lists_the_allowed_values),
        CHECK_TEST(test_schema__offers_the_nearest_property),
        CHECK_TEST(test_schema__reports_every_problem_with_its_path),
        CHECK_TEST(test_schema__says_in_which_slot_a_problem_is),
        CHECK_TEST(test_schema__takes_every_word_it_knows),
        CHECK_TEST(test_schema__refuses_schemas_with_mistakes),
        CHECK_TEST(test_schema__fills_in_defaults),
        CHECK_TEST(test_schema__fills_in_defaults_of_all_schemas_at_once),
        CHECK_TEST(test_schema__spoils_no_value_with_its_defaults),
        CHECK_TEST(test_schema__tells_a_model_all_problems_in_one_text),
        CHECK_TEST(test_schema__counts_problems_that_do_not_fit_the_text),
        CHECK_TEST(test_schema__stops_at_its_depth),
        CU_TEST_INFO_NULL,
    };
    return check_main("base/schema", tests);
}
