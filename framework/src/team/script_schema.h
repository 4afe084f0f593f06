// What may stand where in a script file.
//
// Thread: any.
#ifndef CDR_SCRIPT_SCHEMA_H
#define CDR_SCRIPT_SCHEMA_H

#include <jansson.h>

// The schema of a script file, as base/schema.h reads it. New reference; NULL:
// no memory.
json_t *cdr_script_schema(void);

#endif
