// Values from outside as short, harmless text for messages: cut to one line's worth,
// what could write to the terminal (utf8.h), and what is not UTF-8, shown as `?`.
//
// Thread: any.
#ifndef CDR_BRIEF_H
#define CDR_BRIEF_H

#include <jansson.h>

#define CDR_BRIEF_SIZE 256 // holds any brief text, with its NUL

// Writes at most 48 characters of UTF-8 `text`, then "..." if there were more. With a
// `quote` character other than NUL it stands on both sides. Returns `out`.
const char *cdr_brief_text(char out[CDR_BRIEF_SIZE], const char *text, char quote);

// Writes what a message says after "got": `7`, `"text"`, `null`, `an object`, `an empty
// array`. Returns `out`.
const char *cdr_brief_json(char out[CDR_BRIEF_SIZE], const json_t *value);

#endif
