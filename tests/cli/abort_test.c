// Runs that are stopped and waited for from other programs: `cadre abort`, `cadre
// wait`.
#include "support/lab.h"
#include "support/online.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

// An agent that does what its script says; `slow` tells its process, and ends when it
// is told to; `deaf` does not.
static const char team[] =
    "version: 1\n"
    "name: shop\n"
    "script: ./script.yaml\n"
    "agents:\n"
    "  solo: {model: openai/test, instructions: Work., tools: [slow, deaf, person]}\n"
    "tools:\n"
    "  slow: {type: command, description: Waits, grace: 10m,\n"
    "         argv: [/bin/sh, -c, 'echo started $$ >&2; exec sleep 3600']}\n"
    "  deaf:\n"
    "    type: command\n"
    "    description: Does not listen\n"
    "    grace: 300ms\n"
    "    argv: [/bin/sh, -c, \"trap '' TERM; echo started $$ >&2; sleep 3600\"]\n"
    "  person: {type: ask}\n";

static const char calls_slow[] = "agents: {solo: [{tool_calls: [{name: slow}]}]}\n";
static const char calls_deaf[] = "agents: {solo: [{tool_calls: [{name: deaf}]}]}\n";
static const char speaks_late[] = "agents: {solo: [{text: Late., delay: 1h}]}\n";
static const char asks[] =
    "agents: {solo: [{tool_calls: [{name: person, arguments: {question: Why?}}]}]}\n";
static const char answers[] = "agents: {solo: [{text: Here.}]}\n";

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// The newest run of the store becomes that of the lab.
static void find_trace(lab *it)
{
    program_result ran;

    if (!LAB_RUN(it, &ran, "runs", "--json"))
        return;
    json_t *runs = json_loads(ran.out, 0, NULL);
    const char *trace =
        json_string_value(json_object_get(json_array_get(runs, 0), "trace_id"));
    if (CHECK(trace != NULL))
        snprintf(it->trace, sizeof(it->trace), "%s", trace);
    json_decref(runs);
    program_result_fini(&ran);
}

// A run, and what is done to it from beside while it works.
typedef struct victim {
    lab lab;
    int64_t aborted_ms; // when the abort was recorded
    const char *kind;   // of the frame that is stopped; NULL: the whole run
} victim;

static void abort_from_beside(void *ctx)
{
    victim *it = ctx;
    char id[32] = "";

    find_trace(&it->lab);
    if (it->kind)
        lab_frame(&it->lab, it->kind, id);
    LAB_CHECK(&it->lab, 0, "", "told to stop", "abort", it->lab.trace, "--reason",
              "not\nneeded", *id ? id : NULL);
    it->aborted_ms = now_ms();
}

// Runs until `when` stands in its events, and is aborted then. False: the test failed.
static bool run_and_abort(victim *it, const char *script, const char *when,
                          program_result *ran)
{
    const program_action action = {
        .when = when, .is_on_stdout = true, .call = abort_from_beside, .ctx = it};

    return lab_make(&it->lab, team, script) &&
           lab_run(&it->lab,
                   LAB_WORDS("run", "team.yaml", "go", "--offline", "--events"),
                   &action, ran);
}

// The process that a tool told of is gone.
static void check_tool_gone(const char *out)
{
    const char *line = strstr(out, "\"text\":\"started ");
    int pid = line ? (int)strtol(line + strlen("\"text\":\"started "), NULL, 10) : 0;
    int fd = pid > 1 ? pidfd_open(pid, 0) : -1;
    struct pollfd slot = {.fd = fd, .events = POLLIN};

    CHECK(pid > 1);
    if (fd < 0)
        return;
    if (!CHECK_INT(poll(&slot, 1, 0), 1))
        kill(pid, SIGKILL);
    close(fd);
}

// --- While it works ---

static void test_abort__stops_a_model_call_of_another_program(void)
{
    victim it = {.aborted_ms = 0};
    program_result ran;

    if (run_and_abort(&it, speaks_late, "\"type\":\"message_start\"", &ran)) {
        CHECK(now_ms() - it.aborted_ms < 1000);
        CHECK_INT(ran.exit_status, 4);
        CHECK_CONTAINS(ran.err, "cadre: agent 'solo': aborted: not needed\n");
        CHECK_CONTAINS(ran.out, "\"status\":\"aborted\",\"stop_reason\":\"aborted\"");
        LAB_CHECK(&it.lab, 4, "", "cadre: aborted: not needed\n", "wait", it.lab.trace);
        LAB_CHECK(&it.lab, 1, "", "has ended (aborted)", "abort", it.lab.trace);
        program_result_fini(&ran);
    }
    lab_remove(&it.lab);
}

