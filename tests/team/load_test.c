// Loading team files: what is read, and how mistakes are told.
#include "team/team.h"

#include "support/check.h"
#include "support/folder.h"

#include <stdlib.h>
#include <string.h>

static cadre_runtime *runtime;
static test_folder folder;

// Tests have one thread while they change the environment.
static void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1); // NOLINT(concurrency-mt-unsafe)
    else
        unsetenv(name); // NOLINT(concurrency-mt-unsafe)
}

// Writes and loads a team file. The mistakes, if any, are joined by lines in `told`.
static cadre_team *load(const char *text, char *told, size_t size)
{
    char path[FOLDER_PATH_SIZE];
    cadre_team *team = NULL;
    folder_write(&folder, "team.yaml", text, path);
    cadre_team_load(runtime, path, &team, NULL);
    size_t n_problems = 0;
    const char *const *problems = cadre_team_problems(team, &n_problems);
    size_t len = 0;
    told[0] = '\0';
    for (size_t i = 0; i < n_problems; i++) {
        const char *place = strstr(problems[i], "team.yaml");
        const char *shown = place ? place : problems[i];
        for (; *shown && len + 2 < size; shown++)
            told[len++] = *shown;
        told[len++] = '\n';
        told[len] = '\0';
    }
    return team;
}

// The mistakes are these lines; a `*` stands for the rest of its line, where that lists
// what this build has.
static void check_told(const char *text, const char *expected)
{
    char told[8000];
    cadre_team *team = load(text, told, sizeof(told));
    const char *line = told;
    while (*expected) {
        size_t len = strcspn(expected, "*\n");
        if (!CHECK_BYTES(line, strnlen(line, len), expected, len))
            break;
        expected += len + strcspn(expected + len, "\n") + 1;
        line += strcspn(line, "\n") + 1;
    }
    CHECK_TEXT(line, "");
    CHECK(cadre_team_root(team) == NULL);
    cadre_team_free(team);
}

static cadre_team *load_sound(const char *text)
{
    char told[8000];
    cadre_team *team = load(text, told, sizeof(told));
    CHECK_TEXT(told, "");
    return team;
}

// A topology from outside, with an option of each format.
static cadre_status relay_run(void *state, cadre_frame *frame, cadre_error *err)
{
    (void)state;
    (void)frame;
    return cadre_fail(err, CADRE_EFAILED, "not run here");
}

static const cadre_agent_ops relay = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "relay",
    .summary = "for tests",
    .options_schema =
        "{\"rounds\": {\"type\": [\"integer\", \"string\"], \"format\": \"limit\","
        "   \"minimum\": 1, \"maximum\": 9, \"default\": 3},"
        " \"pause\": {\"type\": \"string\", \"format\": \"duration\","
        "   \"default\": \"2s\"},"
        " \"room\": {\"type\": \"string\", \"format\": \"size\"},"
        " \"file\": {\"type\": \"string\", \"format\": \"path\"}}",
    .run = relay_run,
};

