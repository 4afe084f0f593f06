// Runs that go on by themselves: started by a frame, with a trace of their own, they
// report to the conversation of that frame when they have ended.
//
// Rules:
// 1. The nth spawn of a frame is its nth spawned trace: a frame that runs again finds
//    what it started, and goes on with it if it was cut.
// 2. A report is a message to the inbox, written with the commit that ends the root;
//    its request id, "report:<trace>", makes it one.
// 3. Where it reports and below which tool it was spawned is kept with the
//    trace's options.
#include "cadre/ext/spawn.h"

#include "cadre/record.h"
#include "cadre/trace.h"

#include "base/buf.h"
#include "run/arguments.h"
#include "run/call.h"
#include "run/hook.h"
#include "run/lease.h"
#include "run/options.h"
#include "run/run.h"
#include "tree/outbox.h"
#include "tree/pot.h"

#include <stdlib.h>
#include <string.h>

// --- Finding what was started ---

typedef struct nth_spawned {
    size_t wanted, n_seen;
    cadre_id trace; // none: not there
    bool is_open;   // it has not ended, and nobody works on it
} nth_spawned;

static cadre_status take_nth(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    nth_spawned *nth = ctx;
    (void)err;
    if (++nth->n_seen != nth->wanted)
        return CADRE_OK;
    nth->trace = row->id;
    nth->is_open = row->status < CADRE_FRAME_COMPLETED &&
                   row->status != CADRE_FRAME_WAITING && !cdr_lease_is_held(row);
    return CADRE_OK;
}

static cadre_status find_nth(const cadre_frame *frame, nth_spawned *nth,
                             cadre_error *err)
{
    const cadre_runtime *runtime = frame->tree->runtime;
    const cadre_query query = {.kind = CADRE_QUERY_SPAWNED, .frame = frame->id};
    const cadre_store_reader reader = {.trace = take_nth, .ctx = nth};
    return runtime->store_ops->read(runtime->store, &query, &reader, err);
}

// --- Starting ---

static const char *type_of_tool(const cadre_frame *frame)
{
    const cadre_team *team = frame->tree->team;
    for (size_t i = 0; i < team->n_tools; i++)
        if (strcmp(team->tools[i]->info.name, frame->name) == 0)
            return team->tools[i]->ops->type;
    return "";
}

// What it was spawned below: the nearest tool, or what its own run was spawned below.
static const char *type_above(const cadre_frame *frame)
{
    for (const cadre_frame *at = frame; at != NULL; at = at->parent)
        if (at->kind == CDR_FRAME_TOOL)
            return type_of_tool(at);
    return frame->tree->spawn.within;
}

// As its parent, but for what is its own.
static cadre_status start(cadre_frame *frame, const cadre_call *call, const char *input,
                          cadre_id *trace, cadre_error *err)
{
    cdr_tree *tree = frame->tree;
    json_t *options = cdr_options_parse(tree->options == NULL ? "{}" : tree->options);
    const cadre_run_config *config =
        CADRE_RUN(.input = input, .inputs = tree->inputs,
                  .metadata = json_object_get(options, "metadata"),
                  .timeout_ms = call->timeout_ms, .limits = tree->limits,
                  .no_events = true, .budget = call->budget);
    const cdr_start what = {.team = tree->team,
                            .root = call->agent,
                            .config = config,
                            .spawn = {.by = frame->id,
                                      .report_to = frame->conversation->id,
                                      .within = type_above(frame)},
                            .background_trace = trace};
    cadre_status status = cdr_run_start(&what, NULL, err);
    json_decref(options);
    return status;
}

static cadre_status go_on(cadre_frame *frame, cadre_id trace, cadre_error *err)
{
    const cadre_run_config config = {.struct_size = sizeof config, .no_events = true};
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = cdr_run_resume(frame->tree->team, trace, &config, NULL, &why);
    // Somebody was faster, or it has ended meanwhile.
    if (status == CADRE_OK || status == CADRE_EBUSY || status == CADRE_EINVAL)
        return CADRE_OK;
    return cadre_fail_class(err, status, why.error_class, why.retryable, "%s",
                            why.text);
}

// A run in the background has a budget of its own, and all of it is paid by the frame.
static cadre_status split(cadre_frame *frame, const cadre_call *call,
                          cadre_budget *budget, cadre_error *err)
{
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    const cdr_pot *pot = cdr_pot_split_locked(frame->pot, &call->budget, budget);
    cadre_status status = pot == NULL ? CADRE_OK : cdr_pot_fail_split(pot, frame, err);
    cdr_mutex_unlock(&tree->mu);
    return status;
}

