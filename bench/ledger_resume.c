// Going on with a run of 10,000 recorded frames: from cadre_run_resume to the first new
// call of a model. A process ends inside the model, then others go on from its record.
#include "ledger_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    N_TURNS = 5000, // two frames each
    TIMES = 3       // a model call that is cut once more is not made again
};

static double started_us;
static int tells; // a pipe's end; -1: this process makes the record

// Ends the process: in the one that makes the record at the end of it, in one that goes
// on at its first new call.
static void end_here(int n_done)
{
    if (tells < 0 && n_done < N_TURNS)
        return;
    double us = bench_wall_us() - started_us;
    bool is_told = tells < 0 || write(tells, &us, sizeof us) == sizeof us;
    _exit(is_told ? 0 : 1);
}

static const ledger_plan endless = {.n_turns = 2 * N_TURNS, .asked = end_here};

static void make_record(const char *store, const char *root, int trace_fd)
{
    char url[LEDGER_PATH_SIZE + 24];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    ledger_team it;
    snprintf(url, sizeof url, "%s?durability=normal", store);
    tells = -1;
    ledger_team_open(&it, url, root, &endless);
    bench_must(cadre_run_start(it.team, &ledger_run_config, &run, &err), &err);
    if (dprintf(trace_fd, "%s", cadre_run_trace_id(run)) > 0)
        cadre_run_wait(run, NULL, &err);
    bench_must(CADRE_ESTORE, &err); // the model ends the process
}

static void go_on(const char *store, const char *root, const char *trace, int time_fd)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    ledger_team it;
    tells = time_fd;
    ledger_team_open(&it, store, root, &endless);
    started_us = bench_wall_us();
    bench_must(cadre_run_resume(it.team, trace, &ledger_run_config, &run, &err), &err);
    cadre_run_wait(run, NULL, &err);
    bench_must(CADRE_ESTORE, &err);
}

// Runs one of both in a process of its own (`trace` NULL: the record is made). What it
// told is read.
static void in_child(const char *store, const char *root, const char *trace, void *told,
                     size_t size)
{
    int ends[2];
    int status = -1;
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        if (trace == NULL)
            make_record(store, root, ends[1]);
        else
            go_on(store, root, trace, ends[1]);
        _exit(1);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], told, size);
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0 || n <= 0) {
        fprintf(stderr, "cadre-bench: a process that was to be cut failed\n");
        exit(1);
    }
}

static void measure(const char *root, const char *what)
{
    char path[LEDGER_PATH_SIZE];
    char trace[64] = "";
    double times[TIMES];
    ledger_folder folder;
    ledger_folder_make(&folder);
    ledger_folder_path(&folder, "cadre.db", path);
    in_child(path, root, NULL, trace, sizeof trace - 1);
    for (int i = 0; i < TIMES; i++)
        in_child(path, root, trace, &times[i], sizeof times[i]);
    bench_print(&(bench_row){what, bench_median(times, TIMES) / 1e3, "ms", 0, 100});
    ledger_folder_remove(&folder);
}

void ledger_resume(void)
{
    bench_head("ledger: resume of 10,000 recorded frames, to the first new model call");
    measure("turns", "one agent, 5,000 turns with a tool call");
    measure("calls", "a function's 5,000 calls of an agent, a turn each");
}
