// Which JSON Schemas a provider takes that holds its models strictly to them.
//
// Thread: any.
#ifndef CADRE_EXT_STRICT_SCHEMA_H
#define CADRE_EXT_STRICT_SCHEMA_H

#include "cadre/ext/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// Is the schema one that OpenAI's `strict` takes as it is? Then it is an object, each
// object in it is closed and must have all of its properties, and no word stands in it
// but those that this mode knows. It never widens or narrows a schema: one that is not
// fit can be sent without `strict`, for the answer is checked in any case.
// Source: OpenAI, structured outputs, supported schemas.
CADRE_API bool cadre_schema_is_strict(const json_t *schema);

#ifdef __cplusplus
}
#endif

#endif
