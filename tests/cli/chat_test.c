// cadre chat: over a terminal with editing, questions and signals, and over pipes.
#include "support/folder.h"
#include "support/program.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_STEPS 12
#define WORDS(...)                                                                     \
    (const char *const[])                                                              \
    {                                                                                  \
        "chat", "chat.yaml", "--offline", __VA_ARGS__, NULL                            \
    }

#define ASKING "--script=chat_ask_script.yaml"

// What is typed once a text has come behind what came before.
typedef struct step {
    const char *when, *types;
    int signal, columns;
} step;

static test_folder state; // of each test
static char state_home[FOLDER_PATH_SIZE], store[FOLDER_PATH_SIZE];
static char directory[4096];

static int remove_one(const char *path, const struct stat *found, int type,
                      struct FTW *at)
{
    (void)found;
    (void)type;
    (void)at;
    return remove(path);
}

static bool set_up(void)
{
    if (!CHECK(folder_make(&state)))
        return false;
    snprintf(state_home, sizeof(state_home), "XDG_STATE_HOME=%s", state.path);
    snprintf(store, sizeof(store), "CADRE_STORE=%s/runs.db", state.path);
    program_source_path("tests/cli/teams", directory, sizeof(directory));
    return true;
}

static void tear_down(void)
{
    nftw(state.path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#define TALK(ran, term, arguments, ...)                                                \
    talk(ran, term, arguments, (const step[]){__VA_ARGS__, {0}})

// Leaves the terminal as it was, whatever happened.
static bool talk(program_result *ran, const char *term, const char *const *arguments,
                 const step *steps)
{
    program_action actions[MAX_STEPS] = {0};

    for (size_t i = 0; steps[i].when; i++)
        actions[i] =
            (program_action){.when = steps[i].when,
                             .is_new = true,
                             .types = steps[i].types,
                             .signal = steps[i].signal,
                             .columns = steps[i].columns,
                             .then = steps[i + 1].when ? &actions[i + 1] : NULL};
    const char *const changes[] = {term,  "NO_COLOR=1", state_home,
                                   store, "HOME=/",     NULL};
    if (!PROGRAM_RUN(ran, .arguments = arguments, .directory = directory,
                     .changes = changes, .terminal = PROGRAM_TERMINAL,
                     .action = actions[0], .timeout_ms = 5000))
        return false;
    CHECK(!ran->has_changed_terminal);
    program_strip_terminal(ran->err);
    return true;
}

static void history_path(char path[FOLDER_PATH_SIZE])
{
    snprintf(path, FOLDER_PATH_SIZE, "%s/cadre/history", state.path);
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

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

// --- At a terminal ---

static void test_chat__holds_a_talk_and_ends_when_it_is_left(void)
{
    static const char *const ways[] = {"\004", "/exit\r"};
    program_result ran;

    for (int i = 0; i < 2; i++) {
        if (!set_up())
            return;
        if (TALK(&ran, "TERM=xterm", WORDS("--session=ada"),
                 {"> ", "hello you\r", 0, 0}, {"> ", "fail now\r", 0, 0},
                 {"> ", "/tree\r", 0, 0}, {"> ", ways[i], 0, 0})) {
            CHECK_INT(ran.exit_status, 0);
            CHECK_INT(count(ran.err, "Hello there.\n"), 1);
            CHECK_CONTAINS(
                ran.err, "session ada (cadre chat chat.yaml --offline --session ada)");
            CHECK_CONTAINS(ran.err, "cadre: agent 'clerk': model 'openai/gpt-5-mini': "
                                    "HTTP 400 invalid_request: no way\n");
            CHECK_CONTAINS(ran.err, "\nclerk  api  failed ");
            CHECK_LACKS(ran.err, "\nclerk  api  completed ");
            program_result_fini(&ran);
        }
        tear_down();
    }
}

static void test_chat__goes_on_with_a_talk_and_shows_its_end(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS("--session=ada"), {"> ", "fail\r", 0, 0},
             {"> ", "hello\r", 0, 0}, {"> ", "\004", 0, 0}))
        program_result_fini(&ran);
    if (TALK(&ran, "TERM=xterm", WORDS("--session=ada"),
             {"there.\r\n> ", "/session\r", 0, 0}, {"ada)\r\n> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "\n2 turns; the last one:\n> hello\nHello there.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__ctrl_c_stops_the_turn_and_not_the_program(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS(NULL), {"> ", "slow please\r", 0, 0},
             {"running ", "\003", 0, 0}, {"> ", "hello\r", 0, 0},
             {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "aborted, 1 agent");
        CHECK_CONTAINS(ran.err, "interrupted by SIGINT");
        CHECK_CONTAINS(ran.err, "Hello there.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__ctrl_c_at_the_prompt_drops_the_line(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS(NULL), {"> ", "fail", 0, 0},
             {"fail", "\003", 0, 0}, {"> ", "one\\\r", 0, 0}, {"... ", "\003", 0, 0},
             {"> ", "\003", 0, 0}, {"> ", "hello\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_INT(count(ran.err, "^C\n"), 3);
        CHECK_CONTAINS(ran.err, "Hello there.\n");
        CHECK_LACKS(ran.err, "no way");
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__takes_lines_that_go_on_and_its_own_words(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS("--quiet"), {"> ", "one\\\r", 0, 0},
             {"... ", "two\r", 0, 0}, {"> ", "//path\r", 0, 0}, {"> ", "/halp\r", 0, 0},
             {"> ", "/tree \r", 0, 0}, {"> ", "/help\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "Two lines.\n");
        CHECK_CONTAINS(ran.err, "A path.\n");
        CHECK_CONTAINS(ran.err, "cadre: no such command: '/halp'; see /help");
        CHECK_CONTAINS(ran.err, "\nclerk  api  completed ");
        CHECK_CONTAINS(ran.err, "  /exit     ends the conversation\n");
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__lines_are_utf_8(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS(NULL), {"> ", "hello h\xc3\xa9\r", 0, 0},
             {"\r\n> ", "\033[A\177\xe4\xb8\xad\r", 0, 0}, {"\r\n> ", "/tree\r", 0, 0},
             {"\r\n> ", "\004", 0, 0})) {
        char *text = read_history();
        CHECK_TEXT(text, "hello h\xc3\xa9\nhello h\xe4\xb8\xad\n/tree\n");
        free(text);
        CHECK_INT(count(ran.err, "Hello there.\n"), 2);
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__a_terminal_of_another_size_does_no_harm(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS(NULL), {"> ", "hel", 0, 0}, {"hel", NULL, 0, 40},
             {"h", "lo\r", 0, 0}, {"> ", "slow\r", 0, 0}, {"running ", NULL, 0, 60},
             {"running ", "\003", 0, 0}, {"> ", "hello\r", 0, 0},
             {"there.", NULL, 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_INT(count(ran.err, "Hello there.\n"), 2);
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__needs_no_more_than_a_dumb_terminal(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=dumb", WORDS(ASKING), {"> ", "hel\003", 0, 0},
             {"> ", "ask me\r", 0, 0}, {"? ", "the second\r", 0, 0},
             {"> ", "hello\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "As you like.\n");
        CHECK_CONTAINS(ran.err, "Hello there.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

static void check_signal(int signal, const char *line, const char *when)
{
    const char *script = strcmp(when, "? ") == 0 ? ASKING : NULL;
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS(script), {"> ", line, 0, 0},
             {when, NULL, signal, 0})) {
        CHECK_INT(ran.exit_status, 4);
        program_result_fini(&ran);
    }
    tear_down();
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
    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS(NULL), {"> ", "hel", 0, 0},
             {"hel", "\032", 0, 0}, {"> hel", "\034lo\r", 0, 0},
             {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "Hello there.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

// --- Questions ---

static void test_chat__asks_what_the_team_asks_and_goes_on(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS("--script=chat_pay_script.yaml"),
             {"> ", "pay it\r", 0, 0}, {"? ", "maybe\r", 0, 0}, {"? ", "\r", 0, 0},
             {"? ", "y\r", 0, 0}, {"> ", "pay more\r", 0, 0}, {"? ", "N\r", 0, 0},
             {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "clerk asks: May clerk call pay?\n"
                                "  pay {\"note\":\"a\\u001B[2Jb\"}\n"
                                "  choices: yes, no\n");
        CHECK_CONTAINS(ran.err, "that is none of the choices\n");
        CHECK_CONTAINS(ran.err, "It is paid.\n");
        CHECK_CONTAINS(ran.err, "Then not.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

static void check_question_left_open(const char *way, const char *const *arguments)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", arguments, {"> ", "ask me\r", 0, 0}, {"? ", way, 0, 0},
             {"> ", "hello\r", 0, 0}, {"? ", "the second\r", 0, 0},
             {"> ", "hello\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err,
                       "waits for an answer; the next line here offers it again");
        int n_commands = arguments[4] ? 0 : 1; // nobody else can answer
        CHECK_INT(count(ran.err, "clerk asks: Which one?\n"), 2 + n_commands);
        CHECK_INT(count(ran.err, "that line was not sent\n"), 1);
        CHECK_INT(count(ran.err, "As you like.\n"), 1);
        CHECK_INT(count(ran.err, "Hello there.\n"), 1);
        CHECK_INT(count(ran.err, "Which one?\n  cadre answer "), n_commands);
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__a_question_may_be_left_open(void)
{
    check_question_left_open("\003", WORDS(ASKING));
    check_question_left_open("\004", WORDS(ASKING));
    check_question_left_open("\003", WORDS(ASKING, "--store=memory"));
}

static void test_chat__asks_for_no_answer_twice(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS("--script=chat_both_script.yaml"),
             {"> ", "both\r", 0, 0}, {"? ", "y\r", 0, 0}, {"? ", "\003", 0, 0},
             {"> ", "hello\r", 0, 0}, {"? ", "the second\r", 0, 0},
             {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_INT(count(ran.err, "clerk asks: May clerk call pay?\n"), 1);
        CHECK_INT(count(ran.err, "clerk asks: Which one?\n"), 3);
        CHECK_INT(count(ran.err, "Which one?\n  cadre answer "), 1);
        CHECK_CONTAINS(ran.err, "\nBoth are done.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__comes_back_to_a_question_later(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS(ASKING, "--session=ada"),
             {"> ", "ask me\r", 0, 0}, {"? ", "\003", 0, 0}, {"> ", "\004", 0, 0}))
        program_result_fini(&ran);
    if (TALK(&ran, "TERM=xterm", WORDS(ASKING, "--session=ada"),
             {"? ", "the second\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "\n1 turn; the last one:\n> ask me\n(waiting)\n");
        CHECK_CONTAINS(ran.err, "As you like.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

// A turn of this session that nobody ended.
static bool cut_a_turn(void)
{
    program_result ran;
    const char *const changes[] = {state_home, store, NULL};
    const char *const arguments[] = {"run",       "chat.yaml",     "slow",
                                     "--offline", "--session=ada", NULL};

    if (!PROGRAM_RUN(&ran, .arguments = arguments, .changes = changes,
                     .directory = directory,
                     .action = {.when = "trace ", .signal = SIGKILL}))
        return false;
    program_result_fini(&ran);
    return true;
}

static void test_chat__goes_on_with_a_turn_that_was_cut_when_told_to(void)
{
    const char *const arguments[] = {"chat", "chat.yaml", "--script=quick.yaml",
                                     "--session=ada", NULL};
    char quick[FOLDER_PATH_SIZE], option[FOLDER_PATH_SIZE + 16];
    const char *const quickly[] = {arguments[0], arguments[1], option, arguments[3],
                                   NULL};
    program_result ran;

    if (!set_up())
        return;
    folder_write(&state, "quick.yaml",
                 "agents: {clerk: [{text: At last.}, {text: Next.}]}", quick);
    snprintf(option, sizeof(option), "--script=%s", quick);
    if (cut_a_turn() && TALK(&ran, "TERM=xterm", quickly, {"y/n? ", "n\r", 0, 0},
                             {"> ", "hello\r", 0, 0}, {"y/n? ", "y\r", 0, 0},
                             {"> ", "hello\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "was cut before its end");
        CHECK_CONTAINS(ran.err, "and is not at its end");
        CHECK_CONTAINS(ran.err, "At last.\n");
        CHECK_CONTAINS(ran.err, "Next.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

// --- History ---

static void test_chat__lines_can_be_had_again(void)
{
    program_result ran;
    struct stat found = {0};
    char path[FOLDER_PATH_SIZE];

    if (!set_up())
        return;
    if (TALK(&ran, "TERM=xterm", WORDS(NULL), {"> ", "hello\r", 0, 0},
             {"> ", "hello\r", 0, 0}, {"> ", "a\\b fail\r", 0, 0},
             {"> ", "one\\\r", 0, 0}, {"... ", "two\r", 0, 0}, {"> ", "\004", 0, 0}))
        program_result_fini(&ran);
    char *text = read_history();
    CHECK_TEXT(text, "hello\na\\\\b fail\none\\ntwo\n");
    free(text);
    history_path(path);
    CHECK_INT(stat(path, &found), 0);
    CHECK_INT(found.st_mode & 0777, 0600);
    // The second last is the failure; then it is the last one. Answers are not kept.
    if (TALK(&ran, "TERM=xterm", WORDS(NULL), {"> ", "\033[A\033[A\r", 0, 0},
             {"no way\r\n> ", "\033[A\r", 0, 0}, {"no way\r\n> ", "\004", 0, 0})) {
        CHECK_INT(count(ran.err, "no way\n"), 2);
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__keeps_a_thousand_lines(void)
{
    program_result ran;
    char path[FOLDER_PATH_SIZE], folder[FOLDER_PATH_SIZE];

    if (!set_up())
        return;
    snprintf(folder, sizeof(folder), "%s/cadre", state.path);
    CHECK_INT(mkdir(folder, 0700), 0);
    history_path(path);
    FILE *file = fopen(path, "we");
    if (CHECK(file != NULL)) {
        for (int i = 0; i < 1500; i++)
            fprintf(file, "line %d\n", i);
        fclose(file);
    }
    if (TALK(&ran, "TERM=xterm", WORDS(NULL), {"> ", "hello\r", 0, 0},
             {"> ", "\004", 0, 0}))
        program_result_fini(&ran);
    char *text = read_history();
    CHECK_INT(count(text, "\n"), 1000);
    CHECK_INT(strncmp(text, "line 501\n", 9), 0);
    CHECK_CONTAINS(text, "\nline 1499\nhello\n");
    free(text);
    tear_down();
}

// --- Pipes ---

static bool pipe_in(const char *input, const char *script, program_stdout out,
                    program_result *ran)
{
    const char *const changes[] = {state_home, store, "HOME=/", NULL};

    return PROGRAM_RUN(ran, .arguments = WORDS("--session=ada", script), .input = input,
                       .changes = changes, .directory = directory, .out = out);
}

static void check_pipe(const char *input, const char *out, int exit_status,
                       const char *err)
{
    program_result ran;

    if (!set_up())
        return;
    if (pipe_in(input, NULL, PROGRAM_STDOUT_KEPT, &ran)) {
        CHECK_INT(ran.exit_status, exit_status);
        CHECK_TEXT(ran.out, out);
        CHECK_CONTAINS(ran.err, err);
        CHECK_LACKS(ran.err, "\033");
        CHECK_LACKS(ran.err, "> ");
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__lines_of_a_pipe_are_turns(void)
{
    check_pipe("", "", 0, "session ada");
    check_pipe("\n \nhello\r\nhello", "Hello there.\nHello there.\n", 0, "completed");
    check_pipe("one\\\ntwo\nhello\n", "Two lines.\nHello there.\n", 0, "completed");
    check_pipe("//path\n", "A path.\n", 0, "completed");
    check_pipe("hello\nfail\n", "Hello there.\n", 1, "no way");
    check_pipe("fail\nhello\n", "Hello there.\n", 0, "no way");
    check_pipe("hello\n/exit\nfail\n", "Hello there.\n", 0, "completed");
    check_pipe("hello\n/what\n", "Hello there.\n", 2, "no such command: '/what'");
    check_pipe("hello\n\xff\n", "Hello there.\n", 2, "no text in UTF-8");
    check_pipe("hello\nfail\n\\\nhello", "Hello there.\nHello there.\n", 0, "no way");
}

static void test_chat__a_pipe_ends_where_no_turn_can_begin(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (pipe_in("ask me\nhello\n", ASKING, PROGRAM_STDOUT_KEPT, &ran)) {
        CHECK_INT(ran.exit_status, 3);
        CHECK_TEXT(ran.out, "");
        CHECK_CONTAINS(ran.err, " waits for an answer\n"
                                "clerk asks: Which one?\n  cadre answer ");
        program_result_fini(&ran);
    }
    if (pipe_in("hello\nhello\n", ASKING, PROGRAM_STDOUT_KEPT, &ran)) {
        CHECK_INT(ran.exit_status, 5);
        CHECK_INT(count(ran.err, "is not at its end"), 1);
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__ends_when_nobody_reads_it(void)
{
    program_result ran;

    if (!set_up())
        return;
    if (pipe_in("hello\nhello\n", NULL, PROGRAM_STDOUT_GONE, &ran)) {
        CHECK_INT(ran.exit_status, 4);
        program_result_fini(&ran);
    }
    if (pipe_in("fail\nhello\nhello\n", NULL, PROGRAM_STDOUT_FULL, &ran)) {
        CHECK_INT(ran.exit_status, 1);
        CHECK_INT(count(ran.err, "cannot write to stdout: No space left"), 1);
        CHECK_INT(count(ran.err, "completed, "), 1);
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__a_signal_ends_a_pipe(void)
{
    const char *const changes[] = {state_home, store, "HOME=/", NULL};
    program_result ran;

    if (!set_up())
        return;
    if (PROGRAM_RUN(&ran, .arguments = WORDS(NULL), .input = "hello\nslow\nhello\n",
                    .changes = changes, .directory = directory,
                    .action = {.when = "completed, ", .signal = SIGINT})) {
        CHECK_INT(ran.exit_status, 4);
        CHECK_TEXT(ran.out, "Hello there.\n");
        program_result_fini(&ran);
    }
    tear_down();
}

static void check_mistake(const char *const *arguments, int exit_status,
                          const char *err)
{
    program_result ran;

    if (!set_up())
        return;
    if (PROGRAM_RUN(&ran, .arguments = arguments, .directory = directory)) {
        CHECK_INT(ran.exit_status, exit_status);
        CHECK_CONTAINS(ran.err, err);
        CHECK_LACKS(ran.err, "session ");
        program_result_fini(&ran);
    }
    tear_down();
}

static void test_chat__mistakes_are_told_before_it_begins(void)
{
    check_mistake((const char *const[]){"chat", NULL}, 2, "too few arguments: TEAM");
    check_mistake((const char *const[]){"chat", "mistakes.yaml", NULL}, 2, "problem");
    check_mistake((const char *const[]){"chat", "no.yaml", NULL}, 2, "no.yaml");
    check_mistake(WORDS("--session="), 2, "option '--session': the name is empty");
    check_mistake(WORDS("--json"), 2, "unknown option '--json'");
    check_mistake(WORDS("--store=/proc/no/x.db"), 5, "/proc/no/x.db");
}

int main(void)
{
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
        CHECK_TEST(test_chat__asks_what_the_team_asks_and_goes_on),
        CHECK_TEST(test_chat__a_question_may_be_left_open),
        CHECK_TEST(test_chat__asks_for_no_answer_twice),
        CHECK_TEST(test_chat__comes_back_to_a_question_later),
        CHECK_TEST(test_chat__goes_on_with_a_turn_that_was_cut_when_told_to),
        CHECK_TEST(test_chat__lines_can_be_had_again),
        CHECK_TEST(test_chat__keeps_a_thousand_lines),
        CHECK_TEST(test_chat__lines_of_a_pipe_are_turns),
        CHECK_TEST(test_chat__a_pipe_ends_where_no_turn_can_begin),
        CHECK_TEST(test_chat__ends_when_nobody_reads_it),
        CHECK_TEST(test_chat__a_signal_ends_a_pipe),
        CHECK_TEST(test_chat__mistakes_are_told_before_it_begins),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/chat", tests);
}
