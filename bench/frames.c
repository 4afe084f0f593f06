// frames: enter, run nothing, leave; and what a frame keeps in memory.
#include "bench.h"

#include "tree/tree.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static cadre_status do_nothing(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return CADRE_OK;
}

typedef struct loop {
    long n;
    const cadre_agent *callee;
    bool keep; // by giving each call a key of its own
    double cpu_us;
    size_t bytes;
} loop;

enum {
    WARM_UP = 1000
};

static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static cadre_status call_many(void *ctx, cadre_frame *frame, cadre_error *err)
{
    loop *l = ctx;
    char key[24];
    size_t bytes = 0;
    double cpu = 0;
    for (long i = -WARM_UP; i < l->n; i++) {
        if (i == 0) {
            bytes = heap_bytes();
            cpu = bench_cpu_us();
        }
        if (l->keep)
            snprintf(key, sizeof key, "%ld", i);
        cadre_status status = cadre_frame_delegate(
            frame, CADRE_CALL(.agent = l->callee, .key = l->keep ? key : NULL), NULL,
            err);
        if (status != CADRE_OK)
            return status;
    }
    l->cpu_us = bench_cpu_us() - cpu;
    l->bytes = heap_bytes() - bytes;
    return CADRE_OK;
}

static void run_loop(const char *store, loop *l)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    bench_must(cadre_runtime_open(CADRE_RUNTIME(.store = store), &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "bench");
    cadre_team_add_function(team,
                            CADRE_FUNCTION(.name = "loop", .run = call_many, .ctx = l,
                                           .members = CADRE_NAMES("nothing")));
    l->callee = cadre_team_add_function(
        team, CADRE_FUNCTION(.name = "nothing", .run = do_nothing));
    cadre_team_set_root(team, "loop");
    bench_must(cadre_run_start(team, CADRE_RUN(.input = ""), &run, &err), &err);
    bench_must(cadre_run_wait(run, NULL, &err), &err);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static int frames_run(int argc, char **argv)
{
    long most = argc > 0 ? strtol(argv[0], NULL, 10) : 1000000;
    bench_head("frames: enter, run nothing, leave (memory store, its rows included)");
    for (long n = 1000; n <= most; n *= 10) {
        char what[64];
        loop l = {.n = n};
        run_loop("memory", &l);
        snprintf(what, sizeof what, "%ld frames: CPU a frame", n);
        bench_print(&(bench_row){what, l.cpu_us * 1e3 / (double)n, "ns", 0, 700});
    }
    bench_print(&(bench_row){"a frame in memory, beside its texts and its key",
                             (double)sizeof(struct cadre_frame), "bytes", 0, 256});
    return 0;
}

const bench bench_frames = {"frames", "enter, run nothing and leave", frames_run};
