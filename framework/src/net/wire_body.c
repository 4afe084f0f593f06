// See wire_body.h.
#include "cadre/ext/wire_body.h"

#include <stdlib.h>

bool cadre_wire_pass(const json_t *options, const char *const *names, json_t *body)
{
    for (; *names; names++) {
        json_t *value = json_object_get(options, *names);
        if (value && json_object_set(body, *names, value) != 0)
            return false;
    }
    return true;
}

const char *cadre_wire_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

void cadre_wire_tell_schema(cadre_http *http, const json_t *schema)
{
    char *text = json_dumps(schema, JSON_COMPACT);
    if (text) {
        cadre_http_append_escaped(http, "Answer with one JSON value and nothing else. "
                                        "It must fit this JSON Schema: ");
        cadre_http_append_escaped(http, text);
    } else {
        cadre_http_fail(http);
    }
    free(text);
}
