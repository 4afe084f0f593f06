// cadre runs: what was run, newest first.
#include "ui/command.h"
#include "ui/cost.h"
#include "ui/duration.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/record.h"
#include "ui/report.h"
#include "ui/store.h"
#include "ui/text.h"

#include <cadre/cadre.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct listing {
    cli_page page;
    json_t *array;       // NULL: lines are printed
    const char *status;  // of those that are wanted; NULL: all
    int limit, n_listed; // 0: all
    int64_t now_ms;
} listing;

static void print_age(FILE *stream, int64_t age_ms)
{
    static const int64_t day_ms = INT64_C(24) * 3600 * 1000;
    char age[24];

    if (age_ms >= 2 * day_ms) {
        fprintf(stream, "%lld days", (long long)(age_ms / day_ms));
        return;
    }
    cli_duration_format(age_ms < 0 ? 0 : age_ms, age, sizeof(age));
    fputs(age, stream);
}

// Of one with calls that have no price it is what the others cost.
static void print_cost(FILE *stream, const cadre_record_info *info)
{
    char cost[32];

    if (info->cost_usd_micros == 0)
        return;
    cli_cost_format(info->cost_usd_micros, cost, sizeof(cost));
    fprintf(stream, "  %s%s", info->unpriced_calls > 0 ? "at least " : "", cost);
}

static cadre_status print_run(void *ctx, const cadre_record_info *info,
                              cadre_error *err)
{
    listing *it = ctx;

    (void)err;
    if (it->status && strcmp(it->status, cli_record_status(info)) != 0)
        return CADRE_OK;
    if (it->limit > 0 && it->n_listed++ == it->limit)
        return CADRE_DONE;
    if (it->array) {
        json_array_append_new(it->array, cli_record_json(info));
        return CADRE_OK;
    }
    fprintf(it->page.stream, "%-18s  %-9s  ", info->trace_id, cli_record_status(info));
    cli_text_print(it->page.stream, info->team, strlen(info->team), CLI_TEXT_ONE_LINE);
    if (*info->spawned_by)
        fputs("  background", it->page.stream);
    if (*info->session) {
        fputs("  session '", it->page.stream);
        cli_text_print(it->page.stream, info->session, strlen(info->session),
                       CLI_TEXT_ONE_LINE);
        fputc('\'', it->page.stream);
    }
    print_cost(it->page.stream, info);
    fputs("  ", it->page.stream);
    print_age(it->page.stream, it->now_ms - info->created_at);
    fputs(" ago\n", it->page.stream);
    return CADRE_OK;
}

static int64_t wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int print_listing(listing *it, int exit_status)
{
    cli_output output;

    if (!it->array)
        return cli_page_finish(&it->page, exit_status);
    cli_output_init(&output);
    cli_output_write_json(&output, it->array, JSON_INDENT(2));
    json_decref(it->array);
    return cli_output_finish(&output, exit_status);
}

static int list_runs(cadre_runtime *runtime, const cli_arguments *arguments, int limit)
{
    cadre_error err = CADRE_ERROR_INIT;
    listing it = {.now_ms = wall_ms(),
                  .limit = limit,
                  .status = cli_arguments_value(arguments, "status")};
    int n_wanted = it.status ? 0 : limit;

    if (cli_arguments_has(arguments, "json"))
        it.array = json_array();
    else if (!cli_page_init(&it.page))
        return CLI_EXIT_FAILED;
    cadre_status status = cadre_record_list(runtime, n_wanted, print_run, &it, &err);
    if (status == CADRE_OK || status == CADRE_DONE)
        return print_listing(&it, CLI_EXIT_OK);
    cli_report("%s", err.text);
    return print_listing(&it, cli_exit_of_error(&err));
}

// False: no number from 1 to a million.
static bool read_limit(const char *text, int *limit)
{
    size_t n_digits = strspn(text, "0123456789");

    if (n_digits == 0 || n_digits > 7 || text[n_digits])
        return false;
    *limit = (int)strtol(text, NULL, 10);
    return *limit >= 1 && *limit <= 1000000;
}

// As cli_record_status tells it; NULL is any.
static bool is_status(const char *text)
{
    static const char *const known[] = {"cut",    "running", "waiting", "completed",
                                        "failed", "timeout", "aborted"};

    for (size_t i = 0; text && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(text, known[i]) == 0)
            return true;
    return !text;
}

static int runs_run(const cli_arguments *arguments)
{
    const char *limit_text = cli_arguments_value(arguments, "limit");
    cadre_runtime *runtime = NULL;
    cli_store store;
    int limit = 0, exit_status = CLI_EXIT_FAILED;

    if (limit_text && !read_limit(limit_text, &limit))
        return cli_report_usage(arguments->command,
                                "option '--limit': expected a number from 1 to "
                                "1000000, not '%s'",
                                limit_text);
    if (!is_status(cli_arguments_value(arguments, "status")))
        return cli_report_usage(arguments->command,
                                "option '--status': expected cut, running, waiting, "
                                "completed, failed, timeout or aborted, not '%s'",
                                cli_arguments_value(arguments, "status"));
    if (cli_store_init(&store, arguments))
        exit_status = cli_store_open_existing(&store, &runtime);
    if (exit_status == CLI_EXIT_OK)
        exit_status = list_runs(runtime, arguments, limit);
    cadre_runtime_close(runtime);
    cli_store_fini(&store);
    return exit_status;
}

static const cli_option options[] = {
    {"json", NULL, "print a JSON array"},
    {"limit", "N", "the newest N only"},
    {"status", "STATUS", "those of this status only: cut, failed, completed, ..."},
    {"store", "URL", "where runs are recorded: " CLI_STORE_OPTION},
};

const cadre_command cadre_command_runs = {
    .name = "runs",
    .summary = "Lists the runs of the store, newest first",
    .arguments = "",
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "Each with its trace id, status, team, session, cost and age; `background` is\n"
        "one that another run spawned. One that is `cut` was running when its program\n"
        "ended: `cadre resume` goes on with it. One that is `waiting` asks something:\n"
        "`cadre wait` tells what.\n",
    .run = runs_run,
};
