// Tools of type command, through the whole product: a team file, a scripted model and
// small shell scripts as tools. Each test also checks that no descriptor and no child
// is left.
#include "support/check.h"
#include "support/folder.h"

#include "cadre/cadre.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REPLACEMENT "\xef\xbf\xbd"

enum {
    MAX_PARALLEL = 50,
    // Beyond its grace, from the abort to the end of the run.
    MAX_STOP_MS = 200,
    // For what must not wait for a process that sleeps for a minute.
    SOON_MS = 20 * 1000
};

typedef struct tool_setup {
    const char *program;   // the text of ./tool; NULL: there is none
    const char *options;   // lines of the tool in the team file; NULL: argv: [./tool]
    const char *arguments; // JSON; NULL: {}
    int n_calls;           // 0: one
    bool is_not_executable;
    const char *cancel_on; // the run is cancelled when progress starts with this
} tool_setup;

typedef struct tool_ran {
    char folder[FOLDER_PATH_SIZE];
    char *results[MAX_PARALLEL]; // in the order they came
    cadre_result_code codes[MAX_PARALLEL];
    int n_results;
    char progress[8192]; // the pieces, each with a '|' after it
    int64_t stop_ms;     // from the cancel to the end
    int64_t duration_ms;
} tool_ran;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int count_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return -1;
    // Only this thread looks here. NOLINTNEXTLINE(concurrency-mt-unsafe)
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

// --- A team of one agent with one tool ---

static bool write_files(const test_folder *folder, const tool_setup *setup)
{
    char path[FOLDER_PATH_SIZE];
    char *team = NULL;
    size_t team_len = 0;
    FILE *out = open_memstream(&team, &team_len);
    if (!CHECK(out != NULL))
        return false;
    (void)fprintf(out,
                  "name: shop\ntools:\n  lookup:\n    type: command\n"
                  "    parameters: {type: object}\n%s\n"
                  "agents:\n  desk: {model: openai/none, tools: [lookup]}\n",
                  setup->options ? setup->options : "    argv: [./tool]");
    (void)fclose(out);
    bool ok = folder_write(folder, "team.yaml", team, path);
    free(team);
    out = open_memstream(&team, &team_len);
    if (!ok || !CHECK(out != NULL))
        return false;
    (void)fputs("agents:\n  desk:\n    - tool_calls:\n", out);
    for (int i = 0; i < (setup->n_calls > 0 ? setup->n_calls : 1); i++)
        (void)fprintf(out, "        - {id: c%d, name: lookup, arguments: %s}\n", i,
                      setup->arguments ? setup->arguments : "{}");
    (void)fputs("    - {text: done}\n", out);
    (void)fclose(out);
    ok = folder_write(folder, "script.yaml", team, path);
    free(team);
    if (!ok || !setup->program)
        return ok;
    return folder_write(folder, "tool", setup->program, path) &&
           CHECK(chmod(path, setup->is_not_executable ? 0644 : 0755) == 0);
}

static void on_event(tool_ran *ran, const cadre_event *event)
{
    size_t used = strlen(ran->progress);
    if (event->type == CADRE_EVENT_TOOL_PROGRESS) {
        (void)snprintf(ran->progress + used, sizeof(ran->progress) - used, "%s|",
                       event->u.tool_progress.text);
    } else if (event->type == CADRE_EVENT_TOOL_RESULT &&
               CHECK(ran->n_results < MAX_PARALLEL)) {
        ran->results[ran->n_results] = strdup(event->u.tool_result.result);
        ran->codes[ran->n_results++] = event->u.tool_result.code;
    }
}

static void read_events(cadre_run *run, const tool_setup *setup, tool_ran *ran)
{
    const cadre_event *event = NULL;
    const char *word = setup->cancel_on;
    int64_t cancelled_at = 0;
    while (cadre_run_next(run, &event, NULL) == CADRE_OK) {
        on_event(ran, event);
        if (word && cancelled_at == 0 && event->type == CADRE_EVENT_TOOL_PROGRESS &&
            strncmp(event->u.tool_progress.text, word, strlen(word)) == 0) {
            cancelled_at = now_ms();
            cadre_run_cancel(run, "the test says so");
        }
    }
    ran->stop_ms = now_ms() - cancelled_at;
    CHECK(!word || cancelled_at != 0);
}

