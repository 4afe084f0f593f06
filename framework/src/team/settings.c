// Settings: checked by their schema and converted.
//
// 1. The schema check and the conversion report each mistake once: the conversion looks
//    only at values of the right type.
// 2. What is read is a copy; the value that was given is never changed.
#include "team/settings.h"

#include "cadre/error.h"

#include "base/brief.h"
#include "base/json_iterable.h"
#include "base/json_text.h"
#include "base/schema_walk.h"
#include "base/units.h"
#include "team/environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_HINT 80
#define BLANKS " \t,"

typedef struct conversion {
    const cdr_settings_reader *reader;
    cdr_schema_walk walk;
    bool no_memory;
} conversion;

static bool is_format(const json_t *schema, const char *format)
{
    const char *given = json_string_value(json_object_get(schema, "format"));
    return given && strcmp(given, format) == 0;
}

static bool is_file(const cdr_settings_reader *reader)
{
    return reader->writes == CDR_WRITES_YAML_FILE ||
           reader->writes == CDR_WRITES_JSON_FILE;
}

static const cdr_schema_terms *terms_of(const cdr_settings_reader *reader)
{
    static const cdr_schema_terms json = {"object", "array", "key"};
    static const cdr_schema_terms yaml = {"mapping", "list", "key"};
    return reader->writes == CDR_WRITES_YAML_FILE ? &yaml : &json;
}

static json_t *convert(conversion *c, const json_t *schema,
                       const cdr_schema_slot *slot);

static json_t *convert_below(conversion *c, const json_t *schema,
                             const cdr_schema_slot *slot)
{
    cdr_schema_walk_enter(&c->walk, slot);
    json_t *converted = convert(c, schema, slot);
    cdr_schema_walk_leave(&c->walk);
    return converted;
}

static json_t *convert_object(conversion *c, const json_t *schema, const json_t *object)
{
    json_t *converted = json_object();
    const char *key;
    json_t *value;
    json_object_foreach(cdr_json_iterable(object), key, value)
    {
        cdr_schema_slot slot = {value, object, key, 0};
        json_t *member = convert_below(c, cdr_schema_of_member(schema, key), &slot);
        if (member && json_object_set_new(converted, key, member) != 0)
            c->no_memory = true;
    }
    c->no_memory |= !converted;
    return converted;
}

// What cannot be converted becomes null, so that the others keep their places.
static json_t *convert_array(conversion *c, const json_t *schema, const json_t *array)
{
    json_t *converted = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        cdr_schema_slot slot = cdr_schema_element(array, i);
        json_t *item = convert_below(c, json_object_get(schema, "items"), &slot);
        if (json_array_append_new(converted, item ? item : json_null()) != 0)
            c->no_memory = true;
    }
    c->no_memory |= !converted;
    return converted;
}

// None at all, with or without a unit, where there must be some: a unit would not help.
static bool is_wrong_zero(const json_t *schema, const json_t *value)
{
    const char *text = json_string_value(value);
    if (json_integer_value(json_object_get(schema, "minimum")) < 1)
        return false;
    return text == NULL ? json_integer_value(value) == 0 : cdr_is_zero_quantity(text);
}

static void report_zero(conversion *c, const json_t *schema,
                        const cdr_schema_slot *slot)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_schema_walk_report(&c->walk, slot,
                           "write a %s above 0, or leave it out; got %s",
                           json_string_value(json_object_get(schema, "format")),
                           cdr_brief_json(brief, slot->value));
}

static bool is_unlimited(const json_t *value)
{
    return json_is_string(value) && strcmp(json_string_value(value), "unlimited") == 0;
}

// What to write for no limit, where there is no word for it.
static const char *advice_on_limits(const json_t *value)
{
    return is_unlimited(value) ? "; leave it out for no limit" : "";
}

