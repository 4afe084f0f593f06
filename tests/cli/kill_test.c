// Programs that are killed: `cadre run` gets a SIGKILL at a random moment, and so does
// the first one that goes on with what was cut. What the next one leaves is what an
// undisturbed run leaves, and no tool has run twice. Over samples, and a team whose
// tool writes down each run of it.
//
// CADRE_TEST_SEED repeats a series of moments; CADRE_TEST_ROUNDS makes it longer.
#include "support/folder.h"
#include "support/program.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS = 400,
    SECONDS = 40, // unless rounds are asked for
    THREADS = 4,  // a killed program is mostly waited for
    N_CALLS = 4,
    MAX_NOTES = 64,
    SHOWN_SIZE = 4096
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

typedef struct subject {
    const char *name;
    const char *team;   // a sample; NULL: the team above
    const char *script; // as the sample's, but for the time that it takes
    const char *input;
    const char *answer; // to the question it parks with
    const char *tool;   // that may be interrupted; NULL: none
    bool is_background; // a run of its own reports to it
    atomic_int n_cut;
    // Of an undisturbed run:
    _Atomic int64_t from_ns, to_ns; // kills fall between; as the machine is now
    char shown[SHOWN_SIZE];
} subject;

static subject subjects[] = {
    {.name = "notes", .input = "Note it.", .tool = "note"},
    {.name = "customer-desk",
     .team = "samples/customer-desk/team.yaml",
     .script =
         "agents:\n"
         "  pre_sales:\n"
         "    - {handoff: {to: after_sales, message: Return.}, delay: 15ms}\n"
         "  after_sales:\n"
         "    - {tool_calls: [{name: order_status, arguments: {order: \"1042\"}}],"
         " delay: 15ms}\n"
         "    - {text: \"Your label is on its way.\", chunks: 8, delay: 15ms}\n",
     .input = "I want to return order 1042"},
    {.name = "approval",
     .team = "samples/approval/team.yaml",
     .script = "agents:\n"
               "  desk:\n"
               "    - {tool_calls: [{name: refund, arguments: {order: \"1042\","
               " euros: 25}}], delay: 30ms}\n"
               "    - {text: It is settled., delay: 30ms}\n",
     .input = "I was charged twice",
     .answer = "yes",
     .tool = "refund"},
    {.name = "subagent-foreground",
     .team = "samples/subagent-foreground/team.yaml",
     .script = "agents:\n"
               "  main:\n"
               "    - {tool_calls: [{name: subagent, arguments: {task: Primes.}}],"
               " delay: 15ms}\n"
               "    - {when: {equals: Primes.}, text: \"2, 3 and 5\", delay: 15ms}\n"
               "    - {text: \"They are 2, 3 and 5.\", delay: 15ms}\n",
     .input = "Name three numbers"},
    {.name = "subagent-background",
     .team = "samples/subagent-background/team.yaml",
     .script = "agents:\n"
               "  main:\n"
               "    - {tool_calls: [{name: tasks, arguments: {action: spawn, text:"
               " Primes.}}], delay: 15ms}\n"
               "    - {when: {equals: Primes.}, text: \"2, 3 and 5\", delay: 30ms}\n"
               "    - {text: Started., delay: 20ms}\n"
               "    - {text: It found them.}\n"
               "    - {text: It is known.}\n",
     .input = "Find three numbers",
     .is_background = true},
    {.name = "helpdesk-swarm",
     .team = "samples/helpdesk-swarm/team.yaml",
     .script = "agents:\n"
               "  front: [{handoff: {to: network, message: No Wi-Fi.}, delay: 15ms}]\n"
               "  network: [{handoff: {to: accounts, message: Locked?}, delay: 15ms}]\n"
               "  accounts:\n"
               "    - {tool_calls: [{name: account_status, arguments: {login: mira}}],"
               " delay: 15ms}\n"
               "    - {handoff: {to: devices, message: By nb-217.}, delay: 15ms}\n"
               "  devices: [{text: Join again., chunks: 2, delay: 15ms}]\n",
     .input = "I am mira. I have no Wi-Fi."},
    {.name = "design-review",
     .team = "samples/design-review/team.yaml",
     .script =
         "agents:\n"
         "  lead:\n"
         "    - {tool_calls: [{name: designer, arguments: {request: Design it.}}],"
         " delay: 10ms}\n"
         "    - {tool_calls: [{name: designer, arguments: {request: Mend it.}}],"
         " delay: 10ms}\n"
         "    - {text: It is designed., chunks: 2, delay: 10ms}\n"
         "  designer: [{text: A box., delay: 20ms}, {text: A lid., delay: 20ms}]\n",
     .input = "We need a box"},
    {.name = "article-chain",
     .team = "samples/article-chain/team.yaml",
     .script = "agents:\n"
               "  planner: [{text: One point., delay: 15ms}]\n"
               "  researcher: [{text: One fact., delay: 15ms}]\n"
               "  writer: [{text: A text., chunks: 2, delay: 15ms}]\n"
               "  proofreader: [{text: The text., chunks: 2, delay: 15ms}]\n",
     .input = "Why?"},
    {.name = "write-and-review",
     .team = "samples/write-and-review/team.yaml",
     .script = "agents:\n"
               "  writer:\n"
               "    - {text: Bad., delay: 15ms}\n"
               "    - {text: Good., delay: 15ms}\n"
               "  reviewer:\n"
               "    - {text: Not bad., delay: 15ms}\n"
               "    - {escalate: true, delay: 15ms}\n",
     .input = "Write"},
    {.name = "question-router",
     .team = "samples/question-router/team.yaml",
     .script = "agents:\n"
               "  classifier: [{text: The price., delay: 10ms}]\n"
               "  researcher: [{text: 12., delay: 10ms}, {text: 13., delay: 10ms}]\n"
               "  analyst:\n"
               "    - {text: \"MISSING: last year\", delay: 10ms}\n"
               "    - {text: \"It grows.\", delay: 10ms}\n",
     .input = "How much?"},
    {.name = "three-sources",
     .team = "samples/three-sources/team.yaml",
     .script = "agents:\n"
               "  local: [{error: {status: refused}, delay: 10ms}]\n"
               "  small: [{text: Ja., delay: 60ms}]\n"
               "  large: [{text: Doch., delay: 1m}]\n",
     .input = "Yes"},
};

