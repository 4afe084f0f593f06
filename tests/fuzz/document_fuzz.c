// Documents: a text as YAML and as JSON. Places are places of the text; what is sound
// JSON is the same read as YAML, and what was read is written and read again.
#include "fuzz/fuzz.h"

#include "base/json_text.h"
#include "team/yaml.h"

#include <stdlib.h>
#include <string.h>

typedef struct source {
    const char *text;
    size_t len;
    int n_lines;
    bool is_otherwise; // in YAML
} source;

#define MAX_NUMBER 64

// NEL, LINE SEPARATOR, PARAGRAPH SEPARATOR.
static bool is_odd_end(const char *at, size_t len)
{
    return (len >= 2 && memcmp(at, "\xC2\x85", 2) == 0) ||
           (len >= 3 &&
            (memcmp(at, "\xE2\x80\xA8", 3) == 0 || memcmp(at, "\xE2\x80\xA9", 3) == 0));
}

static source source_of(const char *text, size_t len)
{
    source from = {.text = text, .len = len, .n_lines = 1};
    size_t n_number = 0; // characters that may belong to one
    for (size_t i = 0; i < len; i++) {
        bool is_odd = is_odd_end(text + i, len - i);
        n_number = text[i] && strchr("0123456789+-.eE", text[i]) ? n_number + 1 : 0;
        from.is_otherwise |= is_odd || n_number > MAX_NUMBER;
        from.n_lines += text[i] == '\n' || text[i] == '\r' || is_odd;
    }
    return from;
}

static void check_place(cdr_place place, const source *from)
{
    FUZZ_CHECK(place.line >= 0 && place.line <= from->n_lines + 1);
    FUZZ_CHECK(place.column >= 0 && (size_t)place.column <= from->len + 1);
    FUZZ_CHECK((place.line == 0) == (place.column == 0));
}

static void check_value(const cdr_document *document, const cdr_document_value *at,
                        const source *from)
{
    const char *key;
    json_t *member;
    size_t i;
    FUZZ_CHECK(at->value != NULL);
    FUZZ_CHECK(at->place.line > 0);
    check_place(at->place, from);
    check_place(at->key_place, from);
    check_place(at->text_place, from);
    json_object_foreach(at->value, key, member)
    {
        cdr_document_value below = cdr_document_member(document, at->value, key);
        FUZZ_CHECK(below.value == member);
        check_value(document, &below, from);
    }
    json_array_foreach(at->value, i, member)
    {
        cdr_document_value below = cdr_document_element(document, at->value, i);
        FUZZ_CHECK(below.value == member);
        check_value(document, &below, from);
    }
}

// Reads it; NULL when there are problems, else its values in writing: free() it.
static char *read_as(const char *name, const source *from)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_document *document = NULL;
    cadre_status status =
        cdr_document_parse(name, from->text, from->len, &document, &err);
    FUZZ_CHECK_TEXT(err.text, "");
    FUZZ_CHECK(status == CADRE_OK);
    size_t n = 0;
    const cdr_document_problem *problems = cdr_document_problems(document, &n);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(problems[i].text[0] != '\0');
        check_place(problems[i].place, from);
    }
    cdr_document_value root = cdr_document_root(document);
    FUZZ_CHECK(root.value || n > 0);
    if (root.value)
        check_value(document, &root, from);
    char *text = n == 0 ? fuzz_must(cdr_json_dump(root.value)) : NULL;
    cdr_document_free(document);
    return text;
}

static void check_written_again(const char *text)
{
    source from = source_of(text, strlen(text));
    char *again = read_as("t.json", &from);
    if (again)
        FUZZ_CHECK_TEXT(again, text);
    free(again);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    char *text = fuzz_copy(data, len);
    source from = source_of(text, len);
    char *yaml = read_as("t.yaml", &from);
    char *json = read_as("t.json", &from);
    if (yaml && json && !from.is_otherwise)
        FUZZ_CHECK_TEXT(yaml, json);
    if (json)
        check_written_again(json);
    free(yaml);
    free(json);
    free(text);
}