static void test_load__reads_a_whole_team(void)
{
    cadre_team *team =
        load_sound("version: 1\n"
                   "name: desk\n"
                   "description: Answers\n"
                   "x-note: free\n"
                   "inputs:\n"
                   "  x-why: notes stand wherever names do\n"
                   "  topic: {type: string, default: 1.10}\n"
                   "models:\n"
                   "  fast:\n"
                   "    model: openai/gpt/5\n"
                   "    base_url: http://127.0.0.1:1/v1//\n"
                   "    temperature: 0.5\n"
                   "    timeout: 2m\n"
                   "    idle_timeout: 250ms\n"
                   "    retry: {attempts: 7, backoff: 1s}\n"
                   "agents:\n"
                   "  x-order: [front, back]\n"
                   "  front:\n"
                   "    type: handoff\n"
                   "    entry: b\n"
                   "    members: [a, b]\n"
                   "    timeout: 1h\n"
                   "  a: {model: fast, handoffs: [{to: b, history: last}]}\n"
                   "  b:\n"
                   "    model: openai/gpt-5\n"
                   "    instructions: On {{inputs.topic}}.\n"
                   "    quiet: true\n"
                   "limits: {max_depth: 5}\n");
    CHECK_TEXT(cadre_team_name(team), "desk");
    CHECK_INT(team->limits.max_depth, 5);
    const cadre_agent *front = cadre_team_root(team);
    if (CHECK(front != NULL)) {
        CHECK_TEXT(cadre_agent_get_info(front)->name, "front");
        CHECK_INT(cadre_agent_members(front).count, 2);
        CHECK(front->entry == cadre_team_find(team, "b"));
        CHECK_INT(front->timeout_ms, 3600000);
    }
    const cadre_agent *a = cadre_team_find(team, "a");
    CHECK_INT(cadre_agent_handoffs(a).count, 1);
    CHECK(cadre_agent_handoffs(a).items[0].to == cadre_team_find(team, "b"));
    CHECK_INT(cadre_agent_handoffs(a).items[0].history, CADRE_HISTORY_LAST);
    CHECK_TEXT(a->model->provider, "openai");
    CHECK_TEXT(a->model->model, "gpt/5");
    CHECK_TEXT(a->model->base_url, "http://127.0.0.1:1/v1");
    CHECK_TEXT(a->model->api_key_env, "");
    CHECK_INT(a->model->times.timeout_ms, 120000);
    CHECK_INT(a->model->times.idle_timeout_ms, 250);
    CHECK_INT(a->model->times.max_attempts, 7);
    CHECK_INT(a->model->times.backoff_ms, 1000);
    CHECK_INT(a->model->times.max_backoff_ms, 30000);
    const cadre_agent *b = cadre_team_find(team, "b");
    CHECK_TEXT(b->model->name, "openai/gpt-5");
    CHECK_TEXT(b->model->api_key_env, "OPENAI_API_KEY");
    CHECK(b->quiet);
    CHECK_TEXT(json_string_value(json_object_get(team->inputs[0].schema, "default")),
               "1.10");
    cadre_team_free(team);
}

static void test_load__takes_the_first_agent_for_the_root(void)
{
    cadre_team *team = load_sound("agents:\n"
                                  "  a: {model: openai/m}\n"
                                  "  t: {type: handoff, members: [a]}\n");
    CHECK(cadre_team_root(team) == cadre_team_find(team, "a"));
    CHECK_TEXT(cadre_team_name(team), "team");
    cadre_team_free(team);
}

static void test_load__tells_all_mistakes_in_file_order_each_once(void)
{
    check_told("root: desc\n"
               "models:\n"
               "  fast: {model: opnai/m}\n"
               "agents:\n"
               "  desk:\n"
               "    type: handoff\n"
               "    members: [triage, billing]\n"
               "  triage:\n"
               "    model: fast\n"
               "    tools: [look]\n"
               "    handoffs: [desk, {to: triag}]\n"
               "  tech: {instructions: Find.}\n"
               "  lost: {model: slow}\n",
               "team.yaml:1:7: root: unknown agent 'desc'; did you mean 'desk'? "
               "(agents: desk, triage, tech, lost)\n"
               "team.yaml:3:17: models.fast.model: unknown provider 'opnai'; did you "
               "mean 'openai'? (providers: *\n"
               "team.yaml:7:23: agents.desk.members[1]: unknown agent 'billing' "
               "(agents: desk, triage, tech, lost)\n"
               "team.yaml:10:13: agents.triage.tools[0]: unknown tool 'look'\n"
               "team.yaml:11:22: agents.triage.handoffs[1]: unknown agent 'triag'; did "
               "you mean 'triage'? (agents: desk, triage, tech, lost)\n"
               "team.yaml:12:3: agent 'tech': no model; write model: provider/model\n"
               "team.yaml:13:17: agents.lost.model: unknown model 'slow' (models: "
               "fast)\n");
}

static void test_load__tells_members_that_contain_themselves(void)
{
    check_told("agents:\n"
               "  a: {type: handoff, members: [b]}\n"
               "  b: {type: handoff, members: [c]}\n"
               "  c: {type: handoff, members: [a]}\n"
               "  d: {type: handoff, members: [d]}\n",
               "team.yaml:2:3: agent 'a': contains itself: a -> b -> c -> a\n"
               "team.yaml:5:3: agent 'd': contains itself: d -> d\n");
}

