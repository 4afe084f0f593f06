// Random histories: what a model may be asked with after anything that ever happened.
// Turns stand in any order; calls lack results and results lack calls; ids, names,
// arguments and texts are those that endpoints trip over.
//
//     random_history history;
//     random_history_init(&history, ops->provider, bytes, len);
//     status = model_encode(ops, state, &history.request, &http, &err);
//     random_history_fini(&history);
//
// Each choice takes the next of the bytes, and 0 when none is left: so the same bytes
// are the same history, a fuzzer has something to turn, and the empty history is one.
//
// Running out of memory ends the program. Thread: one at a time.
#ifndef SUPPORT_RANDOM_HISTORY_H
#define SUPPORT_RANDOM_HISTORY_H

#include "net/http_request.h"

#define RANDOM_HISTORY_MAX_ITEMS 24
#define RANDOM_HISTORY_MAX_CALLS 4
#define RANDOM_HISTORY_MAX_TOOLS 3
#define RANDOM_HISTORY_MODEL "p/m"
#define RANDOM_HISTORY_FOREIGN "cmFuZG9tIGZvcmVpZ24=" // what another model thought
#define RANDOM_HISTORY_KEY "sk-random-history-0123456789"

typedef struct random_history {
    cadre_request request; // its key is RANDOM_HISTORY_KEY; no item has a cache
    cadre_message messages[RANDOM_HISTORY_MAX_ITEMS];
    cadre_request_item items[RANDOM_HISTORY_MAX_ITEMS];
    cadre_tool_call calls[RANDOM_HISTORY_MAX_ITEMS][RANDOM_HISTORY_MAX_CALLS];
    cadre_tool_info tools[RANDOM_HISTORY_MAX_TOOLS];
    cdr_fragments caches[RANDOM_HISTORY_MAX_ITEMS];
    json_t *parameters; // of all tools that have some, and of the answer
    const char *provider;
} random_history;

// What its model alone can read is in the form of that provider, a static string.
void random_history_init(random_history *history, const char *provider,
                         const uint8_t *choices, size_t len);

// The same, as dice say that fall by `seed`.
void random_history_init_seed(random_history *history, const char *provider,
                              uint64_t seed);

// Gives each item its cache: what is written once is kept, as in a run.
void random_history_use_caches(random_history *history);

void random_history_fini(random_history *history);

#endif
