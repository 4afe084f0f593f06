// cadre answer: answers what a run asks, and goes on with it.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/questions.h"
#include "ui/recall.h"
#include "ui/record.h"
#include "ui/report.h"
#include "ui/request.h"
#include "ui/store.h"
#include "ui/text.h"

#include <cadre/cadre.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

// Who holds the run reads an answer within about 50 ms.
#define PATIENCE_MS 5000
#define PAUSE_MS 20

// What the command line says.
typedef struct given_answers {
    const char *trace;
    const char *id;  // of the only one; NULL: not named, or there are several
    json_t *one;     // owned; NULL: there are several
    json_t *several; // owned: id -> answer; NULL: there is one
} given_answers;

static int read_text(given_answers *it, const cli_arguments *arguments)
{
    bool has_id = arguments->n_texts > 2;
    const char *text = cli_arguments_text(arguments, has_id ? 2 : 1);

    if (!text)
        return cli_report_usage(arguments->command,
                                "no answer: yes, no or a text, or --json");
    if (!cli_text_is_utf8(text, strlen(text)))
        return cli_report_usage(arguments->command, "the answer is not UTF-8");
    it->id = has_id ? cli_arguments_text(arguments, 1) : NULL;
    it->one = json_string(text);
    if (it->one)
        return CLI_EXIT_OK;
    cli_report("out of memory");
    return CLI_EXIT_FAILED;
}

static int read_json(given_answers *it, const cli_arguments *arguments,
                     const char *text)
{
    json_error_t where;

    if (arguments->n_texts > 1)
        return cli_report_usage(arguments->command,
                                "'--json' has the answers; '%s' is one too many",
                                arguments->texts[1]);
    it->several = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    if (!it->several)
        return cli_report_usage(arguments->command, "option '--json': %s (column %d)",
                                where.text, where.column);
    if (json_object_size(it->several) == 0)
        return cli_report_usage(arguments->command,
                                "option '--json': expected an object of answers, "
                                "{\"ID\": ANSWER, ...}, not '%s'",
                                text);
    return CLI_EXIT_OK;
}

static int read_answers(given_answers *it, const cli_arguments *arguments)
{
    const char *json = cli_arguments_value(arguments, "json");

    return json ? read_json(it, arguments, json) : read_text(it, arguments);
}

// --- Checking ---

// Returns the exit status of a mistake of who answers.
static int fail(cadre_error *err, const char *text)
{
    cadre_fail(err, CADRE_EINVAL, "%s", text);
    return CLI_EXIT_USAGE;
}

// Is the answer that somebody gave already this one?
static bool is_same(const cli_question *question, const json_t *answer)
{
    json_t *known = json_loads(question->answer, JSON_DECODE_ANY, NULL);
    bool is = json_equal(known, answer) == 1;

    json_decref(known);
    return is;
}

static int fail_choice(const cli_question *question, cadre_error *err)
{
    const json_t *choices = json_object_get(question->stored, "choices");
    char *text = json_dumps(choices, JSON_COMPACT);

    cadre_fail(err, CADRE_EINVAL,
               "question %s: that is none of the answers it can have: %s", question->id,
               text ? text : "...");
    free(text);
    return CLI_EXIT_USAGE;
}

static int check_answer(const cli_questions *questions, const given_answers *it,
                        const char *id, const json_t *answer, cadre_error *err)
{
    const cli_question *question = cli_questions_find(questions, id);

    if (!question) {
        cadre_fail(err, CADRE_EINVAL, "run %s has no question '%s' that is open",
                   it->trace, id);
        return CLI_EXIT_USAGE;
    }
    if (question->answer && !is_same(question, answer)) {
        cadre_fail(err, CADRE_EINVAL, "question %s has another answer already: %s", id,
                   question->answer);
        return CLI_EXIT_USAGE;
    }
    return cli_question_allows(question, answer) ? CLI_EXIT_OK
                                                 : fail_choice(question, err);
}

// The one that is open, or else the one that was answered just now.
static int find_only(const cli_questions *questions, given_answers *it,
                     cadre_error *err)
{
    size_t n_left = questions->n_open > 0 ? questions->n_open : questions->n;

    for (size_t i = 0; i < questions->n; i++)
        if (!questions->items[i].answer || questions->n_open == 0)
            it->id = questions->items[i].id;
    if (n_left == 1)
        return CLI_EXIT_OK;
    it->id = NULL;
    if (n_left == 0)
        return fail(err, "the run asks nothing");
    return fail(err, questions->n_open == 0
                         ? "all questions of the run are answered; `cadre resume` "
                           "goes on with it"
                         : "the run asks several questions: name the one that is "
                           "answered by its ID");
}

