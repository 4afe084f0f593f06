// A program that is killed: `cadre run` gets a SIGKILL at a random moment, and so does
// the first `cadre resume`. What the next one leaves is what an undisturbed run leaves,
// and no tool has run twice.
//
// CADRE_TEST_SEED repeats a series of moments.
#include "support/folder.h"
#include "support/program.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS = 20,
    N_CALLS = 4,
    MAX_NOTES = 64
};

static const char team[] =
    "version: 1\n"
    "name: killed\n"
    "root: desk\n"
    "script: ./script.yaml\n"
    "agents:\n"
    "  desk: {type: handoff, entry: first, members: [first, second]}\n"
    "  first: {model: openai/test, description: First, instructions: \"Note, hand "
    "over.\",\n"
    "          tools: [note]}\n"
    "  second: {model: openai/test, description: Second, instructions: Note.,\n"
    "           tools: [note]}\n"
    "tools:\n"
    "  note: {type: command, description: Notes, argv: [/bin/sh, ./note.sh]}\n";

static const char script[] =
    "agents:\n"
    "  first:\n"
    "    - {tool_calls: [{name: note}, {name: note}], delay: 15ms}\n"
    "    - {handoff: {to: second, message: Go on.}, delay: 15ms}\n"
    "  second:\n"
    "    - {text: \"One more.\", tool_calls: [{name: note}], chunks: 2, delay: 10ms}\n"
    "    - {tool_calls: [{name: note}], delay: 10ms}\n"
    "    - {text: \"All is noted.\", chunks: 3, delay: 10ms}\n";

// One short write to the end of a file is whole or not there.
static const char tool[] = "sleep 0.02\n"
                           "echo \"$CADRE_IDEMPOTENCY_KEY\" >> \"notes\"\n"
                           "echo noted\n";

// The folder of a round and its store.
typedef struct lab {
    test_folder folder;
    char team[FOLDER_PATH_SIZE], store[FOLDER_PATH_SIZE], notes[FOLDER_PATH_SIZE];
} lab;

static bool lab_make(lab *it)
{
    char path[FOLDER_PATH_SIZE];

    if (!CHECK(folder_make(&it->folder)))
        return false;
    snprintf(it->store, sizeof(it->store), "%s/runs.db", it->folder.path);
    return folder_write(&it->folder, "team.yaml", team, it->team) &&
           folder_write(&it->folder, "script.yaml", script, path) &&
           folder_write(&it->folder, "note.sh", tool, path) &&
           folder_write(&it->folder, "notes", "", it->notes);
}

// A descriptor that can be read so much later.
static int timer_of(int64_t delay_ns)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    const struct itimerspec at = {
        .it_value = {delay_ns / 1000000000, delay_ns % 1000000000 + 1}};

    CHECK(fd >= 0 && timerfd_settime(fd, 0, &at, NULL) == 0);
    return fd;
}

// Runs a command on the store of the round; -1: nobody kills it.
static bool run_command(const lab *it, const char *const words[3],
                        int64_t kill_after_ns, program_result *ran)
{
    const char *arguments[8] = {words[0]};
    size_t n = 1;
    int timer = kill_after_ns >= 0 ? timer_of(kill_after_ns) : 0;

    for (size_t i = 1; i < 3 && words[i]; i++)
        arguments[n++] = words[i];
    arguments[n++] = "--store";
    arguments[n++] = it->store;
    if (strcmp(words[0], "run") == 0 || strcmp(words[0], "resume") == 0)
        arguments[n] = "--offline";
    bool is_run = timer > 0
                      ? PROGRAM_RUN(ran, .arguments = arguments,
                                    .action = {.when_fd = timer, .signal = SIGKILL})
                      : PROGRAM_RUN(ran, .arguments = arguments);
    if (timer > 0)
        close(timer);
    return is_run;
}

#define COMMAND(it, ran, after_ns, ...)                                                \
    run_command((it), (const char *const[3]){__VA_ARGS__}, (after_ns), (ran))

// The only run of the store: its id and status. False: none was recorded.
static bool find_run(const lab *it, char id[32], char status[32])
{
    program_result ran;

    if (!COMMAND(it, &ran, -1, "runs", "--json"))
        return false;
    json_t *runs = json_loads(ran.out, 0, NULL);
    const json_t *run = json_array_get(runs, 0);
    if (run) {
        snprintf(id, 32, "%s", json_string_value(json_object_get(run, "trace_id")));
        snprintf(status, 32, "%s", json_string_value(json_object_get(run, "status")));
        CHECK_INT(json_array_size(runs), 1);
    }
    bool is_there = run != NULL;
    json_decref(runs);
    program_result_fini(&ran);
    return is_there;
}

// --- What was left ---