static bool run_team(const test_folder *folder, const tool_setup *setup, tool_ran *ran,
                     cadre_error *err)
{
    char team_path[FOLDER_PATH_SIZE];
    char script_path[FOLDER_PATH_SIZE];
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    cadre_run *run = NULL;
    (void)snprintf(team_path, sizeof(team_path), "%s/team.yaml", folder->path);
    (void)snprintf(script_path, sizeof(script_path), "%s/script.yaml", folder->path);
    cadre_status status =
        cadre_runtime_open(CADRE_RUNTIME(.script = script_path), &runtime, err);
    if (status == CADRE_OK)
        status = cadre_team_load(runtime, team_path, &team, err);
    if (status == CADRE_OK)
        status = cadre_run_start(team, CADRE_RUN(.input = "hello"), &run, err);
    if (status == CADRE_OK)
        read_events(run, setup, ran);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return status == CADRE_OK;
}

static void ran_fini(tool_ran *ran)
{
    for (int i = 0; i < ran->n_results; i++)
        free(ran->results[i]);
}

// Runs the tool once for each call. `err` has why the team could not be used. True: it
// ran, there is a result for each call, and ran_fini is to be called.
static bool run_setup(const tool_setup *setup, tool_ran *ran, cadre_error *err)
{
    test_folder folder;
    *ran = (tool_ran){.n_results = 0};
    int n_before = count_descriptors();
    if (!CHECK(folder_make(&folder)))
        return false;
    (void)snprintf(ran->folder, sizeof(ran->folder), "%s", folder.path);
    int64_t started = now_ms();
    bool ok = write_files(&folder, setup) && run_team(&folder, setup, ran, err);
    ran->duration_ms = now_ms() - started;
    folder_remove(&folder);
    CHECK_INT(count_descriptors(), n_before);
    if (ok && CHECK_INT(ran->n_results, setup->n_calls > 0 ? setup->n_calls : 1))
        return true;
    ran_fini(ran);
    return false;
}

static void check_no_child(void)
{
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static bool run_tool(const tool_setup *setup, tool_ran *ran)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (run_setup(setup, ran, &err))
        return true;
    CHECK_OK(err.status, &err);
    return false;
}

// Waits for all that tools left, each of which must have been killed: it would sleep
// for longer than a test may take.
static void await_orphans(void)
{
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    CHECK_INT(errno, ECHILD);
}

// Runs a tool with these options to its one result, and checks that.
static void check_result(const tool_setup *setup, cadre_result_code code,
                         const char *result)
{
    tool_ran ran;
    if (!run_tool(setup, &ran))
        return;
    CHECK_INT(ran.codes[0], code);
    CHECK_TEXT(ran.results[0], result);
    check_no_child();
    ran_fini(&ran);
}

// --- What it gets and gives ---

static void test_command__gives_arguments_on_stdin_and_takes_stdout(void)
{
    check_result(&(tool_setup){.program = "#!/bin/sh\ncat\n",
                               .arguments = "{order: \"10'42; $(x) ../..\"}"},
                 CADRE_RESULT_OK, "{\"order\":\"10'42; $(x) ../..\"}");
}

static void test_command__leaves_out_only_the_last_line_end(void)
{
    check_result(&(tool_setup){.program = "#!/bin/sh\nprintf 'a\\r\\n\\r\\n'\n"},
                 CADRE_RESULT_OK, "a\r\n");
}

static void test_command__passes_its_arguments_as_they_are(void)
{
    check_result(
        &(tool_setup){.program = "#!/bin/sh\nprintf '[%s]' \"$@\"\n",
                      .options = "    argv: [./tool, 'a b', '*', '', '$HOME']"},
        CADRE_RESULT_OK, "[a b][*][][$HOME]");
}

static void test_command__runs_in_the_folder_of_the_team_file(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.options = "    argv: [pwd]"}, &ran))
        return;
    CHECK_TEXT(ran.results[0], ran.folder);
    ran_fini(&ran);
}

