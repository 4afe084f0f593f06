// Schemas that are made of schemas: references, alternatives, conditions, and what is
// said when none of them fits.
#include "support/check.h"
#include "support/schema_text.h"

static void test_schema_parts__follow_references(void)
{
    static const char tree[] = "{'$ref': '#/$defs/node', '$defs': {'node': {"
                               "'required': ['name'], 'properties': {"
                               "'name': {'type': 'string'},"
                               "'below': {'items': {'$ref': '#/$defs/node'}}}}}}";
    schema_text_check(tree, "{'name': 'a', 'below': [{'name': 'b', 'below': []}]}", "");
    schema_text_check(tree, "{'name': 'a', 'below': [{'name': 'b', 'below': [{}, 7]}]}",
                      "below[0].below[0]|missing property 'name'");
    schema_text_check("{'$ref': '#/$defs/a~1b', '$defs': {'a/b': {'type': 'null'}}}",
                      "1", "|expected null, got 1");
    schema_text_check("{'$ref': '#here', '$defs': {'x': {'$anchor': 'here', "
                      "'type': 'null'}}}",
                      "1", "|expected null, got 1");
    schema_text_check("{'$id': 'http://a/b', '$ref': 'c', '$defs': {'x': {'$id': "
                      "'/c', 'type': 'null'}}}",
                      "1", "|expected null, got 1");
}

