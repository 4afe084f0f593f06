// cadre check: finds every mistake of a team before a token is spent, and tells what a
// run of it takes at most.
#include "ui/command.h"
#include "ui/cost.h"
#include "ui/duration.h"
#include "ui/json_output.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/report.h"
#include "ui/team_file.h"
#include "ui/team_type.h"
#include "ui/text.h"

#include <inttypes.h>
#include <string.h>

// --- The worst case ---

// "1,240".
static void print_number(FILE *stream, int64_t n)
{
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRId64, n);

    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            fputc(',', stream);
        fputc(digits[i], stream);
    }
}

static void print_bound(FILE *stream, int64_t calls)
{
    print_number(stream, calls);
    if (calls == CADRE_WORST_CASE_MAX)
        fputs(" or more", stream);
}

static int64_t effective_calls(const cadre_worst_case *worst)
{
    int64_t limit = worst->limits.max_model_calls;

    if (limit == CADRE_UNLIMITED)
        return worst->model_calls;
    return worst->model_calls == CADRE_UNLIMITED || worst->model_calls > limit
               ? limit
               : worst->model_calls;
}

// "at most 200 model calls (limits.max_model_calls; the team could make 1,240)"
static void print_model_calls(FILE *stream, const cadre_worst_case *worst)
{
    int64_t calls = effective_calls(worst);

    if (calls == CADRE_UNLIMITED) {
        fputs("as many model calls as its agents like (limits.max_model_calls is "
              "unlimited)",
              stream);
        return;
    }
    fputs("at most ", stream);
    print_bound(stream, calls);
    fprintf(stream, " model call%s", calls == 1 ? "" : "s");
    if (calls == worst->model_calls)
        return;
    fputs(" (limits.max_model_calls; the team ", stream);
    if (worst->model_calls == CADRE_UNLIMITED) {
        fputs("has no bound of its own)", stream);
        return;
    }
    fputs("could make ", stream);
    print_bound(stream, worst->model_calls);
    fputc(')', stream);
}

// ", budget $0.50 and 200,000 tokens"
static void print_budget(FILE *stream, const cadre_budget *budget)
{
    char cost[32], time[32];
    const char *before = ", budget ";

    if (budget->max_cost_usd_micros > 0) {
        cli_cost_format(budget->max_cost_usd_micros, cost, sizeof(cost));
        fprintf(stream, "%s%s", before, cost);
        before = " and ";
    }
    if (budget->max_tokens > 0) {
        fputs(before, stream);
        print_number(stream, budget->max_tokens);
        fputs(" tokens", stream);
        before = " and ";
    }
    if (budget->max_time_ms > 0) {
        cli_duration_format(budget->max_time_ms, time, sizeof(time));
        fprintf(stream, "%s%s", before, time);
    }
}

static void print_worst_case(FILE *stream, const cadre_worst_case *worst)
{
    print_model_calls(stream, worst);
    fprintf(stream, ", depth %d%s", worst->depth, worst->is_deeper ? " or more" : "");
    if (worst->limits.max_depth != CADRE_UNLIMITED)
        fprintf(stream, " of %d", worst->limits.max_depth);
    print_budget(stream, &worst->budget);
    fputc('\n', stream);
}

// --- For people ---

static void print_summary(FILE *stream, const cadre_team *team)
{
    const cadre_agent *root = cadre_team_root(team);
    cadre_agents agents = cadre_team_agents(team);
    size_t n_topologies = 0;

    for (size_t i = 0; i < agents.count; i++)
        n_topologies += cadre_agent_members(agents.items[i]).count > 0;
    fprintf(stream, "ok: %zu agent%s, %zu of them over others", agents.count,
            agents.count == 1 ? "" : "s", n_topologies);
    if (root) {
        const cadre_agent_info *info = cadre_agent_get_info(root);
        fputs(", root ", stream);
        cli_text_print(stream, info->name, strlen(info->name), CLI_TEXT_ONE_LINE);
        fprintf(stream, " (%s)", info->type);
    }
    fputc('\n', stream);
}

