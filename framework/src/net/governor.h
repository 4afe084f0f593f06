// A governor: how fast one model may be asked, by all teams, runs and runtimes of the
// process together.
//
// There is one for each provider, address, model and name of a key's variable: whoever
// asks the same server for the same model on the same account has the same governor,
// whatever its team calls the model. It knows the line of those that wait for a turn,
// how many turns are taken, when the last ones began, until when the server wants to be
// left alone, and until when a model that failed is passed over.
//
// Rules:
// 1. A turn is one request. It is given back when that has ended, however it ended.
// 2. Of the turns that begin within any 60 s there are at most `rpm`; of those not
// given
//    back at most `max_concurrency`. Both are those of who asks. All turns count, also
//    of who has no limit.
// 3. Who has a limit stands in line: first come, first served, and nobody behind is
//    served before. Who has none waits for a pause only.
// 4. A pause keeps everybody. It is never longer than what the one who caused it waits
//    itself.
// 5. A cool-down keeps nobody: it is looked at by those who have another model to ask.
// 6. Nothing here blocks: who waits sleeps elsewhere, and is woken by its `wake`.
// 7. A governor that nobody has any more is kept while it remembers something (on the
//    system's clock), so that a team loaded again does not start afresh.
//
// Times are milliseconds of the governor's clock. Governors on different clocks are
// different ones. Thread: any.
#ifndef CDR_GOVERNOR_H
#define CDR_GOVERNOR_H

#include "cadre/error.h"

#include "base/clock.h"

typedef struct cdr_governor cdr_governor;

// Whom it is for; the texts are copied.
typedef struct cdr_governor_name {
    cdr_clock *clock;
    const char *provider, *base_url, *model, *api_key_env; // none is NULL
} cdr_governor_name;

// All governors: each runtime has a reference from its start to its end. With the last
// they are freed.
void cdr_governors_ref(void);
void cdr_governors_unref(void);

// The governor of that name, ready for callers with up to so many requests a minute (0:
// no limit). NULL: no memory. Needs a reference to all.
cdr_governor *cdr_governor_ref(const cdr_governor_name *name, int rpm);
void cdr_governor_unref(cdr_governor *governor); // NULL ok

typedef enum cdr_turn_wait {
    CDR_TURN_PAUSE, // the server asked for it
    CDR_TURN_RPM,
    CDR_TURN_CONCURRENCY
} cdr_turn_wait;

// Who asks for a turn, in memory of its own; zero but for the first four.
typedef struct cdr_turn {
    int rpm, max_concurrency;      // 0: no limit
    void (*wake)(void *ctx);       // time to ask again; with a lock held: takes
    void *ctx;                     // no lock but a strand's
    struct cdr_turn *next, **link; // in the line; NULL: in none
    bool is_taken;
} cdr_turn;

// Why and how long somebody waits; behind others, what the first of them waits for.
typedef struct cdr_turn_delay {
    cdr_turn_wait why;
    int64_t until_ms; // ask again then, or when woken; CDR_NEVER: when woken
} cdr_turn_delay;

// Takes the turn, or gets into line for it (once) and says what it waits for. True: it
// is taken. Whoever has asked calls cdr_turn_end.
bool cdr_turn_take(cdr_governor *governor, cdr_turn *turn, cdr_turn_delay *delay);

// Gives the turn back, or leaves the line. Twice is once.
void cdr_turn_end(cdr_governor *governor, cdr_turn *turn);

// Keeps everybody from asking for so long from now.
void cdr_governor_pause(cdr_governor *governor, int64_t ms);

// Has the model passed over for so long from now, because of such a failure; 0 ends it.
void cdr_governor_cool(cdr_governor *governor, int64_t ms, cadre_error_class why);

// For how long it is passed over still; 0: it is not. `why` as given.
int64_t cdr_governor_cools_ms(cdr_governor *governor, cadre_error_class *why);

#endif
