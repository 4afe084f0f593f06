// cadre chat: a team as a conversation. Each line is a run in one session.
#include "ui/chat_turn.h"
#include "ui/command.h"
#include "ui/options.h"
#include "ui/print_tree.h"
#include "ui/record.h"
#include "ui/report.h"
#include "ui/shell.h"
#include "ui/summary.h"
#include "ui/team_type.h"
#include "ui/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIGN "> "

// --- What there is to tell ---

// "cadre chat team.yaml --offline --session chat-5hq7y29q"
static void print_again(const cli_chat *it, FILE *stream)
{
    static const char *const kept[] = {"max-cost", "offline", "script", "set",
                                       "store",    "timeout", "type"};

    fputs("cadre chat ", stream);
    cli_shell_print(stream, it->request.team_path);
    cli_shell_print_options(stream, it->arguments, kept, sizeof(kept) / sizeof(*kept));
    fputs(" --session ", stream);
    cli_shell_print(stream, it->request.session);
}

static void tell_session(const cli_chat *it)
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

static void tell_tree(const cli_chat *it)
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
        cli_page_tell(&page);
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

static void tell_last_exchange(const cli_chat *it)
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
        cli_page_tell(&page);
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

// --- Lines ---

static void take_file(cli_chat *it, const char *path)
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

static void obey(cli_chat *it, const char *word)
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

static void take_text(cli_chat *it, char *text)
{
    if (is_blank(text))
        return;
    cli_prompt_remember(&it->prompt, text);
    if (text[0] != '/' || text[1] == '/') {
        cli_chat_say(it, text[0] == '/' ? text + 1 : text);
        return;
    }
    for (size_t len = strlen(text); strchr(" \t", text[len - 1]); len--)
        text[len - 1] = '\0';
    obey(it, text);
}

static void converse(cli_chat *it)
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
            cli_chat_take_end(it, said);
        free(text);
    }
}

// --- Beginning and end ---

static void tell_start(cli_chat *it, const cli_session *session)
{
    if (!it->request.show.is_quiet)
        tell_session(it);
    if (session->n_turns == 0)
        return;
    cli_chat_set_last(it, session->last);
    if (!it->request.show.is_quiet) {
        cli_report_note("%zu turn%s; the last one:", session->n_turns,
                        session->n_turns == 1 ? "" : "s");
        tell_last_exchange(it);
    }
}

static int begin_and_converse(cli_chat *it)
{
    cli_session session;

    if (!cli_chat_read_session(it, &session)) {
        cli_session_fini(&session);
        return CLI_EXIT_STORE;
    }
    tell_start(it, &session);
    if (it->prompt.is_terminal)
        cli_chat_offer_open(it, &session);
    cli_session_fini(&session);
    converse(it);
    // Who leaves a prompt has seen how each turn ended.
    return it->is_left && it->prompt.is_terminal ? CLI_EXIT_OK : it->exit_status;
}

static int chat_on_team(cli_chat *it)
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
    cli_chat it = {.arguments = arguments};
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
