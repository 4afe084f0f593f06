// The guard against loops: the same calls with the same results are told, then blocked,
// then end the frame; what changes, or may repeat itself, is left alone.
#include "cadre/ext/scope.h"

#include "support/check.h"
#include "support/kill_matrix.h"
#include "support/team_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE(times)                                                                    \
    "\n\nNote: the same call had the same result " times " times. Do something else, " \
    "or answer."
#define REFUSAL                                                                        \
    "Not done: this call was made 4 times with the same result. Do something else, "   \
    "or answer."

static team_case t;

// A tool whose nth result is written down; the last one serves all later calls.
typedef struct written {
    const char *const *results;
    int n_results;
    atomic_int n_runs;
} written;

static written look, find;

static cadre_status give_written(void *ctx, cadre_frame *frame, const json_t *arguments,
                                 cadre_error *err)
{
    written *self = ctx;
    (void)arguments;
    int n = atomic_fetch_add(&self->n_runs, 1);
    if (self->n_results == 0)
        return cadre_frame_set_output(frame, "same", err);
    const char *result = self->results[n < self->n_results ? n : self->n_results - 1];
    if (strcmp(result, "error") == 0)
        return cadre_fail(err, CADRE_EIO, "it is broken");
    return cadre_frame_set_output(frame, result, err);
}

static void add_tool(const char *name, written *self, bool may_repeat)
{
    static const char any[] = "{\"type\": \"object\"}";
    memset(self, 0, sizeof *self);
    cadre_team_add_tool(t.team,
                        CADRE_TOOL(.name = name, .run = give_written, .ctx = self,
                                   .parameters = any, .may_repeat = may_repeat));
}

static void open_solo(cadre_llm llm)
{
    team_case_open(&t);
    add_tool("look", &look, false);
    add_tool("find", &find, false);
    llm.struct_size = sizeof llm;
    llm.name = "solo";
    llm.model = DRIVEN_MODEL;
    const cadre_names tools = CADRE_NAMES("look", "find");
    llm.tools = tools;
    cadre_team_add_llm(t.team, &llm);
}

// What the last request of the model ends with: the results it was shown last.
static void check_last_shown(size_t turn, const char *expected)
{
    const char *request = driven_request("solo", turn);
    const char *last = strstr(request, "tool ");
    for (const char *next = last; next != NULL; next = strstr(next + 1, "\ntool "))
        last = next;
    CHECK_CONTAINS(last == NULL ? "" : last, expected);
}

static void check_not_guarded(void)
{
    CHECK_LACKS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT), "Note:");
    CHECK_LACKS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT), "blocked");
}

// --- Rounds in a row ---

static void test_progress__tells_the_third_time_and_blocks_the_fifth(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call look", "call look", "call look", "call look", "call look",
           "say I give up");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "I give up");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "solo: look ok same\nsolo: look ok same\n"
               "solo: look ok same" NOTE("3") "\nsolo: look ok same" NOTE(
                   "4") "\n"
                        "solo: look blocked " REFUSAL "\n");
    CHECK_INT(atomic_load(&look.n_runs), 4);
    check_last_shown(3, "same" NOTE("3") "\n");
    check_last_shown(5, REFUSAL "\n");
    team_case_close(&t);
}

static void test_progress__a_changed_result_starts_again(void)
{
    static const char *const results[] = {"a", "a", "a", "b", "b", "b", "c", "d", "e"};
    open_solo((cadre_llm){0});
    look.results = results;
    look.n_results = 9;
    DRIVEN("solo", "call look", "call look", "call look", "call look", "call look",
           "call look", "call look", "call look", "call look", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "solo: look ok a\nsolo: look ok a\nsolo: look ok a" NOTE(
                   "3") "\n"
                        "solo: look ok b\nsolo: look ok b\nsolo: look ok b" NOTE(
                            "3") "\n"
                                 "solo: look ok c\nsolo: look ok d\nsolo: look ok e\n");
    CHECK_INT(atomic_load(&look.n_runs), 9);
    team_case_close(&t);
}

