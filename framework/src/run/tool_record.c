// See tool_record.h.
#include "run/tool_record.h"

#include "base/json_text.h"
#include "run/execute.h"
#include "run/tool_call.h"
#include "run/tool_hook.h"
#include "run/tool_request.h"
#include "run/tool_result.h"
#include "tree/delta.h"

#include <stdlib.h>
#include <string.h>

// --- Calls that ended ---

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

void cdr_tool_record_take(cdr_tool_entry *entry, cdr_entered how)
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
    entry->has_escalated = entry->frame->stop_reason == CADRE_STOP_ESCALATED;
    entry->delta = cdr_json_share(entry->frame->delta);
    if (result != NULL && cdr_tool_is_bad_call(entry->code))
        entry->complaint = strdup(result->m.text);
    take_hook_record(entry);
}

// Whichever tool asked for it, a transfer that was done stands in the record, and so
// does an escalation.
static bool note_done(cadre_frame *frame, cdr_tool_entry *entry)
{
    const cdr_message *result =
        atomic_load_explicit(entry->result, memory_order_acquire);
    if (entry->has_escalated)
        return true;
    if (result == NULL || result->m.to[0] == '\0')
        return false;
    cdr_mutex_lock(&frame->tree->mu);
    const cadre_frame *target = cdr_frame_child_locked(frame, "transfer");
    entry->target = strdup(result->m.to);
    entry->target_message = strdup(target == NULL ? "" : cdr_text_bytes(target->input));
    cdr_mutex_unlock(&frame->tree->mu);
    return true;
}

void cdr_tool_record_again(cadre_frame *frame, cdr_tool_entry *entry)
{
    const char *text = entry->call->arguments;
    bool is_decided =
        entry->code == CADRE_RESULT_BLOCKED || entry->code == CADRE_RESULT_OK;
    if (note_done(frame, entry) || !cdr_tool_is_control(entry) || !is_decided ||
        entry->is_of_hook)
        return; // what a hook blocked asked for nothing
    entry->arguments = cdr_json_parse_arguments(text, strlen(text), NULL);
    if (entry->arguments == NULL)
        return;
    if (entry->is_named_target) {
        cdr_tool_request_by_name(frame, entry);
    } else if (cdr_work_begin(entry->frame, frame->work->strand)) {
        const cadre_tool *tool = entry->tool;
        tool->ops->run(tool->state, entry->frame, entry->arguments, NULL);
        cdr_work *work = cdr_work_end(entry->frame);
        cdr_tool_request_take(entry, work);
        cdr_work_free(work);
    }
}

cadre_status cdr_tools_replay(cadre_frame *frame, cdr_round *round, cadre_error *err)
{
    for (size_t i = 0; i < round->n_entries; i++) {
        if (!round->entries[i].is_settled)
            return cadre_fail(err, CADRE_EDIVERGED,
                              "'%s' handed over, but a call of that turn is open",
                              frame->name);
        cdr_tool_record_again(frame, &round->entries[i]);
    }
    return CADRE_OK;
}

// --- Calls that were cut ---

// What a call that had started when the run was cut comes to: it runs again only where
// that does no harm, and not for ever. False: it runs.
static bool take_cut(cdr_tool_entry *entry, cdr_tool_raw *raw)
{
    if (!entry->was_running)
        return false;
    if (entry->frame->restarts > CDR_RESTART_LIMIT) {
        *raw = (cdr_tool_raw){CADRE_RESULT_RESTART_LIMIT,
                              "Not done: it was cut again and again while this call "
                              "ran."};
        return true;
    }
    *raw = (cdr_tool_raw){CADRE_RESULT_INTERRUPTED,
                          "Interrupted: this call may or may not have run."};
    return entry->tool != NULL &&
           (!entry->tool->replay_safe || entry->frame->was_unsafe);
}

// Its arguments, as they were then, for the hooks; they were checked.
static bool keep_raw(cdr_tool_entry *entry, const cdr_tool_raw *raw)
{
    const char *text = entry->call->arguments;
    entry->raw_code = raw->code;
    entry->raw = strdup(raw->text);
    entry->arguments = cdr_json_parse_arguments(text, strlen(text), NULL);
    return entry->raw != NULL && entry->arguments != NULL;
}

// A scripted tool that had its result before the cut does not give it again.
static void skip_scripted(cadre_frame *frame, const cdr_tool_entry *entry)
{
    bool is_error = false;
    if (!entry->is_of_hook && entry->tool != NULL &&
        (entry->raw_code == CADRE_RESULT_OK ||
         entry->raw_code == CADRE_RESULT_TOOL_ERROR))
        cdr_tool_scripted(frame, entry->tool, &is_error);
}

bool cdr_tool_record_use_cut(cadre_frame *frame, cdr_tool_entry *entry, bool *is_job)
{
    cdr_tool_raw raw;
    if (cdr_tool_hook_recall(frame, entry)) {
        skip_scripted(frame, entry);
        *is_job = true;
        return true;
    }
    if (!take_cut(entry, &raw))
        return false;
    *is_job = cdr_tool_hook_has_after(frame, entry) && keep_raw(entry, &raw);
    if (!*is_job)
        cdr_tool_settle(frame, entry, raw.code, raw.text);
    return true;
}
