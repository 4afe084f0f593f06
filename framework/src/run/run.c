// Runs: a tree, the thread its root works on, and the consumer's side of both.
#include "run/execute.h"
#include "run/run.h"

#include "run/arguments.h"
#include "run/session.h"

#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

// --- Starting ---

static int limit_of(int asked, int of_team, int standard)
{
    if (asked != 0)
        return asked;
    return of_team != 0 ? of_team : standard;
}

static void set_limits(cdr_tree *tree, const cadre_limits *asked)
{
    const cadre_limits *team = &tree->team->limits;
    tree->limits =
        (cadre_limits){limit_of(asked->max_model_calls, team->max_model_calls, 200),
                       limit_of(asked->max_tool_calls, team->max_tool_calls, 500),
                       limit_of(asked->max_depth, team->max_depth, 32)};
}

static cadre_status take_session(cadre_run *run, const char *name, cadre_error *err)
{
    if (name == NULL)
        return CADRE_OK;
    run->session = strdup(name);
    if (run->session == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a session");
    cadre_status status = cdr_session_claim(run->tree->runtime, run->session, err);
    if (status != CADRE_OK) {
        free(run->session);
        run->session = NULL;
    }
    return status;
}

static void give_session_back(cadre_run *run)
{
    if (run->session == NULL)
        return;
    cdr_session_release(run->tree->runtime, run->session);
    free(run->session);
    run->session = NULL;
}

// A session's earlier messages, as they come from the store.
typedef struct session_reader {
    cdr_tree *tree;
    cdr_conversation *conversation;
} session_reader;

static void count_spoken(cdr_tree *tree, const cadre_message *m)
{
    const cadre_agent *agent = cadre_team_find(tree->team, m->agent);
    if (m->role == CADRE_ROLE_ASSISTANT && agent != NULL)
        tree->script_used[agent->index]++;
}

static cadre_status take_row(void *ctx, const cadre_message_row *row, cadre_error *err)
{
    session_reader *reader = ctx;
    cadre_message m = row->message;
    m.seq = 0;
    cdr_message *message = cdr_message_new(&m, row->id, row->frame);
    if (message == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a session");
    if (m.is_input) {
        const cadre_agent *to = cadre_team_find(reader->tree->team, m.to);
        message->is_to_team = to != NULL && to->members.count > 0;
    }
    if (!cdr_conversation_append_take(reader->conversation, message))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a session");
    count_spoken(reader->tree, &message->m);
    return CADRE_OK;
}

static cadre_status read_session(cdr_tree *tree, const char *session,
                                 cdr_conversation *conversation, bool *is_new,
                                 cadre_error *err)
{
    cadre_id id = {0, 0};
    session_reader reader = {tree, conversation};
    const cadre_store_reader ops = {.message = take_row, .ctx = &reader};
    const cadre_store_ops *store = tree->runtime->store_ops;
    tree->is_session = true;
    cadre_status status =
        store->read_session(tree->runtime->store, session, &id, &ops, err);
    *is_new = cadre_id_is_none(id);
    if (status == CADRE_OK && !*is_new)
        conversation->id = id;
    return status;
}

// The trace, its root and the user's input: the start commit, not flushed yet.
static cadre_status birth_root(cdr_tree *tree, const cadre_run_config *config,
                               cdr_conversation *conversation, bool opens,
                               cadre_error *err)
{
    const cadre_agent *agent = tree->team->root;
    const char *input = config->input == NULL ? "" : config->input;
    cdr_birth birth = {.kind = CDR_FRAME_AGENT,
                       .name = agent->info.name,
                       .agent = agent,
                       .conversation = conversation,
                       .opens = opens ? conversation : NULL,
                       .session = config->session,
                       .input = cdr_text_new(input, strlen(input)),
                       .is_quiet = agent->quiet,
                       .timeout_ms = config->timeout_ms};
    if (birth.input == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
    if (agent->timeout_ms > 0 &&
        (birth.timeout_ms == 0 || agent->timeout_ms < birth.timeout_ms))
        birth.timeout_ms = agent->timeout_ms;
    cadre_message said = {.role = CADRE_ROLE_USER, .text = input};
    cdr_mutex_lock(&tree->mu);
    cadre_frame *root = cdr_frame_new_root_locked(tree, &birth);
    bool ok = root != NULL &&
              cdr_say_locked(root, cdr_message_new(&said, (cadre_id){0, 0}, root->id));
    cdr_mutex_unlock(&tree->mu);
    cdr_text_unref(birth.input);
    return ok ? CADRE_OK : cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
}

static cadre_status open_root(cdr_tree *tree, const cadre_run_config *config,
                              cadre_error *err)
{
    bool is_new = true;
    cadre_status status = CADRE_OK;
    cdr_conversation *conversation = cdr_conversation_new(NULL);
    if (conversation == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a conversation");
    if (config->session != NULL)
        status = read_session(tree, config->session, conversation, &is_new, err);
    if (status == CADRE_OK)
        status = birth_root(tree, config, conversation, is_new, err);
    cdr_conversation_unref(conversation);
    return status;
}

// --- The root's thread ---

static void fill_result(cadre_run *run)
{
    cdr_tree *tree = run->tree;
    const cdr_ran *ran = &run->ran;
    int64_t now = cdr_clock_now_ns(tree->runtime->clock);
    run->result = (cadre_result){
        .status = ran->status,
        .stop_reason = ran->stop_reason,
        .trace_id = tree->trace_text,
        .agent = ran->agent,
        .text = cdr_text_bytes(ran->output),
        .usage = ran->usage,
        .duration_ms = (now - tree->root->started_ns) / 1000000,
        .stop_ms = tree->marked_ns == 0 ? -1 : (now - tree->marked_ns) / 1000000,
        .offline = tree->runtime->offline,
    };
    run->result.error = cdr_failure_info(ran->failure);
    if (ran->failure == NULL && ran->status != CADRE_FRAME_COMPLETED)
        run->result.error =
            (cadre_error_info){CADRE_CLASS_ERROR, false,
                               "no memory to tell why it failed", tree->root->name, ""};
}

// The store is gone: what the result claims must be true without it.
static void result_of_loss(cadre_run *run)
{
    cadre_result *result = &run->result;
    result->status = CADRE_FRAME_FAILED;
    result->stop_reason = CADRE_STOP_ERROR;
    result->text = "";
    result->error = (cadre_error_info){CADRE_CLASS_STORE, false, run->tree->lost.text,
                                       run->tree->root->name, ""};
}

static cadre_event end_event(const cadre_run *run)
{
    const cadre_result *result = &run->result;
    cadre_event event = {.type = CADRE_EVENT_STREAM_END};
    event.u.stream_end.status = result->status;
    event.u.stream_end.stop_reason = result->stop_reason;
    event.u.stream_end.output = result->text;
    event.u.stream_end.error = result->error;
    event.u.stream_end.usage = result->usage;
    event.u.stream_end.duration_ms = result->duration_ms;
    return event;
}

// Of a run that could not even store its start.
static void show_start(const cadre_run *run)
{
    cdr_tree *tree = run->tree;
    cdr_event_id id;
    cadre_event event = {.type = CADRE_EVENT_STREAM_START};
    event.u.stream_start.trace_id = tree->trace_text;
    event.u.stream_start.team = tree->team->name;
    event.u.stream_start.offline = tree->runtime->offline;
    cdr_event_address(tree->root, &event, id);
    cdr_queue_push_take(&tree->queue, cdr_event_new(&event, NULL));
}

// The last event is shown even when nothing can be stored any more; then without a seq.
static void end_stream(cadre_run *run)
{
    cdr_tree *tree = run->tree;
    cdr_event_id id;
    if (run->session != NULL) {
        cdr_tree_flush(tree, NULL); // a lost store is told below
        give_session_back(run);     // before anyone can know that it is free
    }
    fill_result(run);
    cadre_event event = end_event(run);
    cdr_mutex_lock(&tree->mu);
    cdr_outbox_event_locked(tree->root, &event, NULL, true);
    cdr_mutex_unlock(&tree->mu);
    if (cdr_tree_flush(tree, NULL) != CADRE_OK) {
        if (!tree->is_shown)
            show_start(run);
        result_of_loss(run);
        event = end_event(run);
        cdr_event_address(tree->root, &event, id);
        cdr_queue_push_take(&tree->queue, cdr_event_new(&event, NULL));
    }
    cdr_queue_close(&tree->queue);
}

static void run_root(void *arg)
{
    cadre_run *run = arg;
    cdr_strand strand;
    cdr_strand_init(&strand);
    cdr_execute(run->tree->root, &strand, &run->ran);
    end_stream(run);
    cdr_strand_fini(&strand);
    cdr_strand_settle(&run->owner, &run->pending);
}

// --- The owner's side ---

static void run_destroy(cadre_run *run)
{
    if (run == NULL)
        return;
    cdr_event_free_list(run->events);
    cdr_event_free_list(run->spent);
    cdr_ran_fini(&run->ran);
    cdr_run_listing_fini(&run->listing);
    give_session_back(run);
    cdr_tree_free(run->tree);
    cdr_strand_fini(&run->owner);
    free(run);
}

static cadre_status check_config(const cadre_run_config *config, cadre_error *err)
{
    const struct {
        const char *name;
        int value;
    } limits[] = {
        {"cadre_run_config.limits.max_model_calls", config->limits.max_model_calls},
        {"cadre_run_config.limits.max_tool_calls", config->limits.max_tool_calls},
        {"cadre_run_config.limits.max_depth", config->limits.max_depth},
    };
    cadre_status status = cdr_check_text((cdr_argument){NULL, "cadre_run_config.input"},
                                         config->input, err);
    if (status == CADRE_OK)
        status = cdr_check_text((cdr_argument){NULL, "cadre_run_config.session"},
                                config->session, err);
    if (status == CADRE_OK)
        status = cdr_check_time((cdr_argument){NULL, "cadre_run_config.timeout_ms"},
                                config->timeout_ms, err);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0] && status == CADRE_OK; i++)
        status =
            cdr_check_limit((cdr_argument){NULL, limits[i].name}, limits[i].value, err);
    return status;
}

cadre_status cadre_run_start(cadre_team *team, const cadre_run_config *config,
                             cadre_run **out, cadre_error *err)
{
    if (team == NULL || config == NULL || config->struct_size < sizeof *config)
        return cadre_fail(err, CADRE_EINVAL, "a run needs a team and CADRE_RUN(...)");
    if (out == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = check_config(config, err);
    if (status == CADRE_OK)
        status = cadre_team_seal(team, err);
    if (status == CADRE_OK)
        status = cdr_team_check_keys(team, err);
    if (status != CADRE_OK)
        return status;
    cadre_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
    cdr_strand_init(&run->owner);
    run->tree = cdr_tree_new(team, err);
    if (run->tree == NULL) {
        run_destroy(run);
        return CADRE_ENOMEM;
    }
    set_limits(run->tree, &config->limits);
    if (config->no_events)
        cdr_queue_deafen(&run->tree->queue);
    run->tree->inputs = cdr_team_inputs(team, config->inputs, err);
    status = run->tree->inputs == NULL ? CADRE_EINVAL
                                       : take_session(run, config->session, err);
    if (status == CADRE_OK)
        status = open_root(run->tree, config, err);
    if (status == CADRE_OK) {
        run->pending = 1;
        status = cdr_pool_run(team->runtime->pool, run_root, run, err);
    }
    if (status != CADRE_OK) {
        run_destroy(run);
        return status;
    }
    *out = run;
    return CADRE_OK;
}

cadre_status cadre_run_next(cadre_run *run, const cadre_event **event, cadre_error *err)
{
    if (run == NULL || event == NULL)
        return cdr_fail_null(err, __func__);
    cdr_event_free_list(run->spent);
    run->spent = NULL;
    if (run->events == NULL)
        run->events = cdr_queue_take(&run->tree->queue);
    if (run->events == NULL)
        return CADRE_DONE;
    run->spent = run->events;
    run->events = run->events->next;
    run->spent->next = NULL;
    *event = &run->spent->event;
    return CADRE_OK;
}

static cadre_status status_of(const cadre_result *result)
{
    switch (result->status) {
    case CADRE_FRAME_COMPLETED:
        return CADRE_OK;
    case CADRE_FRAME_TIMEOUT:
        return CADRE_ETIMEOUT;
    case CADRE_FRAME_ABORTED:
        return CADRE_EABORTED;
    default:
        return result->error.error_class == CADRE_CLASS_STORE ? CADRE_ESTORE
                                                              : CADRE_EFAILED;
    }
}

cadre_status cadre_run_wait(cadre_run *run, const cadre_result **result,
                            cadre_error *err)
{
    if (run == NULL)
        return cdr_fail_null(err, __func__);
    cdr_event_free_list(run->events);
    run->events = NULL;
    cdr_queue_deafen(&run->tree->queue);
    cdr_strand_join(&run->owner, &run->pending);
    if (result != NULL)
        *result = &run->result;
    cadre_status status = status_of(&run->result);
    if (status == CADRE_OK)
        return CADRE_OK;
    return cadre_fail_class(err, status, run->result.error.error_class,
                            run->result.error.retryable, "%s",
                            run->result.error.message);
}

void cadre_run_cancel(cadre_run *run, const char *reason)
{
    if (run == NULL)
        return;
    cdr_tree *tree = run->tree;
    const char *why = reason == NULL ? "cancelled" : reason;
    cdr_mutex_lock(&tree->mu);
    if (tree->mark_text == NULL)
        tree->mark_text = cdr_arena_text(&tree->arena, why);
    cdr_frame_mark_locked(tree->root, CDR_MARK_REQUEST);
    cdr_mutex_unlock(&tree->mu);
}

void cadre_run_free(cadre_run *run)
{
    if (run == NULL)
        return;
    cadre_run_cancel(run, "freed");
    cdr_queue_deafen(&run->tree->queue);
    cdr_strand_join(&run->owner, &run->pending);
    const cadre_store_ops *store = run->tree->runtime->store_ops;
    if (store->release != NULL)
        store->release(run->tree->runtime->store, run->tree->trace);
    run_destroy(run);
}

const char *cadre_run_trace_id(const cadre_run *run)
{
    return run == NULL ? "" : run->tree->trace_text;
}
