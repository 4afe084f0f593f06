// See tool_call.h.
#include "run/tool_call.h"

#include "run/ask.h"
#include "run/execute.h"
#include "run/recorded.h"
#include "run/tool_hook.h"
#include "run/tool_request.h"
#include "run/tool_result.h"
#include "tree/birth.h"
#include "tree/outbox.h"

#include <string.h>

const char *cdr_tool_scripted(cadre_frame *frame, const cadre_tool *tool,
                              bool *is_error)
{
    cdr_tree *tree = frame->tree;
    const cadre_team *team = tree->team;
    const char *text = NULL;
    if (team->script == NULL)
        return NULL;
    for (size_t i = 0; i < team->n_tools; i++) {
        if (team->tools[i] != tool)
            continue;
        cdr_mutex_lock(&tree->mu);
        text = cadre_script_tool_result(team->script, tool->info.name,
                                        tree->script_results[i], is_error);
        if (text != NULL)
            tree->script_results[i]++;
        cdr_mutex_unlock(&tree->mu);
    }
    return text;
}

// --- Starting ---

bool cdr_tool_starts_late(const cadre_frame *frame, const cdr_tool_entry *entry)
{
    return entry->tool->needs_approval || cdr_tool_hook_has_before(frame);
}

void cdr_tool_start(cadre_frame *frame, cdr_tool_entry *entry)
{
    cdr_tree *tree = frame->tree;
    bool is_told =
        entry->tool != NULL && (!entry->tool->replay_safe || entry->is_again);
    int64_t timeout_ms = entry->tool == NULL ? 0 : entry->tool->timeout_ms;
    if (entry->timeout_ms > 0)
        timeout_ms = entry->timeout_ms;
    cdr_mutex_lock(&tree->mu);
    if (entry->tool != NULL && cdr_tool_starts_late(frame, entry))
        entry->frame->started_ns = cdr_clock_now_ns(tree->runtime->clock);
    cdr_frame_start_locked(entry->frame, is_told);
    if (timeout_ms > 0) {
        int64_t deadline = cdr_deadline_ms(entry->frame->started_ns, timeout_ms);
        if (deadline < entry->frame->deadline_ms)
            entry->frame->deadline_ms = deadline;
    }
    cdr_mutex_unlock(&tree->mu);
}

static json_t *approval_question(const cadre_frame *frame, const cdr_tool_entry *entry)
{
    return json_pack("{s:o, s:[s, s], s:s, s:O, s:s}", "question",
                     json_sprintf("May %s call %s?", frame->name, entry->call->name),
                     "choices", "yes", "no", "tool", entry->call->name, "arguments",
                     entry->arguments, "agent", frame->name);
}