static void give_back(cadre_frame *frame, const cadre_budget *budget)
{
    cdr_mutex_lock(&frame->tree->mu);
    cdr_pot_give_back_locked(frame->pot, budget);
    cdr_mutex_unlock(&frame->tree->mu);
}

// A start that the store failed may be there all the same: then it is what was wanted.
static cadre_status start_and_look(cadre_frame *frame, const cadre_call *call,
                                   const char *input, nth_spawned *nth,
                                   cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_error ignored = CADRE_ERROR_INIT;
    cadre_runtime *runtime = frame->tree->runtime;
    cadre_id trace = {0, 0};
    cadre_call own = *call;
    cadre_status status = split(frame, call, &own.budget, err);
    if (status != CADRE_OK)
        return status;
    status = start(frame, &own, input, &trace, &why);
    nth->n_seen = 0;
    if (status == CADRE_ESTORE && find_nth(frame, nth, &ignored) == CADRE_OK &&
        !cadre_id_is_none(nth->trace))
        return CADRE_OK;
    nth->trace = trace;
    if (status == CADRE_OK)
        return CADRE_OK;
    give_back(frame, &own.budget);
    // Somebody outside may have stopped the frame, so that the store refused: it hears
    // of it now.
    if (status == CADRE_ESTORE && cdr_watch_look(runtime, &ignored) == CADRE_OK &&
        cdr_frame_stopped(frame, NULL) != CADRE_OK)
        return cdr_frame_stopped(frame, err);
    return cadre_fail_class(err, status, why.error_class, why.retryable, "%s",
                            why.text);
}

// The spawn's frame must be in the store before a trace can name it.
static cadre_status spawn(cadre_frame *frame, const cadre_call *call, const char *input,
                          cadre_id *trace, cadre_error *err)
{
    nth_spawned nth = {.wanted = ++frame->work->n_spawned};
    cadre_status status = cdr_tree_flush(frame->tree, err);
    if (status == CADRE_OK)
        status = cdr_frame_stopped(frame, err);
    if (status == CADRE_OK)
        status = find_nth(frame, &nth, err);
    if (status != CADRE_OK)
        return status;
    if (cadre_id_is_none(nth.trace))
        status = start_and_look(frame, call, input, &nth, err);
    if (status != CADRE_OK)
        return status;
    *trace = nth.trace;
    return nth.is_open ? go_on(frame, nth.trace, err) : CADRE_OK;
}

cadre_status cadre_frame_spawn(cadre_frame *frame, const cadre_call *call,
                               const char **trace, cadre_error *err)
{
    cdr_text *input = NULL;
    cadre_id id = {0, 0};
    cadre_status status = cdr_check_call(frame, call, err);
    if (status == CADRE_OK)
        status = cdr_hook_refuse(frame, false, __func__, err);
    if (status == CADRE_OK && call->scope != NULL)
        return cadre_fail(err, CADRE_EINVAL, "'%s': a spawned run has no scope",
                          frame->name);
    if (status == CADRE_OK)
        status = cdr_call_input(call, &input, err);
    if (status == CADRE_OK)
        status = spawn(frame, call, cdr_text_bytes(input), &id, err);
    cdr_text_unref(input);
    if (status != CADRE_OK || trace == NULL)
        return status;
    char text[CADRE_ID_TEXT_SIZE];
    cadre_id_text(id, text);
    *trace = cadre_frame_printf(frame, "%s", text);
    return *trace == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for a run's id")
                          : CADRE_OK;
}

// --- Dealing with it ---

static cadre_status fail_unknown(const char *trace, cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOTFOUND,
                      "no background run '%.40s' was started in this conversation",
                      trace);
}

// Does it report to this conversation?
static cadre_status check_own(cadre_frame *frame, const char *trace, cadre_error *err)
{
    cadre_id id;
    cadre_error ignored = CADRE_ERROR_INIT;
    cdr_started started = {.is_there = false};
    cdr_spawn spawned;
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    if (trace == NULL || !cadre_id_parse(trace, &id))
        return fail_unknown(trace == NULL ? "" : trace, err);
    status = cdr_started_read(&started, frame->tree->runtime, id, &ignored);
    bool is_own = status == CADRE_OK && cdr_started_spawn(&started, &spawned) &&
                  cadre_id_equal(spawned.report_to, frame->conversation->id);
    cdr_started_fini(&started);
    if (status != CADRE_OK && status != CADRE_ENOTFOUND)
        return cadre_fail(err, status, "%s", ignored.text);
    return is_own ? CADRE_OK : fail_unknown(trace, err);
}