static void test_load__tells_what_a_type_cannot_have(void)
{
    check_told(
        "agents:\n"
        "  a: {model: openai/m, members: [b]}\n"
        "  b: {type: handoff}\n"
        "  c: {type: handoff, members: [b], model: openai/m}\n"
        "  d: {type: handoff, members: [b], entry: a}\n",
        "team.yaml:2:3: agent 'a': an llm agent has no members; write the type "
        "that says how they work together, such as type: handoff\n"
        "team.yaml:3:3: agent 'b': a handoff needs members; write members: "
        "[...]\n"
        "team.yaml:4:43: agents.c.model: a handoff asks no model of its own, its "
        "members do; leave it out\n"
        "team.yaml:5:43: agents.d.entry: 'a' is not a member (members: b)\n");
}

// A part of a schema has its own place, wherever the schema stands.
static void test_load__tells_where_in_a_schema_a_mistake_is(void)
{
    check_told(
        "agents:\n"
        "  desk:\n"
        "    type: coordinator\n"
        "    members:\n"
        "      - lead\n"
        "      - agent: help\n"
        "        input_schema: {type: object, properties: {a: {typ: string}}}\n"
        "    output_schema:\n"
        "      anyOf:\n"
        "        - {$ref: '#/$defs/a'}\n"
        "        - {$vocabulary: {}}\n"
        "  lead: {model: openai/m, tools: [t]}\n"
        "  help: {model: openai/m, input_schema: {required: [1]}}\n"
        "tools:\n"
        "  t:\n"
        "    type: command\n"
        "    argv: [x]\n"
        "    parameters: {type: object,\n"
        "      properties: {b: {type: integer, default: x}}}\n",
        "team.yaml:7:55: agents.desk.members[1].input_schema.properties.a: unknown "
        "schema word 'typ'; did you mean 'type'?\n"
        "team.yaml:10:18: agents.desk.output_schema.anyOf[0].$ref: \"#/$defs/a\" leads "
        "to no schema in this text, and nothing is loaded from elsewhere\n"
        "team.yaml:11:12: agents.desk.output_schema.anyOf[1]: the schema word "
        "'$vocabulary' is not supported\n"
        "team.yaml:13:53: agents.help.input_schema.required[0]: expected a string, got "
        "1\n"
        "team.yaml:19:48: tools.t.parameters.properties.b.default: the default does "
        "not fit: expected an integer, got \"x\"\n");
}

static void test_load__tells_an_unknown_type_and_the_nearest(void)
{
    char told[8000];
    cadre_team *team = load("agents:\n"
                            "  a: {model: openai/m}\n"
                            "  b: {type: rely, members: [a]}\n"
                            "tools: {t: {type: function}}\n",
                            told, sizeof(told));
    CHECK_CONTAINS(told, "team.yaml:3:13: agents.b.type: expected one of: ");
    CHECK_CONTAINS(told, "; got \"rely\"; did you mean 'relay'?\n");
    CHECK_CONTAINS(told, "team.yaml:4:19: tools.t.type: ");
    CHECK_LACKS(told, "needs");
    cadre_team_free(team);
}

static void test_load__checks_the_blocks_of_other_types(void)
{
    check_told(
        "agents:\n"
        "  a: {model: openai/m, relay: {rounds: 0, pause: 1, x-note: 1}}\n"
        "  b: {model: openai/m, rounds: 1}\n",
        "team.yaml:2:40: agents.a.relay.rounds: expected an integer from 1 to 9, "
        "got 0; write 'unlimited' for no limit\n"
        "team.yaml:2:50: agents.a.relay.pause: expected a duration such as 250ms, "
        "10s, 5m or 2h, got '1'; add a unit, such as '1s'\n"
        "team.yaml:3:24: agents.b: unknown key 'rounds'*\n");
}

static void test_load__gives_a_type_numbers_and_its_defaults(void)
{
    cadre_team *team = load_sound("agents:\n"
                                  "  a: {model: openai/m}\n"
                                  "  r:\n"
                                  "    type: relay\n"
                                  "    members: [a]\n"
                                  "    relay: {rounds: unlimited, room: 64KiB,\n"
                                  "            file: sub/x.txt}\n"
                                  "  s: {type: relay, members: [r]}\n");
    const json_t *options = cadre_team_find(team, "r")->options;
    CHECK_INT(json_integer_value(json_object_get(options, "rounds")), CADRE_UNLIMITED);
    CHECK_INT(json_integer_value(json_object_get(options, "room")), 65536);
    CHECK_INT(json_integer_value(json_object_get(options, "pause")), 2000);
    CHECK_CONTAINS(json_string_value(json_object_get(options, "file")), folder.path);
    options = cadre_team_find(team, "s")->options;
    CHECK_INT(json_integer_value(json_object_get(options, "rounds")), 3);
    cadre_team_free(team);
}

