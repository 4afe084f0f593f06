// cadre-bench: measures what the project promises about speed. See README.md.
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const bench *const benches[] = {&bench_start,     &bench_turn,   &bench_history,
                                       &bench_frames,    &bench_graph,  &bench_teams,
                                       &bench_transfers, &bench_decode, &bench_runs,
                                       &bench_crowd,     &bench_ledger};
enum {
    N_BENCHES = sizeof benches / sizeof benches[0]
};

void bench_head(const char *title)
{
    printf("\n%s\n%-52s %12s %-9s %10s %7s  %s\n", title, "", "value", "", "floor",
           "ratio", "goal");
}

static void print(const bench_row *row, bool is_at_least)
{
    double ratio = row->floor > 0 ? row->value / row->floor : row->value;
    bool is_met = is_at_least ? ratio >= row->goal : ratio <= row->goal;
    printf("%-52s %12.2f %-9s ", row->what, row->value, row->unit);
    if (row->floor > 0)
        printf("%10.1f %7.2f  ", row->floor, ratio);
    else
        printf("%10s %7s  ", "", "");
    if (row->goal > 0)
        printf("%s %g %s", is_at_least ? ">=" : "<=", row->goal,
               is_met ? "" : "MISSED");
    printf("\n");
    fflush(stdout);
}

void bench_print(const bench_row *row)
{
    print(row, false);
}

void bench_print_at_least(const bench_row *row)
{
    print(row, true);
}

double bench_cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double bench_wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

long bench_rss_kib(void)
{
    char text[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    const char *line = fgets(text, sizeof text, file);
    fclose(file);
    const char *resident = line == NULL ? NULL : strchr(line, ' ');
    if (resident == NULL)
        return 0;
    return strtol(resident, NULL, 10) * (sysconf(_SC_PAGESIZE) / 1024);
}

void bench_must(cadre_status status, const cadre_error *err)
{
    if (status == CADRE_OK)
        return;
    fprintf(stderr, "cadre-bench: %s: %s\n", cadre_status_name(status), err->text);
    exit(1);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double bench_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

static int usage(void)
{
    fprintf(stderr, "usage: cadre-bench all | NAME [ARGUMENT...]\n");
    for (size_t i = 0; i < N_BENCHES; i++)
        fprintf(stderr, "  %-10s %s\n", benches[i]->name, benches[i]->summary);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage();
    if (strcmp(argv[1], "all") == 0) {
        for (size_t i = 0; i < N_BENCHES; i++)
            if (benches[i]->run(0, NULL) != 0)
                return 1;
        return 0;
    }
    for (size_t i = 0; i < N_BENCHES; i++)
        if (strcmp(argv[1], benches[i]->name) == 0)
            return benches[i]->run(argc - 2, argv + 2);
    return usage();
}
