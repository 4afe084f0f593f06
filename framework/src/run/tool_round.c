// See tool_round.h.
#include "run/tool_round.h"

#include "base/brief.h"
#include "base/buf.h"
#include "run/arguments.h"
#include "run/call.h"
#include "run/fallback.h"
#include "run/hook.h"
#include "run/progress.h"
#include "run/state.h"
#include "run/tool_run.h"
#include "tree/delta.h"
#include "tree/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- What is offered ---

static bool describe(const cadre_tool *tool, cadre_frame *frame, cadre_tool_info *info)
{
    *info = tool->info;
    return tool->ops->describe == NULL || tool->ops->describe(tool->state, frame, info);
}

bool cdr_offer_init(cdr_offer *offer, cadre_frame *frame, cadre_tools tools,
                    cdr_arena *arena)
{
    const cadre_scope *scope = cadre_frame_scope(frame);
    size_t n_all = tools.count + frame->tools.count;
    size_t max = n_all + 1;
    offer->count = 0;
    offer->tools = cdr_arena_alloc(arena, max * sizeof *offer->tools);
    offer->infos = cdr_arena_alloc(arena, max * sizeof *offer->infos);
    if (offer->tools == NULL || offer->infos == NULL)
        return false;
    for (size_t i = 0; i < max; i++) {
        const cadre_tool *tool = NULL;
        if (i < tools.count)
            tool = tools.items[i];
        else if (i < n_all)
            tool = frame->tools.items[i - tools.count];
        else if (scope != NULL && cadre_frame_targets(frame).count > 0)
            tool = scope->tool;
        if (tool == NULL || !describe(tool, frame, &offer->infos[offer->count]))
            continue;
        offer->tools[offer->count++] = tool;
    }
    return true;
}

// --- Making the round ---

static const cadre_tool *find_tool(const cdr_offer *offer, const char *name)
{
    for (size_t i = 0; i < offer->count; i++)
        if (strcmp(offer->infos[i].name, name) == 0)
            return offer->tools[i];
    return NULL;
}

// "add, transfer_to_agent", or "none"; NULL: no memory.
static char *list_offered(const cdr_offer *offer)
{
    cdr_buf text = CDR_BUF_INIT;
    for (size_t i = 0; i < offer->count; i++)
        cdr_buf_printf(&text, "%s%s", i == 0 ? "" : ", ", offer->infos[i].name);
    if (offer->count == 0)
        cdr_buf_append_text(&text, "none");
    return cdr_buf_take(&text);
}

// What hooks had to do with a call that has ended; see hook.h.
static void take_hook_record(cdr_tool_entry *entry)
{
    const cdr_failure *failure = entry->frame->failure;
    if (failure == NULL)
        return;
    entry->is_of_hook = failure->error_class == CADRE_CLASS_HOOK;
    if (entry->code != CADRE_RESULT_ABORTED ||
        entry->frame->status != CADRE_FRAME_FAILED)
        return;
    entry->hook_error = calloc(1, sizeof *entry->hook_error);
    if (entry->hook_error != NULL)
        cadre_fail_class(entry->hook_error, CADRE_EFAILED, failure->error_class,
                         failure->retryable, "%s", failure->message);
}

// The call is in the record: with its result, or cut before it had one.
static void take_record(cdr_tool_entry *entry, cdr_entered how)
{
    cdr_message *result = NULL;
    if (how == CDR_ENTERED_AGAIN) {
        entry->is_again = true;
        entry->was_running = entry->frame->was_running;
        entry->was_waiting = entry->frame->was_waiting;
        return;
    }
    if (entry->result != NULL)
        result = atomic_load_explicit(entry->result, memory_order_acquire);
    entry->is_settled = true;
    entry->code = result == NULL ? CADRE_RESULT_ABORTED : result->m.code;
    entry->delta = cdr_json_share(entry->frame->delta);
    if (result != NULL && cdr_tool_is_bad_call(entry->code))
        entry->complaint = strdup(result->m.text);
    take_hook_record(entry);
}

