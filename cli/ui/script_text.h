// A recording as text: YAML for people, with one line a value, or JSON.
//
// The YAML is plain: keys as they are where they can be, everything else as JSON, of
// which YAML is the larger language. What a terminal would obey is escaped.
//
// Thread: any.
#ifndef CLI_SCRIPT_TEXT_H
#define CLI_SCRIPT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum cli_script_form {
    CLI_SCRIPT_YAML,
    CLI_SCRIPT_JSON
} cli_script_form;

// By the end of the file's name: .yaml, .yml or .json. False: it is none of these.
bool cli_script_form_of(const char *path, cli_script_form *form);

// Writes it, with a line end. Failures are the stream's.
void cli_script_print(FILE *stream, const json_t *script, cli_script_form form);

#endif
