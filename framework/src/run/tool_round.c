// See tool_round.h.
#include "run/tool_round.h"

#include "run/scope.h"
#include "run/tool_record.h"
#include "run/tool_result.h"
#include "tree/birth.h"
#include "tree/delta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        cdr_tool_record_take(entry, how);
    // Under a mark nothing is born; then the calls are never run.
    return status != CADRE_ENOMEM;
}

void cdr_round_free(cdr_round *round)
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
        entry->tool = cdr_offer_find(offer, entry->call->name);
        entry->is_named_target =
            entry->tool == NULL && frame->scope != NULL &&
            cdr_scope_find(frame->scope, entry->call->name) != NULL;
        if (entry->tool == NULL && round->offered == NULL)
            round->offered = cdr_offer_names(offer);
        if (!birth_entry_locked(frame, entry, turn, i)) {
            cdr_round_free(round);
            return NULL;
        }
    }
    return round;
}

void cdr_round_settle_rest(cadre_frame *frame, cdr_round *round)
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
    cdr_round_settle_rest(frame, round);
    cdr_round_drop(frame);
}

void cdr_round_drop(cadre_frame *frame)
{
    cdr_mutex_lock(&frame->tree->mu);
    cdr_round *round = frame->work->round;
    frame->work->round = NULL;
    cdr_mutex_unlock(&frame->tree->mu);
    if (round != NULL)
        cdr_round_free(round);
}

// What a stopped call of an abandoned frame came to; its thread goes on with the entry.
// Unchecked inside: all these frames have one lock.
void cdr_round_abandon_locked(cadre_frame *frame, cadre_frame *tool,
                              const cdr_ending *ending) CDR_NO_THREAD_SAFETY
{
    cdr_round *round = frame->work == NULL ? NULL : frame->work->round;
    cdr_ending own = *ending;
    for (size_t i = 0; round != NULL && i < round->n_entries; i++) {
        if (round->entries[i].frame != tool)
            continue;
        own.seq = cdr_tool_tell_abandoned_locked(&round->entries[i]);
        own.own.tool_calls = 1;
    }
    cdr_frame_end_locked(tool, &own);
}
