// See tool_calls.h.
#include "tool_calls.h"

#include <stdlib.h>

static const char *text_of(const char *text)
{
    return text ? text : "";
}

cadre_status cdr_sqlite_tool_calls_write(const cadre_message *message, char **out,
                                         cadre_error *err)
{
    if (message->n_tool_calls == 0)
        return CADRE_OK;
    json_t *list = json_array();
    bool is_ok = list != NULL;
    for (size_t i = 0; i < message->n_tool_calls && is_ok; i++) {
        const cadre_tool_call *call = &message->tool_calls[i];
        json_t *entry =
            json_pack("{s:s, s:s, s:s}", "id", text_of(call->id), "name",
                      text_of(call->name), "arguments", text_of(call->arguments));
        is_ok = entry && json_array_append_new(list, entry) == 0;
    }
    char *text = is_ok ? json_dumps(list, JSON_COMPACT) : NULL;
    json_decref(list);
    if (!text)
        return cadre_fail(err, CADRE_ESTORE,
                          "store 'sqlite': a message's tool calls are not UTF-8, or "
                          "there is no memory for them");
    *out = text;
    return CADRE_OK;
}

cadre_status cdr_sqlite_tool_calls_read(cdr_sqlite_tool_calls *calls, const char *text,
                                        cadre_error *err)
{
    json_error_t where;
    *calls = (cdr_sqlite_tool_calls){.json = NULL};
    if (!text[0])
        return CADRE_OK;
    calls->json = json_loads(text, 0, &where);
    size_t n = json_array_size(calls->json);
    calls->calls = n > 0 ? calloc(n, sizeof(*calls->calls)) : NULL;
    if (!json_is_array(calls->json) || (n > 0 && !calls->calls))
        return cadre_fail(err, CADRE_ESTORE,
                          "store 'sqlite': the tool calls of a message cannot be read: "
                          "%.100s",
                          json_is_array(calls->json) ? "no memory" : text);
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(calls->json, i);
        calls->calls[i] = (cadre_tool_call){
            .id = text_of(json_string_value(json_object_get(entry, "id"))),
            .name = text_of(json_string_value(json_object_get(entry, "name"))),
            .arguments =
                text_of(json_string_value(json_object_get(entry, "arguments")))};
    }
    calls->n_calls = n;
    return CADRE_OK;
}

void cdr_sqlite_tool_calls_fini(cdr_sqlite_tool_calls *calls)
{
    free(calls->calls);
    json_decref(calls->json);
    *calls = (cdr_sqlite_tool_calls){.json = NULL};
}
