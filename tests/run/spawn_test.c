// Copies of the caller: in the foreground as a call, in the background as runs of their
// own that report once.
#include "support/check.h"
#include "support/team_case.h"

#include "cadre/record.h"
#include "cadre/trace.h"

#include <stdlib.h>
#include <string.h>

static team_case t;

static void open_lead(void)
{
    team_case_open(&t);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "helper", .type = "subagent"));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "tasks", .type = "background"));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "lead", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("helper", "tasks")));
}

static void check_frames(const char *expected)
{
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, expected);
    free(frames);
}

// --- In the foreground ---

static void test_subagent__answers_in_a_conversation_that_the_call_owns(void)
{
    open_lead();
    DRIVEN("lead", "call helper {\"task\":\"three primes\"}", "say 2, 3 and 5",
           "say They are 2, 3 and 5");
    team_case_run(&t, "which?");
    team_case_check_answer(&t, "lead", "They are 2, 3 and 5");
    check_frames("agent lead root completed final\n"
                 "  model driven/test 1 completed final\n"
                 "  tool helper 1/0 completed final\n"
                 "    agent lead lead#1 completed final\n"
                 "      model driven/test 1 completed final\n"
                 "  model driven/test 2 completed final\n");
    CHECK_TEXT(driven_tools("lead", 0), "helper, tasks");
    CHECK_TEXT(driven_tools("lead", 1), ""); // a copy without these tools
    CHECK_TEXT(driven_request("lead", 1), "user: three primes\n");
    CHECK_CONTAINS(driven_request("lead", 2), ": 2, 3 and 5\n");
    team_case_close(&t);
}

static void test_subagent__that_fails_is_a_result(void)
{
    open_lead();
    DRIVEN("lead", "call helper {\"task\":\"three primes\"}", "fail auth no key",
           "say It could not");
    team_case_run(&t, "which?");
    team_case_check_answer(&t, "lead", "It could not");
    CHECK_CONTAINS(driven_request("lead", 2), "no key");
    team_case_close(&t);
}

static void test_subagent__calls_no_further_one(void)
{
    open_lead();
    DRIVEN("lead", "call helper {\"task\":\"again\"}",
           "call helper {\"task\":\"again\"}", "say stop", "say done");
    team_case_run(&t, "go");
    team_case_check_answer(&t, "lead", "done");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "lead: helper unknown_tool");
    team_case_close(&t);
}

// --- In the background ---

// The id of the nth run of the store, newest first.
typedef struct nth_run {
    size_t wanted;
    char id[64], spawned_by[64];
    cadre_frame_status status;
} nth_run;

static cadre_status take_run(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    nth_run *run = ctx;
    (void)err;
    if (run->wanted-- == 0) {
        snprintf(run->id, sizeof run->id, "%s", info->trace_id);
        snprintf(run->spawned_by, sizeof run->spawned_by, "%s", info->spawned_by);
        run->status = info->status;
    }
    return CADRE_OK;
}

static nth_run run_at(size_t wanted)
{
    nth_run run = {.wanted = wanted};
    CHECK_OK(cadre_record_list(t.runtime, 0, take_run, &run, NULL), NULL);
    CHECK(run.id[0] != '\0');
    return run;
}

static void test_background__reports_to_the_next_turn_of_the_session(void)
{
    open_lead();
    DRIVEN("lead", "call tasks {\"action\":\"spawn\",\"text\":\"three primes\"}",
           "always\nsay ok");
    team_case_run_with(&t, CADRE_RUN(.input = "which?", .session = "s"));
    team_case_check_answer(&t, "lead", "ok");
    CHECK_OK(cadre_runtime_wait(t.runtime, 20000, NULL), NULL);
    nth_run child = run_at(0);
    CHECK_INT(child.status, CADRE_FRAME_COMPLETED);
    size_t before = driven_count("lead");
    team_case_run_with(&t, CADRE_RUN(.input = "and?", .session = "s"));
    const char *request = driven_request("lead", before);
    CHECK_CONTAINS(request, "user: Report of background run ");
    CHECK_CONTAINS(request, child.id);
    CHECK_CONTAINS(request, " (lead):\nok\n");
    // Once: it is not said again.
    team_case_run_with(&t, CADRE_RUN(.input = "more?", .session = "s"));
    request = driven_request("lead", before + 1);
    const char *first = strstr(request, "Report of background run");
    CHECK(first != NULL && strstr(first + 1, "Report of background run") == NULL);
    team_case_close(&t);
}