static int tell_ok(const cadre_team *team)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_worst_case worst;
    cli_page page;

    cli_report_notes(team);
    if (cadre_team_worst_case(team, &worst, &err) != CADRE_OK) {
        cli_report("%s", err.text);
        return CLI_EXIT_FAILED;
    }
    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    print_summary(page.stream, team);
    print_worst_case(page.stream, &worst);
    return cli_page_finish(&page, CLI_EXIT_OK);
}

// --- For programs ---

static json_t *texts_json(const char *const *texts, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, cli_json_text(texts[i]));
    return array;
}

// A mistake without a team is the one that is told.
static json_t *problems_json(const cli_team_file *file, bool is_ok)
{
    size_t n = 0;
    const char *const *problems = cadre_team_problems(file->team, &n);
    const char *const alone[] = {file->err.text};

    return n == 0 && !is_ok ? texts_json(alone, 1) : texts_json(problems, n);
}

static json_t *bound_json(int64_t bound)
{
    return bound == CADRE_UNLIMITED ? json_null() : json_integer(bound);
}

// Null: no limit of that kind.
static json_t *budget_json(const cadre_budget *budget)
{
    int64_t tokens = budget->max_tokens, ms = budget->max_time_ms;
    int64_t cost = budget->max_cost_usd_micros;

    return json_pack("{s:o, s:o, s:o}", "max_cost",
                     cost > 0 ? cli_cost_json(cost, 0) : json_null(), "max_tokens",
                     tokens > 0 ? json_integer(tokens) : json_null(), "max_time_ms",
                     ms > 0 ? json_integer(ms) : json_null());
}

static json_t *worst_case_json(const cadre_team *team)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_worst_case worst;

    if (cadre_team_worst_case(team, &worst, &err) != CADRE_OK)
        return json_null();
    return json_pack("{s:o, s:o, s:i, s:b, s:o, s:o}", "model_calls",
                     bound_json(effective_calls(&worst)), "model_calls_of_team",
                     bound_json(worst.model_calls), "depth", worst.depth, "is_deeper",
                     worst.is_deeper, "max_depth", bound_json(worst.limits.max_depth),
                     "budget", budget_json(&worst.budget));
}

static int tell_json(const cli_team_file *file, int exit_status)
{
    bool is_ok = exit_status == CLI_EXIT_OK;
    size_t n = 0;
    const char *const *notes = cadre_team_notes(file->team, &n);
    json_t *object =
        json_pack("{s:b, s:o, s:o, s:o}", "ok", is_ok, "problems",
                  problems_json(file, is_ok), "notes", texts_json(notes, n),
                  "worst_case", is_ok ? worst_case_json(file->team) : json_null());
    cli_output output;

    cli_output_init(&output);
    cli_output_write_json(&output, object, JSON_INDENT(2));
    json_decref(object);
    return cli_output_finish(&output, exit_status);
}

// --- The command ---

static int check_run(const cli_arguments *arguments)
{
    bool is_json = cli_arguments_has(arguments, "json");
    cli_team_file file;
    int exit_status = is_json ? cli_team_file_open(&file, arguments)
                              : cli_team_file_open_or_tell(&file, arguments);

    if (is_json && !file.is_told)
        exit_status = tell_json(&file, exit_status);
    else if (exit_status == CLI_EXIT_OK)
        exit_status = tell_ok(file.team);
    cli_team_file_close(&file);
    return exit_status;
}

static const cli_option options[] = {
    {"json", NULL, "print one JSON object: ok, problems, notes, worst_case"},
    {"offline", NULL, "check the team's script of answers too"},
    {"script", "FILE", "check this script with the team; implies --offline"},
    CLI_TYPE_OPTION,
};

const cadre_command cadre_command_check = {
    .name = "check",
    .summary = "Checks a team file and tells all its mistakes at once",
    .arguments = "TEAM",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "Mistakes go to stderr, one line each, with file, line and column;\n"
        "the exit status is 2 then. Notes tell of what is sound but never used or\n"
        "reached, and of programs that are not there yet; the exit status stays 0.\n"
        "\n"
        "Of a sound team it tells what a run of it takes at most: how often models\n"
        "are asked, by its limits and by what its agents could do without them, and\n"
        "how deep calls nest. Calls that are tried again count once; background work\n"
        "has limits of its own.\n"
        "\n"
        "With --json problems and notes go to stdout with the rest; numbers that have\n"
        "no bound are null.\n",
    .run = check_run,
};
