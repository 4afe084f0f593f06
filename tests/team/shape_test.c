// Shapes: what types tell of their agents, and what is proved from that.
#include "team/team.h"

#include "cadre/load.h"
#include "cadre/shape.h"

#include "support/check.h"
#include "support/folder.h"

#include <string.h>

static cadre_runtime *runtime;
static test_folder folder;

// A type from outside whose shape each test writes itself.
static void (*tell)(cadre_shape *shape);

static void plan_shape(const void *state, cadre_shape *shape)
{
    (void)state;
    tell(shape);
}

static cadre_status plan_run(void *state, cadre_frame *frame, cadre_error *err)
{
    (void)state;
    (void)frame;
    return cadre_fail(err, CADRE_EFAILED, "not run here");
}

static const cadre_agent_ops plan = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "plan",
    .summary = "for tests",
    .run = plan_run,
    .shape = plan_shape,
};

static cadre_status function_run(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return plan_run(NULL, frame, err);
}

static void open_runtime(void)
{
    CHECK_OK(cadre_runtime_open(NULL, &runtime, NULL), NULL);
    CHECK_OK(cadre_runtime_register(runtime, &plan, NULL), NULL);
}

// `a` asks its model 2 times at most, `b` 5, `c` 3.
static cadre_team *new_team(const char *type)
{
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_topology(
        team, type,
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("a", "b", "c")));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "a", .model = "openai/m", .max_turns = 2));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "b", .model = "openai/m", .max_turns = 5));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "c", .model = "openai/m", .max_turns = 3));
    return team;
}

// "a entry, b end 2 | a -> b, b <- a (again)"; * is no bound, ! not reached.
static void write_shape(const cadre_shape_info *info, char *text, size_t size)
{
    static const char *const arrows[] = {"->", "~>", "<-"};
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < info->n_nodes; i++) {
        const cadre_shape_node *node = &info->nodes[i];
        len += (size_t)snprintf(
            text + len, size - len, "%s%s%s%s%s%s%s", i ? ", " : "",
            node->is_reached ? "" : "!", node->name, *node->what ? ":" : "", node->what,
            node->is_entry ? " entry" : "", node->is_end ? " end" : "");
        if (node->max_runs != CADRE_UNLIMITED)
            len += (size_t)snprintf(text + len, size - len, " %d", (int)node->max_runs);
    }
    for (size_t i = 0; i < info->n_edges; i++) {
        const cadre_shape_edge *edge = &info->edges[i];
        len += (size_t)snprintf(text + len, size - len, "%s%s %s %s%s%s%s",
                                i ? ", " : " | ", info->nodes[edge->from].name,
                                arrows[edge->kind], info->nodes[edge->to].name,
                                *edge->label ? " (" : "", edge->label,
                                *edge->label ? ")" : "");
    }
}

static void check_shape(cadre_team *team, const char *expected)
{
    char text[1000];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_shape *shape = NULL;
    if (CHECK_OK(cadre_team_seal(team, &err), &err) &&
        CHECK_OK(cadre_shape_new(cadre_team_root(team), &shape, &err), &err)) {
        write_shape(cadre_shape_get_info(shape), text, sizeof(text));
        CHECK_TEXT(text, expected);
        CHECK(cadre_shape_get_info(shape)->agent == cadre_team_root(team));
    }
    cadre_shape_free(shape);
}

// --- Shapes ---

static void test_shape__handoffs_are_the_edges(void)
{
    open_runtime();
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .entry = "b", .members = CADRE_NAMES("a", "b")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("b")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "b", .model = "openai/m"));
    check_shape(team, "!a end, b entry end | a ~> b");
    cadre_team_free(team);

    team = new_team("handoff"); // none declares any
    check_shape(team, "a entry end, b end, c end | a ~> b, a ~> c");
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void tell_late_nodes(cadre_shape *shape)
{
    cadre_shape_add_edge(shape, "one", "two", CADRE_SHAPE_ALWAYS, NULL);
    cadre_shape_add_edge(shape, "two", "one", CADRE_SHAPE_BACK, "again");
    cadre_shape_add_edge(shape, "three", "one", CADRE_SHAPE_MAYBE, "");
    cadre_shape_set_entry(shape, "one");
    cadre_shape_set_end(shape, "two");
    cadre_shape_set_runs(shape, "two", 4);
    cadre_shape_set_runs(shape, "one", 0);
    cadre_shape_add_node(shape, "one", NULL, "human");
    cadre_shape_add_node(shape, "two", NULL, "tool");
    cadre_shape_add_node(shape, "three", NULL, "tool");
}

