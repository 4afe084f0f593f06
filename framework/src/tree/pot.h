// Pots: what a frame and all that works for it may use of tokens and money.
//
// A pot belongs to the frame that it was made with; the pots of those above it are
// around it (`up`). A call of a model is paid from all of them.
//
// Rules:
// 1. A call claims what it may use before it is made, and pays what it has used when it
//    is over. Both are done in the innermost pot and all around it, under the tree's
//    mutex: the work is the same for each pot, however many calls there are.
// 2. A claim has two sizes. `least` is what the call uses surely: where that does not
//    fit beside what is used, the call is refused. `most` is what it may use: calls are
//    made at once when `used`, what is claimed and `most` fit.
// 3. A call whose `most` does not fit waits while others have claims there, in the
//    order of asking, and is made alone. So a pot is exceeded by one call at most, as
//    far as `most` is right for those that are made at once.
// 4. Who waits has no claim, and a claim is held only while a model is asked: nobody
//    waits for ever.
// 5. Who hands over leaves its own pot: its target works for those around.
//
// Thread: _locked needs tree->mu; the others are of the frame's strand.
#ifndef CDR_POT_H
#define CDR_POT_H

#include "tree/tree.h"

// What is used up, or may be.
typedef struct cdr_amount {
    int64_t tokens;
    int64_t usd_micros;
} cdr_amount;

// Of a frame that goes on from the record: what is recorded of it and all below.
struct cdr_spent {
    cdr_amount amount;
    int64_t work_ms; // the time that the run was at work since its birth
};

typedef enum cdr_pot_kind {
    CDR_POT_TEAM, // of the team's file
    CDR_POT_RUN,  // given with the run
    CDR_POT_CALL, // given with a call; of all that the callee hands over to
    CDR_POT_AGENT // of the agent's own
} cdr_pot_kind;

typedef struct cdr_claim cdr_claim;

struct cdr_pot {
    cdr_pot *up;              // around it; NULL: none
    const cadre_frame *owner; // it was made with
    cdr_pot_kind kind;
    cadre_budget max;
    cdr_amount used, claimed;
    size_t n_claims;
    cdr_claim *first, **end; // those that wait here
    cdr_failure *refusal;    // the first call that did not fit; NULL: all did
};

typedef enum cdr_claim_state {
    CDR_CLAIM_NONE,
    CDR_CLAIM_WAITS,
    CDR_CLAIM_GRANTED,
    CDR_CLAIM_REFUSED
} cdr_claim_state;

// Of a call of a model; on the stack of its strand.
struct cdr_claim {
    cdr_pot *pot; // the innermost one
    cdr_amount least, most;
    cdr_claim_state state;
    cdr_pot *at;             // where it waits, or was refused
    cdr_strand *strand;      // to wake
    cdr_claim *next, **link; // in that line
};

// Makes the pots of a frame that is born, or goes on: those around it, and its own.
// `given`: with its run or its call. False: no memory.
bool cdr_pots_open_locked(cadre_frame *frame, const cadre_budget *given,
                          const cdr_amount *given_used);
void cdr_pots_free(cadre_frame *frame);

// The budget's time, in place of a later deadline of the frame. Of one that has handed
// over its agent's own counts no more.
void cdr_pots_limit_time_locked(cadre_frame *frame, bool has_handed_over);

// What the frame's call has used so far, for another attempt of it; zero when it has no
// pot of its own.
cdr_amount cdr_pot_of_call_used(const cadre_frame *frame);

// Is money limited, by this pot or one around it?
bool cdr_pot_counts_money(const cdr_pot *pot);

// Claims, or waits in line. Its state says which.
void cdr_claim_locked(cdr_claim *claim);

// One that waits does not, any more.
void cdr_claim_leave_locked(cdr_claim *claim);

// One that was granted is over.
void cdr_claim_pay_locked(cdr_claim *claim, cdr_amount used);

// Pays what was claimed by nobody.
void cdr_pot_pay_locked(cdr_pot *pot, cdr_amount used);

// Splits off what a run in the background may use: what is asked for, else half of what
// is left; it is paid at once, whatever that run uses. NULL: it fits; else which pot
// has not so much left, and nothing was paid.
const cdr_pot *cdr_pot_split_locked(cdr_pot *pot, const cadre_budget *asked,
                                    cadre_budget *out);

// The other way: nothing was started.
void cdr_pot_give_back_locked(cdr_pot *pot, const cadre_budget *split);

// Fails with a budget that has not enough left for a run in the background.
cadre_status cdr_pot_fail_split(const cdr_pot *pot, const cadre_frame *frame,
                                cadre_error *err);

// Fails with what was refused where, and keeps that with the pot. Returns ELIMIT.
cadre_status cdr_claim_fail_locked(const cdr_claim *claim, const cadre_frame *frame,
                                   cadre_error *err);

// What a budget of the frame, or one around it, has refused; NULL: nothing. `is_own`:
// of this very frame only. Borrowed.
cdr_failure *cdr_pots_refusal_locked(const cadre_frame *frame, bool is_own);

// "budget.max_time of 30m is used up", of a frame whose time that was.
cadre_status cdr_pots_fail_time(const cadre_frame *late, cadre_error *err);

#endif
