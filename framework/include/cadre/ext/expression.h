// Expressions: what a team file writes where something is to be decided while a run
// goes on, such as `when: 'state.score >= 8'` or `until: {contains: SOLVED}`.
//
// A text is Lua 5.4: an expression, or a chunk that ends in `return`. It reads
//   input, last_response, output    texts
//   state, outputs                  JSON: `state.items[1].name`; null is nil
//   iteration                       a number
// and calls contains, starts, ends, matches, size, and of Lua's own functions those
// that neither look outside nor can run for ever: string, table, math and utf8 in part,
// and assert error ipairs pairs select tonumber tostring type.
//   contains(x, y)     is the text y in the text x, or y a member of the list x?
//   starts(x, y), ends(x, y)
//   matches(x, y)      does the regular expression y (PCRE2, UTF-8) match in x?
//   size(x)            characters of a text, members of a list or object
// nil contains nothing, starts and ends with nothing, matches nothing and has size 0.
//
// 1. An evaluation is a pure function of the values: it has no clock, no chance and no
//    memory of others. pairs() goes over objects as they are stored and over tables by
//    sorted keys; sort() is stable. Texts are compared and numbers written by the
//    program's locale, which is "C" unless it sets another.
// 2. It ends: after 10 million instructions or 5 seconds of processor time, whichever
//    comes first, it fails. A regular expression has a limit of its own, 100,000 steps
//    from each place of the text.
// 3. It may hold 1 MiB, and 4 times what the values take.
// 4. A name that nothing has is an error that lists those that there are, in an
//    expression already when it is made.
// 5. The values are read where they lie when they are asked for: a large state costs
//    nothing. They are read-only.
//
// Thread: any number of threads may use one expression at once; no lock is held while
// it is evaluated.
#ifndef CADRE_EXT_EXPRESSION_H
#define CADRE_EXT_EXPRESSION_H

#include "cadre/error.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_expression cadre_expression;

// What an expression reads, borrowed while it is evaluated; nobody may change it
// meanwhile. NULL, and iteration 0: it is nil there.
typedef struct cadre_expression_values {
    size_t struct_size;
    const char *input; // UTF-8, as all texts here
    const char *last_response;
    const char *output;
    const json_t *state;   // an object
    const json_t *outputs; // an object: the text of each agent
    int iteration;
} cadre_expression_values;

#define CADRE_EXPRESSION_VALUES(...)                                                   \
    {                                                                                  \
        .struct_size = sizeof(cadre_expression_values), __VA_ARGS__                    \
    }

// Makes an expression of what is written: a text, or a short form, which is an object
// with exactly one of the keys contains, starts, ends, equals, matches, and a text, or
// a list of texts of which any may fit; it asks that of last_response. `where` names
// the place in errors ("graph.edges[2].when"). Both are copied. The caller frees
// `*out`. Errors: CADRE_EINVAL for what is neither, for mistakes of syntax and unknown
// names, with the line in the text; CADRE_ENOMEM.
CADRE_API cadre_status cadre_expression_new(const json_t *written, const char *where,
                                            cadre_expression **out, cadre_error *err);

// Frees it; NULL is ignored. Nobody evaluates it any more.
CADRE_API void cadre_expression_free(cadre_expression *expression);

// Evaluates it as a condition: it must give true, false or nil, which counts as false.
// Errors: CADRE_EFAILED of class hook, "WHERE: line N: MESSAGE", for anything else it
// gives and for what goes wrong in it; CADRE_ENOMEM; CADRE_EINVAL.
CADRE_API cadre_status cadre_expression_test(const cadre_expression *expression,
                                             const cadre_expression_values *values,
                                             bool *out, cadre_error *err);

// Evaluates it to a JSON value, a new reference. A table with the keys 1 to n is a
// list, an empty one too; one with texts as keys an object, sorted by them; nil is
// null. Of a short form the value is true or false. Errors: as cadre_expression_test;
// also for functions, numbers that JSON does not have, texts that are not UTF-8, more
// than 128 levels, and more than rule 3 allows.
CADRE_API cadre_status cadre_expression_value(const cadre_expression *expression,
                                              const cadre_expression_values *values,
                                              json_t **out, cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
