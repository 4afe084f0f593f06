// Structured answers: what is taken, what is asked for once more, what fails; in each
// topology, and in a run that was cut.
#include "support/check.h"
#include "support/folder.h"
#include "support/kill_matrix.h"
#include "support/state_case.h"
#include "support/team_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static team_case t;
static adder adds;

#define SCHEMA                                                                         \
    "{\"type\":\"object\",\"required\":[\"n\"],"                                       \
    "\"properties\":{\"n\":{\"type\":\"integer\"}}}"

#define CORRECTION(problem)                                                            \
    "user: Your answer does not fit what is expected of it: " problem                  \
    "\n\nAnswer again, with the whole corrected JSON and no other text.\n"

static void add_agent(cadre_llm llm)
{
    llm.struct_size = sizeof llm;
    llm.model = DRIVEN_MODEL;
    cadre_team_add_llm(t.team, &llm);
}

static void open_case(void)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
}

// A root "solo" with the adder, whose answer must fit the schema.
static void open_solo(cadre_llm llm)
{
    const cadre_names tools = CADRE_NAMES("add");
    open_case();
    llm.name = "solo";
    llm.tools = tools;
    llm.output_schema = SCHEMA;
    add_agent(llm);
    cadre_team_set_root(t.team, "solo");
}

static void check_failed(const char *agent, const char *text)
{
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    if (!CHECK(t.result != NULL))
        return;
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_BAD_RESPONSE);
    CHECK_TEXT(t.result->error.agent, agent);
    CHECK_TEXT(t.result->error.message, text);
    CHECK(!t.result->error.retryable);
}

// --- One agent ---

static void test_output__schema_goes_to_the_model_by_the_request(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call add {\"a\":1,\"b\":2}", "say {\"n\": 3}");
    team_case_run(&t, "1 and 2?");
    team_case_check_answer(&t, "solo", "{\"n\": 3}");
    CHECK_INT(driven_count("solo"), 2);
    CHECK_TEXT(driven_schema("solo", 0), "solo " SCHEMA);
    CHECK_TEXT(driven_schema("solo", 1), "solo " SCHEMA);
    team_case_close(&t);
}

static void test_output__is_the_json_without_what_is_around_it(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "say Here it is: \nsay {\"n\": 3} \nsay and that is all.");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "solo", "{\"n\": 3}");
    CHECK_INT(t.result->usage.model_calls, 1);
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_MESSAGE_END),
                   "solo: assistant Here it is: {\"n\": 3} and that is all.\n");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END), "{\"n\": 3}");
    team_case_close(&t);
}

static void test_output__that_does_not_fit_is_corrected_once(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "say {\"n\": \"three\", \"m\": 1}", "say {\"n\": 3}");
    team_case_run(&t, "1 and 2?");
    team_case_check_answer(&t, "solo", "{\"n\": 3}");
    CHECK_INT(t.result->usage.model_calls, 2);
    CHECK_TEXT(driven_request("solo", 1),
               "user: 1 and 2?\n"
               "assistant: {\"n\": \"three\", \"m\": 1}\n" CORRECTION(
                   "n: expected an integer, got \"three\""));
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_MESSAGE_END),
               "solo: user 1 and 2?\n"
               "solo: assistant {\"n\": \"three\", \"m\": 1}\n"
               "solo: user Your answer does not fit what is expected of it: n: "
               "expected an integer, got \"three\"\n\nAnswer again, with the whole "
               "corrected JSON and no other text.\n"
               "solo: assistant {\"n\": 3}\n");
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, "agent solo root completed final\n"
                       "  model driven/test 1 completed final\n"
                       "  model driven/test 2 completed final\n");
    free(frames);
    team_case_close(&t);
}

static void test_output__that_is_no_json_is_corrected_once(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "say three", "call add {\"a\":1,\"b\":2}", "say {\"n\": 3}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "solo", "{\"n\": 3}");
    CHECK_CONTAINS(driven_request("solo", 1),
                   CORRECTION("it holds no JSON object or array"));
    CHECK_INT(t.result->usage.tool_calls, 1);
    team_case_close(&t);
}

static void test_output__fails_when_the_second_does_not_fit_either(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "say three", "say {\"n\": 3.5}", "say {\"n\": 3}");
    team_case_run(&t, "hi");
    check_failed("solo", "agent 'solo': its answer does not fit output_schema, nor did "
                         "the one before: n: expected an integer, got 3.5");
    CHECK_INT(driven_count("solo"), 2);
    team_case_close(&t);
}

