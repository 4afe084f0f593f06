// The types there are: the built-in tables and what was registered.
#include "team/kinds.h"

#include "team/file_schema.h"
#include "team/runtime.h"

#include <string.h>

// How many types a table has; tables are short and end with NULL.
#define COUNT(table, n)                                                                \
    do {                                                                               \
        (n) = 0;                                                                       \
        while ((table)[n])                                                             \
            (n)++;                                                                     \
    } while (0)

static const void *registered_at(cadre_runtime *runtime, const cdr_registered *list,
                                 size_t nth)
{
    if (!runtime)
        return NULL;
    cdr_mutex_lock(&runtime->mu);
    const void *ops = nth < list->count ? list->items[nth] : NULL;
    cdr_mutex_unlock(&runtime->mu);
    return ops;
}

const cadre_agent_ops *cdr_runtime_agent_at(cadre_runtime *runtime, size_t nth)
{
    size_t n_topologies = 0;
    size_t n_agents = 0;
    COUNT(cdr_kinds_topologies, n_topologies);
    COUNT(cdr_kinds_agents, n_agents);
    if (nth < n_topologies)
        return cdr_kinds_topologies[nth];
    nth -= n_topologies;
    if (nth < n_agents)
        return cdr_kinds_agents[nth];
    return registered_at(runtime, runtime ? &runtime->agents : NULL, nth - n_agents);
}

const cadre_tool_ops *cdr_runtime_tool_at(cadre_runtime *runtime, size_t nth)
{
    size_t n_tools = 0;
    COUNT(cdr_kinds_tools, n_tools);
    if (nth < n_tools)
        return cdr_kinds_tools[nth];
    return registered_at(runtime, runtime ? &runtime->tools : NULL, nth - n_tools);
}

const cadre_model_ops *cdr_runtime_model_at(cadre_runtime *runtime, size_t nth)
{
    size_t n_models = 0;
    COUNT(cdr_kinds_models, n_models);
    if (nth < n_models)
        return cdr_kinds_models[nth];
    return registered_at(runtime, runtime ? &runtime->models : NULL, nth - n_models);
}

bool cdr_is_topology(const cadre_agent_ops *ops)
{
    for (size_t i = 0; cdr_kinds_topologies[i]; i++) {
        if (cdr_kinds_topologies[i] == ops)
            return true;
    }
    return false;
}

const cadre_agent_ops *cdr_runtime_agent_ops(cadre_runtime *runtime, const char *type)
{
    const cadre_agent_ops *ops = NULL;
    for (size_t i = 0; (ops = cdr_runtime_agent_at(runtime, i)) != NULL; i++) {
        if (strcmp(ops->type, type) == 0)
            break;
    }
    return ops;
}

const cadre_tool_ops *cdr_runtime_tool_ops(cadre_runtime *runtime, const char *type)
{
    const cadre_tool_ops *ops = NULL;
    for (size_t i = 0; (ops = cdr_runtime_tool_at(runtime, i)) != NULL; i++) {
        if (strcmp(ops->type, type) == 0)
            break;
    }
    return ops;
}

const cadre_model_ops *cdr_runtime_model_ops(cadre_runtime *runtime,
                                             const char *provider)
{
    const cadre_model_ops *ops = NULL;
    for (size_t i = 0; (ops = cdr_runtime_model_at(runtime, i)) != NULL; i++) {
        if (strcmp(ops->provider, provider) == 0)
            break;
    }
    return ops;
}

static const char *type_name_at(cadre_runtime *runtime, cadre_kind kind, size_t nth)
{
    const cadre_agent_ops *agent = NULL;
    const cadre_tool_ops *tool = NULL;
    const cadre_model_ops *model = NULL;
    switch (kind) {
    case CADRE_KIND_TOPOLOGY:
    case CADRE_KIND_AGENT:
        agent = cdr_runtime_agent_at(runtime, nth);
        return agent ? agent->type : NULL;
    case CADRE_KIND_TOOL:
        tool = cdr_runtime_tool_at(runtime, nth);
        return tool ? tool->type : NULL;
    case CADRE_KIND_MODEL:
        model = cdr_runtime_model_at(runtime, nth);
        return model ? model->provider : NULL;
    case CADRE_KIND_STORE:
        return cdr_kinds_stores[nth] ? cdr_kinds_stores[nth]->type : NULL;
    }
    return NULL;
}

size_t cdr_runtime_type_names(cadre_runtime *runtime, cadre_kind kind,
                              const char **names, size_t max)
{
    size_t n_names = 0;
    while (n_names < max) {
        const char *name = type_name_at(runtime, kind, n_names);
        if (!name)
            break;
        names[n_names++] = name;
    }
    return n_names;
}

static bool describe_agent(const cadre_agent_ops *const *table, size_t nth,
                           cadre_kind_info *out)
{
    size_t n_types = 0;
    COUNT(table, n_types);
    if (nth >= n_types)
        return false;
    const cadre_agent_ops *ops = table[nth];
    *out = (cadre_kind_info){ops->type, ops->summary, ops->options_schema,
                             ops->block ? ops->block : ops->type,
                             cdr_origin_of_agent(ops)};
    return true;
}

const char *cdr_origin_of_agent(const cadre_agent_ops *ops)
{
    return strcmp(ops->type, CDR_FUNCTION_TYPE) == 0 ? "from C" : NULL;
}

const char *cdr_origin_of_tool(const cadre_tool_ops *ops)
{
    if (ops->is_lent)
        return "given by a topology";
    return strcmp(ops->type, CDR_FUNCTION_TYPE) == 0 ? "from C" : NULL;
}

bool cadre_kind_at(cadre_kind kind, size_t nth, cadre_kind_info *out)
{
    const cadre_tool_ops *tool = NULL;
    const cadre_model_ops *model = NULL;
    size_t n_stores = 0;
    if (!out)
        return false;
    switch (kind) {
    case CADRE_KIND_TOPOLOGY:
        return describe_agent(cdr_kinds_topologies, nth, out);
    case CADRE_KIND_AGENT:
        return describe_agent(cdr_kinds_agents, nth, out);
    case CADRE_KIND_TOOL:
        tool = cdr_runtime_tool_at(NULL, nth);
        if (tool)
            *out = (cadre_kind_info){tool->type, tool->summary, tool->options_schema,
                                     NULL, cdr_origin_of_tool(tool)};
        return tool != NULL;
    case CADRE_KIND_MODEL:
        model = cdr_runtime_model_at(NULL, nth);
        if (model)
            *out = (cadre_kind_info){model->provider, model->summary,
                                     model->options_schema, NULL, NULL};
        return model != NULL;
    case CADRE_KIND_STORE:
        COUNT(cdr_kinds_stores, n_stores);
        if (nth < n_stores)
            *out = (cadre_kind_info){cdr_kinds_stores[nth]->type,
                                     cdr_kinds_stores[nth]->summary, NULL, NULL, NULL};
        return nth < n_stores;
    }
    return false;
}