static void test_abort__ends_a_tool_that_listens_at_once(void)
{
    victim it = {.aborted_ms = 0};
    program_result ran;

    if (run_and_abort(&it, calls_slow, "\"text\":\"started ", &ran)) {
        CHECK(now_ms() - it.aborted_ms < 1000);
        CHECK_INT(ran.exit_status, 4);
        check_tool_gone(ran.out);
        program_result_fini(&ran);
    }
    lab_remove(&it.lab);
}

static void check_stop_ms(const char *out)
{
    json_t *object = json_loads(out, 0, NULL);
    int64_t stop_ms = json_integer_value(json_object_get(object, "stop_ms"));

    CHECK_TEXT(json_string_value(json_object_get(object, "status")), "aborted");
    CHECK(stop_ms >= 300);
    CHECK(stop_ms < 2000);
    json_decref(object);
}

static void test_abort__kills_a_tool_that_does_not_after_its_grace(void)
{
    victim it = {.aborted_ms = 0};
    program_result ran;

    if (run_and_abort(&it, calls_deaf, "\"text\":\"started ", &ran)) {
        CHECK(now_ms() - it.aborted_ms >= 200);
        CHECK_INT(ran.exit_status, 4);
        check_tool_gone(ran.out);
        program_result_fini(&ran);
    }
    // The time it took, as programs read it. The live tree tells that the tool runs.
    victim again = {.lab = it.lab};
    const program_action action = {
        .when = "runs deaf: started", .call = abort_from_beside, .ctx = &again};
    const program_config config = {
        .arguments = (const char *const[]){"run", "team.yaml", "go", "--offline",
                                           "--json", "--store", it.lab.store, NULL},
        .directory = it.lab.folder.path,
        .terminal = PROGRAM_TERMINAL_STDERR,
        .changes = (const char *const[]){"TERM=xterm", NULL},
        .action = action};
    if (program_run(&config, &ran)) {
        CHECK_INT(ran.exit_status, 4);
        check_stop_ms(ran.out);
        program_result_fini(&ran);
    }
    lab_remove(&it.lab);
}

static void test_abort__of_one_call_leaves_the_others(void)
{
    victim it = {.kind = "tool"};
    program_result ran;

    if (run_and_abort(&it,
                      "agents:\n"
                      "  solo:\n"
                      "    - {tool_calls: [{name: slow}]}\n"
                      "    - {text: Without it.}\n",
                      "\"text\":\"started ", &ran)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "\"output\":\"Without it.\"");
        check_tool_gone(ran.out);
        program_result_fini(&ran);
    }
    lab_remove(&it.lab);
}

static void test_abort__is_heard_before_the_first_answer(void)
{
    static const http_step silence[] = {HTTP_HOLD, HTTP_END};
    http_server *server = http_server_start(NULL);
    victim it = {.aborted_ms = 0};
    char url[100];
    program_result ran;

    http_server_add(server, silence);
    snprintf(url, sizeof(url), "OPENAI_BASE_URL=%s", http_server_url(server));
    if (lab_make(&it.lab, team, answers)) {
        const program_config config = {
            .arguments = (const char *const[]){"run", "team.yaml", "go", "--events",
                                               "--store", it.lab.store, NULL},
            .directory = it.lab.folder.path,
            .changes = (const char *const[]){url, "OPENAI_API_KEY=any", NULL},
            .action = {.when = "\"type\":\"message_start\"",
                       .is_on_stdout = true,
                       .call = abort_from_beside,
                       .ctx = &it}};
        if (program_run(&config, &ran)) {
            CHECK(now_ms() - it.aborted_ms < 1000);
            CHECK_INT(ran.exit_status, 4);
            program_result_fini(&ran);
        }
        lab_remove(&it.lab);
    }
    http_server_stop(server);
}

// --- While nobody works on it ---

static bool park(lab *it)
{
    program_result ran;

    if (!lab_make(it, team, asks) ||
        !LAB_RUN(it, &ran, "run", "team.yaml", "go", "--offline"))
        return false;
    CHECK_INT(ran.exit_status, 3);
    program_result_fini(&ran);
    return true;
}

static bool cut(lab *it)
{
    const program_action action = {
        .when = "\"type\":\"message_start\"", .is_on_stdout = true, .signal = SIGKILL};
    program_result ran;

    if (!lab_make(it, team, speaks_late) ||
        !lab_run(it, LAB_WORDS("run", "team.yaml", "go", "--offline", "--events"),
                 &action, &ran))
        return false;
    CHECK_INT(ran.signal, SIGKILL);
    program_result_fini(&ran);
    return true;
}

static void test_abort__ends_a_parked_run_at_once(void)
{
    lab it;

    if (!park(&it))
        return;
    LAB_CHECK(&it, 0, "", ": stopped\n", "abort", it.trace, "--reason", "no need");
    LAB_CHECK(&it, 1, "", "has ended (aborted)", "abort", it.trace);
    LAB_CHECK(&it, 1, "", "has ended (aborted)", "answer", it.trace, "yes");
    LAB_CHECK(&it, 1, "", "has ended (aborted)", "resume", it.trace);
    LAB_CHECK(&it, 4, "", "cadre: aborted: no need\n", "wait", it.trace);
    lab_remove(&it);
}

