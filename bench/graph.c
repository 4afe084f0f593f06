// graph: a loop of one node that does nothing, led back by a predicate in C.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    WARM_UP = 1000
};

static cadre_status do_nothing(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return CADRE_OK;
}

typedef struct loop {
    long n;
    double start_us, cpu_us;
} loop;

static json_t *goes_on(void *ctx, const cadre_predicate_values *values,
                       cadre_error *err)
{
    loop *l = ctx;
    (void)err;
    if (values->iteration == WARM_UP)
        l->start_us = bench_cpu_us();
    bool is_last = values->iteration == WARM_UP + l->n;
    if (is_last)
        l->cpu_us = bench_cpu_us() - l->start_us;
    return json_boolean(!is_last);
}

static void run_loop(loop *l)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    bench_must(cadre_runtime_open(NULL, &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "bench");
    cadre_team_add_predicate(team, "goes_on", goes_on, l);
    cadre_team_add_topology(
        team, "graph",
        CADRE_TOPOLOGY(.name = "loop",
                       .options =
                           "{\"nodes\": {\"a\": \"nothing\"}, \"max_steps\": "
                           "\"unlimited\", \"edges\": [{\"from\": \"a\", \"to\": "
                           "\"a\", \"when\": {\"call\": \"goes_on\"}}]}"));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "nothing", .run = do_nothing));
    bench_must(cadre_run_start(team, CADRE_RUN(.input = ""), &run, &err), &err);
    bench_must(cadre_run_wait(run, NULL, &err), &err);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static int graph_run(int argc, char **argv)
{
    long most = argc > 0 ? strtol(argv[0], NULL, 10) : 1000000;
    bench_head("graph: a loop led back by a predicate (memory store, rows included)");
    for (long n = 1000; n <= most; n *= 10) {
        char what[64];
        loop l = {.n = n};
        run_loop(&l);
        snprintf(what, sizeof what, "%ld steps: CPU a step", n);
        bench_print(&(bench_row){what, l.cpu_us * 1e3 / (double)n, "ns", 0, 1500});
    }
    return 0;
}

const bench bench_graph = {"graph", "a loop of a graph", graph_run};
