// Going on with a run that was cut.
#include "run/start.h"

#include "run/arguments.h"
#include "run/lease.h"
#include "run/options.h"
#include "tree/birth.h"
#include "tree/load.h"

#include <string.h>

// A run goes on with the input it was started with; what else a caller has to say is
// another turn of its session.
static cadre_status check_input(const cdr_tree *tree, const char *input,
                                cadre_error *err)
{
    if (input == NULL || input[0] == '\0' ||
        strcmp(input, cdr_text_bytes(tree->root->input)) == 0)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL,
                      "run %s was started with another input and goes on with that; a "
                      "new one is a run of its own, in the same session",
                      tree->trace_text);
}

// Only who holds the lease reads the record, since nobody else adds to it then.
static cadre_status load_held(cdr_tree *tree, const cadre_run_config *config,
                              cadre_error *err)
{
    cadre_status status = cdr_tree_load(tree, err);
    if (status == CADRE_OK)
        status = check_input(tree, config->input, err);
    if (status != CADRE_OK) {
        cdr_lease_give_back(tree);
        return status;
    }
    cdr_birth birth = {.kind = CDR_FRAME_AGENT,
                       .timeout_ms = cdr_start_timeout(tree->root->agent, config),
                       .budget = &config->budget};
    cdr_mutex_lock(&tree->mu);
    bool ok = cdr_frame_resume_root_locked(tree, &birth);
    cdr_mutex_unlock(&tree->mu);
    if (ok)
        return CADRE_OK;
    cdr_lease_give_back(tree);
    return cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
}

// `by_itself`: in the background.
static cadre_status load_run(cadre_run *run, cadre_id trace,
                             const cadre_run_config *config, bool by_itself,
                             cadre_error *err)
{
    cdr_tree *tree = run->tree;
    tree->trace = trace;
    cadre_id_text(trace, tree->trace_text);
    cadre_status status = cdr_lease_take(tree, err);
    if (status == CADRE_OK)
        status = load_held(tree, config, err);
    if (status != CADRE_OK)
        return status;
    if (by_itself)
        status = cdr_run_detach(run, err);
    if (status == CADRE_OK)
        status = cdr_run_launch(run, err);
    if (status != CADRE_OK)
        cdr_lease_give_back(tree);
    return status;
}

// The run as it was started, but for what the caller and the team say otherwise.
static cadre_status make_run(const cdr_started *started, cadre_team *team,
                             cadre_run_config *config, cadre_run **out,
                             cadre_error *err)
{
    cadre_status status =
        cdr_started_check_team(started, team, config->accept_changes, err);
    if (status != CADRE_OK)
        return status;
    json_t *inputs = cdr_started_inputs(started, team, config->inputs, err);
    if (inputs == NULL)
        return err->status;
    cdr_started_fill(started, config);
    *out = cdr_start_run_take(team, config, inputs, err);
    if (*out == NULL)
        return err->status;
    cadre_status kept = cdr_started_keep(started, (*out)->tree, err);
    if (kept != CADRE_OK) {
        cdr_run_destroy(*out);
        *out = NULL;
        return kept;
    }
    (*out)->tree->texts_changed = cdr_started_has_other_texts(started, team);
    return CADRE_OK;
}

cadre_status cdr_run_resume(cadre_team *team, cadre_id trace,
                            const cadre_run_config *given, cadre_run **out,
                            cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    cdr_started started = {.is_there = false};
    cadre_run_config config = *given;
    cadre_status status = cdr_start_check(team, &config, &why);
    if (status == CADRE_OK)
        status = cdr_started_read(&started, team->runtime, trace, &why);
    if (status == CADRE_OK)
        status = make_run(&started, team, &config, &run, &why);
    if (run != NULL)
        status = load_run(run, trace, &config, out == NULL, &why);
    cdr_started_fini(&started);
    if (status != CADRE_OK) {
        cdr_run_destroy(run);
        return cdr_start_fail(err, status, &why);
    }
    if (out != NULL)
        *out = run;
    return CADRE_OK;
}

cadre_status cadre_run_resume(cadre_team *team, const char *trace,
                              const cadre_run_config *config, cadre_run **out,
                              cadre_error *err)
{
    cadre_id id;
    const cadre_run_config standard = {.struct_size = sizeof standard};
    if (team == NULL || (config != NULL && config->struct_size < sizeof *config))
        return cadre_fail(err, CADRE_EINVAL, "a run needs a team and CADRE_RUN(...)");
    if (out == NULL)
        return cdr_fail_null(err, __func__);
    if (trace == NULL || !cadre_id_parse(trace, &id))
        return cadre_fail(err, CADRE_EINVAL, "'%s' is not the id of a run",
                          trace == NULL ? "" : trace);
    return cdr_run_resume(team, id, config == NULL ? &standard : config, out, err);
}
