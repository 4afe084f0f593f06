// See key_place.h.
#include "team/key_place.h"

#include "base/json_iterable.h"

#include <string.h>

#define MAX_PLACES 8

static bool has_key(const json_t *schema, const char *key)
{
    return json_object_get(json_object_get(schema, "properties"), key) != NULL;
}

// Is `path` that of the section itself, or of one of its entries?
static bool is_here(const char *path, const char *section, bool is_of_entries)
{
    size_t len = strlen(section);
    if (strncmp(path, section, len) != 0)
        return false;
    path += len;
    return is_of_entries ? path[0] == '.' && strpbrk(path + 1, ".[") == NULL
                         : path[0] == '\0';
}

typedef struct places {
    const char *names[MAX_PLACES];
    size_t count;
} places;

static void add(places *found, const char *name)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->names[i], name) == 0)
            return;
    if (found->count < MAX_PLACES)
        found->names[found->count++] = name;
}

// The blocks of an entry that have the key.
static void find_in_blocks(const json_t *entry, const char *key, places *found)
{
    const char *name;
    json_t *block;
    json_object_foreach(cdr_json_iterable(json_object_get(entry, "properties")), name,
                        block)
    {
        if (has_key(block, key))
            add(found, name);
    }
}

// The sections that have the key, or whose entries have it.
static void find(const json_t *schema, const char *key, const char *here, places *found)
{
    const char *name;
    json_t *section;
    json_object_foreach(cdr_json_iterable(json_object_get(schema, "properties")), name,
                        section)
    {
        const json_t *entry = json_object_get(section, "additionalProperties");
        if (is_here(here, name, true))
            find_in_blocks(entry, key, found);
        else if (has_key(entry, key))
            add(found, name);
        if (has_key(section, key) && !is_here(here, name, false))
            add(found, name);
    }
}

bool cdr_key_place(cdr_buf *text, const json_t *schema, const char *key,
                   const char *here)
{
    places found = {.count = 0};
    bool is_at_top = has_key(schema, key) && here[0] != '\0';
    find(schema, key, here, &found);
    if (is_at_top)
        cdr_buf_append_text(text, found.count > 0 ? "at the top or " : "at the top");
    for (size_t i = 0; i < found.count; i++)
        cdr_buf_printf(text, "%s%s",
                       i == 0                 ? "under "
                       : i + 1 == found.count ? " or "
                                              : ", ",
                       found.names[i]);
    return is_at_top || found.count > 0;
}
