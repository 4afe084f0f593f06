// How soon any is over once one has won: losers that heed are stopped at once, whatever
// they wait for.
#include "support/http_server.h"
#include "support/race_case.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static team_case t;

enum {
    SOON_MS = 50,
    TRIES = 5 // of a time that a busy machine may spoil
};

static atomic_llong won_ns; // when "now" was about to win

static cadre_status quick_now(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    gate_pass(&batch_quick);
    atomic_store(&won_ns, race_now_ns());
    return cadre_frame_set_output(frame, "quick", err);
}

static int64_t took_ms(void)
{
    return (raced.returned_ns - atomic_load(&won_ns)) / 1000000;
}

// Runs a batch of a loser and a winner several times; the shortest time counts.
static void check_soon(const char *loser, void (*until_it_works)(void))
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < TRIES && best >= SOON_MS; i++) {
        gate_reset(&batch_quick);
        race_set(CADRE_ANY, loser, "now", NULL);
        if (!batch_case_start(&t))
            return;
        until_it_works();
        gate_open(&batch_quick);
        team_case_finish(&t);
        CHECK_OK(t.status, &t.err);
        CHECK_INT(raced.winner, 1);
        race_check_loser(0);
        best = took_ms() < best ? took_ms() : best;
    }
    CHECK(best < SOON_MS);
}

// Reads the run until something of that type and agent comes.
static void read_until(cadre_event_type type, const char *agent)
{
    const cadre_event *event = NULL;
    while (CHECK_OK(cadre_run_next(t.run, &event, NULL), NULL)) {
        recorder_add(&t.recorder, event);
        if (event->type == type && strcmp(event->agent, agent) == 0)
            return;
    }
}

static void until_sleeper_started(void)
{
    static int n;
    CHECK(gate_await(&batch_sleeps, ++n));
}

static void test_any__is_over_soon_when_a_loser_sleeps(void)
{
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "now", quick_now, NULL);
    check_soon("sleeper", until_sleeper_started);
    batch_case_close(&t);
}

static void until_asked(void)
{
    read_until(CADRE_EVENT_INTERRUPT, "asker");
}

static void test_any__is_over_soon_when_a_loser_asks_and_withdraws_the_question(void)
{
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "now", quick_now, NULL);
    check_soon("asker", until_asked);
    CHECK_TEXT(batch_row(&t, "ask#1"),
               "aborted aborted owner: aborted: its work is not needed any more");
    batch_case_close(&t);
}

static cadre_status nest(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = cadre_frame_find(frame, "sleeper")),
        CADRE_CALL(.agent = cadre_frame_find(frame, "asker")),
        CADRE_CALL(.agent = cadre_frame_find(frame, "alice"), .input = "go")};
    cadre_wait *wait = ctx;
    return cadre_frame_batch(
        frame, CADRE_BATCH(.wait = *wait, .calls = calls, .n_calls = 3), NULL, err);
}

static void until_held(void)
{
    static size_t n;
    CHECK(driven_await_held(++n));
}

static void test_any__is_over_soon_when_a_loser_waits_for_a_batch(void)
{
    cadre_wait wait = CADRE_ALL;
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "now", quick_now, NULL);
    batch_case_add(&t, "nest", nest, &wait);
    DRIVEN("alice", "always\nhold");
    check_soon("nest", until_held);
    batch_case_close(&t);
}

static http_server *server;

static void until_server_holds(void)
{
    CHECK(http_server_await_held(server, 1));
}

static void test_any__closes_the_transfer_of_a_loser(void)
{
    static const http_step half[] = {
        HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}"
                  "\n\n"),
        HTTP_HOLD, HTTP_END};
    int64_t closed_ns = 0;
    const http_server_config config = {.repeat_last = true};
    server = http_server_start(&config);
    http_server_add(server, half);
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "now", quick_now, NULL);
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "wire", .model = "openai/m",
                                             .base_url = http_server_url(server),
                                             .api_key_env = ""));
    batch_case_add_llm(&t, "online", "wire");
    check_soon("online", until_server_holds);
    int last = http_server_connection_count(server) - 1;
    CHECK(http_server_await_client_close(server, last, &closed_ns));
    CHECK((closed_ns - atomic_load(&won_ns)) / 1000000 < (int64_t)SOON_MS * TRIES);
    CHECK_TEXT(batch_row(&t, "1"),
               "aborted aborted owner: aborted: its work is not needed any more");
    batch_case_close(&t);
    http_server_stop(server);
}

static pid_t group; // of the tool that has started last

static void until_tool_is_ready(void)
{
    read_until(CADRE_EVENT_TOOL_PROGRESS, "worker");
    const char *said = recorder_find(&t.recorder, CADRE_EVENT_TOOL_PROGRESS, 0)->says;
    group = (pid_t)strtol(strstr(said, "ready ") + strlen("ready "), NULL, 10);
}

static void test_any__kills_the_process_group_of_a_losers_tool(void)
{
    CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "now", quick_now, NULL);
    cadre_team_add_tool(
        t.team, CADRE_TOOL(.name = "work", .type = "command",
                           .parameters = "{\"type\": \"object\"}",
                           .options = "{\"argv\": [\"/bin/sh\", \"-c\", \"sleep 600 & "
                                      "echo ready $$ >&2; wait\"]}"));
    batch_case_add_llm(&t, "worker", DRIVEN_MODEL);
    DRIVEN("worker", "always\ncall work {}");
    check_soon("worker", until_tool_is_ready);
    while (waitpid(-1, NULL, 0) > 0) // also what the shell left
        continue;
    CHECK(group > 1 && kill(-group, 0) != 0);
    batch_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_any__is_over_soon_when_a_loser_sleeps),
    CHECK_TEST(test_any__is_over_soon_when_a_loser_asks_and_withdraws_the_question),
    CHECK_TEST(test_any__is_over_soon_when_a_loser_waits_for_a_batch),
    CHECK_TEST(test_any__closes_the_transfer_of_a_loser),
    CHECK_TEST(test_any__kills_the_process_group_of_a_losers_tool),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/race_soon", tests);
}