static void test_progress__results_that_come_and_go_are_no_loop(void)
{
    static const char *const results[] = {"on", "off", "on", "off", "on", "off",
                                          "on", "off", "on", "off", "on", "off"};
    open_solo((cadre_llm){.max_turns = 13});
    look.results = results;
    look.n_results = 12;
    DRIVEN("solo", "call look", "call look", "call look", "call look", "call look",
           "call look", "call look", "call look", "call look", "call look", "call look",
           "call look", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&look.n_runs), 12);
    check_not_guarded();
    team_case_close(&t);
}

static void test_progress__another_call_starts_again(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call look", "call look", "call look {\"at\":1}", "call look",
           "call look", "call find", "call look", "call look", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&look.n_runs), 7);
    check_not_guarded();
    team_case_close(&t);
}

static void test_progress__blanks_in_arguments_do_not_count_but_texts_do(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call look {\"at\":\"a b\"}", "call look { \"at\" : \"a b\" }",
           "call look {\"at\":\"a b\"} ", "call look {\"at\":\"a  b\"}", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "solo: look ok same\nsolo: look ok same\n"
               "solo: look ok same" NOTE("3") "\nsolo: look ok same\n");
    team_case_close(&t);
}

static void test_progress__an_error_is_a_result_too(void)
{
    static const char *const results[] = {"error"};
    open_solo((cadre_llm){0});
    look.results = results;
    look.n_results = 1;
    DRIVEN("solo", "call look", "call look", "call look", "call look", "call look",
           "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&look.n_runs), 4);
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "look tool_error it is broken" NOTE("3") "\n");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "look blocked " REFUSAL "\n");
    team_case_close(&t);
}

// --- Several calls ---

static void test_progress__one_result_that_changes_is_progress_of_the_round(void)
{
    static const char *const results[] = {"1", "2", "3", "4", "5", "6"};
    open_solo((cadre_llm){0});
    find.results = results;
    find.n_results = 6;
    DRIVEN("solo", "call look\ncall find", "call look\ncall find",
           "call look\ncall find", "call look\ncall find", "call look\ncall find",
           "call look\ncall find", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&look.n_runs), 6);
    CHECK_INT(atomic_load(&find.n_runs), 6);
    check_not_guarded();
    team_case_close(&t);
}

static void test_progress__a_round_is_blocked_as_a_whole(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call look\ncall find\ncall none", "call look\ncall find\ncall none",
           "call look\ncall find\ncall none", "call look\ncall find\ncall none",
           "call look\ncall find\ncall none", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&look.n_runs), 4);
    CHECK_INT(atomic_load(&find.n_runs), 4);
    CHECK_CONTAINS(driven_request("solo", 5), "tool call00001: " REFUSAL "\n"
                                              "tool call00002: " REFUSAL "\n"
                                              "tool call00003: " REFUSAL "\n");
    team_case_close(&t);
}

// --- Rounds that take turns ---

static void test_progress__two_rounds_that_take_turns(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call look", "call find", "call look", "call find", "call look",
           "call find", "call look", "call find", "call look", "call find", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "solo: look ok same\nsolo: find ok same\n"
               "solo: look ok same\nsolo: find ok same\n"
               "solo: look ok same" NOTE("3") "\nsolo: find ok same" NOTE(
                   "3") "\n"
                        "solo: look ok same" NOTE("4") "\nsolo: find ok same" NOTE(
                            "4") "\n"
                                 "solo: look blocked " REFUSAL
                                 "\nsolo: find blocked " REFUSAL "\n");
    CHECK_INT(atomic_load(&look.n_runs), 4);
    CHECK_INT(atomic_load(&find.n_runs), 4);
    team_case_close(&t);
}

