// Plain scalars where a schema wants text: taken as they were written.
#include "team/document.h"

#include "base/schema_walk.h"

#include <string.h>

static bool has_name(const json_t *type, const char *name)
{
    if (json_is_string(type))
        return strcmp(json_string_value(type), name) == 0;
    size_t i;
    json_t *entry;
    json_array_foreach(type, i, entry)
    {
        if (json_is_string(entry) && strcmp(json_string_value(entry), name) == 0)
            return true;
    }
    return false;
}

// Does the schema take what the scalar was read as?
static bool takes_as_read(const json_t *type, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_TRUE:
    case JSON_FALSE:
        return has_name(type, "boolean");
    case JSON_INTEGER:
        return has_name(type, "integer") || has_name(type, "number");
    case JSON_REAL:
        return has_name(type, "number");
    case JSON_NULL:
        return has_name(type, "null");
    case JSON_STRING:
    case JSON_OBJECT:
    case JSON_ARRAY:
        break;
    }
    return true;
}

// Where only some words are taken, another scalar stays the number it is: so it
// is told.
static bool takes_text(const json_t *schema, const char *text)
{
    const char *format = json_string_value(json_object_get(schema, "format"));
    const json_t *words = json_object_get(schema, "enum");
    size_t i;
    json_t *word;
    json_array_foreach(words, i, word)
    {
        if (json_is_string(word) && strcmp(json_string_value(word), text) == 0)
            return true;
    }
    return !words && !(format && strcmp(format, "limit") == 0);
}

// The text that a scalar is to become; NULL: it stays what it is.
static const char *wanted_text(const json_t *schema, const json_t *value,
                               const cdr_slot *slot)
{
    const json_t *type = json_object_get(schema, "type");
    if (!slot || !slot->is_plain || !*slot->text)
        return NULL;
    if (!has_name(type, "string") || takes_as_read(type, value))
        return NULL;
    return takes_text(schema, slot->text) ? slot->text : NULL;
}

static cadre_status fail_memory(const cdr_document *document, cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "%s: no memory to read the file",
                      document->name);
}

static cadre_status settle(cdr_document *document, json_t *container,
                           const json_t *schema, cadre_error *err);

static bool is_container(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

static cadre_status settle_members(cdr_document *document, json_t *object,
                                   const json_t *schema, cadre_error *err)
{
    const cdr_container *places = cdr_document_find(document, object);
    cadre_status status = CADRE_OK;
    void *at = json_object_iter(object);
    for (; at && status == CADRE_OK; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        json_t *value = json_object_iter_value(at);
        const json_t *property = cdr_schema_of_member(schema, key);
        const cdr_slot *slot = places ? cdr_container_find(places, key) : NULL;
        if (is_container(value)) {
            status = settle(document, value, property, err);
            continue;
        }
        const char *text = wanted_text(property, value, slot);
        if (text && json_object_iter_set_new(object, at, json_string(text)) != 0)
            status = fail_memory(document, err);
    }
    return status;
}

static cadre_status settle_elements(cdr_document *document, json_t *array,
                                    const json_t *schema, cadre_error *err)
{
    const cdr_container *places = cdr_document_find(document, array);
    const json_t *items = json_object_get(schema, "items");
    size_t n_elements = items ? json_array_size(array) : 0;
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < n_elements && status == CADRE_OK; i++) {
        json_t *value = json_array_get(array, i);
        const cdr_slot *slot = places && i < places->n_slots ? &places->slots[i] : NULL;
        if (is_container(value)) {
            status = settle(document, value, items, err);
            continue;
        }
        const char *text = wanted_text(items, value, slot);
        if (text && json_array_set_new(array, i, json_string(text)) != 0)
            status = fail_memory(document, err);
    }
    return status;
}

static cadre_status settle(cdr_document *document, json_t *container,
                           const json_t *schema, cadre_error *err)
{
    if (!json_is_object(schema))
        return CADRE_OK;
    return json_is_object(container)
               ? settle_members(document, container, schema, err)
               : settle_elements(document, container, schema, err);
}

cadre_status cdr_document_settle_text(cdr_document *document, json_t *container,
                                      const json_t *schema, cadre_error *err)
{
    // JSON says what is text.
    return document->is_json ? CADRE_OK : settle(document, container, schema, err);
}
