// The kill matrix of runs in the background: the parent, its child or both are cut at
// each commit, and then all that is open goes on. There is one child, and one report of
// it in the parent's conversation, which the next turn reads. See also kill_test.c.
#include "support/check.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "cadre/ext/store.h"
#include "team/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_COMMITS = 60
};

// --- The sample, with a script that has more to say ---

static const char script[] =
    "agents:\n"
    "  main:\n"
    "    - {tool_calls: [{name: tasks, arguments: {action: spawn, text: Primes.}}]}\n"
    "    - {when: {equals: Primes.}, text: \"2, 3 and 5\"}\n"
    "    - {text: Started.}\n"
    "    - {text: I see.}\n"
    "    - {text: I know.}\n"
    "    - {text: Still so.}\n";

static bool copy_sample(const test_folder *folder, char path[FOLDER_PATH_SIZE])
{
    char text[4096];
    FILE *file = fopen("samples/subagent-background/team.yaml", "re");
    if (!CHECK(file != NULL))
        return false;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    return folder_write(folder, "script.yaml", script, path) &&
           folder_write(folder, "team.yaml", text, path);
}

static cadre_team *make_sample(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (copy_sample(folder, path))
        CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err);
    return team;
}

// --- What is there ---

typedef struct children {
    char id[64]; // of the last one
    int count;
} children;

static cadre_status take_child(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    children *c = ctx;
    (void)err;
    cadre_id_text(row->id, c->id);
    c->count++;
    return CADRE_OK;
}

static children find_children(lives *l)
{
    children c = {.count = 0};
    cadre_query query = {.kind = CADRE_QUERY_SPAWNED};
    const cadre_store_reader reader = {.trace = take_child, .ctx = &c};
    const cadre_runtime *runtime = lives_runtime(l);
    CHECK(cadre_id_parse(l->trace, &query.trace));
    CHECK_OK(runtime->store_ops->read(runtime->store, &query, &reader, NULL), NULL);
    return c;
}

static void check_frame(const char *recorded, const char *line)
{
    CHECK_INT(recorded_count(recorded, line, NULL), 1);
}

static void check_child(lives *l)
{
    children c = find_children(l);
    if (!CHECK_INT(c.count, 1))
        return;
    char *child = recorded_text(lives_runtime(l), c.id);
    CHECK_TEXT(child, "conversation root\n"
                      "frame root agent main completed final: 2, 3 and 5\n"
                      "frame root/1 model fast completed final: \n"
                      "message root 0 user >:  ok Primes. by root\n"
                      "message root 1 assistant main>:  ok 2, 3 and 5 by root\n");
    free(child);
}

// `n_placed` of the one report: 0, it is in the inbox; 1, it was read; -1: either.
static void check_parent(lives *l, int n_placed)
{
    char *parent = lives_recorded(l);
    size_t n_reports = recorded_count(parent, "message", "Report of background run");
    size_t n_waiting = recorded_count(parent, "message root -1 ", "Report of");
    CHECK_INT(n_reports, 1);
    if (n_placed >= 0)
        CHECK_INT(n_reports - n_waiting, n_placed);
    check_frame(parent, "frame root/1 model fast completed final: ");
    check_frame(parent, "frame root/1/0 tool tasks completed final: Started ID. Its "
                        "report will come as a message.");
    check_frame(parent, "frame root/2 model fast completed final: ");
    check_frame(parent, "frame root agent main completed final: ");
    // One that heard the report before it ended was asked once more.
    CHECK(recorded_count(parent, "frame", " model ") <= 3);
    CHECK_INT(recorded_count(parent, "frame", " tool "), 1);
    free(parent);
}

// The next turn of the session reads what is in the inbox, the one after it nothing.
static void check_next_turns(lives *l)
{
    char first[64];
    memcpy(first, l->trace, sizeof first);
    for (int i = 0; i < 2; i++) {
        lives_start(l, CADRE_RUN(.input = "And?", .session = "talk"), (store_cut){0});
        CHECK_OK(l->status, &l->err);
        CHECK(l->answer[0] != '\0');
    }
    memcpy(l->trace, first, sizeof first);
    check_parent(l, 1);
}

// --- The matrix ---

// The store failed the spawn, so there is none, and the model was told.
static void check_childless(lives *l)
{
    char *parent = lives_recorded(l);
    CHECK_INT(find_children(l).count, 0);
    CHECK_INT(recorded_count(parent, "message", "Report of background run"), 0);
    check_frame(parent, "frame root/1/0 tool tasks failed error: ");
    check_frame(parent, "frame root agent main completed final: Started.");
    free(parent);
}

