// YAML by libyaml's events.
//
// libyaml itself has no limits that help: what it nests and what its aliases expand to
// is counted event by event, and reading stops at the first that is too much.
#include "team/document_builder.h"

#include "base/brief.h"
#include "team/source_text.h"
#include "team/yaml_scalar.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

typedef struct reader {
    cdr_builder *builder;
    const char *text;
    size_t len;
    int n_documents;
} reader;

static cdr_place place_of(yaml_mark_t mark)
{
    return (cdr_place){(int)mark.line + 1, (int)mark.column + 1};
}

// libyaml's texts are unsigned.
static const char *chars(const yaml_char_t *text)
{
    return (const char *)text;
}

static cadre_status fail_at(const reader *in, cdr_place place, const char *problem)
{
    return cdr_source_fail(in->builder->err, in->builder->document->name, place, "%s",
                           problem);
}

static cadre_status refuse_tag(const reader *in, cdr_place place,
                               const yaml_char_t *tag)
{
    char brief[CDR_BRIEF_SIZE];
    return cdr_source_fail(in->builder->err, in->builder->document->name, place,
                           "tags are not read (%s); quote a value to make it text",
                           cdr_brief_text(brief, chars(tag), '\''));
}

static cadre_status on_scalar(reader *in, const yaml_event_t *event)
{
    cdr_scalar scalar = {
        .place = place_of(event->start_mark),
        .text = chars(event->data.scalar.value),
        .len = event->data.scalar.length,
        .anchor = chars(event->data.scalar.anchor),
        .is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
    };
    if (event->data.scalar.tag)
        return refuse_tag(in, scalar.place, event->data.scalar.tag);
    if (cdr_builder_wants_key(in->builder))
        return cdr_builder_key(in->builder, &scalar);
    json_t *value = scalar.is_plain ? cdr_yaml_scalar_read(scalar.text, scalar.len)
                                    : json_stringn(scalar.text, scalar.len);
    return cdr_builder_scalar_take(in->builder, value, &scalar);
}

static cadre_status on_sequence(reader *in, const yaml_event_t *event)
{
    cdr_place place = place_of(event->start_mark);
    if (event->data.sequence_start.tag)
        return refuse_tag(in, place, event->data.sequence_start.tag);
    if (cdr_builder_wants_key(in->builder))
        return fail_at(
            in, place,
            "a key must be a text, not an array; quote a text that starts with '['");
    return cdr_builder_begin_take(in->builder, json_array(), place,
                                  chars(event->data.sequence_start.anchor));
}

static cadre_status on_mapping(reader *in, const yaml_event_t *event)
{
    cdr_place place = place_of(event->start_mark);
    if (event->data.mapping_start.tag)
        return refuse_tag(in, place, event->data.mapping_start.tag);
    if (cdr_builder_wants_key(in->builder))
        return fail_at(in, place,
                       "a key must be a text, not an object; quote a text that starts "
                       "with '{'");
    return cdr_builder_begin_take(in->builder, json_object(), place,
                                  chars(event->data.mapping_start.anchor));
}

static cadre_status on_alias(reader *in, const yaml_event_t *event)
{
    cdr_place place = place_of(event->start_mark);
    if (cdr_builder_wants_key(in->builder))
        return fail_at(in, place, "a key must be a text, not an alias");
    return cdr_builder_alias(in->builder, chars(event->data.alias.anchor), place);
}

static cadre_status on_document(reader *in, const yaml_event_t *event)
{
    if (in->n_documents++ == 0)
        return CADRE_OK;
    return fail_at(in, place_of(event->start_mark),
                   "a second document starts here; a file holds one");
}

static cadre_status on_event(reader *in, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(in, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_sequence(in, event);
    case YAML_MAPPING_START_EVENT:
        return on_mapping(in, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return cdr_builder_end(in->builder);
    case YAML_ALIAS_EVENT:
        return on_alias(in, event);
    case YAML_DOCUMENT_START_EVENT:
        return on_document(in, event);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return CADRE_OK;
}

// The byte at a mark, which counts characters. NUL at the end of the text.
static char byte_at(const reader *in, size_t character)
{
    for (size_t i = 0; i < in->len; i++) {
        bool starts = ((unsigned char)in->text[i] & 0xC0) != 0x80;
        if (starts && character-- == 0)
            return in->text[i];
    }
    return '\0';
}

// What to do about a problem that libyaml states in the grammar's terms; NULL: it
// speaks for itself.
static const char *find_advice(const reader *in, const yaml_parser_t *parser)
{
    static const struct {
        const char *problem;
        const char *advice;
    } known[] = {
        {"mapping values are not allowed in this context",
         "quote a text that holds ': ', or check the indentation"},
        {"did not find expected key", "check the indentation and the quotes"},
        {"did not find expected '-' indicator", "check the indentation"},
        {"could not find expected ':'",
         "expected 'key: value'; check the indentation and the quotes"},
        {"found undefined tag handle", "quote a text that starts with '!'"},
        {"found invalid Unicode character escape code",
         "write the character itself, or \\U and 8 digits"},
        {"found unknown escape character",
         "in double quotes write \\\\ for \\, or use single quotes"},
    };
    if (strcmp(parser->problem, "found character that cannot start any token") == 0)
        return byte_at(in, parser->problem_mark.index) == '\t'
                   ? "a tab cannot indent; use spaces"
                   : "quote a text that starts with such a character";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(parser->problem, known[i].problem) == 0)
            return known[i].advice;
    }
    return NULL;
}

static cadre_status fail_parser(const reader *in, const yaml_parser_t *parser)
{
    const char *name = in->builder->document->name;
    if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
        return cadre_fail(in->builder->err, CADRE_ENOMEM,
                          "%s: no memory to read the file", name);
    if (parser->error == YAML_READER_ERROR) {
        // Only here libyaml gives no mark but a number of bytes.
        cdr_place place = {1, 1};
        size_t offset = parser->problem_offset;
        cdr_place_advance(&place, in->text, offset < in->len ? offset : in->len);
        return fail_at(in, place, parser->problem);
    }
    char context[120] = "";
    bool has_place = parser->context_mark.index != parser->problem_mark.index;
    if (parser->context && has_place)
        snprintf(context, sizeof context, " (%s that starts at line %zu)",
                 parser->context, parser->context_mark.line + 1);
    const char *advice = find_advice(in, parser);
    return cdr_source_fail(in->builder->err, name, place_of(parser->problem_mark),
                           "%s%s%s%s", parser->problem, context, advice ? ": " : "",
                           advice ? advice : "");
}

cadre_status cdr_yaml_read(cdr_builder *builder, const char *text, size_t len)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return cadre_fail(builder->err, CADRE_ENOMEM, "%s: no memory to read the file",
                          builder->document->name);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    reader in = {builder, text, len, 0};
    cadre_status status = CADRE_OK;
    bool at_end = false;
    while (status == CADRE_OK && !at_end) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = fail_parser(&in, &parser);
            break;
        }
        status = on_event(&in, &event);
        at_end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}
