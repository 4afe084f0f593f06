// Script files: steps in order, by a match, as attempts; and their mistakes.
#include "cadre/ext/script.h"

#include "support/check.h"
#include "support/folder.h"

#include "team/script.h"

#include <string.h>

static test_folder folder;

static cadre_script *load(const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    char path[FOLDER_PATH_SIZE];
    cadre_script *script = NULL;
    folder_write(&folder, "script.yaml", text, path);
    CHECK_OK(cadre_script_load(path, &script, &err), &err);
    return script;
}

static void check_refused(const char *text, const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    char path[FOLDER_PATH_SIZE];
    cadre_script *script = NULL;
    folder_write(&folder, "script.yaml", text, path);
    CHECK_STATUS(cadre_script_load(path, &script, &err), CADRE_ECONFIG, &err);
    const char *place = strstr(err.text, "script.yaml:");
    CHECK_TEXT(place ? place : err.text, expected);
    CHECK(script == NULL);
}

static const cadre_script_step *next(const cadre_script *script, const char *agent,
                                     const char *input, int *used)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_script_step *step = NULL;
    CHECK_OK(cadre_script_next(script, agent, input, used, &step, &err), &err);
    return step;
}

static void test_script__gives_steps_in_order_and_counts_attempts(void)
{
    cadre_script *script =
        load("strict: true\n"
             "agents:\n"
             "  a:\n"
             "    - {error: {status: 429, retry_after: 1s}, times: 2}\n"
             "    - {text: 1.10, delay: 30ms, chunks: 8}\n"
             "    - {error: {status: refused, message: down}}\n"
             "  b: []\n");
    int used = 0;
    const cadre_script_step *step = NULL;
    CHECK(cadre_script_is_strict(script));
    CHECK_INT(cadre_script_length(script, "a"), 4);
    CHECK_INT(cadre_script_length(script, "b"), 0);
    CHECK_INT(cadre_script_length(script, "c"), 0);
    CHECK_INT(cadre_script_agents(script).count, 2);
    for (int i = 1; i <= 2; i++) {
        step = next(script, "a", "", &used);
        CHECK_INT(used, i);
        CHECK_INT(step->error_status, 429);
        CHECK_INT(step->error_retry_after_ms, 1000);
    }
    step = next(script, "a", NULL, &used);
    CHECK_TEXT(step->text, "1.10");
    CHECK_INT(step->delay_ms, 30);
    CHECK_INT(step->chunks, 8);
    CHECK_INT(step->error_status, 0);
    CHECK_INT(step->error_retry_after_ms, -1);
    step = next(script, "a", "", &used);
    CHECK_INT(step->error_status, -1);
    CHECK_TEXT(step->error_message, "down");
    CHECK_INT(step->chunks, 1);
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_script_next(script, "a", "", &used, &step, &err), CADRE_EINVAL,
                 &err);
    CHECK_CONTAINS(err.text, "/script.yaml:3:3: the script has no step left for agent "
                             "'a': 4 of 4 are used");
    CHECK_INT(used, 4);
    cadre_error_clear(&err);
    CHECK_STATUS(cadre_script_next(script, "c", "", &used, &step, &err), CADRE_EINVAL,
                 &err);
    CHECK_CONTAINS(err.text, "/script.yaml: the script has no steps for agent 'c' (it "
                             "has: a, b)");
    cadre_script_free(script);
}

static void test_script__chooses_by_the_last_input_any_number_of_times(void)
{
    cadre_script *script = load("agents:\n"
                                "  a:\n"
                                "    - {text: first}\n"
                                "    - {when: {contains: refund}, text: three days}\n"
                                "    - {when: {equals: hi}, text: hello}\n"
                                "    - {text: second}\n");
    int used = 0;
    CHECK_TEXT(next(script, "a", "a refund, please", &used)->text, "three days");
    CHECK_TEXT(next(script, "a", "my refund", &used)->text, "three days");
    CHECK_TEXT(next(script, "a", "hi", &used)->text, "hello");
    CHECK_INT(used, 0);
    CHECK_TEXT(next(script, "a", "hi there", &used)->text, "first");
    CHECK_TEXT(next(script, "a", "hi", &used)->text, "hello");
    CHECK_TEXT(next(script, "a", NULL, &used)->text, "second");
    CHECK_INT(used, 2);
    CHECK(!cadre_script_is_strict(script));
    cadre_script_free(script);
}