static void test_command__passes_on_only_named_variables(void)
{
    tool_ran ran;
    // Before any thread is started. NOLINTBEGIN(concurrency-mt-unsafe)
    setenv("COMMAND_TEST_SECRET", "no", 1);
    setenv("COMMAND_TEST_GIVEN", "yes", 1);
    // NOLINTEND(concurrency-mt-unsafe)
    if (!run_tool(&(tool_setup){.options =
                                    "    argv: [env]\n"
                                    "    env: [COMMAND_TEST_GIVEN, PATH, UNSET]"},
                  &ran))
        return;
    CHECK_CONTAINS(ran.results[0], "COMMAND_TEST_GIVEN=yes\n");
    CHECK_CONTAINS(ran.results[0], "PATH=");
    CHECK_CONTAINS(ran.results[0], "CADRE_IDEMPOTENCY_KEY=");
    CHECK_LACKS(ran.results[0], "COMMAND_TEST_SECRET");
    CHECK_LACKS(ran.results[0], "UNSET");
    ran_fini(&ran);
}

static void test_command__gives_every_call_a_key_of_its_own(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program =
                                    "#!/bin/sh\nprintf '%s' \"$CADRE_IDEMPOTENCY_KEY\"",
                                .n_calls = 2},
                  &ran))
        return;
    CHECK_CONTAINS(ran.results[0], "/");
    CHECK_CONTAINS(ran.results[1], "/");
    CHECK(strcmp(ran.results[0], ran.results[1]) != 0);
    ran_fini(&ran);
}

static void test_command__inherits_no_descriptor(void)
{
    int fd = dup2(STDERR_FILENO, 77); // as a careless host program has: not cloexec
    CHECK_INT(fd, 77);
    check_result(&(tool_setup){.program = "#!/bin/sh\n"
                                          "test -e /proc/self/fd/77 && echo leaked\n"
                                          "echo end\n"},
                 CADRE_RESULT_OK, "end");
    close(fd);
}

static void test_command__works_in_a_host_without_stdin(void)
{
    int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
    close(STDIN_FILENO);
    check_result(&(tool_setup){.program = "#!/bin/sh\ncat\necho to-stderr >&2\n",
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
    check_result(
        &(tool_setup){.program = "#!/bin/sh\n"
                                 "grep -E '^Sig(Blk|Ign)' /proc/self/status |\n"
                                 "    sed 's/[018]80000000$/_00000000/'\n"},
        CADRE_RESULT_OK, "SigBlk:\t0000000000000000\nSigIgn:\t0000000_00000000");
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
}

static void test_command__leads_a_group_and_session_of_its_own(void)
{
    check_result(&(tool_setup){.program =
                                   "#!/bin/sh\n"
                                   "read pid comm state parent group session rest"
                                   " < /proc/$$/stat\n"
                                   "[ $pid = $group ] && echo group\n"
                                   "[ $pid = $session ] && echo session\n"
                                   "( : < /dev/tty ) 2> /dev/null || echo no tty"},
                 CADRE_RESULT_OK, "group\nsession\nno tty");
}

// --- Bounds of what it writes ---

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
    char *arguments = large_arguments(200 * 1000);
    check_result(&(tool_setup){.program = "#!/bin/sh\nexec <&-\necho fine\n",
                               .arguments = arguments},
                 CADRE_RESULT_OK, "fine");
    free(arguments);
}

static void test_command__reads_while_it_writes(void)
{
    tool_ran ran;
    char *arguments = large_arguments(200 * 1000);
    if (run_tool(&(tool_setup){.options = "    argv: [cat]", .arguments = arguments},
                 &ran)) {
        CHECK_INT(ran.codes[0], CADRE_RESULT_OK);
        CHECK_INT(strlen(ran.results[0]), 200 * 1000 + strlen("{\"a\":\"\"}"));
        ran_fini(&ran);
    }
    free(arguments);
}

static void test_command__cuts_its_output_and_lets_it_end(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "head -c 1000000 /dev/zero | tr '\\0' x\n"
                                           "echo ended >&2\n",
                                .options = "    argv: [./tool]\n    max_output: 2KiB"},
                  &ran))
        return;
    const char *note = strchr(ran.results[0], '\n');
    CHECK_INT(ran.codes[0], CADRE_RESULT_OK);
    CHECK_INT(strspn(ran.results[0], "x"), 1968);
    CHECK_TEXT(note, "\n[cut: 1968 of 1000000 bytes shown]");
    CHECK_TEXT(ran.progress, "ended|");
    ran_fini(&ran);
}

