#include "show_run.h"

#include "answer.h"
#include "duration.h"
#include "json_output.h"
#include "live_tree.h"
#include "output.h"
#include "print_tree.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct show {
    cadre_run *run;
    const cli_show_config *config;
    cli_output output;
    cli_terminal out, err; // stdout and stderr
    cli_answer answer;
    cli_live_tree *live;
    bool is_streaming; // the answer is shown as it comes
} show;

static void show_init(show *it, cadre_run *run, const cli_show_config *config)
{
    *it = (show){.run = run, .config = config};
    cli_output_init(&it->output);
    cli_terminal_init(&it->out, STDOUT_FILENO, config->is_plain);
    cli_terminal_init(&it->err, STDERR_FILENO, config->is_plain);
    cli_answer_init(&it->answer, &it->output);
    it->is_streaming = config->form == CLI_SHOW_ANSWER && it->out.is_terminal;
    // Lines of events and a tree that is drawn again cannot share a screen.
    bool is_screen_taken = config->form == CLI_SHOW_EVENTS && it->out.is_terminal;
    if (!config->is_quiet)
        fprintf(stderr, "trace %s\n", cadre_run_trace_id(run));
    if (it->err.has_movement && !config->is_quiet && !is_screen_taken)
        it->live = cli_live_tree_start(&it->err);
}

static void show_fini(show *it)
{
    cli_live_tree_stop(it->live);
    cli_answer_fini(&it->answer);
}

static void end_message(show *it)
{
    cli_answer_end_line(&it->answer);
    cli_live_tree_show(it->live);
}

// While text runs over the screen the tree is off it.
static void stream_answer(show *it, const cadre_event *event)
{
    switch (event->type) {
    case CADRE_EVENT_TEXT_DELTA:
        cli_live_tree_hide(it->live);
        cli_answer_add(&it->answer, event->u.delta.text, event->u.delta.len);
        break;
    case CADRE_EVENT_MESSAGE_START:
    case CADRE_EVENT_RETRY:
        cli_answer_forget(&it->answer);
        cli_live_tree_show(it->live);
        break;
    case CADRE_EVENT_MESSAGE_END:
        if (event->u.message_end.message->n_tool_calls > 0)
            cli_answer_forget(&it->answer);
        end_message(it);
        break;
    case CADRE_EVENT_FRAME_END:
    case CADRE_EVENT_STREAM_END:
        end_message(it);
        break;
    default:
        break;
    }
}

static void show_event(show *it, const cadre_event *event)
{
    if (it->config->form == CLI_SHOW_EVENTS && it->output.failure == 0) {
        json_t *line = cli_json_event(event);
        cli_output_write_json(&it->output, line, JSON_COMPACT);
        json_decref(line);
    }
    // What forks write is not the answer.
    if (it->is_streaming && event->is_main)
        stream_answer(it, event);
    cli_live_tree_take(it->live, event);
}

// Events that nobody looks at are not made: waiting for the end drops them.
static bool wants_events(const show *it)
{
    return it->config->form == CLI_SHOW_EVENTS || it->is_streaming || it->live;
}

static void follow(show *it)
{
    const cadre_event *event = NULL;
    bool is_stopped = false;

    if (!wants_events(it))
        return;
    while (cadre_run_next(it->run, &event, NULL) == CADRE_OK) {
        show_event(it, event);
        if (it->output.failure != 0 && !is_stopped) {
            // Nobody will see the answer: no more money is spent on it.
            is_stopped = true;
            cadre_run_cancel(it->run, cli_output_is_closed(&it->output)
                                          ? "output closed"
                                          : "cannot write to stdout");
        }
    }
    cli_live_tree_stop(it->live);
    it->live = NULL;
}

static void write_result(show *it, const cadre_result *result, cli_frames frames)
{
    if (it->config->form == CLI_SHOW_JSON) {
        json_t *object = cli_json_result(result, frames, it->config->wants_all_frames);
        cli_output_write_json(&it->output, object, JSON_INDENT(2));
        json_decref(object);
    }
    if (it->config->form == CLI_SHOW_ANSWER) {
        if (result->status == CADRE_FRAME_COMPLETED)
            cli_answer_finish(&it->answer, result->text, it->out.is_terminal);
        else
            cli_answer_end_line(&it->answer);
    }
}

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

static void print_count(FILE *stream, int64_t n, const char *noun)
{
    fprintf(stream, ", %" PRId64 " %s%s", n, noun, n == 1 ? "" : "s");
}

