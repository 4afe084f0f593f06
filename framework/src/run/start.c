// Starting a run, and going on with one that was cut.
#include "run/run.h"

#include "run/arguments.h"
#include "run/lease.h"
#include "run/session.h"
#include "tree/load.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

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

// A session's earlier messages, as they come from the store.
typedef struct session_reader {
    cdr_tree *tree;
    cdr_conversation *conversation;
    bool is_there;
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

static cadre_status take_conversation(void *ctx, const cadre_conversation_row *row,
                                      cadre_error *err)
{
    session_reader *reader = ctx;
    (void)err;
    reader->conversation->id = row->id;
    reader->is_there = true;
    return CADRE_OK;
}

static cadre_status read_session(cdr_tree *tree, const char *session,
                                 cdr_conversation *conversation, bool *is_new,
                                 cadre_error *err)
{
    session_reader reader = {tree, conversation, false};
    const cadre_query query = {.kind = CADRE_QUERY_SESSION, .session = session};
    const cadre_store_reader ops = {
        .conversation = take_conversation, .message = take_row, .ctx = &reader};
    const cadre_store_ops *store = tree->runtime->store_ops;
    tree->is_session = true;
    cadre_status status = store->read(tree->runtime->store, &query, &ops, err);
    *is_new = !reader.is_there;
    return status;
}

// 0: none.
static int64_t timeout_of(const cadre_agent *root, const cadre_run_config *config)
{
    bool is_shorter = root->timeout_ms > 0 && (config->timeout_ms == 0 ||
                                               root->timeout_ms < config->timeout_ms);
    return is_shorter ? root->timeout_ms : config->timeout_ms;
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
                       .timeout_ms = timeout_of(agent, config)};
    if (birth.input == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
    cadre_message said = {.role = CADRE_ROLE_USER, .text = input};
    cdr_mutex_lock(&tree->mu);
    cadre_frame *root = cdr_frame_new_root_locked(tree, &birth);
    bool ok = root != NULL &&
              cdr_say_locked(root, cdr_message_new(&said, (cadre_id){0, 0}, root->id));
    cdr_mutex_unlock(&tree->mu);
    cdr_text_unref(birth.input);
    return ok ? CADRE_OK : cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
}

typedef struct session_size {
    size_t n_messages;
    bool is_there;
} session_size;

static cadre_status count_row(void *ctx, const cadre_message_row *row, cadre_error *err)
{
    (void)row;
    (void)err;
    ((session_size *)ctx)->n_messages++;
    return CADRE_OK;
}

static cadre_status note_conversation(void *ctx, const cadre_conversation_row *row,
                                      cadre_error *err)
{
    (void)row;
    (void)err;
    ((session_size *)ctx)->is_there = true;
    return CADRE_OK;
}

// Has another process gone on with the session since this one read it?
static bool has_moved(cdr_tree *tree, const char *session, const session_size *read)
{
    session_size now = {0, false};
    const cadre_query query = {.kind = CADRE_QUERY_SESSION, .session = session};
    const cadre_store_reader reader = {
        .conversation = note_conversation, .message = count_row, .ctx = &now};
    const cadre_store_ops *store = tree->runtime->store_ops;
    return store->read(tree->runtime->store, &query, &reader, NULL) == CADRE_OK &&
           (now.is_there != read->is_there || now.n_messages != read->n_messages);
}

// Another process may work in the session: only the store knows, once the start is in
// it. A lost store is told by the run.
static cadre_status store_start(cdr_tree *tree, const char *session,
                                const session_size *read, cadre_error *err)
{
    if (session == NULL || cdr_tree_flush(tree, NULL) == CADRE_OK)
        return CADRE_OK;
    if (tree->lost.status == CADRE_EBUSY)
        return cadre_fail(err, CADRE_EBUSY,
                          "session '%s': %s and is not at its end: wait for it, or "
                          "resume it if it was cut",
                          session, tree->lost.text);
    if (has_moved(tree, session, read))
        return cadre_fail_class(err, CADRE_EBUSY, CADRE_CLASS_ERROR, true,
                                "session '%s': another run went on with it at the same "
                                "moment; try again",
                                session);
    return CADRE_OK;
}

static cadre_status open_root(cdr_tree *tree, const cadre_run_config *config,
                              cadre_error *err)
{
    bool is_new = true;
    session_size read = {0, false};
    cadre_status status = CADRE_OK;
    cdr_conversation *conversation = cdr_conversation_new(NULL);
    if (conversation == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a conversation");
    if (config->session != NULL)
        status = read_session(tree, config->session, conversation, &is_new, err);
    read = (session_size){conversation->n_messages, !is_new};
    if (status == CADRE_OK)
        status = birth_root(tree, config, conversation, is_new, err);
    if (status == CADRE_OK)
        status = store_start(tree, config->session, &read, err);
    cdr_conversation_unref(conversation);
    return status;
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

// --- Start and resume ---

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

// A team that may run: sealed, without mistakes, with the keys it needs.
static cadre_status check_team(cadre_team *team, cadre_error *err)
{
    cadre_status status = cadre_team_seal(team, err);
    return status == CADRE_OK ? cdr_team_check_keys(team, err) : status;
}

static cadre_run *run_new(cadre_team *team, const cadre_run_config *config,
                          cadre_error *err)
{
    cadre_run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
        return NULL;
    }
    cdr_strand_init(&run->owner);
    run->tree = cdr_tree_new(team, err);
    if (run->tree != NULL) {
        set_limits(run->tree, &config->limits);
        if (config->no_events)
            cdr_queue_deafen(&run->tree->queue);
        run->tree->inputs = cdr_team_inputs(team, config->inputs, err);
    }
    if (run->tree == NULL || run->tree->inputs == NULL) {
        cdr_run_destroy(run);
        return NULL;
    }
    return run;
}

static cadre_status error_status(const cadre_error *err)
{
    return err->status == CADRE_OK ? CADRE_ENOMEM : err->status;
}

cadre_status cadre_run_start(cadre_team *team, const cadre_run_config *config,
                             cadre_run **out, cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    if (team == NULL || config == NULL || config->struct_size < sizeof *config)
        return cadre_fail(err, CADRE_EINVAL, "a run needs a team and CADRE_RUN(...)");
    if (out == NULL)
        return cdr_fail_null(err, __func__);
    cadre_run *run = NULL;
    cadre_status status = check_config(config, &why);
    if (status == CADRE_OK)
        status = check_team(team, &why);
    if (status == CADRE_OK) {
        run = run_new(team, config, &why);
        status = run == NULL ? error_status(&why) : CADRE_OK;
    }
    if (status == CADRE_OK)
        status = cdr_lease_hold_new(run->tree, &why);
    if (status == CADRE_OK)
        status = take_session(run, config->session, &why);
    if (status == CADRE_OK)
        status = open_root(run->tree, config, &why);
    if (status == CADRE_OK)
        status = cdr_run_launch(run, &why);
    if (status != CADRE_OK) {
        cdr_run_destroy(run);
        return cadre_fail_class(err, status, why.error_class, why.retryable, "%s",
                                why.text);
    }
    *out = run;
    return CADRE_OK;
}

// Only who holds the lease reads the record, since nobody else adds to it then.
static cadre_status load_held(cdr_tree *tree, const cadre_run_config *config,
                              cadre_error *err)
{
    cadre_status status = cdr_tree_load(tree, err);
    if (status != CADRE_OK) {
        cdr_lease_give_back(tree);
        return status;
    }
    cdr_mutex_lock(&tree->mu);
    cdr_frame_resume_root_locked(tree, timeout_of(tree->team->root, config));
    cdr_mutex_unlock(&tree->mu);
    return CADRE_OK;
}

static cadre_status load_run(cadre_run *run, cadre_id trace,
                             const cadre_run_config *config, cadre_error *err)
{
    cdr_tree *tree = run->tree;
    tree->trace = trace;
    cadre_id_text(trace, tree->trace_text);
    cadre_status status = cdr_lease_take(tree, err);
    if (status == CADRE_OK)
        status = load_held(tree, config, err);
    return status;
}

cadre_status cadre_run_resume(cadre_team *team, const char *trace,
                              const cadre_run_config *config, cadre_run **out,
                              cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_id id;
    cadre_run *run = NULL;
    const cadre_run_config standard = {.struct_size = sizeof standard};
    if (team == NULL || (config != NULL && config->struct_size < sizeof *config))
        return cadre_fail(err, CADRE_EINVAL, "a run needs a team and CADRE_RUN(...)");
    if (out == NULL)
        return cdr_fail_null(err, __func__);
    if (trace == NULL || !cadre_id_parse(trace, &id))
        return cadre_fail(err, CADRE_EINVAL, "'%s' is not the id of a run",
                          trace == NULL ? "" : trace);
    if (config == NULL)
        config = &standard;
    cadre_status status = check_config(config, &why);
    if (status == CADRE_OK)
        status = check_team(team, &why);
    if (status == CADRE_OK) {
        run = run_new(team, config, &why);
        status = run == NULL ? error_status(&why) : CADRE_OK;
    }
    if (status == CADRE_OK)
        status = load_run(run, id, config, &why);
    if (status == CADRE_OK) {
        status = cdr_run_launch(run, &why);
        if (status != CADRE_OK)
            cdr_lease_give_back(run->tree);
    }
    if (status != CADRE_OK) {
        cdr_run_destroy(run);
        return cadre_fail_class(err, status, why.error_class, why.retryable, "%s",
                                why.text);
    }
    *out = run;
    return CADRE_OK;
}
