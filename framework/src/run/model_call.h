// A model call: the view becomes a request, attempts are made until one is whole, and
// the answer is recorded with the frames of its tool calls in one commit.
//
// Order: before_model hooks; the call is reserved (its frame, durable) before anything
// is sent; deltas are shown as they come, unless an after_model hook may yet change the
// text; a failed attempt voids them by a `retry` event.
//
// Thread: the strand that asks.
#ifndef CDR_MODEL_CALL_H
#define CDR_MODEL_CALL_H

#include "net/attempt.h"
#include "run/model_hook.h"
#include "run/offer.h"
#include "run/prompt.h"
#include "tree/outbox.h"
#include "tree/pot.h"

// Everything one call needs. It is not on the stack of its strand: that stays as deep
// as it is while the call waits, by whole pages.
typedef struct cdr_model_call {
    cadre_frame *agent;       // who asks
    cadre_frame *frame;       // the model frame
    const cadre_model *model; // that is asked now
    const cadre_model *first; // that the agent names: its fallbacks are asked, too
    unsigned tried;           // bits: whether it and each of its fallbacks was asked
    int n_tries;              // of `model`, the one under way included
    int64_t cools_ms;         // for how long `first` was passed over
    cadre_error_class cools_for;
    cdr_model_hook hook;
    cdr_prompt *prompt; // of the agent's frame
    size_t n_said;      // items of its view that were said; hooks have added the others
    int64_t max_history_tokens;
    bool was_too_long; // for one of those asked since its history was last cut
    bool is_shortened; // the window, since what was sent had been too long
    bool is_recalled;  // and that is in the record of a run that was cut
    cdr_arena arena;   // of the offered tools
    cdr_offer offer;
    cadre_request request;
    char *system;
    cadre_sink sink;
    cadre_error failure; // of the attempts
    cadre_id message_id;
    char message_text[CADRE_ID_TEXT_SIZE];
    cdr_event_id id;
    cadre_event delta; // addressed once, filled for each piece
    cdr_paused paused;
    cdr_queue *paused_at; // the one it waits for, or waited last; NULL: none
    cdr_attempt *attempt;
    int pending;
    cadre_usage charged; // what its attempts have used and cost
    cdr_claim claim;     // of the attempt that is made; run/model_budget.h
    int n_attempts;      // in this process
    int *script_at; // where the next scripted step is taken: the tree's, or its own
    int own_at;
    const cdr_recorded *recorded; // what a recording has for it; NULL: nothing
    cdr_buf asked;                // its short form, see asked.h
    bool holds_text;              // until it is whole, and its hooks have seen it
    bool is_parked;               // its hooks wait for a person
} cdr_model_call;

#endif
