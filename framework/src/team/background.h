// Background runs: those of this process that nobody holds a cadre_run of. Their teams
// and their runtime wait for them.
//
// Thread: any. `cancel` is called with the lock of the list held; it takes the lock of
// the run's tree, and only marks.
#ifndef CDR_BACKGROUND_H
#define CDR_BACKGROUND_H

#include "cadre/runtime.h"
#include "cadre/team.h"

#include "base/mutex.h"

typedef struct cdr_background_run {
    const cadre_team *team;
    void (*cancel)(struct cdr_background_run *self); // NULL: it has ended
    struct cdr_background_run *next;
} cdr_background_run;

typedef struct cdr_background {
    cdr_mutex mu;
    cdr_cond changed;
    cdr_background_run *first; // guarded by mu
} cdr_background;

void cdr_background_init(cdr_background *background);
void cdr_background_fini(cdr_background *background); // when it is empty

// A run that has ended is cancelled no more; it removes itself as the last it does with
// its team and its runtime.
void cdr_background_add(cdr_background *background, cdr_background_run *run);
void cdr_background_end(cdr_background *background, cdr_background_run *run);
void cdr_background_remove(cdr_background *background, cdr_background_run *run);

// Waits until there is none. False: `deadline_ms` of the real clock has passed.
bool cdr_background_wait(cdr_background *background, int64_t deadline_ms);

// Cancels those of the team and waits for their ends.
void cdr_background_stop(cdr_background *background, const cadre_team *team);

#endif
