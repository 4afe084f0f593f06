#include "support/schema_text.h"

#include "support/check.h"

#include <stdlib.h>
#include <string.h>

json_t *schema_text_read(const char *text)
{
    char *json = strdup(text);
    for (char *at = json; *at; at++) {
        if (*at == '\'')
            *at = '"';
    }
    json_error_t problem;
    json_t *value = json_loads(json, JSON_DECODE_ANY, &problem);
    if (!value)
        CHECK_TEXT(problem.text, json);
    free(json);
    return value;
}

void schema_text_gather(void *ctx, const cdr_schema_problem *problem)
{
    cdr_buf_printf(ctx, "%s%s|%s", ((cdr_buf *)ctx)->len > 0 ? "\n" : "", problem->path,
                   problem->text);
}

static int count_lines(const char *text)
{
    int n = *text ? 1 : 0;
    for (const char *at = text; *at; at++)
        n += *at == '\n';
    return n;
}

void schema_text_check(const char *schema_text, const char *value_text,
                       const char *expected)
{
    json_t *schema = schema_text_read(schema_text);
    json_t *value = schema_text_read(value_text);
    cdr_buf found = CDR_BUF_INIT;
    int n = cdr_schema_check(schema, value, schema_text_gather, &found);
    CHECK_TEXT(cdr_buf_text(&found), expected);
    CHECK_INT(n, count_lines(expected));
    cdr_buf_fini(&found);
    json_decref(value);
    json_decref(schema);
}

void schema_text_check_schema(const char *schema_text, const char *expected)
{
    json_t *schema = schema_text_read(schema_text);
    cdr_buf found = CDR_BUF_INIT;
    int n = cdr_schema_check_schema(schema, schema_text_gather, &found);
    CHECK_TEXT(cdr_buf_text(&found), expected);
    CHECK_INT(n, count_lines(expected));
    cdr_buf_fini(&found);
    json_decref(schema);
}
