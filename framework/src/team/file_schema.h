// The JSON Schema of team files, made from the types that there are.
//
// Thread: any.
#ifndef CDR_FILE_SCHEMA_H
#define CDR_FILE_SCHEMA_H

#include "cadre/runtime.h"

// The types that only C can make, by giving them a function.
#define CDR_FUNCTION_TYPE "function"

// What an agent is that says nothing of its type.
#define CDR_DEFAULT_AGENT_TYPE "llm"

// Makes the schema. With a `file` it has, for each agent, model and tool of that file,
// the options of just its type; without, those of all types, as an editor wants it.
// `runtime` NULL: the built-in types. New reference; NULL: no memory.
json_t *cdr_file_schema_new(cadre_runtime *runtime, const json_t *file);

// The block of an agent type in a file: "" when its options stand beside the others.
const char *cdr_agent_block(const struct cadre_agent_ops *ops);

#endif
