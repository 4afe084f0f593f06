// Teams built in C: every mistake is remembered, and sealing tells them.
#include "team/team.h"

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

static cadre_runtime *runtime;

static void check_problems(cadre_team *team, const char *const *expected, size_t n)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n_problems = 0;
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(team, &n_problems);
    CHECK_INT(n_problems, n);
    for (size_t i = 0; i < n_problems && i < n; i++)
        CHECK_TEXT(problems[i], expected[i]);
    CHECK_TEXT(err.text, n > 0 ? expected[0] : "");
    // Twice is once.
    cadre_error_clear(&err);
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    size_t n_again = 0;
    cadre_team_problems(team, &n_again);
    CHECK_INT(n_again, n);
    CHECK(cadre_team_root(team) == NULL);
    cadre_team_free(team);
}

#define CHECK_PROBLEMS(team, ...)                                                      \
    check_problems(team, (const char *const[]){__VA_ARGS__},                           \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_build__resolves_names_in_any_order(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(team, CADRE_LLM(.name = "triage", .model = "fast",
                                       .instructions = "Hand over.",
                                       .handoffs = CADRE_NAMES("returns"),
                                       .history = CADRE_HISTORY_LAST, .max_turns = -1));
    cadre_team_add_topology(team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk", .entry = "triage",
                                           .members = CADRE_NAMES("triage", "returns"),
                                           .timeout_ms = 5));
    cadre_team_add_llm(team, CADRE_LLM(.name = "returns", .model = "openai/gpt-5",
                                       .description = "Returns"));
    cadre_team_add_model(team, CADRE_MODEL(.name = "fast", .model = "openai/gpt-5-mini",
                                           .options = "{\"temperature\": 1}"));
    if (!CHECK_OK(cadre_team_seal(team, &err), &err))
        return;
    // The topology nobody is in gets the input.
    CHECK(cadre_team_root(team) == cadre_team_find(team, "desk"));
    CHECK_INT(cadre_team_agents(team).count, 3);
    const cadre_agent *desk = cadre_team_root(team);
    CHECK_INT(cadre_agent_members(desk).count, 2);
    CHECK(cadre_agent_members(desk).items[1] == cadre_team_find(team, "returns"));
    CHECK(desk->entry == cadre_team_find(team, "triage"));
    CHECK_INT(desk->timeout_ms, 5);
    const cadre_agent *triage = cadre_team_find(team, "triage");
    CHECK_TEXT(triage->model->name, "fast");
    CHECK_TEXT(triage->model->model, "gpt-5-mini");
    CHECK_TEXT(json_string_value(json_object_get(triage->options, "history")), "last");
    CHECK_INT(json_integer_value(json_object_get(triage->options, "max_turns")),
              CADRE_UNLIMITED);
    CHECK_INT(json_integer_value(json_object_get(triage->options, "max_bad_calls")), 5);
    const cadre_agent_info *info =
        cadre_agent_get_info(cadre_team_find(team, "returns"));
    CHECK_TEXT(info->description, "Returns");
    CHECK_TEXT(info->type, "llm");
    CHECK_OK(cadre_team_seal(team, &err), &err);
    cadre_team_free(team);
}

// The first call that came too late is told by all that seal or run the team.
static void test_build__tells_what_comes_after_sealing(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m"));
    CHECK_OK(cadre_team_seal(team, &err), &err);
    CHECK(cadre_team_add_llm(team, CADRE_LLM(.name = "late")) == NULL);
    cadre_team_set_root(team, "late");
    CHECK_INT(cadre_team_agents(team).count, 1);
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_EINVAL, &err);
    CHECK_TEXT(err.text, "the team is sealed; cadre_team_add_llm came too late: build "
                         "the whole team before it is sealed or run");
    cadre_error_clear(&err);
    CHECK_STATUS(cadre_run_start(team, CADRE_RUN(.input = "x"), &run, &err),
                 CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "the team is sealed");
    cadre_team_free(team);
}