static int check_all(const cli_questions *questions, given_answers *it,
                     cadre_error *err)
{
    const char *id = NULL;
    json_t *answer = NULL;
    int exit_status = CLI_EXIT_OK;

    if (it->one) {
        if (!it->id)
            exit_status = find_only(questions, it, err);
        return exit_status == CLI_EXIT_OK
                   ? check_answer(questions, it, it->id, it->one, err)
                   : exit_status;
    }
    json_object_foreach(it->several, id, answer)
    {
        if (exit_status == CLI_EXIT_OK)
            exit_status = check_answer(questions, it, id, answer, err);
    }
    return exit_status;
}

// --- Answering ---

static cadre_status post(cadre_runtime *runtime, const given_answers *it,
                         cadre_error *err)
{
    const char *id = NULL;
    json_t *answer = NULL;
    size_t n_posted = 0;
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = CADRE_OK;

    if (it->one)
        return cadre_trace_answer(runtime, it->trace, it->id, it->one, err);
    json_object_foreach(it->several, id, answer)
    {
        if (status == CADRE_OK)
            status = cadre_trace_answer(runtime, it->trace, id, answer, &why);
        n_posted += status == CADRE_OK;
    }
    if (status != CADRE_OK)
        cadre_fail(err, status, "%s%s", why.text,
                   n_posted > 0 ? "; the answers before it are recorded" : "");
    return status;
}

// Others may have answered since it was looked.
static int exit_of_post(cadre_status status)
{
    const cadre_error err = {.status = status};

    if (status == CADRE_OK)
        return CLI_EXIT_OK;
    return status == CADRE_ENOTFOUND ? CLI_EXIT_USAGE : cli_exit_of_error(&err);
}

static int check_and_post(cadre_runtime *runtime, const cli_request *request,
                          given_answers *it, const cadre_record *record)
{
    cadre_error err = CADRE_ERROR_INIT;
    cli_questions questions;
    int exit_status = cli_recall_check(cadre_record_get_info(record), &err);

    if (exit_status != CLI_EXIT_OK)
        return cli_request_report(request, &err, exit_status);
    if (!cli_questions_init_record(&questions, record))
        return CLI_EXIT_FAILED;
    exit_status = check_all(&questions, it, &err);
    if (exit_status == CLI_EXIT_OK)
        exit_status = exit_of_post(post(runtime, it, &err));
    if (exit_status != CLI_EXIT_OK) {
        cli_request_report(request, &err, exit_status);
        if (it->one && !it->id)
            cli_questions_report(&questions, it->trace, request->options);
    }
    cli_questions_fini(&questions);
    return exit_status;
}

// --- Going on ---

typedef enum whereabouts {
    WITH_NOBODY,
    WITH_A_READER, // who holds it has read the answers
    WITH_ANOTHER,  // who holds it has not: it may be about to park
    AT_ITS_END
} whereabouts;

static bool is_unread(const cli_questions *questions)
{
    return questions->n > questions->n_open;
}

static whereabouts look(cadre_runtime *runtime, const char *trace)
{
    cadre_record *record = NULL;
    cli_questions questions;
    whereabouts found = WITH_NOBODY; // in doubt a resume tells

    if (cadre_record_open(runtime, trace, &record, NULL) != CADRE_OK)
        return found;
    const cadre_record_info *info = cadre_record_get_info(record);
    if (cli_record_has_ended(info)) {
        found = AT_ITS_END;
    } else if (info->is_held && cli_questions_init_record(&questions, record)) {
        found = is_unread(&questions) ? WITH_ANOTHER : WITH_A_READER;
        cli_questions_fini(&questions);
    }
    cadre_record_close(record);
    return found;
}

static whereabouts await_reader(cadre_runtime *runtime, const char *trace)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    whereabouts found = look(runtime, trace);

    for (int n = 0; n < PATIENCE_MS / PAUSE_MS && found == WITH_ANOTHER; n++) {
        nanosleep(&pause, NULL);
        found = look(runtime, trace);
    }
    return found;
}

// What becomes of the run when it is not gone on with here.
static void tell(const cli_request *request, whereabouts found)
{
    static const char *const texts[] = {
        [WITH_A_READER] = "is answered, and goes on in the program that holds it",
        [WITH_ANOTHER] = "is answered; the program that holds it has not read that yet",
        [AT_ITS_END] = "is answered, and has ended",
    };

    if (request->show.is_quiet)
        return;
    if (found == WITH_NOBODY)
        cli_report_note("run %s is answered; `cadre resume %s%s` goes on with it",
                        request->trace, request->trace,
                        request->options ? request->options : "");
    else
        cli_report_note("run %s %s", request->trace, texts[found]);
}

