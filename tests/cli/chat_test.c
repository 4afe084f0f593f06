// cadre chat at a terminal: editing, history and signals.
#include "support/chat_case.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void history_path(char path[FOLDER_PATH_SIZE])
{
    snprintf(path, FOLDER_PATH_SIZE, "%s/cadre/history", chat_folder.path);
}

static char *read_history(void)
{
    char path[FOLDER_PATH_SIZE];
    char *text = calloc(1, 65536);

    history_path(path);
    FILE *file = fopen(path, "re");
    if (CHECK(file != NULL) && text) {
        CHECK(fread(text, 1, 65535, file) > 0);
        fclose(file);
    }
    return text;
}

// --- At a terminal ---

static void test_chat__holds_a_talk_and_ends_when_it_is_left(void)
{
    static const char *const ways[] = {"\004", "/exit\r"};
    program_result ran;

    for (int i = 0; i < 2; i++) {
        if (!chat_case_open())
            return;
        if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS("--session=ada"),
                      {"> ", "hello you\r", 0, 0}, {"> ", "fail now\r", 0, 0},
                      {"> ", "/tree\r", 0, 0}, {"> ", ways[i], 0, 0})) {
            CHECK_INT(ran.exit_status, 0);
            CHECK_INT(chat_count(ran.err, "Hello there.\n"), 1);
            CHECK_CONTAINS(
                ran.err, "session ada (cadre chat chat.yaml --offline --session ada)");
            CHECK_CONTAINS(ran.err, "cadre: agent 'clerk': model 'openai/gpt-5-mini': "
                                    "HTTP 400 invalid_request: no way\n");
            CHECK_CONTAINS(ran.err, "\nclerk  api  failed ");
            CHECK_LACKS(ran.err, "\nclerk  api  completed ");
            program_result_fini(&ran);
        }
        chat_case_close();
    }
}

