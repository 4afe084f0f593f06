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

extern const bench bench_crowd, bench_decode, bench_frames, bench_graph, bench_history,
    bench_ledger, bench_runs, bench_start, bench_teams, bench_transfers, bench_turn;

// One row: what, how much of what, the floor, the ratio to it and the goal for it. A
// floor of 0: there is none, and the goal is for the value. A goal of 0: there is none.
typedef struct bench_row {
    const char *what;
    double value;
    const char *unit;
    double floor;
    double goal;
} bench_row;

void bench_head(const char *title);
void bench_print(const bench_row *row);
void bench_print_at_least(const bench_row *row); // the goal is a lower bound

double bench_cpu_us(void);  // of this process, user and system
double bench_wall_us(void); // monotonic
long bench_rss_kib(void);   // resident now

// Stops the program with the error's text unless the status is CADRE_OK.
void bench_must(cadre_status status, const cadre_error *err);

// The middle one; sorts them.
double bench_median(double *values, size_t n);

// A server in a process of its own, on loopback: answers every POST with a streamed
// chat completion whose text comes in `pieces`, spread over `spread_ms`. So many
// answers in a row end with a call of the tool "note", {"n": 0} and so on; the next is
// text alone, and then they begin anew.
typedef struct bench_answers {
    int pieces, spread_ms;
    int n_calls;
} bench_answers;

typedef struct bench_server {
    int port;
    int pid;
} bench_server;
void bench_server_start(bench_server *server, const bench_answers *answers);
void bench_server_stop(bench_server *stopped);

#endif