// A bound of a quantity in its unit.
static const char *bound_text(const json_t *schema, const json_t *bound,
                              char text[CDR_DURATION_TEXT_SIZE])
{
    int64_t number = json_integer_value(bound);
    if (!is_format(schema, "size"))
        return cdr_duration_text(number, text);
    (void)snprintf(text, CDR_DURATION_TEXT_SIZE, "%" PRId64 "B", number);
    return text;
}

// A quantity as people wrote it: its bounds count milliseconds or bytes, which the
// schema check cannot see in a text.
static bool is_within(conversion *c, const json_t *schema, const cdr_schema_slot *slot,
                      int64_t number)
{
    const json_t *minimum = json_object_get(schema, "minimum");
    const json_t *maximum = json_object_get(schema, "maximum");
    const char *side = "least";
    const json_t *bound = NULL;
    char brief[CDR_BRIEF_SIZE], text[CDR_DURATION_TEXT_SIZE];
    if (json_is_integer(minimum) && number < json_integer_value(minimum)) {
        bound = minimum;
    } else if (json_is_integer(maximum) && number > json_integer_value(maximum)) {
        bound = maximum;
        side = "most";
    }
    if (bound != NULL)
        cdr_schema_walk_report(&c->walk, slot, "expected at %s %s, got %s", side,
                               bound_text(schema, bound, text),
                               cdr_brief_json(brief, slot->value));
    return bound == NULL;
}

// NULL stands for a mistake that was told; no memory is something else.
static json_t *kept(conversion *c, json_t *converted)
{
    c->no_memory |= !converted;
    return converted;
}

typedef cadre_status (*parse_quantity)(const char *text, int64_t *out,
                                       cadre_error *err);

static json_t *convert_quantity(conversion *c, const json_t *schema,
                                const cdr_schema_slot *slot, parse_quantity parse)
{
    cadre_error err = CADRE_ERROR_INIT;
    int64_t number = json_integer_value(slot->value);
    if (is_wrong_zero(schema, slot->value)) {
        report_zero(c, schema, slot);
        return NULL;
    }
    if (json_is_string(slot->value) &&
        parse(json_string_value(slot->value), &number, &err) != CADRE_OK) {
        cdr_schema_walk_report(&c->walk, slot, "%s%s", err.text,
                               advice_on_limits(slot->value));
        return NULL;
    }
    return is_within(c, schema, slot, number) ? kept(c, json_integer(number)) : NULL;
}

static bool is_in_range(const json_t *schema, double number)
{
    return number >= json_number_value(json_object_get(schema, "minimum")) &&
           number <= json_number_value(json_object_get(schema, "maximum"));
}

static json_t *convert_dollars(conversion *c, const json_t *schema,
                               const cdr_schema_slot *slot)
{
    cadre_error err = CADRE_ERROR_INIT;
    int64_t micros = 0;
    if (!is_in_range(schema, json_number_value(slot->value)))
        return NULL;
    if (cdr_dollars_micros(json_number_value(slot->value), &micros, &err) == CADRE_OK)
        return kept(c, json_integer(micros));
    cdr_schema_walk_report(&c->walk, slot, "%s", err.text);
    return NULL;
}

static json_t *convert_limit(conversion *c, const json_t *schema,
                             const cdr_schema_slot *slot)
{
    if (is_unlimited(slot->value))
        return kept(c, json_integer(CADRE_UNLIMITED));
    char brief[CDR_BRIEF_SIZE];
    cdr_buf expected = CDR_BUF_INIT;
    cdr_schema_describe(&expected, c->walk.terms, schema);
    cdr_schema_walk_report(&c->walk, slot, "expected %s, got %s",
                           cdr_buf_text(&expected), cdr_brief_json(brief, slot->value));
    cdr_buf_fini(&expected);
    return NULL;
}

