// Texts with places to fill in: {{input}}, {{user_input}}, {{last_response}},
// {{state.KEY}} and {{node_responses.NODE}}. {{{{ gives a plain {{.
//
// Thread: a template never changes; any.
#ifndef GRAPH_TEMPLATE_H
#define GRAPH_TEMPLATE_H

#include "text.h"

#include <stdint.h>

// What a step of a graph has for templates, rules and inputs. All borrowed.
typedef struct cdr_graph_values {
    const json_t *input; // of the node: a text, or an element of a list
    const char *user_input;
    const char *last_response;
    const json_t *responses; // by node
    const json_t *state;
} cdr_graph_values;

typedef struct cdr_graph_template cdr_graph_template;

// Called with what is wrong in a text.
typedef void (*cdr_graph_complain)(void *ctx, const char *problem);

// Reads a text; `is_node` tells which names responses may have. NULL: what is wrong was
// told, or there is no memory.
typedef struct cdr_graph_template_reader {
    bool (*is_node)(const void *nodes, const char *name, size_t len);
    const void *nodes;
    cdr_graph_complain complain;
    void *ctx;
} cdr_graph_template_reader;

cdr_graph_template *cdr_graph_template_new(const char *text,
                                           const cdr_graph_template_reader *reader);
void cdr_graph_template_free(cdr_graph_template *written);

void cdr_graph_template_fill(const cdr_graph_template *written,
                             const cdr_graph_values *values, cdr_graph_text *out);

// The value that a template stands for: of one place alone the value as it is, else a
// text. New reference; NULL: no memory.
json_t *cdr_graph_template_value(const cdr_graph_template *written,
                                 const cdr_graph_values *values);

#endif