static void test_output__correction_is_a_turn(void)
{
    open_solo((cadre_llm){.max_turns = 1});
    DRIVEN("solo", "say {}", "say {\"n\": 3}");
    team_case_run(&t, "hi");
    check_failed("solo", "agent 'solo': its answer does not fit output_schema, and no "
                         "turn is left to correct it (max_turns): missing property "
                         "'n'");
    CHECK_INT(driven_count("solo"), 1);
    team_case_close(&t);
}

static void test_output__correction_is_a_call_of_the_run(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "say {}", "say {\"n\": 3}");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_model_calls = 1}));
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LIMIT);
    CHECK_INT(driven_count("solo"), 1);
    team_case_close(&t);
}

// Half a JSON is none, and to ask again would only be cut again.
static void test_output__that_was_cut_fails(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "say {\"n\": 3\ncut", "say {\"n\": 3}");
    team_case_run(&t, "hi");
    check_failed("solo", "agent 'solo': the model's token limit cut the answer "
                         "(max_tokens), so it does not fit output_schema");
    CHECK_INT(driven_count("solo"), 1);
    team_case_close(&t);
}

static void test_output__is_kept_as_json_under_its_key(void)
{
    open_solo((cadre_llm){.output_key = "found"});
    DRIVEN("solo", "say So: {\"n\":3}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "solo", "{\"n\":3}");
    state_check_delta(&t, "root", "{\"found\":{\"n\":3}}");
    team_case_close(&t);
}

// Who was corrected sees it in the next turn of a session, others do not.
static void test_output__draft_and_correction_stay_the_agents_own(void)
{
    const cadre_names both = CADRE_NAMES("one", "two");
    open_case();
    cadre_team_add_topology(t.team, "chain",
                            CADRE_TOPOLOGY(.name = "line", .members = both));
    add_agent((cadre_llm){.name = "one", .output_schema = SCHEMA});
    add_agent((cadre_llm){.name = "two"});
    DRIVEN("one", "say {}", "say {\"n\": 3}", "say {\"n\": 4}");
    DRIVEN("two", "say fine", "say fine too");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .session = "s"));
    team_case_check_answer(&t, "two", "fine");
    CHECK_TEXT(driven_request("two", 0), "user: hi\nuser: [one]: {\"n\": 3}\n");
    CHECK_TEXT(driven_schema("two", 0), "");
    team_case_run_with(&t, CADRE_RUN(.input = "again", .session = "s"));
    team_case_check_answer(&t, "two", "fine too");
    CHECK_TEXT(
        driven_request("one", 2),
        "user: hi\n"
        "assistant: {}\n" CORRECTION("missing property 'n'") "assistant: {\"n\": 3}\n"
                                                             "user: [two]: fine\n"
                                                             "user: again\n");
    team_case_close(&t);
}

// However little an agent is shown, it goes on seeing it beside the correction.
static void check_history(cadre_history history, const char *before)
{
    const cadre_names both = CADRE_NAMES("one", "two");
    char expected[600];
    open_case();
    cadre_team_add_topology(t.team, "chain",
                            CADRE_TOPOLOGY(.name = "line", .members = both));
    add_agent((cadre_llm){.name = "one"});
    add_agent((cadre_llm){.name = "two", .output_schema = SCHEMA, .history = history});
    DRIVEN("one", "say well", "say so");
    DRIVEN("two", "say {\"n\": 1}", "say {}", "say {\"n\": 2}");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "again", .session = "s"));
    team_case_check_answer(&t, "two", "{\"n\": 2}");
    CHECK_TEXT(driven_request("two", 1), before);
    snprintf(expected, sizeof expected, "%sassistant: {}\n%s", before,
             CORRECTION("missing property 'n'"));
    CHECK_TEXT(driven_request("two", 2), expected);
    team_case_close(&t);
}

static void test_output__correction_stands_behind_what_was_shown(void)
{
    check_history(CADRE_HISTORY_NONE, "user: again\n");
    check_history(CADRE_HISTORY_LAST, "user: again\nuser: [one]: so\n");
    check_history(CADRE_HISTORY_OWN, "user: hi\nassistant: {\"n\": 1}\nuser: again\n");
}

// --- Functions and hooks ---

static cadre_status answer(void *ctx, cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_set_output(frame, ctx, err);
}