static void test_shape__nodes_that_are_added_stand_for_the_members(void)
{
    open_runtime();
    tell = tell_late_nodes;
    cadre_team *team = new_team("plan");
    check_shape(team, "one:human entry, two:tool end 4, !three:tool | one -> two, "
                      "two <- one (again), three ~> one");
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void test_shape__a_function_is_not_known_and_leaves_all_open(void)
{
    open_runtime();
    cadre_error err = CADRE_ERROR_INIT;
    cadre_worst_case worst = {.depth = -1};
    cadre_shape *shape = NULL;
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "desk", .run = function_run,
                                                 .members = CADRE_NAMES("a")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m"));
    check_shape(team, "a");
    if (CHECK_OK(cadre_shape_new(cadre_team_root(team), &shape, &err), &err)) {
        CHECK(!cadre_shape_get_info(shape)->is_known);
        CHECK_INT(cadre_shape_get_info(shape)->max_model_calls, CADRE_UNLIMITED);
        CHECK_INT(cadre_shape_get_info(shape)->max_runs, CADRE_UNLIMITED);
    }
    CHECK_OK(cadre_team_worst_case(team, &worst, &err), &err);
    CHECK_INT(worst.model_calls, CADRE_UNLIMITED);
    CHECK_INT(worst.depth, 0);
    CHECK(worst.is_deeper);
    cadre_shape_free(shape);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void tell_unknown(cadre_shape *shape)
{
    cadre_shape_add_edge(shape, "a", "nobody", CADRE_SHAPE_ALWAYS, NULL);
}

static void tell_twice(cadre_shape *shape)
{
    cadre_shape_add_node(shape, "x", NULL, "tool");
    cadre_shape_add_node(shape, "x", NULL, "tool");
}

static void check_mistake(void (*told)(cadre_shape *shape), const char *text)
{
    size_t n = 0;
    tell = told;
    cadre_team *team = new_team("plan");
    CHECK_STATUS(cadre_team_seal(team, NULL), CADRE_ECONFIG, NULL);
    const char *const *problems = cadre_team_problems(team, &n);
    if (CHECK_INT(n, 1))
        CHECK_TEXT(problems[0], text);
    cadre_team_free(team);
}

static void test_shape__a_node_that_is_not_there_is_a_mistake_of_the_type(void)
{
    open_runtime();
    check_mistake(tell_unknown, "agent 'desk': type 'plan' tells of a node 'nobody', "
                                "which is not there");
    check_mistake(tell_twice, "agent 'desk': type 'plan' tells of two nodes 'x'");
    cadre_runtime_close(runtime);
}

static void test_shape__wants_a_sound_team(void)
{
    open_runtime();
    cadre_error err = CADRE_ERROR_INIT;
    cadre_shape *shape = NULL;
    cadre_worst_case worst;
    cadre_team *team = new_team("handoff");
    CHECK_STATUS(cadre_shape_new(cadre_team_find(team, "a"), &shape, &err),
                 CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "agent 'a': its team is not sealed");
    CHECK_STATUS(cadre_team_worst_case(team, &worst, NULL), CADRE_EINVAL, NULL);
    CHECK_STATUS(cadre_shape_new(NULL, &shape, NULL), CADRE_EINVAL, NULL);
    CHECK(shape == NULL);
    CHECK_INT(cadre_shape_get_info(NULL)->n_nodes, 0);
    cadre_shape_free(NULL);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

// --- The worst case ---

static void tell_line(cadre_shape *shape)
{
    cadre_shape_set_entry(shape, "a");
    cadre_shape_add_edge(shape, "a", "b", CADRE_SHAPE_ALWAYS, NULL);
}

static void tell_once(cadre_shape *shape)
{
    tell_line(shape);
    cadre_shape_set_runs(shape, "a", 1);
    cadre_shape_set_runs(shape, "b", 1);
    cadre_shape_set_runs(shape, "c", 7); // not reached
}

static void tell_shared(cadre_shape *shape)
{
    tell_once(shape);
    cadre_shape_add_edge(shape, "b", "c", CADRE_SHAPE_MAYBE, NULL);
    cadre_shape_set_runs(shape, "b", 2);
    cadre_shape_set_runs(shape, "c", CADRE_UNLIMITED);
    cadre_shape_set_all_runs(shape, 5);
}

static void tell_own_calls(cadre_shape *shape)
{
    tell_once(shape);
    cadre_shape_set_model_calls(shape, 10);
}

static void tell_much(cadre_shape *shape)
{
    tell_once(shape);
    cadre_shape_set_runs(shape, "b", CADRE_WORST_CASE_MAX);
}

static void test_worst_case__adds_up_what_the_shapes_allow(void)
{
    const struct {
        void (*told)(cadre_shape *shape);
        int64_t calls;
    } cases[] = {
        {tell_once, 2 + 5},           // nobody goes on to c
        {tell_line, CADRE_UNLIMITED}, // as often as it likes
        {tell_shared, 2 * 5 + 3 * 3}, // b twice, then c for the rest
        {tell_own_calls, 10 + 2 + 5}, {tell_much, CADRE_WORST_CASE_MAX},
    };
    open_runtime();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cadre_error err = CADRE_ERROR_INIT;
        cadre_worst_case worst = {.depth = -1};
        tell = cases[i].told;
        cadre_team *team = new_team("plan");
        CHECK_OK(cadre_team_seal(team, &err), &err);
        CHECK_OK(cadre_team_worst_case(team, &worst, &err), &err);
        CHECK_INT(worst.model_calls, cases[i].calls);
        CHECK_INT(worst.depth, 1);
        CHECK(!worst.is_deeper);
        CHECK_INT(worst.limits.max_model_calls, 200);
        CHECK_INT(worst.limits.max_tool_calls, 500);
        CHECK_INT(worst.limits.max_depth, 32);
        cadre_team_free(team);
    }
    cadre_runtime_close(runtime);
}

static void test_worst_case__handing_over_gives_each_a_turn(void)
{
    open_runtime();
    cadre_error err = CADRE_ERROR_INIT;
    cadre_worst_case worst = {.depth = -1};
    cadre_team *team = new_team("handoff");
    CHECK_OK(cadre_team_seal(team, &err), &err);
    CHECK_OK(cadre_team_worst_case(team, &worst, &err), &err);
    CHECK_INT(worst.model_calls, 21 * 5); // the first and 20 handovers, b each time
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static cadre_status tool_run(void *ctx, cadre_frame *frame, const json_t *arguments,
                             cadre_error *err)
{
    (void)arguments;
    return function_run(ctx, frame, err);
}

static void test_worst_case__a_tool_that_calls_agents_leaves_it_open(void)
{
    open_runtime();
    cadre_error err = CADRE_ERROR_INIT;
    cadre_worst_case worst = {.depth = -1};
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_tool(team, CADRE_TOOL(.name = "look", .run = tool_run));
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m",
                                       .tools = CADRE_NAMES("look")));
    CHECK_OK(cadre_team_seal(team, &err), &err);
    CHECK_OK(cadre_team_worst_case(team, &worst, &err), &err);
    CHECK_INT(worst.model_calls, CADRE_UNLIMITED);
    CHECK(worst.is_deeper);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

// --- What is proved at loading ---

// A team of handoffs, one in the other, `depth` deep.
static void write_nest(char *text, size_t size, int depth, const char *end)
{
    size_t len = (size_t)snprintf(text, size, "agents:\n");
    for (int i = 0; i < depth; i++)
        len += (size_t)snprintf(text + len, size - len,
                                "  n%d: {type: handoff, members: [n%d]}\n", i, i + 1);
    snprintf(text + len, size - len, "  n%d: {model: openai/m}\n%s", depth, end);
}

static cadre_status load(const char *text, const cadre_load *options, cadre_team **team,
                         cadre_error *err)
{
    char path[FOLDER_PATH_SIZE];
    folder_write(&folder, "team.yaml", text, path);
    return cadre_team_load_as(runtime, path, options, team, err);
}

static void test_seal__a_file_that_nests_too_deep_never_works(void)
{
    char text[4000];
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_worst_case worst = {.depth = -1};
    open_runtime();
    if (!CHECK(folder_make(&folder)))
        return;
    write_nest(text, sizeof(text), 3, "limits: {max_depth: 2}\n");
    CHECK_STATUS(load(text, NULL, &team, &err), CADRE_ECONFIG, &err);
    CHECK_CONTAINS(err.text,
                   "team.yaml:2:3: agent 'n0': its calls nest 3 deep (n0 -> n1 "
                   "-> n2 -> n3), and limits.max_depth is 2; raise it");
    cadre_team_free(team);
    write_nest(text, sizeof(text), 3, "limits: {max_depth: 3}\n");
    cadre_error_clear(&err);
    if (CHECK_OK(load(text, NULL, &team, &err), &err) &&
        CHECK_OK(cadre_team_worst_case(team, &worst, &err), &err)) {
        CHECK_INT(worst.depth, 3);
        CHECK_INT(worst.limits.max_depth, 3);
        CHECK_INT(worst.model_calls, 21 * 21 * 21 * 20);
    }
    cadre_team_free(team);
    write_nest(text, sizeof(text), 33, "limits: {max_depth: unlimited}\n");
    CHECK_OK(load(text, NULL, &team, &err), &err);
    cadre_team_free(team);
    folder_remove(&folder);
    cadre_runtime_close(runtime);
}

static void test_seal__notes_whom_nobody_reaches(void)
{
    size_t n = 0;
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    open_runtime();
    if (!CHECK(folder_make(&folder)))
        return;
    CHECK_OK(load("agents:\n"
                  "  desk: {type: handoff, members: [a, b, c, d]}\n"
                  "  a: {model: openai/m, handoffs: [b]}\n"
                  "  b: {model: openai/m}\n"
                  "  c: {model: openai/m, handoffs: [d]}\n"
                  "  d: {model: openai/m}\n",
                  NULL, &team, &err),
             &err);
    const char *const *notes = cadre_team_notes(team, &n);
    if (CHECK_INT(n, 2)) {
        CHECK_CONTAINS(notes[0],
                       "team.yaml:2:41: note: 'c' is never reached in handoff "
                       "'desk': nothing leads there");
        CHECK_CONTAINS(notes[1],
                       "team.yaml:2:44: note: 'd' is never reached in handoff "
                       "'desk': what leads there is never reached itself "
                       "('c')");
    }
    cadre_team_free(team);
    folder_remove(&folder);
    cadre_runtime_close(runtime);
}

// --- Another type ---

#define DESK                                                                           \
    "agents:\n"                                                                        \
    "  desk: {type: handoff, members: [a, b], transfer: {max_handoffs: 3}}\n"          \
    "  a: {model: openai/m}\n"                                                         \
    "  b: {model: openai/m}\n"

static void test_load_as__the_root_is_of_the_other_type(void)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    open_runtime();
    tell = tell_line;
    if (!CHECK(folder_make(&folder)))
        return;
    if (CHECK_OK(load(DESK, CADRE_LOAD(.type = "plan"), &team, &err), &err)) {
        CHECK_TEXT(cadre_agent_get_info(cadre_team_root(team))->type, "plan");
        CHECK_INT(cadre_agent_members(cadre_team_root(team)).count, 2);
    }
    cadre_team_free(team);
    if (CHECK_OK(load(DESK, CADRE_LOAD(0), &team, &err), &err))
        CHECK_TEXT(cadre_agent_get_info(cadre_team_root(team))->type, "handoff");
    cadre_team_free(team);
    folder_remove(&folder);
    cadre_runtime_close(runtime);
}

static void check_refused(const char *text, const char *type, cadre_status status,
                          const char *told)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(load(text, CADRE_LOAD(.type = type), &team, &err), status, &err);
    CHECK_CONTAINS(err.text, told);
    cadre_team_free(team);
}

