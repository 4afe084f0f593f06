// cadre compare.
#include "support/lab.h"

#include <signal.h>
#include <string.h>

static const char team[] =
    "version: 1\n"
    "name: desk\n"
    "root: desk\n"
    "script: ./script.yaml\n"
    "agents:\n"
    "  desk: {type: handoff, entry: first, members: [first, last]}\n"
    "  first: {model: openai/any, description: Leads}\n"
    "  last: {model: openai/any, description: Helps}\n";

static const char script[] =
    "strict: false\n"
    "agents:\n"
    "  first: [{text: \"From the first.\\nIt has more to say.\"}, {text: Again.}]\n"
    "  last: [{text: From the last.}]\n";

// The second one is never through.
static const char slow[] = "strict: false\n"
                           "agents:\n"
                           "  first: [{text: From the first.}]\n"
                           "  last: [{text: Late., delay: 60s}]\n";

static json_t *read_json(const program_result *ran)
{
    json_t *value = json_loads(ran->out, 0, NULL);

    CHECK(json_is_array(value));
    return value;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static void test_compare__a_line_for_each_type(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, script))
        return;
    if (LAB_RUN(&it, &ran, "compare", "team.yaml", "hi", "--offline", "--types",
                "handoff,chain")) {
        const char *handoff = strstr(ran.out, "\nhandoff ");
        const char *chain = strstr(ran.out, "\nchain ");
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "type     status     calls  in  out  cost  ");
        if (CHECK(handoff && chain && handoff < chain)) {
            CHECK_CONTAINS(handoff, "  From the first.\n");
            CHECK_CONTAINS(chain, "  From the last.\n");
        }
        CHECK_LACKS(ran.out, "more to say");
        CHECK_CONTAINS(ran.err, "handoff: trace ");
        CHECK_CONTAINS(ran.err, "\nchain: trace ");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void check_trial(lab *it, const json_t *trial, const char *type,
                        const char *output, int calls)
{
    program_result ran;
    const json_t *usage = json_object_get(trial, "usage");

    CHECK_TEXT(text_of(trial, "type"), type);
    CHECK_TEXT(text_of(trial, "status"), "completed");
    CHECK_TEXT(text_of(trial, "stop_reason"), "final");
    CHECK_TEXT(text_of(trial, "output"), output);
    CHECK(json_is_null(json_object_get(trial, "error")));
    CHECK_INT(json_integer_value(json_object_get(usage, "model_calls")), calls);
    CHECK(json_is_null(json_object_get(trial, "cost")));
    CHECK(json_is_integer(json_object_get(trial, "duration_ms")));
    CHECK_INT(json_integer_value(json_object_get(trial, "depth")), 1);
    // It is a run of the store like any other, and its record says as what.
    if (LAB_RUN(it, &ran, "tree", text_of(trial, "trace_id"), "--plain")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "desk");
        program_result_fini(&ran);
    }
}