static void check_function(const char *says, const char *expected, const char *failure)
{
    char *text = strdup(says);
    team_case_open(&t);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "f", .run = answer, .ctx = text,
                                           .output_schema = SCHEMA));
    team_case_run(&t, "hi");
    if (failure == NULL)
        team_case_check_answer(&t, "f", expected);
    else
        check_failed("f", failure);
    team_case_close(&t);
    free(text);
}

static void test_output__of_a_function_is_checked(void)
{
    check_function("```\n{\"n\": 1}\n```", "{\"n\": 1}", NULL);
    check_function("{\"n\": null}", NULL,
                   "agent 'f': its answer does not fit output_schema: n: expected an "
                   "integer, got null");
}

static cadre_status answer_at_once(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_status status = cadre_frame_set_output(frame, ctx, err);
    return status == CADRE_OK ? CADRE_DONE : status;
}

static void test_output__that_a_hook_gives_is_checked(void)
{
    static char text[] = "not today";
    static const cadre_hooks hooks = {
        .struct_size = sizeof hooks, .create = answer_at_once, .ctx = text};
    open_solo((cadre_llm){.hooks = &hooks});
    team_case_run(&t, "hi");
    check_failed("solo", "agent 'solo': its answer does not fit output_schema: it "
                         "holds no JSON object or array");
    CHECK_INT(driven_count("solo"), 0);
    team_case_close(&t);
}

// --- Teams ---

static void open_team(const char *type, const char *options)
{
    const cadre_names both = CADRE_NAMES("one", "two");
    open_case();
    cadre_team_add_topology(t.team, type,
                            CADRE_TOPOLOGY(.name = "team", .members = both,
                                           .options = options,
                                           .output_schema = SCHEMA));
    add_agent((cadre_llm){.name = "one"});
    add_agent((cadre_llm){.name = "two"});
}

static void test_output__of_a_chain_is_that_of_its_last_member(void)
{
    open_team("chain", NULL);
    DRIVEN("one", "say hm");
    DRIVEN("two", "say ha", "say {\"n\": 2}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "two", "{\"n\": 2}");
    CHECK_TEXT(driven_schema("one", 0), "");
    CHECK_TEXT(driven_schema("two", 0), "two " SCHEMA);
    team_case_close(&t);
}

static void test_output__of_a_handoff_is_that_of_who_answers(void)
{
    open_team("swarm", NULL);
    DRIVEN("one", "to two please");
    DRIVEN("two", "say ha", "to one no", "say never");
    DRIVEN("one", "say ho", "say {\"n\": 1}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "one", "{\"n\": 1}");
    CHECK_TEXT(driven_schema("two", 0), "two " SCHEMA);
    CHECK_CONTAINS(driven_request("two", 1),
                   CORRECTION("it holds no JSON object or array"));
    CHECK_CONTAINS(driven_request("one", 2),
                   CORRECTION("it holds no JSON object or array"));
    team_case_close(&t);
}

// The lead is held to it; a member that cannot is a result like any failure.
static void test_output__of_a_coordinator_is_that_of_its_lead(void)
{
    const cadre_names both = CADRE_NAMES("lead", "helper");
    open_case();
    cadre_team_add_topology(
        t.team, "coordinator",
        CADRE_TOPOLOGY(.name = "team", .members = both, .output_schema = SCHEMA));
    add_agent((cadre_llm){.name = "lead"});
    add_agent((cadre_llm){.name = "helper",
                          .output_schema = "{\"type\":\"array\",\"items\":{\"type\":"
                                           "\"string\"}}"});
    DRIVEN("lead", "call helper {\"request\":\"x\"}", "call helper {\"request\":\"y\"}",
           "say ```json\nsay done", "say {\"n\": 2}");
    DRIVEN("helper", "say [1]", "say ```\n", "say [2]", "say [\"b\"]");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "lead", "{\"n\": 2}");
    CHECK_CONTAINS(driven_request("lead", 1),
                   "agent 'helper': its answer does not fit output_schema, nor did the "
                   "one before: it holds no JSON object or array");
    CHECK_CONTAINS(driven_request("lead", 2), "[\"b\"]\n");
    CHECK_TEXT(driven_request("helper", 3),
               "user: y\nassistant: [2]\n" CORRECTION("[0]: expected a string, got 2"));
    team_case_close(&t);
}

#define GRAPH                                                                          \
    "{\"nodes\":{\"a\":\"one\",\"b\":\"two\"},\"edges\":[{\"from\":\"a\",\"to\":"      \
    "\"b\"}]}"

// Where the answer is not that of one member, it is checked, and nobody is told.
static void test_output__of_other_teams_is_checked(void)
{
    static const struct one {
        const char *type, *options, *says, *expected;
    } cases[] = {
        {"cycle", "{\"max_iterations\": 1}", "say {\"n\": 2}", "{\"n\": 2}"},
        {"cycle", "{\"max_iterations\": 1}", "say two", NULL},
        {"parallel", "{\"output\": \"{{outputs.two}}\"}", "say {\"n\": 2}",
         "{\"n\": 2}"},
        {"parallel", NULL, "say two", NULL},
        {"graph", GRAPH, "say so: {\"n\": 2}", "{\"n\": 2}"},
        {"graph", GRAPH, "say two", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct one *it = &cases[i];
        open_team(it->type, it->options);
        driven_add("one", &it->says, 1);
        driven_add("two", &it->says, 1);
        team_case_run(&t, "hi");
        if (it->expected != NULL) {
            CHECK_OK(t.status, &t.err);
            CHECK_TEXT(t.result->text, it->expected);
        } else {
            check_failed("team", "agent 'team': its answer does not fit output_schema: "
                                 "it holds no JSON object or array");
        }
        CHECK_TEXT(driven_schema("two", 0), "");
        team_case_close(&t);
    }
}

// One that cannot has failed, and does not win.
static void test_output__of_a_parallel_that_waits_for_one_is_that_of_the_winner(void)
{
    open_team("parallel", "{\"wait\": \"any\"}");
    DRIVEN("one", "say hm", "gate\nsay ho");
    DRIVEN("two", "say {}", "gate\nsay {\"n\": 2}");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(2)); // else one may win before the other begins
    driven_release();
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "{\"n\": 2}");
    CHECK_TEXT(driven_schema("one", 0), "one " SCHEMA);
    CHECK_INT(driven_count("two"), 2);
    team_case_close(&t);
}

