// Expressions over one set of values.
#include "support/expression_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *expression_json(const char *text)
{
    json_error_t why;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &why);
    if (!CHECK(value != NULL))
        abort();
    return value;
}

void expression_sample_init(expression_sample *self)
{
    self->state = expression_json(
        "{\"score\": 7, \"ratio\": 0.5, \"big\": 9007199254740993, \"ok\": true,"
        " \"none\": null, \"name\": \"Zoë\", \"tags\": [\"urgent\", null, \"paid\"],"
        " \"numbers\": [3, 1, 2], \"words\": [\"a\", \"b\"], \"empty\": {},"
        " \"user\": {\"name\": \"Ada\", \"roles\": [{\"id\": 1}, {\"id\": 2}]}}");
    self->outputs =
        expression_json("{\"writer\": \"draft two\", \"critic\": \"SOLVED\"}");
    self->values = (cadre_expression_values)
        CADRE_EXPRESSION_VALUES(.input = "I want a refund",
                                .last_response = "All done: SOLVED", .output = "text",
                                .state = self->state, .outputs = self->outputs,
                                .iteration = 3);
}

void expression_sample_fini(expression_sample *self)
{
    json_decref(self->state);
    json_decref(self->outputs);
}

cadre_expression *expression_of(const char *text)
{
    json_t *written = json_string(text);
    cadre_expression *expression = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cadre_expression_new(written, EXPRESSION_WHERE, &expression, &err),
                  &err))
        fprintf(stderr, "  of: %s\n", text);
    json_decref(written);
    return expression;
}

char *expression_value_of(const char *text, cadre_error *err)
{
    expression_sample given;
    expression_sample_init(&given);
    cadre_expression *expression = expression_of(text);
    json_t *value = NULL;
    char *dumped = NULL;
    if (expression &&
        cadre_expression_value(expression, &given.values, &value, err) == CADRE_OK)
        dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    json_decref(value);
    cadre_expression_free(expression);
    expression_sample_fini(&given);
    return dumped;
}

void expression_check_values(const expression_value_case *cases)
{
    for (; cases->text; cases++) {
        cadre_error err = CADRE_ERROR_INIT;
        char *value = expression_value_of(cases->text, &err);
        if (!CHECK_TEXT(value, cases->value))
            fprintf(stderr, "  of: %s\n  error: %s\n", cases->text, err.text);
        free(value);
    }
}

void expression_check_failure(const char *text, const char *message)
{
    cadre_error err = CADRE_ERROR_INIT;
    char *value = expression_value_of(text, &err);
    if (!CHECK(value == NULL) || !CHECK_TEXT(err.text, message))
        fprintf(stderr, "  of: %s\n", text);
    CHECK_INT(err.status, CADRE_EFAILED);
    CHECK_INT(err.error_class, CADRE_CLASS_HOOK);
    free(value);
}

void expression_check_refusal(const char *written_json, const char *message)
{
    json_t *written = expression_json(written_json);
    cadre_expression *expression = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status =
        cadre_expression_new(written, EXPRESSION_WHERE, &expression, &err);
    if (!CHECK_STATUS(status, CADRE_EINVAL, &err) || !CHECK_CONTAINS(err.text, message))
        fprintf(stderr, "  of: %s\n  error: %s\n", written_json, err.text);
    CHECK(strncmp(err.text, EXPRESSION_WHERE, strlen(EXPRESSION_WHERE)) == 0);
    CHECK(expression == NULL);
    cadre_expression_free(expression);
    json_decref(written);
}
