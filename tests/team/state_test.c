// The state that a team declares: its keys, who keeps answers, and what topologies say.
#include "support/check.h"
#include "support/folder.h"

#include "team/team.h"

#include <stdlib.h>
#include <string.h>

static cadre_runtime *runtime;
static test_folder folder;

static void join_problems(const cadre_team *team, char *told, size_t size)
{
    size_t n = 0;
    size_t len = 0;
    const char *const *problems = cadre_team_problems(team, &n);
    told[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *place = strstr(problems[i], "team.yaml");
        len += (size_t)snprintf(told + len, size - len, "%s\n",
                                place == NULL ? problems[i] : place);
    }
}

static cadre_team *load(const char *text, const char *expected)
{
    char path[FOLDER_PATH_SIZE];
    char told[4000];
    cadre_team *team = NULL;
    folder_write(&folder, "team.yaml", text, path);
    cadre_team_load(runtime, path, &team, NULL);
    join_problems(team, told, sizeof told);
    CHECK_TEXT(told, expected);
    return team;
}

static void check_file(const char *text, const char *expected)
{
    cadre_team_free(load(text, expected));
}

static void check_defaults(const cadre_team *team, const char *expected)
{
    char *text = json_dumps(team->state_defaults, JSON_COMPACT | JSON_SORT_KEYS);
    CHECK_TEXT(text, expected);
    free(text);
}

// --- Files ---

static void test_state__a_file_declares_keys_and_keeps_answers(void)
{
    cadre_team *team =
        load("state:\n"
             "  plain: {}\n"
             "  last: {reducer: replace, default: {a: 1.5}}\n"
             "  log: {reducer: append}\n"
             "  seen: {reducer: append, default: [yes, 1, null]}\n"
             "  facts: {reducer: merge, default: {b: two}}\n"
             "  total: {reducer: sum}\n"
             "agents:\n"
             "  a: {model: openai/m, output_key: log, instructions: '{{state.log}}'}\n"
             "  b: {model: openai/m}\n"
             "  c: {type: handoff, members: [a, b], output_key: whole}\n",
             "");
    check_defaults(team, "{\"facts\":{\"b\":\"two\"},\"last\":{\"a\":1.5},\"log\":[],"
                         "\"seen\":[\"yes\",1,null],\"total\":0}");
    CHECK_TEXT(cadre_agent_output_key(cadre_team_find(team, "a")), "log");
    CHECK_TEXT(cadre_agent_output_key(cadre_team_find(team, "b")), "");
    CHECK_TEXT(cadre_agent_output_key(cadre_team_find(team, "c")), "whole");
    CHECK_TEXT(cadre_agent_output_key(NULL), "");
    cadre_team_free(team);
}

static void test_state__mistakes_of_a_file_are_told_with_their_places(void)
{
    check_file("state: [log]\n"
               "agents: {a: {model: openai/m, output_key: 7}}\n",
               "team.yaml:1:8: state: expected a mapping, got a list\n"
               "team.yaml:2:43: agents.a.output_key: a name is [a-z][a-z0-9_]*, "
               "at most 64 long\n");
    check_file(
        "state:\n"
        "  log: {reducer: append, default: {}}\n"
        "  facts: {reducer: merge, default: []}\n"
        "  total: {reducer: sum, default: many}\n"
        "  own: {reducer: custom}\n"
        "  other: {initial: 1}\n"
        "  Bad: {}\n"
        "  text: append\n"
        "agents:\n"
        "  a: {model: openai/m, output_key: [x], instructions: '{{state.Bad}}'}\n"
        "  b: {model: openai/m, output_key: Bad, instructions: '{{state.x'}\n",
        "team.yaml:2:3: state.log.default: a default of append must be a "
        "list, got an empty object\n"
        "team.yaml:3:3: state.facts.default: a default of merge must be an "
        "object, got an empty array\n"
        "team.yaml:4:3: state.total.default: a default of sum must be a "
        "number, got \"many\"\n"
        "team.yaml:5:18: state.own.reducer: expected one of: replace, "
        "append, merge, sum; got \"custom\"\n"
        "team.yaml:6:11: state.other: unknown key 'initial' (known: "
        "reducer, default)\n"
        "team.yaml:7:3: state.Bad: a name is [a-z][a-z0-9_]*, at most 64 "
        "long\n"
        "team.yaml:8:9: state.text: expected a mapping, got \"append\"\n"
        "team.yaml:10:36: agents.a.output_key: expected a string, got a "
        "list\n"
        "team.yaml:10:55: agents.a.instructions: unknown {{state.Bad}}; a "
        "name is [a-z][a-z0-9_]*, at most 64 long\n"
        "team.yaml:11:36: agents.b.output_key: a name is [a-z][a-z0-9_]*, "
        "at most 64 long\n"
        "team.yaml:11:55: agents.b.instructions: {{state.x has no end; "
        "write {{state.x}}\n");
}

