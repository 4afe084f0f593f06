// teams: what topologies cost beside the work of their members: branches that join, a
// coordinator that waits for its members, a chain beside plain turns, a long row of
// handovers. Models answer inside the process, so that nothing hides the cost.
#include "bench.h"

#include "cadre/ext/model.h"
#include "cadre/ext/scope.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_BRANCHES = 100,
    N_MEMBERS = 8,
    N_CHAIN = 10,
    ANSWER_MS = 200
};

// --- A team and its runs ---

typedef struct lab {
    cadre_runtime *runtime;
    cadre_team *team;
} lab;

static void lab_run(const lab *it)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    cadre_limits limits = {CADRE_UNLIMITED, CADRE_UNLIMITED, 0};
    bench_must(cadre_run_start(it->team, CADRE_RUN(.input = "go", .limits = limits),
                               &run, &err),
               &err);
    bench_must(cadre_run_wait(run, NULL, &err), &err);
    cadre_run_free(run);
}

// CPU of one run, after some to warm up.
static double lab_cpu_us(const lab *it, int rounds)
{
    double start = 0;
    for (int i = -10; i < rounds; i++) {
        if (i == 0)
            start = bench_cpu_us();
        lab_run(it);
    }
    return (bench_cpu_us() - start) / rounds;
}

static void lab_open(lab *it, const cadre_model_ops *model)
{
    cadre_error err = CADRE_ERROR_INIT;
    bench_must(cadre_runtime_open(NULL, &it->runtime, &err), &err);
    bench_must(cadre_runtime_register_model(it->runtime, model, &err), &err);
    it->team = cadre_team_new(it->runtime, "bench");
}

static void lab_close(lab *it)
{
    cadre_team_free(it->team);
    cadre_runtime_close(it->runtime);
}

// --- The models ---

static size_t last_request_bytes, transcript_bytes; // of one run at a time

static void say(cadre_sink *sink, const char *text)
{
    cadre_sink_text(sink, text, strlen(text));
    cadre_sink_finish(sink, CADRE_FINISH_STOP);
}

static void call_tool(cadre_sink *sink, const char *name, const char *arguments)
{
    size_t call = cadre_sink_add_call(sink);
    cadre_sink_call_name(sink, call, name, strlen(name));
    cadre_sink_call_arguments(sink, call, arguments, strlen(arguments));
    cadre_sink_finish(sink, CADRE_FINISH_TOOL_CALLS);
}

static const char answer_text[] = "An answer of some forty characters or so.";

// "plain" notes something until it has had N_CHAIN turns; the others answer.
static cadre_status answer_at_once(const void *state, cadre_frame *frame,
                                   const cadre_request *request, cadre_sink *sink,
                                   cadre_error *err)
{
    size_t n_turns = 0;
    (void)state;
    (void)frame;
    (void)err;
    last_request_bytes = 0;
    for (size_t i = 0; i < request->n_items; i++) {
        last_request_bytes += strlen(request->items[i].text);
        n_turns += request->items[i].message->role == CADRE_ROLE_ASSISTANT ? 1 : 0;
    }
    if (strcmp(request->agent, "plain") == 0 && n_turns + 1 < N_CHAIN) {
        char arguments[32];
        snprintf(arguments, sizeof arguments, "{\"n\": %zu}", n_turns);
        call_tool(sink, "note", arguments);
        return CADRE_OK;
    }
    transcript_bytes += sizeof answer_text - 1;
    say(sink, answer_text);
    return CADRE_OK;
}

// The lead calls all members, then sums up; every answer takes its time.
static cadre_status answer_slowly(const void *state, cadre_frame *frame,
                                  const cadre_request *request, cadre_sink *sink,
                                  cadre_error *err)
{
    (void)state;
    cadre_status status = cadre_frame_sleep(frame, ANSWER_MS, err);
    if (status != CADRE_OK)
        return status;
    if (request->n_tools == 0 || request->n_items > 1) {
        say(sink, answer_text);
        return CADRE_OK;
    }
    for (size_t i = 0; i < request->n_tools; i++)
        call_tool(sink, request->tools[i].name, "{\"request\": \"work\"}");
    return CADRE_OK;
}

static const cadre_model_ops at_once = {.struct_size = sizeof(cadre_model_ops),
                                        .provider = "bench",
                                        .summary = "answers at once",
                                        .answer = answer_at_once};
static const cadre_model_ops slow = {.struct_size = sizeof(cadre_model_ops),
                                     .provider = "bench",
                                     .summary = "answers after a while",
                                     .answer = answer_slowly};

// --- Parts ---

static cadre_status do_nothing(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return CADRE_OK;
}