// Asks a person first; a call that they allow starts then. Errors: EREFUSED: denied.
static cadre_status await_approval(cadre_frame *frame, cdr_tool_entry *entry,
                                   cadre_error *err)
{
    json_t *answer = NULL;
    json_t *question = approval_question(frame, entry);
    if (question == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a question");
    cadre_status status = cdr_ask(entry->frame, "approval", question, &answer, err);
    json_decref(question);
    if (status != CADRE_OK)
        return status;
    const char *said = json_string_value(answer);
    bool is_allowed = said != NULL && strcmp(said, "yes") == 0;
    json_decref(answer);
    entry->is_denied = !is_allowed;
    if (!is_allowed)
        return cadre_fail(err, CADRE_EREFUSED,
                          "Not done: a person did not allow this call.");
    cdr_tool_start(frame, entry);
    return cdr_tree_flush(frame->tree, err);
}

// --- Running ---

static cadre_result_code code_of(const cadre_frame *frame, cadre_status status,
                                 const cadre_error *err)
{
    switch ((cdr_mark)frame->mark) {
    case CDR_MARK_TIMEOUT:
        return CADRE_RESULT_TIMEOUT;
    case CDR_MARK_REQUEST:
    case CDR_MARK_OWNER:
    case CDR_MARK_LOST:
    case CDR_MARK_BUDGET:
        return CADRE_RESULT_ABORTED;
    case CDR_MARK_NONE:
        break;
    }
    if (status == CADRE_OK)
        return CADRE_RESULT_OK;
    return err->error_class == CADRE_CLASS_TIMEOUT ? CADRE_RESULT_TIMEOUT
                                                   : CADRE_RESULT_TOOL_ERROR;
}

// What the model reads. A failed tool may have said more than an error holds.
static const char *text_of(const cdr_work *work, cadre_result_code code,
                           cadre_error *err)
{
    const char *said = cdr_text_bytes(work->output);
    if (code == CADRE_RESULT_ABORTED)
        return "aborted";
    if (code == CADRE_RESULT_TIMEOUT)
        cadre_fail(err, CADRE_ETIMEOUT, "the tool's time is up");
    if (code == CADRE_RESULT_TOOL_ERROR)
        cadre_fail(err, CADRE_EFAILED, "the tool failed without saying why");
    bool has_said =
        code == CADRE_RESULT_OK || (code != CADRE_RESULT_TIMEOUT && said[0] != '\0');
    return has_said ? said : err->text;
}

// What the tool's `run` came to: its result, a request to hand over, or that it waits.
static void take_result(cadre_frame *frame, cdr_tool_entry *entry, cadre_status status,
                        cadre_error *err)
{
    cdr_strand *strand = entry->frame->work->strand;
    if (entry->frame->work->sticky == CADRE_EPARKED)
        status = CADRE_EPARKED;
    entry->is_parked = cdr_is_parked(entry->frame, status, err);
    cadre_result_code code = code_of(entry->frame, status, err);
    if (entry->is_denied && code == CADRE_RESULT_TOOL_ERROR)
        code = CADRE_RESULT_BLOCKED;
    cdr_work *work = cdr_work_end(entry->frame);
    if (entry->is_parked) {
        cdr_mutex_lock(&frame->tree->mu);
        cdr_frame_park_locked(entry->frame);
        cdr_mutex_unlock(&frame->tree->mu);
        cdr_work_free(work);
        return;
    }
    if (code == CADRE_RESULT_OK)
        cdr_tool_request_take(entry, work);
    const char *text = text_of(work, code, err);
    if (entry->target == NULL && entry->escalation == NULL)
        cdr_tool_hook_settle(frame, entry, strand, &(cdr_tool_raw){code, text});
    cdr_work_free(work);
}

// What a script has in place of the tool's work; text NULL: nothing.
static cadre_status play(cadre_frame *frame, cdr_tool_entry *entry,
                         cdr_tool_raw *played, cadre_error *err)
{
    bool is_error = false;
    cadre_status status = cdr_recorded_result(entry, played, err);
    if (status != CADRE_OK || played->text != NULL)
        return status;
    played->text = cdr_tool_scripted(frame, entry->tool, &is_error);
    played->code = is_error ? CADRE_RESULT_TOOL_ERROR : CADRE_RESULT_OK;
    return CADRE_OK;
}

// Runs a tool to its result, or to its request for a transfer.
static void run_tool(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand)
{
    const cadre_tool *tool = entry->tool;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_tool_raw played = {CADRE_RESULT_OK, NULL};
    if (!cdr_work_begin(entry->frame, strand)) {
        cdr_tool_settle(frame, entry, CADRE_RESULT_TOOL_ERROR,
                        "no memory to run the tool");
        return;
    }
    entry->frame->work->call_id = entry->call->id;
    cadre_status status = cdr_frame_stopped(entry->frame, &err);
    if (status == CADRE_OK && tool->needs_approval)
        status = await_approval(frame, entry, &err);
    if (status == CADRE_OK)
        status = play(frame, entry, &played, &err);
    if (status == CADRE_OK && played.text != NULL) {
        cdr_work_free(cdr_work_end(entry->frame));
        cdr_tool_hook_settle(frame, entry, strand, &played);
        return;
    }
    if (status == CADRE_OK)
        status = tool->ops->run(tool->state, entry->frame, entry->arguments, &err);
    take_result(frame, entry, status, &err);
}

void cdr_tool_call_run(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand)
{
    if (entry->raw != NULL) {
        cdr_tool_hook_settle(frame, entry, strand,
                             &(cdr_tool_raw){entry->raw_code, entry->raw});
        return;
    }
    if (!cdr_tool_hook_before(frame, entry, strand))
        return;
    if (cdr_tool_starts_late(frame, entry) && !entry->tool->needs_approval) {
        cdr_tool_start(frame, entry);
        cdr_tree_flush(frame->tree, NULL); // a lost store marks the frames; they tell
    }
    run_tool(frame, entry, strand);
}

void cdr_tool_call_control(cadre_frame *frame, cdr_tool_entry *entry)
{
    if (!cdr_tool_hook_before(frame, entry, frame->work->strand))
        return;
    cdr_tool_start(frame, entry);
    if (entry->is_named_target)
        cdr_tool_request_by_name(frame, entry);
    else
        run_tool(frame, entry, frame->work->strand);
}
