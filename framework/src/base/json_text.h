// JSON from outside: refused when nested too deep or not JSON, before it can do
// harm; and JSON written in the one form cadre stores.
//
// Thread: any; values that cross threads are never changed.
#ifndef CDR_JSON_TEXT_H
#define CDR_JSON_TEXT_H

#include "cadre/error.h"

#include <jansson.h>

#define CDR_JSON_MAX_DEPTH 128

// Parses one JSON value of any type. New reference; NULL with `err` filled: what is
// wrong and where (line:column), deeper than CDR_JSON_MAX_DEPTH, trailing text. The
// depth is checked by a scan before parsing. A lone surrogate escape (\ud83d alone)
// and \u0000 become U+FFFD instead of failing the whole text; everything else that
// jansson refuses is refused. Duplicate keys: the last wins.
json_t *cdr_json_parse(const char *text, size_t len, cadre_error *err);

// Parses the arguments of a tool call as providers send them: empty or blank means
// {}; anything but an object is refused, naming what came.
json_t *cdr_json_parse_arguments(const char *text, size_t len, cadre_error *err);

// Writes compactly, keys in their order. Caller frees with free(). NULL: no memory.
char *cdr_json_dump(const json_t *value);

#endif
