// The benchmarks: each prints rows of a table, as a ratio against a floor that was
// measured in the same run, so that the machine's speed cancels out.
#ifndef CADRE_BENCH_H
#define CADRE_BENCH_H

#include "cadre/cadre.h"

#include <stddef.h>
#include <stdint.h>

typedef struct bench {
    const char *name, *summary;
    int (*run)(int argc, char **argv); // 0: done, also when a goal was missed
} bench;

extern const bench bench_frames, bench_graph, bench_ledger, bench_runs, bench_start,
    bench_teams, bench_transfers, bench_turn;

// One row: what, how much of what, the floor, the ratio to it and the goal for it. A
// floor of 0: there is none, and the goal is for the value.
typedef struct bench_row {
    const char *what;
    double value;
    const char *unit;
    double floor;
    double goal;
} bench_row;

void bench_head(const char *title);
void bench_print(const bench_row *row);

double bench_cpu_us(void);  // of this process, user and system
double bench_wall_us(void); // monotonic
long bench_rss_kib(void);   // resident now

// Stops the program with the error's text unless the status is CADRE_OK.
void bench_must(cadre_status status, const cadre_error *err);

// A server in a process of its own, on loopback: answers every POST with a streamed
// chat completion whose text comes in `pieces`, spread over `spread_ms`.
typedef struct bench_server {
    int port;
    int pid;
} bench_server;
void bench_server_start(bench_server *server, int pieces, int spread_ms);
void bench_server_stop(bench_server *stopped);

#endif
