// Expressions over one set of values: what they give, how they fail, how bad ones are
// refused. The place in all errors is EXPRESSION_WHERE.
//
// Running out of memory ends the program. Thread: any; each call has its own values.
#ifndef SUPPORT_EXPRESSION_CASE_H
#define SUPPORT_EXPRESSION_CASE_H

#include "support/check.h"

#include "cadre/ext/expression.h"

#define EXPRESSION_WHERE "graph.edges[2].when"

json_t *expression_json(const char *text);

// The values of all cases; read expression_sample_init for what is in them.
typedef struct expression_sample {
    cadre_expression_values values;
    json_t *state, *outputs;
} expression_sample;

void expression_sample_init(expression_sample *self);
void expression_sample_fini(expression_sample *self);

// Makes an expression that must be good; NULL, and a failed check, when it is not.
cadre_expression *expression_of(const char *text);

// Evaluates a good text to compact JSON; NULL: it failed. free() it.
char *expression_value_of(const char *text, cadre_error *err);

typedef struct expression_value_case {
    const char *text;
    const char *value; // compact JSON
} expression_value_case;

// Checks what each gives; ended by {NULL, NULL}.
void expression_check_values(const expression_value_case *cases);

// Evaluates a text that must fail with this message, and class hook.
void expression_check_failure(const char *text, const char *message);

// Makes what must be refused with a text that starts with the place and has `part`.
void expression_check_refusal(const char *written_json, const char *part);

#endif
