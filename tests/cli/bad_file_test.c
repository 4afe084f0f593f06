// Team files that are wrong, keys that are missing and inputs that do not fit: each is
// told with its place and the way out, on stderr, before anything runs.
#include "support/folder.h"
#include "support/program.h"

#include <jansson.h>

#define KEY "sk-never-shown-51f0"
#define N(array) (sizeof(array) / sizeof((array)[0]))

static const char sound[] = "version: 1\n"
                            "inputs:\n"
                            "  topic: {type: string, default: orders}\n"
                            "  count: {type: integer, default: 3}\n"
                            "agents:\n"
                            "  solo: {model: openai/test, instructions: Answer.}\n";

static bool run_in(const test_folder *folder, const char *const *arguments,
                   const char *change, program_result *ran)
{
    const char *const changes[] = {change ? change : "OPENAI_API_KEY=" KEY, NULL};

    if (!PROGRAM_RUN(ran, .arguments = arguments, .changes = changes,
                     .directory = folder->path))
        return false;
    CHECK_LACKS(ran->out, KEY);
    CHECK_LACKS(ran->err, KEY);
    return true;
}

// stdout is empty, stderr is exactly this.
static void check_told(const test_folder *folder, const char *const *arguments,
                       const char *change, const char *expected)
{
    program_result ran;

    if (!run_in(folder, arguments, change, &ran))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_TEXT(ran.out, "");
    CHECK_TEXT(ran.err, expected);
    program_result_fini(&ran);
}

// --json: the same on stderr, and an object whose error is of class config.
static void check_told_in_json(const test_folder *folder, const char *file,
                               const char *expected, size_t n_problems)
{
    const char *const arguments[] = {"run", file, "hello", "--json", NULL};
    program_result ran;

    if (!run_in(folder, arguments, NULL, &ran))
        return;
    json_t *object = json_loads(ran.out, 0, NULL);
    const json_t *error = json_object_get(object, "error");
    CHECK_INT(ran.exit_status, 2);
    CHECK_TEXT(ran.err, expected);
    CHECK_TEXT(json_string_value(json_object_get(error, "class")), "config");
    CHECK(json_is_false(json_object_get(error, "retryable")));
    CHECK_INT(json_array_size(json_object_get(object, "problems")), n_problems);
    json_decref(object);
    program_result_fini(&ran);
}

static void check_file(const char *file, const char *expected, size_t n_problems,
                       const test_folder *folder)
{
    const char *const run[] = {"run", file, "hello", NULL};
    const char *const check[] = {"check", file, NULL};

    check_told(folder, run, NULL, expected);
    check_told(folder, check, NULL, expected);
    check_told_in_json(folder, file, expected, n_problems);
}

static void test_bad_file__what_is_no_file_is_told_by_its_name(void)
{
    test_folder folder;

    if (!CHECK(folder_make(&folder)))
        return;
    check_file("nowhere.yaml",
               "cadre: cannot read 'nowhere.yaml': No such file or directory\n", 0,
               &folder);
    check_file(".", "cadre: cannot read '.': Is a directory\n", 0, &folder);
    folder_remove(&folder);
}

typedef struct bad_file {
    const char *text;
    const char *expected;
    size_t n_problems;
} bad_file;

static void check_files(const bad_file *files, size_t n)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];

    if (!CHECK(folder_make(&folder)))
        return;
    for (size_t i = 0; i < n; i++)
        if (folder_write(&folder, "team.yaml", files[i].text, path))
            check_file("team.yaml", files[i].expected, files[i].n_problems, &folder);
    folder_remove(&folder);
}

