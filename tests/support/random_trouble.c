// See random_trouble.h.
#include "support/random_trouble.h"

#include "support/check.h"
#include "support/mortal_store.h"
#include "support/run_rows.h"

#include "cadre/trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum deed {
    DEED_CANCEL,
    DEED_ABORT,
    DEED_ABORT_FRAME,
    DEED_SEND,
    DEED_ANSWER,
    N_DEEDS
} deed;

enum {
    MAX_DEEDS = 3
};

static struct {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    int n_commits; // guarded by mu, as is:
    bool is_over;
    deed deeds[MAX_DEEDS];
    int at[MAX_DEEDS]; // the commit after which
    int n_deeds;
    dice dice; // of what is drawn while others run
    random_trial *trial;
    cadre_run *run;
    pthread_t thread;
} trouble = {.mu = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void on_commit(void *ctx, const cadre_commit *commit, int n)
{
    (void)ctx;
    (void)commit;
    (void)n;
    pthread_mutex_lock(&trouble.mu);
    trouble.n_commits++;
    pthread_cond_broadcast(&trouble.changed);
    pthread_mutex_unlock(&trouble.mu);
}

void random_trouble_plan(random_trial *t, bool cuts)
{
    store_cut cut = {.on_commit = on_commit};
    trouble.n_commits = trouble.n_deeds = 0;
    trouble.is_over = false;
    if (cuts) {
        cut.at = 1 + dice_throw(&t->dice, dice_percent(&t->dice, 50) ? 10 : 40);
        cut.is_after = dice_percent(&t->dice, 50);
    }
    mortal_store_cut(cut);
    int n = t->trouble == RANDOM_ALL ? dice_throw(&t->dice, MAX_DEEDS + 1) : 0;
    for (int i = 0; i < n; i++) {
        trouble.at[i] = (i == 0 ? 0 : trouble.at[i - 1]) + dice_throw(&t->dice, 14);
        // What ends all is not to be the rule.
        bool is_harsh = dice_percent(&t->dice, 25);
        trouble.deeds[i] =
            is_harsh ? (deed)dice_throw(&t->dice, 2)
                     : (deed)(DEED_ABORT_FRAME +
                              dice_throw(&t->dice, N_DEEDS - DEED_ABORT_FRAME));
    }
    trouble.n_deeds = n;
    trouble.dice = dice_of(t->dice.state, "deeds");
}

// --- What is done ---

static void abort_frame(random_trial *t)
{
    run_rows rows;
    int live[64];
    int n = 0;
    run_rows_read(&rows, t->runtime, t->trace);
    for (int i = 1; i < (int)rows.n_frames && n < 64; i++)
        if (rows.frames[i].row.status < CADRE_FRAME_COMPLETED)
            live[n++] = i;
    if (n > 0) {
        const char *id = rows.frames[live[dice_throw(&trouble.dice, n)]].id;
        cadre_trace_abort(t->runtime, t->trace,
                          CADRE_ABORT(.frame = id, .reason = "not this one"), NULL);
    }
    run_rows_fini(&rows);
}

static void do_deed(random_trial *t, deed what)
{
    switch (what) {
    case DEED_CANCEL:
        cadre_run_cancel(trouble.run, "enough");
        break;
    case DEED_ABORT:
        cadre_trace_abort(t->runtime, t->trace, NULL, NULL);
        break;
    case DEED_ABORT_FRAME:
        abort_frame(t);
        break;
    case DEED_SEND:
        cadre_trace_send(t->runtime, t->trace, "And that.", NULL, NULL);
        break;
    case DEED_ANSWER:
        random_trial_answer(t, false, &trouble.dice);
        break;
    case N_DEEDS:
        break;
    }
}

// False: the life is over.
static bool await_commit(int n)
{
    pthread_mutex_lock(&trouble.mu);
    while (trouble.n_commits < n && !trouble.is_over)
        pthread_cond_wait(&trouble.changed, &trouble.mu);
    bool is_over = trouble.is_over;
    pthread_mutex_unlock(&trouble.mu);
    return !is_over;
}

static void *make_trouble(void *arg)
{
    (void)arg;
    for (int i = 0; i < trouble.n_deeds && await_commit(trouble.at[i]); i++)
        do_deed(trouble.trial, trouble.deeds[i]);
    return NULL;
}

void random_trouble_begin(random_trial *t, cadre_run *run)
{
    trouble.trial = t;
    trouble.run = run;
    if (trouble.n_deeds > 0 &&
        pthread_create(&trouble.thread, NULL, make_trouble, NULL) != 0)
        abort();
}

void random_trouble_end(void)
{
    pthread_mutex_lock(&trouble.mu);
    trouble.is_over = true;
    pthread_cond_broadcast(&trouble.changed);
    pthread_mutex_unlock(&trouble.mu);
    if (trouble.n_deeds > 0)
        pthread_join(trouble.thread, NULL);
}
