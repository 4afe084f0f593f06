// The kill matrix of a graph: with branches, a loop, a fan-out, a tool, a retry and
// state, cut at each commit, once and twice, on each registered store. What is recorded
// in the end is what the undisturbed run left. See also tests/run/kill_test.c.
#include "support/check.h"
#include "support/graph_case.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "cadre/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char graph[] =
    "{'state': {'items': {'reducer': 'append', 'default': ['x', 'y']},"
    "  'notes': {'reducer': 'append'}},"
    " 'nodes': {'plan': 'plan', 'left': 'left',"
    "  'each': {'agent': 'each', 'for_each': 'items'},"
    "  'look': {'tool': 'look', 'arguments': {'at': '{{last_response}}'}},"
    "  'judge': {'agent': 'judge', 'input_from_last': true,"
    "    'retry': {'attempts': 2, 'backoff': '1ms'}},"
    "  'sum': {'lua': 'table.concat(state.notes, \\\" \\\")'}},"
    " 'edges': [{'from': 'plan', 'to': ['left', 'each', 'look']},"
    "  {'from': 'left', 'to': 'judge'}, {'from': 'each', 'to': 'judge'},"
    "  {'from': 'look', 'to': 'judge'},"
    "  {'from': 'judge', 'to': 'plan', 'when': {'contains': 'again'}},"
    "  {'from': 'judge', 'to': 'sum'}]}";

static const char script[] = "strict: true\n"
                             "agents:\n"
                             "  plan: [{text: P1}, {text: P2}]\n"
                             "  left: [{text: L1}, {text: L2}]\n"
                             "  each: [{text: E}, {text: E}, {text: E}, {text: E}]\n"
                             "  judge:\n"
                             "    - {text: again}\n"
                             "    - {error: {status: 400}}\n"
                             "    - {text: good}\n";

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(
        frame, json_string_value(json_object_get(arguments, "at")), err);
}

static cadre_team *make_graph(cadre_runtime *runtime, const test_folder *folder)
{
    static const char *const names[] = {"plan", "left", "each", "judge"};
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    char *options = graph_case_json(graph);
    cadre_team *team = cadre_team_new(runtime, "graphs");
    cadre_team_set_script(team, path);
    cadre_team_add_topology(team, "graph",
                            CADRE_TOPOLOGY(.name = "g", .options = options));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cadre_team_add_llm(team, CADRE_LLM(.name = names[i], .model = "openai/m",
                                           .output_key = "notes"));
    cadre_team_add_tool(
        team, CADRE_TOOL(.name = "look", .run = look, .replay_safe = true,
                         .parameters = "{\"type\": \"object\", \"properties\": "
                                       "{\"at\": {\"type\": \"string\"}}}"));
    free(options);
    return team;
}

enum {
    MAX_COMMITS = 60,
    MAX_AGAIN = LIVES_MAX_AGAIN < 6 ? LIVES_MAX_AGAIN : 6
};

typedef struct undisturbed {
    const char *type;
    char *recorded;
    int n_commits, n_requests, n_looks;
} undisturbed;

static bool run_undisturbed(undisturbed *u)
{
    lives l;
    if (!lives_open(&l, u->type, make_graph))
        return false;
    lives_start(&l, CADRE_RUN(.input = "Go."), (store_cut){0});
    CHECK_OK(l.status, &l.err);
    CHECK_TEXT(l.answer, "P1 L1 E E again P2 L2 E E good");
    u->recorded = lives_recorded(&l);
    u->n_commits = l.n_commits;
    u->n_requests = atomic_load(&lives_count()->requests);
    u->n_looks = atomic_load(&lives_count()->safe);
    CHECK_INT(u->n_looks, 2);
    lives_close(&l);
    return CHECK(u->n_commits > 10);
}

// What is in flight at a cut is done again: of four branches one thing each.
static void check_end(lives *l, const undisturbed *u, int n_cuts)
{
    char *got = lives_recorded(l);
    int n_requests = atomic_load(&lives_count()->requests);
    int n_looks = atomic_load(&lives_count()->safe);
    CHECK_TEXT(got, u->recorded);
    CHECK(n_requests >= u->n_requests && n_requests <= u->n_requests + 3 * n_cuts);
    CHECK(n_looks >= u->n_looks && n_looks <= u->n_looks + n_cuts);
    free(got);
}

// False: the second cut was beyond the end.
static bool check_cut(const undisturbed *u, int n, int again, bool is_after)
{
    lives l;
    if (!lives_open(&l, u->type, make_graph))
        return false;
    lives_start(&l, CADRE_RUN(.input = "Go."),
                (store_cut){.at = n, .is_after = is_after});
    bool goes_on = lives_resume(&l, (store_cut){.at = again, .is_after = is_after});
    bool is_cut_again = goes_on && l.was_cut;
    if (is_cut_again)
        goes_on = lives_resume(&l, (store_cut){0});
    if (goes_on)
        CHECK_OK(l.status, &l.err);
    if (n > 1 || is_after) // else nothing was recorded
        check_end(&l, u, 1 + is_cut_again);
    lives_close(&l);
    return is_cut_again;
}

static void check_matrix(const char *type)
{
    undisturbed u = {.type = type};
    if (!run_undisturbed(&u))
        return;
    for (int n = 1; n <= u.n_commits; n++)
        for (int after = 0; after < 2; after++) {
            check_cut(&u, n, 0, after != 0);
            if (n % (4 * LIVES_STEP) != 0)
                continue;
            int again = 1;
            while (again <= MAX_AGAIN && check_cut(&u, n, again, after != 0))
                again++;
            CHECK(again < MAX_COMMITS);
        }
    free(u.recorded);
}

static void test_kill__a_graph_goes_on_from_every_commit(void)
{
    lives_each_store(check_matrix);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_kill__a_graph_goes_on_from_every_commit),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/graph_kill", tests);
}