enum {
    N_SUBJECTS = sizeof(subjects) / sizeof(subjects[0])
};

// The folder of a round and its store.
typedef struct lab {
    subject *of;
    test_folder folder;
    char team[FOLDER_PATH_SIZE], script[FOLDER_PATH_SIZE], store[FOLDER_PATH_SIZE],
        notes[FOLDER_PATH_SIZE];
} lab;

static bool lab_make(lab *it, subject *of)
{
    char path[FOLDER_PATH_SIZE];

    it->of = of;
    if (!CHECK(folder_make(&it->folder)))
        return false;
    snprintf(it->store, sizeof(it->store), "%s/runs.db", it->folder.path);
    if (of->team) {
        program_source_path(of->team, it->team, sizeof(it->team));
        return folder_write(&it->folder, "script.yaml", of->script, it->script);
    }
    return folder_write(&it->folder, "team.yaml", team, it->team) &&
           folder_write(&it->folder, "script.yaml", script, it->script) &&
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
static bool run_command(const lab *it, const char *const words[4],
                        int64_t kill_after_ns, program_result *ran)
{
    const char *arguments[10] = {words[0]};
    size_t n = 1;
    int timer = kill_after_ns >= 0 ? timer_of(kill_after_ns) : 0;

    for (size_t i = 1; i < 4 && words[i]; i++)
        arguments[n++] = words[i];
    arguments[n++] = "--store";
    arguments[n++] = it->store;
    if (strcmp(words[0], "run") == 0) {
        arguments[n++] = "--script";
        arguments[n] = it->script;
    }
    bool is_run = timer > 0
                      ? PROGRAM_RUN(ran, .arguments = arguments,
                                    .action = {.when_fd = timer, .signal = SIGKILL})
                      : PROGRAM_RUN(ran, .arguments = arguments);
    if (timer > 0)
        close(timer);
    return is_run;
}

#define COMMAND(it, ran, after_ns, ...)                                                \
    run_command((it), (const char *const[4]){__VA_ARGS__}, (after_ns), (ran))

// The runs of the store: the oldest one's id and status, and how many are not at an
// end. False: none was recorded.
static bool look_at_runs(const lab *it, char id[32], char status[32], int *n_open)
{
    program_result ran;

    *n_open = 0;
    if (!COMMAND(it, &ran, -1, "runs", "--json"))
        return false;
    json_t *runs = json_loads(ran.out, 0, NULL);
    size_t n = json_array_size(runs);
    for (size_t i = 0; i < n; i++) {
        const json_t *run = json_array_get(runs, i);
        const char *word = json_string_value(json_object_get(run, "status"));
        snprintf(id, 32, "%s", json_string_value(json_object_get(run, "trace_id")));
        snprintf(status, 32, "%s", word);
        *n_open += strcmp(word, "completed") != 0;
    }
    json_decref(runs);
    CHECK(n <= (it->of->is_background ? 2 : 1));
    program_result_fini(&ran);
    return n > 0;
}

// --- What was left ---

// Copies what `cadre show` prints; the result of a call that was interrupted reads as
// `result`, that of a call that was not. Returns how many were.
static int without_interruptions(const char *shown, const char *name,
                                 const char *result, char out[SHOWN_SIZE])
{
    char mark[64];
    int n = 0;

    snprintf(mark, sizeof(mark), "tool %s (interrupted)\n", name ? name : "");
    out[0] = '\0';
    while (*shown) {
        size_t len = strcspn(shown, "\n"), used = strlen(out);
        len += shown[len] == '\n';
        if (strncmp(shown, mark, strlen(mark)) == 0) {
            n++;
            len += strcspn(shown + len, "\n") + 1;
            snprintf(out + used, SHOWN_SIZE - used, "tool %s\n%s\n", name, result);
        } else {
            snprintf(out + used, SHOWN_SIZE - used, "%.*s", (int)len, shown);
        }
        shown += len;
    }
    return n;
}

// A key of a call is another one in each run.
static void without_keys(char *shown)
{
    char *at = strstr(shown, "paid, reference ");

    if (!at)
        return;
    at += strlen("paid, reference ");
    memmove(at, at + strcspn(at, "\n"), strlen(at + strcspn(at, "\n")) + 1);
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

static void check_value(const lab *it, const char *sql, const char *expected)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    CHECK_INT(sqlite3_open_v2(it->store, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    if (CHECK_INT(sqlite3_step(stmt), SQLITE_ROW))
        CHECK_TEXT((const char *)sqlite3_column_text(stmt, 0), expected);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

// Its transcript depends on when the report came.
static void check_report(const lab *it)
{
    check_value(it, "SELECT count(*) FROM traces", "2");
    check_value(it, "SELECT count(*) FROM traces WHERE spawned_by IS NOT NULL", "1");
    check_value(it,
                "SELECT count(*) FROM messages WHERE content LIKE '%Report of "
                "background run %2, 3 and 5%'",
                "1");
    check_value(it,
                "SELECT count(*) FROM frames WHERE status <> 'completed' AND kind <> "
                "'model'",
                "0");
}

static void check_left(const lab *it)
{
    char shown[SHOWN_SIZE];
    const subject *of = it->of;
    const char *result = of->team ? "  paid, reference " : "  noted";
    program_result ran;

    check_value(it, "PRAGMA integrity_check", "ok");
    if (of->is_background) {
        check_report(it);
        return;
    }
    if (!COMMAND(it, &ran, -1, "show"))
        return;
    int n_interrupted = without_interruptions(ran.out, of->tool, result, shown);
    without_keys(shown);
    CHECK_TEXT(shown, of->shown);
    program_result_fini(&ran);
    if (of->team)
        return;
    int n_notes = check_notes(it);
    CHECK(n_notes <= N_CALLS);
    CHECK(n_notes + n_interrupted >= N_CALLS);
}

// --- The rounds ---

// Goes on until nothing is open; the first try is killed too.
static void go_on_to_the_end(const lab *it, int64_t kill_after_ns)
{
    char id[32], status[32] = "";
    int n_open = 0;
    program_result ran;

    for (int i = 0; i < 6 && look_at_runs(it, id, status, &n_open) && n_open > 0; i++) {
        int64_t after_ns = i == 0 ? kill_after_ns : -1;
        bool is_run = false;
        if (strcmp(status, "waiting") == 0)
            is_run = COMMAND(it, &ran, after_ns, "answer", id, it->of->answer);
        else
            is_run = COMMAND(it, &ran, after_ns, "resume", "--all");
        if (!is_run)
            return;
        if (ran.signal == 0 && !CHECK(ran.exit_status == 0 || ran.exit_status == 3))
            printf("%s: %s\n", it->of->name, ran.err);
        program_result_fini(&ran);
    }
    if (!CHECK_INT(n_open, 0))
        printf("%s: %s is %s\n", it->of->name, id, status);
}

// Others work on the machine too, and a sanitizer's start takes its time: a run that
// was over before its kill, or had not begun, says when there is something to lose.
static void learn_moments(subject *of, const program_result *ran, bool is_begun,
                          int64_t killed_ns)
{
    int64_t from = of->from_ns;

    if (ran->signal != SIGKILL)
        of->to_ns = ran->duration_ms * 1250000;
    else if (!is_begun)
        of->from_ns = from + (killed_ns - from) / 4;
    else
        of->from_ns = from - from / 64;
    if (of->to_ns < of->from_ns)
        of->from_ns = of->to_ns / 4;
}

// A kill before the run was recorded leaves nothing to go on with.
static void kill_and_go_on(subject *of, const int64_t kill_after_ns[2])
{
    lab it;
    char id[32], status[32];
    int n_open = 0;
    program_result ran;

    if (lab_make(&it, of) &&
        COMMAND(&it, &ran, kill_after_ns[0], "run", it.team, of->input)) {
        bool is_killed = ran.signal == SIGKILL;
        bool is_begun =
            access(it.store, F_OK) == 0 && look_at_runs(&it, id, status, &n_open);
        CHECK(is_killed || ran.exit_status == (of->answer ? 3 : 0));
        learn_moments(of, &ran, is_begun, kill_after_ns[0]);
        program_result_fini(&ran);
        if (is_begun) {
            atomic_fetch_add(&of->n_cut, is_killed);
            go_on_to_the_end(&it, kill_after_ns[1]);
            check_left(&it);
        }
    }
    folder_remove(&it.folder);
}

// The transcript of a run that nobody kills, and how long it takes.
static bool run_undisturbed(subject *of)
{
    lab it;
    program_result ran, shown;

    if (lab_make(&it, of) && COMMAND(&it, &ran, -1, "run", it.team, of->input)) {
        of->from_ns = ran.duration_ms * 250000;
        of->to_ns = ran.duration_ms * 1250000;
        program_result_fini(&ran);
        go_on_to_the_end(&it, -1);
        if (!of->team)
            CHECK_INT(check_notes(&it), N_CALLS);
        if (COMMAND(&it, &shown, -1, "show")) {
            CHECK(shown.out_len < SHOWN_SIZE);
            snprintf(of->shown, sizeof(of->shown), "%s", shown.out);
            without_keys(of->shown);
            program_result_fini(&shown);
        }
    }
    folder_remove(&it.folder);
    return CHECK(of->shown[0] != '\0');
}

static long number_from(const char *variable, long otherwise)
{
    const char *given = getenv(variable); // NOLINT(concurrency-mt-unsafe)

    return given ? strtol(given, NULL, 10) : otherwise;
}

static struct {
    atomic_int next;
    int n_rounds;
    unsigned seed;
    time_t until; // monotonic; 0: no limit
} series;

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

// The moments of a round depend on the seed, its number, and how fast the machine is.
// At first a program has nothing to lose yet.
static void *play_rounds(void *arg)
{
    (void)arg;
    for (;;) {
        int i = atomic_fetch_add(&series.next, 1);
        if (i >= series.n_rounds || (series.until > 0 && now_s() >= series.until))
            return NULL;
        unsigned seed = series.seed + (unsigned)i * 2654435761u;
        subject *of = &subjects[i % N_SUBJECTS];
        int64_t from = of->from_ns, step = (of->to_ns - from) / 1000;
        const int64_t kill_after_ns[2] = {from + rand_r(&seed) % 1000 * step,
                                          from + rand_r(&seed) % 1000 * step};
        kill_and_go_on(of, kill_after_ns);
    }
}

static void test_kill__a_killed_run_goes_on_where_it_was(void)
{
    pthread_t threads[THREADS];
    long asked = number_from("CADRE_TEST_ROUNDS", 0);
    int n_cut = 0;

    series.seed = (unsigned)number_from("CADRE_TEST_SEED", (long)time(NULL));
    series.n_rounds = asked > 0 ? (int)asked : ROUNDS;
    series.until = asked > 0 ? 0 : now_s() + SECONDS;
    printf("CADRE_TEST_SEED=%u\n", series.seed);
    for (int i = 0; i < N_SUBJECTS; i++)
        if (!run_undisturbed(&subjects[i]))
            return;
    CHECK_CONTAINS(subjects[0].shown, "\nsecond\n  All is noted.\n");
    for (int i = 0; i < THREADS; i++)
        if (!CHECK_INT(pthread_create(&threads[i], NULL, play_rounds, NULL), 0))
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int n_done = atomic_load(&series.next) - THREADS;
    for (int i = 0; i < N_SUBJECTS; i++) {
        printf("%s: %d cut\n", subjects[i].name, atomic_load(&subjects[i].n_cut));
        n_cut += atomic_load(&subjects[i].n_cut);
    }
    printf("%d of %d runs were cut\n", n_cut, n_done);
    CHECK(n_cut >= n_done / 8); // a sanitizer's start and end take most of the time
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_kill__a_killed_run_goes_on_where_it_was),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/kill", tests);
}