static void test_progress__three_rounds_that_take_turns(void)
{
    open_solo((cadre_llm){0});
    for (int i = 0; i < 5; i++)
        DRIVEN("solo", "call look", "call find", "call look {\"at\":1}");
    DRIVEN("solo", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&look.n_runs), 8);
    CHECK_INT(atomic_load(&find.n_runs), 4);
    team_case_close(&t);
}

static void test_progress__four_rounds_that_take_turns_are_left_alone(void)
{
    open_solo((cadre_llm){.max_turns = 30});
    for (int i = 0; i < 6; i++)
        DRIVEN("solo", "call look", "call find", "call look {\"at\":1}",
               "call look {\"at\":2}");
    DRIVEN("solo", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    check_not_guarded();
    team_case_close(&t);
}

static void test_progress__turns_with_a_changed_result_start_again(void)
{
    static const char *const results[] = {"1", "2", "3", "4", "5", "6"};
    open_solo((cadre_llm){0});
    find.results = results;
    find.n_results = 6;
    for (int i = 0; i < 6; i++)
        DRIVEN("solo", "call look", "call find");
    DRIVEN("solo", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&look.n_runs), 6);
    CHECK_INT(atomic_load(&find.n_runs), 6);
    check_not_guarded();
    team_case_close(&t);
}

// --- The end ---

static void test_progress__ends_the_frame_after_max_bad_calls_blocks(void)
{
    open_solo((cadre_llm){.max_bad_calls = 3});
    DRIVEN("solo", "always\ncall look");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LOOP);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LOOP);
    CHECK_TEXT(t.err.text,
               "agent 'solo': it makes the same tool calls again and again; "
               "they were blocked 3 times (max_bad_calls)");
    CHECK_INT(driven_count("solo"), 7);
    CHECK_INT(atomic_load(&look.n_runs), 4);
    team_case_close(&t);
}

static void test_progress__a_loop_is_no_answer_whatever_it_said(void)
{
    open_solo((cadre_llm){.max_bad_calls = 1});
    DRIVEN("solo", "always\nsay so far\ncall look");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.err.error_class, CADRE_CLASS_LOOP);
    CHECK_INT(t.result->status, CADRE_FRAME_FAILED);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LOOP);
    CHECK_INT(driven_count("solo"), 5);
    team_case_close(&t);
}

static void test_progress__a_way_out_after_a_block_is_taken(void)
{
    open_solo((cadre_llm){.max_bad_calls = 3});
    DRIVEN("solo", "call look", "call look", "call look", "call look", "call look",
           "call look", "call find", "call look", "call look", "call look", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "done");
    CHECK_INT(atomic_load(&look.n_runs), 7);
    check_last_shown(10, NOTE("3") "\n");
    team_case_close(&t);
}

static void test_progress__blocked_calls_count_as_tool_calls_of_the_run(void)
{
    open_solo((cadre_llm){.max_bad_calls = CADRE_UNLIMITED});
    DRIVEN("solo", "always\ncall look");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_tool_calls = 6}));
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "max_tool_calls of 6");
    CHECK_INT(t.result->usage.tool_calls, 7);
    CHECK_INT(atomic_load(&look.n_runs), 4);
    team_case_close(&t);
}

// --- What is not counted ---

static void test_progress__a_tool_that_may_repeat_is_left_alone(void)
{
    written poll;
    team_case_open(&t);
    add_tool("poll", &poll, true);
    add_tool("look", &look, false);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("poll", "look")));
    DRIVEN("solo", "call poll", "call poll", "call poll", "call poll", "call poll",
           "call poll", "call look\ncall poll", "call look\ncall poll",
           "call look\ncall poll", "call look\ncall poll", "call look\ncall poll",
           "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&poll.n_runs), 11);
    CHECK_INT(atomic_load(&look.n_runs), 5);
    check_not_guarded();
    team_case_close(&t);
}

static void test_progress__wrong_calls_are_those_of_max_bad_calls(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "always\ncall nothing");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_CONTAINS(t.err.text, "5 bad tool calls in a row");
    check_not_guarded();
    team_case_close(&t);
}