static void test_command__shows_bytes_that_are_not_text(void)
{
    check_result(&(tool_setup){.program = "#!/bin/sh\n"
                                          "printf 'a\\377b\\000c\\303\\274d\\355\\240"
                                          "\\200e\\303'\n"},
                 CADRE_RESULT_OK,
                 "a" REPLACEMENT "b" REPLACEMENT "c\xc3\xbc"
                 "d" REPLACEMENT REPLACEMENT REPLACEMENT "e" REPLACEMENT);
}

static void test_command__shows_stderr_in_whole_lines(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "printf 'half' >&2\n"
                                           "printf ' a line\\n\\n10%%\\r20%%\\r' >&2\n"
                                           "printf 'without end' >&2\n"},
                  &ran))
        return;
    CHECK_TEXT(ran.progress, "half a line|10%|20%|without end|");
    CHECK_TEXT(ran.results[0], "");
    ran_fini(&ran);
}

static void test_command__shows_a_long_line_in_pieces_of_whole_characters(void)
{
    tool_ran ran;
    // 4095 letters, then a character of two bytes over the border.
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "head -c 4095 /dev/zero | tr '\\0' x >&2\n"
                                           "printf '\\303\\274y\\n' >&2\n"},
                  &ran))
        return;
    CHECK_INT(strspn(ran.progress, "x"), 4095);
    CHECK_TEXT(ran.progress + 4095, "|\xc3\xbcy|");
    ran_fini(&ran);
}

// --- Failures are results ---

static void test_command__failure_has_status_and_stderr(void)
{
    check_result(
        &(tool_setup){.program = "#!/bin/sh\n"
                                 "echo on stdout\n"
                                 "printf 'no order\\n\\033[1mtry later\\n' >&2\n"
                                 "exit 3\n"},
        CADRE_RESULT_TOOL_ERROR, "tool exited with status 3: no order\\n?[1mtry later");
}

static void test_command__failure_without_stderr_has_stdout(void)
{
    check_result(&(tool_setup){.program = "#!/bin/sh\necho 2 tests failed\nexit 1\n"},
                 CADRE_RESULT_TOOL_ERROR, "tool exited with status 1: 2 tests failed");
}

static void test_command__failure_without_a_word_is_its_status(void)
{
    check_result(&(tool_setup){.options = "    argv: ['false']"},
                 CADRE_RESULT_TOOL_ERROR, "false exited with status 1");
}

static void test_command__failure_keeps_the_last_lines(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "i=0\n"
                                           "while [ $i -lt 2000 ]; do\n"
                                           "    echo \"line $i\"; i=$((i + 1))\n"
                                           "done >&2\n"
                                           "exit 9\n"},
                  &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_TOOL_ERROR);
    CHECK_CONTAINS(ran.results[0], "tool exited with status 9: ");
    CHECK_CONTAINS(ran.results[0], "line 1998\\nline 1999");
    CHECK_LACKS(ran.results[0], "line 1000");
    CHECK_TEXT(strstr(ran.results[0], "line 1999"), "line 1999");
    ran_fini(&ran);
}

static void test_command__names_the_signal_that_killed_it(void)
{
    check_result(&(tool_setup){.program = "#!/bin/sh\necho dying >&2\nkill -9 $$\n"},
                 CADRE_RESULT_TOOL_ERROR,
                 "tool was killed by signal 9 (SIGKILL, Killed): dying");
}

static void check_not_started(const tool_setup *setup, const char *program,
                              const char *cause)
{
    tool_ran ran;
    char expected[1024];
    if (!run_tool(setup, &ran))
        return;
    (void)snprintf(expected, sizeof(expected),
                   "cannot start '%s' in the folder '%s': %s", program, ran.folder,
                   cause);
    CHECK_INT(ran.codes[0], CADRE_RESULT_TOOL_ERROR);
    CHECK_TEXT(ran.results[0], expected);
    check_no_child();
    ran_fini(&ran);
}