static void test_build__tells_every_mistake(void)
{
    static const char no_struct[] = "CADRE_LLM: the struct is NULL or has no "
                                    "struct_size; make it with CADRE_LLM(...)";
    static const char no_model[] =
        "agent 'c': model: unknown model 'fast'; the team has "
        "no models of its own, so write provider/model";
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(team, CADRE_LLM(.name = "Triage", .model = "openai/m"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "a"));
    CHECK(cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m")) ==
          NULL);
    cadre_team_add_llm(team, CADRE_LLM(.model = "openai/m"));
    cadre_team_add_llm(team, &(cadre_llm){.name = "b"});
    cadre_team_add_llm(team, NULL);
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "c", .model = "fast", .tools = CADRE_NAMES("look"),
                        .handoffs = CADRE_NAMES("d", "c"), .timeout_ms = -5));
    cadre_team_set_root(team, "rot");
    CHECK_PROBLEMS(
        team, "agent 'Triage': a name is [a-z][a-z0-9_]*, at most 64 long",
        "agent 'a': is added twice", "CADRE_LLM: .name is missing", no_struct,
        "agent 'c': timeout_ms: expected at least 1, or 0 for the default, got -5",
        "agent 'a': no model; write model: provider/model", no_model,
        "agent 'c': tools[0]: unknown tool 'look'",
        "agent 'c': handoffs[0]: unknown agent 'd' (agents: Triage, a, c)",
        "agent 'c': handoffs[1]: an agent cannot hand over to itself",
        "root: unknown agent 'rot' (agents: Triage, a, c)");
}

static void test_build__checks_options_and_types(void)
{
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "m", .max_turns = -7));
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "openai/m",
                                           .options = "{\"temperatur\": 1}"));
    cadre_team_add_model(team, CADRE_MODEL(.name = "n", .model = "openai"));
    cadre_team_add_model(team,
                         CADRE_MODEL(.name = "o", .model = "openai/m", .options = "["));
    cadre_team_add_model(
        team, CADRE_MODEL(.name = "p", .model = "openai/m", .base_url = "file:///"));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "t"));
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(team, &n);
    if (CHECK_INT(n, 6)) {
        CHECK_TEXT(problems[0], "agent 'a': max_turns: expected an integer from 1 to "
                                "1000000, got -7 (CADRE_UNLIMITED for no limit)");
        CHECK_TEXT(problems[1], "model 'm': options: unknown key 'temperatur'; did you "
                                "mean 'temperature'?");
        CHECK_TEXT(problems[2],
                   "model 'n': model: expected provider/model, got 'openai'");
        CHECK_CONTAINS(problems[3], "model 'o': options: ");
        CHECK_TEXT(problems[4], "tool 't': has neither .run nor .type; give one of "
                                "them");
        CHECK_TEXT(problems[5], "model 'p': base_url must start with http:// or "
                                "https://, got 'file:///'");
    }
    cadre_team_free(team);
}

static cadre_status answer(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)frame;
    (void)err;
    *(int *)ctx = 7;
    return CADRE_OK;
}

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)frame;
    (void)err;
    *(json_int_t *)ctx = json_integer_value(json_object_get(arguments, "n"));
    return CADRE_OK;
}

static void test_build__makes_agents_and_tools_of_functions(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    int ran = 0;
    json_int_t seen = 0;
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_function(team,
                            CADRE_FUNCTION(.name = "f", .run = answer, .ctx = &ran));
    cadre_team_add_tool(
        team, CADRE_TOOL(.name = "look", .run = look, .ctx = &seen, .replay_safe = true,
                         .parameters = "{\"type\": \"object\", \"properties\": "
                                       "{\"n\": {\"type\": \"integer\"}}}"));
    if (!CHECK_OK(cadre_team_seal(team, &err), &err))
        return;
    const cadre_agent *f = cadre_team_root(team);
    CHECK_OK(f->ops->run(f->state, NULL, &err), &err);
    CHECK_INT(ran, 7);
    const cadre_tool *tool = team->tools[0];
    json_t *arguments = json_pack("{s:i}", "n", 5);
    CHECK_OK(tool->ops->run(tool->state, NULL, arguments, &err), &err);
    CHECK_INT(seen, 5);
    CHECK(tool->replay_safe);
    CHECK_INT(tool->timeout_ms, 60000);
    json_decref(arguments);
    cadre_team_free(team);
}

