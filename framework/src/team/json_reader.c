// JSON files: jansson judges the syntax, then a scan finds the places.
//
// The scan runs only over text that jansson took, so it need not judge again; it keeps
// to its bounds all the same. Duplicate keys are left to the builder, which knows the
// first place as well as the second.
#include "team/document_builder.h"

#include "team/source_text.h"

#include <string.h>

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
static size_t token_length(const scanner *in)
{
    const char *at = in->at;
    if (*at != '"') {
        while (at < in->end && !strchr(" \t\r\n,:[]{}\"", *at))
            at++;
        return (size_t)(at - in->at);
    }
    for (at++; at < in->end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < in->end)
            at++;
    }
    return (size_t)(at - in->at) + (at < in->end);
}

static json_t *decode(const char *token, size_t len)
{
    bool is_simple = len >= 2 && *token == '"' && !memchr(token, '\\', len);
    if (is_simple)
        return json_stringn(token + 1, len - 2);
    return json_loadb(token, len, JSON_DECODE_ANY, NULL);
}

static cadre_status read_scalar(scanner *in)
{
    size_t len = token_length(in);
    json_t *value = decode(in->at, len);
    cdr_scalar scalar = {
        .place = in->place,
        .text = json_is_string(value) ? json_string_value(value) : in->at,
        .len = json_is_string(value) ? json_string_length(value) : len,
        .is_plain = !json_is_string(value),
    };
    cadre_status status = CADRE_OK;
    if (!value) {
        status =
            cadre_fail(in->builder->err, CADRE_ENOMEM, "%s: no memory to read the file",
                       in->builder->document->name);
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
    switch (*in->at) {
    case '{':
        status = cdr_builder_begin_take(in->builder, json_object(), in->place, NULL);
        break;
    case '[':
        status = cdr_builder_begin_take(in->builder, json_array(), in->place, NULL);
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

static cadre_status check_syntax(cdr_builder *builder, const char *text, size_t len)
{
    json_error_t problem = {0}; // jansson leaves it as it is when memory runs out
    json_t *value = json_loadb(text, len, JSON_DECODE_ANY, &problem);
    json_decref(value);
    if (value)
        return CADRE_OK;
    if (!problem.text[0] || json_error_code(&problem) == json_error_out_of_memory)
        return cadre_fail(builder->err, CADRE_ENOMEM, "%s: no memory to read the file",
                          builder->document->name);
    cdr_place place = {
        problem.line > 0 ? problem.line : 1,
        problem.column > 0 ? problem.column : 1,
    };
    // jansson's text for this one names a flag of its interface.
    bool has_nul = json_error_code(&problem) == json_error_null_character;
    return cdr_source_fail(builder->err, builder->document->name, place, "%s",
                           has_nul ? "the text holds a NUL character, which no text may"
                                   : problem.text);
}

cadre_status cdr_json_read(cdr_builder *builder, const char *text, size_t len)
{
    cadre_status status = check_syntax(builder, text, len);
    scanner in = {builder, text, text + len, {1, 1}};
    while (status == CADRE_OK && in.at < in.end)
        status = read_token(&in);
    return status;
}
