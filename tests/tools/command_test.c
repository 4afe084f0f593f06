// Tools of type command: what they get, what is kept of what they give, and how their
// failures read.
#include "support/command_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLACEMENT "\xef\xbf\xbd"

// --- What it gets and gives ---

static void test_command__gives_arguments_on_stdin_and_takes_stdout(void)
{
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\ncat\n",
                              .arguments = "{order: \"10'42; $(x) ../..\"}"},
        CADRE_RESULT_OK, "{\"order\":\"10'42; $(x) ../..\"}");
}

static void test_command__gets_the_defaults_of_its_parameters(void)
{
    command_tool_check(
        &(command_tool_setup){
            .program = "#!/bin/sh\ncat\n",
            .parameters =
                "{type: object, required: [order], properties: {order: {type: "
                "string}, limit: {type: integer, default: 3}}}",
            .arguments = "{order: \"7\"}"},
        CADRE_RESULT_OK, "{\"order\":\"7\",\"limit\":3}");
}

static void test_command__leaves_out_only_the_last_line_end(void)
{
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\nprintf 'a\\r\\n\\r\\n'\n"},
        CADRE_RESULT_OK, "a\r\n");
}

static void test_command__passes_its_arguments_as_they_are(void)
{
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\nprintf '[%s]' \"$@\"\n",
                              .options = "    argv: [./tool, 'a b', '*', '', '$HOME']"},
        CADRE_RESULT_OK, "[a b][*][][$HOME]");
}

static void test_command__runs_in_the_folder_of_the_team_file(void)
{
    command_tool_ran ran;
    if (!command_tool_run(&(command_tool_setup){.options = "    argv: [pwd]"}, &ran))
        return;
    CHECK_TEXT(ran.results[0], ran.folder);
    command_tool_fini(&ran);
}

static void test_command__passes_on_only_named_variables(void)
{
    command_tool_ran ran;
    // Before any thread is started. NOLINTBEGIN(concurrency-mt-unsafe)
    setenv("COMMAND_TEST_SECRET", "no", 1);
    setenv("COMMAND_TEST_GIVEN", "yes", 1);
    // NOLINTEND(concurrency-mt-unsafe)
    if (!command_tool_run(
            &(command_tool_setup){.options =
                                      "    argv: [env]\n"
                                      "    env: [COMMAND_TEST_GIVEN, PATH, UNSET]"},
            &ran))
        return;
    CHECK_CONTAINS(ran.results[0], "COMMAND_TEST_GIVEN=yes\n");
    CHECK_CONTAINS(ran.results[0], "PATH=");
    CHECK_CONTAINS(ran.results[0], "CADRE_IDEMPOTENCY_KEY=");
    CHECK_LACKS(ran.results[0], "COMMAND_TEST_SECRET");
    CHECK_LACKS(ran.results[0], "UNSET");
    command_tool_fini(&ran);
}

static void test_command__gives_every_call_a_key_of_its_own(void)
{
    command_tool_ran ran;
    if (!command_tool_run(
            &(command_tool_setup){
                .program = "#!/bin/sh\nprintf '%s' \"$CADRE_IDEMPOTENCY_KEY\"",
                .n_calls = 2},
            &ran))
        return;
    CHECK_CONTAINS(ran.results[0], "/");
    CHECK_CONTAINS(ran.results[1], "/");
    CHECK(strcmp(ran.results[0], ran.results[1]) != 0);
    command_tool_fini(&ran);
}

static void test_command__inherits_no_descriptor(void)
{
    int fd = dup2(STDERR_FILENO, 77); // as a careless host program has: not cloexec
    CHECK_INT(fd, 77);
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\n"
                                         "test -e /proc/self/fd/77 && echo leaked\n"
                                         "echo end\n"},
        CADRE_RESULT_OK, "end");
    close(fd);
}

static void test_command__works_in_a_host_without_stdin(void)
{
    int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    close(STDIN_FILENO);
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\ncat\necho to-stderr >&2\n",
                              .arguments = "{a: 1}"},
        CADRE_RESULT_OK, "{\"a\":1}");
    if (saved >= 0) {
        CHECK_INT(dup2(saved, STDIN_FILENO), STDIN_FILENO);
        close(saved);
    }
}