static void test_load_as__says_why_it_cannot_be(void)
{
    open_runtime();
    tell = tell_unknown;
    if (!CHECK(folder_make(&folder)))
        return;
    check_refused(DESK, "handof", CADRE_EINVAL,
                  "unknown type 'handof'; did you mean 'handoff'? (types: ");
    check_refused(DESK, "llm", CADRE_EINVAL, "unknown type 'llm'");
    check_refused(
        "agents:\n  a: {model: openai/m}\n", "plan", CADRE_ECONFIG,
        "team.yaml:2:3: agents.a: the root is of type llm and has no members; "
        "--type plan needs a root over others");
    // What the type makes of it is its doing; what is wrong anyhow is not.
    check_refused(DESK, "plan", CADRE_ECONFIG,
                  "agent 'desk': type 'plan' tells of a node 'nobody'");
    check_refused("agents:\n  desk: {type: handoff}\n", "handoff", CADRE_ECONFIG,
                  "agent 'desk': a handoff needs members");
    check_refused("agents:\n  desk: {type: handof, members: [a]}\n"
                  "  a: {model: openai/m}\n",
                  "plan", CADRE_ECONFIG, "did you mean 'handoff'?");
    folder_remove(&folder);
    cadre_runtime_close(runtime);
}

static cadre_status choosy_init(void *state, const cadre_agent_config *config,
                                cadre_error *err)
{
    (void)state;
    return cadre_fail(err, CADRE_EINVAL, "agent '%s': not with these members",
                      config->info.name);
}