static void test_background__reports_to_a_run_that_still_works(void)
{
    open_lead();
    // The second request of the lead is held until the copy has reported.
    DRIVEN("lead", "call tasks {\"action\":\"spawn\",\"text\":\"three primes\"}",
           "gate\nsay first", "gate\nsay second", "say heard it");
    if (team_case_start(&t, CADRE_RUN(.input = "which?")) != NULL) {
        CHECK(driven_await_held(2));
        driven_release();
        CHECK_OK(cadre_runtime_wait(t.runtime, 20000, NULL), NULL);
        team_case_finish(&t);
        CHECK_OK(t.status, &t.err);
    }
    team_case_close(&t);
}

static void test_background__is_stopped_by_who_frees_the_team(void)
{
    open_lead();
    DRIVEN("lead", "call tasks {\"action\":\"spawn\",\"text\":\"for ever\"}",
           "always\nhold");
    if (team_case_start(&t, CADRE_RUN(.input = "go")) != NULL) {
        CHECK(driven_await_held(2));
        cadre_run_cancel(t.run, "enough");
        team_case_finish(&t);
        CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
        CHECK_STATUS(cadre_runtime_wait(t.runtime, 1, NULL), CADRE_ETIMEOUT, NULL);
    }
    team_case_close(&t); // stops the other one, or hangs
}

static void test_background__is_stopped_with_its_parent_when_asked(void)
{
    open_lead();
    DRIVEN("lead", "call tasks {\"action\":\"spawn\",\"text\":\"for ever\"}",
           "always\nhold");
    if (team_case_start(&t, CADRE_RUN(.input = "go")) != NULL) {
        CHECK(driven_await_held(2));
        CHECK_OK(cadre_trace_abort(t.runtime, cadre_run_trace_id(t.run),
                                   CADRE_ABORT(.background = true), NULL),
                 NULL);
        team_case_finish(&t);
        CHECK_OK(
            cadre_trace_wait(t.runtime, cadre_run_trace_id(t.run), true, 20000, NULL),
            NULL);
        nth_run child = run_at(0);
        CHECK_INT(child.status, CADRE_FRAME_ABORTED);
    }
    team_case_close(&t);
}

static nth_run spawned_at(const char *trace, size_t wanted)
{
    nth_run run = {.wanted = wanted};
    CHECK_OK(cadre_record_list_spawned(t.runtime, trace, take_run, &run, NULL), NULL);
    return run;
}

static void test_background__is_listed_with_the_tool_call_that_spawned_it(void)
{
    open_lead();
    DRIVEN("lead", "call tasks {\"action\":\"spawn\",\"text\":\"three primes\"}",
           "always\nsay ok");
    team_case_run(&t, "which?");
    CHECK_OK(cadre_runtime_wait(t.runtime, 20000, NULL), NULL);
    nth_run child = run_at(0), parent = run_at(1);
    CHECK_TEXT(parent.spawned_by, "");
    CHECK_TEXT(spawned_at(parent.id, 0).id, child.id);
    CHECK_TEXT(spawned_at(parent.id, 1).id, "");
    CHECK_TEXT(spawned_at(child.id, 0).id, "");
    cadre_record *record = NULL;
    if (CHECK_OK(cadre_record_open(t.runtime, parent.id, &record, NULL), NULL)) {
        size_t n = 0;
        const cadre_frame_info *frames = cadre_record_frames(record, &n);
        bool is_found = false;
        for (size_t i = 0; i < n; i++)
            if (strcmp(frames[i].id, child.spawned_by) == 0)
                is_found = strcmp(frames[i].name, "tasks") == 0;
        CHECK(is_found);
    }
    cadre_record_close(record);
    if (CHECK_OK(cadre_record_open(t.runtime, child.id, &record, NULL), NULL))
        CHECK_TEXT(cadre_record_get_info(record)->spawned_by, child.spawned_by);
    cadre_record_close(record);
    CHECK_STATUS(cadre_record_list_spawned(t.runtime, "!", take_run, NULL, NULL),
                 CADRE_EINVAL, NULL);
    CHECK_STATUS(cadre_record_list_spawned(t.runtime, child.id, NULL, NULL, NULL),
                 CADRE_EINVAL, NULL);
    team_case_close(&t);
}

