// The kill matrix: a run is cut at each commit, once before it and once after it, and
// goes on from the record of each registered store. What is recorded in the end must be
// what the undisturbed run left.
#include "support/check.h"
#include "support/folder.h"

#include "base/buf.h"
#include "cadre/cadre.h"
#include "cadre/ext/store.h"
#include "run/run.h"
#include "team/kinds.h"
#include "team/team.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- A store that dies ---

typedef struct dying {
    cadre_store_ops ops; // of the real one, but for commit and release
    const cadre_store_ops *real;
    atomic_int n_commits;
    int cut_at; // 0: never
    bool is_after;
} dying;

static dying dead;

static cadre_status dying_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    int n = atomic_fetch_add(&dead.n_commits, 1) + 1;
    if (dead.cut_at > 0 && (n > dead.cut_at || (n == dead.cut_at && !dead.is_after)))
        return cadre_fail(err, CADRE_ESTORE, "cut");
    cadre_status status = dead.real->commit(state, commit, err);
    if (dead.cut_at > 0 && n == dead.cut_at)
        return cadre_fail(err, CADRE_ESTORE, "cut");
    return status;
}

static void let_die(cadre_runtime *runtime, int cut_at, bool is_after)
{
    if (dead.real == NULL) {
        dead.real = runtime->store_ops;
        dead.ops = *dead.real;
        dead.ops.commit = dying_commit;
        dead.ops.release = NULL; // the record must outlive the run that was cut
        runtime->store_ops = &dead.ops;
    }
    atomic_store(&dead.n_commits, 0);
    dead.cut_at = cut_at;
    dead.is_after = is_after;
}

// --- What was recorded ---

static cadre_status add_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    bool is_model = strcmp(row->kind, "model") == 0;
    (void)err;
    cdr_buf_printf(ctx, "%d %s %s %s %s: %s%s\n", row->depth, row->key, row->kind,
                   row->name, cadre_frame_status_name(row->status),
                   is_model ? "" : row->output, row->error);
    return CADRE_OK;
}

static cadre_status add_message(void *ctx, const cadre_message_row *row,
                                cadre_error *err)
{
    const cadre_message *m = &row->message;
    (void)err;
    cdr_buf_printf(ctx, "%d %s %s>%s %s %s (%zu calls)\n", (int)m->position,
                   cadre_role_name(m->role), m->agent, m->to, m->tool_name, m->text,
                   m->n_tool_calls);
    return CADRE_OK;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Rows of parallel branches come in the order of their commits: compared sorted.
static char *sorted(char *text)
{
    char *lines[512];
    size_t n = 0;
    char *rest = NULL;
    cdr_buf out = CDR_BUF_INIT;
    for (char *at = strtok_r(text, "\n", &rest); at != NULL && n < 512;
         at = strtok_r(NULL, "\n", &rest))
        lines[n++] = at;
    qsort(lines, n, sizeof lines[0], compare_lines);
    for (size_t i = 0; i < n; i++)
        cdr_buf_printf(&out, "%s\n", lines[i]);
    free(text);
    return cdr_buf_take(&out);
}

static char *recorded(cadre_runtime *runtime, const char *trace)
{
    cdr_buf text = CDR_BUF_INIT;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_query query = {.kind = CADRE_QUERY_TRACE};
    const cadre_store_reader reader = {
        .frame = add_frame, .message = add_message, .ctx = &text};
    CHECK(cadre_id_parse(trace, &query.trace));
    CHECK_OK(dead.real->read(runtime->store, &query, &reader, &err), &err);
    return sorted(cdr_buf_take(&text));
}

// --- Teams ---

// What the tools of a run did, counted over its lives.
typedef struct effects {
    atomic_int safe, unsafe_ones, steps;
} effects;

static effects done;

static cadre_status safe_tool(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&done.safe, 1);
    return cadre_frame_set_output(frame, "safe", err);
}

static cadre_status charge(void *ctx, cadre_frame *frame, const json_t *arguments,
                           cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&done.unsafe_ones, 1);
    return cadre_frame_set_output(frame, "charged", err);
}

static json_t *do_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    atomic_fetch_add(&done.steps, 1);
    return json_string("stepped");
}

// Two members at once, a step, then a third that hears what they said.
static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    cadre_outcome said[2];
    json_t *stepped = NULL;
    (void)ctx;
    const cadre_call *const calls[] = {
        CADRE_CALL(.agent = members.items[0], .input = "first"),
        CADRE_CALL(.agent = members.items[1], .input = "second")};
    cadre_status status = cadre_frame_batch(
        frame, CADRE_BATCH(.wait = CADRE_ALL, .calls = calls, .n_calls = 2), said, err);
    if (status == CADRE_OK)
        status = cadre_frame_step(frame, CADRE_STEP(.name = "note", .run = do_step),
                                  &stepped, err);
    if (status != CADRE_OK)
        return status;
    const char *brief = cadre_frame_printf(frame, "%s and %s, %s", said[0].text,
                                           said[1].text, json_string_value(stepped));
    json_decref(stepped);
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = members.items[2], .input = brief), NULL, err);
}

