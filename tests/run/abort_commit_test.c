// Aborts from outside after every commit of a run, by another runtime on the same file
// and by another process: nothing that is reserved after the mark starts, all frames
// end, and the run cannot be resumed. The same when who held it is dead.
#include "support/check.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "cadre/trace.h"
#include "team/team.h"
#include "tree/tree.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_FRAMES = 256,
    MAX_COMMITS = 40
};

// --- What was reserved, and what has started ---

typedef struct seen_frame {
    cadre_id id;
    int n_reserved, n_started; // attempts
    bool has_ended, is_step;
} seen_frame;

static struct {
    pthread_mutex_t mu;
    seen_frame frames[MAX_FRAMES];
    size_t n_frames;
    int mark_at; // the commit after which it is marked
    bool is_marked;
    int n_too_late; // started, though reserved after the mark
    cadre_status marked;
    char why[200];
    cadre_status (*mark)(const char *trace, char why[200]);
    const char *url;
} seen = {.mu = PTHREAD_MUTEX_INITIALIZER};

static seen_frame *frame_locked(cadre_id id)
{
    for (size_t i = 0; i < seen.n_frames; i++)
        if (cadre_id_equal(seen.frames[i].id, id))
            return &seen.frames[i];
    if (seen.n_frames == MAX_FRAMES)
        abort();
    seen.frames[seen.n_frames] = (seen_frame){.id = id};
    return &seen.frames[seen.n_frames++];
}

// A model call is reserved by its birth, as is a tool that may run again; another one
// by its intent.
static void reserve_locked(const cadre_fact *fact)
{
    const cadre_frame_row *row = &fact->u.frame;
    bool is_birth = fact->type == CADRE_FACT_FRAME;
    if (fact->refused)
        return;
    if (is_birth || fact->type == CADRE_FACT_RUNNING) {
        seen_frame *frame = frame_locked(row->id);
        if (!is_birth || row->status == CADRE_FRAME_RUNNING || row->replay_safe)
            frame->n_reserved = row->attempts > frame->n_reserved + 1
                                    ? row->attempts
                                    : frame->n_reserved + 1;
    } else if (fact->type == CADRE_FACT_END) {
        frame_locked(row->id)->has_ended = true;
    }
}

static void on_commit(void *ctx, const cadre_commit *commit, int n)
{
    char trace[CADRE_ID_TEXT_SIZE];
    (void)ctx;
    pthread_mutex_lock(&seen.mu);
    if (!seen.is_marked)
        for (size_t i = 0; i < commit->n_facts; i++)
            reserve_locked(&commit->facts[i]);
    pthread_mutex_unlock(&seen.mu);
    if (n != seen.mark_at)
        return;
    cadre_id_text(commit->trace, trace);
    cadre_status status = seen.mark(trace, seen.why);
    pthread_mutex_lock(&seen.mu);
    seen.marked = status;
    seen.is_marked = true;
    pthread_mutex_unlock(&seen.mu);
}

static void note_start(cadre_frame *frame)
{
    pthread_mutex_lock(&seen.mu);
    seen_frame *known = frame_locked(frame->id);
    known->n_started++;
    if (seen.is_marked && known->n_started > known->n_reserved)
        seen.n_too_late++;
    pthread_mutex_unlock(&seen.mu);
}

// --- Who aborts ---

static cadre_status abort_on(const char *url, const char *trace, char why[200])
{
    cadre_runtime *other = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cadre_runtime_open(CADRE_RUNTIME(.store = url), &other, &err);
    if (status == CADRE_OK)
        status = cadre_trace_abort(other, trace, CADRE_ABORT(.reason = "enough"), &err);
    snprintf(why, 200, "%.199s", err.text);
    cadre_runtime_close(other);
    return status;
}

static cadre_status abort_here(const char *trace, char why[200])
{
    return abort_on(seen.url, trace, why);
}

// Another process, from before there were threads: it gets what to abort and tells how
// that went.
typedef struct order {
    char url[FOLDER_PATH_SIZE], trace[64], why[200];
    cadre_status status;
} order;

static int other_process = -1;

static void serve(int fd)
{
    order it;
    while (read(fd, &it, sizeof it) == sizeof it) {
        it.status = abort_on(it.url, it.trace, it.why);
        if (write(fd, &it, sizeof it) != sizeof it)
            break;
    }
    _exit(0);
}

static pid_t start_other_process(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        abort();
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child == 0) {
        close(ends[0]);
        serve(ends[1]);
    }
    close(ends[1]);
    other_process = ends[0];
    return child;
}

