// On a terminal: the answer as it comes, the live tree, colours, and nothing that a
// model wrote is obeyed.
#include "support/program.h"

#include <signal.h>
#include <string.h>

#define TEAMS program_source_path("tests/cli/teams", (char[4096]){""}, 4096)
#define WORDS(...)                                                                     \
    .arguments = (const char *const[])                                                 \
    {                                                                                  \
        __VA_ARGS__, NULL                                                              \
    }
#define XTERM                                                                          \
    .changes = (const char *const[])                                                   \
    {                                                                                  \
        "TERM=xterm", "NO_COLOR", NULL                                                 \
    }

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

static void test_terminal__the_streamed_answer_is_not_printed_twice(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS("run", "desk.yaml", "hello", "--offline"),
                     .directory = TEAMS, .terminal = PROGRAM_TERMINAL, XTERM))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_CONTAINS(ran.err, "\033[32mcompleted\033[0m");
    program_strip_terminal(ran.err);
    CHECK_INT(count(ran.err, "\nYour return label is on its way.\n"), 1);
    CHECK_INT(count(ran.err, "Your return label"), 1);
    CHECK_CONTAINS(ran.err, "\n   └─ after_sales ");
    program_result_fini(&ran);
}

static void check_escapes(const char *option)
{
    program_result ran;

    if (!PROGRAM_RUN(
            &ran,
            WORDS("run", "solo.yaml", "hello", "--script=escape_script.yaml", option),
            .directory = TEAMS, .terminal = PROGRAM_TERMINAL, XTERM))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_LACKS(ran.err, "\a");
    CHECK_LACKS(ran.err, "\033]");
    CHECK_LACKS(ran.err, "\033[2J");
    CHECK_LACKS(ran.err, "\302\233");
    CHECK_LACKS(ran.err, "\342\200"); // U+202E
    program_strip_terminal(ran.err);
    CHECK_CONTAINS(ran.err,
                   "one\\x1b[2Jtwo\\x1b]0;title\\x07 \\u009b31m \\u202eabc\\u202c\n"
                   "tab\tend\n");
    program_result_fini(&ran);
}

static void test_terminal__escape_sequences_of_models_come_out_as_text(void)
{
    check_escapes(NULL);
    check_escapes("--plain");
    check_escapes("--quiet");
}

static void check_plain(const char *option, const char *term, const char *no_color)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS("run", "desk.yaml", "hello", "--offline", option),
                     .directory = TEAMS, .terminal = PROGRAM_TERMINAL,
                     .changes = (const char *const[]){term, no_color, NULL}))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_LACKS(ran.err, "\033[3");
    CHECK_LACKS(ran.err, "\033[2m");
    if (!no_color)
        CHECK_LACKS(ran.err, "\033");
    program_result_fini(&ran);
}

static void test_terminal__colours_can_be_had_without(void)
{
    check_plain("--plain", "TERM=xterm", NULL);
    check_plain(NULL, "TERM=dumb", NULL);
    check_plain(NULL, "TERM=xterm", "NO_COLOR=1");
}

static void test_terminal__the_live_tree_shows_who_works(void)
{
    program_result ran;

    // The run never ends by itself: what is waited for was drawn while it worked.
    if (!PROGRAM_RUN(&ran,
                     WORDS("run", "solo.yaml", "hello", "--script=slow_script.yaml"),
                     .directory = TEAMS, .terminal = PROGRAM_TERMINAL_STDERR, XTERM,
                     .action = {.when = "running ", .signal = SIGINT}))
        return;
    CHECK_INT(ran.exit_status, 4);
    CHECK_TEXT(ran.out, "");
    CHECK_CONTAINS(ran.err, "\033[36mrunning ");
    CHECK_CONTAINS(ran.err, "\033[33maborted\033[0m");
    CHECK_CONTAINS(ran.err, "cadre: ");
    program_result_fini(&ran);
}

static void test_terminal__a_run_without_input_asks_for_it(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS("run", "desk.yaml", "--offline"), .directory = TEAMS,
                     .terminal = PROGRAM_TERMINAL, XTERM))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_CONTAINS(ran.err, "cadre: run: no input: give a text, or pipe one into it");
    program_result_fini(&ran);
}

static void test_terminal__lines_of_the_tree_are_cut_to_its_width(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS("run", "desk.yaml", "hello", "--offline"),
                     .directory = TEAMS, .terminal = PROGRAM_TERMINAL_STDERR, XTERM,
                     .columns = 30))
        return;
    program_strip_terminal(ran.err);
    const char *row = strstr(ran.err, "└─ triage");
    if (CHECK(row != NULL)) {
        // Two signs of three bytes each.
        CHECK(strcspn(row, "\n") <= 30 + 4);
        CHECK_LACKS(row, " agent ");
    }
    program_result_fini(&ran);
}

static void test_terminal__a_terminal_made_narrower_is_noticed(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran,
                     WORDS("run", "solo.yaml", "hello", "--script=slow_script.yaml",
                           "--timeout=1s"),
                     .directory = TEAMS, .terminal = PROGRAM_TERMINAL_STDERR, XTERM,
                     .action = {.when = "running ", .columns = 18}))
        return;
    CHECK_INT(ran.exit_status, 4);
    program_strip_terminal(ran.err);
    const char *row = strstr(ran.err, "\nsolo  timeout");
    if (CHECK(row != NULL)) {
        CHECK_INT(strcspn(row + 1, "\n"), 18);
        CHECK_INT(row[18], '~');
    }
    program_result_fini(&ran);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_terminal__the_streamed_answer_is_not_printed_twice),
        CHECK_TEST(test_terminal__escape_sequences_of_models_come_out_as_text),
        CHECK_TEST(test_terminal__colours_can_be_had_without),
        CHECK_TEST(test_terminal__the_live_tree_shows_who_works),
        CHECK_TEST(test_terminal__a_run_without_input_asks_for_it),
        CHECK_TEST(test_terminal__lines_of_the_tree_are_cut_to_its_width),
        CHECK_TEST(test_terminal__a_terminal_made_narrower_is_noticed),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/terminal", tests);
}