static void test_script__says_that_no_step_was_chosen(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_script_step *step = NULL;
    int used = 0;
    cadre_script *script = load("agents:\n"
                                "  a:\n"
                                "    - {when: {contains: refund}, text: three days}\n"
                                "    - {when: {equals: hi}, text: hello}\n"
                                "  b: []\n");
    CHECK_STATUS(cadre_script_next(script, "a", "bye", &used, &step, &err),
                 CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "/script.yaml:2:3: the script has no step for agent 'a': "
                             "none of its 2 steps with `when` matches the input");
    cadre_error_clear(&err);
    CHECK_STATUS(cadre_script_next(script, "b", "bye", &used, &step, &err),
                 CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "/script.yaml:5:3: the script has no steps for agent 'b': "
                             "its list is empty");
    CHECK_INT(used, 0);
    cadre_script_free(script);
}

static void test_script__has_calls_and_handoffs_as_lists(void)
{
    cadre_script *script =
        load("agents:\n"
             "  a:\n"
             "    - {tool_calls: [{name: look, arguments: {order: \"1042\"}},\n"
             "                    {id: x, name: raw, arguments: '{bad'}]}\n"
             "    - {handoff: {to: b, message: 1042}}\n"
             "    - {text: bye, handoffs: [{to: b}, {to: c}]}\n");
    int used = 0;
    const cadre_script_step *step = next(script, "a", "", &used);
    CHECK_INT(json_array_size(step->tool_calls), 2);
    const json_t *first = json_array_get(step->tool_calls, 0);
    const json_t *second = json_array_get(step->tool_calls, 1);
    const json_t *arguments = json_object_get(first, "arguments");
    CHECK_TEXT(json_string_value(json_object_get(arguments, "order")), "1042");
    CHECK_TEXT(json_string_value(json_object_get(second, "arguments")), "{bad");
    CHECK_TEXT(json_string_value(json_object_get(second, "id")), "x");
    step = next(script, "a", "", &used);
    CHECK(step->text == NULL);
    CHECK_INT(json_array_size(step->handoffs), 1);
    const json_t *handoff = json_array_get(step->handoffs, 0);
    CHECK_TEXT(json_string_value(json_object_get(handoff, "to")), "b");
    CHECK_TEXT(json_string_value(json_object_get(handoff, "message")), "1042");
    step = next(script, "a", "", &used);
    CHECK_TEXT(step->text, "bye");
    CHECK_INT(json_array_size(step->handoffs), 2);
    cadre_script_free(script);
}

static void test_script__asks_and_escalates(void)
{
    cadre_script *script = load("agents:\n"
                                "  a:\n"
                                "    - {ask: \"Which one?\"}\n"
                                "    - {text: enough, escalate: true}\n"
                                "    - {escalate: no progress}\n"
                                "    - {text: bye}\n");
    int used = 0;
    const cadre_script_step *step = next(script, "a", "", &used);
    CHECK_TEXT(step->ask, "Which one?");
    CHECK(step->escalate == NULL);
    step = next(script, "a", "", &used);
    CHECK_TEXT(step->text, "enough");
    CHECK_TEXT(step->escalate, "");
    CHECK(step->ask == NULL);
    CHECK_TEXT(next(script, "a", "", &used)->escalate, "no progress");
    step = next(script, "a", "", &used);
    CHECK(step->ask == NULL && step->escalate == NULL);
    cadre_script_free(script);
}

static void test_script__stands_in_for_tools(void)
{
    cadre_script *script =
        load("agents: {}\n"
             "tools:\n"
             "  look: [{result: one}, {result: {n: 2}}, {error: gone}]\n");
    bool is_error = true;
    CHECK_TEXT(cadre_script_tool_result(script, "look", 0, &is_error), "one");
    CHECK(!is_error);
    CHECK_TEXT(cadre_script_tool_result(script, "look", 1, &is_error), "{\"n\":2}");
    CHECK_TEXT(cadre_script_tool_result(script, "look", 2, &is_error), "gone");
    CHECK(is_error);
    CHECK_TEXT(cadre_script_tool_result(script, "look", 99, &is_error), "gone");
    CHECK(cadre_script_tool_result(script, "other", 0, &is_error) == NULL);
    cadre_script_free(script);
}