// Who answers in the place of an agent is held to what that one was held to.
static void test_output__of_a_fallback_must_fit_too(void)
{
    open_solo((cadre_llm){.max_turns = 1, .loop_fallback = "expert"});
    add_agent((cadre_llm){.name = "expert"});
    DRIVEN("solo", "call add {\"a\":1,\"b\":2}");
    DRIVEN("expert", "say three", "say {\"n\": 3}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "expert", "{\"n\": 3}");
    CHECK_TEXT(driven_schema("expert", 0), "expert " SCHEMA);
    team_case_close(&t);
}

// An agent that hands over gives no answer, so its own schema binds nobody else; the
// team's binds who speaks last, also one that is handed back to.
static void test_output__of_who_handed_over_binds_nobody_else(void)
{
    const cadre_names to_bob = CADRE_NAMES("bob"), both = CADRE_NAMES("alice", "bob");
    open_case();
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk", .members = both,
                                           .options = "{\"return_to_source\": true}",
                                           .output_schema = "{\"maximum\": 9}"));
    add_agent((cadre_llm){
        .name = "alice", .handoffs = to_bob, .output_schema = "{\"minimum\": 5}"});
    add_agent((cadre_llm){.name = "bob"});
    DRIVEN("alice", "to bob please", "say 4", "say 6");
    DRIVEN("bob", "say 10", "say 1");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "6");
    CHECK_TEXT(driven_schema("bob", 0), "bob {\"maximum\":9}");
    CHECK_TEXT(driven_schema("alice", 1), "alice {\"minimum\":5}");
    CHECK_INT(driven_count("bob"), 2);
    team_case_close(&t);
}

// A member with a schema of its own has that; the team's is checked on top.
static void test_output__of_a_member_has_its_own_schema(void)
{
    const cadre_names only = CADRE_NAMES("one");
    open_case();
    cadre_team_add_topology(t.team, "chain",
                            CADRE_TOPOLOGY(.name = "team", .members = only,
                                           .output_schema = "{\"maximum\": 5}"));
    add_agent((cadre_llm){.name = "one", .output_schema = "{\"minimum\": 3}"});
    DRIVEN("one", "say 2", "say 7");
    team_case_run(&t, "hi");
    CHECK_TEXT(driven_schema("one", 0), "one {\"minimum\":3}");
    check_failed("team", "agent 'team': its answer does not fit output_schema: "
                         "expected a number of at most 5, got 7");
    team_case_close(&t);
}

