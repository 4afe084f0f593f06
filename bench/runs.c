// runs: many at once, two streamed turns of a second each; and what a run costs in
// memory while it waits.
#include "runs.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LOOKS = 100 // at the memory; each costs some microseconds
};

static cadre_status two_turns(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    for (int i = 0; i < RUNS_TURNS; i++) {
        cadre_status status = cadre_frame_delegate(
            frame,
            CADRE_CALL(.agent = cadre_frame_find(frame, "one"), .input = "Go on."),
            NULL, err);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

static cadre_team *make_team(cadre_runtime *runtime, int port)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", port);
    cadre_team *team = cadre_team_new(runtime, "bench");
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "openai/m",
                                           .base_url = url, .api_key_env = ""));
    cadre_team_add_llm(team, CADRE_LLM(.name = "one", .model = "m"));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "twice", .run = two_turns,
                                                 .members = CADRE_NAMES("one")));
    cadre_team_set_root(team, "twice");
    return team;
}

// Waits for all runs, looking at the memory now and then after the first has ended.
static int wait_all(cadre_run **runs, int n, long *peak_kib)
{
    int failed = 0;
    int stride = n > LOOKS ? n / LOOKS : 1;
    cadre_error err = CADRE_ERROR_INIT;
    for (int i = 0; i < n; i++) {
        cadre_error_clear(&err);
        if (cadre_run_wait(runs[i], NULL, &err) != CADRE_OK && failed++ == 0)
            fprintf(stderr, "cadre-bench: a run failed: %s\n", err.text);
        long now = i % stride == 0 ? bench_rss_kib() : 0;
        if (now > *peak_kib)
            *peak_kib = now;
    }
    return failed;
}

void runs_measure(int port, int n, runs_cost *out)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run **runs = calloc((size_t)n, sizeof *runs);
    bench_must(cadre_runtime_open(NULL, &runtime, &err), &err);
    cadre_team *team = make_team(runtime, port);
    bench_must(cadre_team_seal(team, &err), &err);
    long before = bench_rss_kib();
    long peak = 0;
    double cpu = bench_cpu_us();
    double start = bench_wall_us();
    for (int i = 0; i < n; i++)
        bench_must(cadre_run_start(team, CADRE_RUN(.input = "Go.", .no_events = true),
                                   &runs[i], &err),
                   &err);
    out->failed = wait_all(runs, n, &peak);
    out->wall_us = bench_wall_us() - start;
    out->cpu_us = bench_cpu_us() - cpu;
    out->kib = (double)(peak - before) / n;
    for (int i = 0; i < n; i++)
        cadre_run_free(runs[i]);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    free(runs);
}

static void measure(int n)
{
    char what[80];
    runs_cost cost;
    bench_server server;
    bench_server_start(
        &server, &(bench_answers){.pieces = RUNS_PIECES, .spread_ms = RUNS_SPREAD_MS});
    runs_measure(server.port, n, &cost);
    bench_server_stop(&server);
    double goal = n == 1000 ? 1.15 : 0;
    snprintf(what, sizeof what, "%d runs: wall (floor: the waiting alone)", n);
    bench_print(&(bench_row){what, cost.wall_us / 1e3, "ms",
                             RUNS_TURNS * RUNS_SPREAD_MS, goal});
    snprintf(what, sizeof what, "%d runs: CPU a run", n);
    bench_print(&(bench_row){what, cost.cpu_us / n, "us", 0, 0});
    snprintf(what, sizeof what, "%d runs: resident memory a run", n);
    bench_print(&(bench_row){what, cost.kib, "KiB", 0, n == 1000 ? 48 : 0});
    snprintf(what, sizeof what, "%d runs: failed", n);
    bench_print(&(bench_row){what, cost.failed, "runs", 0, 0});
}

static int runs_run(int argc, char **argv)
{
    bench_head("runs at once, two streamed turns of 1 s each");
    if (argc > 0) {
        measure((int)strtol(argv[0], NULL, 10));
    } else {
        measure(1000);
        measure(5000);
    }
    return 0;
}

const bench bench_runs = {"runs", "many runs at once", runs_run};
