// See tool_run.h.
#include "run/tool_run.h"

#include "base/brief.h"
#include "base/buf.h"
#include "base/json_text.h"
#include "base/schema.h"
#include "run/ask.h"
#include "run/call.h"
#include "run/hook.h"
#include "run/progress.h"
#include "run/tool_hook.h"
#include "tree/delta.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_RESULT_BYTES = 256 * 1024
};

// --- Results ---

static void frame_ending(const cdr_tool_result *result, cdr_ending *ending)
{
    cadre_result_code code = result->code;
    ending->status = CADRE_FRAME_COMPLETED;
    ending->stop_reason = CADRE_STOP_FINAL;
    if (code == CADRE_RESULT_TIMEOUT) {
        ending->status = CADRE_FRAME_TIMEOUT;
        ending->stop_reason = CADRE_STOP_TIMEOUT;
    } else if (code == CADRE_RESULT_ABORTED && result->hook_error == NULL) {
        ending->status = CADRE_FRAME_ABORTED;
        ending->stop_reason = CADRE_STOP_ABORTED;
    } else if (code != CADRE_RESULT_OK) {
        ending->status = CADRE_FRAME_FAILED;
        ending->stop_reason = code == CADRE_RESULT_INTERRUPTED ? CADRE_STOP_INTERRUPTED
                              : code == CADRE_RESULT_RESTART_LIMIT
                                  ? CADRE_STOP_RESTART_LIMIT
                                  : CADRE_STOP_ERROR;
    }
}

static cdr_failure *failure_of_result(const cadre_frame *frame,
                                      const cdr_tool_result *result)
{
    cadre_error err = CADRE_ERROR_INIT;
    char id[CADRE_ID_TEXT_SIZE];
    if (result->code == CADRE_RESULT_OK)
        return NULL;
    cadre_id_text(frame->id, id);
    if (result->hook_error != NULL)
        return cdr_failure_new(result->hook_error, frame->agent->info.name, id);
    cadre_fail_class(&err, CADRE_EFAILED,
                     result->is_of_hook ? CADRE_CLASS_HOOK : CADRE_CLASS_TOOL, false,
                     "%s: %s", cadre_result_code_name(result->code), result->text);
    return cdr_failure_new(&err, frame->agent->info.name, id);
}

char *cdr_tool_cap(const char *text)
{
    size_t len = strlen(text);
    if (len <= MAX_RESULT_BYTES)
        return NULL;
    size_t kept = MAX_RESULT_BYTES;
    while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
        kept--;
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append(&buf, text, kept);
    cdr_buf_printf(&buf, "\n[cut: %zu of %zu bytes shown]", kept, len);
    if (buf.failed) {
        cdr_buf_fini(&buf);
        return NULL;
    }
    return cdr_buf_take(&buf);
}

// What the guard against loops adds to it; `cut` is taken over. NULL: it stays as it
// is.
static char *noted(const cadre_frame *frame, const cdr_tool_entry *entry,
                   const cdr_tool_result *result, char *cut)
{
    char note[CDR_PROGRESS_NOTE_SIZE];
    const cdr_round *round = frame->work == NULL ? NULL : frame->work->round;
    const char *text = cut == NULL ? result->text : cut;
    if (cdr_progress_note(round, entry, result->code, text, note) == NULL)
        return cut;
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append_text(&buf, text);
    cdr_buf_append_text(&buf, note);
    if (buf.failed) {
        cdr_buf_fini(&buf);
        return cut;
    }
    free(cut);
    return cdr_buf_take(&buf);
}

static int64_t tell_result_locked(cdr_tool_entry *entry, const cdr_tool_result *result,
                                  const char *text)
{
    cadre_frame *frame = entry->frame;
    int64_t now = cdr_clock_now_ns(frame->tree->runtime->clock);
    cadre_event event = {.type = CADRE_EVENT_TOOL_RESULT};
    event.u.tool_result.call_id = entry->call->id;
    event.u.tool_result.name = entry->call->name;
    event.u.tool_result.result = text;
    event.u.tool_result.code = result->code;
    event.u.tool_result.duration_ms = (now - frame->started_ns) / 1000000;
    return cdr_outbox_event_locked(frame, &event, NULL, true);
}

