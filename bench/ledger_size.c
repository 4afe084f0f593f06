// How the file grows: a step is a model's turn with a tool call, its result and 250
// bytes of text in all.
#include "ledger_model.h"

#include <stdio.h>
#include <sys/stat.h>

// The size of the file after a run of so many steps.
static double size_after(int n_turns)
{
    char path[LEDGER_PATH_SIZE];
    char url[LEDGER_PATH_SIZE + 24];
    struct stat found = {.st_size = 0};
    const ledger_plan plan = {.n_turns = n_turns};
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    ledger_folder folder;
    ledger_team it;
    ledger_folder_make(&folder);
    ledger_folder_path(&folder, "cadre.db", path);
    snprintf(url, sizeof url, "%s?durability=normal", path);
    ledger_team_open(&it, url, "turns", &plan);
    bench_must(cadre_run_start(it.team, &ledger_run_config, &run, &err), &err);
    bench_must(cadre_run_wait(run, NULL, &err), &err);
    cadre_run_free(run);
    ledger_team_close(&it);
    stat(path, &found);
    ledger_folder_remove(&folder);
    return (double)found.st_size;
}

void ledger_size(void)
{
    char what[80];
    double empty = size_after(0);
    double first = 0;
    bench_head("ledger: bytes a step, a model's turn with a tool call");
    for (int n = 250; n <= 4000; n *= 4) {
        double a_step = (size_after(n) - empty) / n;
        first = first > 0 ? first : a_step;
        snprintf(what, sizeof what, "%d steps: bytes of the file a step", n);
        bench_print(&(bench_row){what, a_step, "bytes", 0, 1536});
        snprintf(what, sizeof what, "%d steps: the same (floor: of 250 steps)", n);
        if (n > 250)
            bench_print(&(bench_row){what, a_step, "bytes", first, 1.05});
    }
}
