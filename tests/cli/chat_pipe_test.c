// cadre chat over pipes, and mistakes that are told before it begins.
#include "support/chat_case.h"

#include <signal.h>

// --- Pipes ---

static bool pipe_in(const char *input, const char *script, program_stdout out,
                    program_result *ran)
{
    const char *const changes[] = {chat_state_home, chat_store, "HOME=/", NULL};

    return PROGRAM_RUN(ran, .arguments = CHAT_WORDS("--session=ada", script),
                       .input = input, .changes = changes, .directory = chat_directory,
                       .out = out);
}

static void check_pipe(const char *input, const char *out, int exit_status,
                       const char *err)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (pipe_in(input, NULL, PROGRAM_STDOUT_KEPT, &ran)) {
        CHECK_INT(ran.exit_status, exit_status);
        CHECK_TEXT(ran.out, out);
        CHECK_CONTAINS(ran.err, err);
        CHECK_LACKS(ran.err, "\033");
        CHECK_LACKS(ran.err, "> ");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat_pipe__lines_of_a_pipe_are_turns(void)
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

static void test_chat_pipe__a_pipe_ends_where_no_turn_can_begin(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (pipe_in("ask me\nhello\n", CHAT_ASKING, PROGRAM_STDOUT_KEPT, &ran)) {
        CHECK_INT(ran.exit_status, 3);
        CHECK_TEXT(ran.out, "");
        CHECK_CONTAINS(ran.err, " waits for an answer\n"
                                "clerk asks: Which one?\n  cadre answer ");
        program_result_fini(&ran);
    }
    if (pipe_in("hello\nhello\n", CHAT_ASKING, PROGRAM_STDOUT_KEPT, &ran)) {
        CHECK_INT(ran.exit_status, 5);
        CHECK_INT(chat_count(ran.err, "is not at its end"), 1);
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat_pipe__ends_when_nobody_reads_it(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (pipe_in("hello\nhello\n", NULL, PROGRAM_STDOUT_GONE, &ran)) {
        CHECK_INT(ran.exit_status, 4);
        program_result_fini(&ran);
    }
    if (pipe_in("fail\nhello\nhello\n", NULL, PROGRAM_STDOUT_FULL, &ran)) {
        CHECK_INT(ran.exit_status, 1);
        CHECK_INT(chat_count(ran.err, "cannot write to stdout: No space left"), 1);
        CHECK_INT(chat_count(ran.err, "completed, "), 1);
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat_pipe__a_signal_ends_a_pipe(void)
{
    const char *const changes[] = {chat_state_home, chat_store, "HOME=/", NULL};
    program_result ran;

    if (!chat_case_open())
        return;
    if (PROGRAM_RUN(&ran, .arguments = CHAT_WORDS(NULL),
                    .input = "hello\nslow\nhello\n", .changes = changes,
                    .directory = chat_directory,
                    .action = {.when = "completed, ", .signal = SIGINT})) {
        CHECK_INT(ran.exit_status, 4);
        CHECK_TEXT(ran.out, "Hello there.\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void check_mistake(const char *const *arguments, int exit_status,
                          const char *err)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (PROGRAM_RUN(&ran, .arguments = arguments, .directory = chat_directory)) {
        CHECK_INT(ran.exit_status, exit_status);
        CHECK_CONTAINS(ran.err, err);
        CHECK_LACKS(ran.err, "session ");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat_pipe__mistakes_are_told_before_it_begins(void)
{
    check_mistake((const char *const[]){"chat", NULL}, 2, "too few arguments: TEAM");
    check_mistake((const char *const[]){"chat", "mistakes.yaml", NULL}, 2, "problem");
    check_mistake((const char *const[]){"chat", "no.yaml", NULL}, 2, "no.yaml");
    check_mistake(CHAT_WORDS("--session="), 2, "option '--session': the name is empty");
    check_mistake(CHAT_WORDS("--json"), 2, "unknown option '--json'");
    check_mistake(CHAT_WORDS("--store=/proc/no/x.db"), 5, "/proc/no/x.db");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_chat_pipe__lines_of_a_pipe_are_turns),
    CHECK_TEST(test_chat_pipe__a_pipe_ends_where_no_turn_can_begin),
    CHECK_TEST(test_chat_pipe__ends_when_nobody_reads_it),
    CHECK_TEST(test_chat_pipe__a_signal_ends_a_pipe),
    CHECK_TEST(test_chat_pipe__mistakes_are_told_before_it_begins),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/chat_pipe", tests);
}