// Says the result in the conversation. False: no memory.
static bool say_result_locked(cadre_frame *frame, const cadre_message *said)
    CDR_REQUIRES(frame->tree->mu)
{
    cdr_message *message = cdr_message_new(said, (cadre_id){0, 0}, frame->id);
    if (message == NULL || !cdr_conversation_append_take(frame->conversation, message))
        return false;
    cdr_outbox_message_locked(frame, frame->conversation, message);
    return true;
}

void cdr_tool_settle_locked(cadre_frame *frame, cdr_tool_entry *entry,
                            const cdr_tool_result *result)
{
    if (entry->is_settled || entry->frame == NULL)
        return;
    if (entry->frame->status >= CADRE_FRAME_COMPLETED) { // it was abandoned
        entry->is_settled = true;
        entry->code = CADRE_RESULT_ABORTED;
        return;
    }
    char *made = cdr_tool_cap(result->text);
    made = noted(frame, entry, result, made);
    const char *text = made == NULL ? result->text : made;
    cdr_text *output = cdr_text_new(text, strlen(text));
    cdr_ending ending = {.output = output,
                         .failure = failure_of_result(frame, result),
                         .own = {.tool_calls = 1}};
    frame_ending(result, &ending);
    ending.seq = tell_result_locked(entry, result, text);
    cadre_message said = {.role = CADRE_ROLE_TOOL,
                          .agent = frame->name,
                          .to = result->to,
                          .text = text,
                          .call_id = entry->call->id,
                          .tool_name = entry->call->name,
                          .seq = ending.seq,
                          .code = result->code};
    bool ok = say_result_locked(frame, &said) && output != NULL;
    // Without its result the model would take the call for an interrupted one.
    if (!ok)
        cadre_fail(&frame->tree->lost, CADRE_ESTORE, "no memory for a tool's result");
    cdr_frame_end_locked(entry->frame, &ending);
    entry->delta = cdr_json_share(entry->frame->delta);
    cdr_frame_release_locked(entry->frame);
    if (cdr_tool_is_bad_call(result->code))
        entry->complaint = strdup(text); // without memory it counts, unexplained
    cdr_text_unref(output);
    free(made);
    entry->frame = NULL;
    entry->is_settled = true;
    entry->code = result->code;
}

static void settle(cadre_frame *frame, cdr_tool_entry *entry, cadre_result_code code,
                   const char *text)
{
    cdr_mutex_lock(&frame->tree->mu);
    cdr_tool_settle_locked(frame, entry,
                           &(cdr_tool_result){.code = code, .text = text});
    cdr_mutex_unlock(&frame->tree->mu);
}

// --- Before running ---

bool cdr_tool_is_control(const cdr_tool_entry *entry)
{
    return entry->is_named_target ||
           (entry->tool != NULL && entry->tool->ops->is_control);
}

static void settle_unknown(cadre_frame *frame, const cdr_round *round,
                           cdr_tool_entry *entry)
{
    cdr_buf text = CDR_BUF_INIT;
    char brief[CDR_BRIEF_SIZE];
    cdr_buf_printf(&text, "There is no tool %s. Tools: ",
                   cdr_brief_text(brief, entry->call->name, '\''));
    cdr_buf_append_text(&text, round->offered == NULL ? "none" : round->offered);
    cdr_buf_append_text(&text, ".");
    settle(frame, entry, CADRE_RESULT_UNKNOWN_TOOL, cdr_buf_text(&text));
    cdr_buf_fini(&text);
}

static void fill_in_defaults(const json_t *schema, json_t **arguments, cadre_error *err)
{
    json_t *filled = cdr_schema_with_defaults(schema, *arguments);
    json_decref(*arguments);
    *arguments = filled;
    if (filled == NULL)
        cadre_fail(err, CADRE_ENOMEM, "no memory for the arguments");
}

