// crowd: 10,000 runs at once in one process, two streamed turns of a second each,
// against bare libcurl clients that do the same in the same run.
#include "bare.h"
#include "runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    N_RUNS = 10000
};

// In a process of its own: what it leaves in the heap would be ours to copy.
static void measure_floor(int port, int n, bare_cost *out)
{
    int ends[2];
    *out = (bare_cost){.failed = n};
    if (pipe(ends) != 0)
        return;
    int pid = fork();
    if (pid == 0) {
        bare_crowd(port, n, RUNS_TURNS, out);
        _exit(write(ends[1], out, sizeof *out) == sizeof *out ? 0 : 1);
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], out, sizeof *out) != sizeof *out)
        out->failed = n;
    close(ends[0]);
    waitpid(pid, NULL, 0);
    if (out->failed == 0)
        return;
    fprintf(stderr, "cadre-bench: %d bare clients failed\n", out->failed);
    exit(1);
}

static int crowd_run(int argc, char **argv)
{
    int n = argc > 0 ? (int)strtol(argv[0], NULL, 10) : N_RUNS;
    bare_cost floor;
    runs_cost ours;
    bench_server server;
    const bench_answers answers = {.pieces = RUNS_PIECES, .spread_ms = RUNS_SPREAD_MS};
    bench_head("crowd: runs at once, against bare libcurl, a multi handle for 1,000");
    bench_server_start(&server, &answers);
    measure_floor(server.port, n, &floor);
    bench_server_stop(&server);
    bench_server_start(&server, &answers);
    runs_measure(server.port, n, &ours);
    bench_server_stop(&server);
    printf("%d runs\n", n);
    bench_print(&(bench_row){"wall (floor: bare libcurl)", ours.wall_us / 1e3, "ms",
                             floor.wall_us / 1e3, 1.3});
    bench_print(&(bench_row){"CPU a run (floor: bare libcurl)", ours.cpu_us / n, "us",
                             floor.cpu_us / n, 1.3});
    bench_print(&(bench_row){"resident memory a run", ours.kib, "KiB", 0, 48});
    bench_print(&(bench_row){"failed", ours.failed, "runs", 0, 0});
    return ours.failed == 0 ? 0 : 1;
}

const bench bench_crowd = {"crowd", "10,000 runs against bare libcurl", crowd_run};