static bool birth_entry_locked(cadre_frame *frame, cdr_tool_entry *entry, int turn,
                               size_t index) CDR_REQUIRES(frame->tree->mu)
{
    char key[40];
    cdr_entered how = CDR_ENTERED_NEW;
    cadre_event event = {.type = CADRE_EVENT_TOOL_CALL};
    event.u.tool_call.call_id = entry->call->id;
    event.u.tool_call.name = entry->call->name;
    event.u.tool_call.arguments = entry->call->arguments;
    snprintf(key, sizeof key, "%d/%zu", turn, index);
    cdr_text *input =
        cdr_text_new(entry->call->arguments, strlen(entry->call->arguments));
    cdr_birth birth = {.kind = CDR_FRAME_TOOL,
                       .name = entry->call->name,
                       .agent = frame->agent,
                       .key = key,
                       .input = input,
                       .event = &event,
                       .is_pending = true,
                       .replay_safe = entry->tool != NULL && entry->tool->replay_safe};
    cadre_status status =
        input == NULL
            ? CADRE_ENOMEM
            : cdr_frame_enter_locked(frame, &birth, &entry->frame, &how, NULL);
    cdr_text_unref(input);
    if (status == CADRE_OK && how != CDR_ENTERED_NEW)
        take_record(entry, how);
    // Under a mark nothing is born; then the calls are never run.
    return status != CADRE_ENOMEM;
}

static void round_free(cdr_round *round)
{
    for (size_t i = 0; i < round->n_entries; i++) {
        json_decref(round->entries[i].arguments);
        cdr_json_unshare(round->entries[i].delta);
        free(round->entries[i].target);
        free(round->entries[i].target_message);
        free(round->entries[i].escalation);
        free(round->entries[i].raw);
        free(round->entries[i].hook_error);
        free(round->entries[i].complaint);
    }
    cdr_message_unref(round->message);
    free(round->offered);
    free(round);
}

cdr_round *cdr_round_new_locked(cadre_frame *frame, cdr_message *message, int turn,
                                const cdr_offer *offer)
{
    size_t n = message->m.n_tool_calls;
    cdr_round *round = calloc(1, sizeof *round + n * sizeof(cdr_tool_entry));
    if (round == NULL)
        return NULL;
    round->message = cdr_message_ref(message);
    round->n_entries = n;
    for (size_t i = 0; i < n; i++) {
        cdr_tool_entry *entry = &round->entries[i];
        entry->call = &message->m.tool_calls[i];
        entry->result = &message->results[i];
        entry->tool = find_tool(offer, entry->call->name);
        entry->is_named_target =
            entry->tool == NULL && frame->scope != NULL &&
            cdr_scope_find(frame->scope, entry->call->name) != NULL;
        if (entry->tool == NULL && round->offered == NULL)
            round->offered = list_offered(offer);
        if (!birth_entry_locked(frame, entry, turn, i)) {
            round_free(round);
            return NULL;
        }
    }
    return round;
}