// Copies what `cadre show` prints; the result of a call that was interrupted reads as
// the one of a call that was not. Returns how many were.
static int without_interruptions(const char *shown, char *out, size_t size_bytes)
{
    static const char mark[] = "tool note (interrupted)\n";
    int n = 0;

    out[0] = '\0';
    while (*shown) {
        size_t len = strcspn(shown, "\n") + 1, used = strlen(out);
        if (strncmp(shown, mark, sizeof(mark) - 1) == 0) {
            n++;
            len += strcspn(shown + len, "\n") + 1;
            snprintf(out + used, size_bytes - used, "tool note\n  noted\n");
        } else {
            snprintf(out + used, size_bytes - used, "%.*s", (int)len, shown);
        }
        shown += len;
    }
    return n;
}

// Each note is the key of one call: none is there twice. Returns how many there are.
static int check_notes(const lab *it)
{
    char lines[MAX_NOTES][128];
    int n = 0;
    FILE *file = fopen(it->notes, "re");

    while (file && n < MAX_NOTES && fgets(lines[n], sizeof(lines[n]), file)) {
        for (int i = 0; i < n; i++)
            CHECK(strcmp(lines[i], lines[n]) != 0);
        n++;
    }
    if (file)
        fclose(file);
    return n;
}

static void check_left(const lab *it, const char *expected)
{
    char shown[4096];
    program_result ran;

    if (!COMMAND(it, &ran, -1, "show"))
        return;
    int n_interrupted = without_interruptions(ran.out, shown, sizeof(shown));
    CHECK_TEXT(shown, expected);
    int n_notes = check_notes(it);
    CHECK(n_notes <= N_CALLS);
    CHECK(n_notes + n_interrupted >= N_CALLS);
    program_result_fini(&ran);
}

// --- The rounds ---

// Goes on with the run until it ends; the first try is killed too.
static void resume_to_the_end(const lab *it, int64_t kill_after_ns)
{
    char id[32], status[32] = "";
    program_result ran;

    for (int i = 0; i < 3 && find_run(it, id, status); i++) {
        if (strcmp(status, "completed") == 0)
            return;
        CHECK_TEXT(status, "cut");
        if (!COMMAND(it, &ran, i == 0 ? kill_after_ns : -1, "resume", id, it->team))
            return;
        if (ran.signal == 0) {
            CHECK_INT(ran.exit_status, 0);
            CHECK_TEXT(ran.out, "All is noted.\n");
        }
        program_result_fini(&ran);
    }
    CHECK_TEXT(status, "completed");
}

// A kill before the run was recorded leaves nothing to go on with. Returns 1 when it
// was recorded and cut.
static int kill_and_resume(const char *expected, const int64_t kill_after_ns[2])
{
    lab it;
    char id[32], status[32];
    int n_cut = 0;
    program_result ran;

    if (lab_make(&it) &&
        COMMAND(&it, &ran, kill_after_ns[0], "run", it.team, "Note it.")) {
        CHECK(ran.signal == SIGKILL || ran.exit_status == 0);
        n_cut = ran.signal == SIGKILL;
        program_result_fini(&ran);
        if (access(it.store, F_OK) == 0 && find_run(&it, id, status)) {
            resume_to_the_end(&it, kill_after_ns[1]);
            check_left(&it, expected);
        } else {
            n_cut = 0;
        }
    }
    folder_remove(&it.folder);
    return n_cut;
}

// The transcript of a run that nobody kills, and how long it takes.
static char *undisturbed(int64_t *duration_ns)
{
    lab it;
    program_result ran, shown;
    char *transcript = NULL;

    if (lab_make(&it) && COMMAND(&it, &ran, -1, "run", it.team, "Note it.")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_INT(check_notes(&it), N_CALLS);
        *duration_ns = ran.duration_ms * 1000000;
        if (COMMAND(&it, &shown, -1, "show")) {
            transcript = strdup(shown.out);
            program_result_fini(&shown);
        }
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
    return transcript;
}

static unsigned seed_of_test(void)
{
    const char *given = getenv("CADRE_TEST_SEED"); // NOLINT(concurrency-mt-unsafe)
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

    printf("CADRE_TEST_SEED=%u\n", seed);
    return seed;
}

static void test_kill__a_killed_run_goes_on_where_it_was(void)
{
    int64_t duration_ns = 0;
    unsigned seed = seed_of_test();
    int n_cut = 0;
    char *expected = undisturbed(&duration_ns);

    CHECK_CONTAINS(expected, "\nsecond\n  All is noted.\n");
    for (int i = 0; expected && i < ROUNDS; i++) {
        const int64_t kill_after_ns[2] = {rand_r(&seed) % 1000 * (duration_ns / 1000),
                                          rand_r(&seed) % 1000 * (duration_ns / 1000)};
        n_cut += kill_and_resume(expected, kill_after_ns);
    }
    printf("%d of %d runs were cut\n", n_cut, ROUNDS);
    CHECK(n_cut >= ROUNDS / 4);
    free(expected);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_kill__a_killed_run_goes_on_where_it_was),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/kill", tests);
}