static void test_chat__goes_on_with_a_talk_and_shows_its_end(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS("--session=ada"),
                  {"> ", "fail\r", 0, 0}, {"> ", "hello\r", 0, 0},
                  {"> ", "\004", 0, 0}))
        program_result_fini(&ran);
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS("--session=ada"),
                  {"there.\r\n> ", "/session\r", 0, 0}, {"ada)\r\n> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "\n2 turns; the last one:\n> hello\nHello there.\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat__ctrl_c_stops_the_turn_and_not_the_program(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(NULL), {"> ", "slow please\r", 0, 0},
                  {"running ", "\003", 0, 0}, {"> ", "hello\r", 0, 0},
                  {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "aborted, 1 agent");
        CHECK_CONTAINS(ran.err, "interrupted by SIGINT");
        CHECK_CONTAINS(ran.err, "Hello there.\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat__ctrl_c_at_the_prompt_drops_the_line(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(NULL), {"> ", "fail", 0, 0},
                  {"fail", "\003", 0, 0}, {"> ", "one\\\r", 0, 0},
                  {"... ", "\003", 0, 0}, {"> ", "\003", 0, 0}, {"> ", "hello\r", 0, 0},
                  {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_INT(chat_count(ran.err, "^C\n"), 3);
        CHECK_CONTAINS(ran.err, "Hello there.\n");
        CHECK_LACKS(ran.err, "no way");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat__takes_lines_that_go_on_and_its_own_words(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS("--quiet"), {"> ", "one\\\r", 0, 0},
                  {"... ", "two\r", 0, 0}, {"> ", "//path\r", 0, 0},
                  {"> ", "/halp\r", 0, 0}, {"> ", "/tree \r", 0, 0},
                  {"> ", "/help\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "Two lines.\n");
        CHECK_CONTAINS(ran.err, "A path.\n");
        CHECK_CONTAINS(ran.err, "cadre: no such command: '/halp'; see /help");
        CHECK_CONTAINS(ran.err, "\nclerk  api  completed ");
        CHECK_CONTAINS(ran.err, "  /exit       ends the conversation\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat__lines_are_utf_8(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(NULL),
                  {"> ", "hello h\xc3\xa9\r", 0, 0},
                  {"\r\n> ", "\033[A\177\xe4\xb8\xad\r", 0, 0},
                  {"\r\n> ", "/tree\r", 0, 0}, {"\r\n> ", "\004", 0, 0})) {
        char *text = read_history();
        CHECK_TEXT(text, "hello h\xc3\xa9\nhello h\xe4\xb8\xad\n/tree\n");
        free(text);
        CHECK_INT(chat_count(ran.err, "Hello there.\n"), 2);
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat__a_terminal_of_another_size_does_no_harm(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(NULL), {"> ", "hel", 0, 0},
                  {"hel", NULL, 0, 40}, {"h", "lo\r", 0, 0}, {"> ", "slow\r", 0, 0},
                  {"running ", NULL, 0, 60}, {"running ", "\003", 0, 0},
                  {"> ", "hello\r", 0, 0}, {"there.", NULL, 0, 0},
                  {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_INT(chat_count(ran.err, "Hello there.\n"), 2);
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat__needs_no_more_than_a_dumb_terminal(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=dumb", CHAT_WORDS(CHAT_ASKING), {"> ", "hel\003", 0, 0},
                  {"> ", "ask me\r", 0, 0}, {"? ", "the second\r", 0, 0},
                  {"> ", "hello\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "As you like.\n");
        CHECK_CONTAINS(ran.err, "Hello there.\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void check_signal(int signal, const char *line, const char *when)
{
    const char *script = strcmp(when, "? ") == 0 ? CHAT_ASKING : NULL;
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(script), {"> ", line, 0, 0},
                  {when, NULL, signal, 0})) {
        CHECK_INT(ran.exit_status, 4);
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat__signals_end_it_and_leave_the_terminal_as_it_was(void)
{
    check_signal(SIGTERM, "half a line", "half a line");
    check_signal(SIGHUP, "half a line", "half a line");
    check_signal(SIGTERM, "slow\r", "running ");
    check_signal(SIGHUP, "slow\r", "running ");
    check_signal(SIGTERM, "ask me\r", "? ");
}

static void test_chat__suspending_does_no_harm(void)
{
    program_result ran;

    // Nobody could wake it up here, so the kernel lets Ctrl-Z do nothing.
    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(NULL), {"> ", "hel", 0, 0},
                  {"hel", "\032", 0, 0}, {"> hel", "\034lo\r", 0, 0},
                  {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "Hello there.\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

// --- History ---

static void test_chat__lines_can_be_had_again(void)
{
    program_result ran;
    struct stat found = {0};
    char path[FOLDER_PATH_SIZE];

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(NULL), {"> ", "hello\r", 0, 0},
                  {"> ", "hello\r", 0, 0}, {"> ", "a\\b fail\r", 0, 0},
                  {"> ", "one\\\r", 0, 0}, {"... ", "two\r", 0, 0},
                  {"> ", "\004", 0, 0}))
        program_result_fini(&ran);
    char *text = read_history();
    CHECK_TEXT(text, "hello\na\\\\b fail\none\\ntwo\n");
    free(text);
    history_path(path);
    CHECK_INT(stat(path, &found), 0);
    CHECK_INT(found.st_mode & 0777, 0600);
    // The second last is the failure; then it is the last one. Answers are not kept.
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(NULL), {"> ", "\033[A\033[A\r", 0, 0},
                  {"no way\r\n> ", "\033[A\r", 0, 0}, {"no way\r\n> ", "\004", 0, 0})) {
        CHECK_INT(chat_count(ran.err, "no way\n"), 2);
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat__keeps_a_thousand_lines(void)
{
    program_result ran;
    char path[FOLDER_PATH_SIZE], folder[FOLDER_PATH_SIZE];

    if (!chat_case_open())
        return;
    snprintf(folder, sizeof(folder), "%s/cadre", chat_folder.path);
    CHECK_INT(mkdir(folder, 0700), 0);
    history_path(path);
    FILE *file = fopen(path, "we");
    if (CHECK(file != NULL)) {
        for (int i = 0; i < 1500; i++)
            fprintf(file, "line %d\n", i);
        fclose(file);
    }
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(NULL), {"> ", "hello\r", 0, 0},
                  {"> ", "\004", 0, 0}))
        program_result_fini(&ran);
    char *text = read_history();
    CHECK_INT(chat_count(text, "\n"), 1000);
    CHECK_INT(strncmp(text, "line 501\n", 9), 0);
    CHECK_CONTAINS(text, "\nline 1499\nhello\n");
    free(text);
    chat_case_close();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_chat__holds_a_talk_and_ends_when_it_is_left),
    CHECK_TEST(test_chat__goes_on_with_a_talk_and_shows_its_end),
    CHECK_TEST(test_chat__ctrl_c_stops_the_turn_and_not_the_program),
    CHECK_TEST(test_chat__ctrl_c_at_the_prompt_drops_the_line),
    CHECK_TEST(test_chat__takes_lines_that_go_on_and_its_own_words),
    CHECK_TEST(test_chat__lines_are_utf_8),
    CHECK_TEST(test_chat__a_terminal_of_another_size_does_no_harm),
    CHECK_TEST(test_chat__needs_no_more_than_a_dumb_terminal),
    CHECK_TEST(test_chat__signals_end_it_and_leave_the_terminal_as_it_was),
    CHECK_TEST(test_chat__suspending_does_no_harm),
    CHECK_TEST(test_chat__lines_can_be_had_again),
    CHECK_TEST(test_chat__keeps_a_thousand_lines),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/chat", tests);
}