static json_t *convert_text(conversion *c, const cdr_schema_slot *slot, bool is_path)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_buf expanded = CDR_BUF_INIT;
    cdr_buf resolved = CDR_BUF_INIT;
    cdr_buf *text = is_path ? &resolved : &expanded;
    cadre_status status =
        cdr_environment_expand(json_string_value(slot->value), &expanded, &err);
    if (status == CADRE_OK && is_path)
        status = cdr_path_resolve(c->reader->directory, cdr_buf_text(&expanded),
                                  &resolved, &err);
    json_t *converted = NULL;
    if (status == CADRE_OK)
        converted = kept(c, json_string(cdr_buf_text(text)));
    else
        cdr_schema_walk_report(&c->walk, slot, "%s", err.text);
    c->no_memory |= expanded.failed || resolved.failed;
    cdr_buf_fini(&expanded);
    cdr_buf_fini(&resolved);
    return converted;
}

static json_t *convert_scalar(conversion *c, const json_t *schema,
                              const cdr_schema_slot *slot)
{
    bool is_text = json_is_string(slot->value);
    bool is_quantity = is_text || (json_is_integer(slot->value) && !is_file(c->reader));
    if (is_quantity && is_format(schema, "duration"))
        return convert_quantity(c, schema, slot, cdr_parse_duration_ms);
    if (is_quantity && is_format(schema, "size"))
        return convert_quantity(c, schema, slot, cdr_parse_size);
    if (is_text && is_format(schema, "limit"))
        return convert_limit(c, schema, slot);
    if (json_is_number(slot->value) && is_format(schema, "usd"))
        return convert_dollars(c, schema, slot);
    // Texts of a C program mean what they say.
    if (is_text && is_file(c->reader) && is_format(schema, "path"))
        return convert_text(c, slot, true);
    if (is_text && is_file(c->reader) && json_is_true(json_object_get(schema, "x-env")))
        return convert_text(c, slot, false);
    return kept(c, json_deep_copy(slot->value));
}

static json_t *convert(conversion *c, const json_t *schema, const cdr_schema_slot *slot)
{
    if (json_is_object(slot->value))
        return convert_object(c, schema, slot->value);
    if (json_is_array(slot->value))
        return convert_array(c, schema, slot->value);
    return convert_scalar(c, schema, slot);
}

// The schema at a path as problems name it; NULL when it cannot be found (a key with a
// dot in it). For advice only.
static const json_t *schema_at(const json_t *schema, const char *path)
{
    while (schema && *path) {
        char key[CDR_BRIEF_SIZE];
        if (*path == '[') {
            schema = json_object_get(schema, "items");
            path += strcspn(path, "]");
            path += *path == ']';
        } else {
            size_t len = strcspn(path, ".[");
            if (len >= sizeof(key))
                return NULL;
            memcpy(key, path, len);
            key[len] = '\0';
            schema = cdr_schema_of_member(schema, key);
            path += len;
        }
        path += *path == '.';
    }
    return schema;
}

// Texts without anything that quotes or either syntax would change.
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_./=+-" BLANKS;
    return strlen(text) <= MAX_HINT && !text[strspn(text, letters)];
}

// Shows how a list is written to who gave its words as one text.
static void append_list(cdr_buf *out, const cdr_settings_reader *reader,
                        const char *text)
{
    const char *quote = reader->writes == CDR_WRITES_JSON_FILE ? "\"" : "";
    const char *comma = "";
    if (!is_plain(text) || !text[strspn(text, BLANKS)])
        return;
    cdr_buf_append_text(out, "; write [");
    for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
        size_t len = strcspn(text, BLANKS);
        cdr_buf_printf(out, "%s%s%.*s%s", comma, quote, (int)len, text, quote);
        comma = ", ";
        text += len;
    }
    cdr_buf_append_text(out, "]");
}

static bool is_list_of_texts(const json_t *schema)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    const json_t *items = json_object_get(schema, "items");
    const char *item = json_string_value(json_object_get(items, "type"));
    return type && item && strcmp(type, "array") == 0 && strcmp(item, "string") == 0;
}

