// Values against schemas.
//
// 1. The walk follows the schema, so its depth and its cost are bounded by both the
//    schema and the value: each value is visited once.
// 2. At most one problem is reported for one value, the first of: the schema
//    false, enum, const, type, range or length. An object's members and an array's
//    elements are checked all the same.
#include "base/schema.h"

#include "base/json_iterable.h"
#include "base/schema_walk.h"

#include <math.h>
#include <string.h>

// An integer by its value: 3 and 3.0.
static bool is_integral(const json_t *value)
{
    double number = json_real_value(value);
    return json_is_integer(value) || (json_is_real(value) && floor(number) == number);
}

static bool has_type(const json_t *value, const char *type)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return strcmp(type, "object") == 0;
    case JSON_ARRAY:
        return strcmp(type, "array") == 0;
    case JSON_STRING:
        return strcmp(type, "string") == 0;
    case JSON_INTEGER:
    case JSON_REAL:
        return strcmp(type, "number") == 0 ||
               (strcmp(type, "integer") == 0 && is_integral(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return strcmp(type, "boolean") == 0;
    case JSON_NULL:
        return strcmp(type, "null") == 0;
    }
    return false;
}

// The entry of `type` that the value has; NULL: none.
static const char *matching_type(const json_t *type, const json_t *value)
{
    if (json_is_string(type))
        return has_type(value, json_string_value(type)) ? json_string_value(type)
                                                        : NULL;
    size_t i;
    json_t *name;
    json_array_foreach(type, i, name)
    {
        if (json_is_string(name) && has_type(value, json_string_value(name)))
            return json_string_value(name);
    }
    return NULL;
}

static int sign(bool is_below, bool is_above)
{
    return is_below ? -1 : is_above;
}

// Compares exactly: a double cannot hold every 64-bit integer.
static int compare_to_double(json_int_t integer, double number)
{
    if (number >= 0x1p63)
        return -1;
    if (number < -0x1p63)
        return 1;
    json_int_t whole = (json_int_t)number;
    if (integer != whole)
        return sign(integer<whole, integer> whole);
    double fraction = number - (double)whole;
    return sign(fraction > 0, fraction < 0);
}

static int compare_numbers(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b))
        return sign(json_integer_value(a) < json_integer_value(b),
                    json_integer_value(a) > json_integer_value(b));
    if (json_is_integer(a))
        return compare_to_double(json_integer_value(a), json_real_value(b));
    if (json_is_integer(b))
        return -compare_to_double(json_integer_value(b), json_real_value(a));
    return sign(json_real_value(a) < json_real_value(b),
                json_real_value(a) > json_real_value(b));
}

// In JSON Schema 1 and 1.0 are one value.
static bool is_equal(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return compare_numbers(a, b) == 0;
    return json_equal(a, b) == 1;
}

static bool is_in_range(const json_t *schema, const json_t *value)
{
    const json_t *minimum = json_object_get(schema, "minimum");
    const json_t *maximum = json_object_get(schema, "maximum");
    const json_t *above = json_object_get(schema, "exclusiveMinimum");
    const json_t *below = json_object_get(schema, "exclusiveMaximum");
    return (!json_is_number(minimum) || compare_numbers(value, minimum) >= 0) &&
           (!json_is_number(maximum) || compare_numbers(value, maximum) <= 0) &&
           (!json_is_number(above) || compare_numbers(value, above) > 0) &&
           (!json_is_number(below) || compare_numbers(value, below) < 0);
}

static bool is_length_allowed(const json_t *least, const json_t *most, size_t length)
{
    json_int_t n = (json_int_t)length;
    return (!json_is_integer(least) || n >= json_integer_value(least)) &&
           (!json_is_integer(most) || n <= json_integer_value(most));
}