static void test_command__starts_with_default_signals(void)
{
    // The pool's threads block all signals; a host program often ignores SIGPIPE. The
    // two that glibc keeps for itself, 32 and 33, do not count.
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\n"
                                         "grep -E '^Sig(Blk|Ign)' /proc/self/status |\n"
                                         "    sed 's/[018]80000000$/_00000000/'\n"},
        CADRE_RESULT_OK, "SigBlk:\t0000000000000000\nSigIgn:\t0000000_00000000");
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
}

static void test_command__leads_a_group_and_session_of_its_own(void)
{
    command_tool_check(
        &(command_tool_setup){.program =
                                  "#!/bin/sh\n"
                                  "read pid comm state parent group session rest"
                                  " < /proc/$$/stat\n"
                                  "[ $pid = $group ] && echo group\n"
                                  "[ $pid = $session ] && echo session\n"
                                  "( : < /dev/tty ) 2> /dev/null || echo no tty"},
        CADRE_RESULT_OK, "group\nsession\nno tty");
}

// --- Bounds of what it writes ---

enum {
    LARGE_BYTES = 200 * 1000
};

// A scripted call whose argument is larger than a pipe.
static char *large_arguments(size_t len)
{
    char *text = malloc(len + 16);
    if (!CHECK(text != NULL))
        return NULL;
    char *at = stpcpy(text, "{a: \"");
    memset(at, 'x', len);
    (void)stpcpy(at + len, "\"}");
    return text;
}

static void test_command__need_not_read_its_input(void)
{
    char *arguments = large_arguments(LARGE_BYTES);
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\nexec <&-\necho fine\n",
                              .arguments = arguments},
        CADRE_RESULT_OK, "fine");
    free(arguments);
}

static void test_command__reads_while_it_writes(void)
{
    command_tool_ran ran;
    char *arguments = large_arguments(LARGE_BYTES);
    if (command_tool_run(
            &(command_tool_setup){.options = "    argv: [cat]", .arguments = arguments},
            &ran)) {
        CHECK_INT(ran.codes[0], CADRE_RESULT_OK);
        CHECK_INT(strlen(ran.results[0]), LARGE_BYTES + strlen("{\"a\":\"\"}"));
        command_tool_fini(&ran);
    }
    free(arguments);
}

static void test_command__cuts_its_output_and_lets_it_end(void)
{
    command_tool_ran ran;
    if (!command_tool_run(
            &(command_tool_setup){.program = "#!/bin/sh\n"
                                             "head -c 1000000 /dev/zero | tr '\\0' x\n"
                                             "echo ended >&2\n",
                                  .options =
                                      "    argv: [./tool]\n    max_output: 2KiB"},
            &ran))
        return;
    const char *note = strchr(ran.results[0], '\n');
    CHECK_INT(ran.codes[0], CADRE_RESULT_OK);
    CHECK_INT(strspn(ran.results[0], "x"), 1968);
    CHECK_TEXT(note, "\n[cut: 1968 of 1000000 bytes shown]");
    CHECK_TEXT(ran.progress, "ended|");
    command_tool_fini(&ran);
}

static void test_command__shows_bytes_that_are_not_text(void)
{
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\n"
                                         "printf 'a\\377b\\000c\\303\\274d\\355\\240"
                                         "\\200e\\303'\n"},
        CADRE_RESULT_OK,
        "a" REPLACEMENT "b" REPLACEMENT "c\xc3\xbc"
        "d" REPLACEMENT REPLACEMENT REPLACEMENT "e" REPLACEMENT);
}

static void test_command__shows_stderr_in_whole_lines(void)
{
    command_tool_ran ran;
    if (!command_tool_run(
            &(command_tool_setup){.program =
                                      "#!/bin/sh\n"
                                      "printf 'half' >&2\n"
                                      "printf ' a line\\n\\n10%%\\r20%%\\r' >&2\n"
                                      "printf 'without end' >&2\n"},
            &ran))
        return;
    CHECK_TEXT(ran.progress, "half a line|10%|20%|without end|");
    CHECK_TEXT(ran.results[0], "");
    command_tool_fini(&ran);
}

