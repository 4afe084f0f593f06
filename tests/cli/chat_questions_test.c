// cadre chat: questions of the team, and turns that were cut, at a terminal.
#include "support/chat_case.h"

#include <signal.h>
#include <stdio.h>

// --- Questions ---

static void test_chat_questions__asks_what_the_team_asks_and_goes_on(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS("--script=chat_pay_script.yaml"),
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
    chat_case_close();
}

static void check_question_left_open(const char *way, const char *const *arguments)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", arguments, {"> ", "ask me\r", 0, 0},
                  {"? ", way, 0, 0}, {"> ", "hello\r", 0, 0},
                  {"? ", "the second\r", 0, 0}, {"> ", "hello\r", 0, 0},
                  {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err,
                       "waits for an answer; the next line here offers it again");
        int n_commands = arguments[4] ? 0 : 1; // nobody else can answer
        CHECK_INT(chat_count(ran.err, "clerk asks: Which one?\n"), 2 + n_commands);
        CHECK_INT(chat_count(ran.err, "that line was not sent\n"), 1);
        CHECK_INT(chat_count(ran.err, "As you like.\n"), 1);
        CHECK_INT(chat_count(ran.err, "Hello there.\n"), 1);
        CHECK_INT(chat_count(ran.err, "Which one?\n  cadre answer "), n_commands);
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat_questions__a_question_may_be_left_open(void)
{
    check_question_left_open("\003", CHAT_WORDS(CHAT_ASKING));
    check_question_left_open("\004", CHAT_WORDS(CHAT_ASKING));
    check_question_left_open("\003", CHAT_WORDS(CHAT_ASKING, "--store=memory"));
}

static void test_chat_questions__asks_for_no_answer_twice(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS("--script=chat_both_script.yaml"),
                  {"> ", "both\r", 0, 0}, {"? ", "y\r", 0, 0}, {"? ", "\003", 0, 0},
                  {"> ", "hello\r", 0, 0}, {"? ", "the second\r", 0, 0},
                  {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_INT(chat_count(ran.err, "clerk asks: May clerk call pay?\n"), 1);
        CHECK_INT(chat_count(ran.err, "clerk asks: Which one?\n"), 3);
        CHECK_INT(chat_count(ran.err, "Which one?\n  cadre answer "), 1);
        CHECK_CONTAINS(ran.err, "\nBoth are done.\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static void test_chat_questions__comes_back_to_a_question_later(void)
{
    program_result ran;

    if (!chat_case_open())
        return;
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(CHAT_ASKING, "--session=ada"),
                  {"> ", "ask me\r", 0, 0}, {"? ", "\003", 0, 0}, {"> ", "\004", 0, 0}))
        program_result_fini(&ran);
    if (CHAT_TALK(&ran, "TERM=xterm", CHAT_WORDS(CHAT_ASKING, "--session=ada"),
                  {"? ", "the second\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "\n1 turn; the last one:\n> ask me\n(waiting)\n");
        CHECK_CONTAINS(ran.err, "As you like.\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

// A turn of this session that nobody ended.
static bool cut_a_turn(void)
{
    program_result ran;
    const char *const changes[] = {chat_state_home, chat_store, NULL};
    const char *const arguments[] = {"run",       "chat.yaml",     "slow",
                                     "--offline", "--session=ada", NULL};

    if (!PROGRAM_RUN(&ran, .arguments = arguments, .changes = changes,
                     .directory = chat_directory,
                     .action = {.when = "trace ", .signal = SIGKILL}))
        return false;
    program_result_fini(&ran);
    return true;
}

static void test_chat_questions__goes_on_with_a_turn_that_was_cut_when_told_to(void)
{
    const char *const arguments[] = {"chat", "chat.yaml", "--script=quick.yaml",
                                     "--session=ada", NULL};
    char quick[FOLDER_PATH_SIZE], option[FOLDER_PATH_SIZE + 16];
    const char *const quickly[] = {arguments[0], arguments[1], option, arguments[3],
                                   NULL};
    program_result ran;

    if (!chat_case_open())
        return;
    folder_write(&chat_folder, "quick.yaml",
                 "agents: {clerk: [{text: At last.}, {text: Next.}]}", quick);
    snprintf(option, sizeof(option), "--script=%s", quick);
    if (cut_a_turn() && CHAT_TALK(&ran, "TERM=xterm", quickly, {"y/n? ", "n\r", 0, 0},
                                  {"> ", "hello\r", 0, 0}, {"y/n? ", "y\r", 0, 0},
                                  {"> ", "hello\r", 0, 0}, {"> ", "\004", 0, 0})) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.err, "was cut before its end");
        CHECK_CONTAINS(ran.err, "and is not at its end");
        CHECK_CONTAINS(ran.err, "At last.\n");
        CHECK_CONTAINS(ran.err, "Next.\n");
        program_result_fini(&ran);
    }
    chat_case_close();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_chat_questions__asks_what_the_team_asks_and_goes_on),
    CHECK_TEST(test_chat_questions__a_question_may_be_left_open),
    CHECK_TEST(test_chat_questions__asks_for_no_answer_twice),
    CHECK_TEST(test_chat_questions__comes_back_to_a_question_later),
    CHECK_TEST(test_chat_questions__goes_on_with_a_turn_that_was_cut_when_told_to),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/chat_questions", tests);
}
