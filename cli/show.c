// cadre show: what was said in a recorded run.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/questions.h"
#include "ui/record.h"
#include "ui/report.h"
#include "ui/script_text.h"
#include "ui/store.h"
#include "ui/text.h"

#include <stdlib.h>
#include <string.h>

// A text under its heading, indented, line by line.
static void print_text(FILE *stream, const char *text)
{
    const char *end = text + strlen(text);

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline ? newline : end;
        fputs("  ", stream);
        cli_text_print(stream, text, (size_t)(line_end - text), CLI_TEXT_LINES);
        fputc('\n', stream);
        text = newline ? newline + 1 : end;
    }
}

static void print_words(FILE *stream, const char *text)
{
    cli_text_print(stream, text, strlen(text), CLI_TEXT_ONE_LINE);
}

static void print_calls(FILE *stream, const cadre_message *message)
{
    for (size_t i = 0; i < message->n_tool_calls; i++) {
        const cadre_tool_call *call = &message->tool_calls[i];
        fputs("  calls ", stream);
        print_words(stream, call->name);
        fputc(' ', stream);
        print_words(stream, call->arguments);
        fputc('\n', stream);
    }
}

// "  with a.png (image/png)", a line for each file.
static void print_files(FILE *stream, const cadre_message *message)
{
    json_t *parts = *message->parts ? json_loads(message->parts, 0, NULL) : NULL;
    size_t i = 0;
    json_t *part = NULL;

    json_array_foreach(parts, i, part)
    {
        const char *name = json_string_value(json_object_get(part, "name"));
        const char *type = json_string_value(json_object_get(part, "media_type"));
        fputs("  with ", stream);
        print_words(stream, name ? name : "");
        fputs(" (", stream);
        print_words(stream, type ? type : "");
        fputs(")\n", stream);
    }
    json_decref(parts);
}

// "user", "user to triage", "triage", "tool look (tool_error)".
static void print_speaker(FILE *stream, const cadre_message *message)
{
    bool is_tool = message->role == CADRE_ROLE_TOOL;

    if (is_tool)
        fputs("tool ", stream);
    print_words(stream, is_tool           ? message->tool_name
                        : *message->agent ? message->agent
                                          : cadre_role_name(message->role));
    if (!is_tool && *message->to) {
        fputs(" to ", stream);
        print_words(stream, message->to);
    }
    if (is_tool && message->code != CADRE_RESULT_OK)
        fprintf(stream, " (%s)", cadre_result_code_name(message->code));
    if (*message->mark)
        fprintf(stream, " (%s)", message->mark);
    fputc('\n', stream);
}

// The question that a message answers; NULL: it answers none.
static const cadre_frame_info *question_of(cli_frames frames,
                                           const cadre_message *message)
{
    bool may_answer = message->role == CADRE_ROLE_USER && message->is_input;

    for (size_t i = 0; may_answer && i < frames.count; i++)
        if (strcmp(frames.items[i].id, message->frame_id) == 0)
            return strcmp(frames.items[i].kind, "ask") == 0 ? &frames.items[i] : NULL;
    return NULL;
}

// "answer to: Which one?", and what a person said.
static void print_answer(FILE *stream, const cadre_frame_info *question,
                         const cadre_message *message)
{
    char *asked = cli_question_text(question);
    char *said = cli_question_said(message->text);

    fputs("answer to: ", stream);
    print_words(stream, asked ? asked : "");
    fputs(message->position < 0 ? " (not read yet)\n" : "\n", stream);
    print_text(stream, said ? said : message->text);
    free(asked);
    free(said);
}

static void print_message(FILE *stream, cli_frames frames, const cadre_message *message)
{
    const cadre_frame_info *question = question_of(frames, message);

    if (question) {
        print_answer(stream, question, message);
        return;
    }
    print_speaker(stream, message);
    print_text(stream, message->text);
    print_files(stream, message);
    print_calls(stream, message);
}

// Was it said in this run, in that conversation (NULL: in any)?
static bool is_wanted(const cadre_record_message *said, const char *conversation)
{
    return said->is_of_run &&
           (!conversation || strcmp(said->conversation_id, conversation) == 0);
}

// That conversation, or all (NULL), the main one first and each other one under its id.
// Messages stand by conversation.
static size_t print_conversations(const cli_record *it, const char *conversation,
                                  FILE *stream)
{
    size_t n_messages = 0, n_printed = 0;
    const char *current = NULL;
    const cadre_record_message *messages =
        cadre_record_messages(it->record, &n_messages);

    for (size_t i = 0; i < n_messages; i++) {
        const cadre_record_message *said = &messages[i];
        if (!is_wanted(said, conversation))
            continue;
        if (n_printed++ > 0)
            fputc('\n', stream);
        if (current && strcmp(current, said->conversation_id) != 0)
            fprintf(stream, "conversation %s\n\n", said->conversation_id);
        current = said->conversation_id;
        print_message(stream, it->frames, said->message);
    }
    return n_printed;
}

