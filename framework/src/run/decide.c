// See decide.h.
#include "run/decide.h"

#include "run/state.h"
#include "run/tool_result.h"
#include "run/transfer.h"
#include "tree/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What one call of the round asked for, and what is said to it.
typedef struct verdict {
    cdr_transfer_decision decision;
    const char *word; // in the event; NULL: it asked for nothing
    cadre_result_code code;
    bool is_escalation;
} verdict;

static void classify(verdict *v, bool has_winner)
{
    switch (v->decision.kind) {
    case CDR_TRANSFER_DONE:
        v->word = has_winner ? "superseded" : "done";
        v->code = has_winner ? CADRE_RESULT_BLOCKED : CADRE_RESULT_OK;
        return;
    case CDR_TRANSFER_REFUSED:
    case CDR_TRANSFER_STOP:
        v->word = "refused";
        v->code = CADRE_RESULT_BLOCKED;
        return;
    case CDR_TRANSFER_UNKNOWN:
        v->word = "unknown";
        v->code = CADRE_RESULT_INVALID_ARGUMENTS;
        return;
    case CDR_TRANSFER_SELF:
        v->word = "self";
        v->code = CADRE_RESULT_INVALID_ARGUMENTS;
        return;
    }
}

// In place of a decision, for what follows the one that stops the run.
static void pass_over(verdict *v)
{
    memset(v, 0, sizeof *v);
    v->decision.kind = CDR_TRANSFER_REFUSED;
    snprintf(v->decision.text, sizeof v->decision.text,
             "Not handed over: the run was stopped by the call before.");
    classify(v, false);
}

// The first of a turn wins, an escalation as a transfer.
static void decide_escalation(const cadre_frame *frame, const verdict *winner,
                              verdict *v)
{
    memset(v, 0, sizeof *v);
    v->is_escalation = true;
    v->word = winner == NULL ? "done" : "superseded";
    v->code = winner == NULL ? CADRE_RESULT_OK : CADRE_RESULT_BLOCKED;
    if (winner == NULL)
        snprintf(v->decision.text, sizeof v->decision.text,
                 "Escalated: %s's work ends here.", frame->name);
    else if (winner->is_escalation)
        snprintf(v->decision.text, sizeof v->decision.text,
                 "Not escalated: this turn has escalated already.");
    else
        snprintf(v->decision.text, sizeof v->decision.text,
                 "Not escalated: this turn was handed over to %s already.",
                 winner->decision.to->info.name);
}

// A transfer after the winner: not asked of the controller, it does not count against
// later handoffs.
static void pass_by(const cadre_agent *to, const verdict *winner, verdict *v)
{
    v->decision.kind = CDR_TRANSFER_DONE;
    v->decision.to = to;
    if (winner->is_escalation)
        snprintf(v->decision.text, sizeof v->decision.text,
                 "Not handed over to %s: this turn has escalated already.",
                 to->info.name);
    else
        snprintf(v->decision.text, sizeof v->decision.text,
                 "Not handed over to %s: this turn was handed over to %s already.",
                 to->info.name, winner->decision.to->info.name);
}

static cadre_status decide_entry(cadre_frame *frame, const cdr_tool_entry *entry,
                                 const verdict *winner, verdict *v, cadre_error *err)
{
    if (cdr_tool_escalates(entry)) {
        decide_escalation(frame, winner, v);
        return CADRE_OK;
    }
    const cadre_agent *known =
        frame->scope == NULL ? NULL : cdr_scope_find(frame->scope, entry->target);
    memset(v, 0, sizeof *v);
    if (frame->scope == NULL) {
        v->decision.kind = CDR_TRANSFER_UNKNOWN;
        snprintf(v->decision.text, sizeof v->decision.text,
                 "Nobody can be handed over to from here.");
    } else if (winner != NULL && known != NULL) {
        pass_by(known, winner, v);
    } else {
        cadre_status status =
            cdr_scope_decide(frame->scope, frame->agent, entry->target,
                             entry->target_message, &v->decision, err);
        if (status != CADRE_OK)
            return status;
    }
    classify(v, winner != NULL);
    return CADRE_OK;
}

// --- Writing ---

static void tell_escalation_locked(cadre_frame *frame, const cdr_tool_entry *entry)
{
    cadre_event event = {.type = CADRE_EVENT_ESCALATE};
    event.u.escalate.reason = entry->escalation;
    cdr_outbox_event_locked(frame, &event, NULL, false);
}