static void test_build__agents_have_what_files_can_say(void)
{
    static const char order[] = "{\"type\": \"object\", \"required\": [\"order\"]}";
    static const char *const names[] = {"one", "two", "three"};
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "one", .model = "openai/m", .input_schema = order));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "two", .run = answer,
                                                 .timeout_ms = 5, .quiet = true,
                                                 .input_schema = order));
    cadre_team_add_topology(team, "chain",
                            CADRE_TOPOLOGY(.name = "three",
                                           .members = CADRE_NAMES("one", "two"),
                                           .input_schema = order));
    CHECK_OK(cadre_team_seal(team, &err), &err);
    CHECK_INT(cadre_team_find(team, "two")->timeout_ms, 5);
    CHECK(cadre_team_find(team, "two")->quiet);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cadre_agent *agent = cadre_team_find(team, names[i]);
        const json_t *required =
            json_object_get(cadre_agent_get_info(agent)->input_schema, "required");
        CHECK_TEXT(json_string_value(json_array_get(required, 0)), "order");
    }
    cadre_team_free(team);
    team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(team, CADRE_LLM(.name = "one", .model = "openai/m",
                                       .input_schema = "{\"required\": 1}"));
    CHECK_PROBLEMS(team,
                   "agent 'one': input_schema.required: expected an array of property "
                   "names, got 1");
}

static void check_times(cdr_model_times own, cdr_model_times expected)
{
    CHECK_INT(own.timeout_ms, expected.timeout_ms);
    CHECK_INT(own.idle_timeout_ms, expected.idle_timeout_ms);
    CHECK_INT(own.max_attempts, expected.max_attempts);
    CHECK_INT(own.backoff_ms, expected.backoff_ms);
    CHECK_INT(own.max_backoff_ms, expected.max_backoff_ms);
}

static void test_build__models_have_times(void)
{
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_model(team, CADRE_MODEL(.name = "usual", .model = "openai/m"));
    cadre_team_add_model(team, CADRE_MODEL(.name = "own", .model = "openai/m",
                                           .timeout_ms = 5, .idle_timeout_ms = 4,
                                           .retry = {3, 2}, .max_backoff_ms = 1));
    check_times(team->models[0]->times,
                (cdr_model_times){4, 500, 30000, 600000, 60000});
    check_times(team->models[1]->times, (cdr_model_times){3, 2, 1, 5, 4});
    cadre_team_free(team);
    team = cadre_team_new(runtime, "shop");
    cadre_team_add_model(team,
                         CADRE_MODEL(.name = "m", .model = "openai/m", .timeout_ms = -1,
                                     .idle_timeout_ms = 86400001, .retry = {101, -2},
                                     .max_backoff_ms = -3));
    cadre_team_add_llm(team, CADRE_LLM(.name = "one", .model = "m"));
    CHECK_PROBLEMS(
        team,
        "model 'm': timeout_ms: expected 1 to 86400000, or 0 for the default, got -1",
        "model 'm': idle_timeout_ms: expected 1 to 86400000, or 0 for the default, got "
        "86400001",
        "model 'm': retry.attempts: expected 1 to 100, or 0 for the default, got 101",
        "model 'm': retry.backoff_ms: expected 1 to 86400000, or 0 for the default, "
        "got "
        "-2",
        "model 'm': max_backoff_ms: expected 1 to 86400000, or 0 for the default, got "
        "-3");
}

