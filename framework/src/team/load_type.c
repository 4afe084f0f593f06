// Another type for the root of a file: "the same team, but as a chain".
#include "team/load.h"

#include "team/file_schema.h"
#include "team/kinds.h"
#include "team/runtime.h"

#include "base/json_iterable.h"

#include <string.h>

#define MAX_TYPES 64

// May agents of this type have members? What was registered may.
static bool is_over_others(const cadre_agent_ops *ops)
{
    bool is_builtin = false;
    for (size_t i = 0; cdr_kinds_agents[i]; i++)
        is_builtin |= cdr_kinds_agents[i] == ops;
    return !is_builtin;
}

cadre_status cdr_load_check_type(cadre_runtime *runtime, const char *type,
                                 cadre_error *err)
{
    const char *names[MAX_TYPES];
    const cadre_agent_ops *ops = NULL;
    size_t n_names = 0;
    for (size_t i = 0; (ops = cdr_runtime_agent_at(runtime, i)) != NULL; i++) {
        if (!is_over_others(ops))
            continue;
        if (strcmp(ops->type, type) == 0)
            return CADRE_OK;
        if (n_names < MAX_TYPES)
            names[n_names++] = ops->type;
    }
    cdr_arena arena = CDR_ARENA_INIT;
    cdr_problems problems = {.arena = &arena};
    cdr_problems_add_unknown(&problems, NULL, "type", type,
                             (cadre_names){names, n_names});
    cadre_status status =
        problems.count > 0 ? cadre_fail(err, CADRE_EINVAL, "%s", problems.items[0].text)
                           : cadre_fail(err, CADRE_ENOMEM, "no memory for a team");
    cdr_arena_fini(&arena);
    return status;
}

// The name of the root: the one that is written, else that of the first agent.
static const char *root_name(const json_t *root)
{
    const json_t *written = json_object_get(root, "root");
    const char *name;
    json_t *agent;
    if (written)
        return json_string_value(written);
    json_object_foreach(cdr_json_iterable(json_object_get(root, "agents")), name, agent)
    {
        if (strncmp(name, "x-", 2) != 0)
            return name;
    }
    return NULL;
}

static void tell_alone(cdr_loader *loader, const json_t *agents, const char *name,
                       const char *type)
{
    cadre_team *team = loader->team;
    cdr_document_value value = cdr_document_member(loader->document, agents, name);
    cdr_at at = {loader->file, value.key_place.line, value.key_place.column, "agents"};
    at = cdr_at_part(team, &at, ".%s", name);
    cdr_team_problem(team, &at,
                     "the root is of type %s and has no members; --type %s needs a "
                     "root over others, such as `desk: {type: %s, members: [%s]}`",
                     type, team->asked_type, team->asked_type, name);
}

void cdr_load_type(cdr_loader *loader, json_t *root)
{
    cadre_team *team = loader->team;
    json_t *agents = json_object_get(root, "agents");
    const char *name = root_name(root);
    json_t *agent = name ? json_object_get(agents, name) : NULL;
    const json_t *written = json_object_get(agent, "type");
    const char *type = written ? json_string_value(written) : CDR_DEFAULT_AGENT_TYPE;
    const cadre_agent_ops *ops =
        type ? cdr_runtime_agent_ops(team->runtime, type) : NULL;
    // A mistake in these is told when the file is checked.
    if (!json_is_object(agent) || !ops)
        return;
    if (!is_over_others(ops)) {
        tell_alone(loader, agents, name, type);
        return;
    }
    loader->retyped = name;
    team->problems.no_memory |=
        json_object_set_new(agent, "type", json_string(team->asked_type)) != 0;
}
