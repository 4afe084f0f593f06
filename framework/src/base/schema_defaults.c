// Filling in what a value leaves to its schema's defaults.
#include "base/json_iterable.h"
#include "base/schema_walk.h"

static json_t *fill(const json_t *schema, const json_t *value, int depth);

static int add_missing(const json_t *schema, json_t *object, int depth)
{
    const char *key;
    json_t *property;
    json_t *properties = json_object_get(schema, "properties");
    json_object_foreach(properties, key, property)
    {
        const json_t *value = json_object_get(property, "default");
        if (!value || json_object_get(object, key))
            continue;
        if (json_object_set_new(object, key, fill(property, value, depth + 1)) != 0)
            return -1;
    }
    return 0;
}

static json_t *fill_object(const json_t *schema, const json_t *value, int depth)
{
    json_t *copy = json_object();
    const char *key;
    json_t *member;
    json_object_foreach(cdr_json_iterable(value), key, member)
    {
        json_t *filled = fill(cdr_schema_of_member(schema, key), member, depth + 1);
        // NULL goes on as a failure of the setter.
        if (json_object_set_new(copy, key, filled) != 0)
            goto failed;
    }
    if (add_missing(schema, copy, depth) != 0)
        goto failed;
    return copy;

failed:
    json_decref(copy);
    return NULL;
}

static json_t *fill_array(const json_t *schema, const json_t *value, int depth)
{
    const json_t *items = json_object_get(schema, "items");
    json_t *copy = json_array();
    size_t i;
    json_t *element;
    json_array_foreach(value, i, element)
    {
        if (json_array_append_new(copy, fill(items, element, depth + 1)) != 0) {
            json_decref(copy);
            return NULL;
        }
    }
    return copy;
}

static json_t *fill(const json_t *schema, const json_t *value, int depth)
{
    if (json_is_object(schema) && depth <= CDR_SCHEMA_MAX_DEPTH) {
        if (json_is_object(value))
            return fill_object(schema, value, depth);
        if (json_is_array(value))
            return fill_array(schema, value, depth);
    }
    return json_deep_copy(value);
}

json_t *cdr_schema_with_defaults(const json_t *schema, const json_t *value)
{
    return fill(schema, value, 0);
}
