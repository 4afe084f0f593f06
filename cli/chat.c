// cadre chat: a team as a conversation. Each line is a run in one session.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/print_tree.h"
#include "ui/prompt.h"
#include "ui/questions.h"
#include "ui/record.h"
#include "ui/report.h"
#include "ui/request.h"
#include "ui/session.h"
#include "ui/shell.h"
#include "ui/summary.h"
#include "ui/team_type.h"
#include "ui/text.h"

#include <cadre/trace.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIGN "> "
#define TRACE_SIZE 64

typedef struct chat {
    const cli_arguments *arguments;
    cli_request request;
    cli_prompt prompt;
    cli_output output;
    cli_terminal err;                 // stderr
    char name[CLI_SESSION_NAME_SIZE]; // of a new session
    char last[TRACE_SIZE];            // the trace of the last turn; "": none
    int exit_status;                  // of the last turn
    bool is_over;
    bool is_left; // at the prompt, by who sits there
} chat;

// Put together first, so that it stands on stderr in one piece.
static void tell_page(cli_page *page)
{
    if (fclose(page->stream) == 0)
        fwrite(page->text, 1, page->len, stderr);
    free(page->text);
}

static void end(chat *it, int exit_status)
{
    it->is_over = true;
    it->exit_status = exit_status;
}

static void set_last(chat *it, const char *trace)
{
    snprintf(it->last, sizeof(it->last), "%s", trace);
}

// What was said is no text. True: it ends the conversation.
static bool take_end(chat *it, cli_said said)
{
    if (said == CLI_SAID_STOP || said == CLI_SAID_CLOSED)
        end(it, CLI_EXIT_ABORTED);
    return it->is_over;
}

// --- What there is to tell ---

// "cadre chat team.yaml --offline --session chat-5hq7y29q"
static void print_again(const chat *it, FILE *stream)
{
    static const char *const kept[] = {"max-cost", "offline", "script", "set",
                                       "store",    "timeout", "type"};

    fputs("cadre chat ", stream);
    cli_shell_print(stream, it->request.team_path);
    cli_shell_print_options(stream, it->arguments, kept, sizeof(kept) / sizeof(*kept));
    fputs(" --session ", stream);
    cli_shell_print(stream, it->request.session);
}

static void tell_session(const chat *it)
{
    const char *name = it->request.session;
    cli_page page;

    if (!it->request.store.file) {
        cli_report_note("session %s", name);
    } else if (cli_page_init(&page)) {
        print_again(it, page.stream);
        if (fclose(page.stream) == 0)
            cli_report_note("session %s (%s)", name, page.text);
        free(page.text);
    }
}

static void tell_tree(const chat *it)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_record *record = NULL;
    cli_frames frames = {0};
    cli_spawned spawned;
    cli_page page;

    if (!*it->last) {
        cli_report_note("there is no turn yet");
        return;
    }
    if (cadre_record_open(it->request.opened, it->last, &record, &err) != CADRE_OK) {
        cli_report("%s", err.text);
        return;
    }
    frames.items = cadre_record_frames(record, &frames.count);
    cli_spawned_init(&spawned, it->request.opened, it->last);
    if (cli_page_init(&page)) {
        const cli_tree tree = {frames, spawned, CLI_TREE_AGENTS};
        cli_tree_print_run(&tree, &it->err, page.stream);
        cli_summary_print_record(page.stream, cadre_record_get_info(record), frames);
        tell_page(&page);
    }
    cli_spawned_fini(&spawned);
    cadre_record_close(record);
}

static void print_exchange(FILE *stream, const cadre_record *record)
{
    size_t n = 0;
    const cadre_frame_info *root = cadre_record_frames(record, &n);

    if (n == 0)
        return;
    fputs(SIGN, stream);
    cli_text_print(stream, root->input, strlen(root->input), CLI_TEXT_LINES);
    fputc('\n', stream);
    if (*root->output)
        cli_text_print(stream, root->output, strlen(root->output), CLI_TEXT_LINES);
    else
        fprintf(stream, "(%s)", cli_record_status(cadre_record_get_info(record)));
    fputc('\n', stream);
}

static void tell_last_exchange(const chat *it)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_record *record = NULL;
    cli_page page;

    if (cadre_record_open(it->request.opened, it->last, &record, &err) != CADRE_OK) {
        cli_report("%s", err.text);
        return;
    }
    if (cli_page_init(&page)) {
        print_exchange(page.stream, record);
        tell_page(&page);
    }
    cadre_record_close(record);
}