static void test_load__tells_an_empty_file_and_one_without_agents(void)
{
    check_told("", "team.yaml:1:1: the file is empty; a team needs agents\n");
    check_told("name: x\n", "team.yaml:1:1: missing key 'agents'\n");
    check_told("agents: {}\n",
               "team.yaml:1:1: agents: a team needs at least one agent\n");
    check_told("agents: [a]\n",
               "team.yaml:1:9: agents: expected a mapping, got a list\n");
}

static void test_load__gives_no_team_for_a_file_that_is_not_there(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = NULL;
    CHECK_STATUS(cadre_team_load(runtime, "/nowhere/team.yaml", &team, &err), CADRE_EIO,
                 &err);
    CHECK_INT(err.error_class, CADRE_CLASS_CONFIG);
    CHECK(team == NULL);
    CHECK_CONTAINS(err.text, "/nowhere/team.yaml");
}

static void test_load__reads_variables_in_addresses_only(void)
{
    set_variable("CADRE_TEST_URL", NULL);
    cadre_team *team = load_sound(
        "models: {m: {model: openai/m, base_url: '${CADRE_TEST_URL:-http://a/v1}'}}\n"
        "agents: {a: {model: m, description: '${CADRE_TEST_URL}'}}\n");
    CHECK_TEXT(team->models[0]->base_url, "http://a/v1");
    CHECK_TEXT(team->agents[0]->info.description, "${CADRE_TEST_URL}");
    cadre_team_free(team);
    set_variable("CADRE_TEST_URL", "http://b/");
    team = load_sound(
        "models: {m: {model: openai/m, base_url: '${CADRE_TEST_URL:-http://a}'}}\n"
        "agents: {a: {model: m}}\n");
    CHECK_TEXT(team->models[0]->base_url, "http://b");
    cadre_team_free(team);
    set_variable("CADRE_TEST_URL", NULL);
    check_told(
        "models: {m: {model: openai/m, base_url: '${CADRE_TEST_URL}/v1'}}\n"
        "agents: {a: {model: m}}\n",
        "team.yaml:1:41: models.m.base_url: the environment variable "
        "CADRE_TEST_URL is not set; set it, or write ${CADRE_TEST_URL:-default}\n");
}

static void test_load__keeps_paths_in_its_folder(void)
{
    check_told("script: sub/../../x\nagents: {a: {model: openai/m}}\n",
               "team.yaml:1:9: script: the path 'sub/../../x' leaves the folder of the "
               "team file; write one that is relative to it, without '..'\n");
    check_told("script: /etc/passwd\nagents: {a: {model: openai/m}}\n",
               "team.yaml:1:9: script: the path '/etc/passwd' leaves the folder of the "
               "team file; write one that is relative to it, without '..'\n");
    cadre_team *team =
        load_sound("script: ./s..yaml\nagents: {a: {model: openai/m}}\n");
    CHECK_CONTAINS(team->script_path, folder.path);
    CHECK_CONTAINS(team->script_path, "/./s..yaml");
    cadre_team_free(team);
}

static void test_load__does_not_show_a_key_written_for_its_variable(void)
{
    char told[8000];
    cadre_team *team = load("models: {m: {model: openai/m, api_key_env: sk-secret}}\n"
                            "agents: {a: {model: m}}\n",
                            told, sizeof(told));
    CHECK_CONTAINS(told, "model 'm': api_key_env must be the name of an environment");
    CHECK_LACKS(told, "secret");
    cadre_team_free(team);
}