// Who reads the main conversation alone misses what members said in theirs.
static void note_others(const cli_record *it, const char *main_conversation)
{
    size_t n_messages = 0, n_others = 0;
    const char *current = main_conversation;
    const cadre_record_message *messages =
        cadre_record_messages(it->record, &n_messages);

    for (size_t i = 0; i < n_messages; i++) {
        const char *id = messages[i].conversation_id;
        bool is_other = is_wanted(&messages[i], NULL) && strcmp(id, current) != 0 &&
                        strcmp(id, main_conversation) != 0;
        n_others += is_other;
        if (is_other)
            current = id;
    }
    if (n_others > 0)
        cli_report_note(
            "%zu more conversation%s, of its members: `cadre show %s --all`", n_others,
            n_others == 1 ? "" : "s", it->info->trace_id);
}

static void report_nothing(const char *conversation)
{
    cli_report(
        "nothing was said in a conversation '%s' of this run; `cadre show --all` has "
        "all",
        conversation);
}

// What was said in all conversations of the run, or in that one.
static int print_json(const cli_record *it, const char *conversation)
{
    size_t n_messages = 0;
    const cadre_record_message *messages =
        cadre_record_messages(it->record, &n_messages);
    json_t *array = json_array();
    cli_output output;

    for (size_t i = 0; i < n_messages; i++) {
        if (is_wanted(&messages[i], conversation))
            json_array_append_new(array, cli_json_said(&messages[i]));
    }
    bool is_there = json_array_size(array) > 0 || !conversation;
    if (!is_there)
        report_nothing(conversation);
    cli_output_init(&output);
    cli_output_write_json(&output, array, JSON_INDENT(2));
    json_decref(array);
    return cli_output_finish(&output, is_there ? CLI_EXIT_OK : CLI_EXIT_USAGE);
}

// What is asked stands at the end: nobody has said more yet. The commands that answer
// are told by `cadre wait`.
static void print_questions(const cli_record *it, FILE *stream)
{
    cli_questions questions;

    if (!cli_questions_init_record(&questions, it->record))
        return;
    if (questions.n_open > 0)
        fputc('\n', stream);
    cli_questions_print(stream, &questions, it->info->trace_id, NULL);
    cli_questions_fini(&questions);
}

static int print_conversation(const cli_record *it, const char *id)
{
    cli_page page;

    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    bool is_there = print_conversations(it, id, page.stream) > 0;
    if (!is_there)
        report_nothing(id);
    return cli_page_finish(&page, is_there ? CLI_EXIT_OK : CLI_EXIT_USAGE);
}

// The main conversation, or all, and what is asked.
static int print_run(const cli_record *it, bool is_all)
{
    const char *id = it->frames.count > 0 ? it->frames.items[0].conversation_id : "";
    cli_page page;

    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    print_conversations(it, is_all ? NULL : id, page.stream);
    if (!cli_record_has_ended(it->info))
        print_questions(it, page.stream);
    int exit_status = cli_page_finish(&page, CLI_EXIT_OK);
    if (!is_all)
        note_others(it, id);
    return exit_status;
}

static int print_script(const cli_record *it, cli_script_form form)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *script = json_object();
    cli_page page;
    cadre_status status =
        cadre_record_script(it->runtime, it->info->trace_id, script, &err);

    if (status != CADRE_OK) {
        json_decref(script);
        cli_report("%s", err.text);
        return cli_exit_of_error(&err);
    }
    bool has_page = cli_page_init(&page);
    if (has_page)
        cli_script_print(page.stream, script, form);
    json_decref(script);
    return has_page ? cli_page_finish(&page, CLI_EXIT_OK) : CLI_EXIT_FAILED;
}

static int show_record(const cli_record *it, const cli_arguments *arguments)
{
    const char *conversation = cli_arguments_value(arguments, "conversation");
    bool is_json = cli_arguments_has(arguments, "json");

    if (cli_arguments_has(arguments, "script"))
        return print_script(it, is_json ? CLI_SCRIPT_JSON : CLI_SCRIPT_YAML);
    if (is_json)
        return print_json(it, conversation);
    if (conversation)
        return print_conversation(it, conversation);
    return print_run(it, cli_arguments_has(arguments, "all"));
}

static int show_command(const cli_arguments *arguments)
{
    cli_record it;
    bool is_one = cli_arguments_value(arguments, "conversation") != NULL;

    if (is_one && cli_arguments_has(arguments, "script"))
        return cli_report_usage(arguments->command,
                                "'--script' is of the whole run, without "
                                "'--conversation'");
    if (is_one && cli_arguments_has(arguments, "all"))
        return cli_report_usage(arguments->command,
                                "'--all' and '--conversation' exclude each other");
    int exit_status = cli_record_open(&it, arguments, cli_arguments_text(arguments, 0));
    if (exit_status == CLI_EXIT_OK)
        exit_status = show_record(&it, arguments);
    cli_record_close(&it);
    return exit_status;
}

static const cli_option options[] = {
    {"json", NULL, "print a JSON array: what was said in all its conversations"},
    {"all", NULL, "all conversations, not only the main one"},
    {"conversation", "ID", "this conversation instead of the main one"},
    {"script", NULL, "print the run as a script that makes it again: YAML, or --json"},
    {"store", "URL", "where runs are recorded: " CLI_STORE_OPTION},
};

const cadre_command cadre_command_show = {
    .name = "show",
    .summary = "Shows what was said in a recorded run",
    .arguments = "[TRACE]",
    .max_arguments = 1,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "Without TRACE it is the newest run of the store. Speakers, texts, tool\n"
        "calls and results stand in the order in which they were said. Members that\n"
        "work in conversations of their own (forks) are shown with --all.\n",
    .run = show_command,
};