static const char branch_script[] =
    "strict: true\n"
    "agents:\n"
    "  left:\n"
    "    - {tool_calls: [{name: look, arguments: {}}, {name: look, arguments: {}}]}\n"
    "    - {text: L}\n"
    "  right:\n"
    "    - {error: {status: 500}}\n"
    "    - {text: R}\n"
    "  judge:\n"
    "    - {tool_calls: [{name: nowhere, arguments: {}}]}\n"
    "    - {text: \"So it is.\"}\n";

static cadre_team *make_branches(cadre_runtime *runtime, const test_folder *folder)
{
    char script[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", branch_script, script))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "branches");
    cadre_team_set_script(team, script);
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "openai/m"));
    team->models[0]->times.backoff_ms = 1;
    cadre_team_add_function(
        team, CADRE_FUNCTION(.name = "lead", .run = lead,
                             .members = CADRE_NAMES("left", "right", "judge")));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "left", .model = "m", .tools = CADRE_NAMES("look")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "right", .model = "m"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "judge", .model = "m"));
    cadre_team_add_tool(
        team, CADRE_TOOL(.name = "look", .run = safe_tool, .replay_safe = true));
    cadre_team_set_root(team, "lead");
    return team;
}

static const char charge_script[] =
    "agents:\n"
    "  clerk:\n"
    "    - {tool_calls: [{name: charge, arguments: {}}]}\n"
    "    - {text: Done.}\n";

static cadre_team *make_charge(cadre_runtime *runtime, const test_folder *folder)
{
    char script[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", charge_script, script))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "charge");
    cadre_team_set_script(team, script);
    cadre_team_add_llm(team, CADRE_LLM(.name = "clerk", .model = "openai/m",
                                       .tools = CADRE_NAMES("charge")));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "charge", .run = charge));
    return team;
}

static cadre_team *make_desk(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    (void)folder;
    CHECK_OK(cadre_team_load(runtime, "samples/customer-desk/team.yaml", &team, &err),
             &err);
    return team;
}

// --- The matrix ---

typedef cadre_team *(*make_team)(cadre_runtime *runtime, const test_folder *folder);

typedef struct life {
    cadre_runtime *runtime;
    cadre_team *team;
    char trace[64];
    cadre_status status;
    cadre_error err;
} life;

static void start_life(life *l, make_team make, const test_folder *folder,
                       const char *store)
{
    memset(l, 0, sizeof *l);
    memset(&dead, 0, sizeof dead);
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = store, .offline = true),
                                &l->runtime, &l->err),
             &l->err);
    l->team = make(l->runtime, folder);
}

static void end_life(life *l)
{
    cadre_team_free(l->team);
    cadre_runtime_close(l->runtime);
}

static void run_first(life *l, int cut_at, bool is_after)
{
    cadre_run *run = NULL;
    let_die(l->runtime, cut_at, is_after);
    cadre_error_clear(&l->err);
    l->status = cadre_run_start(
        l->team, CADRE_RUN(.input = "I want to return order 1042"), &run, &l->err);
    if (!CHECK_OK(l->status, &l->err))
        return;
    l->status = cadre_run_wait(run, NULL, &l->err);
    snprintf(l->trace, sizeof l->trace, "%s", cadre_run_trace_id(run));
    cadre_run_free(run);
}

// False: there was nothing to go on with, or nothing left to do.
static bool run_again(life *l, int cut_at, bool is_after)
{
    cadre_run *run = NULL;
    let_die(l->runtime, cut_at, is_after);
    cadre_error_clear(&l->err);
    l->status = cadre_run_resume(l->team, l->trace, NULL, &run, &l->err);
    if (l->status == CADRE_ENOTFOUND || l->status == CADRE_EINVAL)
        return false;
    if (!CHECK_OK(l->status, &l->err))
        return false;
    l->status = cadre_run_wait(run, NULL, &l->err);
    cadre_run_free(run);
    return true;
}

static const char *store_url(const char *type, const test_folder *folder,
                             char url[FOLDER_PATH_SIZE])
{
    if (strcmp(type, "memory") == 0)
        return "memory";
    snprintf(url, FOLDER_PATH_SIZE, "%s:%s/runs.db", type, folder->path);
    return url;
}

