// What the bodies of all wire formats have in common.
//
// Thread: plain functions, for cadre_model_ops.init and encode.
#ifndef CADRE_EXT_WIRE_BODY_H
#define CADRE_EXT_WIRE_BODY_H

#include "cadre/ext/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Copies those options into a body that have a name of the list, which ends with NULL.
// False: no memory.
CADRE_API bool cadre_wire_pass(const json_t *options, const char *const *names,
                               json_t *body);

// The text of a key; "" where there is none.
CADRE_API const char *cadre_wire_text(const json_t *object, const char *key);

// Appends, without quotes and escaped for a JSON string, what tells a model in words to
// answer with JSON that fits a schema: where a provider has no other place for that.
CADRE_API void cadre_wire_tell_schema(cadre_http *http, const json_t *schema);

// Appends what a tool is for and what it takes, as further members of its object: its
// description, and the schema of its arguments under `key`. What OpenAI and Anthropic
// refuse at the top of that (anyOf and the like) is told in words.
CADRE_API void cadre_wire_tool(cadre_http *http, const cadre_tool_info *tool,
                               const char *key);

#ifdef __cplusplus
}
#endif

#endif
