// See text.h.
#include "text.h"

#include <stdlib.h>
#include <string.h>

static void append(cdr_graph_text *text, const char *bytes, size_t len)
{
    if (text->failed)
        return;
    if (text->len + len + 1 > text->capacity) {
        size_t capacity = (text->len + len + 1) * 2;
        char *grown = realloc(text->bytes, capacity);
        if (grown == NULL) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

void cdr_graph_text_add(cdr_graph_text *text, const char *more)
{
    append(text, more, strlen(more));
}

void cdr_graph_text_add_json(cdr_graph_text *text, const json_t *value)
{
    if (value == NULL || json_is_null(value))
        return;
    if (json_is_string(value)) {
        append(text, json_string_value(value), json_string_length(value));
        return;
    }
    char *dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (dump == NULL)
        text->failed = true;
    else
        cdr_graph_text_add(text, dump);
    free(dump);
}

const char *cdr_graph_text_bytes(const cdr_graph_text *text)
{
    return text->bytes == NULL ? "" : text->bytes;
}

void cdr_graph_text_fini(cdr_graph_text *text)
{
    free(text->bytes);
    *text = (cdr_graph_text){NULL, 0, 0, false};
}