static void test_command__says_why_it_cannot_be_started(void)
{
    check_not_started(&(tool_setup){.program = NULL}, "./tool",
                      "No such file or directory");
    check_not_started(
        &(tool_setup){.program = "#!/bin/sh\n", .is_not_executable = true}, "./tool",
        "Permission denied; is it executable (chmod +x)?");
    check_not_started(&(tool_setup){.program = "#!/no/such/interpreter\n"}, "./tool",
                      "No such file or directory; what the first line of the script "
                      "names (#!) is missing");
    check_not_started(&(tool_setup){.program = "echo\n"}, "./tool",
                      "Exec format error; a script needs a first line like #!/bin/sh");
    check_not_started(&(tool_setup){.program = "#!/bin/sh\n",
                                    .options = "    argv: [tool-of-no-path]"},
                      "tool-of-no-path",
                      "No such file or directory; it is not in PATH (for a program in "
                      "that folder write ./tool-of-no-path)");
}

static void test_command__tells_when_the_host_takes_its_status(void)
{
    tool_ran ran;
    CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    if (run_tool(&(tool_setup){.program = "#!/bin/sh\necho fine\n"}, &ran)) {
        CHECK_INT(ran.codes[0], CADRE_RESULT_TOOL_ERROR);
        CHECK_CONTAINS(ran.results[0], "the exit status of tool was lost");
        ran_fini(&ran);
    }
    CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

static void check_refused(const char *options, const char *text)
{
    tool_ran ran;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK(!run_setup(&(tool_setup){.options = options}, &ran, &err))) {
        ran_fini(&ran);
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
    check_refused("    argv: [./tool]\n    env: [A=b]",
                  "env[0] must be the name of a variable, got 'A=b'");
    check_refused("    argv: [./tool]\n    max_output: 1MiB", "max_output");
    check_refused("    argv: [./tool]\n    grace: 1", "grace");
}

// --- Stopping ---

// A process that the tool left: it is this one's child now, since this one is the
// reaper of orphans. Waits for its end.
static void check_killed(const char *pid_text, int signal)
{
    int wait_status = 0;
    pid_t pid = (pid_t)strtol(pid_text, NULL, 10);
    if (!CHECK(pid > 0))
        return;
    CHECK_INT(waitpid(pid, &wait_status, 0), pid);
    CHECK(WIFSIGNALED(wait_status));
    CHECK_INT(WTERMSIG(wait_status), signal);
}

static void test_command__kills_what_it_left_in_the_background(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "sleep 60 &\n"
                                           "echo $!\n"},
                  &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_OK);
    CHECK(ran.duration_ms < SOON_MS);
    check_killed(ran.results[0], SIGKILL);
    await_orphans();
    ran_fini(&ran);
}

static void test_command__does_not_wait_for_a_pipe_held_outside_its_group(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "mkfifo left\n"
                                           "setsid sh -c 'echo >left; exec yes' &\n"
                                           "read line <left\n"
                                           "echo $! >&2\n",
                                .options = "    argv: [./tool]\n    max_output: 1KiB"},
                  &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_OK);
    CHECK(ran.duration_ms < SOON_MS);
    // Nobody reads what it writes any more.
    check_killed(ran.progress, SIGPIPE);
    await_orphans();
    ran_fini(&ran);
}

static void test_command__abort_kills_a_group_that_ignores_term(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "trap '' TERM\n"
                                           "sleep 60 &\n"
                                           "echo \"ready $!\" >&2\n"
                                           "wait\n",
                                .options = "    argv: [./tool]\n    grace: 100ms",
                                .cancel_on = "ready "},
                  &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_ABORTED);
    CHECK(ran.stop_ms >= 100);
    CHECK(ran.stop_ms < 100 + MAX_STOP_MS);
    check_killed(ran.progress + strlen("ready "), SIGKILL);
    await_orphans();
    ran_fini(&ran);
}

