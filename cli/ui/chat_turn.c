// See chat_turn.h.
#include "chat_turn.h"

#include "questions.h"
#include "report.h"

#include <cadre/trace.h>

#include <stdlib.h>
#include <string.h>

static void end(cli_chat *it, int exit_status)
{
    it->is_over = true;
    it->exit_status = exit_status;
}

void cli_chat_set_last(cli_chat *it, const char *trace)
{
    snprintf(it->last, sizeof(it->last), "%s", trace);
}

bool cli_chat_take_end(cli_chat *it, cli_said said)
{
    if (said == CLI_SAID_STOP || said == CLI_SAID_CLOSED)
        end(it, CLI_EXIT_ABORTED);
    return it->is_over;
}

// --- Runs ---

// Makes the run that the request describes; the conversation goes on after most ends.
static void make_run(cli_chat *it)
{
    it->exit_status = cli_request_run_on(&it->request);
    if (it->request.not_started == CADRE_OK)
        cli_chat_set_last(it, cadre_run_trace_id(it->request.run));
    int signal = it->request.stopped_by;
    bool is_stopped = signal != 0 && (signal != SIGINT || !it->prompt.is_terminal);
    bool is_closed = it->request.was_stopped && signal == 0;
    if (is_stopped) // maybe when the turn had just ended
        end(it, CLI_EXIT_ABORTED);
    if (is_closed || it->output.failure != 0)
        it->is_over = true;
}

// Goes on with the last turn.
static void resume_last(cli_chat *it)
{
    char trace[CLI_CHAT_TRACE_SIZE];

    snprintf(trace, sizeof(trace), "%s", it->last);
    it->request.trace = trace;
    make_run(it);
    it->request.trace = NULL;
}

// --- Questions ---

static void tell_question(const cli_chat *it, const cli_question *question)
{
    cli_page page;

    if (!cli_page_init(&page))
        return;
    cli_question_print(page.stream, question, &it->err);
    cli_page_tell(&page);
}

// Errors are told. An answer that is refused may have come from elsewhere: going on
// will show.
static bool post_answer(cli_chat *it, const char *id, const char *text)
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
static bool ask_one(cli_chat *it, const cli_question *question)
{
    tell_question(it, question);
    for (;;) {
        char *typed = NULL;
        cli_said said = cli_prompt_read(&it->prompt, "? ", &typed);
        if (cli_chat_take_end(it, said) || said == CLI_SAID_NOTHING ||
            said == CLI_SAID_END)
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
static void tell_open(const cli_chat *it)
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
static bool ask_all(cli_chat *it, size_t *n_answered)
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
static void leave_open(cli_chat *it)
{
    tell_open(it);
    if (!it->prompt.is_terminal)
        it->is_over = true;
}

// Asks and goes on until the last run waits no more. It takes the answers it got also
// when it will wait for others, so that none is asked for twice.
static void settle(cli_chat *it)
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

static bool confirm(cli_chat *it)
{
    for (;;) {
        char *typed = NULL;
        cli_said said = cli_prompt_read(&it->prompt, "y/n? ", &typed);
        if (cli_chat_take_end(it, said) || said == CLI_SAID_NOTHING ||
            said == CLI_SAID_END)
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

static void offer_cut(cli_chat *it)
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
static bool can_go_on(const cli_chat *it, const cli_session *session)
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

void cli_chat_offer_open(cli_chat *it, const cli_session *session)
{
    if (session->state == CLI_SESSION_AT_WORK)
        cli_report_note("the last turn, run %s, is at work in another program",
                        session->last);
    if (session->state != CLI_SESSION_WAITS && session->state != CLI_SESSION_CUT)
        return;
    if (!can_go_on(it, session))
        return;
    cli_chat_set_last(it, session->last);
    if (session->state == CLI_SESSION_CUT) {
        offer_cut(it);
    } else {
        it->exit_status = CLI_EXIT_WAITS;
        settle(it);
    }
}

bool cli_chat_read_session(const cli_chat *it, cli_session *session)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status =
        cli_session_read(it->request.opened, it->request.session, session, &err);

    if (status != CADRE_OK)
        cli_report("%s", err.text);
    return status == CADRE_OK;
}

// The turn was refused: because of one that is open?
static void take_refusal(cli_chat *it)
{
    if (!it->prompt.is_terminal) { // no later line would fare better
        it->is_over = true;
        return;
    }
    if (it->request.not_started == CADRE_EBUSY) {
        cli_session session;
        if (cli_chat_read_session(it, &session))
            cli_chat_offer_open(it, &session);
        cli_session_fini(&session);
    }
    if (!it->is_over)
        cli_report_note("that line was not sent");
}

// --- A line ---

void cli_chat_say(cli_chat *it, const char *text)
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
