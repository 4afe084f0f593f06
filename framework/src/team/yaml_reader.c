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
    size_t cursor;       // into `text`, where the last literal block started
    size_t n_characters; // before it
    int n_documents;
    bool at_end; // nothing more is read
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

// What was met, without what only scalars have. Of a tag the text says that it is not
// read; what follows it is.
static cdr_scalar meet(reader *in, const yaml_event_t *event, const yaml_char_t *anchor,
                       const yaml_char_t *tag)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_place place = place_of(event->start_mark);
    if (tag)
        cdr_document_tell(in->builder->document, place,
                          "tags are not read (%s); quote a value to make it text",
                          cdr_brief_text(brief, chars(tag), '\''));
    return (cdr_scalar){
        .place = place,
        .anchor = chars(anchor),
        .is_doubtful = tag != NULL,
    };
}

// Moves the cursor on to a mark; those of events come in the order of the text.
static const char *seek(reader *in, yaml_mark_t mark)
{
    while (in->cursor < in->len && in->n_characters < mark.index) {
        in->cursor++;
        while (in->cursor < in->len &&
               ((unsigned char)in->text[in->cursor] & 0xC0) == 0x80)
            in->cursor++;
        in->n_characters++;
    }
    return in->text + in->cursor;
}

// Where the text of a literal block starts: on the line after its `|`. How far it is
// indented shows at the first line that has more than blanks in it. Line 0: there is
// none, or an anchor or a tag stands before the `|`, on another line perhaps.
static cdr_place find_block_text(reader *in, const yaml_event_t *event)
{
    const char *read = chars(event->data.scalar.value);
    const char *end = in->text + in->len;
    const char *at = seek(in, event->start_mark);
    read += strspn(read, " \r\n");
    size_t n_read_blanks = 0;
    for (; read > chars(event->data.scalar.value) && read[-1] == ' '; read--)
        n_read_blanks++;
    size_t n_blanks = 0;
    while (at < end && *at != '\n' && *at != '\r')
        at++;
    for (; at < end && strchr(" \r\n", *at); at++)
        n_blanks = *at == ' ' ? n_blanks + 1 : 0;
    if (!*read || at == end || n_blanks < n_read_blanks)
        return (cdr_place){0, 0};
    return (cdr_place){(int)event->start_mark.line + 2,
                       (int)(n_blanks - n_read_blanks) + 1};
}

static cadre_status on_scalar(reader *in, const yaml_event_t *event)
{
    cdr_scalar scalar =
        meet(in, event, event->data.scalar.anchor, event->data.scalar.tag);
    scalar.text = chars(event->data.scalar.value);
    scalar.len = event->data.scalar.length;
    scalar.is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (cdr_builder_wants_key(in->builder))
        return cdr_builder_key(in->builder, &scalar);
    if (event->data.scalar.style == YAML_LITERAL_SCALAR_STYLE && !scalar.anchor &&
        !event->data.scalar.tag)
        scalar.text_place = find_block_text(in, event);
    json_t *value = scalar.is_plain ? cdr_yaml_scalar_read(scalar.text, scalar.len)
                                    : json_stringn(scalar.text, scalar.len);
    return cdr_builder_scalar_take(in->builder, value, &scalar);
}

static cadre_status on_sequence(reader *in, const yaml_event_t *event)
{
    cdr_scalar scalar = meet(in, event, event->data.sequence_start.anchor,
                             event->data.sequence_start.tag);
    if (cdr_builder_wants_key(in->builder))
        cdr_builder_refuse_key(
            in->builder, scalar.place,
            "a key must be a text, not a list; quote a text that starts with '['");
    return cdr_builder_begin_take(in->builder, json_array(), &scalar);
}

static cadre_status on_mapping(reader *in, const yaml_event_t *event)
{
    cdr_scalar scalar = meet(in, event, event->data.mapping_start.anchor,
                             event->data.mapping_start.tag);
    if (cdr_builder_wants_key(in->builder))
        cdr_builder_refuse_key(
            in->builder, scalar.place,
            "a key must be a text, not a mapping; quote a text that starts with '{'");
    return cdr_builder_begin_take(in->builder, json_object(), &scalar);
}

static cadre_status on_alias(reader *in, const yaml_event_t *event)
{
    cdr_place place = place_of(event->start_mark);
    if (cdr_builder_wants_key(in->builder))
        cdr_builder_refuse_key(in->builder, place,
                               "a key must be a text, not an alias");
    return cdr_builder_alias(in->builder, chars(event->data.alias.anchor), place);
}

static cadre_status on_document(reader *in, const yaml_event_t *event)
{
    if (in->n_documents++ > 0) {
        cdr_document_tell(in->builder->document, place_of(event->start_mark),
                          "a second document starts here; a file holds one");
        in->at_end = true;
    }
    return CADRE_OK;
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
    case YAML_DOCUMENT_END_EVENT:
        break;
    case YAML_STREAM_END_EVENT:
        in->at_end = true;
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
    cdr_document *document = in->builder->document;
    if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
        return CADRE_ENOMEM;
    if (parser->error == YAML_READER_ERROR) {
        // Only here libyaml gives no mark but a number of bytes.
        cdr_place place = {1, 1};
        size_t offset = parser->problem_offset;
        cdr_place_advance(&place, in->text, offset < in->len ? offset : in->len);
        return cdr_document_refuse(document, place, "%s", parser->problem);
    }
    char context[120] = "";
    bool has_place = parser->context_mark.index != parser->problem_mark.index;
    if (parser->context && has_place)
        snprintf(context, sizeof context, " (%s that starts at line %zu)",
                 parser->context, parser->context_mark.line + 1);
    const char *advice = find_advice(in, parser);
    return cdr_document_refuse(document, place_of(parser->problem_mark), "%s%s%s%s",
                               parser->problem, context, advice ? ": " : "",
                               advice ? advice : "");
}

cadre_status cdr_yaml_read(cdr_builder *builder, const char *text, size_t len)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return CADRE_ENOMEM;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    reader in = {.builder = builder, .text = text, .len = len};
    cadre_status status = CADRE_OK;
    while (status == CADRE_OK && !in.at_end) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = fail_parser(&in, &parser);
            break;
        }
        status = on_event(&in, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}