static void test_output__that_does_not_fit_is_a_failure_to_try_again(void)
{
    const cadre_names only = CADRE_NAMES("one");
    open_case();
    cadre_team_add_topology(t.team, "chain",
                            CADRE_TOPOLOGY(.name = "team", .members = only));
    add_agent((cadre_llm){.name = "one",
                          .output_schema = SCHEMA,
                          .retry = {.attempts = 2, .backoff_ms = 0}});
    DRIVEN("one", "say a", "say b", "say {\"n\": 2}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "one", "{\"n\": 2}");
    CHECK_TEXT(driven_request("one", 2), "user: hi\n");
    team_case_close(&t);
}

// --- Mistakes ---

static void check_refused(const char *schema, const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    open_case();
    add_agent((cadre_llm){.name = "solo", .output_schema = schema});
    CHECK_STATUS(cadre_team_seal(t.team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(t.team, &n);
    CHECK_INT(n, 1);
    CHECK_TEXT(n > 0 ? problems[0] : "", expected);
    team_case_close(&t);
}

static void test_output__schemas_with_mistakes_are_refused(void)
{
    check_refused(
        "{\"properties\":{\"a\":{\"typ\":\"string\"}}}",
        "agent 'solo': output_schema.properties.a: unknown schema word 'typ'; "
        "did you mean 'type'?");
    check_refused("{\"$dynamicRef\":\"#x\"}", "agent 'solo': output_schema: the schema "
                                              "word '$dynamicRef' is not supported");
}

// --- Cut ---

// A helper is corrected in vain, which its lead reads; then the lead is corrected.
static cadre_team *make_desk(cadre_runtime *runtime, const test_folder *folder)
{
    char script[FOLDER_PATH_SIZE];
    const char *text = "strict: true\n"
                       "agents:\n"
                       "  lead:\n"
                       "    - {tool_calls: [{name: helper, arguments: {request: x}}]}\n"
                       "    - {text: 'Well: two.'}\n"
                       "    - {text: 'So: {\"n\": 2}'}\n"
                       "  helper: [{text: '{}'}, {text: b}]\n";
    if (!folder_write(folder, "script.yaml", text, script))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "desk");
    cadre_team_set_script(team, script);
    cadre_team_add_topology(team, "coordinator",
                            CADRE_TOPOLOGY(.name = "desk", .output_schema = SCHEMA,
                                           .output_key = "found",
                                           .members = CADRE_NAMES("lead", "helper")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "lead", .model = "openai/m"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "helper", .model = "openai/m",
                                       .output_schema = SCHEMA));
    return team;
}

static void check_cuts(const char *type)
{
    kill_matrix_check(make_desk, type);
}

static void test_output__is_not_corrected_again_after_a_cut(void)
{
    lives_each_store(check_cuts);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_output__schema_goes_to_the_model_by_the_request),
        CHECK_TEST(test_output__is_the_json_without_what_is_around_it),
        CHECK_TEST(test_output__that_does_not_fit_is_corrected_once),
        CHECK_TEST(test_output__that_is_no_json_is_corrected_once),
        CHECK_TEST(test_output__fails_when_the_second_does_not_fit_either),
        CHECK_TEST(test_output__correction_is_a_turn),
        CHECK_TEST(test_output__correction_is_a_call_of_the_run),
        CHECK_TEST(test_output__that_was_cut_fails),
        CHECK_TEST(test_output__is_kept_as_json_under_its_key),
        CHECK_TEST(test_output__draft_and_correction_stay_the_agents_own),
        CHECK_TEST(test_output__correction_stands_behind_what_was_shown),
        CHECK_TEST(test_output__of_a_function_is_checked),
        CHECK_TEST(test_output__that_a_hook_gives_is_checked),
        CHECK_TEST(test_output__of_a_chain_is_that_of_its_last_member),
        CHECK_TEST(test_output__of_a_handoff_is_that_of_who_answers),
        CHECK_TEST(test_output__of_a_coordinator_is_that_of_its_lead),
        CHECK_TEST(test_output__of_other_teams_is_checked),
        CHECK_TEST(test_output__of_a_parallel_that_waits_for_one_is_that_of_the_winner),
        CHECK_TEST(test_output__of_a_fallback_must_fit_too),
        CHECK_TEST(test_output__of_who_handed_over_binds_nobody_else),
        CHECK_TEST(test_output__of_a_member_has_its_own_schema),
        CHECK_TEST(test_output__that_does_not_fit_is_a_failure_to_try_again),
        CHECK_TEST(test_output__schemas_with_mistakes_are_refused),
        CHECK_TEST(test_output__is_not_corrected_again_after_a_cut),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/output", tests);
}