static cadre_status fill_spawned(cadre_frame *frame, const cadre_record *record,
                                 cadre_spawned *out, cadre_error *err)
{
    size_t n = 0;
    const cadre_record_info *info = cadre_record_get_info(record);
    const cadre_frame_info *root = cadre_record_frames(record, &n);
    if (n == 0)
        return fail_unknown(info->trace_id, err);
    out->trace_id = cadre_frame_printf(frame, "%s", info->trace_id);
    out->status = info->status;
    out->is_held = info->is_held;
    out->answer = cadre_frame_printf(frame, "%s", root->output);
    out->error = cadre_frame_printf(frame, "%s", root->error.message);
    return out->trace_id == NULL || out->answer == NULL || out->error == NULL
               ? cadre_fail(err, CADRE_ENOMEM, "no memory for a run's record")
               : CADRE_OK;
}

cadre_status cadre_frame_find_spawned(cadre_frame *frame, const char *trace,
                                      cadre_spawned *out, cadre_error *err)
{
    cadre_record *record = NULL;
    if (out == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = check_own(frame, trace, err);
    if (status == CADRE_OK)
        status = cadre_record_open(frame->tree->runtime, trace, &record, err);
    if (status == CADRE_OK)
        status = fill_spawned(frame, record, out, err);
    cadre_record_close(record);
    return status;
}

cadre_status cadre_frame_send_spawned(cadre_frame *frame, const char *trace,
                                      const char *text, cadre_error *err)
{
    cadre_status status = check_own(frame, trace, err);
    if (status != CADRE_OK)
        return status;
    return cadre_trace_send(frame->tree->runtime, trace, text,
                            cadre_frame_idempotency_key(frame), err);
}

cadre_status cadre_frame_stop_spawned(cadre_frame *frame, const char *trace,
                                      const char *reason, cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = check_own(frame, trace, err);
    if (status != CADRE_OK)
        return status;
    status = cadre_trace_abort(frame->tree->runtime, trace,
                               CADRE_ABORT(.reason = reason), &why);
    // It has ended: what was wanted.
    if (status == CADRE_OK || status == CADRE_EINVAL)
        return CADRE_OK;
    return cadre_fail(err, status, "%s", why.text);
}

bool cadre_frame_is_within(cadre_frame *frame, const char *tool_type)
{
    if (frame == NULL || tool_type == NULL)
        return false;
    for (const cadre_frame *at = frame->parent; at != NULL; at = at->parent)
        if (at->kind == CDR_FRAME_TOOL && strcmp(type_of_tool(at), tool_type) == 0)
            return true;
    return strcmp(frame->tree->spawn.within, tool_type) == 0;
}

// --- Reporting ---

static char *report_text(const cadre_run *run)
{
    const cadre_result *result = &run->result;
    const char *trace = run->tree->trace_text;
    const char *agent = run->tree->root->name;
    cdr_buf text = CDR_BUF_INIT;
    if (result->status == CADRE_FRAME_COMPLETED) {
        cdr_buf_printf(&text, "Report of background run %s (%s):\n", trace, agent);
        cdr_buf_append_text(&text, result->text);
    } else {
        // What was stopped says so by itself.
        bool is_stopped = result->status == CADRE_FRAME_ABORTED;
        cdr_buf_printf(&text, "Background run %s (%s) %s%s", trace, agent,
                       is_stopped ? "" : cadre_frame_status_name(result->status),
                       is_stopped ? "" : ": ");
        cdr_buf_append_text(&text, result->error.message);
    }
    return cdr_buf_take(&text);
}

void cdr_run_report(cadre_run *run)
{
    cdr_tree *tree = run->tree;
    char id[CADRE_ID_TEXT_SIZE + 8];
    if (cadre_id_is_none(tree->spawn.report_to) ||
        run->result.status == CADRE_FRAME_WAITING)
        return;
    char *text = report_text(run);
    snprintf(id, sizeof id, "report:%s", tree->trace_text);
    cadre_message said = {
        .role = CADRE_ROLE_USER, .agent = tree->root->name, .text = text};
    cdr_message *message =
        text == NULL ? NULL : cdr_message_new(&said, cadre_id_new(), (cadre_id){0, 0});
    cdr_mutex_lock(&tree->mu);
    if (message == NULL)
        cadre_fail(&tree->lost, CADRE_ESTORE, "no memory for a report");
    else
        cdr_outbox_post_locked(tree, tree->spawn.report_to, message, id);
    cdr_mutex_unlock(&tree->mu);
    cdr_message_unref(message);
    free(text);
}
