// turn: one model turn over HTTP, against a bare libcurl client that sends the same
// bodies to the same server in the same run.
#include "bare.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    PIECES = 10,
    WARM_UP = 200
};

// What cadre's first request is; the floor sends the same number of bytes.
static const char body[] =
    "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
    "\"messages\":[{\"role\":\"system\",\"content\":\"Answer in one word.\"},"
    "{\"role\":\"user\",\"content\":\"What is it?\"}]}";

static double floor_us(int port, int n)
{
    bare_client client;
    double start = 0;
    bare_open(&client, port);
    for (int i = -WARM_UP; i < n; i++) {
        if (i == 0)
            start = bench_cpu_us();
        bare_ask(&client, body, sizeof body - 1);
    }
    double cpu = bench_cpu_us() - start;
    bare_close(&client);
    return cpu / n;
}

// Turns one after the other inside one run; the first ones warm up.
typedef struct turns {
    int n;
    const cadre_agent *callee;
    double cpu_us;
} turns;

static cadre_status call_turns(void *ctx, cadre_frame *frame, cadre_error *err)
{
    turns *t = ctx;
    double start = 0;
    for (int i = -WARM_UP; i < t->n; i++) {
        if (i == 0)
            start = bench_cpu_us();
        cadre_status status = cadre_frame_call(
            frame, CADRE_CALL(.agent = t->callee, .input = "What is it?"), NULL, err);
        if (status != CADRE_OK)
            return status;
    }
    t->cpu_us = bench_cpu_us() - start;
    return CADRE_OK;
}

static void run_once(cadre_team *team)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    bench_must(cadre_run_start(team, CADRE_RUN(.input = "What is it?"), &run, &err),
               &err);
    bench_must(cadre_run_wait(run, NULL, &err), &err);
    cadre_run_free(run);
}

static double cadre_us(int port, int n, turns *inside)
{
    char url[64];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", port);
    bench_must(cadre_runtime_open(NULL, &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "bench");
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "openai/m",
                                           .base_url = url, .api_key_env = ""));
    cadre_team_add_llm(team, CADRE_LLM(.name = "one", .model = "m",
                                       .instructions = "Answer in one word."));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "loop", .run = call_turns,
                                                 .ctx = inside,
                                                 .members = CADRE_NAMES("one")));
    cadre_team_set_root(team, inside == NULL ? "one" : "loop");
    bench_must(cadre_team_seal(team, &err), &err);
    if (inside != NULL) {
        inside->callee = cadre_team_find(team, "one");
        cadre_run *run = NULL;
        bench_must(
            cadre_run_start(
                team,
                CADRE_RUN(.input = "", .limits = {.max_model_calls = CADRE_UNLIMITED}),
                &run, &err),
            &err);
        bench_must(cadre_run_wait(run, NULL, &err), &err);
        cadre_run_free(run);
        n = -WARM_UP;
    }
    double start = 0;
    for (int i = -WARM_UP; i < n; i++) {
        if (i == 0)
            start = bench_cpu_us();
        run_once(team);
    }
    double cpu = bench_cpu_us() - start;
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return cpu / n;
}

static int turn_run(int argc, char **argv)
{
    int n = argc > 0 ? (int)strtol(argv[0], NULL, 10) : 3000;
    bench_server server;
    bench_server_start(&server, &(bench_answers){.pieces = PIECES});
    bench_head("turn: a whole run of one model turn over HTTP, 10 pieces");
    double floor = floor_us(server.port, n);
    turns inside = {.n = n};
    cadre_us(server.port, n, &inside);
    double whole = cadre_us(server.port, n, NULL);
    bench_print(&(bench_row){"CPU a turn inside a run (floor: bare libcurl)",
                             inside.cpu_us / n, "us", floor, 2});
    bench_print(&(bench_row){"CPU a whole run of one turn", whole, "us", floor, 2});
    bench_server_stop(&server);
    return 0;
}

const bench bench_turn = {"turn", "one model turn over HTTP", turn_run};
