// Starting a run.
#include "run/start.h"

#include "run/arguments.h"
#include "run/lease.h"
#include "run/options.h"
#include "run/parts.h"
#include "run/recorded.h"
#include "run/request.h"
#include "run/session.h"
#include "tree/birth.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

// --- What resuming needs too ---

static int limit_of(int asked, int of_team)
{
    return asked != 0 ? asked : of_team;
}

static void set_limits(cdr_tree *tree, const cadre_limits *asked)
{
    cadre_limits team = cdr_team_limits(tree->team);
    tree->limits =
        (cadre_limits){limit_of(asked->max_model_calls, team.max_model_calls),
                       limit_of(asked->max_tool_calls, team.max_tool_calls),
                       limit_of(asked->max_depth, team.max_depth)};
}

int64_t cdr_start_timeout(const cadre_agent *root, const cadre_run_config *config)
{
    return cdr_shorter_ms(config->timeout_ms, root->timeout_ms);
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
        status = cdr_check_text((cdr_argument){NULL, "cadre_run_config.request_id"},
                                config->request_id, err);
    if (status == CADRE_OK && config->request_id != NULL && !config->request_id[0])
        status = cadre_fail(err, CADRE_EINVAL,
                            "cadre_run_config.request_id is empty; NULL is none");
    if (status == CADRE_OK)
        status = cdr_check_time((cdr_argument){NULL, "cadre_run_config.timeout_ms"},
                                config->timeout_ms, err);
    if (status == CADRE_OK)
        status = cdr_check_budget((cdr_argument){NULL, "cadre_run_config.budget"},
                                  &config->budget, err);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0] && status == CADRE_OK; i++)
        status =
            cdr_check_limit((cdr_argument){NULL, limits[i].name}, limits[i].value, err);
    return status;
}

// A team that may run: sealed, without mistakes, with the keys it needs.
cadre_status cdr_start_check(cadre_team *team, const cadre_run_config *config,
                             cadre_error *err)
{
    cadre_status status = check_config(config, err);
    if (status == CADRE_OK)
        status = cadre_team_seal(team, err);
    if (status == CADRE_OK && config->budget.max_cost_usd_micros > 0)
        status = cdr_team_check_prices(team, err);
    return status == CADRE_OK ? cdr_team_check_keys(team, err) : status;
}

cadre_run *cdr_start_run_take(cadre_team *team, const cadre_run_config *config,
                              json_t *inputs, cadre_error *err)
{
    cadre_run *run = inputs == NULL ? NULL : calloc(1, sizeof *run);
    if (run == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
        json_decref(inputs);
        return NULL;
    }
    cdr_strand_init(&run->owner);
    run->tree = cdr_tree_new(team, err);
    if (run->tree == NULL) {
        json_decref(inputs);
        cdr_run_destroy(run);
        return NULL;
    }
    run->tree->inputs = inputs;
    set_limits(run->tree, &config->limits);
    run->tree->has_budgets = team->has_budgets || config->budget.max_tokens > 0 ||
                             config->budget.max_cost_usd_micros > 0;
    if (config->no_events)
        cdr_queue_deafen(&run->tree->queue);
    return run;
}

cadre_status cdr_start_fail(cadre_error *err, cadre_status status,
                            const cadre_error *why)
{
    return cadre_fail_class(err, status, why->error_class, why->retryable, "%s",
                            why->text);
}

// --- The root ---

