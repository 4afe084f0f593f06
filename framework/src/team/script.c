// Scripts: the next step of an agent, the result of a tool.
#include "team/script.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void cadre_script_free(cadre_script *script)
{
    if (!script)
        return;
    json_decref(script->content);
    json_decref(script->agent_index);
    json_decref(script->tool_index);
    cdr_arena_fini(&script->arena);
    free(script);
}

cadre_status cadre_script_load(const char *path, cadre_script **out, cadre_error *err)
{
    cdr_arena arena = CDR_ARENA_INIT;
    cdr_problems problems = {.arena = &arena};
    if (!path || !out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_script_load: NULL argument");
    cadre_script *script = cdr_script_read(path, NULL, &problems);
    cdr_problems_sort(&problems);
    cadre_error cause = CADRE_ERROR_INIT;
    cadre_status status = cdr_problems_status(&problems, &cause);
    if (status == CADRE_ECONFIG && problems.is_unreadable)
        status = CADRE_EIO;
    if (status == CADRE_OK) {
        *out = script;
    } else {
        cadre_fail(err, status, "%s", cause.text);
        cadre_script_free(script);
    }
    cdr_arena_fini(&arena);
    return status;
}

static const cdr_script_agent *find_agent(const cadre_script *script, const char *name)
{
    const json_t *position = json_object_get(script->agent_index, name);
    return position ? &script->agents[json_integer_value(position)] : NULL;
}

static bool is_chosen(const cdr_script_entry *entry, const char *last_input)
{
    if (entry->contains && !strstr(last_input, entry->contains))
        return false;
    return !entry->equals || strcmp(last_input, entry->equals) == 0;
}

// The entry that serves the nth attempt.
static const cdr_script_entry *entry_at(const cdr_script_agent *agent, int nth)
{
    assert(agent->ordered);
    size_t low = 0;
    size_t high = agent->n_ordered;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (agent->ordered[middle].before <= nth)
            low = middle;
        else
            high = middle;
    }
    return &agent->ordered[low];
}

static cadre_status fail_unknown_agent(const cadre_script *script, const char *agent,
                                       cadre_error *err)
{
    assert(script->agents || script->n_agents == 0);
    cdr_buf names = CDR_BUF_INIT;
    for (size_t i = 0; i < script->n_agents && i < 16; i++)
        cdr_buf_printf(&names, "%s%s", i > 0 ? ", " : "", script->agents[i].name);
    cadre_fail_class(err, CADRE_EINVAL, CADRE_CLASS_CONFIG, false,
                     "%s: the script has no steps for agent '%s' (it has: %s)",
                     script->file, agent,
                     script->n_agents > 0 ? cdr_buf_text(&names) : "none");
    cdr_buf_fini(&names);
    return CADRE_EINVAL;
}

// There is no step: all are used, or none was chosen.
static cadre_status fail_no_step(const cadre_script *script,
                                 const cdr_script_agent *agent, cadre_error *err)
{
    const char *file = script->file;
    const cdr_at *at = &agent->at;
    if (agent->length > 0)
        return cadre_fail_class(
            err, CADRE_EINVAL, CADRE_CLASS_CONFIG, false,
            "%s:%d:%d: the script has no step left for agent '%s': %d of "
            "%d are used",
            file, at->line, at->column, agent->name, agent->length, agent->length);
    if (agent->n_chosen > 0)
        return cadre_fail_class(
            err, CADRE_EINVAL, CADRE_CLASS_CONFIG, false,
            "%s:%d:%d: the script has no step for agent '%s': none of its "
            "%zu step%s with `when` matches the input",
            file, at->line, at->column, agent->name, agent->n_chosen,
            agent->n_chosen == 1 ? "" : "s");
    return cadre_fail_class(
        err, CADRE_EINVAL, CADRE_CLASS_CONFIG, false,
        "%s:%d:%d: the script has no steps for agent '%s': its list is "
        "empty",
        file, at->line, at->column, agent->name);
}

cadre_status cadre_script_next(const cadre_script *script, const char *agent,
                               const char *last_input, int *used,
                               const cadre_script_step **step, cadre_error *err)
{
    if (!script || !agent || !used || !step)
        return cadre_fail(err, CADRE_EINVAL, "cadre_script_next: NULL argument");
    const cdr_script_agent *found = find_agent(script, agent);
    if (!found)
        return fail_unknown_agent(script, agent, err);
    const char *input = last_input ? last_input : "";
    for (size_t i = 0; i < found->n_chosen; i++) {
        if (is_chosen(&found->chosen[i], input)) {
            *step = &found->chosen[i].step;
            return CADRE_OK;
        }
    }
    if (*used >= found->length)
        return fail_no_step(script, found, err);
    *step = &entry_at(found, *used)->step;
    ++*used;
    return CADRE_OK;
}

int cadre_script_length(const cadre_script *script, const char *agent)
{
    const cdr_script_agent *found = script && agent ? find_agent(script, agent) : NULL;
    return found ? found->length : 0;
}

cadre_status cdr_script_check_left(const cadre_script *script, const char *agent,
                                   int used, cadre_error *err)
{
    const cdr_script_agent *found = find_agent(script, agent);
    int left = found ? found->length - used : 0;
    if (left <= 0)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EFAILED,
                      "%s:%d:%d: the script has %d step%s left for agent '%s'",
                      script->file, found->at.line, found->at.column, left,
                      left == 1 ? "" : "s", agent);
}

bool cadre_script_is_strict(const cadre_script *script)
{
    return script && script->is_strict;
}

cadre_names cadre_script_agents(const cadre_script *script)
{
    if (!script)
        return (cadre_names){NULL, 0};
    return (cadre_names){script->names, script->n_agents};
}

const char *cadre_script_tool_result(const cadre_script *script, const char *tool,
                                     int nth, bool *is_error)
{
    const json_t *position =
        script && tool && is_error ? json_object_get(script->tool_index, tool) : NULL;
    if (!position)
        return NULL;
    const cdr_script_tool *found = &script->tools[json_integer_value(position)];
    if (found->n_results == 0)
        return NULL;
    size_t last = found->n_results - 1;
    size_t index = nth >= 0 && (size_t)nth < last ? (size_t)nth : last;
    *is_error = found->results[index].is_error;
    return found->results[index].text;
}
