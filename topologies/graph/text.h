// A text that grows. Appending remembers a failed allocation; who builds one checks
// `failed` once, at the end.
//
// Thread: one at a time.
#ifndef GRAPH_TEXT_H
#define GRAPH_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cdr_graph_text {
    char *bytes; // NULL while empty; NUL-terminated
    size_t len, capacity;
    bool failed;
} cdr_graph_text;

void cdr_graph_text_add(cdr_graph_text *text, const char *more);

// Appends a text as it is, null as nothing, other values as compact JSON.
void cdr_graph_text_add_json(cdr_graph_text *text, const json_t *value);

// The text, "" while empty. Borrowed until the next append.
const char *cdr_graph_text_bytes(const cdr_graph_text *text);
void cdr_graph_text_fini(cdr_graph_text *text);

#endif