static const cadre_agent_ops choosy = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "choosy",
    .summary = "for tests",
    .init = choosy_init,
    .run = plan_run,
};

static void test_load_as__names_the_type_where_that_is_why(void)
{
    open_runtime();
    CHECK_OK(cadre_runtime_register(runtime, &choosy, NULL), NULL);
    if (!CHECK(folder_make(&folder)))
        return;
    check_refused(DESK, "choosy", CADRE_ECONFIG,
                  "team.yaml:2:3: agent 'desk': not with these members (by --type "
                  "choosy)");
    folder_remove(&folder);
    cadre_runtime_close(runtime);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_shape__handoffs_are_the_edges),
        CHECK_TEST(test_shape__nodes_that_are_added_stand_for_the_members),
        CHECK_TEST(test_shape__a_function_is_not_known_and_leaves_all_open),
        CHECK_TEST(test_shape__a_node_that_is_not_there_is_a_mistake_of_the_type),
        CHECK_TEST(test_shape__wants_a_sound_team),
        CHECK_TEST(test_worst_case__adds_up_what_the_shapes_allow),
        CHECK_TEST(test_worst_case__handing_over_gives_each_a_turn),
        CHECK_TEST(test_worst_case__a_tool_that_calls_agents_leaves_it_open),
        CHECK_TEST(test_seal__a_file_that_nests_too_deep_never_works),
        CHECK_TEST(test_seal__notes_whom_nobody_reaches),
        CHECK_TEST(test_load_as__the_root_is_of_the_other_type),
        CHECK_TEST(test_load_as__says_why_it_cannot_be),
        CHECK_TEST(test_load_as__names_the_type_where_that_is_why),
        CU_TEST_INFO_NULL,
    };

    return check_main("team/shape", tests);
}