static void tell_help(void)
{
    fputs("A line is said to the team; one that ends in a backslash goes on on the\n"
          "next. Ctrl-C stops the team's turn, Ctrl-D ends the conversation.\n"
          "\n"
          "  /file PATH  shows the model this file with the next line\n"
          "  /tree       who called whom in the last turn\n"
          "  /session    the name of this conversation\n"
          "  /help       this\n"
          "  /exit       ends the conversation\n"
          "  //TEXT      says /TEXT to the team\n",
          stderr);
}

// --- Runs ---

// Makes the run that the request describes; the conversation goes on after most ends.
static void make_run(chat *it)
{
    it->exit_status = cli_request_run_on(&it->request);
    if (it->request.not_started == CADRE_OK)
        set_last(it, cadre_run_trace_id(it->request.run));
    int signal = it->request.stopped_by;
    bool is_stopped = signal != 0 && (signal != SIGINT || !it->prompt.is_terminal);
    bool is_closed = it->request.was_stopped && signal == 0;
    if (is_stopped) // maybe when the turn had just ended
        end(it, CLI_EXIT_ABORTED);
    if (is_closed || it->output.failure != 0)
        it->is_over = true;
}

// Goes on with the last turn.
static void resume_last(chat *it)
{
    char trace[TRACE_SIZE];

    snprintf(trace, sizeof(trace), "%s", it->last);
    it->request.trace = trace;
    make_run(it);
    it->request.trace = NULL;
}

// --- Questions ---

static void tell_question(const chat *it, const cli_question *question)
{
    cli_page page;

    if (!cli_page_init(&page))
        return;
    cli_question_print(page.stream, question, &it->err);
    tell_page(&page);
}

// Errors are told. An answer that is refused may have come from elsewhere: going on
// will show.
static bool post_answer(chat *it, const char *id, const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *answer = json_string(text);
    cadre_status status =
        cadre_trace_answer(it->request.opened, it->last, id, answer, &err);

    json_decref(answer);
    if (status != CADRE_OK)
        cli_report("%s", err.text);
    return status == CADRE_OK || status == CADRE_EINVAL || status == CADRE_ENOTFOUND;
}

// False: no answer was given.
static bool ask_one(chat *it, const cli_question *question)
{
    tell_question(it, question);
    for (;;) {
        char *typed = NULL;
        cli_said said = cli_prompt_read(&it->prompt, "? ", &typed);
        if (take_end(it, said) || said == CLI_SAID_NOTHING || said == CLI_SAID_END)
            return false;
        if (said == CLI_SAID_BAD || !*typed) {
            free(typed);
            continue;
        }
        const char *answer = cli_question_match(question, typed);
        bool is_answer = answer != NULL;
        bool is_posted = is_answer && post_answer(it, question->id, answer);
        free(typed);
        if (is_answer)
            return is_posted;
        cli_report_note("that is none of the choices");
    }
}

// The questions with the commands that answer them from elsewhere: some of them may not
// have been shown.
static void tell_open(const chat *it)
{
    cli_questions questions;

    cli_report_note("run %s waits for an answer%s", it->last,
                    it->prompt.is_terminal ? "; the next line here offers it again"
                                           : "");
    if (it->request.options &&
        cli_questions_read(&questions, it->request.opened, it->last)) {
        cli_questions_report(&questions, it->last, it->request.options);
        cli_questions_fini(&questions);
    }
}

// False: at least one question is open still. What was answered from elsewhere is not
// asked again.
static bool ask_all(chat *it, size_t *n_answered)
{
    cli_questions questions;
    bool is_answered = cli_questions_read(&questions, it->request.opened, it->last);

    for (size_t i = 0; i < questions.n && is_answered; i++) {
        if (questions.items[i].answer)
            continue;
        is_answered = ask_one(it, &questions.items[i]);
        *n_answered += is_answered;
    }
    cli_questions_fini(&questions);
    return is_answered;
}

// Without a terminal there is nobody to ask, and no line can be a turn before.
static void leave_open(chat *it)
{
    tell_open(it);
    if (!it->prompt.is_terminal)
        it->is_over = true;
}

// Asks and goes on until the last run waits no more. It takes the answers it got also
// when it will wait for others, so that none is asked for twice.
static void settle(chat *it)
{
    bool was_answered_elsewhere = false;

    while (it->exit_status == CLI_EXIT_WAITS && !it->is_over) {
        size_t n_answered = 0;
        bool is_answered = it->prompt.is_terminal && ask_all(it, &n_answered);
        if (is_answered && n_answered == 0) { // no question is open: goes on, once
            is_answered = !was_answered_elsewhere;
            was_answered_elsewhere = true;
        }
        if ((is_answered || n_answered > 0) && !it->is_over)
            resume_last(it);
        if (is_answered)
            continue;
        if (it->exit_status == CLI_EXIT_WAITS || it->is_over)
            leave_open(it);
        return;
    }
}

