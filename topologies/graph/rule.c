// Rules: conditions and choices.
#include "plan.h"

#include <string.h>

static bool read_call(cdr_graph_rule *rule, const cadre_agent_config *config,
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

bool cdr_graph_rule_read(cdr_graph_rule *rule, const cadre_agent_config *config,
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

void cdr_graph_rule_fini(cdr_graph_rule *rule)
{
    cadre_expression_free(rule->expression);
}

json_t *cdr_graph_rule_value(const cdr_graph_rule *rule, const cdr_graph_values *values,
                             int64_t step, cadre_error *err)
{
    int iteration = step > INT32_MAX ? INT32_MAX : (int)step;
    if (rule->predicate != NULL) {
        const cadre_predicate_values given = {.struct_size = sizeof given,
                                              .input = values->user_input,
                                              .last_response = values->last_response,
                                              .output = values->last_response,
                                              .state = values->state,
                                              .outputs = values->responses,
                                              .iteration = iteration};
        json_t *value = rule->predicate->run(rule->predicate->ctx, &given, err);
        if (value == NULL)
            cadre_fail(err, CADRE_EFAILED, "predicate '%s' gave no value",
                       rule->predicate->name);
        return value;
    }
    const cadre_expression_values given = {.struct_size = sizeof given,
                                           .input = values->user_input,
                                           .last_response = values->last_response,
                                           .output = values->last_response,
                                           .state = values->state,
                                           .outputs = values->responses,
                                           .iteration = iteration};
    json_t *value = NULL;
    cadre_status status = cadre_expression_value(rule->expression, &given, &value, err);
    if (status != CADRE_OK)
        return NULL;
    return value == NULL ? json_null() : value;
}