// Checks the arguments; a wrong call gets its result here.
static bool check_arguments(cadre_frame *frame, cdr_tool_entry *entry)
{
    cadre_error err = CADRE_ERROR_INIT;
    const char *text = entry->call->arguments;
    const json_t *schema = entry->is_named_target ? NULL : entry->tool->info.parameters;
    entry->arguments = cdr_json_parse_arguments(text, strlen(text), &err);
    if (entry->arguments != NULL && schema != NULL &&
        cdr_schema_check_text(schema, entry->arguments, &err) == CADRE_OK)
        fill_in_defaults(schema, &entry->arguments, &err);
    if (err.status == CADRE_OK && entry->arguments != NULL)
        return true;
    settle(frame, entry, CADRE_RESULT_INVALID_ARGUMENTS, err.text);
    return false;
}

// A member's name called as a tool: hand over, with what looks like the message.
static bool ask_by_name(cadre_frame *frame, cdr_tool_entry *entry)
{
    static const char *const keys[] = {"message", "request", "input", "task", "text"};
    const char *message = "";
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && message[0] == '\0'; i++) {
        const char *value =
            json_string_value(json_object_get(entry->arguments, keys[i]));
        message = value == NULL ? "" : value;
    }
    entry->target = strdup(entry->call->name);
    entry->target_message = strdup(message);
    if (entry->target != NULL && entry->target_message != NULL)
        return true;
    settle(frame, entry, CADRE_RESULT_TOOL_ERROR, "no memory for a transfer");
    return false;
}

static const char *scripted_result(cadre_frame *frame, const cadre_tool *tool,
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

static cadre_result_code code_of(const cadre_frame *frame, cadre_status status,
                                 const cadre_error *err)
{
    switch ((cdr_mark)frame->mark) {
    case CDR_MARK_TIMEOUT:
        return CADRE_RESULT_TIMEOUT;
    case CDR_MARK_REQUEST:
    case CDR_MARK_OWNER:
    case CDR_MARK_LOST:
        return CADRE_RESULT_ABORTED;
    case CDR_MARK_NONE:
        break;
    }
    if (status == CADRE_OK)
        return CADRE_RESULT_OK;
    return err->error_class == CADRE_CLASS_TIMEOUT ? CADRE_RESULT_TIMEOUT
                                                   : CADRE_RESULT_TOOL_ERROR;
}

// Whoever hands over leaves the state as it is: whether it may is decided later.
static void note_request(cdr_tool_entry *entry, cdr_work *work)
{
    if (work->target != NULL) {
        cdr_json_unshare(entry->frame->delta);
        entry->frame->delta = NULL;
    }
    entry->target = work->target;
    entry->target_message = work->target_message;
    entry->escalation = work->escalation;
    work->target = work->target_message = work->escalation = NULL;
}

// Does it start only when hooks have seen it, or a person has allowed it?
static bool starts_late(const cadre_frame *frame, const cdr_tool_entry *entry)
{
    return entry->tool->needs_approval || cdr_tool_hook_has_before(frame);
}

// That it started is told where it matters: a call that must not run twice, and one
// that runs again, which are counted.
static void start_frame(cadre_frame *frame, cdr_tool_entry *entry)
{
    cdr_tree *tree = frame->tree;
    bool is_told =
        entry->tool != NULL && (!entry->tool->replay_safe || entry->is_again);
    int64_t timeout_ms = entry->tool == NULL ? 0 : entry->tool->timeout_ms;
    if (entry->timeout_ms > 0)
        timeout_ms = entry->timeout_ms;
    cdr_mutex_lock(&tree->mu);
    if (entry->tool != NULL && starts_late(frame, entry))
        entry->frame->started_ns = cdr_clock_now_ns(tree->runtime->clock);
    cdr_frame_start_locked(entry->frame, is_told);
    if (timeout_ms > 0) {
        int64_t deadline = cdr_deadline_ms(entry->frame->started_ns, timeout_ms);
        if (deadline < entry->frame->deadline_ms)
            entry->frame->deadline_ms = deadline;
    }
    cdr_mutex_unlock(&tree->mu);
}

// --- Approval ---

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
    start_frame(frame, entry);
    return cdr_tree_flush(frame->tree, err);
}