static void test_command__shows_a_long_line_in_pieces_of_whole_characters(void)
{
    command_tool_ran ran;
    // 4095 letters, then a character of two bytes over the border.
    if (!command_tool_run(
            &(command_tool_setup){.program = "#!/bin/sh\n"
                                             "head -c 4095 /dev/zero | tr '\\0' x >&2\n"
                                             "printf '\\303\\274y\\n' >&2\n"},
            &ran))
        return;
    CHECK_INT(strspn(ran.progress, "x"), 4095);
    CHECK_TEXT(ran.progress + 4095, "|\xc3\xbcy|");
    command_tool_fini(&ran);
}

// --- Failures are results ---

static void test_command__failure_has_status_and_stderr(void)
{
    command_tool_check(
        &(command_tool_setup){.program =
                                  "#!/bin/sh\n"
                                  "echo on stdout\n"
                                  "printf 'no order\\n\\033[1mtry later\\n' >&2\n"
                                  "exit 3\n"},
        CADRE_RESULT_TOOL_ERROR, "tool exited with status 3: no order\n?[1mtry later");
}

static void test_command__failure_without_stderr_has_stdout(void)
{
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\necho 2 tests failed\nexit 1\n"},
        CADRE_RESULT_TOOL_ERROR, "tool exited with status 1: 2 tests failed");
}

static void test_command__failure_without_a_word_is_its_status(void)
{
    command_tool_check(&(command_tool_setup){.options = "    argv: ['false']"},
                       CADRE_RESULT_TOOL_ERROR, "false exited with status 1");
}