// One that waits for a person is ended by who stops it, and reports all the same.
static void test_background__reports_that_it_was_stopped_while_it_waited(void)
{
    open_lead();
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "person", .type = "ask"));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "asker", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("tasks", "person")));
    cadre_team_set_root(t.team, "asker");
    DRIVEN("asker", "call tasks {\"action\":\"spawn\",\"text\":\"ask them\"}",
           "call person {\"question\":\"which?\"}", "always\nsay ok");
    team_case_run_with(&t, CADRE_RUN(.input = "go", .session = "s"));
    CHECK_OK(cadre_runtime_wait(t.runtime, 20000, NULL), NULL);
    nth_run child = run_at(0);
    nth_run parent = run_at(1);
    nth_run waits = child.status == CADRE_FRAME_WAITING ? child : parent;
    if (CHECK_INT(waits.status, CADRE_FRAME_WAITING)) {
        CHECK_OK(
            cadre_trace_abort(t.runtime, waits.id, CADRE_ABORT(.reason = "late"), NULL),
            NULL);
        size_t before = driven_count("asker");
        team_case_run_with(&t, CADRE_RUN(.input = "and?", .session = "s"));
        if (strcmp(waits.id, child.id) == 0)
            CHECK_CONTAINS(driven_request("asker", before), "(asker) aborted: late");
    }
    team_case_close(&t);
}

// Takes the id out of the result of the spawn.
static void test_background__is_asked_stopped_and_told_by_its_id(void)
{
    open_lead();
    DRIVEN("lead",
           "call tasks {\"action\":\"status\",\"id\":\"w1-1\"}\n"
           "call tasks {\"action\":\"stop\"}\n"
           "call tasks {\"action\":\"send\",\"id\":\"!\",\"text\":\"x\"}\n"
           "call tasks {\"action\":\"spawn\"}",
           "say done");
    team_case_run(&t, "go");
    team_case_check_answer(&t, "lead", "done");
    const char *results = recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT);
    CHECK_CONTAINS(results,
                   "no background run 'w1-1' was started in this conversation");
    CHECK_CONTAINS(results, "stop needs `id`");
    CHECK_CONTAINS(results, "no background run '!'");
    CHECK_CONTAINS(results, "spawn needs `text`");
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_subagent__answers_in_a_conversation_that_the_call_owns),
    CHECK_TEST(test_subagent__that_fails_is_a_result),
    CHECK_TEST(test_subagent__calls_no_further_one),
    CHECK_TEST(test_background__reports_to_the_next_turn_of_the_session),
    CHECK_TEST(test_background__reports_to_a_run_that_still_works),
    CHECK_TEST(test_background__is_stopped_by_who_frees_the_team),
    CHECK_TEST(test_background__is_stopped_with_its_parent_when_asked),
    CHECK_TEST(test_background__is_listed_with_the_tool_call_that_spawned_it),
    CHECK_TEST(test_background__reports_that_it_was_stopped_while_it_waited),
    CHECK_TEST(test_background__is_asked_stopped_and_told_by_its_id),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/spawn", tests);
}
