// See cadre/ext/rule.h.
#include "cadre/ext/rule.h"

#include <string.h>

static bool read_call(cadre_rule *rule, const cadre_agent_config *config,
                      const char *path, const json_t *call)
{
    const char *name = json_string_value(call);
    rule->predicate = name == NULL ? NULL : config->find_predicate(config, name);
    if (rule->predicate != NULL)
        return true;
    config->problem(config, path,
                    name == NULL
                        ? "call: expected the name of a predicate%s"
                        : "unknown predicate '%.64s'; predicates are functions of a C "
                          "program, added with cadre_team_add_predicate",
                    name == NULL ? "" : name);
    return false;
}

bool cadre_rule_read(cadre_rule *rule, const cadre_agent_config *config,
                     const char *path, const json_t *written)
{
    cadre_error err = CADRE_ERROR_INIT;
    const json_t *call = json_object_get(written, "call");
    if (call != NULL && json_object_size(written) == 1)
        return read_call(rule, config, path, call);
    if (cadre_expression_new(written, path, &rule->expression, &err) == CADRE_OK)
        return true;
    // The place stands before it anyhow.
    size_t len = strlen(path);
    const char *text = err.text;
    if (strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0)
        text += len + 2;
    config->problem(config, path, "%s", text);
    return false;
}

void cadre_rule_fini(cadre_rule *rule)
{
    cadre_expression_free(rule->expression);
}

bool cadre_rule_is_set(const cadre_rule *rule)
{
    return rule->expression != NULL || rule->predicate != NULL;
}

static json_t *ask_predicate(const cadre_predicate *predicate,
                             const cadre_predicate_values *values, cadre_error *err)
{
    json_t *value = predicate->run(predicate->ctx, values, err);
    if (value == NULL)
        cadre_fail(err, CADRE_EFAILED, "predicate '%s' gave no value", predicate->name);
    return value;
}

json_t *cadre_rule_value(const cadre_rule *rule, const cadre_predicate_values *values,
                         cadre_error *err)
{
    if (rule->predicate != NULL)
        return ask_predicate(rule->predicate, values, err);
    const cadre_expression_values given = {.struct_size = sizeof given,
                                           .input = values->input,
                                           .last_response = values->last_response,
                                           .output = values->output,
                                           .state = values->state,
                                           .outputs = values->outputs,
                                           .iteration = values->iteration};
    json_t *value = NULL;
    cadre_status status = cadre_expression_value(rule->expression, &given, &value, err);
    if (status != CADRE_OK)
        return NULL;
    return value == NULL ? json_null() : value;
}

cadre_status cadre_rule_test(const cadre_rule *rule,
                             const cadre_predicate_values *values, bool *out,
                             cadre_error *err)
{
    json_t *value = cadre_rule_value(rule, values, err);
    if (value == NULL)
        return CADRE_EFAILED;
    bool is_condition = json_is_boolean(value) || json_is_null(value);
    *out = json_is_true(value);
    json_decref(value);
    if (is_condition)
        return CADRE_OK;
    return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_HOOK, false,
                            "a condition must give true or false");
}