static void test_abort__ends_a_cut_run_at_once(void)
{
    lab it;
    program_result ran;

    if (!cut(&it))
        return;
    LAB_CHECK(&it, 5, "", "nobody works on it: `cadre resume ", "wait", it.trace);
    LAB_CHECK(&it, 0, "", ": stopped\n", "abort", it.trace);
    LAB_CHECK(&it, 4, "", "\ncadre: aborted", "wait", it.trace);
    if (LAB_RUN(&it, &ran, "runs")) {
        CHECK_CONTAINS(ran.out, "  aborted    shop  ");
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 0, "", "no run of this store was cut", "resume", "--all");
    lab_remove(&it);
}

static void test_abort__what_is_not_there_is_exit_5(void)
{
    lab it;
    char id[32];

    if (!park(&it))
        return;
    LAB_CHECK(&it, 5, "", "no run aaaaaaaaaaaa-1", "abort", "aaaaaaaaaaaa-1");
    LAB_CHECK(&it, 5, "", "no run aaaaaaaaaaaa-1", "wait", "aaaaaaaaaaaa-1");
    LAB_CHECK(&it, 5, "", "no frame aaaaaaaaaaaa-2 that lives", "abort", it.trace,
              "aaaaaaaaaaaa-2");
    lab_frame(&it, "model", id);
    LAB_CHECK(&it, 1, "", "that lives", "abort", it.trace, id); // it has ended
    LAB_CHECK(&it, 5, "", "no frame that lives in conversation", "abort", it.trace,
              "--conversation", "aaaaaaaaaaaa-3");
    LAB_CHECK(&it, 2, "", "'nobody' is not the id of a run", "abort", "nobody");
    LAB_CHECK(&it, 2, "", "'nobody' is not the id of a run", "wait", "nobody");
    LAB_CHECK(&it, 2, "", "exclude each other", "abort", it.trace, "x",
              "--conversation", "y");
    LAB_CHECK(&it, 3, "", "solo asks: Why?", "wait", it.trace);
    lab_remove(&it);
}

// --- Waiting ---

static void test_wait__exits_as_the_run_did(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, answers))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "go", "--offline"))
        program_result_fini(&ran);
    LAB_CHECK(&it, 0, "", "completed, 1 agent, ", "wait", it.trace);
    LAB_CHECK(&it, 0, "", "completed, 1 agent, ", "wait", it.trace, "--background");
    lab_remove(&it);
    if (!lab_make(&it, team, "agents: {solo: [{error: {status: 401}}]}\n"))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "go", "--offline"))
        program_result_fini(&ran);
    LAB_CHECK(&it, 1, "", "401", "wait", it.trace);
    LAB_CHECK(&it, 2, "", "'--timeout': expected a duration", "wait", it.trace,
              "--timeout", "soon");
    lab_remove(&it);
}

static void wait_from_beside(void *ctx)
{
    victim *it = ctx;

    find_trace(&it->lab);
    LAB_CHECK(&it->lab, 4, "", "still works", "wait", it->lab.trace, "--timeout",
              "50ms");
    abort_from_beside(it);
}

static void test_wait__gives_up_and_stops_nothing(void)
{
    victim it = {.aborted_ms = 0};
    const program_action action = {.when = "\"type\":\"message_start\"",
                                   .is_on_stdout = true,
                                   .call = wait_from_beside,
                                   .ctx = &it};
    program_result ran;

    if (lab_make(&it.lab, team, speaks_late) &&
        lab_run(&it.lab, LAB_WORDS("run", "team.yaml", "go", "--offline", "--events"),
                &action, &ran)) {
        CHECK_INT(ran.exit_status, 4);
        CHECK_CONTAINS(ran.err, "aborted: not needed");
        program_result_fini(&ran);
    }
    lab_remove(&it.lab);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_abort__stops_a_model_call_of_another_program),
    CHECK_TEST(test_abort__ends_a_tool_that_listens_at_once),
    CHECK_TEST(test_abort__kills_a_tool_that_does_not_after_its_grace),
    CHECK_TEST(test_abort__of_one_call_leaves_the_others),
    CHECK_TEST(test_abort__is_heard_before_the_first_answer),
    CHECK_TEST(test_abort__ends_a_parked_run_at_once),
    CHECK_TEST(test_abort__ends_a_cut_run_at_once),
    CHECK_TEST(test_abort__what_is_not_there_is_exit_5),
    CHECK_TEST(test_wait__exits_as_the_run_did),
    CHECK_TEST(test_wait__gives_up_and_stops_nothing),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/abort", tests);
}
