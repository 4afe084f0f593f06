// See show_run.h.
#include "show_run.h"

#include "answer.h"
#include "duration.h"
#include "json_output.h"
#include "live_tree.h"
#include "output.h"
#include "print_tree.h"
#include "questions.h"
#include "report.h"
#include "summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct show {
    cadre_run *run;
    const cli_show_config *config;
    cli_output own, *output;
    cli_terminal out, err; // stdout and stderr
    cli_answer answer;
    cli_live_tree *live;
    int64_t n_retries;
    bool is_streaming; // the answer is shown as it comes
} show;

// Told first: who looks for it will look after a crash.
static void print_trace(const cadre_run *run, const cli_show_config *config)
{
    const char *trace = cadre_run_trace_id(run);

    if (config->is_quiet || config->is_one_of_many || config->output)
        return;
    if (config->resume)
        cli_report_note("trace %s (cadre resume %s%s)", trace, trace, config->resume);
    else
        cli_report_note("trace %s", trace);
}

static void show_init(show *it, cadre_run *run, const cli_show_config *config)
{
    *it = (show){.run = run, .config = config};
    cli_output_init(&it->own);
    it->output = config->output ? config->output : &it->own;
    cli_terminal_init(&it->out, STDOUT_FILENO, config->is_plain);
    cli_terminal_init(&it->err, STDERR_FILENO, config->is_plain);
    cli_answer_init(&it->answer, it->output, &it->out);
    it->is_streaming = config->form == CLI_SHOW_ANSWER && it->out.is_terminal;
    // Lines of events and a tree that is drawn again cannot share a screen.
    bool is_screen_taken = config->form == CLI_SHOW_EVENTS && it->out.is_terminal;
    print_trace(run, config);
    if (it->err.has_movement && !config->is_quiet && !config->is_one_of_many &&
        !is_screen_taken)
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
        cli_answer_set_speaker(&it->answer, event->agent);
        cli_answer_add(&it->answer, event->u.delta.text, event->u.delta.len);
        break;
    case CADRE_EVENT_MESSAGE_START:
    case CADRE_EVENT_RETRY:
        cli_answer_forget(&it->answer);
        cli_live_tree_show(it->live);
        break;
    case CADRE_EVENT_MESSAGE_END:
        if (event->u.message_end.message->n_tool_calls > 0 ||
            event->u.message_end.message->mark[0] != '\0')
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

// The live tree shows it as well as it can; elsewhere it is a line.
static void take_retry(show *it, const cadre_event *event)
{
    char wait[24];

    it->n_retries += event->u.retry.attempt > 0; // else a model was passed over
    if (it->live || it->config->is_quiet || it->config->is_one_of_many)
        return;
    if (*event->u.retry.next_model) {
        cli_report_note("%s: model '%s': %s; asking '%s' instead", event->agent,
                        event->u.retry.model, event->u.retry.error.message,
                        event->u.retry.next_model);
        return;
    }
    cli_duration_format(event->u.retry.wait_ms, wait, sizeof(wait));
    cli_report_note("%s: %s; trying again in %s", event->agent,
                    event->u.retry.error.message, wait);
}

static void show_event(show *it, const cadre_event *event)
{
    if (it->config->form == CLI_SHOW_EVENTS && it->output->failure == 0) {
        json_t *line = cli_json_event(event);
        cli_output_write_json(it->output, line, JSON_COMPACT);
        json_decref(line);
    }
    // What forks write is not the answer.
    if (it->is_streaming && event->is_main)
        stream_answer(it, event);
    if (event->type == CADRE_EVENT_RETRY)
        take_retry(it, event);
    cli_live_tree_take(it->live, event);
}

// Events that nobody looks at are not made: waiting for the end drops them.
static bool wants_events(const show *it)
{
    return it->config->form == CLI_SHOW_EVENTS || it->is_streaming ||
           !it->config->is_quiet;
}

static void follow(show *it)
{
    const cadre_event *event = NULL;
    bool is_stopped = false;

    if (!wants_events(it))
        return;
    while (cadre_run_next(it->run, &event, NULL) == CADRE_OK) {
        show_event(it, event);
        if (it->output->failure != 0 && !is_stopped) {
            // Nobody will see the answer: no more money is spent on it.
            is_stopped = true;
            cadre_run_cancel(it->run, cli_output_is_closed(it->output)
                                          ? "output closed"
                                          : "cannot write to stdout");
        }
    }
    cli_live_tree_stop(it->live);
    it->live = NULL;
}

static void write_result(show *it, const cadre_result *result, cli_frames frames,
                         const cli_questions *questions)
{
    if (it->config->form == CLI_SHOW_JSON) {
        json_t *object = cli_json_result(result, frames, it->config->wants_all_frames);
        json_object_set_new(object, "questions", cli_questions_json(questions));
        cli_output_write_json(it->output, object, JSON_INDENT(2));
        json_decref(object);
    }
    if (it->config->form == CLI_SHOW_ANSWER) {
        if (result->status == CADRE_FRAME_COMPLETED)
            cli_answer_finish(&it->answer, result->agent, result->text);
        else
            cli_answer_end_line(&it->answer);
    }
}

// Put together first, so that it stands on stderr in one piece.
static void print_end(const show *it, const cadre_result *result, cli_frames frames)
{
    char *text = NULL;
    size_t len = 0;
    bool is_told = !it->config->is_quiet && frames.count > 0;
    FILE *stream = is_told ? open_memstream(&text, &len) : NULL;

    if (!stream)
        return;
    if (!it->config->output)
        cli_tree_print_run(&(cli_tree){.frames = frames}, &it->err, stream);
    cli_summary_print(stream, result, frames, it->n_retries);
    if (fclose(stream) == 0)
        fwrite(text, 1, len, stderr);
    free(text);
}

// Was it the limit of the command line, and not one of an agent?
static bool is_run_over_time(const show *it, const cadre_result *result)
{
    return result->status == CADRE_FRAME_TIMEOUT && it->config->timeout &&
           result->duration_ms + 1 >= it->config->timeout_ms; // both are cut
}

static void report_failure(const show *it, const cadre_result *result)
{
    const cadre_error_info *error = &result->error;
    const char *message = error->message && *error->message
                              ? error->message
                              : cadre_stop_reason_name(result->stop_reason);

    if (result->status == CADRE_FRAME_COMPLETED &&
        result->stop_reason != CADRE_STOP_BUDGET)
        return;
    if (is_run_over_time(it, result))
        cli_report("the run's time is up (--timeout %s)", it->config->timeout);
    else if (error->agent && *error->agent && !strstr(message, error->agent))
        cli_report("agent '%s': %s", error->agent, message);
    else
        cli_report("%s", message);
}

static int finish(show *it, int exit_status)
{
    bool will_go_on = it->config->is_one_of_many || it->config->output;

    return will_go_on ? cli_output_leave(it->output, exit_status)
                      : cli_output_finish(it->output, exit_status);
}

// Of many: all that is told of this one.
static void report_one(const show *it, const cadre_result *result)
{
    bool is_completed = result->status == CADRE_FRAME_COMPLETED;
    bool is_waiting = result->status == CADRE_FRAME_WAITING;
    bool has_message = !is_completed && !is_waiting && result->error.message[0];

    if (is_completed && it->config->is_quiet)
        return;
    cli_report_note("run %s: %s%s%s", result->trace_id,
                    is_waiting ? "waits for an answer"
                               : cadre_frame_status_name(result->status),
                    has_message ? ": " : "", has_message ? result->error.message : "");
}

// Told also when little is to be told: without it nobody could go on.
static void report_questions(const show *it, const cadre_result *result,
                             const cli_questions *questions)
{
    cli_questions_report(questions, result->trace_id, it->config->options);
    if (!it->config->options)
        cli_report("nobody can answer: the store ends with this program");
}

static void report_end(const show *it, const cadre_result *result, cli_frames frames,
                       const cli_questions *questions)
{
    // A turn that waits is no end: who leads the conversation asks.
    if (it->config->output && result->status == CADRE_FRAME_WAITING)
        return;
    if (it->config->is_one_of_many)
        report_one(it, result);
    else
        print_end(it, result, frames);
    if (result->status == CADRE_FRAME_WAITING)
        report_questions(it, result, questions);
    // Of a run that was stopped because stdout failed that failure was told.
    else if (!it->config->is_one_of_many &&
             (it->output->failure == 0 || cli_output_is_closed(it->output)))
        report_failure(it, result);
}

static int show_end(show *it)
{
    const cadre_result *result = NULL;
    cli_frames frames = {0};
    cli_questions questions;
    cadre_error err = CADRE_ERROR_INIT;

    // How it ended stands in the result, also when the store is gone.
    cadre_run_wait(it->run, &result, NULL);
    cadre_run_frames(it->run, &frames.items, &frames.count, &err);
    bool is_waiting = result->status == CADRE_FRAME_WAITING;
    if (!cli_questions_init(&questions, is_waiting ? frames : (cli_frames){0}))
        return finish(it, CLI_EXIT_FAILED);
    write_result(it, result, frames, &questions);
    int exit_status =
        cli_exit_of_run(result->status, result->stop_reason, result->error.error_class);
    if (err.status != CADRE_OK)
        exit_status = cli_exit_of_error(&err);
    exit_status = finish(it, exit_status);
    report_end(it, result, frames, &questions);
    if (err.status != CADRE_OK && result->error.error_class != CADRE_CLASS_STORE)
        cli_report("%s", err.text);
    cli_questions_fini(&questions);
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
