// Many runs at once, two streamed turns of a second each: what `runs` and `crowd` have
// in common.
#ifndef CADRE_BENCH_RUNS_H
#define CADRE_BENCH_RUNS_H

#include "bench.h"

enum {
    RUNS_PIECES = 10,
    RUNS_SPREAD_MS = 1000,
    RUNS_TURNS = 2
};

typedef struct runs_cost {
    double wall_us, cpu_us; // from the first start to the last end
    double kib;             // resident memory a run, at most
    int failed;
} runs_cost;

// Runs `n` at once, in a runtime and a team of their own.
void runs_measure(int port, int n, runs_cost *out);

#endif