static void test_load__names_the_variable_of_a_missing_key(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    set_variable("OPENAI_API_KEY", NULL);
    cadre_team *team = load_sound("models:\n"
                                  "  used: {model: openai/m}\n"
                                  "  spare: {model: openai/n, api_key_env: NOWHERE}\n"
                                  "agents: {a: {model: used}}\n");
    CHECK_STATUS(cdr_team_check_keys(team, &err), CADRE_ECONFIG, &err);
    CHECK_TEXT(
        err.text,
        "model 'used': OPENAI_API_KEY is not set; set it (any text will do for a "
        "server that wants none), or run with --offline");
    set_variable("OPENAI_API_KEY", "any");
    cadre_error_clear(&err);
    CHECK_OK(cdr_team_check_keys(team, &err), &err);
    set_variable("OPENAI_API_KEY", NULL);
    cadre_team_free(team);
}

static void test_load__takes_the_other_variable_of_a_provider(void)
{
    static const struct {
        const char *usual, *other, *taken;
    } cases[] = {{NULL, NULL, "GEMINI_API_KEY"},
                 {NULL, "k", "GOOGLE_API_KEY"},
                 {"k", "k", "GEMINI_API_KEY"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set_variable("GEMINI_API_KEY", cases[i].usual);
        set_variable("GOOGLE_API_KEY", cases[i].other);
        cadre_team *team = load_sound("agents: {a: {model: gemini/m}}\n");
        CHECK_TEXT(team->models[0]->api_key_env, cases[i].taken);
        cadre_team_free(team);
    }
    set_variable("GEMINI_API_KEY", NULL);
    set_variable("GOOGLE_API_KEY", NULL);
}

static void test_load__refuses_unknown_inputs_of_instructions(void)
{
    check_told("inputs: {topic: {type: string}}\n"
               "agents:\n"
               "  a:\n"
               "    model: openai/m\n"
               "    instructions: '{{inputs.topic}} {{ inputs.topik }}'\n",
               "team.yaml:5:19: agents.a.instructions: unknown input 'topik'; did you "
               "mean 'topic'? (inputs: topic)\n");
    // In a literal block the place is that of the words themselves.
    check_told("inputs: {topic: {type: string}}\n"
               "agents:\n"
               "  a:\n"
               "    model: openai/m\n"
               "    instructions: |\n"
               "      You answer.\n"
               "\n"
               "        \xC3\xBC {{inputs.topic}}: {{inputs.topik}}, {{inputs.tpic}}\n"
               "      {{inputs.subject}}\n",
               "team.yaml:8:29: agents.a.instructions: unknown input 'topik'*\n"
               "team.yaml:8:47: agents.a.instructions: unknown input 'tpic'*\n"
               "team.yaml:9:7: agents.a.instructions: unknown input 'subject'*\n");
}

static void test_load__refuses_other_words_in_double_braces(void)
{
    check_told(
        "inputs: {topic: {type: string}}\n"
        "agents:\n"
        "  a:\n"
        "    model: openai/m\n"
        "    instructions: |\n"
        "      {{name}} and {{ topic }}, {{inputs.topic\n"
        "      {{{{plain}} {{ two words }} {{}} { {x} }\n",
        "team.yaml:6:7: agents.a.instructions: unknown {{name}}; only "
        "{{inputs.NAME}} and {{state.KEY}} are known, and {{{{ gives plain braces\n"
        "team.yaml:6:20: agents.a.instructions: unknown {{topic}}; an input is "
        "{{inputs.NAME}}, and {{{{ gives plain braces\n"
        "team.yaml:6:33: agents.a.instructions: {{inputs.topic has no end; write "
        "{{inputs.topic}}\n");
}

static void test_load__calls_things_as_the_file_does(void)
{
    check_told("agents: {a: {model: openai/m, tools: clock, max_turns: 1.5}}\n"
               "tools:\n"
               "  clock: {type: command, argv: ls -l, env: 'a b, \"c\"'}\n"
               "  look: [x]\n"
               "models: {m: {model: openai/m, api_key: x}}\n",
               "team.yaml:1:38: agents.a.tools: expected a list, got \"clock\"; write "
               "[clock]\n"
               "team.yaml:1:56: agents.a.max_turns: expected an integer from 1 to "
               "1000000 or 'unlimited', got 1.5\n"
               "team.yaml:3:32: tools.clock.argv: expected a list of at least 1 "
               "element, got \"ls -l\"; write [ls, -l]\n"
               "team.yaml:3:44: tools.clock.env: expected a list, got \"a b, \"c\"\"\n"
               "team.yaml:4:9: tools.look: expected a mapping, got a list\n"
               "team.yaml:5:31: models.m: unknown key 'api_key'; did you mean "
               "'api_key_env'?\n");
}

static void test_load__tells_once_what_is_out_of_bounds(void)
{
    check_told("budget: {max_cost: -1, max_tokens: unlimited, max_time: unlimited}\n"
               "agents: {a: {model: m, budget: {max_cost: 0.0000001}}}\n"
               "models:\n"
               "  m:\n"
               "    model: openai/m\n"
               "    timeout: 25h\n"
               "    price: {input: -1, output: 1e30, cached_input: 0.0000001}\n",
               "team.yaml:1:20: budget.max_cost: expected a number from 1e-6 to "
               "1000000, got -1\n"
               "team.yaml:1:36: budget.max_tokens: expected an integer from 1 to "
               "1000000000000, got \"unlimited\"; leave it out for no limit\n"
               "team.yaml:1:57: budget.max_time: expected a duration such as 250ms, "
               "10s, 5m or 2h, got 'unlimited'; leave it out for no limit\n"
               "team.yaml:2:43: agents.a.budget.max_cost: expected a number from 1e-6 "
               "to 1000000, got 1e-7\n"
               "team.yaml:6:14: models.m.timeout: expected at most 24h, got \"25h\"\n"
               "team.yaml:7:20: models.m.price.input: expected a number from 0 to "
               "1000000, got -1\n"
               "team.yaml:7:32: models.m.price.output: expected a number from 0 to "
               "1000000, got 1e30\n"
               "team.yaml:7:52: models.m.price.cached_input: expected dollars with six "
               "decimals at most, got 1e-07\n");
}

// Sound keys in the wrong place; those of another type of the same thing are not here.
static void test_load__says_where_a_key_stands(void)
{
    check_told(
        "rpm: 60\n"
        "timeout: 10s\n"
        "agents:\n"
        "  a: {model: m, fallback: [openai/n], max_tokens: 9, limits: {}}\n"
        "  b: {type: chain, members: [a], max_turns: 3, wait: race, attempts: 2}\n"
        "  c: {model: m, budget: {max_model_calls: 5}, retry: {max_turns: 4}}\n"
        "models: {m: {model: openai/m, budget: {max_cost: 1}, max_turns: 2}}\n"
        "limits: {max_cost: 1}\n"
        "tools: {t: {type: ask, attempts: 2}}\n",
        "team.yaml:1:1: unknown key 'rpm'; it stands under models\n"
        "team.yaml:2:1: unknown key 'timeout'; it stands under models, tools or "
        "agents\n"
        "team.yaml:4:17: agents.a: unknown key 'fallback'; it stands under models\n"
        "team.yaml:4:39: agents.a: unknown key 'max_tokens'; it stands under models or "
        "budget\n"
        "team.yaml:4:54: agents.a: unknown key 'limits'; it stands at the top\n"
        "team.yaml:5:34: agents.b: unknown key 'max_turns' (known: *\n"
        "team.yaml:5:48: agents.b: unknown key 'wait'; it stands under parallel\n"
        "team.yaml:5:60: agents.b: unknown key 'attempts'; it stands under retry\n"
        "team.yaml:6:26: agents.c.budget: unknown key 'max_model_calls'; it stands "
        "under limits\n"
        "team.yaml:6:55: agents.c.retry: unknown key 'max_turns'; it stands under "
        "agents\n"
        "team.yaml:7:31: models.m: unknown key 'budget'; it stands at the top or under "
        "agents\n"
        "team.yaml:7:54: models.m: unknown key 'max_turns'; it stands under agents\n"
        "team.yaml:8:10: limits: unknown key 'max_cost'; it stands under budget\n"
        "team.yaml:9:24: tools.t: unknown key 'attempts' (known: *\n");
}

static void test_load__tells_a_duplicate_key_with_all_other_mistakes(void)
{
    check_told(
        "agents:\n"
        "  writer: {model: openai/m, instrutions: Write., handoffs: [editr]}\n"
        "  editor: {model: openai/m}\n"
        "  writer:\n"
        "    model: openai/m2\n"
        "limits: {max_tool_calls: 0}\n"
        "tools:\n"
        "  status: {type: 7, argv: [x]}\n",
        "team.yaml:2:29: agents.writer: unknown key 'instrutions'; did you mean "
        "'instructions'?\n"
        "team.yaml:2:61: agents.writer.handoffs[0]: unknown agent 'editr'; did you "
        "mean 'editor'? (agents: writer, editor)\n"
        "team.yaml:4:3: duplicate key 'writer' (first at line 2)\n"
        "team.yaml:6:26: limits.max_tool_calls: expected an integer from 1 to "
        "1000000000, got 0; write 'unlimited' for no limit\n"
        "team.yaml:8:18: tools.status.type: expected one of: *\n");
}

// What reading left out, or put null for, is told once, where it stands.
static void test_load__tells_nobody_off_for_what_reading_left_out(void)
{
    check_told("x-base: &base {model: openai/m}\n"
               "agents:\n"
               "  a: {<<: *base, instructions: {{input}}, handoffs: [far]}\n"
               "  b: {type: handoff, entry: a, members: *gone}\n"
               "  c: {model: fast, tools: [lookup], handoffs: [a, {to: *gone}]}\n"
               "  d: {type: *gone, model: \"m\\0n\"}\n"
               "agents:\n"
               "  far: {model: openai/m}\n"
               "models: *gone\n"
               "tools: *gone\n"
               "inputs: {topic: !text {type: strin}}\n",
               "team.yaml:3:7: merge keys*\n"
               "team.yaml:3:33: a key must be a text, not a mapping*\n"
               "team.yaml:4:41: the alias '*\n"
               "team.yaml:5:56: the alias '*\n"
               "team.yaml:6:13: the alias '*\n"
               "team.yaml:6:27: the text holds a NUL character*\n"
               "team.yaml:7:1: duplicate key 'agents' (first at line 2)\n"
               "team.yaml:9:9: the alias '*\n"
               "team.yaml:10:8: the alias '*\n"
               "team.yaml:11:17: tags are not read*\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_load__reads_a_whole_team),
    CHECK_TEST(test_load__takes_the_first_agent_for_the_root),
    CHECK_TEST(test_load__tells_all_mistakes_in_file_order_each_once),
    CHECK_TEST(test_load__tells_members_that_contain_themselves),
    CHECK_TEST(test_load__tells_what_a_type_cannot_have),
    CHECK_TEST(test_load__tells_where_in_a_schema_a_mistake_is),
    CHECK_TEST(test_load__tells_an_unknown_type_and_the_nearest),
    CHECK_TEST(test_load__gives_a_type_numbers_and_its_defaults),
    CHECK_TEST(test_load__checks_the_blocks_of_other_types),
    CHECK_TEST(test_load__tells_an_empty_file_and_one_without_agents),
    CHECK_TEST(test_load__gives_no_team_for_a_file_that_is_not_there),
    CHECK_TEST(test_load__reads_variables_in_addresses_only),
    CHECK_TEST(test_load__keeps_paths_in_its_folder),
    CHECK_TEST(test_load__does_not_show_a_key_written_for_its_variable),
    CHECK_TEST(test_load__names_the_variable_of_a_missing_key),
    CHECK_TEST(test_load__takes_the_other_variable_of_a_provider),
    CHECK_TEST(test_load__refuses_unknown_inputs_of_instructions),
    CHECK_TEST(test_load__refuses_other_words_in_double_braces),
    CHECK_TEST(test_load__calls_things_as_the_file_does),
    CHECK_TEST(test_load__tells_once_what_is_out_of_bounds),
    CHECK_TEST(test_load__says_where_a_key_stands),
    CHECK_TEST(test_load__tells_a_duplicate_key_with_all_other_mistakes),
    CHECK_TEST(test_load__tells_nobody_off_for_what_reading_left_out),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (cadre_runtime_open(NULL, &runtime, NULL) != CADRE_OK || !folder_make(&folder))
        return 1;
    if (cadre_runtime_register(runtime, &relay, NULL) != CADRE_OK)
        return 1;
    int status = check_main("team/load", tests);
    folder_remove(&folder);
    cadre_runtime_close(runtime);
    return status;
}