// The trace, its root and the user's input: the start commit, not flushed yet.
static cadre_status birth_root(cdr_tree *tree, const cdr_start *start,
                               cdr_conversation *conversation, bool opens,
                               cadre_error *err)
{
    const cadre_run_config *config = start->config;
    const cadre_agent *agent = start->root == NULL ? tree->team->root : start->root;
    const char *input = config->input == NULL ? "" : config->input;
    cdr_birth birth = {.kind = CDR_FRAME_AGENT,
                       .name = agent->info.name,
                       .agent = agent,
                       .conversation = conversation,
                       .opens = opens ? conversation : NULL,
                       .session = config->session,
                       .input = cdr_text_new(input, strlen(input)),
                       .is_quiet = agent->quiet,
                       .timeout_ms = cdr_start_timeout(agent, config),
                       .budget = &config->budget};
    if (birth.input == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
    cadre_message said = {
        .role = CADRE_ROLE_USER, .text = input, .parts = start->parts};
    cdr_mutex_lock(&tree->mu);
    cadre_frame *root = cdr_frame_new_root_locked(tree, &birth);
    if (root != NULL) {
        cdr_recorded_post_locked(root, CDR_ROOT_KEY);
        cdr_say_posted_locked(root); // before the session goes on
    }
    bool ok = root != NULL &&
              cdr_say_locked(root, cdr_message_new(&said, (cadre_id){0, 0}, root->id));
    if (ok && config->request_id != NULL)
        cdr_outbox_request_locked(tree, config->request_id, start->request_hash);
    cdr_mutex_unlock(&tree->mu);
    cdr_text_unref(birth.input);
    return ok ? CADRE_OK : cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
}

static cadre_status open_root(cdr_tree *tree, const cdr_start *start, cadre_error *err)
{
    cdr_session_size read = {0, false};
    cadre_status status = CADRE_OK;
    const char *session = start->config->session;
    cdr_conversation *conversation = cdr_conversation_new(NULL);
    if (conversation == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a conversation");
    if (session != NULL)
        status = cdr_session_read(tree, session, conversation, &read, err);
    if (status == CADRE_OK)
        status = birth_root(tree, start, conversation, !read.is_there, err);
    if (status == CADRE_OK)
        status = cdr_session_store_start(tree, session, start->config->request_id,
                                         &read, err);
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

// --- Starting ---

// The spawner is told that it is started when it is.
static cadre_status go_by_itself(cadre_run *run, const cdr_start *start,
                                 cadre_error *err)
{
    *start->background_trace = run->tree->trace;
    cadre_status status = cdr_tree_flush(run->tree, err);
    return status == CADRE_OK ? cdr_run_detach(run, err) : status;
}

static cadre_status open_run(cadre_run *run, const cdr_start *start, cadre_error *err)
{
    run->tree->spawn = start->spawn;
    if (start->spawn.within == NULL)
        run->tree->spawn.within = "";
    cadre_status status = cdr_options_keep(run->tree, start->config, err);
    if (status == CADRE_OK)
        status = cdr_lease_hold_new(run->tree, err);
    if (status == CADRE_OK)
        status = take_session(run, start->config->session, err);
    if (status == CADRE_OK)
        status = open_root(run->tree, start, err);
    if (status == CADRE_OK && start->background_trace != NULL)
        status = go_by_itself(run, start, err);
    if (status == CADRE_OK)
        status = cdr_run_launch(run, err);
    return status;
}

static cadre_status start_run(const cdr_start *start, cadre_run **out, cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    cadre_status status = cdr_start_check(start->team, start->config, &why);
    if (status == CADRE_OK) {
        json_t *inputs = cdr_team_inputs(start->team, start->config->inputs, &why);
        run = cdr_start_run_take(start->team, start->config, inputs, &why);
        status = why.status;
    }
    if (run != NULL)
        status = open_run(run, start, &why);
    if (status != CADRE_OK) {
        // One in the background may have been stored, whatever failed then.
        if (run != NULL && start->background_trace != NULL &&
            run->tree->lease_owner != NULL)
            cdr_lease_give_back(run->tree);
        cdr_run_destroy(run);
        return cdr_start_fail(err, status, &why);
    }
    if (out != NULL)
        *out = run;
    return CADRE_OK;
}

cadre_status cdr_run_start(const cdr_start *start, cadre_run **out, cadre_error *err)
{
    char *parts = NULL;
    cdr_start with_parts = *start;
    cadre_status status =
        cdr_parts_make(start->config->files, start->config->n_files, &parts, err);
    if (status != CADRE_OK)
        return status;
    with_parts.parts = parts;
    status = start_run(&with_parts, out, err);
    free(parts);
    return status;
}

cadre_status cadre_run_start(cadre_team *team, const cadre_run_config *config,
                             cadre_run **out, cadre_error *err)
{
    if (team == NULL || config == NULL || config->struct_size < sizeof *config)
        return cadre_fail(err, CADRE_EINVAL, "a run needs a team and CADRE_RUN(...)");
    if (out == NULL)
        return cdr_fail_null(err, __func__);
    const cdr_start start = {.team = team, .config = config};
    return config->request_id == NULL ? cdr_run_start(&start, out, err)
                                      : cdr_request_start(&start, out, err);
}
