// Short forms: conditions on the last response without a language.
#include "support/check.h"
#include "support/expression_case.h"

#include "cadre/ext/expression.h"

#include <stdio.h>

static void check_short_form(const char *written_json, const char *text, bool expected)
{
    json_t *written = expression_json(written_json);
    cadre_expression *expression = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_expression_new(written, EXPRESSION_WHERE, &expression, &err), &err);
    json_decref(written); // the expression has copies
    cadre_expression_values values = CADRE_EXPRESSION_VALUES(.last_response = text);
    bool result = !expected;
    CHECK_OK(cadre_expression_test(expression, &values, &result, &err), &err);
    if (!CHECK_INT(result, expected))
        fprintf(stderr, "  of: %s\n", written_json);
    json_t *value = NULL;
    CHECK_OK(cadre_expression_value(expression, &values, &value, &err), &err);
    CHECK(json_equal(value, json_boolean(expected)));
    cadre_expression_free(expression);
}

static void test_short_form__short_forms_look_at_the_last_response(void)
{
    check_short_form("{\"contains\": \"refund\"}", "I want a refund", true);
    check_short_form("{\"contains\": \"Refund\"}", "I want a refund", false);
    check_short_form("{\"contains\": [\"return\", \"refund\"]}", "a refund", true);
    check_short_form("{\"contains\": [\"return\", \"send\"]}", "a refund", false);
    check_short_form("{\"contains\": \"\"}", "", true);
    check_short_form("{\"starts\": \"YES\"}", "YES, do it", true);
    check_short_form("{\"starts\": \"YES\"}", "no YES", false);
    check_short_form("{\"starts\": \"YES\"}", "YE", false);
    check_short_form("{\"ends\": \"end\"}", "the end", true);
    check_short_form("{\"ends\": \"end\"}", "ending", false);
    check_short_form("{\"equals\": \"APPROVED\"}", "APPROVED", true);
    check_short_form("{\"equals\": \"APPROVED\"}", "APPROVED.", false);
    check_short_form("{\"matches\": \"^score: [89]\"}", "score: 9", true);
    check_short_form("{\"matches\": [\"^a$\", \"^b$\"]}", "b", true);
    check_short_form("{\"matches\": \"^b$\"}", "c", false);
    check_short_form("{\"contains\": \"\"}", NULL, false);
    check_short_form("{\"matches\": \".*\"}", NULL, false);
}

static void test_short_form__bad_short_forms_are_refused(void)
{
    expression_check_refusal(
        "{}", ": a short form has exactly one of contains, starts, ends, equals, "
              "matches, got 0 keys");
    expression_check_refusal("{\"contains\": \"a\", \"ends\": \"b\"}", "got 2 keys");
    expression_check_refusal(
        "{\"contain\": \"a\"}",
        ": unknown short form 'contain'; did you mean 'contains'? (known: "
        "contains, starts, ends, equals, matches)");
    expression_check_refusal("{\"zzz\": \"a\"}", ": unknown short form 'zzz' (known: ");
    expression_check_refusal("{\"contains\": 5}",
                             ".contains: must be a text or a list of texts, got 5");
    expression_check_refusal("{\"equals\": [\"a\", true]}",
                             ".equals: must be a text or a list of texts, got true");
    expression_check_refusal("{\"starts\": []}", ".starts: the list is empty");
    expression_check_refusal(
        "{\"matches\": [\"a\", \"b(\"]}",
        ".matches: regular expression 'b(': missing closing parenthesis (at byte "
        "2)");
    expression_check_refusal("{\"matches\": \"((a{1000}){1000}){1000}\"}",
                             "regular expression is too large");
}

static void test_short_form__a_short_form_cannot_run_away(void)
{
    json_t *written = expression_json("{\"matches\": \"(a+)+$\"}");
    cadre_expression *expression = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_expression_new(written, EXPRESSION_WHERE, &expression, &err), &err);
    cadre_expression_values values = CADRE_EXPRESSION_VALUES(
            .last_response =
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
    bool result = false;
    CHECK_STATUS(cadre_expression_test(expression, &values, &result, &err),
                 CADRE_EFAILED, &err);
    CHECK_INT(err.error_class, CADRE_CLASS_HOOK);
    CHECK_TEXT(err.text, EXPRESSION_WHERE
               ": regular expression '(a+)+$': it takes too many steps on "
               "this text");
    cadre_expression_free(expression);
    json_decref(written);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_short_form__short_forms_look_at_the_last_response),
    CHECK_TEST(test_short_form__bad_short_forms_are_refused),
    CHECK_TEST(test_short_form__a_short_form_cannot_run_away),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("expression/short_form", tests);
}
