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

// The sections that have the key, or whose entries have it.
static size_t find(const json_t *schema, const char *key, const char *here,
                   const char *found[MAX_PLACES])
{
    size_t n = 0;
    const char *name;
    json_t *section;
    json_object_foreach(cdr_json_iterable(json_object_get(schema, "properties")), name,
                        section)
    {
        const json_t *entry = json_object_get(section, "additionalProperties");
        bool is_in_section = has_key(section, key) && !is_here(here, name, false);
        bool is_in_entries = has_key(entry, key) && !is_here(here, name, true);
        if (n < MAX_PLACES && (is_in_section || is_in_entries))
            found[n++] = name;
    }
    return n;
}

bool cdr_key_place(cdr_buf *text, const json_t *schema, const char *key,
                   const char *here)
{
    const char *found[MAX_PLACES];
    size_t n = find(schema, key, here, found);
    bool is_at_top = has_key(schema, key) && here[0] != '\0';
    if (is_at_top)
        cdr_buf_append_text(text, n > 0 ? "at the top or " : "at the top");
    for (size_t i = 0; i < n; i++)
        cdr_buf_printf(text, "%s%s",
                       i == 0       ? "under "
                       : i + 1 == n ? " or "
                                    : ", ",
                       found[i]);
    return is_at_top || n > 0;
}