static void test_script__tells_mistakes_with_their_places(void)
{
    check_refused(
        "agents:\n  a: [{}]\n",
        "script.yaml:2:7: agents.a[0]: a step needs text, tool_calls, handoff, "
        "handoffs, ask, escalate or error");
    check_refused(
        "agents:\n  a: [{text: x, error: {status: 500}}]\n",
        "script.yaml:2:7: agents.a[0]: a step with an error has no answer; make "
        "two steps of it");
    check_refused(
        "agents:\n  a: [{txt: x}]\n",
        "script.yaml:2:8: agents.a[0]: unknown key 'txt'; did you mean 'text'?");
    check_refused("agents:\n  a: [{text: x, chunks: 0}]\n",
                  "script.yaml:2:25: agents.a[0].chunks: expected an integer from 1 to "
                  "100000, got 0");
    check_refused("agents:\n  a: [{text: x, when: {matches: y}}]\n",
                  "script.yaml:2:24: agents.a[0].when: unknown key 'matches' (known: "
                  "contains, equals)");
    check_refused(
        "agents:\n  a: [{error: {status: 200}}]\n",
        "script.yaml:2:24: agents.a[0].error.status: expected an integer from "
        "400 to 599, got 200");
    check_refused("agents:\n  a: [{text: x, sing: y}]\n",
                  "script.yaml:2:17: agents.a[0]: unknown key 'sing' (known: text, "
                  "tool_calls, handoff, handoffs, ask, escalate, delay, chunks, times, "
                  "error, usage, when, at, after, asked, reasoning, ...)");
    check_refused(
        "agents:\n  a: [{escalate: false}]\n",
        "script.yaml:2:7: agents.a[0]: a step needs text, tool_calls, handoff, "
        "handoffs, ask, escalate or error");
    check_refused("agents:\n  a: [{text: x, escalate: false}]\n",
                  "script.yaml:2:7: agents.a[0]: escalate: write true or a reason, or "
                  "leave it out");
    check_refused("agents:\n  a: [{ask: [y]}]\n",
                  "script.yaml:2:13: agents.a[0].ask: expected a string of at least 1 "
                  "character, got a list");
    check_refused("agents:\n  a: [{ask: \"\"}]\n",
                  "script.yaml:2:13: agents.a[0].ask: expected a string of at least 1 "
                  "character, got 0");
    check_refused(
        "agents:\n  a: [{ask: why, error: {status: 500}}]\n",
        "script.yaml:2:7: agents.a[0]: a step with an error has no answer; make "
        "two steps of it");
}

// Those of reading and those of the steps, in the order of the file; of what reading
// left out nobody is told off.
static void test_script__tells_all_mistakes_at_once(void)
{
    static const char *const expected[] = {
        (":2:7: agents.a[0]: a step needs text, tool_calls, handoff, handoffs, "
         "ask, escalate or error"),
        ":3:18: duplicate key 'text' (first at line 3, column 9)",
        ":3:27: agents.b[0]: unknown key 'txt'; did you mean 'text'?",
        ":4:11: a key must be a text, not a mapping; quote a text that starts with '{'",
        ":5:3: duplicate key 'a' (first at line 2)",
        ":6:8: the alias '*gone' names nothing: no '&gone' stands before it",
    };
    cdr_arena arena = CDR_ARENA_INIT;
    cdr_problems problems = {.arena = &arena};
    char path[FOLDER_PATH_SIZE];
    folder_write(&folder, "script.yaml",
                 "agents:\n"
                 "  a: [{}]\n"
                 "  b: [{ text: x, text: y, txt: z}]\n"
                 "  c: [{ ? {x: y} : z}]\n"
                 "  a: [{}]\n"
                 "tools: *gone\n",
                 path);
    CHECK(cdr_script_read(path, NULL, &problems) == NULL);
    cdr_problems_sort(&problems);
    size_t n_expected = sizeof(expected) / sizeof(*expected);
    CHECK_INT(problems.count, n_expected);
    for (size_t i = 0; i < problems.count && i < n_expected; i++) {
        const char *place = strstr(problems.items[i].text, "script.yaml:");
        CHECK_TEXT(place ? place + strlen("script.yaml") : NULL, expected[i]);
    }
    cdr_arena_fini(&arena);
}

static void test_script__says_when_there_is_no_file(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_script *script = NULL;
    CHECK_STATUS(cadre_script_load("/nowhere/script.yaml", &script, &err), CADRE_EIO,
                 &err);
    CHECK_CONTAINS(err.text, "/nowhere/script.yaml");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_script__gives_steps_in_order_and_counts_attempts),
    CHECK_TEST(test_script__chooses_by_the_last_input_any_number_of_times),
    CHECK_TEST(test_script__says_that_no_step_was_chosen),
    CHECK_TEST(test_script__has_calls_and_handoffs_as_lists),
    CHECK_TEST(test_script__asks_and_escalates),
    CHECK_TEST(test_script__stands_in_for_tools),
    CHECK_TEST(test_script__tells_mistakes_with_their_places),
    CHECK_TEST(test_script__tells_all_mistakes_at_once),
    CHECK_TEST(test_script__says_when_there_is_no_file),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (!folder_make(&folder))
        return 1;
    int status = check_main("team/script", tests);
    folder_remove(&folder);
    return status;
}
