// Which schemas are sent to be kept to strictly.
#include "cadre/ext/strict_schema.h"

#include "support/check.h"
#include "support/schema_text.h"

#include <stdio.h>

static void check(const char *text, bool expected)
{
    json_t *schema = schema_text_read(text);
    if (!CHECK_INT(cadre_schema_is_strict(schema), expected))
        printf("of %s\n", text);
    json_decref(schema);
}

// An object with the one property `a`.
#define WITH(a)                                                                        \
    "{'type': 'object', 'additionalProperties': false, 'required': ['a'], "            \
    "'properties': {'a': " a "}}"

static void test_strict_schema__is_closed_and_says_all_of_its_properties(void)
{
    check(WITH("{'type': 'string'}"), true);
    check("{'type': 'object', 'required': ['a'], 'properties': {'a': {'type': "
          "'string'}}}",
          false);
    check("{'type': 'object', 'additionalProperties': false, 'properties': {'a': "
          "{'type': 'string'}}}",
          false);
    check("{'type': 'object', 'additionalProperties': false, 'required': ['b'], "
          "'properties': {'a': {'type': 'string'}}}",
          false);
    check("{'type': 'object', 'additionalProperties': false}", false);
    check("{'type': 'array', 'items': {'type': 'string'}}", false);
    check("{'type': ['object', 'null'], 'additionalProperties': false, 'required': "
          "[], 'properties': {}}",
          false);
    check("true", false);
    check(WITH(WITH("{'type': 'null'}")), true);
    check(WITH("{'type': 'object', 'properties': {}}"), false);
    check(WITH("{'properties': {'b': {'type': 'null'}}, 'type': ['object', 'null']}"),
          false);
}

static void test_strict_schema__has_only_words_that_are_known_there(void)
{
    static const char *const known[] = {
        WITH("{'type': 'array', 'items': {'enum': ['a', 1, null]}, 'minItems': 1}"),
        WITH("{'anyOf': [{'type': 'string', 'pattern': '^(?:a|b)$'}, {'const': 1}]}"),
        WITH("{'type': ['number', 'null'], 'minimum': 1, 'multipleOf': 2, 'title': "
             "'t', 'description': 'd'}"),
        WITH("{'type': 'string', 'format': 'date-time'}"),
        WITH("{'$ref': '#'}"),
        "{'type': 'object', 'additionalProperties': false, 'required': ['a'], "
        "'properties': {'a': {'$ref': '#/$defs/d'}}, '$defs': {'d': {'type': "
        "'null'}}}",
    };
    static const char *const unknown[] = {
        WITH("{}"),
        WITH("true"),
        WITH("{'type': 'array'}"),
        WITH("{'type': 'array', 'items': {'type': 'null'}, 'uniqueItems': true}"),
        WITH("{'type': 'string', 'minLength': 1}"),
        WITH("{'type': 'string', 'format': 'uri'}"),
        WITH("{'type': 'string', 'pattern': '^(?=a)'}"),
        WITH("{'type': 'string', 'default': 'x'}"),
        WITH("{'oneOf': [{'type': 'string'}]}"),
        WITH("{'allOf': [{'type': 'string'}]}"),
        WITH("{'type': 'string', 'not': {'const': 'x'}}"),
        WITH("{'enum': [[1]]}"),
        WITH("{'$ref': '#', 'description': 'd'}"),
        WITH("{'$ref': 'other'}"),
        WITH("{'type': 'string', 'x-note': 1}"),
        ("{'type': 'object', 'additionalProperties': false, 'required': ['a'], "
         "'properties': {'a': {'type': 'null'}}, '$defs': {'d': {'type': 'object'}}}"),
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        check(known[i], true);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        check(unknown[i], false);
}

static json_t *nest(int depth)
{
    json_t *schema = json_pack("{ss}", "type", "null");
    for (int i = 1; i < depth; i++)
        schema = json_pack("{sssbs[s]s{so}}", "type", "object", "additionalProperties",
                           0, "required", "a", "properties", "a", schema);
    return schema;
}

static void test_strict_schema__is_not_too_large(void)
{
    json_t *schema = nest(10);
    CHECK(cadre_schema_is_strict(schema));
    json_decref(schema);
    schema = nest(11);
    CHECK(!cadre_schema_is_strict(schema));
    json_decref(schema);
    json_t *values = json_array();
    for (int i = 0; i < 1001; i++)
        json_array_append_new(values, json_integer(i));
    schema = json_pack("{sssbs[s]s{s{so}}}", "type", "object", "additionalProperties",
                       0, "required", "a", "properties", "a", "enum", values);
    CHECK(!cadre_schema_is_strict(schema));
    json_array_remove(values, 0);
    CHECK(cadre_schema_is_strict(schema));
    json_decref(schema);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_strict_schema__is_closed_and_says_all_of_its_properties),
        CHECK_TEST(test_strict_schema__has_only_words_that_are_known_there),
        CHECK_TEST(test_strict_schema__is_not_too_large),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/strict_schema", tests);
}