// True: the run is to be gone on with here.
static bool is_left_to_us(cadre_runtime *runtime, const cli_request *request,
                          bool may_resume)
{
    whereabouts found = may_resume ? await_reader(runtime, request->trace)
                                   : look(runtime, request->trace);

    if (found == WITH_NOBODY && may_resume)
        return true;
    tell(request, found);
    return false;
}

static int answer(const cli_request *request, given_answers *it, bool may_resume,
                  bool *is_ours)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_record *record = NULL;
    int exit_status = CLI_EXIT_OK;

    cadre_status status = cli_store_find(&request->store, &err);
    if (status == CADRE_OK)
        status = cli_store_open(&request->store, CADRE_RUNTIME(0), &runtime, &err);
    if (status == CADRE_OK)
        status = cadre_record_open(runtime, it->trace, &record, &err);
    if (status == CADRE_OK)
        exit_status = check_and_post(runtime, request, it, record);
    else
        exit_status = cli_request_report(
            request, &err,
            status == CADRE_ENOTFOUND ? CLI_EXIT_STORE : cli_exit_of_error(&err));
    if (exit_status == CLI_EXIT_OK)
        *is_ours = is_left_to_us(runtime, request, may_resume);
    cadre_record_close(record);
    cadre_runtime_close(runtime);
    return exit_status;
}

static int answer_run(const cli_arguments *arguments)
{
    given_answers it = {.trace = cli_arguments_text(arguments, 0)};
    bool may_resume = !cli_arguments_has(arguments, "no-resume");
    bool is_ours = false;
    cli_request request;
    int exit_status = cli_request_init(&request, arguments, it.trace, NULL);

    request.accepts_changes = cli_arguments_has(arguments, "accept-changes");
    request.may_be_held = true;
    if (exit_status == CLI_EXIT_OK)
        exit_status = read_answers(&it, arguments);
    if (exit_status == CLI_EXIT_OK)
        exit_status = answer(&request, &it, may_resume, &is_ours);
    if (is_ours) {
        exit_status = cli_request_run(&request);
        if (exit_status == CLI_EXIT_USAGE) // its team cannot be loaded
            cli_report_note("the answer is recorded; `cadre resume %s TEAM%s` goes on "
                            "with it",
                            it.trace, request.options ? request.options : "");
    }
    cli_request_fini(&request);
    json_decref(it.one);
    json_decref(it.several);
    return exit_status;
}

static const cli_option options[] = {
    {"json", "ANSWERS", "several, or other than texts: '{\"ID\": ANSWER, ...}'"},
    {"no-resume", NULL, "only answer; leave the run parked"},
    {"events", NULL, "print what happens as JSON, one object a line"},
    {"offline", NULL, "go on with the team's script, ask no model"},
    {"script", "FILE", "take the answers of models from this script"},
    CLI_RECORDING_OPTIONS,
    {"accept-changes", NULL, "go on with another shape of the team too"},
    {"timeout", "TIME", "end the run after so long: 250ms, 10s, 5m, 2h"},
    {"max-cost", "DOLLARS", "make no call when it has cost so much: 0.50"},
    {"store", "URL", "where runs are recorded: " CLI_STORE_OPTION},
    {"plain", NULL, "no colours and no live tree on a terminal"},
    {"quiet", NULL, "print nothing on stderr but failures and questions"},
};

const cadre_command cadre_command_answer = {
    .name = "answer",
    .summary = "Answers what a run asks, and goes on with it",
    .arguments = "TRACE [ID] ANSWER",
    .min_arguments = 1,
    .max_arguments = 3,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "ANSWER is yes, no or any text. ID is that of the question, which the run "
        "told\n"
        "when it parked (`cadre wait TRACE` tells it again); where one is open it may "
        "be\n"
        "left out. With --json nothing is recorded unless each answer fits its "
        "question.\n"
        "\n"
        "Then the run goes on as by `cadre resume`, with its output and exit status: "
        "3\n"
        "when more is asked. A run that another program holds, since not all of it\n"
        "waits, goes on there, and the exit status is 0.\n"
        "\n"
        "An answer counts once: the same again changes nothing, another is a mistake.\n"
        "Exit status 1: the run has ended; 2: no such question is open, or that is "
        "none\n"
        "of its answers; 5: there is no such run.\n",
    .run = answer_run,
};