static void test_command__abort_does_not_wait_for_a_pipe_held_outside(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program =
                                    "#!/bin/sh\n"
                                    "mkfifo left\n"
                                    "setsid sh -c 'echo >left; exec sleep 60' &\n"
                                    "read line <left\n"
                                    "echo \"ready $!\" >&2\n"
                                    "sleep 60\n",
                                .options = "    argv: [./tool]\n    grace: 100ms",
                                .cancel_on = "ready "},
                  &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_ABORTED);
    CHECK(ran.stop_ms < 100 + MAX_STOP_MS);
    pid_t outside = (pid_t)strtol(ran.progress + strlen("ready "), NULL, 10);
    CHECK(outside > 0 && kill(outside, SIGUSR1) == 0); // it was left alone
    check_killed(ran.progress + strlen("ready "), SIGUSR1);
    await_orphans();
    ran_fini(&ran);
}

// The shell ends at TERM at once, its child cleans up: that has the grace, no more.
static void test_command__abort_lets_the_group_clean_up(void)
{
    tool_ran ran;
    int ends[2];
    if (!CHECK(pipe2(ends, O_CLOEXEC) == 0))
        return;
    char program[512];
    (void)snprintf(program, sizeof(program),
                   "#!/bin/sh\n"
                   "sh -c 'trap \"echo cleaned >/proc/%d/fd/%d; exit 7\" TERM\n"
                   "    echo \"ready $$\" >&2\n"
                   "    while :; do sleep 0.01; done' &\n"
                   "wait\n",
                   getpid(), ends[1]);
    if (run_tool(&(tool_setup){.program = program,
                               .options = "    argv: [./tool]\n    grace: 10m",
                               .cancel_on = "ready "},
                 &ran)) {
        char read_back[16] = {0};
        CHECK_INT(ran.codes[0], CADRE_RESULT_ABORTED);
        CHECK(ran.stop_ms < SOON_MS);
        CHECK_INT(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
        CHECK_INT(read(ends[0], read_back, sizeof(read_back) - 1), 8);
        CHECK_TEXT(read_back, "cleaned\n");
        await_orphans();
        ran_fini(&ran);
    }
    close(ends[0]);
    close(ends[1]);
}

static void test_command__time_up_is_a_timeout_with_its_last_words(void)
{
    tool_ran ran;
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "trap '' TERM\n"
                                           "echo waiting for the till >&2\n"
                                           "sleep 60 &\n"
                                           "echo $! >&2\n"
                                           "wait\n",
                                .options = "    argv: [./tool]\n"
                                           "    timeout: 300ms\n    grace: 50ms"},
                  &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_TIMEOUT);
    CHECK_CONTAINS(ran.results[0],
                   "tool was stopped: its time is up: waiting for the till\\n");
    CHECK(ran.duration_ms >= 350);
    CHECK(ran.duration_ms < SOON_MS);
    check_killed(strchr(ran.progress, '|') + 1, SIGKILL);
    await_orphans();
    ran_fini(&ran);
}

// --- Many ---

static void test_command__runs_fifty_at_once(void)
{
    tool_ran ran;
    // Each waits until all are there, so that they do run at once.
    if (!run_tool(&(tool_setup){.program = "#!/bin/sh\n"
                                           "echo here >>counted\n"
                                           "while [ $(wc -l <counted) -lt 50 ]; do\n"
                                           "    sleep 0.05\n"
                                           "done\n"
                                           "cat\n",
                                .arguments = "{a: 1}",
                                .n_calls = MAX_PARALLEL},
                  &ran))
        return;
    for (int i = 0; i < MAX_PARALLEL; i++) {
        CHECK_INT(ran.codes[i], CADRE_RESULT_OK);
        CHECK_TEXT(ran.results[i], "{\"a\":1}");
    }
    check_no_child();
    ran_fini(&ran);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_command__gives_arguments_on_stdin_and_takes_stdout),
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
    CHECK_TEST(test_command__kills_what_it_left_in_the_background),
    CHECK_TEST(test_command__does_not_wait_for_a_pipe_held_outside_its_group),
    CHECK_TEST(test_command__abort_kills_a_group_that_ignores_term),
    CHECK_TEST(test_command__abort_does_not_wait_for_a_pipe_held_outside),
    CHECK_TEST(test_command__abort_lets_the_group_clean_up),
    CHECK_TEST(test_command__time_up_is_a_timeout_with_its_last_words),
    CHECK_TEST(test_command__runs_fifty_at_once),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    // What a tool leaves behind becomes a child of this process: its end can be
    // awaited.
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        return 1;
    return check_main("tools/command", tests);
}
