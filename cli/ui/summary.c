// See summary.h.
#include "summary.h"

#include "cost.h"
#include "duration.h"
#include "print_tree.h"
#include "record.h"

#include <inttypes.h>
#include <string.h>

// Different agents; one that was asked ten times counts once.
static size_t count_agents(cli_frames frames)
{
    json_t *names = json_object();

    for (size_t i = 0; i < frames.count; i++)
        if (strcmp(frames.items[i].kind, "agent") == 0)
            json_object_set_new(names, frames.items[i].name, json_true());
    size_t n = json_object_size(names);
    json_decref(names);
    return n;
}

static size_t count_failed_tools(cli_frames frames)
{
    size_t n = 0;

    for (size_t i = 0; i < frames.count; i++)
        n += cli_tree_is_failed_tool(&frames.items[i]);
    return n;
}

static void print_count(FILE *stream, int64_t n, const char *noun)
{
    fprintf(stream, ", %" PRId64 " %s%s", n, noun, n == 1 ? "" : "s");
}

// Nothing where no call has a price.
static void print_cost(FILE *stream, const cadre_usage *usage)
{
    char cost[32];

    if (usage->unpriced_calls >= usage->model_calls)
        return;
    cli_cost_format(usage->cost_usd_micros, cost, sizeof(cost));
    fprintf(stream, ", %s", cost);
    if (usage->unpriced_calls > 0)
        fprintf(stream, " without %" PRId64 " unpriced call%s", usage->unpriced_calls,
                usage->unpriced_calls == 1 ? "" : "s");
}

static void print_troubles(FILE *stream, size_t n_failed_tools, int64_t n_retries)
{
    if (n_failed_tools > 0)
        fprintf(stream, " (%zu failed)", n_failed_tools);
    if (n_retries > 0)
        fprintf(stream, ", %" PRId64 " %s", n_retries,
                n_retries == 1 ? "retry" : "retries");
}

// A run that is parked has not ended.
static const char *words_of(const char *status)
{
    return strcmp(status, "waiting") == 0 ? "waits for an answer" : status;
}

// How it ended, where that is not what one hopes for.
static const char *reason_of(cadre_frame_status status, cadre_stop_reason reason)
{
    if (status != CADRE_FRAME_COMPLETED || reason == CADRE_STOP_NONE ||
        reason == CADRE_STOP_FINAL)
        return NULL;
    return reason == CADRE_STOP_LIMIT ? "cut by the model's token limit"
                                      : cadre_stop_reason_name(reason);
}

// Counts and what they took, of any run.
typedef struct summary {
    const char *status, *reason; // reason NULL: nothing worth a word
    const cadre_usage *usage;
    int64_t duration_ms; // -1: it is not over
    int64_t n_retries;
    bool is_offline;
    const char *trace_id;
} summary;

static void print_summary(FILE *stream, const summary *it, cli_frames frames)
{
    char time[24];

    fputs(words_of(it->status), stream);
    if (it->reason)
        fprintf(stream, " (%s)", it->reason);
    print_count(stream, (int64_t)count_agents(frames), "agent");
    print_count(stream, it->usage->model_calls, "model call");
    if (it->usage->tool_calls > 0)
        print_count(stream, it->usage->tool_calls, "tool call");
    print_troubles(stream, count_failed_tools(frames), it->n_retries);
    fprintf(stream, ", %" PRId64 " tokens in, %" PRId64 " out", it->usage->input_tokens,
            it->usage->output_tokens);
    print_cost(stream, it->usage);
    cli_duration_format(it->duration_ms, time, sizeof(time));
    fprintf(stream, "%s%s%s, trace %s\n", *time ? ", " : "", time,
            it->is_offline ? ", offline" : "", it->trace_id);
}

void cli_summary_print(FILE *stream, const cadre_result *result, cli_frames frames,
                       int64_t n_retries)
{
    const summary it = {.status = cadre_frame_status_name(result->status),
                        .reason = reason_of(result->status, result->stop_reason),
                        .usage = &result->usage,
                        .duration_ms = result->duration_ms,
                        .n_retries = n_retries,
                        .is_offline = result->offline,
                        .trace_id = result->trace_id};

    print_summary(stream, &it, frames);
}

void cli_summary_print_record(FILE *stream, const cadre_record_info *info,
                              cli_frames frames)
{
    static const cadre_frame_info none = {.completed_at = 0};
    const cadre_frame_info *root = frames.count > 0 ? &frames.items[0] : &none;
    const summary it = {.status = cli_record_status(info),
                        .reason = reason_of(root->status, root->stop_reason),
                        .usage = &root->usage,
                        .duration_ms = root->completed_at > 0 ? root->duration_ms : -1,
                        .trace_id = info->trace_id};

    print_summary(stream, &it, frames);
}