// --- Running one ---

// What the tool's `run` came to: its result, a request for a transfer, or that it
// waits.
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
        note_request(entry, work);
    const char *text = cdr_text_bytes(work->output);
    if (code == CADRE_RESULT_TIMEOUT)
        cadre_fail(err, CADRE_ETIMEOUT, "the tool's time is up");
    if (code == CADRE_RESULT_TOOL_ERROR)
        cadre_fail(err, CADRE_EFAILED, "the tool failed without saying why");
    if (code == CADRE_RESULT_ABORTED)
        text = "aborted";
    else if (code == CADRE_RESULT_TIMEOUT ||
             (code != CADRE_RESULT_OK && text[0] == '\0'))
        text = err->text; // a failed tool may have said more than an error holds
    if (entry->target == NULL && entry->escalation == NULL)
        cdr_tool_hook_settle(frame, entry, strand, &(cdr_tool_raw){code, text});
    cdr_work_free(work);
}

// Runs a tool to its result, or to its request for a transfer.
static void run_tool(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand)
{
    const cadre_tool *tool = entry->tool;
    cadre_error err = CADRE_ERROR_INIT;
    bool is_error = false;
    if (!cdr_work_begin(entry->frame, strand)) {
        settle(frame, entry, CADRE_RESULT_TOOL_ERROR, "no memory to run the tool");
        return;
    }
    entry->frame->work->call_id = entry->call->id;
    cadre_status status = cdr_frame_stopped(entry->frame, &err);
    if (status == CADRE_OK && tool->needs_approval)
        status = await_approval(frame, entry, &err);
    const char *scripted =
        status == CADRE_OK ? scripted_result(frame, tool, &is_error) : NULL;
    if (scripted != NULL) {
        cdr_work_free(cdr_work_end(entry->frame));
        cdr_tool_hook_settle(
            frame, entry, strand,
            &(cdr_tool_raw){is_error ? CADRE_RESULT_TOOL_ERROR : CADRE_RESULT_OK,
                            scripted});
        return;
    }
    if (status == CADRE_OK)
        status = tool->ops->run(tool->state, entry->frame, entry->arguments, &err);
    take_result(frame, entry, status, &err);
}

// Runs a tool between its hooks; one that has come to something already, before the run
// was cut, only settles.
static void run_call(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand)
{
    if (entry->raw != NULL) {
        cdr_tool_hook_settle(frame, entry, strand,
                             &(cdr_tool_raw){entry->raw_code, entry->raw});
        return;
    }
    if (!cdr_tool_hook_before(frame, entry, strand))
        return;
    if (starts_late(frame, entry) && !entry->tool->needs_approval) {
        start_frame(frame, entry);
        cdr_tree_flush(frame->tree, NULL); // a lost store marks the frames; they tell
    }
    run_tool(frame, entry, strand);
}

// --- Running all ---

typedef struct tool_job {
    cadre_frame *frame;
    cdr_tool_entry *entry;
    cdr_strand *parent;
    int *pending;
} tool_job;

static void run_tool_job(void *arg)
{
    tool_job *job = arg;
    cdr_strand strand;
    cdr_strand_init(&strand);
    run_call(job->frame, job->entry, &strand);
    cdr_tree_flush(job->frame->tree, NULL); // a lost store marks the frames; they tell
    cdr_strand_fini(&strand);
    cdr_park_settle(job->frame->tree, job->parent, job->pending);
}

// `counts`: one more is made, if it may.
static cadre_status check_limit(cadre_frame *frame, bool counts, cadre_error *err)
{
    cdr_tree *tree = frame->tree;
    int64_t max = tree->limits.max_tool_calls;
    cdr_mutex_lock(&tree->mu);
    int64_t n = tree->n_tool_calls;
    bool allowed = max == CADRE_UNLIMITED || n < max;
    if (allowed && counts)
        tree->n_tool_calls++;
    cdr_mutex_unlock(&tree->mu);
    if (allowed)
        return CADRE_OK;
    return cadre_fail_class(err, CADRE_ELIMIT, CADRE_CLASS_LIMIT, false,
                            "agent '%s': the run's max_tool_calls of %lld is used up",
                            frame->name, (long long)max);
}