// Lengths count characters, as the standard says, not bytes.
static size_t count_characters(const json_t *string)
{
    const char *text = json_string_value(string);
    size_t n = 0;
    for (size_t i = 0; i < json_string_length(string); i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

static void report_size(cdr_schema_walk *walk, const json_t *schema,
                        const cdr_schema_slot *slot, size_t length)
{
    const char *type = json_is_string(slot->value) ? "string" : "array";
    cdr_buf expected = CDR_BUF_INIT;
    cdr_schema_describe_type(&expected, walk->terms, schema, type);
    cdr_schema_walk_report(walk, slot, "expected %s, got %zu", cdr_buf_text(&expected),
                           length);
    cdr_buf_fini(&expected);
}

static void check_size(cdr_schema_walk *walk, const json_t *schema,
                       const cdr_schema_slot *slot)
{
    bool is_string = json_is_string(slot->value);
    const json_t *least = json_object_get(schema, is_string ? "minLength" : "minItems");
    const json_t *most = json_object_get(schema, is_string ? "maxLength" : "maxItems");
    if (!least && !most)
        return;
    size_t length =
        is_string ? count_characters(slot->value) : json_array_size(slot->value);
    if (!is_length_allowed(least, most, length))
        report_size(walk, schema, slot, length);
}

static void report_expected(cdr_schema_walk *walk, const cdr_schema_slot *slot,
                            const cdr_buf *expected)
{
    char got[CDR_BRIEF_SIZE];
    cdr_schema_walk_report(walk, slot, "expected %s, got %s", cdr_buf_text(expected),
                           cdr_schema_walk_brief(walk, got, slot->value));
}

static void report_type(cdr_schema_walk *walk, const json_t *schema,
                        const cdr_schema_slot *slot)
{
    cdr_buf expected = CDR_BUF_INIT;
    cdr_schema_describe(&expected, walk->terms, schema);
    report_expected(walk, slot, &expected);
    cdr_buf_fini(&expected);
}

static void check_range(cdr_schema_walk *walk, const json_t *schema,
                        const cdr_schema_slot *slot)
{
    if (is_in_range(schema, slot->value))
        return;
    const json_t *type = json_object_get(schema, "type");
    const char *matching = matching_type(type, slot->value);
    cdr_buf expected = CDR_BUF_INIT;
    cdr_schema_describe_type(&expected, walk->terms, schema,
                             matching ? matching : "number");
    report_expected(walk, slot, &expected);
    cdr_buf_fini(&expected);
}

static bool is_listed(const json_t *values, const json_t *value)
{
    size_t i;
    json_t *listed;
    json_array_foreach(values, i, listed)
    {
        if (is_equal(listed, value))
            return true;
    }
    return false;
}

static void report_enum(cdr_schema_walk *walk, const json_t *values,
                        const cdr_schema_slot *slot)
{
    char got[CDR_BRIEF_SIZE];
    char brief[CDR_BRIEF_SIZE];
    const char *nearest = NULL;
    if (json_is_string(slot->value))
        nearest = cdr_schema_walk_suggest(walk, json_string_value(slot->value), values);
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_append_text(&text, "expected one of: ");
    cdr_schema_describe_list(&text, values);
    cdr_buf_printf(&text, "; got %s", cdr_schema_walk_brief(walk, got, slot->value));
    if (nearest)
        cdr_buf_printf(&text, "; did you mean %s?",
                       cdr_brief_text(brief, nearest, '\''));
    cdr_schema_walk_report(walk, slot, "%s", cdr_buf_text(&text));
    cdr_buf_fini(&text);
}

// The kind of the value and the lists of allowed values. False: reported, and nothing
// more is to be said about this value itself.
static bool check_identity(cdr_schema_walk *walk, const json_t *schema,
                           const cdr_schema_slot *slot)
{
    const json_t *values = json_object_get(schema, "enum");
    if (json_is_array(values) && !is_listed(values, slot->value)) {
        report_enum(walk, values, slot);
        return false;
    }
    const json_t *only = json_object_get(schema, "const");
    if (only && !is_equal(only, slot->value)) {
        char brief[CDR_BRIEF_SIZE];
        cdr_buf expected = CDR_BUF_INIT;
        cdr_buf_append_text(&expected, cdr_schema_walk_brief(walk, brief, only));
        report_expected(walk, slot, &expected);
        cdr_buf_fini(&expected);
        return false;
    }
    const json_t *type = json_object_get(schema, "type");
    if (type && !matching_type(type, slot->value)) {
        report_type(walk, schema, slot);
        return false;
    }
    return true;
}

static void check_slot(cdr_schema_walk *walk, const json_t *schema,
                       const cdr_schema_slot *slot);

static void check_below(cdr_schema_walk *walk, const json_t *schema,
                        const cdr_schema_slot *slot)
{
    size_t path_len = cdr_schema_walk_enter(walk, slot);
    check_slot(walk, schema, slot);
    cdr_schema_walk_leave(walk, path_len);
}

static void report_unknown(cdr_schema_walk *walk, const json_t *properties,
                           const cdr_schema_slot *slot)
{
    char name[CDR_BRIEF_SIZE];
    char brief[CDR_BRIEF_SIZE];
    const char *member = walk->terms->member;
    cdr_brief_text(name, slot->key, '\'');
    const char *nearest = cdr_schema_walk_suggest(walk, slot->key, properties);
    if (nearest) {
        cdr_schema_walk_report_key(walk, slot, "unknown %s %s; did you mean %s?",
                                   member, name, cdr_brief_text(brief, nearest, '\''));
    } else if (json_object_size(properties) > 0) {
        cdr_buf known = CDR_BUF_INIT;
        cdr_schema_describe_list(&known, properties);
        cdr_schema_walk_report_key(walk, slot, "unknown %s %s (known: %s)", member,
                                   name, cdr_buf_text(&known));
        cdr_buf_fini(&known);
    } else {
        cdr_schema_walk_report_key(walk, slot, "unknown %s %s", member, name);
    }
}

static void check_required(cdr_schema_walk *walk, const json_t *schema,
                           const cdr_schema_slot *slot)
{
    char brief[CDR_BRIEF_SIZE];
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(schema, "required"), i, name)
    {
        const char *key = json_string_value(name);
        if (key && !json_object_get(slot->value, key))
            cdr_schema_walk_report(walk, slot, "missing %s %s", walk->terms->member,
                                   cdr_brief_text(brief, key, '\''));
    }
}

static void check_object(cdr_schema_walk *walk, const json_t *schema,
                         const cdr_schema_slot *slot)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *value;
    check_required(walk, schema, slot);
    json_object_foreach(cdr_json_iterable(slot->value), key, value)
    {
        cdr_schema_slot member = {value, slot->value, key, 0};
        const json_t *property = cdr_schema_of_member(schema, key);
        if (property == others && json_is_false(others) &&
            !json_object_get(properties, key))
            report_unknown(walk, properties, &member);
        else if (property)
            check_below(walk, property, &member);
    }
}

