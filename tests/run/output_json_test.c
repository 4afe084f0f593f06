// Where the JSON stands in what a model wrote.
#include "support/check.h"

#include "run/output_json.h"

#include <stdlib.h>
#include <string.h>

static void check_found(const char *text, const char *expected)
{
    cdr_json_part part = {NULL, 0};
    json_t *value = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cdr_output_json_find(text, strlen(text), &part, &value, &err), &err);
    CHECK_BYTES(part.data, part.len, expected, strlen(expected));
    json_t *again = json_loadb(part.data, part.len, JSON_DECODE_ANY, NULL);
    CHECK(value != NULL && json_equal(value, again));
    json_decref(again);
    json_decref(value);
}

static void test_output_json__is_found_in_what_is_around_it(void)
{
    static const char *const cases[][2] = {
        {"{\"a\": 1}", "{\"a\": 1}"},
        {" \n\t[1, 2]\r\n", "[1, 2]"},
        {"7", "7"},
        {"\"a text\"", "\"a text\""},
        {"null", "null"},
        {"```json\n{\"a\": 1}\n```", "{\"a\": 1}"},
        {"```\n\n{\"a\": 1}\n\n```\n", "{\"a\": 1}"},
        {"```JSON\n3\n```", "3"},
        {"Here it is:\n```json\n{\"a\": [1]}\n```\nAnything else?", "{\"a\": [1]}"},
        {"The answer is {\"a\": {\"b\": \"}\"}}, I think.", "{\"a\": {\"b\": \"}\"}}"},
        {"Of {these} I take [1].", "[1]"},
        {"```json\n{\"code\": \"```\\nx\\n```\"}\n```",
         "{\"code\": \"```\\nx\\n```\"}"},
        {"```\n\"use ```\"\n  ```\nThat ``` is one.", "\"use ```\""},
        {"{\"code\": \"```\\nx\\n```\"}", "{\"code\": \"```\\nx\\n```\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_found(cases[i][0], cases[i][1]);
}

static void test_output_json__says_what_is_wrong(void)
{
    static const char *const cases[][2] = {
        {"", "it is empty; a JSON value is expected"},
        {" \n ", "it is empty; a JSON value is expected"},
        {"I do not know.", "it holds no JSON object or array"},
        {"{\"a\": 1", "it is not JSON: "},
        {"[1, 2,]", "it is not JSON: "},
        {"First {\"a\": 1}, then {\"a\": 2}.",
         "it holds more than one JSON value; write one, and no other text"},
        {"```json\n{\"a\": 1}\n```\n```json\n{\"a\": 2}\n```",
         "it holds more than one JSON value; write one, and no other text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cdr_json_part part = {NULL, 0};
        json_t *value = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(
            cdr_output_json_find(cases[i][0], strlen(cases[i][0]), &part, &value, &err),
            CADRE_EINVAL, &err);
        CHECK(value == NULL);
        CHECK_CONTAINS(err.text, cases[i][1]);
    }
}

// Places where a value could start are tried a fixed number of times.
static void test_output_json__does_not_try_for_ever(void)
{
    size_t len = 1000000;
    char *text = malloc(len);
    cdr_json_part part = {NULL, 0};
    json_t *value = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    memset(text, '[', len);
    text[0] = 'x';
    CHECK_STATUS(cdr_output_json_find(text, len, &part, &value, &err), CADRE_EINVAL,
                 &err);
    CHECK_TEXT(err.text, "it holds no JSON object or array");
    free(text);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_output_json__is_found_in_what_is_around_it),
        CHECK_TEST(test_output_json__says_what_is_wrong),
        CHECK_TEST(test_output_json__does_not_try_for_ever),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/output_json", tests);
}