// --- C ---

static json_t *first_wins(void *ctx, const json_t *before, const json_t *update)
{
    (void)ctx;
    return json_deep_copy(before == NULL ? update : before);
}

static void test_state__mistakes_in_c_are_told_at_sealing(void)
{
    char told[4000];
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "a", .output_key = "My key"));
    cadre_team_add_state(team, CADRE_STATE_KEY(.key = "log"));
    cadre_team_add_state(team, CADRE_STATE_KEY(.key = "log"));
    cadre_team_add_state(team, CADRE_STATE_KEY(.key = "A"));
    cadre_team_add_state(team, CADRE_STATE_KEY(.reducer = CADRE_REDUCE_SUM));
    cadre_team_add_state(team, CADRE_STATE_KEY(.key = "b", .default_value = "[1"));
    cadre_team_add_state(team, CADRE_STATE_KEY(.key = "c", .default_value = "[1]",
                                               .reducer = CADRE_REDUCE_SUM));
    cadre_team_add_state(team, CADRE_STATE_KEY(.key = "d", .reduce = first_wins));
    cadre_team_add_state(team,
                         CADRE_STATE_KEY(.key = "e", .reducer = CADRE_REDUCE_CUSTOM));
    cadre_team_add_state(team,
                         CADRE_STATE_KEY(.key = "f", .reducer = (cadre_reducer)77));
    cadre_team_add_state(team, NULL);
    cadre_team_add_state(NULL, CADRE_STATE_KEY(.key = "g"));
    CHECK_STATUS(cadre_team_seal(team, NULL), CADRE_ECONFIG, NULL);
    join_problems(team, told, sizeof told);
    CHECK_TEXT(told,
               "agent 'a': .run is missing\n"
               "agent 'a': output_key: a name is [a-z][a-z0-9_]*, at most 64 "
               "long\n"
               "state.log: is declared already\n"
               "state.A: a name is [a-z][a-z0-9_]*, at most 64 long\n"
               "CADRE_STATE_KEY: .key is missing\n"
               "state.b: default_value: bad JSON at 1:2: ']' expected near end of "
               "file\n"
               "state.c: a default of sum must be a number, got an array\n"
               "state.d: CADRE_REDUCE_CUSTOM and .reduce go together; the reducer "
               "is replace\n"
               "state.e: CADRE_REDUCE_CUSTOM and .reduce go together; the reducer "
               "is custom\n"
               "state.f: reducer is 77, which is no cadre_reducer\n"
               "CADRE_STATE_KEY: the struct is NULL or has no struct_size; make "
               "it with CADRE_STATE_KEY(...)\n");
    cadre_team_free(team);
}

static void test_state__a_sealed_team_takes_no_more_keys(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m"));
    cadre_team_add_state(
        team, CADRE_STATE_KEY(.key = "own", .reducer = CADRE_REDUCE_CUSTOM,
                              .reduce = first_wins, .default_value = "\"x\""));
    CHECK_OK(cadre_team_seal(team, &err), &err);
    check_defaults(team, "{\"own\":\"x\"}");
    cadre_team_add_state(team, CADRE_STATE_KEY(.key = "late"));
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "cadre_team_add_state came too late");
    cadre_team_free(team);
}

static void test_state__reducers_have_words(void)
{
    CHECK_TEXT(cadre_reducer_name(CADRE_REDUCE_REPLACE), "replace");
    CHECK_TEXT(cadre_reducer_name(CADRE_REDUCE_CUSTOM), "custom");
    CHECK_TEXT(cadre_reducer_name((cadre_reducer)77), "unknown");
}

// --- What a topology says: a type that declares its `state` and runs all at once ---

static cadre_status panel_init(void *state, const cadre_agent_config *config,
                               cadre_error *err)
{
    const char *key;
    json_t *declaration;
    (void)state;
    const json_t *keys = json_object_get(config->options, "state");
    json_object_foreach((json_t *)(uintptr_t)keys, key, declaration)
    {
        cadre_status status = config->declare_state(config, key, declaration, err);
        if (status != CADRE_OK)
            return status;
        const char *word = json_string_value(json_object_get(declaration, "reducer"));
        CHECK_TEXT(cadre_reducer_name(config->reducer_of(config, key)),
                   word == NULL ? "replace" : word);
    }
    CHECK_INT(config->reducer_of(config, "nobodys"), CADRE_REDUCE_REPLACE);
    config->run_together(config, config->members);
    return CADRE_OK;
}

static cadre_status panel_run(void *state, cadre_frame *frame, cadre_error *err)
{
    (void)state;
    return cadre_frame_set_output(frame, "", err);
}