static void test_command__failure_keeps_the_last_lines(void)
{
    command_tool_ran ran;
    if (!command_tool_run(
            &(command_tool_setup){.program = "#!/bin/sh\n"
                                             "i=0\n"
                                             "while [ $i -lt 2000 ]; do\n"
                                             "    echo \"line $i\"; i=$((i + 1))\n"
                                             "done >&2\n"
                                             "exit 9\n"},
            &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_TOOL_ERROR);
    CHECK_CONTAINS(ran.results[0], "tool exited with status 9: ");
    CHECK_CONTAINS(ran.results[0], "line 1998\nline 1999");
    CHECK_LACKS(ran.results[0], "line 1000");
    CHECK_TEXT(strstr(ran.results[0], "line 1999"), "line 1999");
    command_tool_fini(&ran);
}

static void test_command__names_the_signal_that_killed_it(void)
{
    command_tool_check(
        &(command_tool_setup){.program = "#!/bin/sh\necho dying >&2\nkill -9 $$\n"},
        CADRE_RESULT_TOOL_ERROR,
        "tool was killed by signal 9 (SIGKILL, Killed): dying");
}

static void check_not_started(const command_tool_setup *setup, const char *program,
                              const char *cause)
{
    command_tool_ran ran;
    char expected[1024];
    if (!command_tool_run(setup, &ran))
        return;
    (void)snprintf(expected, sizeof(expected),
                   "cannot start '%s' in the folder '%s': %s", program, ran.folder,
                   cause);
    CHECK_INT(ran.codes[0], CADRE_RESULT_TOOL_ERROR);
    CHECK_TEXT(ran.results[0], expected);
    command_tool_check_no_child();
    command_tool_fini(&ran);
}

static void test_command__says_why_it_cannot_be_started(void)
{
    check_not_started(&(command_tool_setup){.program = NULL}, "./tool",
                      "No such file or directory");
    check_not_started(
        &(command_tool_setup){.program = "#!/bin/sh\n", .is_not_executable = true},
        "./tool", "Permission denied; is it executable (chmod +x)?");
    check_not_started(&(command_tool_setup){.program = "#!/no/such/interpreter\n"},
                      "./tool",
                      "No such file or directory; what the first line of the script "
                      "names (#!) is missing");
    check_not_started(&(command_tool_setup){.program = "echo\n"}, "./tool",
                      "Exec format error; a script needs a first line like #!/bin/sh");
    check_not_started(&(command_tool_setup){.program = "#!/bin/sh\n",
                                            .options = "    argv: [tool-of-no-path]"},
                      "tool-of-no-path",
                      "No such file or directory; it is not in PATH (for a program in "
                      "that folder write ./tool-of-no-path)");
}

static void test_command__tells_when_the_host_takes_its_status(void)
{
    command_tool_ran ran;
    CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    if (command_tool_run(&(command_tool_setup){.program = "#!/bin/sh\necho fine\n"},
                         &ran)) {
        CHECK_INT(ran.codes[0], CADRE_RESULT_TOOL_ERROR);
        CHECK_CONTAINS(ran.results[0], "the exit status of tool was lost");
        command_tool_fini(&ran);
    }
    CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

static void check_refused(const char *options, const char *text)
{
    command_tool_ran ran;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK(
            !command_tool_try(&(command_tool_setup){.options = options}, &ran, &err))) {
        command_tool_fini(&ran);
        return;
    }
    CHECK_STATUS(err.status, CADRE_ECONFIG, &err);
    CHECK_CONTAINS(err.text, text);
}

static void test_command__refuses_options_without_sense(void)
{
    check_refused("    timeout: 1s", "tool 'lookup': argv must name a program");
    check_refused("    argv: []", "argv");
    check_refused("    argv: ['']", "tool 'lookup': argv must name a program");
    check_refused("    argv: ./tool", "argv");
    check_refused(
        "    argv: [bin/../../tool]",
        "tool 'lookup': the program 'bin/../../tool' leaves the folder of the "
        "team file; write a path without '..', or a name that is in PATH");
    check_refused("    argv: [./tool]\n    env: [A=b]",
                  "env[0] must be the name of a variable, got 'A=b'");
    check_refused("    argv: [./tool]\n    max_output: 1MiB", "max_output");
    check_refused("    argv: [./tool]\n    grace: 1", "grace");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_command__gives_arguments_on_stdin_and_takes_stdout),
    CHECK_TEST(test_command__gets_the_defaults_of_its_parameters),
    CHECK_TEST(test_command__leaves_out_only_the_last_line_end),
    CHECK_TEST(test_command__passes_its_arguments_as_they_are),
    CHECK_TEST(test_command__runs_in_the_folder_of_the_team_file),
    CHECK_TEST(test_command__passes_on_only_named_variables),
    CHECK_TEST(test_command__gives_every_call_a_key_of_its_own),
    CHECK_TEST(test_command__inherits_no_descriptor),
    CHECK_TEST(test_command__works_in_a_host_without_stdin),
    CHECK_TEST(test_command__starts_with_default_signals),
    CHECK_TEST(test_command__leads_a_group_and_session_of_its_own),
    CHECK_TEST(test_command__need_not_read_its_input),
    CHECK_TEST(test_command__reads_while_it_writes),
    CHECK_TEST(test_command__cuts_its_output_and_lets_it_end),
    CHECK_TEST(test_command__shows_bytes_that_are_not_text),
    CHECK_TEST(test_command__shows_stderr_in_whole_lines),
    CHECK_TEST(test_command__shows_a_long_line_in_pieces_of_whole_characters),
    CHECK_TEST(test_command__failure_has_status_and_stderr),
    CHECK_TEST(test_command__failure_without_stderr_has_stdout),
    CHECK_TEST(test_command__failure_without_a_word_is_its_status),
    CHECK_TEST(test_command__failure_keeps_the_last_lines),
    CHECK_TEST(test_command__names_the_signal_that_killed_it),
    CHECK_TEST(test_command__says_why_it_cannot_be_started),
    CHECK_TEST(test_command__tells_when_the_host_takes_its_status),
    CHECK_TEST(test_command__refuses_options_without_sense),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("tools/command", tests);
}