static void test_compare__json_has_all_of_it(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, script))
        return;
    if (LAB_RUN(&it, &ran, "compare", "team.yaml", "hi", "--offline", "--types",
                "handoff,chain", "--json", "--quiet")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.err, "");
        json_t *trials = read_json(&ran);
        if (CHECK_INT(json_array_size(trials), 2)) {
            const json_t *handoff = json_array_get(trials, 0);
            const json_t *chain = json_array_get(trials, 1);
            CHECK(strcmp(text_of(handoff, "trace_id"), text_of(chain, "trace_id")) !=
                  0);
            check_trial(&it, handoff, "handoff", "From the first.\nIt has more to say.",
                        1);
            check_trial(&it, chain, "chain", "From the last.", 2);
        }
        json_decref(trials);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_compare__what_cannot_be_loaded_or_fails_is_a_line(void)
{
    static const char nested[] =
        "script: ./script.yaml\n"
        "agents:\n"
        "  desk: {type: handoff, entry: inner, members: [inner, last]}\n"
        "  inner: {type: handoff, members: [first]}\n"
        "  first: {model: openai/any}\n"
        "  last: {model: openai/any}\n";
    static const char failing[] = "strict: false\n"
                                  "agents:\n"
                                  "  first: [{text: From the first.}]\n"
                                  "  last: [{error: {status: 401}}]\n";
    lab it;
    program_result ran;

    if (!lab_make(&it, nested, failing))
        return;
    if (LAB_RUN(&it, &ran, "compare", "team.yaml", "hi", "--offline", "--types",
                "coordinator,chain,handoff", "--json", "--quiet")) {
        CHECK_INT(ran.exit_status, 1);
        json_t *trials = read_json(&ran);
        const json_t *unloaded = json_array_get(trials, 0);
        const json_t *failed = json_array_get(trials, 1);
        const json_t *completed = json_array_get(trials, 2);
        const json_t *error = json_object_get(unloaded, "error");
        CHECK_INT(json_array_size(trials), 3);
        CHECK_TEXT(text_of(unloaded, "status"), "failed");
        CHECK_TEXT(text_of(error, "class"), "config");
        CHECK_CONTAINS(text_of(error, "message"), "(by --type coordinator)");
        CHECK_INT(json_array_size(json_object_get(unloaded, "problems")), 1);
        CHECK(json_is_null(json_object_get(unloaded, "trace_id")));
        CHECK(json_is_null(json_object_get(unloaded, "usage")));
        CHECK_TEXT(text_of(failed, "status"), "failed");
        CHECK_TEXT(text_of(json_object_get(failed, "error"), "class"), "auth");
        CHECK_TEXT(text_of(completed, "output"), "From the first.");
        json_decref(trials);
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "compare", "team.yaml", "hi", "--offline", "--types",
                "coordinator,handoff", "--quiet")) {
        CHECK_INT(ran.exit_status, 1);
        CHECK_CONTAINS(ran.out, "coordinator  failed ");
        CHECK_CONTAINS(ran.out, "team.yaml:3:3: agent 'desk'");
        CHECK_CONTAINS(ran.out, "From the first.");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_compare__a_stopped_run_is_the_last(void)
{
    static const program_action stop = {.when = "chain: trace ", .signal = SIGINT};
    lab it;
    program_result ran;

    if (!lab_make(&it, team, slow))
        return;
    if (lab_run(&it,
                LAB_WORDS("compare", "team.yaml", "hi", "--offline", "--types",
                          "handoff,chain,swarm", "--json"),
                &stop, &ran)) {
        CHECK_INT(ran.exit_status, 4);
        json_t *trials = read_json(&ran);
        CHECK_INT(json_array_size(trials), 2);
        CHECK_TEXT(text_of(json_array_get(trials, 0), "output"), "From the first.");
        CHECK_TEXT(text_of(json_array_get(trials, 1), "status"), "aborted");
        CHECK_LACKS(ran.err, "swarm");
        json_decref(trials);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_compare__a_run_over_its_time_is_a_line(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, slow))
        return;
    if (LAB_RUN(&it, &ran, "compare", "team.yaml", "hi", "--offline", "--types",
                "chain,handoff", "--timeout", "100ms")) {
        CHECK_INT(ran.exit_status, 1);
        CHECK_CONTAINS(ran.out, "chain    timeout ");
        CHECK_CONTAINS(ran.out, "handoff  completed ");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_compare__a_parked_one_can_be_answered(void)
{
    static const char asking_team[] =
        "root: desk\n"
        "script: ./script.yaml\n"
        "agents:\n"
        "  desk: {type: handoff, entry: first, members: [first, last]}\n"
        "  first: {model: openai/any}\n"
        "  last: {model: openai/any, tools: [person]}\n"
        "tools: {person: {type: ask}}\n";
    static const char asking[] =
        "strict: false\n"
        "agents:\n"
        "  first: [{text: From the first.}]\n"
        "  last:\n"
        "    - {tool_calls: [{name: person, arguments: {question: Which?}}]}\n"
        "    - {text: From the last.}\n";
    lab it;
    program_result ran;
    char trace[32] = "";

    if (!lab_make(&it, asking_team, asking))
        return;
    if (LAB_RUN(&it, &ran, "compare", "team.yaml", "hi", "--offline", "--types",
                "chain")) {
        CHECK_INT(ran.exit_status, 1);
        CHECK_CONTAINS(ran.out, "\nchain  waiting ");
        CHECK_CONTAINS(ran.err, "Which?");
        CHECK_INT(sscanf(ran.err, "chain: trace %31s", trace), 1);
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 0, "From the last.\n", "completed", "answer", trace, "This");
    lab_remove(&it);
}

static void test_compare__refuses_what_it_cannot_do(void)
{
    lab it;

    if (!lab_make(&it, team, script))
        return;
    LAB_CHECK(&it, 2, "", "say which: '--types", "compare", "team.yaml", "hi");
    LAB_CHECK(&it, 2, "",
              "option '--types': unknown type 'chian'; did you mean 'chain'? (types: ",
              "compare", "team.yaml", "hi", "--types", "handoff,chian");
    LAB_CHECK(&it, 2, "", "'chain' stands there twice", "compare", "team.yaml", "hi",
              "--types", "chain,chain");
    LAB_CHECK(&it, 2, "", "unknown type ''", "compare", "team.yaml", "hi", "--types",
              "chain,");
    LAB_CHECK(&it, 2, "", "nowhere.yaml", "compare", "nowhere.yaml", "hi", "--types",
              "chain");
    LAB_CHECK(&it, 2, "", "no input", "compare", "team.yaml", "--types", "chain");
    lab_remove(&it);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_compare__a_line_for_each_type),
        CHECK_TEST(test_compare__json_has_all_of_it),
        CHECK_TEST(test_compare__what_cannot_be_loaded_or_fails_is_a_line),
        CHECK_TEST(test_compare__a_stopped_run_is_the_last),
        CHECK_TEST(test_compare__a_run_over_its_time_is_a_line),
        CHECK_TEST(test_compare__a_parked_one_can_be_answered),
        CHECK_TEST(test_compare__refuses_what_it_cannot_do),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/compare", tests);
}
