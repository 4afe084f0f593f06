// See summary.h.
#include "summary.h"

#include "duration.h"
#include "print_tree.h"

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

static void print_troubles(FILE *stream, size_t n_failed_tools, int64_t n_retries)
{
    if (n_failed_tools > 0)
        fprintf(stream, " (%zu failed)", n_failed_tools);
    if (n_retries > 0)
        fprintf(stream, ", %" PRId64 " %s", n_retries,
                n_retries == 1 ? "retry" : "retries");
}

// How it ended, where that is not what one hopes for.
static const char *reason_of(const cadre_result *result)
{
    if (result->status != CADRE_FRAME_COMPLETED ||
        result->stop_reason == CADRE_STOP_NONE ||
        result->stop_reason == CADRE_STOP_FINAL)
        return NULL;
    return result->stop_reason == CADRE_STOP_LIMIT
               ? "cut by the model's token limit"
               : cadre_stop_reason_name(result->stop_reason);
}

void cli_summary_print(FILE *stream, const cadre_result *result, cli_frames frames,
                       int64_t n_retries)
{
    const char *reason = reason_of(result);
    char time[24];

    cli_duration_format(result->duration_ms, time, sizeof(time));
    fputs(cadre_frame_status_name(result->status), stream);
    if (reason)
        fprintf(stream, " (%s)", reason);
    print_count(stream, (int64_t)count_agents(frames), "agent");
    print_count(stream, result->usage.model_calls, "model call");
    if (result->usage.tool_calls > 0)
        print_count(stream, result->usage.tool_calls, "tool call");
    print_troubles(stream, count_failed_tools(frames), n_retries);
    fprintf(stream, ", %" PRId64 " tokens in, %" PRId64 " out, %s%s, trace %s\n",
            result->usage.input_tokens, result->usage.output_tokens, time,
            result->offline ? ", offline" : "", result->trace_id);
}