static void test_bad_file__yaml_that_cannot_be_read_is_shown_with_its_place(void)
{
    static const bad_file files[] = {
        {"",
         "team.yaml:1:1: the file is empty; a team needs agents\n"
         "cadre: team.yaml: 1 problem\n",
         1},
        {"# only a comment\n",
         "team.yaml:1:1: the file is empty; a team needs agents\n"
         "cadre: team.yaml: 1 problem\n",
         1},
        {"version: 1\nagents:\n  solo: {model: openai/x, tools: [unclosed\n",
         "team.yaml:4:1: did not find expected ',' or ']' (while parsing a flow "
         "sequence that starts at line 3)\n"
         "cadre: team.yaml: 1 problem\n",
         1},
        {"version: 1\nagents:\n  solo:\n    model: openai/x\n   description: off\n",
         "team.yaml:5:4: did not find expected key (while parsing a block mapping that "
         "starts at line 3): check the indentation and the quotes\n"
         "cadre: team.yaml: 1 problem\n",
         1},
        {"version: 1\nagents:\n  solo: {model: openai/x, description: \"\xff\"}\n",
         "team.yaml:3:41: a byte that is not UTF-8; save the file as UTF-8\n"
         "cadre: team.yaml: 1 problem\n",
         1},
    };

    check_files(files, N(files));
}

static void test_bad_file__unknown_words_get_the_nearest_one(void)
{
    static const bad_file files[] = {
        {"version: 1\nagents:\n  solo: {model: openai/x, descripton: x}\n",
         "team.yaml:3:27: agents.solo: unknown key 'descripton'; did you mean "
         "'description'?\n"
         "cadre: team.yaml: 1 problem\n",
         1},
        {"version: 1\nagents:\n  desk: {type: handoff, entry: first, members: [first, "
         "sales]}\n  first: {model: openai/x, handoffs: [sale]}\n"
         "  sales: {model: openai/x}\n",
         "team.yaml:4:39: agents.first.handoffs[0]: unknown agent 'sale'; did you mean "
         "'sales'? (agents: desk, first, sales)\n"
         "cadre: team.yaml: 1 problem\n",
         1},
        {"version: 1\nagents:\n  solo: {model: opnai/gpt-5-mini}\n",
         "team.yaml:3:17: agents.solo.model: unknown provider 'opnai'; did you mean "
         "'openai'? (providers: anthropic, gemini, openai, openai_responses, script)\n"
         "cadre: team.yaml: 1 problem\n",
         1},
    };

    check_files(files, N(files));
}

static void test_bad_file__what_is_missing_or_there_twice_is_told(void)
{
    static const bad_file files[] = {
        {"version: 1\nagents:\n  solo: {description: Answers}\n",
         "team.yaml:3:3: agent 'solo': no model; write model: provider/model\n"
         "cadre: team.yaml: 1 problem\n",
         1},
        {"version: 1\nagents:\n  solo: {model: openai/x}\n  other: {model: openai/x}\n"
         "  solo: {model: openai/y}\n",
         "team.yaml:5:3: duplicate key 'solo' (first at line 3)\n"
         "cadre: team.yaml: 1 problem\n",
         1},
    };

    check_files(files, N(files));
}

static void test_bad_file__all_mistakes_are_told_at_once_in_the_order_of_the_file(void)
{
    static const bad_file files[] = {
        {"version: 2\nroot: dsek\nagents:\n"
         "  desk: {type: handoff, entry: first, members: [first, sales, tehc]}\n"
         "  first: {model: openai/x, descripton: First, handoffs: [sale]}\n"
         "  sales: {description: Sales}\n"
         "  tech: {model: opnai/x, max_turns: 0}\n",
         "team.yaml:1:10: version: expected 1, got 2\n"
         "team.yaml:2:7: root: unknown agent 'dsek'; did you mean 'desk'? (agents: "
         "desk, first, sales, tech)\n"
         "team.yaml:4:63: agents.desk.members[2]: unknown agent 'tehc'; did you mean "
         "'tech'? (agents: desk, first, sales, tech)\n"
         "team.yaml:5:28: agents.first: unknown key 'descripton'; did you mean "
         "'description'?\n"
         "team.yaml:5:58: agents.first.handoffs[0]: unknown agent 'sale'; did you mean "
         "'sales'? (agents: desk, first, sales, tech)\n"
         "team.yaml:6:3: agent 'sales': no model; write model: provider/model\n"
         "team.yaml:7:17: agents.tech.model: unknown provider 'opnai'; did you mean "
         "'openai'? (providers: anthropic, gemini, openai, openai_responses, script)\n"
         "team.yaml:7:37: agents.tech.max_turns: expected an integer from 1 to "
         "1000000, "
         "got 0; write 'unlimited' for no limit\n"
         "cadre: team.yaml: 8 problems\n",
         8},
    };

    check_files(files, N(files));
}