static const cadre_agent_ops panel = {
    .struct_size = sizeof panel,
    .type = "panel",
    .summary = "for tests",
    .options_schema = "{\"state\": {\"type\": \"object\"}}",
    .init = panel_init,
    .run = panel_run,
};

#define MEMBERS                                                                        \
    "  a: {model: openai/m, output_key: note}\n"                                       \
    "  b: {model: openai/m, output_key: note}\n"                                       \
    "  c: {model: openai/m, output_key: other}\n"

static void test_state__what_runs_together_cannot_replace_one_key(void)
{
    check_file("agents:\n"
               "  all: {type: panel, members: [a, c, b]}\n" MEMBERS,
               "team.yaml:2:3: agent 'all': 'a' and 'b' may run at the same time and "
               "both have output_key 'note'; give the key a reducer (state: {note: "
               "{reducer: append}}), or each of them another key\n");
    check_file("agents:\n"
               "  all: {type: panel, members: [left, c]}\n"
               "  left: {type: panel, members: [a]}\n"
               "  right: {type: panel, members: [b]}\n"
               "  top: {type: panel, members: [left, right]}\n" MEMBERS,
               "team.yaml:5:3: agent 'top': 'a' and 'b' may run at the same time and "
               "both have output_key 'note'; give the key a reducer (state: {note: "
               "{reducer: append}}), or each of them another key\n");
    check_file("state: {note: {reducer: append}}\n"
               "agents:\n"
               "  all: {type: panel, members: [a, c, b]}\n" MEMBERS,
               "");
    // Declared by what is made after it.
    check_file("agents:\n"
               "  top: {type: panel, members: [all], panel: {state: {note: {reducer: "
               "append}}}}\n"
               "  all: {type: panel, members: [a, c, b]}\n" MEMBERS,
               "");
}

static void test_state__a_topology_declares_keys_too(void)
{
    cadre_team *team = load(
        "state: {log: {reducer: append, default: [1]}}\n"
        "agents:\n"
        "  all: {type: panel, members: [a], panel: {state: {log: {reducer: append, "
        "default: [1]}, n: {reducer: sum}, free: {}}}}\n"
        "  a: {model: openai/m}\n",
        "");
    check_defaults(team, "{\"log\":[1],\"n\":0}");
    cadre_team_free(team);
    char expected[2000];
    snprintf(expected, sizeof expected,
             "team.yaml:3:3: agent 'x': state key 'log' is declared twice: here "
             "sum, and append at %s/team.yaml:1:9\n"
             "team.yaml:4:3: agent 'y': state key 'n' is declared twice: here "
             "sum, and sum at %s/team.yaml:1:33, with another default\n"
             "team.yaml:5:3: agent 'z': state key 'm': unknown reducer 'least' "
             "(replace, append, merge, sum)\n"
             "team.yaml:6:3: agent 'w': state key 'k': a default of sum must be "
             "a number, got \"x\"\n"
             "team.yaml:7:3: agent 'v': state key 'The key': a name is "
             "[a-z][a-z0-9_]*, at most 64 long\n",
             folder.path, folder.path);
    check_file(
        "state: {log: {reducer: append}, n: {reducer: sum, default: 1}}\n"
        "agents:\n"
        "  x: {type: panel, members: [a], panel: {state: {log: {reducer: "
        "sum}}}}\n"
        "  y: {type: panel, members: [a], panel: {state: {n: {reducer: sum}}}}\n"
        "  z: {type: panel, members: [a], panel: {state: {m: {reducer: least}}}}\n"
        "  w: {type: panel, members: [a], panel: {state: {k: {reducer: sum, "
        "default: x}}}}\n"
        "  v: {type: panel, members: [a], panel: {state: {The key: {}}}}\n"
        "  a: {model: openai/m}\n",
        expected);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_state__a_file_declares_keys_and_keeps_answers),
    CHECK_TEST(test_state__mistakes_of_a_file_are_told_with_their_places),
    CHECK_TEST(test_state__mistakes_in_c_are_told_at_sealing),
    CHECK_TEST(test_state__a_sealed_team_takes_no_more_keys),
    CHECK_TEST(test_state__reducers_have_words),
    CHECK_TEST(test_state__what_runs_together_cannot_replace_one_key),
    CHECK_TEST(test_state__a_topology_declares_keys_too),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (cadre_runtime_open(NULL, &runtime, NULL) != CADRE_OK || !folder_make(&folder) ||
        cadre_runtime_register(runtime, &panel, NULL) != CADRE_OK)
        return 1;
    int status = check_main("team/state", tests);
    cadre_runtime_close(runtime);
    folder_remove(&folder);
    return status;
}
