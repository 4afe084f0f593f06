// start: from exec to exit of the offline samples, against a program that does nothing,
// linked to the same libraries.
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TIMES = 40
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// The program beside this one.
static void sibling(char *path, size_t size, const char *name)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    size_t used = slash == NULL ? 0 : (size_t)(slash + 1 - path);
    snprintf(path + used, size - used, "%s", name);
}

static double median_us(const char *const argv[])
{
    static double times[TIMES];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < TIMES; i++) {
        pid_t pid = 0;
        int status = 0;
        double start = bench_wall_us();
        if (posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
                        environ) != 0 ||
            waitpid(pid, &status, 0) != pid || status != 0) {
            fprintf(stderr, "cadre-bench: %s failed\n", argv[0]);
            exit(1);
        }
        times[i] = bench_wall_us() - start;
    }
    posix_spawn_file_actions_destroy(&actions);
    qsort(times, TIMES, sizeof times[0], compare);
    return times[TIMES / 2];
}

static void measure(const char *team, double floor)
{
    char program[4096];
    char what[80];
    sibling(program, sizeof program, "cadre");
    const char *const argv[] = {program,   "run",    team,        "I am Ada",
                                "--store", "memory", "--offline", NULL};
    snprintf(what, sizeof what, "%s", team);
    bench_print(&(bench_row){what, median_us(argv) / 1e3, "ms", floor / 1e3, 1.5});
}

static int start_run(int argc, char **argv)
{
    char empty[4096];
    (void)argc;
    (void)argv;
    sibling(empty, sizeof empty, "cadre-bench-empty");
    const char *const nothing[] = {empty, NULL};
    bench_head("start: from exec to exit of an offline run (floor: an empty program)");
    double floor = median_us(nothing);
    measure("samples/hello/team.yaml", floor);
    measure("samples/customer-desk/team.yaml", floor);
    return 0;
}

const bench bench_start = {"start", "start to exit of the offline samples", start_run};