static cadre_status abort_elsewhere(const char *trace, char why[200])
{
    order it = {.status = CADRE_EIO};
    snprintf(it.url, sizeof it.url, "%s", seen.url);
    snprintf(it.trace, sizeof it.trace, "%s", trace);
    CHECK(write(other_process, &it, sizeof it) == sizeof it);
    CHECK(read(other_process, &it, sizeof it) == sizeof it);
    memcpy(why, it.why, sizeof it.why);
    return it.status;
}

// --- The team: branches, tools of both kinds, a step, a subagent ---

static cadre_status tool(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    note_start(frame);
    return cadre_frame_set_output(frame, "done", err);
}

static json_t *step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)err;
    note_start(frame);
    return json_true();
}

static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    (void)ctx;
    const cadre_call *const calls[] = {
        CADRE_CALL(.agent = members.items[0], .input = "first"),
        CADRE_CALL(.agent = members.items[1], .input = "second")};
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), NULL, err);
    if (status == CADRE_OK)
        status =
            cadre_frame_step(frame, CADRE_STEP(.name = "note", .run = step), NULL, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = members.items[2], .input = "third"), NULL, err);
}

static const char script[] =
    "agents:\n"
    "  left:\n"
    "    - {tool_calls: [{name: look}, {name: charge}]}\n"
    "    - {text: L}\n"
    "  right:\n"
    "    - {error: {status: 500}}\n"
    "    - {tool_calls: [{name: charge}]}\n"
    "    - {text: R}\n"
    "  judge:\n"
    "    - {tool_calls: [{name: helper, arguments: {task: Think.}}]}\n"
    "    - {when: {equals: Think.}, text: Thought.}\n"
    "    - {text: So it is.}\n";

static cadre_model_ops noting;
static const cadre_model_ops *noted;

static cadre_status note_and_answer(const void *state, cadre_frame *frame,
                                    const cadre_request *request, cadre_sink *sink,
                                    cadre_error *err)
{
    note_start(frame);
    return noted->answer(state, frame, request, sink, err);
}

static void note_requests(cadre_team *team)
{
    noted = team->models[0]->ops;
    noting = *noted;
    noting.answer = note_and_answer;
    team->models[0]->ops = &noting;
}

static cadre_team *make_team(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "busy");
    cadre_team_set_script(team, path);
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "openai/m"));
    team->models[0]->times.backoff_ms = 1;
    cadre_team_add_function(
        team, CADRE_FUNCTION(.name = "lead", .run = lead,
                             .members = CADRE_NAMES("left", "right", "judge")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "left", .model = "m",
                                       .tools = CADRE_NAMES("look", "charge")));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "right", .model = "m", .tools = CADRE_NAMES("charge")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "judge", .model = "m",
                                       .tools = CADRE_NAMES("look", "helper")));
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "look", .run = tool, .replay_safe = true));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "charge", .run = tool));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "helper", .type = "subagent"));
    cadre_team_set_root(team, "lead");
    CHECK_OK(cadre_team_seal(team, &err), &err);
    note_requests(team);
    return team;
}

static const char *sample;

static cadre_team *make_sample(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    (void)folder;
    CHECK_OK(cadre_team_load(runtime, sample, &team, &err), &err);
    note_requests(team);
    return team;
}

// --- After it ---

// What had not ended was marked, and ends so, but for what came to its end by itself
// before its holder heard of the mark.
static cadre_status check_row(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    bool *is_held = ctx;
    (void)err;
    seen_frame *frame = frame_locked(row->id);
    CHECK(row->status == CADRE_FRAME_ABORTED ||
          (row->status == CADRE_FRAME_COMPLETED && (frame->has_ended || *is_held)));
    CHECK(frame->has_ended || row->mark[0] != '\0');
    return CADRE_OK;
}

static void check_ended(lives *l, bool is_held)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_query query = {.kind = CADRE_QUERY_TRACE};
    cadre_runtime *runtime = lives_runtime(l);
    const cadre_store_reader reader = {.frame = check_row, .ctx = &is_held};
    CHECK_OK(cadre_trace_wait(runtime, l->trace, false, 20000, &err), &err);
    CHECK(cadre_id_parse(l->trace, &query.trace));
    CHECK_OK(runtime->store_ops->read(runtime->store, &query, &reader, &err), &err);
    CHECK(!lives_resume(l, (store_cut){0}));
    CHECK_STATUS(l->status, CADRE_EINVAL, &l->err);
    CHECK_CONTAINS(l->err.text, "has ended");
}

static void forget(lives *l, int mark_at)
{
    seen.n_frames = 0;
    seen.mark_at = mark_at;
    seen.is_marked = false;
    seen.n_too_late = 0;
    seen.url = l->url;
}