// --- A session whose last turn has not ended ---

static bool confirm(chat *it)
{
    for (;;) {
        char *typed = NULL;
        cli_said said = cli_prompt_read(&it->prompt, "y/n? ", &typed);
        if (take_end(it, said) || said == CLI_SAID_NOTHING || said == CLI_SAID_END)
            return false;
        char first = '\0';
        if (said == CLI_SAID_TEXT)
            first = typed[0];
        free(typed);
        if (first == 'y' || first == 'Y')
            return true;
        if (first == 'n' || first == 'N')
            return false;
    }
}

static void offer_cut(chat *it)
{
    cli_report_note("the last turn, run %s, was cut before its end, and no other can "
                    "begin before that. Go on with it?",
                    it->last);
    if (confirm(it)) {
        resume_last(it);
        settle(it);
    } else if (!it->is_over) {
        cli_report_note("it stays as it is; the next line here offers it again");
    }
}

// The record and this program must agree on who answers, models or a script.
static bool can_go_on(const chat *it, const cli_session *session)
{
    bool is_offline = it->request.runtime.offline || it->request.runtime.script;

    if (is_offline == session->is_offline)
        return true;
    cli_report_note("the last turn, run %s, is not at its end and was started %s: "
                    "`cadre resume %s` goes on with it",
                    session->last, session->is_offline ? "offline" : "with models",
                    session->last);
    return false;
}

static void offer_open(chat *it, const cli_session *session)
{
    if (session->state == CLI_SESSION_AT_WORK)
        cli_report_note("the last turn, run %s, is at work in another program",
                        session->last);
    if (session->state != CLI_SESSION_WAITS && session->state != CLI_SESSION_CUT)
        return;
    if (!can_go_on(it, session))
        return;
    set_last(it, session->last);
    if (session->state == CLI_SESSION_CUT) {
        offer_cut(it);
    } else {
        it->exit_status = CLI_EXIT_WAITS;
        settle(it);
    }
}

static bool read_session(const chat *it, cli_session *session)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status =
        cli_session_read(it->request.opened, it->request.session, session, &err);

    if (status != CADRE_OK)
        cli_report("%s", err.text);
    return status == CADRE_OK;
}

// The turn was refused: because of one that is open?
static void take_refusal(chat *it)
{
    cli_session session;

    if (!it->prompt.is_terminal) { // no later line would fare better
        it->is_over = true;
        return;
    }
    if (it->request.not_started == CADRE_EBUSY && read_session(it, &session)) {
        offer_open(it, &session);
        cli_session_fini(&session);
    }
    if (!it->is_over)
        cli_report_note("that line was not sent");
}

// --- Lines ---

static void say(chat *it, const char *text)
{
    it->request.input = strdup(text);
    if (!it->request.input) {
        cli_report("out of memory");
        return;
    }
    make_run(it);
    free(it->request.input);
    it->request.input = NULL;
    if (it->request.not_started == CADRE_OK) {
        cli_files_fini(&it->request.files);
        settle(it);
    } else {
        take_refusal(it);
    }
}

static void take_file(chat *it, const char *path)
{
    const char *why = cli_files_add(&it->request.files, path);

    if (why) {
        cli_report("/file PATH: '%s': %s", path, why);
        it->exit_status = CLI_EXIT_USAGE;
    } else {
        cli_report_note("'%s' comes with the next line", path);
    }
}

// What follows a command's name; NULL: it is another command.
static const char *after_name(const char *word, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(word, name, len) != 0 || !strchr(" \t", word[len]))
        return NULL;
    return word + len + strspn(word + len, " \t");
}