// --- From the record ---

// Whichever tool asked for it, a transfer that was done stands in the record.
static bool note_done(cadre_frame *frame, cdr_tool_entry *entry)
{
    const cdr_message *result =
        atomic_load_explicit(entry->result, memory_order_acquire);
    if (result == NULL || result->m.to[0] == '\0')
        return false;
    cdr_mutex_lock(&frame->tree->mu);
    const cadre_frame *target = cdr_frame_child_locked(frame, "transfer");
    entry->target = strdup(result->m.to);
    entry->target_message = strdup(target == NULL ? "" : cdr_text_bytes(target->input));
    cdr_mutex_unlock(&frame->tree->mu);
    return true;
}

// A call in the record is not done again, but what it asked for counts.
static void note_again(cadre_frame *frame, cdr_tool_entry *entry)
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
        ask_by_name(frame, entry);
    } else if (cdr_work_begin(entry->frame, frame->work->strand)) {
        const cadre_tool *tool = entry->tool;
        tool->ops->run(tool->state, entry->frame, entry->arguments, NULL);
        cdr_work *work = cdr_work_end(entry->frame);
        note_request(entry, work);
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
        note_again(frame, &round->entries[i]);
    }
    return CADRE_OK;
}

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
        scripted_result(frame, entry->tool, &is_error);
}

// Finds what a call had come to, or comes to because the run was cut: it is settled
// here, or by a job when it has hooks. False: it is to be done.
static bool use_cut(cadre_frame *frame, cdr_tool_entry *entry, bool *is_job)
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
        settle(frame, entry, raw.code, raw.text);
    return true;
}

static void run_control(cadre_frame *frame, cdr_tool_entry *entry)
{
    if (!cdr_tool_hook_before(frame, entry, frame->work->strand))
        return;
    start_frame(frame, entry);
    if (entry->is_named_target)
        ask_by_name(frame, entry);
    else
        run_tool(frame, entry, frame->work->strand);
}

// A call in the record. A turn that the limit stopped, and no more of it is there, is
// stopped once more.
static cadre_status use_settled(cadre_frame *frame, cdr_tool_entry *entry,
                                cadre_error *err)
{
    if (entry->code == CADRE_RESULT_ABORTED && entry->hook_error == NULL &&
        check_limit(frame, false, err) != CADRE_OK)
        return CADRE_ELIMIT;
    note_again(frame, entry);
    return CADRE_OK;
}

// Settles a call that cannot run, or only asks for a transfer; else it is a job.
static cadre_status sort_entry(cadre_frame *frame, cdr_round *round,
                               cdr_tool_entry *entry, bool *is_job, cadre_error *err)
{
    if (entry->is_settled)
        return use_settled(frame, entry, err);
    bool is_counted = entry->was_running || entry->was_waiting;
    cadre_status status = is_counted ? CADRE_OK : check_limit(frame, true, err);
    if (status != CADRE_OK || use_cut(frame, entry, is_job))
        return status;
    if (round->recurs.is_blocked)
        settle(frame, entry, CADRE_RESULT_BLOCKED, cdr_progress_refusal());
    else if (entry->tool == NULL && !entry->is_named_target)
        settle_unknown(frame, round, entry);
    else if (check_arguments(frame, entry) && !cdr_tool_is_control(entry))
        *is_job = true;
    else if (!entry->is_settled)
        run_control(frame, entry);
    return CADRE_OK;
}

static cadre_status sort_entries(cadre_frame *frame, cdr_round *round, tool_job *jobs,
                                 size_t *n_jobs, cadre_error *err)
{
    for (size_t i = 0; i < round->n_entries; i++) {
        bool is_job = false;
        cadre_status status =
            sort_entry(frame, round, &round->entries[i], &is_job, err);
        if (status != CADRE_OK)
            return status;
        if (is_job)
            jobs[(*n_jobs)++].entry = &round->entries[i];
    }
    return CADRE_OK;
}