// A key given twice hides nothing, and its second value is no reason for more.
static void
test_bad_file__a_duplicate_agent_is_told_with_all_else_in_both_syntaxes(void)
{
    static const struct {
        const char *file, *text, *expected;
    } files[] = {
        {"team.yaml",
         "agents:\n"
         "  writer: {model: openai/x, instrutions: Write, handoffs: [editr]}\n"
         "  editor: {model: openai/x}\n"
         "  writer: {model: openai/y}\n"
         "limits: {max_tool_calls: 0}\n"
         "tools:\n"
         "  status: {type: 7, argv: [status]}\n",
         "team.yaml:2:29: agents.writer: unknown key 'instrutions'; did you mean "
         "'instructions'?\n"
         "team.yaml:2:60: agents.writer.handoffs[0]: unknown agent 'editr'; did you "
         "mean "
         "'editor'? (agents: writer, editor)\n"
         "team.yaml:4:3: duplicate key 'writer' (first at line 2)\n"
         "team.yaml:5:26: limits.max_tool_calls: expected an integer from 1 to "
         "1000000000, got 0; write 'unlimited' for no limit\n"
         "team.yaml:7:18: tools.status.type: expected one of: ask, background, "
         "command, escalate, subagent; got 7\n"
         "cadre: team.yaml: 5 problems\n"},
        {"team.json",
         "{\"agents\": {\n"
         "  \"writer\": {\"model\": \"openai/x\", \"instrutions\": \"Write\",\n"
         "    \"handoffs\": [\"editr\"]},\n"
         "  \"editor\": {\"model\": \"openai/x\"},\n"
         "  \"writer\": {\"model\": \"openai/y\"}},\n"
         " \"limits\": {\"max_tool_calls\": 0},\n"
         " \"tools\": {\"status\": {\"type\": 7, \"argv\": [\"status\"]}}}\n",
         "team.json:2:35: agents.writer: unknown key 'instrutions'; did you mean "
         "'instructions'?\n"
         "team.json:3:18: agents.writer.handoffs[0]: unknown agent 'editr'; did you "
         "mean "
         "'editor'? (agents: writer, editor)\n"
         "team.json:5:3: duplicate key 'writer' (first at line 2)\n"
         "team.json:6:31: limits.max_tool_calls: expected an integer from 1 to "
         "1000000000, got 0; write 'unlimited' for no limit\n"
         "team.json:7:31: tools.status.type: expected one of: ask, background, "
         "command, escalate, subagent; got 7\n"
         "cadre: team.json: 5 problems\n"},
    };
    test_folder folder;
    char path[FOLDER_PATH_SIZE];

    if (!CHECK(folder_make(&folder)))
        return;
    for (size_t i = 0; i < N(files); i++)
        if (folder_write(&folder, files[i].file, files[i].text, path))
            check_file(files[i].file, files[i].expected, 5, &folder);
    folder_remove(&folder);
}

// A sound team, and what is wrong around it.
typedef struct bad_request {
    const char *arguments[6];
    const char *change; // NULL: the key is set
    const char *expected;
} bad_request;