static void obey(chat *it, const char *word)
{
    const char *path = after_name(word, "/file");

    if (strcmp(word, "/exit") == 0) {
        it->is_over = it->is_left = true;
    } else if (strcmp(word, "/help") == 0) {
        tell_help();
    } else if (strcmp(word, "/tree") == 0) {
        tell_tree(it);
    } else if (strcmp(word, "/session") == 0) {
        tell_session(it);
    } else if (path) {
        take_file(it, path);
    } else {
        cli_report("no such command: '%s'; see /help, and // says a slash to the team",
                   word);
        it->exit_status = CLI_EXIT_USAGE;
    }
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static void take_text(chat *it, char *text)
{
    if (is_blank(text))
        return;
    cli_prompt_remember(&it->prompt, text);
    if (text[0] != '/' || text[1] == '/') {
        say(it, text[0] == '/' ? text + 1 : text);
        return;
    }
    for (size_t len = strlen(text); strchr(" \t", text[len - 1]); len--)
        text[len - 1] = '\0';
    obey(it, text);
}

static void converse(chat *it)
{
    while (!it->is_over) {
        char *text = NULL;
        cli_background_tell(&it->request.background);
        cli_said said = cli_prompt_read(&it->prompt, SIGN, &text);
        if (said == CLI_SAID_TEXT)
            take_text(it, text);
        else if (said == CLI_SAID_BAD)
            it->exit_status = CLI_EXIT_USAGE;
        else if (said == CLI_SAID_END)
            it->is_over = it->is_left = true;
        else
            take_end(it, said);
        free(text);
    }
}

// --- Beginning and end ---

static void tell_start(chat *it, const cli_session *session)
{
    if (!it->request.show.is_quiet)
        tell_session(it);
    if (session->n_turns == 0)
        return;
    set_last(it, session->last);
    if (!it->request.show.is_quiet) {
        cli_report_note("%zu turn%s; the last one:", session->n_turns,
                        session->n_turns == 1 ? "" : "s");
        tell_last_exchange(it);
    }
}

static int begin_and_converse(chat *it)
{
    cli_session session;

    if (!read_session(it, &session)) {
        cli_session_fini(&session);
        return CLI_EXIT_STORE;
    }
    tell_start(it, &session);
    if (it->prompt.is_terminal)
        offer_open(it, &session);
    cli_session_fini(&session);
    converse(it);
    // Who leaves a prompt has seen how each turn ended.
    return it->is_left && it->prompt.is_terminal ? CLI_EXIT_OK : it->exit_status;
}

static int chat_on_team(chat *it)
{
    int exit_status = CLI_EXIT_FAILED;

    if (cli_prompt_open(&it->prompt)) {
        if (!it->prompt.is_terminal)
            it->request.show.is_plain = true;
        exit_status = begin_and_converse(it);
    }
    cli_prompt_close(&it->prompt);
    cli_background_wait(&it->request.background);
    return exit_status;
}

static int chat_run(const cli_arguments *arguments)
{
    chat it = {.arguments = arguments};
    int exit_status = cli_request_init(&it.request, arguments, NULL,
                                       cli_arguments_text(arguments, 0));

    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_read_name(arguments, "session", &it.request.session);
    if (!it.request.session) {
        cli_session_make_name(it.name);
        it.request.session = it.name;
    }
    cli_output_init(&it.output);
    it.request.show.output = &it.output;
    cli_terminal_init(&it.err, STDERR_FILENO, it.request.show.is_plain);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_open(&it.request);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_recording_write(&it.request.recording, chat_on_team(&it));
    cli_request_fini(&it.request);
    // A failure of writing was told when it came.
    return it.output.failure == 0 ? cli_output_finish(&it.output, exit_status)
                                  : exit_status;
}

static const cli_option options[] = {
    CLI_REQUEST_ANSWER_OPTIONS,
    CLI_TYPE_OPTION,
    {"session", "NAME", "go on with the conversation of this name"},
};

const cadre_command cadre_command_chat = {
    .name = "chat",
    .summary = "Talks with a team, line by line",
    .arguments = "TEAM",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "Each line is one turn: a run in the same session, which is recorded as\n"
        "those of `cadre run` are. A new session gets a name, told at the start,\n"
        "and --session goes on with it later. A line that ends in a backslash goes\n"
        "on on the next one; --timeout and --max-cost are for each turn.\n"
        "\n"
        "  /file PATH  shows the model this file with the next line\n"
        "  /tree       who called whom in the last turn\n"
        "  /session    the name of this conversation\n"
        "  /help       what can be typed\n"
        "  /exit       ends the conversation, as Ctrl-D does\n"
        "  //TEXT      says /TEXT to the team\n"
        "\n"
        "Ctrl-C stops the turn and what is below it, a second one ends the program;\n"
        "at the prompt it drops the line. When the team asks a person, the question\n"
        "is shown and answered at the prompt; Ctrl-C leaves it open. A turn that was\n"
        "cut, by a crash say, can be gone on with before the next one.\n"
        "\n"
        "Lines are edited as in a shell and kept in $XDG_STATE_HOME/cadre/history,\n"
        "the last 1,000. When stdin is no terminal, its lines are turns: there is no\n"
        "prompt, a question ends the conversation, and the exit status is that of\n"
        "the last turn; else it is 0.\n",
    .run = chat_run,
};
