// Schemas: a line with one, and a value behind it. A check says the same each time and
// names a place for all it finds; defaults are what their schema takes.
#include "fuzz/fuzz.h"

#include "base/buf.h"
#include "base/json_text.h"
#include "base/schema.h"

#include <stdlib.h>
#include <string.h>

static void tell(void *ctx, const cdr_schema_problem *problem)
{
    cdr_buf *told = ctx;
    FUZZ_CHECK(problem->path && problem->text && problem->text[0] != '\0');
    FUZZ_CHECK(problem->value != NULL);
    FUZZ_CHECK(problem->container || (!problem->key && problem->path[0] == '\0') ||
               problem->is_key);
    cdr_buf_printf(told, "%s: %s\n", problem->path, problem->text);
}

static int count_lines(const char *text)
{
    int n = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        n++;
    return n;
}

// All problems, as a text; free() it.
static char *check(const json_t *schema, const json_t *value)
{
    cdr_buf told = CDR_BUF_INIT;
    int n = cdr_schema_check(schema, value, tell, &told);
    FUZZ_CHECK(n >= 0 && (n > 0) == (told.len > 0));
    FUZZ_CHECK(count_lines(cdr_buf_text(&told)) >= n);
    return fuzz_must(cdr_buf_take(&told));
}

static void check_value(const json_t *schema, const json_t *value)
{
    cadre_error err = CADRE_ERROR_INIT;
    char *once = check(schema, value);
    char *twice = check(schema, value);
    FUZZ_CHECK_TEXT(twice, once);
    cadre_status status = cdr_schema_check_text(schema, value, &err);
    FUZZ_CHECK((status == CADRE_OK) == (once[0] == '\0'));
    free(twice);
    json_t *filled = fuzz_must(cdr_schema_with_defaults(schema, value));
    if (once[0] == '\0') { // a good value stays one
        char *after = check(schema, filled);
        FUZZ_CHECK_TEXT(after, "");
        free(after);
    }
    json_t *again = fuzz_must(cdr_schema_with_defaults(schema, filled));
    FUZZ_CHECK(json_equal(again, filled));
    json_decref(again);
    json_decref(filled);
    free(once);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    const uint8_t *end = len > 0 ? memchr(data, '\n', len) : NULL;
    if (!end)
        return;
    size_t schema_len = (size_t)(end - data);
    char *text = fuzz_copy(data, len);
    json_t *schema = cdr_json_parse(text, schema_len, NULL);
    json_t *value = cdr_json_parse(text + schema_len + 1, len - schema_len - 1, NULL);
    if (schema) {
        cdr_buf told = CDR_BUF_INIT;
        bool is_sound = cdr_schema_check_schema(schema, tell, &told) == 0;
        FUZZ_CHECK(is_sound == (told.len == 0));
        cdr_buf_fini(&told);
        if (is_sound && value)
            check_value(schema, value);
    }
    json_decref(schema);
    json_decref(value);
    free(text);
}
