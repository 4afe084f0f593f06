// See tool_run.h.
#include "run/tool_run.h"

#include "base/brief.h"
#include "base/buf.h"
#include "base/json_text.h"
#include "base/schema.h"
#include "run/hook.h"
#include "run/progress.h"
#include "run/tool_call.h"
#include "run/tool_record.h"
#include "run/tool_request.h"
#include "run/tool_result.h"
#include "tree/ending.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

// --- Is it a call at all? ---

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

static void settle_unknown(cadre_frame *frame, const cdr_round *round,
                           cdr_tool_entry *entry)
{
    cdr_buf text = CDR_BUF_INIT;
    char brief[CDR_BRIEF_SIZE];
    cdr_buf_printf(&text, "There is no tool %s. Tools: ",
                   cdr_brief_text(brief, entry->call->name, '\''));
    cdr_buf_append_text(&text, round->offered == NULL ? "none" : round->offered);
    cdr_buf_append_text(&text, ".");
    cdr_tool_settle(frame, entry, CADRE_RESULT_UNKNOWN_TOOL, cdr_buf_text(&text));
    cdr_buf_fini(&text);
}

// Checks the arguments and fills in defaults; a wrong call gets its result here.
static bool check_arguments(cadre_frame *frame, cdr_tool_entry *entry)
{
    cadre_error err = CADRE_ERROR_INIT;
    const char *text = entry->call->arguments;
    const cdr_schema_plan *plan = entry->is_named_target ? NULL : entry->tool->plan;
    entry->arguments = cdr_json_parse_arguments(text, strlen(text), &err);
    if (entry->arguments != NULL && plan != NULL)
        cdr_schema_plan_take(plan, &entry->arguments, &err);
    if (err.status == CADRE_OK && entry->arguments != NULL)
        return true;
    cdr_tool_settle(frame, entry, CADRE_RESULT_INVALID_ARGUMENTS, err.text);
    return false;
}

// --- Sorting ---

typedef struct tool_job {
    cadre_frame *frame;
    cdr_tool_entry *entry;
    cdr_strand *parent;
    int *pending;
} tool_job;

// A call in the record. A turn that the limit stopped, and no more of it is there, is
// stopped once more.
static cadre_status use_settled(cadre_frame *frame, cdr_tool_entry *entry,
                                cadre_error *err)
{
    if (entry->code == CADRE_RESULT_ABORTED && entry->hook_error == NULL &&
        check_limit(frame, false, err) != CADRE_OK)
        return CADRE_ELIMIT;
    cdr_tool_record_again(frame, entry);
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
    if (status != CADRE_OK || cdr_tool_record_use_cut(frame, entry, is_job))
        return status;
    if (round->recurs.is_blocked)
        cdr_tool_settle(frame, entry, CADRE_RESULT_BLOCKED, cdr_progress_refusal());
    else if (entry->tool == NULL && !entry->is_named_target)
        settle_unknown(frame, round, entry);
    else if (check_arguments(frame, entry) && !cdr_tool_is_control(entry))
        *is_job = true;
    else if (!entry->is_settled)
        cdr_tool_call_control(frame, entry);
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

// --- Running ---

static void run_tool_job(void *arg)
{
    tool_job *job = arg;
    cdr_strand strand;
    cdr_strand_init(&strand);
    cdr_tool_call_run(job->frame, job->entry, &strand);
    cdr_tree_flush(job->frame->tree, NULL); // a lost store marks the frames; they tell
    cdr_strand_fini(&strand);
    cdr_park_settle(job->frame->tree, job->parent, job->pending);
}

// There is no thread for the call, nor for its hooks.
static void settle_busy(cadre_frame *frame, cdr_tool_entry *entry, const char *why)
{
    if (entry->raw != NULL)
        cdr_tool_settle(frame, entry, entry->raw_code, entry->raw);
    else
        cdr_tool_settle(frame, entry, CADRE_RESULT_TOOL_ERROR, why);
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
    cdr_tool_call_run(frame, jobs[0].entry, frame->work->strand);
    if (n_jobs > 1)
        cdr_tree_flush(frame->tree, NULL); // others run on: this result is stored now
    cdr_park_join(frame->tree, frame->work->strand, &pending);
}

// --- What it came to ---

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

// A hook that failed fails the frame, after all others are done: the first in
// call order.
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
        if (jobs[i].entry->raw == NULL && !cdr_tool_starts_late(frame, jobs[i].entry))
            cdr_tool_start(frame, jobs[i].entry);
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