static void test_bad_file__keys_inputs_and_options_that_do_not_fit_are_told(void)
{
    static const bad_request requests[] = {
        {{"run", "team.yaml", "hello"},
         "OPENAI_API_KEY",
         "cadre: model 'openai/test': OPENAI_API_KEY is not set; set it (any text will "
         "do for a server that wants none), or run with --offline\n"},
        {{"run", "team.yaml", "hello"},
         "OPENAI_API_KEY=",
         "cadre: model 'openai/test': OPENAI_API_KEY is not set; set it (any text will "
         "do for a server that wants none), or run with --offline\n"},
        {{"run", "team.yaml", "hello"},
         "OPENAI_API_KEY=" KEY "\n",
         "cadre: model 'openai/test': OPENAI_API_KEY has a line end in it; set it "
         "without one\n"},
        {{"run", "team.yaml", "hello"},
         "OPENAI_BASE_URL=ftp://models",
         "cadre: the environment variable OPENAI_BASE_URL must start with http:// or "
         "https://, got 'ftp://models'\n"},
        {{"run", "team.yaml", "hello", "--set", "topc=returns"},
         NULL,
         "cadre: unknown input 'topc'; did you mean 'topic'? (inputs: topic, count)\n"},
        {{"run", "team.yaml", "hello", "--set", "count=many"},
         NULL,
         "cadre: input 'count': expected an integer, got \"many\"\n"},
        {{"run", "team.yaml", "hello", "--set", "topic"},
         NULL,
         "cadre: run: option '--set': expected NAME=VALUE, not 'topic'; see `cadre run "
         "--help`\n"},
        {{"run", "team.yaml", "hello", "--timeout", "soon"},
         NULL,
         "cadre: run: option '--timeout': expected a duration such as 250ms, 10s, 5m "
         "or "
         "2h, not 'soon'; see `cadre run --help`\n"},
        {{"run", "team.yaml", "hello", "--jsn"},
         NULL,
         "cadre: run: unknown option '--jsn'; did you mean '--json'? See `cadre run "
         "--help`\n"},
        {{"rum", "team.yaml", "hello"},
         NULL,
         "cadre: unknown command 'rum'; did you mean 'run'? See `cadre help`\n"},
        {{"run", "team.yaml", "hello", "--offline"},
         NULL,
         "team.yaml:1:1: there is no script to answer from; add `script:` to the team "
         "file, or run "
         "with --script FILE\n"
         "cadre: team.yaml: 1 problem\n"},
        {{"run", "team.yaml", "hello", "--script", "nowhere.yaml"},
         NULL,
         "cadre: script: cannot read 'nowhere.yaml': No such file or directory\n"},
        {{"run", "team.yaml", "hello", "--script", "team.yaml"},
         NULL,
         "team.yaml:1:1: unknown key 'version' (known: strict, agents, tools, "
         "recording, answers, values, messages, stopped)\n"
         "team.yaml:2:1: unknown key 'inputs' (known: strict, agents, tools, "
         "recording, answers, values, messages, stopped)\n"
         "team.yaml:6:9: agents.solo: expected a list, got a mapping\n"
         "cadre: team.yaml: 3 problems\n"},
    };
    test_folder folder;
    char path[FOLDER_PATH_SIZE];

    if (!CHECK(folder_make(&folder)))
        return;
    if (folder_write(&folder, "team.yaml", sound, path))
        for (size_t i = 0; i < N(requests); i++)
            check_told(&folder, requests[i].arguments, requests[i].change,
                       requests[i].expected);
    folder_remove(&folder);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_bad_file__what_is_no_file_is_told_by_its_name),
        CHECK_TEST(test_bad_file__yaml_that_cannot_be_read_is_shown_with_its_place),
        CHECK_TEST(test_bad_file__unknown_words_get_the_nearest_one),
        CHECK_TEST(test_bad_file__what_is_missing_or_there_twice_is_told),
        CHECK_TEST(
            test_bad_file__all_mistakes_are_told_at_once_in_the_order_of_the_file),
        CHECK_TEST(
            test_bad_file__a_duplicate_agent_is_told_with_all_else_in_both_syntaxes),
        CHECK_TEST(test_bad_file__keys_inputs_and_options_that_do_not_fit_are_told),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/bad_file", tests);
}
