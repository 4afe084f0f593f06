// That every check ends soon: schemas and values made to take for ever.
//
// Each takes under a second of processor time; sanitizers and valgrind may take more,
// so what is tested is that the check gave up, or did the work in proportion.
#include "support/check.h"
#include "support/schema_text.h"

#include <stdio.h>
#include <string.h>

static void check(const json_t *schema, const json_t *value, const char *expected)
{
    cdr_buf found = CDR_BUF_INIT;
    (void)cdr_schema_check(schema, value, schema_text_gather, &found);
    CHECK_TEXT(cdr_buf_text(&found), expected);
    cdr_buf_fini(&found);
}

// "d0" is twice "d1", that is twice "d2", ...: 2^n looks at one value.
static json_t *doubling(const char *word, int n, json_t *last)
{
    json_t *all = json_object();
    for (int i = 0; i < n; i++) {
        char name[16];
        char next[32];
        (void)snprintf(name, sizeof(name), "d%d", i);
        (void)snprintf(next, sizeof(next), "#/$defs/d%d", i + 1);
        json_object_set_new(
            all, name, json_pack("{s[{ss}{ss}]}", word, "$ref", next, "$ref", next));
    }
    char name[16];
    (void)snprintf(name, sizeof(name), "d%d", n);
    json_object_set_new(all, name, last);
    return json_pack("{ssso}", "$ref", "#/$defs/d0", "$defs", all);
}

static void test_schema_limits__references_that_double_end(void)
{
    static const char *const words[] = {"allOf", "anyOf", "oneOf"};
    json_t *value = json_integer(7);
    for (size_t i = 0; i < 3; i++) {
        json_t *schema = doubling(words[i], 40, json_pack("{ss}", "type", "string"));
        CHECK_INT(cdr_schema_check_schema(schema, NULL, NULL), 0);
        cdr_buf found = CDR_BUF_INIT;
        CHECK_INT(cdr_schema_check(schema, value, schema_text_gather, &found) > 0, 1);
        CHECK_CONTAINS(cdr_buf_text(&found), "takes too many steps to check");
        cdr_buf_fini(&found);
        json_decref(schema);
    }
    json_decref(value);
}

// What was given up does not fit, though `not` turns everything round.
static void test_schema_limits__giving_up_is_no_fit(void)
{
    json_t *inner = doubling("allOf", 40, json_true());
    json_t *schema =
        json_pack("{s{sO}sO}", "not", "$ref", json_object_get(inner, "$ref"), "$defs",
                  json_object_get(inner, "$defs"));
    json_t *value = json_integer(7);
    check(schema, value, "|takes too many steps to check");
    json_decref(value);
    json_decref(schema);
    json_decref(inner);
}

static void test_schema_limits__slow_patterns_end(void)
{
    static char text[20001];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 2] = '!';
    json_t *value = json_string(text);
    json_t *schema = schema_text_read("{'pattern': '^(a+)+$'}");
    check(schema, value, "|takes too long to look for a pattern in");
    json_decref(schema);
    // No single text takes long; all of them would.
    json_t *values = json_array();
    schema = schema_text_read("{'items': {'pattern': 'a*[bc]'}}");
    for (int i = 0; i < 1000; i++)
        json_array_append(values, value);
    cdr_buf found = CDR_BUF_INIT;
    CHECK(cdr_schema_check(schema, values, schema_text_gather, &found) > 0);
    CHECK_CONTAINS(cdr_buf_text(&found), "|takes too long to look for a pattern in");
    cdr_buf_fini(&found);
    json_decref(values);
    json_decref(schema);
    json_decref(value);
}

// 100,000 values: each is looked at once, not compared with all others.
static void test_schema_limits__many_values_are_in_proportion(void)
{
    json_t *values = json_array();
    for (int i = 0; i < 100000; i++)
        json_array_append_new(values, json_integer(i));
    json_t *schema = schema_text_read("{'uniqueItems': true}");
    json_object_set_new(schema, "items", json_pack("{sO}", "enum", values));
    CHECK_INT(cdr_schema_check_schema(schema, NULL, NULL), 0);
    check(schema, values, "");
    json_array_append_new(values, json_integer(99999));
    check(schema, values, "|[100000] repeats [99999]; each element may be there once");
    json_decref(schema);
    json_decref(values);
}

// A schema that looks at its own value in two ways, each level deeper.
static void test_schema_limits__recursion_ends_with_the_value(void)
{
    json_t *schema = schema_text_read(
        "{'anyOf': [{'items': {'$ref': '#'}, 'maxItems': 0},"
        "{'items': {'$ref': '#'}, 'minItems': 1}], 'type': ['array', 'integer']}");
    json_t *value = json_integer(1);
    for (int i = 0; i < 100; i++)
        value = json_pack("[o]", value);
    cdr_buf found = CDR_BUF_INIT;
    CHECK_INT(cdr_schema_check_schema(schema, NULL, NULL), 0);
    CHECK_INT(cdr_schema_check(schema, value, schema_text_gather, &found), 1);
    CHECK_CONTAINS(cdr_buf_text(&found), "[0]|takes too many steps to check");
    cdr_buf_fini(&found);
    json_decref(value);
    json_decref(schema);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_schema_limits__references_that_double_end),
        CHECK_TEST(test_schema_limits__giving_up_is_no_fit),
        CHECK_TEST(test_schema_limits__slow_patterns_end),
        CHECK_TEST(test_schema_limits__many_values_are_in_proportion),
        CHECK_TEST(test_schema_limits__recursion_ends_with_the_value),
        CU_TEST_INFO_NULL,
    };
    return check_main("base/schema_limits", tests);
}
