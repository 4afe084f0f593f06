// JSON from outside, and JSON as cadre writes it.
//
// Parsing is jansson's. Before it goes a scan for depth, since jansson recurses and its
// own limit (2,048) is more than a thread's stack should hold. After a failure, and
// only then, escapes that JSON allows but jansson refuses (\u0000, half of a surrogate
// pair) are replaced and the text is parsed again: a model that was cut in the middle
// of an emoji must not lose its whole answer. The replacement has the same length, so
// the place in an error stays right. A NUL byte is refused before, since jansson takes
// no notice of one behind a number.
#include "base/json_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_LEN 6 // \uXXXX
#define SHOWN_BYTES 60

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Returns the index of the quote that ends the string begun at `start`, `len` if none.
// Looks from quote to quote, since strings are most of the bytes.
static size_t string_end(const char *text, size_t len, size_t start)
{
    size_t i = start + 1;
    const char *quote;
    while (i < len && (quote = memchr(text + i, '"', len - i))) {
        i = (size_t)(quote - text);
        size_t n_backslashes = 0;
        while (text[i - 1 - n_backslashes] == '\\')
            n_backslashes++;
        if (n_backslashes % 2 == 0)
            return i;
        i++;
    }
    return len;
}

// Returns the index of the bracket that goes too deep, `len` if none does.
static size_t find_too_deep(const char *text, size_t len)
{
    int depth = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '"')
            i = string_end(text, len, i);
        else if ((c == '[' || c == '{') && ++depth > CDR_JSON_MAX_DEPTH)
            return i;
        else if (c == ']' || c == '}')
            depth--;
    }
    return len;
}

typedef struct text_place {
    size_t line, column;
} text_place;

static text_place place_of(const char *text, size_t at)
{
    text_place place = {1, 1};
    for (size_t i = 0; i < at; i++) {
        bool is_inside_char = ((unsigned char)text[i] & 0xc0) == 0x80;
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (!is_inside_char) {
            place.column++;
        }
    }
    return place;
}

// Refuses what must not reach the parser.
static cadre_status check_text(const char *text, size_t len, cadre_error *err)
{
    const char *nul = memchr(text, '\0', len);
    text_place place = place_of(text, nul ? (size_t)(nul - text) : 0);
    if (nul)
        return cadre_fail(err, CADRE_EINVAL, "bad JSON at %zu:%zu: a NUL byte",
                          place.line, place.column);
    size_t too_deep = find_too_deep(text, len);
    if (too_deep == len)
        return CADRE_OK;
    place = place_of(text, too_deep);
    return cadre_fail(err, CADRE_EINVAL,
                      "bad JSON at %zu:%zu: nested deeper than %d levels", place.line,
                      place.column, CDR_JSON_MAX_DEPTH);
}

// Returns the value of the \uXXXX escape at `at`, -1 if there is none.
static int32_t escape_value(const char *at, const char *end)
{
    if (end - at < ESCAPE_LEN || at[0] != '\\' || at[1] != 'u')
        return -1;
    int32_t value = 0;
    for (int i = 2; i < ESCAPE_LEN; i++) {
        static const char hex[] = "0123456789abcdef";
        const char *digit = memchr(hex, at[i] | 0x20, sizeof(hex) - 1);
        if (!digit)
            return -1;
        value = value << 4 | (int32_t)(digit - hex);
    }
    return value;
}

static bool is_high_surrogate(int32_t value)
{
    return value >= 0xd800 && value < 0xdc00;
}

static bool is_low_surrogate(int32_t value)
{
    return value >= 0xdc00 && value < 0xe000;
}

// Replaces what jansson refuses of the escape at `at` (a backslash). Returns the
// length of what was looked at.
static size_t repair_escape(char *at, const char *end, bool *is_changed)
{
    static const char replacement[ESCAPE_LEN] = {'\\', 'u', 'f', 'f', 'f', 'd'};
    int32_t value = escape_value(at, end);
    if (value < 0)
        return 2;
    if (is_high_surrogate(value) &&
        is_low_surrogate(escape_value(at + ESCAPE_LEN, end)))
        return 2 * (size_t)ESCAPE_LEN;
    if (value == 0 || is_high_surrogate(value) || is_low_surrogate(value)) {
        memcpy(at, replacement, sizeof(replacement));
        *is_changed = true;
    }
    return ESCAPE_LEN;
}

// Returns a copy of the text with the bad escapes replaced; NULL if there are none, or
// no memory. Backslashes outside strings do not matter: such a text fails anyway.
static char *repaired_dup(const char *text, size_t len)
{
    if (!memchr(text, '\\', len))
        return NULL;
    char *copy = malloc(len);
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    const char *end = copy + len;
    bool is_changed = false;
    char *at = copy;
    while (at < end && (at = memchr(at, '\\', (size_t)(end - at)))) {
        size_t n = repair_escape(at, end, &is_changed);
        at = n < (size_t)(end - at) ? at + n : copy + len;
    }
    if (!is_changed) {
        free(copy);
        return NULL;
    }
    return copy;
}

static cadre_status fail_parse(const json_error_t *error, cadre_error *err)
{
    if (json_error_code(error) == json_error_out_of_memory)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to parse JSON");
    return cadre_fail(err, CADRE_EINVAL, "bad JSON at %d:%d: %s", error->line,
                      error->column, error->text);
}

json_t *cdr_json_parse(const char *text, size_t len, cadre_error *err)
{
    if (len == 0) {
        cadre_fail(err, CADRE_EINVAL, "bad JSON: the text is empty");
        return NULL;
    }
    if (check_text(text, len, err) != CADRE_OK)
        return NULL;
    json_error_t error;
    json_t *value = json_loadb(text, len, JSON_DECODE_ANY, &error);
    char *repaired = value ? NULL : repaired_dup(text, len);
    if (repaired)
        value = json_loadb(repaired, len, JSON_DECODE_ANY, &error);
    free(repaired);
    if (!value)
        fail_parse(&error, err);
    return value;
}

static const char *type_in_words(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "something else";
}

// Returns how many bytes of the text to quote: no character is torn.
static int shown_len(const char *text, size_t len)
{
    size_t n = len < SHOWN_BYTES ? len : SHOWN_BYTES;
    while (n < len && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return (int)n;
}

json_t *cdr_json_parse_arguments(const char *text, size_t len, cadre_error *err)
{
    while (len > 0 && is_blank(text[0])) {
        text++;
        len--;
    }
    if (len == 0) {
        json_t *none = json_object();
        if (!none)
            cadre_fail(err, CADRE_ENOMEM, "no memory for arguments");
        return none;
    }
    json_t *value = cdr_json_parse(text, len, err);
    if (value && !json_is_object(value)) {
        cadre_fail(err, CADRE_EINVAL,
                   "the arguments must be a JSON object, got %s: %.*s",
                   type_in_words(value), shown_len(text, len), text);
        json_decref(value);
        return NULL;
    }
    return value;
}

char *cdr_json_dump(const json_t *value)
{
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}