// What to write instead.
static void append_advice(cdr_buf *out, const cdr_settings_reader *reader,
                          const json_t *schema, const json_t *value)
{
    bool is_struct = reader->writes == CDR_WRITES_C;
    if (is_format(schema, "limit") && json_is_integer(value))
        cdr_buf_append_text(out, is_struct ? " (CADRE_UNLIMITED for no limit)"
                                           : "; write 'unlimited' for no limit");
    else if (is_file(reader) && json_is_string(value) && is_list_of_texts(schema))
        append_list(out, reader, json_string_value(value));
    else if (!is_format(schema, "duration") && !is_format(schema, "size"))
        cdr_buf_append_text(out, advice_on_limits(value));
}

// A text in a pattern's place: who reads it says in words what is expected.
static bool is_told_in_words(const json_t *schema, const json_t *value)
{
    return json_is_string(value) &&
           (is_format(schema, "limit") || is_format(schema, "model"));
}

static void on_check_problem(void *ctx, const cdr_schema_problem *problem)
{
    const cdr_settings_reader *reader = ctx;
    if (problem->is_key && strncmp(problem->key, "x-", 2) == 0)
        return;
    const json_t *schema = schema_at(reader->schema, problem->path);
    bool is_quantity = is_format(schema, "duration") || is_format(schema, "size");
    if (is_quantity && !is_file(reader) && json_is_integer(problem->value))
        return;
    if (!problem->is_key && is_told_in_words(schema, problem->value))
        return;
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_append_text(&text, problem->text);
    if (!problem->is_key)
        append_advice(&text, reader, schema, problem->value);
    cdr_schema_problem told = *problem;
    told.text = text.failed ? problem->text : cdr_buf_text(&text);
    if (reader->on_problem)
        reader->on_problem(reader->ctx, &told);
    cdr_buf_fini(&text);
}

json_t *cdr_settings_read(const cdr_settings_reader *reader, const json_t *value)
{
    cdr_settings_reader own = *reader;
    cdr_schema_check_in(terms_of(reader), reader->schema, value, on_check_problem,
                        &own);
    conversion c = {.reader = reader};
    cdr_schema_walk_init(&c.walk, reader->on_problem, reader->ctx);
    c.walk.terms = terms_of(reader);
    cdr_schema_slot root = {value, NULL, NULL, 0};
    json_t *converted = convert(&c, reader->schema, &root);
    cdr_schema_walk_fini(&c.walk);
    if (c.no_memory) {
        json_decref(converted);
        return NULL;
    }
    return converted;
}

json_t *cdr_settings_complete(const json_t *schema, const json_t *value)
{
    json_t *completed = cdr_schema_with_defaults(schema, value);
    if (!completed)
        return NULL;
    cdr_settings_reader reader = {.schema = schema, .directory = "."};
    conversion c = {.reader = &reader};
    cdr_schema_walk_init(&c.walk, NULL, NULL);
    cdr_schema_slot root = {completed, NULL, NULL, 0};
    json_t *converted = convert(&c, schema, &root);
    cdr_schema_walk_fini(&c.walk);
    json_decref(completed);
    if (c.no_memory) {
        json_decref(converted);
        return NULL;
    }
    return converted;
}

json_t *cdr_settings_schema(const char *properties, cadre_error *err)
{
    const char *text = properties ? properties : "{}";
    json_t *parsed = cdr_json_parse(text, strlen(text), err);
    if (!parsed)
        return NULL;
    json_t *schema =
        json_pack("{s:s, s:O, s:b, s:{s:b}}", "type", "object", "properties", parsed,
                  "additionalProperties", 0, "patternProperties", "^x-", 1);
    json_decref(parsed);
    if (!schema)
        cadre_fail(err, CADRE_ENOMEM, "no memory for a schema");
    return schema;
}
