// Models resolved: where they are reached, which variable holds the key, and which of
// them answer from the script.
#include "team/sealing.h"

#include "base/brief.h"
#include "base/url_text.h"
#include "net/governor.h"
#include "team/build.h"
#include "team/environment.h"
#include "team/runtime.h"

#include <string.h>

// The provider that answers from a script.
#define SCRIPT_PROVIDER "script"

static bool is_variable_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "_0123456789";
    return *name && (*name < '0' || *name > '9') && !name[strspn(name, letters)];
}

// The variable that holds the provider's key; NULL: it takes none.
static const char *usual_key(const cadre_model_ops *ops)
{
    const char *other = ops->other_key_env;
    bool takes_other =
        other && !cdr_environment_get(ops->api_key_env) && cdr_environment_get(other);
    return takes_other ? other : ops->api_key_env;
}

// An explicit address is another server: a key is sent there only when its variable is
// named too.
static void resolve_key(cadre_model *model, bool has_own_url)
{
    if (model->api_key_env) {
        // Not quoted: people paste the key itself here.
        if (*model->api_key_env && !is_variable_name(model->api_key_env))
            cdr_model_problem(model, "api_key_env must be the name of an environment "
                                     "variable, such as OPENAI_API_KEY; what stands "
                                     "there is none");
        return;
    }
    const char *usual = usual_key(model->ops);
    model->api_key_env = has_own_url || !usual ? "" : usual;
}

static bool is_url(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

// The address that the environment gives all models of a provider; NULL: none.
static const char *environment_url(const cadre_model_ops *ops)
{
    return ops->base_url_env ? cdr_environment_get(ops->base_url_env) : NULL;
}

// A wrong one is a mistake of the environment, told once and not of each model.
static const char *default_url(cadre_model *model)
{
    const cadre_model_ops *ops = model->ops;
    const char *url = environment_url(ops);
    if (!url)
        return ops->base_url ? ops->base_url : "";
    model->is_flawed |= !is_url(url);
    return url;
}

static void resolve_url(cadre_model *model)
{
    char brief[CDR_BRIEF_SIZE];
    char shown[CDR_URL_TEXT_SIZE];
    const char *url = model->base_url ? model->base_url : default_url(model);
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    if (!is_url(url) && url != environment_url(model->ops))
        cdr_model_problem(model, "base_url must start with http:// or https://, got %s",
                          cdr_brief_text(brief, cdr_url_text(shown, url), '\''));
    model->base_url = cdr_arena_copy(&model->team->arena, url, len);
    model->team->problems.no_memory |= !model->base_url;
}

// The options were of another provider; the script has none of them.
static void make_scripted(cadre_model *model)
{
    const cadre_model_ops *ops =
        cdr_runtime_model_ops(model->team->runtime, SCRIPT_PROVIDER);
    bool is_other = ops != model->ops;
    model->is_scripted = true;
    model->full_name = SCRIPT_PROVIDER;
    model->base_url = "";
    model->api_key_env = "";
    if (!ops) {
        cdr_model_problem(model, "cannot work offline: this build has no provider '%s'",
                          SCRIPT_PROVIDER);
        return;
    }
    model->ops = ops;
    if (is_other) {
        json_decref(model->options);
        model->options = json_object();
        model->team->problems.no_memory |= !model->options;
    }
}

// Before the script takes its place.
static int64_t max_output_of(const cadre_model *model)
{
    static const char *const names[] = {"max_tokens", "max_completion_tokens",
                                        "max_output_tokens"};
    int64_t max = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && max == 0; i++)
        max = json_integer_value(json_object_get(model->options, names[i]));
    return max;
}

static bool is_scripted(const cadre_model *model)
{
    return model->team->runtime->offline ||
           strcmp(model->provider, SCRIPT_PROVIDER) == 0;
}

// Tells of a provider's variable that a model takes its address from.
static void tell_variable(cadre_team *team, const cadre_model_ops *ops)
{
    char brief[CDR_BRIEF_SIZE];
    char shown[CDR_URL_TEXT_SIZE];
    const char *url = environment_url(ops);
    if (!url || is_url(url))
        return;
    for (size_t i = 0; i < team->n_models; i++) {
        const cadre_model *model = team->models[i];
        if (model->ops != ops || is_scripted(model) || model->base_url)
            continue;
        cdr_team_problem(team, NULL,
                         "the environment variable %s must start with http:// or "
                         "https://, got %s",
                         ops->base_url_env,
                         cdr_brief_text(brief, cdr_url_text(shown, url), '\''));
        return;
    }
}

static void resolve(cadre_model *model)
{
    if (is_scripted(model)) {
        make_scripted(model);
    } else if (model->ops->answer) {
        model->base_url = "";
        model->api_key_env = "";
    } else {
        bool has_own_url = model->base_url != NULL;
        resolve_url(model);
        resolve_key(model, has_own_url);
    }
}

// Who asks the same has the same one, in all teams of the process.
static void take_governor(cadre_model *model)
{
    if (!cdr_model_is_asked(model) || model->is_scripted || model->is_flawed)
        return;
    const cdr_governor_name name = {model->team->runtime->clock, model->provider,
                                    model->base_url, model->model, model->api_key_env};
    model->governor = cdr_governor_ref(&name, model->rpm);
    model->team->problems.no_memory |= !model->governor;
}

void cdr_seal_models(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    const cadre_model_ops *ops = NULL;
    for (size_t i = 0; (ops = cdr_runtime_model_at(team->runtime, i)) != NULL; i++)
        tell_variable(team, ops);
    for (size_t i = 0; i < team->n_models; i++) {
        cadre_model *model = team->models[i];
        if (!model->ops)
            continue;
        team->problems.no_memory |= !cdr_digest_options(
            model->ops->options_schema, model->options, &model->options_digest);
        model->max_output_tokens = max_output_of(model);
        resolve(model);
        take_governor(model);
    }
}

static cadre_status check_key(const cadre_model *model, cadre_error *err)
{
    const char *key = cdr_environment_get(model->api_key_env);
    if (!key)
        return cadre_fail(err, CADRE_ECONFIG,
                          "model '%s': %s is not set; set it (any text will do for "
                          "a server that wants none), or run with --offline",
                          model->name, model->api_key_env);
    // From a file that was read with its last line's end.
    if (strpbrk(key, "\r\n"))
        return cadre_fail(err, CADRE_ECONFIG,
                          "model '%s': %s has a line end in it; set it without one",
                          model->name, model->api_key_env);
    return CADRE_OK;
}

cadre_status cdr_team_check_keys(const cadre_team *team, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < team->n_models && status == CADRE_OK; i++) {
        const cadre_model *model = team->models[i];
        if (cdr_model_is_asked(model) && !model->is_scripted && *model->api_key_env)
            status = check_key(model, err);
    }
    return status;
}
