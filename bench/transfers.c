// transfers: what handing over costs beside a plain turn with one tool call, and how
// the requests grow. The model answers inside the process, so that nothing hides the
// cost.
#include "bench.h"

#include "cadre/ext/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_AGENTS = 11,
    ROUNDS = 300
};

// What the model of the bench was asked, by the number of its call in the run.
typedef struct asked {
    int n_calls;
    size_t bytes[N_AGENTS];
} asked;

static asked seen; // one run at a time

static size_t request_bytes(const cadre_request *request)
{
    size_t bytes = strlen(request->system);
    for (size_t i = 0; i < request->n_items; i++)
        bytes += strlen(request->items[i].text);
    return bytes;
}

// Agents named "a<k>" hand over to the next; "plain" calls its tool ten times.
static cadre_status answer(const void *state, cadre_frame *frame,
                           const cadre_request *request, cadre_sink *sink,
                           cadre_error *err)
{
    char arguments[64];
    (void)state;
    (void)frame;
    (void)err;
    int k = seen.n_calls++;
    bool is_last = k == N_AGENTS - 1;
    if (k < N_AGENTS)
        seen.bytes[k] = request_bytes(request);
    if (is_last) {
        cadre_sink_text(sink, "done", 4);
        cadre_sink_finish(sink, CADRE_FINISH_STOP);
        return CADRE_OK;
    }
    bool is_plain = strcmp(request->agent, "plain") == 0;
    const char *name = is_plain ? "note" : "transfer_to_agent";
    int n = snprintf(arguments, sizeof arguments,
                     "{\"agent\": \"a%d\", \"message\": \"step %d\"}", k + 1, k + 1);
    size_t call = cadre_sink_add_call(sink);
    cadre_sink_call_name(sink, call, name, strlen(name));
    cadre_sink_call_arguments(sink, call, arguments, (size_t)n);
    cadre_sink_finish(sink, CADRE_FINISH_TOOL_CALLS);
    return CADRE_OK;
}

static const cadre_model_ops bench_model = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "bench",
    .summary = "hands over to the next agent",
    .answer = answer,
};

static cadre_status take_note(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_set_output(frame, "noted", err);
}

static void add_agents(cadre_team *team)
{
    static char names[N_AGENTS][8];
    static const char *members[N_AGENTS];
    for (int i = 0; i < N_AGENTS; i++) {
        snprintf(names[i], sizeof names[i], "a%d", i);
        members[i] = names[i];
    }
    for (int i = 0; i < N_AGENTS; i++) {
        cadre_llm llm = {
            .struct_size = sizeof llm,
            .name = names[i],
            .model = "bench/m",
            .handoffs = {.items = &members[(i + 1) % N_AGENTS], .count = 1}};
        cadre_team_add_llm(team, &llm);
    }
    cadre_topology desk = {.struct_size = sizeof desk,
                           .name = "desk",
                           .members = {.items = members, .count = N_AGENTS}};
    cadre_team_add_topology(team, "handoff", &desk);
    cadre_team_add_tool(team, CADRE_TOOL(.name = "note", .run = take_note,
                                         .parameters = "{\"type\": \"object\"}",
                                         .replay_safe = true));
    cadre_team_add_llm(team, CADRE_LLM(.name = "plain", .model = "bench/m",
                                       .tools = CADRE_NAMES("note")));
}

static double run_us(const char *root)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    bench_must(cadre_runtime_open(NULL, &runtime, &err), &err);
    bench_must(cadre_runtime_register_model(runtime, &bench_model, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "bench");
    add_agents(team);
    cadre_team_set_root(team, root);
    bench_must(cadre_team_seal(team, &err), &err);
    double start = 0;
    for (int i = -20; i < ROUNDS; i++) {
        cadre_run *run = NULL;
        if (i == 0)
            start = bench_cpu_us();
        seen = (asked){0};
        bench_must(cadre_run_start(team, CADRE_RUN(.input = "go"), &run, &err), &err);
        bench_must(cadre_run_wait(run, NULL, &err), &err);
        cadre_run_free(run);
    }
    double cpu = bench_cpu_us() - start;
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return cpu / ROUNDS / N_AGENTS;
}

static int transfers_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    bench_head("transfers: 10 in a row, against 10 turns with a tool call each");
    double plain = run_us("plain");
    double transfer = run_us("desk");
    bench_print(&(bench_row){"CPU a transfer (floor: a plain turn)", transfer, "us",
                             plain, 1.3});
    bench_print(&(bench_row){"bytes of the 11th request (floor: of the 2nd)",
                             (double)seen.bytes[10], "bytes", (double)seen.bytes[1],
                             5});
    return 0;
}

const bench bench_transfers = {"transfers", "10 transfers against 10 plain turns",
                               transfers_run};