static void test_build__refuses_parameters_that_are_no_schema(void)
{
    cadre_team *team = cadre_team_new(runtime, "shop");
    int ran = 0;
    json_int_t seen = 0;
    cadre_team_add_function(team,
                            CADRE_FUNCTION(.name = "f", .run = answer, .ctx = &ran));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "a", .run = look, .ctx = &seen,
                                         .parameters = "{\"type\": \"string\"}"));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "b", .run = look, .ctx = &seen,
                                         .parameters = "{\"type\": \"objct\"}"));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "transfer_to_agent", .run = look));
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(team, &n);
    if (CHECK_INT(n, 3)) {
        CHECK_TEXT(problems[0],
                   "tool 'a': parameters: expected the schema of an object; "
                   "write type: object");
        CHECK_CONTAINS(problems[1], "tool 'b': parameters.type: ");
        CHECK_CONTAINS(problems[2], "tool 'transfer_to_agent': the name is kept");
    }
    cadre_team_free(team);
}

// A type from outside whose init refuses, and which looks at the built-in tools.
typedef struct picky {
    bool *was_freed;
    const cadre_tool *tool;
} picky;

static bool picky_was_freed;

static cadre_status picky_init(void *state, const cadre_agent_config *config,
                               cadre_error *err)
{
    picky *p = state;
    p->was_freed = &picky_was_freed;
    p->tool = config->builtin_tool(config, "transfer");
    if (config->builtin_tool(config, "transfer") != p->tool)
        return cadre_fail(err, CADRE_EINVAL, "two tools");
    if (config->builtin_tool(config, "nothing"))
        return cadre_fail(err, CADRE_EINVAL, "a tool of no type");
    if (json_integer_value(json_object_get(config->options, "pause")) != 1500)
        return cadre_fail(err, CADRE_EINVAL, "pause was not read");
    if (config->members.count != 1)
        return cadre_fail(err, CADRE_EINVAL, "agent '%s': needs one member, not %zu",
                          config->info.name, config->members.count);
    return CADRE_OK;
}

static cadre_status picky_run(void *state, cadre_frame *frame, cadre_error *err)
{
    (void)state;
    (void)frame;
    return cadre_fail(err, CADRE_EFAILED, "not run here");
}

static void picky_fini(void *state)
{
    *((picky *)state)->was_freed = true;
}

static const cadre_agent_ops picky_ops = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "picky",
    .summary = "for tests",
    .options_schema = "{\"pause\": {\"type\": \"string\", \"format\": \"duration\"}}",
    .state_size = sizeof(picky),
    .init = picky_init,
    .run = picky_run,
    .fini = picky_fini,
};

static void test_build__makes_types_from_outside(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    picky_was_freed = false;
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m"));
    // A C program may write the number or the text.
    cadre_team_add_topology(team, "picky",
                            CADRE_TOPOLOGY(.name = "p", .members = CADRE_NAMES("a"),
                                           .options = "{\"pause\": 1500}"));
    cadre_team_add_topology(team, "picky",
                            CADRE_TOPOLOGY(.name = "q", .members = CADRE_NAMES("p"),
                                           .options = "{\"pause\": \"1500ms\"}"));
    CHECK_OK(cadre_team_seal(team, &err), &err);
    const cadre_agent *p = cadre_team_find(team, "p");
    const cadre_agent *q = cadre_team_find(team, "q");
    CHECK(cadre_team_root(team) == q);
    CHECK(((const picky *)p->state)->tool == ((const picky *)q->state)->tool);
    cadre_team_free(team);
    CHECK(picky_was_freed);
}