static void join_branches(void)
{
    lab it;
    static char options[N_BRANCHES * 128];
    size_t len = (size_t)snprintf(options, sizeof options,
                                  "{\"nodes\": {\"start\": \"nothing\", \"join\": "
                                  "\"nothing\"");
    for (int i = 0; i < N_BRANCHES; i++)
        len += (size_t)snprintf(options + len, sizeof options - len,
                                ", \"b%d\": \"nothing\"", i);
    len += (size_t)snprintf(options + len, sizeof options - len, "}, \"edges\": [");
    for (int i = 0; i < N_BRANCHES; i++)
        len += (size_t)snprintf(options + len, sizeof options - len,
                                "%s{\"from\": \"start\", \"to\": \"b%d\"}, {\"from\": "
                                "\"b%d\", \"to\": \"join\"}",
                                i == 0 ? "" : ", ", i, i);
    snprintf(options + len, sizeof options - len, "], \"max_steps\": 1000}");
    lab_open(&it, &at_once);
    cadre_team_add_topology(it.team, "graph",
                            CADRE_TOPOLOGY(.name = "fan", .options = options));
    cadre_team_add_function(it.team,
                            CADRE_FUNCTION(.name = "nothing", .run = do_nothing));
    double us = lab_cpu_us(&it, 200) / N_BRANCHES;
    bench_print(&(bench_row){"100 branches joined: CPU a branch", us, "us", 0, 30});
    lab_close(&it);
}

static void add_agents(cadre_team *team, char names[][8], const char **members, int n)
{
    for (int i = 0; i < n; i++) {
        snprintf(names[i], 8, "a%d", i);
        members[i] = names[i];
        cadre_team_add_llm(team, CADRE_LLM(.name = names[i], .model = "bench/m"));
    }
}

static void wait_for_members(void)
{
    lab it;
    char names[N_MEMBERS + 1][8];
    const char *members[N_MEMBERS + 1];
    lab_open(&it, &slow);
    add_agents(it.team, names, members, N_MEMBERS + 1);
    cadre_topology lead = {.struct_size = sizeof lead,
                           .name = "team",
                           .members = {.items = members, .count = N_MEMBERS + 1}};
    cadre_team_add_topology(it.team, "coordinator", &lead);
    lab_run(&it);
    double start = bench_wall_us();
    lab_run(&it);
    double ms = (bench_wall_us() - start) / 1e3;
    bench_print(&(bench_row){"coordinator, 8 members, 200 ms an answer: wall", ms, "ms",
                             3.0 * ANSWER_MS, 1.03});
    lab_close(&it);
}

static cadre_status take_note(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_set_output(frame, "noted", err);
}

static double plain_turns_us(void)
{
    lab it;
    lab_open(&it, &at_once);
    cadre_team_add_tool(it.team, CADRE_TOOL(.name = "note", .run = take_note,
                                            .parameters = "{\"type\": \"object\"}",
                                            .replay_safe = true));
    cadre_team_add_llm(it.team, CADRE_LLM(.name = "plain", .model = "bench/m",
                                          .tools = CADRE_NAMES("note")));
    double us = lab_cpu_us(&it, 300);
    lab_close(&it);
    return us;
}

static void answer_in_a_row(void)
{
    lab it;
    char names[N_CHAIN][8];
    const char *members[N_CHAIN];
    double plain = plain_turns_us();
    lab_open(&it, &at_once);
    add_agents(it.team, names, members, N_CHAIN);
    cadre_topology row = {.struct_size = sizeof row,
                          .name = "row",
                          .members = {.items = members, .count = N_CHAIN}};
    cadre_team_add_topology(it.team, "chain", &row);
    double us = lab_cpu_us(&it, 300);
    bench_print(&(bench_row){"chain of 10 (floor: 10 turns of one agent)", us, "us",
                             plain, 1.3});
    transcript_bytes = 0;
    lab_run(&it);
    bench_print(&(bench_row){"its last request (floor: the transcript before it)",
                             (double)last_request_bytes, "bytes",
                             (double)(transcript_bytes - sizeof answer_text + 1), 1.2});
    lab_close(&it);
}

// Hands over until it was done so often.
static atomic_long n_left;

static cadre_status hand_over(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    if (atomic_fetch_sub(&n_left, 1) <= 0)
        return CADRE_OK;
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_targets(frame).items[0]), err);
}

static double handovers_us(long n)
{
    lab it;
    lab_open(&it, &at_once);
    cadre_team_add_function(it.team, CADRE_FUNCTION(.name = "a", .run = hand_over));
    cadre_team_add_function(it.team, CADRE_FUNCTION(.name = "b", .run = hand_over));
    cadre_team_add_topology(
        it.team, "swarm",
        CADRE_TOPOLOGY(.name = "team", .members = CADRE_NAMES("a", "b"),
                       .options = "{\"max_handoffs\": \"unlimited\", \"window\": "
                                  "\"unlimited\", \"repeat\": \"unlimited\"}"));
    atomic_store(&n_left, n);
    lab_run(&it);
    atomic_store(&n_left, n);
    double start = bench_cpu_us();
    lab_run(&it);
    double us = (bench_cpu_us() - start) / (double)n;
    lab_close(&it);
    return us;
}

static int teams_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    bench_head("teams: what topologies cost (memory store)");
    join_branches();
    wait_for_members();
    answer_in_a_row();
    double few = handovers_us(1000);
    bench_print(&(bench_row){"10,000 handovers: CPU of one (floor: of 1,000)",
                             handovers_us(10000), "us", few, 1.3});
    return 0;
}

const bench bench_teams = {"teams", "branches, a coordinator, a chain, handovers",
                           teams_run};