static void check_array(cdr_schema_walk *walk, const json_t *schema,
                        const cdr_schema_slot *slot)
{
    const json_t *items = json_object_get(schema, "items");
    if (!items)
        return;
    for (size_t i = 0; i < json_array_size(slot->value); i++) {
        cdr_schema_slot element = cdr_schema_element(slot->value, i);
        check_below(walk, items, &element);
    }
}

static void check_slot(cdr_schema_walk *walk, const json_t *schema,
                       const cdr_schema_slot *slot)
{
    if (walk->depth > CDR_SCHEMA_MAX_DEPTH) {
        cdr_schema_walk_report(walk, slot, "nested deeper than %d",
                               CDR_SCHEMA_MAX_DEPTH);
        return;
    }
    if (json_is_false(schema)) {
        cdr_schema_walk_report(walk, slot, "is not allowed here");
        return;
    }
    bool is_sound = check_identity(walk, schema, slot);
    if (json_is_object(slot->value)) {
        check_object(walk, schema, slot);
    } else if (json_is_array(slot->value)) {
        check_array(walk, schema, slot);
        if (is_sound)
            check_size(walk, schema, slot);
    } else if (json_is_string(slot->value) && is_sound) {
        check_size(walk, schema, slot);
    } else if (json_is_number(slot->value) && is_sound) {
        check_range(walk, schema, slot);
    }
}

int cdr_schema_check(const json_t *schema, const json_t *value,
                     cdr_schema_on_problem on_problem, void *ctx)
{
    return cdr_schema_check_in(NULL, schema, value, on_problem, ctx);
}

int cdr_schema_check_in(const cdr_schema_terms *terms, const json_t *schema,
                        const json_t *value, cdr_schema_on_problem on_problem,
                        void *ctx)
{
    cdr_schema_walk walk;
    cdr_schema_walk_init(&walk, on_problem, ctx);
    walk.terms = terms ? terms : walk.terms;
    cdr_schema_slot root = {value, NULL, NULL, 0};
    check_slot(&walk, schema, &root);
    cdr_schema_walk_fini(&walk);
    return walk.n_problems;
}

typedef struct problem_list {
    cdr_buf text;
    int n_left_out;
} problem_list;

// Leaves room in a cadre_error's text for the count of what was left out.
#define MAX_LIST_BYTES 460

static void list_problem(void *ctx, const cdr_schema_problem *problem)
{
    problem_list *list = ctx;
    size_t added = strlen(problem->path) + strlen(problem->text) + strlen("; : ");
    if (list->n_left_out > 0 ||
        (list->text.len > 0 && list->text.len + added > MAX_LIST_BYTES)) {
        list->n_left_out++;
        return;
    }
    cdr_buf_printf(&list->text, "%s%s%s%s", list->text.len > 0 ? "; " : "",
                   problem->path, *problem->path ? ": " : "", problem->text);
}

cadre_status cdr_schema_check_text(const json_t *schema, const json_t *value,
                                   cadre_error *err)
{
    problem_list list = {CDR_BUF_INIT, 0};
    int n_problems = cdr_schema_check(schema, value, list_problem, &list);
    if (list.n_left_out > 0)
        cdr_buf_printf(&list.text, "; and %d more", list.n_left_out);
    cadre_status status = CADRE_OK;
    if (list.text.failed)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory to check a value");
    else if (n_problems > 0)
        status = cadre_fail(err, CADRE_EINVAL, "%s", cdr_buf_text(&list.text));
    cdr_buf_fini(&list.text);
    return status;
}
