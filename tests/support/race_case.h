// A lead that makes one batch, as a test sets it, and keeps what came of it.
//
//     batch_case_open(&t, race_lead);
//     race_set(CADRE_ANY, "fails", "quick", NULL);
//     batch_case_run(&t);
//     CHECK_INT(raced.winner, 1);
//
// Thread: the test's, when no run is under way.
#ifndef SUPPORT_RACE_CASE_H
#define SUPPORT_RACE_CASE_H

#include "support/batch_case.h"

enum {
    RACE_MAX_CALLS = 3
};

typedef struct race_result {
    cadre_wait wait;
    const char *names[RACE_MAX_CALLS]; // "": a call without an agent
    size_t n;
    bool passes_on; // the lead returns what the batch returned; else it says "returned"
    cadre_outcome out[RACE_MAX_CALLS]; // without their texts, which are gone
    char texts[RACE_MAX_CALLS][300];   // "AGENT: TEXT" or "AGENT! ERROR"
    size_t winner;
    cadre_status status;
    cadre_error err;
    int64_t returned_ns;
} race_result;

extern race_result raced;

// The lead's work.
cadre_status race_lead(void *ctx, cadre_frame *frame, cadre_error *err);

// Says what it calls, and forgets what came of it before. `third` may be NULL.
void race_set(cadre_wait wait, const char *first, const char *second,
              const char *third);

// That call was stopped because another one has won.
void race_check_loser(size_t i);

int64_t race_now_ns(void);

#endif
