// JSON files: jansson judges the syntax, then a scan finds the places.
//
// The scan runs only over text that jansson took, so it need not judge again; it keeps
// to its bounds all the same. Duplicate keys are left to the builder, which knows the
// first place as well as the second.
// jansson also stops at numbers that do not fit. That is no mistake of syntax, so it is
// shown a copy with 0 in their place, and the scan tells of them.
#include "team/document_builder.h"

#include "base/brief.h"
#include "team/source_text.h"

#include <stdlib.h>
#include <string.h>

#define DECODE_FLAGS (JSON_DECODE_ANY | JSON_ALLOW_NUL)

typedef struct scanner {
    cdr_builder *builder;
    const char *at;
    const char *end;
    cdr_place place; // of `at`
} scanner;

static void advance(scanner *in, size_t len)
{
    cdr_place_advance(&in->place, in->at, len);
    in->at += len;
}

// Bytes of the scalar at the cursor: a string with its quotes, or a word.
static size_t token_length(const char *start, const char *end)
{
    const char *at = start;
    if (*at != '"') {
        while (at < end && !strchr(" \t\r\n,:[]{}\"", *at))
            at++;
        return (size_t)(at - start);
    }
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
    }
    return (size_t)(at - start) + (at < end);
}

// Is it a number that fits neither into 64 bits nor into a double?
static bool is_out_of_range(const char *token, size_t len)
{
    // Shorter ones fit.
    if (len < 19 && !memchr(token, 'e', len) && !memchr(token, 'E', len))
        return false;
    if (*token != '-' && (*token < '0' || *token > '9'))
        return false;
    json_error_t problem = {0}; // jansson leaves it as it is when memory runs out
    json_t *value = json_loadb(token, len, DECODE_FLAGS, &problem);
    json_decref(value);
    return !value && json_error_code(&problem) == json_error_numeric_overflow;
}

static json_t *decode(const char *token, size_t len)
{
    bool is_simple = len >= 2 && *token == '"' && !memchr(token, '\\', len);
    if (is_simple)
        return json_stringn(token + 1, len - 2);
    return json_loadb(token, len, DECODE_FLAGS, NULL);
}

static json_t *read_large_number(scanner *in, size_t len)
{
    char brief[CDR_BRIEF_SIZE];
    json_t *value = json_stringn(in->at, len);
    if (value)
        cdr_document_tell(in->builder->document, in->place,
                          "the number %s is out of range",
                          cdr_brief_text(brief, json_string_value(value), '\0'));
    return value;
}

static cadre_status read_scalar(scanner *in)
{
    size_t len = token_length(in->at, in->end);
    bool is_large = is_out_of_range(in->at, len);
    json_t *value = is_large ? read_large_number(in, len) : decode(in->at, len);
    cdr_scalar scalar = {
        .place = in->place,
        .text = json_is_string(value) ? json_string_value(value) : in->at,
        .len = json_is_string(value) ? json_string_length(value) : len,
        .is_plain = is_large || !json_is_string(value),
        .is_doubtful = is_large,
    };
    cadre_status status = CADRE_OK;
    if (!value) {
        status = CADRE_ENOMEM;
    } else if (cdr_builder_wants_key(in->builder)) {
        status = cdr_builder_key(in->builder, &scalar);
        json_decref(value);
    } else {
        status = cdr_builder_scalar_take(in->builder, value, &scalar);
    }
    advance(in, len);
    return status;
}

static cadre_status read_token(scanner *in)
{
    cadre_status status = CADRE_OK;
    cdr_scalar container = {.place = in->place};
    switch (*in->at) {
    case '{':
        status = cdr_builder_begin_take(in->builder, json_object(), &container);
        break;
    case '[':
        status = cdr_builder_begin_take(in->builder, json_array(), &container);
        break;
    case '}':
    case ']':
        status = cdr_builder_end(in->builder);
        break;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ',':
    case ':':
        break;
    default:
        return read_scalar(in);
    }
    advance(in, 1);
    return status;
}

// The text with 0 and blanks for each number that does not fit, so that places stay.
// Allocated with malloc; NULL: no memory.
static char *copy_with_fitting_numbers(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    const char *end = copy + len;
    for (char *at = copy; at < end;) {
        size_t token_len = token_length(at, end);
        if (is_out_of_range(at, token_len)) {
            memset(at, ' ', token_len);
            *at = '0';
        }
        at += token_len > 0 ? token_len : 1;
    }
    return copy;
}

static cadre_status check_syntax(cdr_builder *builder, const char *text, size_t len)
{
    json_error_t problem = {0}; // jansson leaves it as it is when memory runs out
    char *copy = copy_with_fitting_numbers(text, len);
    json_t *value = copy ? json_loadb(copy, len, DECODE_FLAGS, &problem) : NULL;
    json_decref(value);
    free(copy);
    if (value)
        return CADRE_OK;
    if (!problem.text[0] || json_error_code(&problem) == json_error_out_of_memory)
        return CADRE_ENOMEM;
    cdr_place place = {
        problem.line > 0 ? problem.line : 1,
        problem.column > 0 ? problem.column : 1,
    };
    // jansson's text for this one speaks of what it supports.
    bool has_nul = json_error_code(&problem) == json_error_null_byte_in_key;
    return cdr_document_refuse(
        builder->document, place, "%s",
        has_nul ? "a key holds a NUL character, which no text may" : problem.text);
}

cadre_status cdr_json_read(cdr_builder *builder, const char *text, size_t len)
{
    cadre_status status = check_syntax(builder, text, len);
    scanner in = {builder, text, text + len, {1, 1}};
    while (status == CADRE_OK && in.at < in.end)
        status = read_token(&in);
    return status;
}
