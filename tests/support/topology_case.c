// See topology_case.h.
#include "support/topology_case.h"

#include "support/check.h"

#include "cadre/ext/agent.h"

#include <stdio.h>
#include <string.h>

// --- One from outside ---

// Both at once, each with the input; then the second in the conversation, with what
// they said.
static cadre_status debate_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const cadre_agent *const *who = cadre_frame_members(frame).items;
    cadre_outcome said[2];
    (void)state;
    const cadre_call *const calls[] = {
        CADRE_CALL(.agent = who[0], .input = cadre_frame_input(frame)),
        CADRE_CALL(.agent = who[1], .input = cadre_frame_input(frame))};
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), said, err);
    if (status != CADRE_OK)
        return status;
    const char *brief =
        cadre_frame_printf(frame, "%s; %s. Decide.", said[0].text, said[1].text);
    return cadre_frame_delegate(frame, CADRE_CALL(.agent = who[1], .input = brief),
                                NULL, err);
}

static const cadre_agent_ops debate_ops = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "debate",
    .summary = "both answer, the second decides",
    .run = debate_run,
};

const char *topology_case_type(size_t nth)
{
    cadre_kind_info info;
    size_t n = 0;
    while (n < nth && cadre_kind_at(CADRE_KIND_TOPOLOGY, n, &info))
        n++;
    if (cadre_kind_at(CADRE_KIND_TOPOLOGY, nth, &info))
        return info.type;
    return n == nth ? debate_ops.type : NULL;
}

void topology_case_each(void (*check)(const topology_case *it))
{
    const char *type = NULL;
    for (size_t i = 0; (type = topology_case_type(i)) != NULL; i++)
        check(&(const topology_case){.outer = type});
}

void topology_case_each_pair(void (*check)(const topology_case *it))
{
    const char *outer = NULL;
    const char *inner = NULL;
    for (size_t i = 0; (outer = topology_case_type(i)) != NULL; i++)
        for (size_t k = 0; (inner = topology_case_type(k)) != NULL; k++)
            check(&(const topology_case){.outer = outer, .inner = inner});
}

// --- The team ---

// What a type cannot do without, and what keeps a run short.
static void options_for(const char *type, const char *first, const char *second,
                        char *text, size_t size)
{
    text[0] = '\0';
    if (strcmp(type, "cycle") == 0)
        (void)snprintf(text, size, "{\"max_iterations\": 2}");
    if (strcmp(type, "graph") == 0)
        (void)snprintf(text, size,
                       "{\"nodes\": {\"x\": \"%s\", \"y\": \"%s\"},"
                       " \"edges\": [{\"from\": \"x\", \"to\": \"y\"}]}",
                       first, second);
}

static void add_topology(cadre_team *team, const char *type, const char *name,
                         const char *const members[2])
{
    char options[200];
    options_for(type, members[0], members[1], options, sizeof options);
    cadre_topology topology =
        *CADRE_TOPOLOGY(.name = name, .members = {members, 2}, .output_key = name,
                        .options = options[0] == '\0' ? NULL : options);
    if (strcmp(type, "graph") == 0)
        topology.members = (cadre_names){NULL, 0}; // those of the nodes
    cadre_team_add_topology(team, type, &topology);
}

static void add_llm(cadre_team *team, const char *name)
{
    cadre_team_add_llm(team, CADRE_LLM(.name = name, .model = "openai/any",
                                       .tools = CADRE_NAMES("ask")));
}

static void write_script(const topology_case *it, cadre_team *team,
                         const test_folder *folder)
{
    char text[800];
    char path[FOLDER_PATH_SIZE];
    (void)snprintf(
        text, sizeof text,
        "agents:\n"
        "  a: [{tool_calls: [{name: b, arguments: {request: go}}]}, {text: A, times: "
        "90}]\n"
        "  b: [%s]\n%s",
        it->b == NULL ? "{text: B, times: 90}" : it->b,
        it->inner == NULL ? ""
                          : "  c: [{tool_calls: [{name: inner, arguments: {request: "
                            "go}}]}, {text: C, times: 90}]\n");
    if (CHECK(folder_write(folder, "script.yaml", text, path)))
        cadre_team_set_script(team, path);
}

cadre_team *topology_case_make(const topology_case *it, cadre_runtime *runtime,
                               const test_folder *folder)
{
    static const char *const lower[] = {"a", "b"};
    static const char *const upper[] = {"c", "inner"};
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_runtime_register(runtime, &debate_ops, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "conformance");
    write_script(it, team, folder);
    cadre_team_add_tool(team, CADRE_TOOL(.name = "ask", .type = "ask"));
    if (it->inner == NULL) {
        add_topology(team, it->outer, "top", lower);
    } else {
        add_topology(team, it->outer, "outer", upper);
        add_topology(team, it->inner, "inner", lower);
        add_llm(team, "c");
    }
    add_llm(team, "a");
    add_llm(team, "b");
    cadre_team_set_root(team, topology_case_root(it));
    return team;
}

const char *topology_case_root(const topology_case *it)
{
    return it->inner == NULL ? "top" : "outer";
}

const char *const *topology_case_agents(const topology_case *it)
{
    static const char *const alone[] = {"a", "b", NULL};
    static const char *const nested[] = {"a", "b", "c", "inner", NULL};
    return it->inner == NULL ? alone : nested;
}