// --- Transfers ---

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
    if (entry->escalation != NULL) {
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

// The scope that the target works in: that of who hands over; who falls back to an
// agent that is no member there lets it work in none.
static cdr_scope_state *scope_of_target(const cadre_frame *frame,
                                        const cdr_transfer_decision *decision)
{
    bool is_known = !decision->is_fallback || frame->scope == NULL ||
                    cdr_scope_has(frame->scope, decision->to);
    return is_known ? frame->scope : NULL;
}

cadre_status cdr_enter_target_locked(cadre_frame *frame,
                                     const cdr_transfer_decision *decision,
                                     const char *message, cadre_error *err)
{
    const cadre_agent *to = decision->to;
    cdr_entered how = CDR_ENTERED_NEW;
    cadre_frame *target = NULL;
    cdr_birth birth = {
        .kind = CDR_FRAME_AGENT,
        .name = to->info.name,
        .agent = to,
        .key = "transfer",
        .scope = scope_of_target(frame, decision),
        .history = decision->history,
        .is_quiet = to->quiet || decision->is_quiet,
        .is_transfer = true,
        .is_pending = true,
        .deadline_ms = frame->scope == NULL ? 0 : frame->scope->deadline_ms,
        .timeout_ms = cdr_shorter_ms(decision->timeout_ms, to->timeout_ms)};
    if (message != NULL && message[0] != '\0')
        birth.input = cdr_text_new(message, strlen(message));
    cadre_status status = cdr_frame_enter_locked(frame, &birth, &target, &how, err);
    if (status == CADRE_OK) {
        cadre_message said = {.role = CADRE_ROLE_USER,
                              .agent = frame->name,
                              .to = to->info.name,
                              .text = message,
                              .is_input = true};
        target->source = decision->is_fallback ? frame->source : frame;
        frame->work->transfer = target;
        if (how == CDR_ENTERED_NEW && frame->delta != NULL)
            cdr_outbox_delta_locked(frame); // it is never run again
        if (birth.input != NULL && how == CDR_ENTERED_NEW &&
            !cdr_say_locked(target,
                            cdr_message_new(&said, (cadre_id){0, 0}, target->id)))
            status = cadre_fail(err, CADRE_ENOMEM, "no memory for a transfer");
    }
    cdr_text_unref(birth.input);
    return status;
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
        cdr_tool_settle_locked(frame, entry,
                               &(cdr_tool_result){.code = v->code,
                                                  .text = v->decision.text,
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

static cadre_status stop_for(cadre_frame *frame, const cdr_transfer_decision *decision,
                             cadre_error *err)
{
    frame->work->stop_reason = (unsigned char)decision->stop_reason;
    return cadre_fail_class(
        err, CADRE_EFAILED,
        decision->stop_reason == CADRE_STOP_LOOP ? CADRE_CLASS_LOOP : CADRE_CLASS_LIMIT,
        false, "%s: %s", decision->text, cadre_frame_path(frame));
}

static cadre_status decide_transfers(cadre_frame *frame, cdr_round *round,
                                     cadre_error *err)
{
    verdict *verdicts = calloc(round->n_entries, sizeof *verdicts);
    size_t winner = round->n_entries;
    size_t stop = round->n_entries;
    cadre_status status = CADRE_OK;
    if (verdicts == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a transfer");
    for (size_t i = 0; status == CADRE_OK && i < round->n_entries; i++) {
        const cdr_tool_entry *entry = &round->entries[i];
        if (entry->target == NULL && entry->escalation == NULL)
            continue;
        if (stop < round->n_entries) {
            pass_over(&verdicts[i]);
            continue;
        }
        const verdict *won = winner < round->n_entries ? &verdicts[winner] : NULL;
        status = decide_entry(frame, entry, won, &verdicts[i], err);
        if (winner == round->n_entries &&
            (verdicts[i].is_escalation ||
             verdicts[i].decision.kind == CDR_TRANSFER_DONE))
            winner = i;
        if (verdicts[i].decision.kind == CDR_TRANSFER_STOP)
            stop = i;
    }
    if (status == CADRE_OK)
        status = write_transfers(frame, round, verdicts, winner, err);
    if (status == CADRE_OK && stop < round->n_entries)
        status = stop_for(frame, &verdicts[stop].decision, err);
    else if (status == CADRE_OK && winner < round->n_entries &&
             verdicts[winner].is_escalation)
        status = CADRE_ESCALATED;
    free(verdicts);
    return status;
}

// --- From the record ---

cdr_message *cdr_recorded_answer_locked(cadre_frame *frame, int turn)
{
    char key[16];
    snprintf(key, sizeof key, "%d", turn);
    const cadre_frame *model = cdr_frame_child_locked(frame, key);
    if (model == NULL || model->kind != CDR_FRAME_MODEL ||
        model->status != CADRE_FRAME_COMPLETED)
        return NULL;
    return cdr_conversation_find(frame->conversation, cdr_text_bytes(model->output),
                                 &frame->work->n_read);
}

// Does the frame hand back to who handed over to it, without a word? That is what it
// does by itself after an answer where the scope returns to the source.
static bool is_return(const cadre_frame *frame, const cadre_agent *to,
                      const char *message)
{
    return frame->source != NULL && frame->scope->scope->return_to_source &&
           frame->source->agent == to && message[0] == '\0';
}

// Enters what the frame's own code hands over to.
static cadre_status enter_own(cadre_frame *frame, const cdr_transfer_decision *decision,
                              const char *message, cadre_error *err)
{
    bool returns = is_return(frame, decision->to, message);
    cdr_mutex_lock(&frame->tree->mu);
    cadre_status status = cdr_enter_target_locked(frame, decision, message, err);
    if (status == CADRE_OK && returns)
        frame->work->transfer->source = frame->source->source;
    cdr_mutex_unlock(&frame->tree->mu);
    return status;
}

static cadre_status replay_round(cadre_frame *frame, cdr_message *message, int turn,
                                 cadre_error *err)
{
    cdr_arena arena = CDR_ARENA_INIT;
    cdr_offer offer;
    cdr_round *round = NULL;
    cadre_status status = CADRE_ENOMEM;
    if (cdr_offer_init(&offer, frame, cadre_agent_tools(frame->agent), &arena)) {
        cdr_mutex_lock(&frame->tree->mu);
        round = cdr_round_new_locked(frame, message, turn, &offer);
        cdr_mutex_unlock(&frame->tree->mu);
    }
    if (round != NULL)
        status = cdr_tools_replay(frame, round, err);
    if (round != NULL && status == CADRE_OK)
        status = decide_transfers(frame, round, err);
    if (round != NULL)
        round_free(round);
    cdr_arena_fini(&arena);
    return round == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for a record")
                         : status;
}

// Of a frame whose own code, or a hook, handed over: no call asked for it. A return is
// left to who makes it.
static cadre_status replay_own_transfer(cadre_frame *frame, cadre_error *err)
{
    cdr_transfer_decision decision;
    cdr_mutex_lock(&frame->tree->mu);
    const cadre_frame *target = cdr_frame_child_locked(frame, "transfer");
    cdr_text *input = cdr_text_ref(target->input);
    const cadre_agent *to = target->agent;
    cdr_mutex_unlock(&frame->tree->mu);
    const char *message = cdr_text_bytes(input);
    cadre_status status = CADRE_OK;
    if (!is_return(frame, to, message)) {
        status = cdr_scope_decide(frame->scope, frame->agent, to->info.name, message,
                                  &decision, err);
        if (status == CADRE_OK && decision.kind == CDR_TRANSFER_DONE)
            status = enter_own(frame, &decision, message, err);
    }
    cdr_text_unref(input);
    return status;
}

cadre_status cdr_replay_transfers(cadre_frame *frame, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (int turn = 1; status == CADRE_OK && frame->work->transfer == NULL; turn++) {
        cdr_mutex_lock(&frame->tree->mu);
        cdr_message *message = cdr_recorded_answer_locked(frame, turn);
        if (message != NULL)
            cdr_message_ref(message);
        cdr_mutex_unlock(&frame->tree->mu);
        if (message == NULL)
            break;
        status = replay_round(frame, message, turn, err);
        cdr_message_unref(message);
    }
    if (status != CADRE_OK || frame->work->transfer != NULL)
        return status;
    if (cdr_has_fallen_back(frame))
        return cdr_fall_back_again(frame, err);
    return replay_own_transfer(frame, err);
}

static cadre_status transfer(cadre_frame *frame, const cadre_call *call,
                             const char *message, cadre_error *err)
{
    cdr_transfer_decision decision;
    cadre_status status = cdr_scope_decide(
        frame->scope, frame->agent, call->agent->info.name, message, &decision, err);
    if (status != CADRE_OK)
        return status;
    if (decision.kind == CDR_TRANSFER_STOP)
        return stop_for(frame, &decision, err);
    if (decision.kind != CDR_TRANSFER_DONE)
        return cadre_fail(err, CADRE_EREFUSED, "%s", decision.text);
    if (call->history != CADRE_HISTORY_DEFAULT)
        decision.history = call->history;
    decision.timeout_ms = cdr_shorter_ms(decision.timeout_ms, call->timeout_ms);
    decision.is_quiet = (call->flags & CADRE_CALL_QUIET) != 0;
    return enter_own(frame, &decision, message, err);
}

cadre_status cadre_frame_transfer(cadre_frame *frame, const cadre_call *call,
                                  cadre_error *err)
{
    cadre_status status = cdr_check_call(frame, call, err);
    if (status != CADRE_OK)
        return status;
    if (frame->kind != CDR_FRAME_AGENT || frame->scope == NULL)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': a transfer needs the scope of a topology",
                          frame->name);
    status = cdr_hook_refuse(frame, true, __func__, err);
    if (status != CADRE_OK)
        return status;
    if (frame->work->transfer != NULL)
        return cadre_fail(err, CADRE_EREFUSED, "'%s' was handed over to '%s' already",
                          frame->name, frame->work->transfer->name);
    cdr_text *input = NULL;
    status = cdr_call_input(call, &input, err);
    if (status == CADRE_OK)
        status = transfer(frame, call, cdr_text_bytes(input), err);
    cdr_text_unref(input);
    return status;
}

// --- The round ---

// What a stopped round has left open: each call gets its one result.
static void settle_rest(cadre_frame *frame, cdr_round *round)
{
    cdr_mutex_lock(&frame->tree->mu);
    for (size_t i = 0; i < round->n_entries; i++)
        cdr_tool_settle_locked(
            frame, &round->entries[i],
            &(cdr_tool_result){.code = CADRE_RESULT_ABORTED,
                               .text = "Not done: the turn was stopped."});
    cdr_mutex_unlock(&frame->tree->mu);
}

void cdr_round_close(cadre_frame *frame)
{
    cdr_round *round = frame->work->round;
    if (round == NULL)
        return;
    settle_rest(frame, round);
    frame->work->round = NULL;
    round_free(round);
}

void cdr_round_drop(cadre_frame *frame)
{
    cdr_round *round = frame->work->round;
    frame->work->round = NULL;
    if (round != NULL)
        round_free(round);
}

static void count_bad(cadre_frame *frame, const cdr_round *round, cadre_round *out)
{
    const cdr_tool_entry *last = NULL;
    for (size_t i = 0; i < round->n_entries; i++) {
        const cdr_tool_entry *entry = &round->entries[i];
        if (!cdr_tool_is_bad_call(entry->code))
            continue;
        out->n_bad++;
        last = entry;
    }
    if (last == NULL)
        return;
    char brief[CDR_BRIEF_SIZE];
    const char *text = cadre_frame_printf(
        frame, "%s: %s", cdr_brief_text(brief, last->call->name, '\0'),
        last->complaint == NULL ? "no memory to tell why" : last->complaint);
    out->last_bad = text == NULL ? "" : text;
}

cadre_status cadre_frame_run_tools(cadre_frame *frame, const cadre_answer *answer,
                                   cadre_round *out, cadre_error *err)
{
    if (frame == NULL || answer == NULL || out == NULL)
        return cdr_fail_null(err, __func__);
    cdr_round *round = frame->work->round;
    *out = (cadre_round){.last_bad = ""};
    if (round == NULL || &round->message->m != answer->message)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': run_tools needs the answer just asked for",
                          frame->name);
    cadre_status status = cdr_check_frame(frame, err);
    if (status == CADRE_OK) {
        cdr_progress_begin(frame, round);
        status = cdr_tools_run(frame, round, err);
    }
    if (status == CADRE_OK)
        status = cdr_frame_stopped(frame, err);
    if (status == CADRE_OK)
        status = cdr_state_take_round(frame, round, err);
    if (status == CADRE_OK)
        status = decide_transfers(frame, round, err);
    if (status != CADRE_OK) {
        if (status != CADRE_EPARKED && status != CADRE_ESCALATED)
            settle_rest(frame, round);
        return status;
    }
    cdr_progress_end(frame, round);
    out->n_calls = round->n_entries;
    out->is_blocked = round->recurs.is_blocked;
    count_bad(frame, round, out);
    out->transferred = frame->work->transfer != NULL;
    return CADRE_OK;
}

cadre_status cadre_frame_stop(cadre_frame *frame, cadre_stop_reason reason,
                              cadre_error *err, const char *format, ...)
{
    if (frame == NULL || format == NULL)
        return cdr_fail_null(err, __func__);
    cdr_work *work = frame->work;
    work->stop_reason = (unsigned char)reason;
    // What goes round in a loop has not answered, whatever it said on the way.
    bool may_answer = reason != CADRE_STOP_LOOP && reason != CADRE_STOP_MAX_STEPS;
    if (may_answer && cdr_text_bytes(work->output)[0] != '\0')
        return CADRE_OK;
    va_list args;
    va_start(args, format);
    char *text = cdr_arena_vprintf(&work->arena, format, args);
    va_end(args);
    return cadre_fail_class(err, CADRE_EFAILED,
                            reason == CADRE_STOP_LOOP ? CADRE_CLASS_LOOP
                                                      : CADRE_CLASS_LIMIT,
                            false, "%s", text == NULL ? "" : text);
}
