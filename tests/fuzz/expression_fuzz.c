// Expressions: Lua text, or a short form as JSON. They end, and over the same values
// they give the same.
#include "fuzz/fuzz.h"

#include "base/buf.h"
#include "base/json_text.h"
#include "support/expression_case.h"

#include <stdlib.h>
#include <string.h>

// What comes of an evaluation, as a text; free() it.
static char *evaluate(const cadre_expression *expression,
                      const cadre_expression_values *values)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = NULL;
    cadre_status status = cadre_expression_value(expression, values, &value, &err);
    FUZZ_CHECK(status == err.status && (value != NULL) == (status == CADRE_OK));
    if (!value) {
        FUZZ_CHECK(status == CADRE_EFAILED || status == CADRE_ENOMEM);
        FUZZ_CHECK(strncmp(err.text, EXPRESSION_WHERE, strlen(EXPRESSION_WHERE)) == 0);
        return fuzz_copy(err.text, strlen(err.text));
    }
    char *text = fuzz_must(cdr_json_dump(value));
    json_decref(value);
    return text;
}

static void use(const cadre_expression *expression)
{
    expression_sample sample;
    bool is_true = false;
    cadre_error err = CADRE_ERROR_INIT;
    expression_sample_init(&sample);
    char *before = fuzz_must(cdr_json_dump(sample.state));
    char *once = evaluate(expression, &sample.values);
    // Two that ran into a limit of time may have done so at different places.
    if (!strstr(once, "limit") && !strstr(once, "memory")) {
        char *twice = evaluate(expression, &sample.values);
        FUZZ_CHECK_TEXT(twice, once);
        free(twice);
        cadre_status status =
            cadre_expression_test(expression, &sample.values, &is_true, &err);
        FUZZ_CHECK(status == CADRE_OK || err.text[0] != '\0');
        FUZZ_CHECK(status != CADRE_OK || is_true == (strcmp(once, "true") == 0));
    }
    char *after = fuzz_must(cdr_json_dump(sample.state));
    FUZZ_CHECK_TEXT(after, before);
    free(before);
    free(once);
    free(after);
    expression_sample_fini(&sample);
}

static void try_written(const json_t *written)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_expression *expression = NULL;
    cadre_status status =
        cadre_expression_new(written, EXPRESSION_WHERE, &expression, &err);
    FUZZ_CHECK((status == CADRE_OK) == (expression != NULL));
    FUZZ_CHECK(status == CADRE_OK || err.text[0] != '\0');
    if (expression)
        use(expression);
    cadre_expression_free(expression);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    char *text = fuzz_copy(data, len);
    json_t *form = cdr_json_parse(text, len, NULL);
    json_t *lua = json_stringn(text, len);
    if (json_is_object(form))
        try_written(form);
    else if (lua)
        try_written(lua);
    json_decref(form);
    json_decref(lua);
    free(text);
}