static void test_schema_parts__references_lead_somewhere(void)
{
    static const char *const cases[][2] = {
        {"{'$ref': '#/$defs/ordr', '$defs': {'order': {}}}",
         "$ref|\"#/$defs/ordr\" leads nowhere; did you mean 'order'?"},
        {"{'$ref': 'https://json-schema.org/draft/2020-12/schema'}",
         "$ref|\"https://json-schema.org/draft/2020-12/schema\" leads to no schema in "
         "this text, and nothing is loaded from elsewhere"},
        {"{'properties': {'a': {'$ref': '#nobody'}}}",
         "properties.a.$ref|\"#nobody\" leads to no schema in this text, and nothing "
         "is loaded from elsewhere"},
        {"{'$id': 'http://a/b', 'items': {'$id': '/b'}}",
         "items.$id|\"/b\" names two places"},
        {"{'$ref': '#'}",
         "$ref|leads back to itself for the same value, without an end"},
        {"{'$ref': '#/$defs/a', '$defs': {'a': {'anyOf': [{'$ref': '#/$defs/b'}]}, "
         "'b': {'not': {'$ref': '#/$defs/a'}}}}",
         "$ref|leads back to itself for the same value, without an end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        schema_text_check_schema(cases[i][0], cases[i][1]);
}

static void test_schema_parts__words_belong_to_drafts(void)
{
    static const char *const cases[][2] = {
        {"{'$vocabulary': {}}", "|the schema word '$vocabulary' is not supported"},
        {"{'$schema': 'http://json-schema.org/draft-07/schema#', "
         "'unevaluatedItems': false}",
         "|the schema word 'unevaluatedItems' is not one of draft 7, which '$schema' "
         "names"},
        {"{'$schema': 'http://json-schema.org/draft-07/schema#', 'prefixItems': []}",
         "|the schema word 'prefixItems' is not one of draft 7, which '$schema' names"},
        {"{'$schema': 'http://json-schema.org/draft-07/schema#', '$ref': "
         "'#/definitions/a', 'maximum': 3, 'definitions': {'a': {}}}",
         "|in draft 7 a '$ref' hides 'maximum' beside it; put both into 'allOf'"},
        {"{'$schema': 'http://json-schema.org/draft-07/schema#', 'items': [{}, true]}",
         ""},
        {"{'$schema': 'http://json-schema.org/draft-04/schema#', 'maximum': 3, "
         "'exclusiveMaximum': true}",
         ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        schema_text_check_schema(cases[i][0], cases[i][1]);
}

static void test_schema_parts__explain_the_nearest_alternative(void)
{
    static const char *const cases[][3] = {
        {"{'anyOf': [{'type': 'string'}, {'type': 'null'}]}", "7",
         "|expected a string or null, got 7"},
        {"{'oneOf': [{'const': 'a'}, {'const': 'b'}]}", "'c'",
         "|expected one of: a, b; got \"c\""},
        {"{'anyOf': [{'required': ['a'], 'properties': {'kind': {'const': 1}}},"
         "{'required': ['b'], 'properties': {'kind': {'const': 2}}}]}",
         "{'kind': 2}",
         "|fits none of the 2 alternatives; the nearest is the one at 1: missing "
         "property 'b'"},
        {"{'oneOf': [{'minimum': 1}, {'minimum': 2}]}", "3",
         "|fits more than one of the 2 alternatives of 'oneOf'"},
        {"{'not': {'type': 'integer'}}", "3", "|is what 'not' forbids: 3"},
        {"{'if': {'required': ['a']}, 'then': {'required': ['b']}}", "{'a': 1}",
         "|missing property 'b'"},
        {"{'dependentRequired': {'a': ['b']}}", "{'a': 1}",
         "|missing property 'b', which 'a' needs"},
        {"{'allOf': [{'minimum': 3}, {'multipleOf': 2}]}", "1",
         "|expected a number of at least 3, got 1\n|expected a multiple of 2, got 1"},
        {"{'contains': {'type': 'null'}, 'maxContains': 1}", "[null, null]",
         "|expected at most 1 element that fits 'contains', got at least 2"},
        {"{'uniqueItems': true}", "[1, {'a': [2]}, 1.0]",
         "|[2] repeats [0]; each element may be there once"},
        {"{'propertyNames': {'maxLength': 2}}", "{'abc': 1}",
         "|the name 'abc' is not allowed: expected a string of at most 2 "
         "characters, got 3"},
        {"{'patternProperties': {'^x': {'type': 'null'}}, 'additionalProperties': "
         "false}",
         "{'x1': 1, 'y': 2}", "x1|expected null, got 1\n|unknown property 'y'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        schema_text_check(cases[i][0], cases[i][1], cases[i][2]);
}

// What neither the schema nor those that it adds have looked at.
static void test_schema_parts__judge_the_rest_last(void)
{
    static const char closed[] =
        "{'properties': {'a': true}, 'allOf': [{'$ref': '#/$defs/b'}],"
        "'anyOf': [{'required': ['c'], 'properties': {'c': {'type': 'integer'}}}, {}],"
        "'$defs': {'b': {'properties': {'b': true}}},"
        "'unevaluatedProperties': false}";
    schema_text_check(closed, "{'a': 1, 'b': 2, 'c': 3}", "");
    schema_text_check(closed, "{'a': 1, 'd': 2}",
                      "|unknown property 'd'; nothing here has one of this name");
    // An alternative that does not fit has looked at nothing.
    schema_text_check(closed, "{'c': 'x'}",
                      "|unknown property 'c'; nothing here has one of this name");
    schema_text_check("{'patternProperties': {'^x': true}, 'unevaluatedProperties': "
                      "{'type': 'null'}}",
                      "{'x1': 1, 'y': 2}", "y|expected null, got 2");
    static const char list[] = "{'prefixItems': [true], 'contains': {'type': "
                               "'null'}, 'unevaluatedItems': {'type': 'integer'}}";
    schema_text_check(list, "['a', null, 3]", "");
    schema_text_check(list, "['a', null, 'b']", "[2]|expected an integer, got \"b\"");
    schema_text_check("{'if': {'prefixItems': [{'const': 1}]}, 'then': {'items': true},"
                      "'unevaluatedItems': false}",
                      "[2, 3]", "[0]|is not allowed here\n[1]|is not allowed here");
}

// What ECMA-262 says otherwise than PCRE2.
static void test_schema_parts__patterns_are_those_of_ecma(void)
{
    static const char *const cases[][3] = {
        {"{'pattern': '^\\\\d$'}", "'\xd9\xa3'", // an Arabic digit
         "|expected a string that matches ^\\d$, got \"\xd9\xa3\""},
        {"{'pattern': '^a$'}", "'a\\n'",
         "|expected a string that matches ^a$, got \"a?\""},
        {"{'pattern': '^\\\\u00e4$'}", "'\xc3\xa4'", ""},
        {"{'pattern': '^\\\\p{Letter}+$'}", "'\xc3\xa4z'", ""},
        {"{'pattern': '^[[]{2}$'}", "'[['", ""},
        {"{'pattern': 'b'}", "'abc'", ""}, // anywhere
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        schema_text_check(cases[i][0], cases[i][1], cases[i][2]);
    schema_text_check_schema("{'pattern': '(?i)a'}",
                             "pattern|regular expression '(?i)a': this kind of group "
                             "is no part of it (at byte 0); JSON Schema has those of "
                             "ECMA-262");
    schema_text_check_schema(
        "{'properties': {'a': {'patternProperties': {'a++': "
        "true}}}}",
        "properties.a.patternProperties[\"a++\"]|regular expression "
        "'a++': there is nothing to repeat (at byte 2); JSON "
        "Schema has those of ECMA-262");
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_schema_parts__follow_references),
        CHECK_TEST(test_schema_parts__references_lead_somewhere),
        CHECK_TEST(test_schema_parts__words_belong_to_drafts),
        CHECK_TEST(test_schema_parts__explain_the_nearest_alternative),
        CHECK_TEST(test_schema_parts__judge_the_rest_last),
        CHECK_TEST(test_schema_parts__patterns_are_those_of_ecma),
        CU_TEST_INFO_NULL,
    };
    return check_main("base/schema_parts", tests);
}