static void check_all(lives *l, int n_cuts)
{
    check_child(l);
    check_parent(l, -1);
    int n_requests = atomic_load(&lives_count()->requests);
    CHECK(n_requests >= 3);
    CHECK(n_requests <= 4 + 2 * n_cuts);
    check_next_turns(l);
}

// False: the cut was beyond the end.
static bool check_cut(const char *type, store_cut cut, store_cut again)
{
    lives l;
    if (!lives_open(&l, type, make_sample))
        return false;
    lives_start(&l, CADRE_RUN(.input = "Find three numbers", .session = "talk"), cut);
    bool is_cut = l.was_cut || l.n_commits >= cut.at;
    bool has_begun = l.trace[0] != '\0' && (cut.at > 1 || cut.is_after);
    if (has_begun || cut.of_trace == 2) {
        lives_resume_all(&l, again);
        bool is_cut_again = again.at > 0 && (l.was_cut || l.n_commits >= again.at);
        if (is_cut_again)
            lives_resume_all(&l, (store_cut){0});
        else if (again.at > 0)
            is_cut = false;
        CHECK_OK(l.status, &l.err);
        if (cut.of_trace == 2 && cut.at == 1 && !cut.is_after)
            check_childless(&l);
        else
            check_all(&l, 1 + is_cut_again);
    } else if (again.at > 0) {
        is_cut = false; // there was nothing to cut again
    }
    lives_close(&l);
    return is_cut;
}

static void check_matrix(const char *type, int of_trace)
{
    for (int after = 0; after < 2; after++) {
        store_cut cut = {.at = 1, .is_after = after != 0, .of_trace = of_trace};
        while (cut.at < MAX_COMMITS && check_cut(type, cut, (store_cut){0}))
            cut.at++;
        CHECK(cut.at > 2 && cut.at < MAX_COMMITS);
    }
}

static void check_both(const char *type)
{
    check_matrix(type, 0);
}

static void test_background__and_its_parent_go_on_from_every_commit(void)
{
    lives_each_store(check_both);
}

static void check_parent_alone(const char *type)
{
    check_matrix(type, 1);
}

static void test_background__goes_on_while_its_parent_is_cut(void)
{
    lives_each_store(check_parent_alone);
}

static void check_child_alone(const char *type)
{
    check_matrix(type, 2);
}

static void test_background__that_is_cut_alone_reports_once(void)
{
    lives_each_store(check_child_alone);
}

static void check_pairs(const char *type)
{
    for (int after = 0; after < 2; after++)
        for (int n = 1; n < 9; n += LIVES_STEP) {
            const store_cut cut = {.at = n, .is_after = after != 0};
            store_cut again = {.at = 1, .is_after = after != 0};
            while (again.at <= LIVES_MAX_AGAIN && check_cut(type, cut, again))
                again.at++;
            CHECK(again.at < MAX_COMMITS);
        }
}

static void test_background__goes_on_when_it_is_cut_twice(void)
{
    lives_each_store(check_pairs);
}

// The child has reported when its parent goes on that was cut after the spawn: it finds
// the report where it waits.
static void check_reported(const char *type)
{
    lives l;
    if (!lives_open(&l, type, make_sample))
        return;
    // Its fourth commit has the result of the spawn.
    lives_start(&l, CADRE_RUN(.input = "Find three numbers", .session = "talk"),
                (store_cut){.at = 4, .of_trace = 1});
    CHECK_STATUS(l.status, CADRE_ESTORE, &l.err);
    char *got = lives_recorded(&l);
    CHECK_INT(recorded_count(got, "message root -1 ", "Report of background run"), 1);
    CHECK_INT(recorded_count(got, "frame root agent main running", NULL), 1);
    free(got);
    CHECK(lives_resume(&l, (store_cut){0}));
    CHECK_OK(l.status, &l.err);
    check_all(&l, 1);
    lives_close(&l);
}

static void test_background__report_is_there_when_its_parent_goes_on(void)
{
    lives_each_store(check_reported);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_background__and_its_parent_go_on_from_every_commit),
    CHECK_TEST(test_background__goes_on_while_its_parent_is_cut),
    CHECK_TEST(test_background__that_is_cut_alone_reports_once),
    CHECK_TEST(test_background__goes_on_when_it_is_cut_twice),
    CHECK_TEST(test_background__report_is_there_when_its_parent_goes_on),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/kill_background", tests);
}
