// What a team file or a C caller wrote, read by its schema: checked, and with the words
// of people turned into numbers.
//
// A schema may say with `format` what a text means:
//   duration  "10s"; becomes milliseconds. `minimum` and `maximum` count those.
//   size      "64KiB"; becomes bytes; as above.
//   usd       a number of dollars, 0.25; becomes millionths. `minimum` and `maximum`
//             count dollars.
//   limit     1 and more, or `unlimited`, which becomes CADRE_UNLIMITED.
//   model     provider/model; what is no such text is told when the model is looked up.
//   path      relative to the team file and inside its folder; ${VAR} is replaced.
// and with `"x-env": true` that ${VAR} is replaced in it. These are looked for along
// `properties`, `items` and the like, not behind $ref or anyOf. Keys that start with
// `x-` are free for notes wherever unknown keys are refused.
//
// Thread: any.
#ifndef CDR_SETTINGS_H
#define CDR_SETTINGS_H

#include "base/schema.h"

// Who wrote the value, and how: messages use the words of that.
typedef enum cdr_writes {
    CDR_WRITES_JSON, // JSON text of a C program, where numbers may be durations, sizes
    CDR_WRITES_C,    // the fields of a C struct
    CDR_WRITES_YAML_FILE,
    CDR_WRITES_JSON_FILE
} cdr_writes;

typedef struct cdr_settings_reader {
    const json_t *schema;
    const char *directory; // where paths start
    cdr_writes writes;
    cdr_schema_on_problem on_problem; // NULL: nobody wants to know
    void *ctx;
} cdr_settings_reader;

// Checks `value` and gives it converted. What is wrong is reported; what is given then
// may be of a wrong type or out of range there. The places in problems are those of
// `value`. New reference; NULL: no memory.
json_t *cdr_settings_read(const cdr_settings_reader *reader, const json_t *value);

// Fills in the defaults of a schema and converts those. Steals nothing. New reference;
// NULL: no memory.
json_t *cdr_settings_complete(const json_t *schema, const json_t *value);

// The schema of an object with these properties (JSON text, NULL: none); unknown ones
// are refused, but for notes. New reference; NULL with `err`: not a sound schema.
json_t *cdr_settings_schema(const char *properties, cadre_error *err);

#endif