static void tell_transfer_locked(cadre_frame *frame, const cdr_tool_entry *entry,
                                 const verdict *v)
{
    cadre_event event = {.type = CADRE_EVENT_TRANSFER};
    if (v->is_escalation) {
        if (v->code == CADRE_RESULT_OK)
            tell_escalation_locked(frame, entry);
        return;
    }
    event.u.transfer.from = frame->name;
    event.u.transfer.to =
        v->decision.to == NULL ? entry->target : v->decision.to->info.name;
    event.u.transfer.message = entry->target_message;
    event.u.transfer.decision = v->word;
    event.u.transfer.reason = strcmp(v->word, "done") == 0 ? "" : v->decision.text;
    cdr_outbox_event_locked(frame, &event, NULL, false);
}

// Writes all results of transfers and the target's frame in one commit.
static cadre_status write_transfers(cadre_frame *frame, cdr_round *round,
                                    const verdict *verdicts, size_t winner,
                                    cadre_error *err)
{
    cdr_mutex_lock(&frame->tree->mu);
    cadre_status status = cdr_frame_stopped(frame, err); // then nobody answers
    for (size_t i = 0; status == CADRE_OK && i < round->n_entries; i++) {
        cdr_tool_entry *entry = &round->entries[i];
        const verdict *v = &verdicts[i];
        if (v->word == NULL || entry->is_settled)
            continue;
        tell_transfer_locked(frame, entry, v);
        cdr_tool_settle_locked(
            frame, entry,
            &(cdr_tool_result){.code = v->code,
                               .text = v->decision.text,
                               .is_escalation = i == winner && v->is_escalation,
                               .to = i == winner && !v->is_escalation
                                         ? v->decision.to->info.name
                                         : ""});
    }
    if (status == CADRE_OK && winner < round->n_entries &&
        !verdicts[winner].is_escalation)
        status = cdr_enter_target_locked(frame, &verdicts[winner].decision,
                                         round->entries[winner].target_message, err);
    cdr_mutex_unlock(&frame->tree->mu);
    return status;
}

// --- Deciding ---

// The verdicts of a round, in call order; n_entries where nobody won, nothing stops.
typedef struct verdicts {
    verdict *of;
    size_t winner, stop;
} verdicts;

static cadre_status decide_all(cadre_frame *frame, const cdr_round *round,
                               verdicts *all, cadre_error *err)
{
    size_t n = round->n_entries;
    for (size_t i = 0; i < n; i++) {
        const cdr_tool_entry *entry = &round->entries[i];
        verdict *v = &all->of[i];
        if (entry->target == NULL && !cdr_tool_escalates(entry))
            continue;
        if (all->stop < n) {
            pass_over(v);
            continue;
        }
        const verdict *won = all->winner < n ? &all->of[all->winner] : NULL;
        cadre_status status = decide_entry(frame, entry, won, v, err);
        if (status != CADRE_OK)
            return status;
        if (won == NULL && (v->is_escalation || v->decision.kind == CDR_TRANSFER_DONE))
            all->winner = i;
        if (v->decision.kind == CDR_TRANSFER_STOP)
            all->stop = i;
    }
    return CADRE_OK;
}

// What the winner has added. The record of a frame that handed over has it already.
static cadre_status take_state(cadre_frame *frame, const cdr_round *round,
                               const verdicts *all, cadre_error *err)
{
    const cdr_tool_entry *entry = &round->entries[all->winner];
    if (entry->is_settled && !all->of[all->winner].is_escalation)
        return CADRE_OK;
    return cdr_state_take_call(frame, entry, err);
}

cadre_status cdr_decide_turn(cadre_frame *frame, cdr_round *round, cadre_error *err)
{
    size_t n = round->n_entries;
    verdicts all = {calloc(n, sizeof *all.of), n, n};
    if (all.of == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a transfer");
    cadre_status status = decide_all(frame, round, &all, err);
    if (status == CADRE_OK && all.winner < n)
        status = take_state(frame, round, &all, err);
    if (status == CADRE_OK)
        status = write_transfers(frame, round, all.of, all.winner, err);
    if (status == CADRE_OK && all.stop < n)
        status = cdr_transfer_stop(frame, &all.of[all.stop].decision, err);
    else if (status == CADRE_OK && all.winner < n && all.of[all.winner].is_escalation)
        status = CADRE_ESCALATED;
    free(all.of);
    return status;
}