// A topology of one scope that refuses all handovers.
static void refuse(void *ctx, const cadre_transfers *before,
                   const cadre_transfer_record *next, cadre_decision *decision)
{
    (void)ctx;
    (void)before;
    (void)next;
    decision->verdict = CADRE_VERDICT_REFUSE;
    (void)snprintf(decision->reason, sizeof decision->reason, "not today");
}

static cadre_status host(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    const cadre_scope scope =
        CADRE_SCOPE(.roster = members, .controller = refuse,
                    .limits = {CADRE_UNLIMITED, CADRE_UNLIMITED, CADRE_UNLIMITED,
                               CADRE_UNLIMITED, 0});
    (void)ctx;
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = members.items[0], .scope = &scope), NULL, err);
}

static void test_progress__handovers_are_left_to_their_own_limits(void)
{
    team_case_open(&t);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "host", .run = host,
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    cadre_team_set_root(t.team, "host");
    DRIVEN("alice", "call bob", "call bob", "call bob", "call bob", "call bob",
           "call bob", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TRANSFER), 6);
    CHECK_LACKS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT), "Note:");
    CHECK_LACKS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT), "Not done");
    team_case_close(&t);
}

// --- After a cut ---

static cadre_status safe_look(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "same", err);
}

static const char script[] =
    "strict: true\n"
    "agents:\n"
    "  solo:\n"
    "    - {tool_calls: [{name: look}, {name: look, arguments: {at: 1}}], times: 6}\n"
    "    - {tool_calls: [{name: look}]}\n"
    "    - {text: \"I give up.\"}\n";

static cadre_team *make_looper(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "looper");
    cadre_team_set_script(team, path);
    cadre_team_add_llm(team, CADRE_LLM(.name = "solo", .model = "openai/m",
                                       .tools = CADRE_NAMES("look")));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "look", .run = safe_look,
                                         .replay_safe = true,
                                         .parameters = "{\"type\": \"object\"}"));
    return team;
}

static void check_looper(const char *type)
{
    kill_matrix_check(make_looper, type);
}

static void test_progress__notes_and_blocks_are_the_same_after_a_cut(void)
{
    lives_each_store(check_looper);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_progress__tells_the_third_time_and_blocks_the_fifth),
    CHECK_TEST(test_progress__a_changed_result_starts_again),
    CHECK_TEST(test_progress__results_that_come_and_go_are_no_loop),
    CHECK_TEST(test_progress__another_call_starts_again),
    CHECK_TEST(test_progress__blanks_in_arguments_do_not_count_but_texts_do),
    CHECK_TEST(test_progress__an_error_is_a_result_too),
    CHECK_TEST(test_progress__one_result_that_changes_is_progress_of_the_round),
    CHECK_TEST(test_progress__a_round_is_blocked_as_a_whole),
    CHECK_TEST(test_progress__two_rounds_that_take_turns),
    CHECK_TEST(test_progress__three_rounds_that_take_turns),
    CHECK_TEST(test_progress__four_rounds_that_take_turns_are_left_alone),
    CHECK_TEST(test_progress__turns_with_a_changed_result_start_again),
    CHECK_TEST(test_progress__ends_the_frame_after_max_bad_calls_blocks),
    CHECK_TEST(test_progress__a_loop_is_no_answer_whatever_it_said),
    CHECK_TEST(test_progress__a_way_out_after_a_block_is_taken),
    CHECK_TEST(test_progress__blocked_calls_count_as_tool_calls_of_the_run),
    CHECK_TEST(test_progress__a_tool_that_may_repeat_is_left_alone),
    CHECK_TEST(test_progress__wrong_calls_are_those_of_max_bad_calls),
    CHECK_TEST(test_progress__handovers_are_left_to_their_own_limits),
    CHECK_TEST(test_progress__notes_and_blocks_are_the_same_after_a_cut),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/progress", tests);
}