// False: the run had ended by then.
static bool check_abort_after(lives_team make, int n)
{
    lives l;
    if (!lives_open(&l, "sqlite", make))
        return false;
    forget(&l, n);
    lives_start(&l, CADRE_RUN(.input = "Go."), (store_cut){.on_commit = on_commit});
    bool was_marked = seen.is_marked && seen.marked == CADRE_OK;
    if (was_marked) {
        // Nothing was left to do but to say so.
        bool is_done = l.status == CADRE_OK && l.n_commits == n + 1;
        if (!is_done && CHECK_STATUS(l.status, CADRE_EABORTED, &l.err))
            CHECK_TEXT(l.err.text, "aborted: enough");
        CHECK_INT(seen.n_too_late, 0);
        check_ended(&l, true);
    } else {
        CHECK_OK(l.status, &l.err);
        if (seen.is_marked)
            CHECK_CONTAINS(seen.why, "has ended (completed)");
    }
    lives_close(&l);
    return was_marked;
}

static void check_every_commit(cadre_status (*mark)(const char *, char why[200]),
                               lives_team make)
{
    int n = 1;
    seen.mark = mark;
    while (n < MAX_COMMITS && check_abort_after(make, n))
        n++;
    CHECK(n >= (make == make_team ? 9 : 2) && n < MAX_COMMITS);
}

static void test_abort__by_another_runtime_lets_nothing_start(void)
{
    check_every_commit(abort_here, make_team);
}

static void test_abort__of_a_sample_lets_nothing_start(void)
{
    static const char *const samples[] = {"samples/hello/team.yaml",
                                          "samples/customer-desk/team.yaml",
                                          "samples/subagent-foreground/team.yaml",
                                          "samples/helpdesk-swarm/team.yaml",
                                          "samples/design-review/team.yaml",
                                          "samples/article-chain/team.yaml",
                                          "samples/write-and-review/team.yaml",
                                          "samples/question-router/team.yaml",
                                          "samples/company/team.yaml"};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        sample = samples[i];
        check_every_commit(abort_here, make_sample);
    }
}

static void test_abort__by_another_process_lets_nothing_start(void)
{
    check_every_commit(abort_elsewhere, make_team);
}

// --- Who held it is dead ---

static void on_last_commit(void *ctx, const cadre_commit *commit, int n)
{
    int fd = *(int *)ctx;
    (void)n;
    for (size_t i = 0; i < commit->n_facts; i++)
        if (write(fd, &commit->facts[i], sizeof commit->facts[i]) < 0)
            abort();
}

// False: the run had ended by then.
static bool check_dead_holder(int n, bool is_after)
{
    lives l;
    int ends[2];
    cadre_fact fact;
    bool was_cut = false;
    if (!CHECK_INT(pipe(ends), 0) || !lives_open(&l, "sqlite", make_team))
        return false;
    forget(&l, 0);
    lives_start(&l, CADRE_RUN(.input = "Go."),
                (store_cut){.at = n,
                            .is_after = is_after,
                            .on_commit = on_last_commit,
                            .ctx = &ends[1]});
    close(ends[1]);
    // The pointers in them are of a process that is gone.
    while (read(ends[0], &fact, sizeof fact) == sizeof fact)
        reserve_locked(&fact);
    close(ends[0]);
    was_cut = l.was_cut;
    if (was_cut && l.trace[0] != '\0') {
        cadre_status status = abort_on(l.url, l.trace, seen.why);
        bool has_begun = n > 1 || is_after;
        if (!has_begun)
            CHECK_INT(status, CADRE_ENOTFOUND);
        else if (status == CADRE_OK)
            check_ended(&l, false);
        else
            CHECK_CONTAINS(seen.why, "has ended (completed)");
    }
    lives_close(&l);
    return was_cut;
}

static void test_abort__of_a_run_whose_holder_is_dead_ends_it(void)
{
    for (int after = 0; after < 2; after++) {
        int n = 1;
        while (n < MAX_COMMITS && check_dead_holder(n, after != 0))
            n++;
        CHECK(n > 8 && n < MAX_COMMITS);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_abort__by_another_runtime_lets_nothing_start),
    CHECK_TEST(test_abort__of_a_sample_lets_nothing_start),
    CHECK_TEST(test_abort__by_another_process_lets_nothing_start),
    CHECK_TEST(test_abort__of_a_run_whose_holder_is_dead_ends_it),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    pid_t other = start_other_process();
    int exit_status = check_main("run/abort_commit", tests);
    close(other_process);
    waitpid(other, NULL, 0);
    return exit_status;
}
