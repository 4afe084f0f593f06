// Batches under test: a root "lead" whose work is a function of the test, members that
// do what tests of batches need, and gates that hold them.
//
//     batch_case_open_fake(&t, lead);
//     if (batch_case_start(&t)) {
//         batch_case_expire(&t); // the loser's two seconds
//         team_case_finish(&t);
//     }
//     gate_open(&batch_deaf);
//     team_case_close(&t);
//
// Thread: the gates any; the rest the test's, with one case at a time.
#ifndef SUPPORT_BATCH_CASE_H
#define SUPPORT_BATCH_CASE_H

#include "support/team_case.h"

#include <pthread.h>

// --- Gates ---

// Holds who passes until it is opened, whatever they were told meanwhile.
typedef struct gate {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    bool is_open;
    int n_in; // that have come to it
} gate;

#define GATE_INIT                                                                      \
    {                                                                                  \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0                  \
    }

void gate_pass(gate *g);
bool gate_await(gate *g, int n); // until so many have come; false after 20 s
void gate_open(gate *g);
void gate_reset(gate *g); // closed, and nobody has come

// --- Members ---

extern gate batch_deaf;              // where "deaf" and "deaf_tool" stand
extern gate batch_left;              // open; they pass it last
extern gate batch_sleeps;            // open; each "sleeper" passes it first
extern atomic_int batch_deaf_status; // what the last call of one gave, once it went on

// Work of a frame, as cadre_function.run.
typedef cadre_status (*batch_work)(void *ctx, cadre_frame *frame, cadre_error *err);

// Opens a case, with a fake clock or the real one, whose root "lead" does `work` with
// these members:
//     quick   says "quick", once `batch_quick` is open
//     fails   fails with "it failed", once `batch_quick` is open
//     deaf    stands at `batch_deaf`, then tries to do all that a frame can
//     sleeper sleeps until it must stop
//     asker   asks "which?" and says the answer
//     alice, bob  driven
// `batch_quick` is open at first.
extern gate batch_quick;
void batch_case_open(team_case *t, batch_work work);
void batch_case_open_fake(team_case *t, batch_work work);
void batch_case_fill(team_case *t, batch_work work); // the team of a case that is open
void batch_case_close(team_case *t);                 // opens all gates

// Adds a member of the lead, which has the members above itself. Before the start.
void batch_case_add(team_case *t, const char *name, batch_work run, void *ctx);

// Adds an llm that is a member of the lead; a model of DRIVEN_MODEL or of the team. It
// has the tool "work", which the test adds, unless its model is of the team.
void batch_case_add_llm(team_case *t, const char *name, const char *model);

// Makes an agent that the test adds a member of the lead.
void batch_case_add_name(const char *name);

// Starts a run with "go". False: the test has failed.
bool batch_case_start(team_case *t);
void batch_case_run(team_case *t); // and reads it to its end

// A member of the lead; the test fails where there is none.
const cadre_agent *batch_member(cadre_frame *frame, const char *name);

// Moves the clock over the time that losers are waited for, once somebody waits so.
void batch_case_expire(team_case *t);

// The row of the last run whose key that is (the first one), as "STATUS REASON MARK:
// ERROR". Static storage.
const char *batch_row(team_case *t, const char *key);

// Asks, says the answer.
cadre_status batch_ask(cadre_frame *frame, const char *question, cadre_error *err);

// Answers the one question of a run, and goes on with it.
void batch_case_answer(team_case *t, const char *text);

#endif
