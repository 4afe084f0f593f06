// The tool calls of a message as the JSON that stands in the column:
// [{"id": ..., "name": ..., "arguments": ...}], arguments being the text the model
// wrote, which need not be JSON.
//
// Thread: plain data.
#ifndef CDR_SQLITE_TOOL_CALLS_H
#define CDR_SQLITE_TOOL_CALLS_H

#include "cadre/message.h"

#include <jansson.h>

// Gives a new text, NULL when there are none; free() it. Errors: ESTORE.
cadre_status cdr_sqlite_tool_calls_write(const cadre_message *message, char **out,
                                         cadre_error *err);

// What was read: the calls borrow from `json`.
typedef struct cdr_sqlite_tool_calls {
    json_t *json;
    cadre_tool_call *calls;
    size_t n_calls;
} cdr_sqlite_tool_calls;

// Errors: ESTORE.
cadre_status cdr_sqlite_tool_calls_read(cdr_sqlite_tool_calls *calls, const char *text,
                                        cadre_error *err);
void cdr_sqlite_tool_calls_fini(cdr_sqlite_tool_calls *calls);

#endif
