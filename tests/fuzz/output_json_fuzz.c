// Structured answers: the JSON that is found in a text is a part of it, and found again
// alone, in a fence, and between blanks.
#include "fuzz/fuzz.h"

#include "base/buf.h"
#include "base/json_text.h"
#include "run/output_json.h"

#include <stdlib.h>
#include <string.h>

static void check_found(const char *before, const cdr_json_part *part,
                        const char *after, const json_t *expected)
{
    cdr_buf text = CDR_BUF_INIT;
    cdr_json_part again;
    json_t *value = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_buf_append_text(&text, before);
    cdr_buf_append(&text, part->data, part->len);
    cdr_buf_append_text(&text, after);
    cadre_status status =
        cdr_output_json_find(text.data, text.len, &again, &value, &err);
    FUZZ_CHECK_TEXT(err.text, "");
    FUZZ_CHECK(status == CADRE_OK && json_equal(value, expected));
    FUZZ_CHECK(again.len == part->len &&
               memcmp(again.data, part->data, part->len) == 0);
    json_decref(value);
    cdr_buf_fini(&text);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    char *text = fuzz_copy(data, len);
    cdr_json_part part;
    json_t *value = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cdr_output_json_find(text, len, &part, &value, &err);
    FUZZ_CHECK(status == err.status && (status == CADRE_OK) == (value != NULL));
    if (status == CADRE_OK) {
        FUZZ_CHECK(part.data >= text && part.len > 0 &&
                   part.len <= len - (size_t)(part.data - text));
        json_t *parsed = cdr_json_parse(part.data, part.len, NULL);
        FUZZ_CHECK(json_equal(parsed, value));
        json_decref(parsed);
        check_found("", &part, "", value);
        check_found(" \n", &part, "\r\n\t", value);
        check_found("```json\n", &part, "\n```\n", value);
    } else {
        FUZZ_CHECK(err.text[0] != '\0');
    }
    json_decref(value);
    free(text);
}