static void print_summary(FILE *stream, const cadre_result *result, cli_frames frames)
{
    char time[24];
    bool is_special = result->stop_reason != CADRE_STOP_NONE &&
                      result->stop_reason != CADRE_STOP_FINAL &&
                      result->status == CADRE_FRAME_COMPLETED;

    cli_duration_format(result->duration_ms, time, sizeof(time));
    fputs(cadre_frame_status_name(result->status), stream);
    if (is_special)
        fprintf(stream, " (%s)", cadre_stop_reason_name(result->stop_reason));
    print_count(stream, (int64_t)count_agents(frames), "agent");
    print_count(stream, result->usage.model_calls, "model call");
    if (result->usage.tool_calls > 0)
        print_count(stream, result->usage.tool_calls, "tool call");
    fprintf(stream, ", %" PRId64 " tokens in, %" PRId64 " out, %s%s, trace %s\n",
            result->usage.input_tokens, result->usage.output_tokens, time,
            result->offline ? ", offline" : "", result->trace_id);
}

// Put together first, so that it stands on stderr in one piece.
static void print_end(const show *it, const cadre_result *result, cli_frames frames)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = it->config->is_quiet ? NULL : open_memstream(&text, &len);

    if (!stream)
        return;
    cli_tree_print_frames(frames, &it->err, stream);
    print_summary(stream, result, frames);
    if (fclose(stream) == 0)
        fwrite(text, 1, len, stderr);
    free(text);
}

static void report_failure(const cadre_result *result)
{
    const cadre_error_info *error = &result->error;
    const char *message = error->message && *error->message
                              ? error->message
                              : cadre_stop_reason_name(result->stop_reason);

    if (result->status == CADRE_FRAME_COMPLETED)
        return;
    if (error->agent && *error->agent && !strstr(message, error->agent))
        cli_report("agent '%s': %s", error->agent, message);
    else
        cli_report("%s", message);
}

// No default: a new reason makes the compiler ask here. Some of these only come with a
// run that failed.
static int exit_of_completed(cadre_stop_reason reason)
{
    switch (reason) {
    case CADRE_STOP_MAX_TURNS:
        return CLI_EXIT_LIMIT;
    case CADRE_STOP_NONE:
    case CADRE_STOP_FINAL:
    case CADRE_STOP_MAX_HANDOFFS:
    case CADRE_STOP_LOOP:
    case CADRE_STOP_LIMIT:
    case CADRE_STOP_TIMEOUT:
    case CADRE_STOP_ABORTED:
    case CADRE_STOP_DIVERGED:
    case CADRE_STOP_ERROR:
        break;
    }
    return CLI_EXIT_OK;
}

static int exit_of(const cadre_result *result)
{
    cadre_error_class error_class = result->error.error_class;

    switch (result->status) {
    case CADRE_FRAME_COMPLETED:
        return exit_of_completed(result->stop_reason);
    case CADRE_FRAME_WAITING:
        return CLI_EXIT_WAITS;
    case CADRE_FRAME_TIMEOUT:
    case CADRE_FRAME_ABORTED:
        return CLI_EXIT_ABORTED;
    default:
        return error_class == CADRE_CLASS_STORE || error_class == CADRE_CLASS_LEASE
                   ? CLI_EXIT_STORE
                   : CLI_EXIT_FAILED;
    }
}

static int show_end(show *it)
{
    const cadre_result *result = NULL;
    cli_frames frames = {0};
    cadre_error err = CADRE_ERROR_INIT;

    // How it ended stands in the result.
    cadre_run_wait(it->run, &result, NULL);
    if (cadre_run_frames(it->run, &frames.items, &frames.count, &err) != CADRE_OK) {
        cli_report("%s", err.text);
        return cli_output_finish(&it->output, cli_exit_of_error(&err));
    }
    write_result(it, result, frames);
    int exit_status = cli_output_finish(&it->output, exit_of(result));
    print_end(it, result, frames);
    // Of a run that was stopped because stdout failed that failure was told.
    if (it->output.failure == 0 || cli_output_is_closed(&it->output))
        report_failure(result);
    return exit_status;
}

int cli_show_run(cadre_run *run, cli_signals *signals, const cli_show_config *config)
{
    cadre_error err = CADRE_ERROR_INIT;
    show it;

    if (cli_signals_start(signals, run, &err) != CADRE_OK) {
        cli_report("%s", err.text);
        cli_signals_stop(signals);
        return CLI_EXIT_FAILED;
    }
    show_init(&it, run, config);
    follow(&it);
    int exit_status = show_end(&it);
    show_fini(&it);
    cli_signals_stop(signals);
    return signals->output_was_closed ? CLI_EXIT_ABORTED : exit_status;
}
