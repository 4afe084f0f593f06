// Schemas in words: what a message says after "expected".
#include "base/schema_walk.h"

#include "base/json_iterable.h"
#include "base/json_number.h"

#include <string.h>

#define MAX_LISTED 16

static void append_number(cdr_buf *text, const json_t *number)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_buf_append_text(text, cdr_brief_json(brief, number));
}

// `from 1 to 100`, `above 0`, `of at least 1 and below 5`.
static void describe_range(cdr_buf *text, const json_t *schema)
{
    const json_t *minimum = json_object_get(schema, "minimum");
    const json_t *maximum = json_object_get(schema, "maximum");
    const json_t *above = json_object_get(schema, "exclusiveMinimum");
    const json_t *below = json_object_get(schema, "exclusiveMaximum");
    if (json_is_true(above)) { // as draft 4 has it
        above = minimum;
        minimum = NULL;
    }
    if (json_is_true(below)) {
        below = maximum;
        maximum = NULL;
    }
    if (json_is_number(minimum) && json_is_number(maximum)) {
        cdr_buf_append_text(text, " from ");
        append_number(text, minimum);
        cdr_buf_append_text(text, " to ");
        append_number(text, maximum);
        minimum = NULL;
        maximum = NULL;
    }
    const struct {
        const char *words;
        const json_t *bound;
    } bounds[] = {
        {" of at least ", minimum},
        {" of at most ", maximum},
        {" above ", above},
        {" below ", below},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        if (json_is_number(bounds[i].bound)) {
            cdr_buf_append_text(text, bounds[i].words);
            append_number(text, bounds[i].bound);
        }
    }
}

typedef struct length_words {
    const char *least;
    const char *most;
    const char *one, *many; // of what
} length_words;

// `of 1 to 64 characters`, `of at least 1 element`.
static void describe_length(cdr_buf *text, const json_t *schema,
                            const length_words *words)
{
    int64_t least = 0;
    int64_t most = 0;
    bool has_least = cdr_json_count(json_object_get(schema, words->least), &least);
    bool has_most = cdr_json_count(json_object_get(schema, words->most), &most);
    int64_t last = has_most ? most : least;
    if (!has_least && !has_most)
        return;
    if (!has_least)
        cdr_buf_append_text(text, " of at most ");
    else if (!has_most)
        cdr_buf_append_text(text, " of at least ");
    else if (least == most)
        cdr_buf_append_text(text, " of exactly ");
    else
        cdr_buf_printf(text, " of %lld to ", (long long)least);
    cdr_buf_printf(text, "%lld %s", (long long)last,
                   last == 1 ? words->one : words->many);
}

const char *cdr_schema_article(const char *noun)
{
    return *noun && strchr("aeiou", *noun) ? "an" : "a";
}

static void append_noun(cdr_buf *text, const char *noun)
{
    cdr_buf_printf(text, "%s %s", cdr_schema_article(noun), noun);
}

void cdr_schema_describe_type(cdr_buf *text, const cdr_schema_terms *terms,
                              const json_t *schema, const char *type)
{
    static const length_words string_length = {"minLength", "maxLength", "character",
                                               "characters"};
    static const length_words array_length = {"minItems", "maxItems", "element",
                                              "elements"};
    static const length_words object_size = {"minProperties", "maxProperties", "member",
                                             "members"};
    if (strcmp(type, "boolean") == 0) {
        cdr_buf_append_text(text, "true or false");
    } else if (strcmp(type, "null") == 0) {
        cdr_buf_append_text(text, "null");
    } else if (strcmp(type, "object") == 0) {
        append_noun(text, terms->object);
        describe_length(text, schema, &object_size);
    } else if (strcmp(type, "array") == 0) {
        append_noun(text, terms->array);
        describe_length(text, schema, &array_length);
    } else if (strcmp(type, "string") == 0) {
        cdr_buf_append_text(text, "a string");
        describe_length(text, schema, &string_length);
    } else {
        bool is_integer = strcmp(type, "integer") == 0;
        cdr_buf_append_text(text, is_integer ? "an integer" : "a number");
        describe_range(text, schema);
    }
}

// A number, or one word that stands for none: other texts are no choice.
static bool is_limit(const json_t *schema)
{
    const char *format = json_string_value(json_object_get(schema, "format"));
    return format && strcmp(format, "limit") == 0;
}

void cdr_schema_describe(cdr_buf *text, const cdr_schema_terms *terms,
                         const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    if (is_limit(schema)) {
        cdr_schema_describe_type(text, terms, schema, "integer");
        cdr_buf_append_text(text, " or 'unlimited'");
        return;
    }
    if (json_is_string(type))
        cdr_schema_describe_type(text, terms, schema, json_string_value(type));
    size_t i;
    json_t *name;
    json_array_foreach(type, i, name)
    {
        bool is_last = i + 1 == json_array_size(type);
        if (i > 0)
            cdr_buf_append_text(text, is_last ? " or " : ", ");
        if (json_is_string(name))
            cdr_schema_describe_type(text, terms, schema, json_string_value(name));
    }
}

// One entry of a list. False: the list is full, which the text now says.
static bool append_listed(cdr_buf *text, size_t position, const char *entry)
{
    if (position > 0)
        cdr_buf_append_text(text, ", ");
    cdr_buf_append_text(text, position < MAX_LISTED ? entry : "...");
    return position < MAX_LISTED;
}

void cdr_schema_describe_list(cdr_buf *text, const json_t *list)
{
    char brief[CDR_BRIEF_SIZE];
    size_t position = 0;
    const char *key;
    json_t *value;
    json_object_foreach(cdr_json_iterable(list), key, value)
    {
        if (!append_listed(text, position++, cdr_brief_text(brief, key, '\0')))
            return;
    }
    size_t i;
    json_array_foreach(list, i, value)
    {
        if (json_is_string(value))
            cdr_brief_text(brief, json_string_value(value), '\0');
        else
            cdr_brief_json(brief, value);
        if (!append_listed(text, i, brief))
            return;
    }
}