static void test_build__tells_what_an_init_says(void)
{
    picky_was_freed = false;
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m"));
    cadre_team_add_topology(team, "picky",
                            CADRE_TOPOLOGY(.name = "p",
                                           .members = CADRE_NAMES("a", "b"),
                                           .options = "{\"pause\": \"x\"}"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "b", .model = "openai/m"));
    cadre_team_add_topology(team, "picky",
                            CADRE_TOPOLOGY(.name = "q",
                                           .members = CADRE_NAMES("a", "b"),
                                           .options = "{\"pause\": 1500}"));
    cadre_team_add_topology(team, "picki", CADRE_TOPOLOGY(.name = "r"));
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(team, &n);
    if (CHECK_INT(n, 3)) {
        CHECK_CONTAINS(problems[0], "agent 'p': options.pause: expected a duration");
        CHECK_CONTAINS(
            problems[1],
            "agent 'r': unknown type 'picki'; did you mean 'picky'? (types: ");
        CHECK_TEXT(problems[2], "agent 'q': needs one member, not 2");
    }
    cadre_team_free(team);
    CHECK(picky_was_freed);
}

static void test_build__takes_no_team_for_an_answer(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 1;
    CHECK(cadre_team_new(NULL, "x") == NULL);
    CHECK(cadre_team_add_llm(NULL, CADRE_LLM(.name = "a")) == NULL);
    CHECK(cadre_team_add_topology(NULL, "handoff", NULL) == NULL);
    CHECK(cadre_team_add_function(NULL, NULL) == NULL);
    cadre_team_add_model(NULL, NULL);
    cadre_team_add_tool(NULL, NULL);
    cadre_team_set_root(NULL, "a");
    cadre_team_set_script(NULL, "a");
    CHECK(cadre_team_problems(NULL, &n) == NULL);
    CHECK_INT(n, 0);
    CHECK(cadre_team_root(NULL) == NULL);
    CHECK(cadre_team_find(NULL, "a") == NULL);
    CHECK_INT(cadre_team_agents(NULL).count, 0);
    CHECK_STATUS(cadre_team_seal(NULL, &err), CADRE_EINVAL, &err);
    cadre_team_free(NULL);
}

// Members nested deeper than a stack of calls would bear.
static void test_build__orders_deep_nesting(void)
{
    enum {
        DEPTH = 20000
    };
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = cadre_team_new(runtime, "deep");
    int ran = 0;
    char name[32];
    char member[32];
    for (int i = 0; i < DEPTH; i++) {
        snprintf(name, sizeof(name), "a%d", i);
        snprintf(member, sizeof(member), "a%d", i + 1);
        const char *names[] = {member};
        cadre_team_add_function(
            team, CADRE_FUNCTION(.name = name, .run = answer, .ctx = &ran,
                                 .members = {names, i + 1 < DEPTH ? 1 : 0}));
    }
    CHECK_OK(cadre_team_seal(team, &err), &err);
    CHECK(cadre_team_root(team) == cadre_team_find(team, "a0"));
    cadre_team_free(team);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_build__resolves_names_in_any_order),
    CHECK_TEST(test_build__agents_have_what_files_can_say),
    CHECK_TEST(test_build__models_have_times),
    CHECK_TEST(test_build__tells_what_comes_after_sealing),
    CHECK_TEST(test_build__tells_every_mistake),
    CHECK_TEST(test_build__checks_options_and_types),
    CHECK_TEST(test_build__makes_agents_and_tools_of_functions),
    CHECK_TEST(test_build__refuses_parameters_that_are_no_schema),
    CHECK_TEST(test_build__makes_types_from_outside),
    CHECK_TEST(test_build__tells_what_an_init_says),
    CHECK_TEST(test_build__takes_no_team_for_an_answer),
    CHECK_TEST(test_build__orders_deep_nesting),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    // The tests must not depend on the caller's address.
    unsetenv("OPENAI_BASE_URL"); // NOLINT(concurrency-mt-unsafe)
    if (cadre_runtime_open(NULL, &runtime, NULL) != CADRE_OK ||
        cadre_runtime_register(runtime, &picky_ops, NULL) != CADRE_OK)
        return 1;
    int status = check_main("team/build", tests);
    cadre_runtime_close(runtime);
    return status;
}