// There is no thread for the call, nor for its hooks.
static void settle_busy(cadre_frame *frame, cdr_tool_entry *entry, const char *why)
{
    if (entry->raw != NULL)
        settle(frame, entry, entry->raw_code, entry->raw);
    else
        settle(frame, entry, CADRE_RESULT_TOOL_ERROR, why);
}

static void run_jobs(cadre_frame *frame, tool_job *jobs, size_t n_jobs)
{
    int pending = 0;
    cadre_error err = CADRE_ERROR_INIT;
    for (size_t i = 1; i < n_jobs; i++) {
        jobs[i].frame = frame;
        jobs[i].parent = frame->work->strand;
        jobs[i].pending = &pending;
        cdr_park_enter(frame->tree, jobs[i].parent, &pending);
        if (cdr_pool_run(frame->tree->runtime->pool, run_tool_job, &jobs[i], &err) ==
            CADRE_OK)
            continue;
        settle_busy(frame, jobs[i].entry, err.text);
        cdr_park_settle(frame->tree, jobs[i].parent, &pending);
    }
    run_call(frame, jobs[0].entry, frame->work->strand);
    if (n_jobs > 1)
        cdr_tree_flush(frame->tree, NULL); // others run on: this result is stored now
    cdr_park_join(frame->tree, frame->work->strand, &pending);
}

// One that waits makes its agent wait, after all others are done. What was asked for
// besides, as a transfer, is decided when it goes on.
static cadre_status parked_status(cadre_frame *frame, const cdr_round *round,
                                  cadre_error *err)
{
    bool is_parked = false;
    for (size_t i = 0; i < round->n_entries && !is_parked; i++)
        is_parked = round->entries[i].is_parked;
    if (!is_parked)
        return CADRE_OK;
    cdr_mutex_lock(&frame->tree->mu);
    for (size_t i = 0; i < round->n_entries; i++)
        if (round->entries[i].frame != NULL && !round->entries[i].is_settled)
            cdr_frame_park_locked(round->entries[i].frame);
    cdr_mutex_unlock(&frame->tree->mu);
    frame->work->sticky = CADRE_EPARKED;
    return cadre_fail(err, CADRE_EPARKED, "'%s' waits for an answer", frame->name);
}

// A hook that failed fails the frame, after all others are done: the first in call
// order.
static cadre_status hook_status(cadre_frame *frame, const cdr_round *round,
                                cadre_error *err)
{
    for (size_t i = 0; i < round->n_entries; i++) {
        const cadre_error *why = round->entries[i].hook_error;
        if (why == NULL)
            continue;
        cdr_hook_note_failure(frame, why);
        return cadre_fail_class(err, why->status, why->error_class, why->retryable,
                                "%s", why->text);
    }
    return CADRE_OK;
}

cadre_status cdr_tools_run(cadre_frame *frame, cdr_round *round, cadre_error *err)
{
    size_t n_jobs = 0;
    tool_job *jobs = calloc(round->n_entries + 1, sizeof *jobs);
    if (jobs == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to run tools");
    cadre_status status = sort_entries(frame, round, jobs, &n_jobs, err);
    for (size_t i = 0; status == CADRE_OK && i < n_jobs; i++)
        if (jobs[i].entry->raw == NULL && !starts_late(frame, jobs[i].entry))
            start_frame(frame, jobs[i].entry);
    if (status == CADRE_OK && n_jobs > 0) {
        // The answer and the intents are there before any tool starts.
        status = cdr_tree_flush(frame->tree, err);
        if (status == CADRE_OK)
            run_jobs(frame, jobs, n_jobs);
    }
    free(jobs);
    if (status == CADRE_OK)
        status = hook_status(frame, round, err);
    return status == CADRE_OK ? parked_status(frame, round, err) : status;
}