// Cuts at commit `n`, and when `again` is not 0, a second time at that commit of the
// run that goes on.
static void check_cut(make_team make, const char *type, const char *expected, int n,
                      int again)
{
    for (int after = 0; after < 2; after++) {
        life l;
        test_folder folder;
        char url[FOLDER_PATH_SIZE];
        if (!CHECK(folder_make(&folder)))
            return;
        start_life(&l, make, &folder, store_url(type, &folder, url));
        run_first(&l, n, after != 0);
        bool goes_on = run_again(&l, again, after != 0);
        if (goes_on && again > 0 && l.status != CADRE_OK)
            goes_on = run_again(&l, 0, false);
        if (goes_on)
            CHECK_OK(l.status, &l.err);
        bool has_begun = n > 1 || after != 0;
        if (has_begun) {
            char *got = recorded(l.runtime, l.trace);
            CHECK_TEXT(got, expected);
            free(got);
        }
        end_life(&l);
        folder_remove(&folder);
    }
}

static void check_matrix_of(make_team make, const char *type)
{
    life l;
    test_folder folder;
    char url[FOLDER_PATH_SIZE];
    if (!CHECK(folder_make(&folder)))
        return;
    start_life(&l, make, &folder, store_url(type, &folder, url));
    run_first(&l, 0, false);
    CHECK_OK(l.status, &l.err);
    int n_commits = atomic_load(&dead.n_commits);
    char *expected = recorded(l.runtime, l.trace);
    end_life(&l);
    folder_remove(&folder);
    CHECK(n_commits > 3);
    for (int n = 1; n <= n_commits; n++) {
        check_cut(make, type, expected, n, 0);
        check_cut(make, type, expected, n, 2);
    }
    free(expected);
}

static void check_matrix(make_team make)
{
    for (size_t i = 0; cdr_kinds_stores[i] != NULL; i++)
        check_matrix_of(make, cdr_kinds_stores[i]->type);
}

static void test_kill__a_handoff_goes_on_from_every_commit(void)
{
    check_matrix(make_desk);
}

static void test_kill__branches_and_steps_go_on_from_every_commit(void)
{
    check_matrix(make_branches);
}

// A tool that is not safe to replay runs at most once; where nobody can know whether it
// did, its result says so, and the run goes on.
static void check_charge(const char *type, int n, bool is_after)
{
    life l;
    test_folder folder;
    char url[FOLDER_PATH_SIZE];
    if (!CHECK(folder_make(&folder)))
        return;
    start_life(&l, make_charge, &folder, store_url(type, &folder, url));
    atomic_store(&done.unsafe_ones, 0);
    run_first(&l, n, is_after);
    int n_before = atomic_load(&done.unsafe_ones);
    if (run_again(&l, 0, false)) {
        char *got = recorded(l.runtime, l.trace);
        CHECK_OK(l.status, &l.err);
        CHECK_INT(atomic_load(&done.unsafe_ones),
                  strstr(got, "nterrupted") ? n_before : 1);
        CHECK(strstr(got, "charge charged") || strstr(got, "charge Interrupted"));
        free(got);
    }
    CHECK(atomic_load(&done.unsafe_ones) <= 1);
    end_life(&l);
    folder_remove(&folder);
}

static void test_kill__an_unsafe_tool_never_runs_twice(void)
{
    for (size_t i = 0; cdr_kinds_stores[i] != NULL; i++)
        for (int n = 1; n <= 5; n++) {
            check_charge(cdr_kinds_stores[i]->type, n, false);
            check_charge(cdr_kinds_stores[i]->type, n, true);
        }
}

static void test_kill__a_run_that_ended_is_not_resumed(void)
{
    life l;
    test_folder folder;
    if (!CHECK(folder_make(&folder)))
        return;
    start_life(&l, make_desk, &folder, "memory");
    run_first(&l, 0, false);
    CHECK(!run_again(&l, 0, false));
    CHECK_STATUS(l.status, CADRE_EINVAL, &l.err);
    CHECK_CONTAINS(l.err.text, "has ended (completed)");
    end_life(&l);
    folder_remove(&folder);
}

static void test_kill__an_unknown_run_is_named(void)
{
    life l;
    test_folder folder;
    if (!CHECK(folder_make(&folder)))
        return;
    start_life(&l, make_desk, &folder, "memory");
    let_die(l.runtime, 0, false);
    snprintf(l.trace, sizeof l.trace, "0123456789ab-1");
    CHECK(!run_again(&l, 0, false));
    CHECK_STATUS(l.status, CADRE_ENOTFOUND, &l.err);
    CHECK_CONTAINS(l.err.text, "0123456789ab-1");
    end_life(&l);
    folder_remove(&folder);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_kill__a_handoff_goes_on_from_every_commit),
    CHECK_TEST(test_kill__branches_and_steps_go_on_from_every_commit),
    CHECK_TEST(test_kill__an_unsafe_tool_never_runs_twice),
    CHECK_TEST(test_kill__a_run_that_ended_is_not_resumed),
    CHECK_TEST(test_kill__an_unknown_run_is_named),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/kill", tests);
}
