// The case files of graphs, and of branches that share a key.
#include "support/case_files.h"
#include "support/check.h"
#include "support/recorder.h"

#include <stdio.h>
#include <string.h>

static cadre_runtime *runtime;

// Loads a team of a case; what is wrong with it as lines without the folder.
static cadre_team *load(const char *name, const char *file, char *problems, size_t size)
{
    char folder[CASE_PATH_BYTES];
    char path[CASE_PATH_BYTES + 32];
    size_t n = 0;
    cadre_team *team = NULL;
    case_folder(name, folder);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    cadre_team_load(runtime, path, &team, NULL);
    const char *const *lines = cadre_team_problems(team, &n);
    problems[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(problems);
        const char *place = strstr(lines[i], file);
        snprintf(problems + len, size - len, "%s\n", place ? place : lines[i]);
    }
    return team;
}

// A run of a case, to its end.
typedef struct played {
    cadre_team *team;
    cadre_run *run;
    const cadre_result *result;
    cadre_status status;
    cadre_error err;
    char keys[200]; // of the calls of the root
} played;

// Appends to a text that has room for `size` bytes.
static void append(char *text, size_t size, const char *more)
{
    size_t len = strlen(text);
    (void)snprintf(text + len, size - len, "%s", more);
}

static void list_keys(played *p)
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(p->run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        if (frames[i].parent == 0 && strcmp(frames[i].kind, "agent") == 0) {
            append(p->keys, sizeof p->keys, p->keys[0] ? " " : "");
            append(p->keys, sizeof p->keys, frames[i].key);
        }
}

static bool play(played *p, const char *name, const char *file, const char *input)
{
    char problems[2000];
    *p = (played){.team = load(name, file, problems, sizeof problems)};
    if (!CHECK_TEXT(problems, "") ||
        !CHECK_OK(cadre_run_start(p->team, CADRE_RUN(.input = input), &p->run, &p->err),
                  &p->err))
        return false;
    p->status = cadre_run_wait(p->run, &p->result, &p->err);
    list_keys(p);
    return true;
}

static void finish(played *p)
{
    cadre_run_free(p->run);
    cadre_team_free(p->team);
}

static void test_o14__a_branch_not_taken_does_not_hold_the_join(void)
{
    played p;
    if (play(&p, "o14-join-skipped-branch", "team.yaml", "x")) {
        CHECK_OK(p.status, &p.err);
        CHECK_TEXT(p.result->text, "d");
        CHECK_TEXT(p.keys, "start@1 a@2 c@3 d@4");
    }
    finish(&p);
}

static void test_o16__what_a_route_gives_must_be_one_of_its_nodes(void)
{
    static const char *const inputs[][2] = {{"nowhere", "gave 'nowhere'"},
                                            {"nothing", "gave ''"}};
    played p;
    for (int i = 0; i < 2; i++) {
        if (play(&p, "o16-route-unknown-node", "team.yaml", inputs[i][0])) {
            CHECK_STATUS(p.status, CADRE_EFAILED, &p.err);
            CHECK_CONTAINS(p.err.text, "node 'start'");
            CHECK_CONTAINS(p.err.text, inputs[i][1]);
            CHECK_CONTAINS(p.err.text, "it can give a, b");
            CHECK_TEXT(p.keys, "start@1");
        }
        finish(&p);
    }
    if (play(&p, "o16-route-unknown-node", "team.yaml", "twice")) {
        CHECK_OK(p.status, &p.err);
        CHECK_TEXT(p.result->text, "a");
        CHECK_TEXT(p.keys, "start@1 a@2");
    }
    finish(&p);
}

static void test_o17__one_key_of_two_branches_needs_a_reducer(void)
{
    char problems[2000];
    cadre_team_free(
        load("o17-parallel-same-key", "graph_refused.yaml", problems, sizeof problems));
    CHECK_CONTAINS(problems, "agent 'g': 'q' and 'p' may run at the same time and both "
                             "have output_key 'result'");
    for (int i = 0; i < 10; i++) {
        played p;
        if (play(&p, "o17-parallel-same-key", "graph_reduced.yaml", "x")) {
            CHECK_OK(p.status, &p.err);
            CHECK_TEXT(p.result->text, "P Q");
        }
        finish(&p);
    }
}

static void test_o17__one_key_of_two_members_needs_a_reducer(void)
{
    char problems[2000];
    cadre_team_free(load("o17-parallel-same-key", "parallel_refused.yaml", problems,
                         sizeof problems));
    CHECK_CONTAINS(problems, "agent 'both': 'p' and 'q' may run at the same time and "
                             "both have output_key 'result'");
    for (int i = 0; i < 10; i++) {
        played p;
        const cadre_frame_info *frames = NULL;
        size_t n = 0;
        if (play(&p, "o17-parallel-same-key", "parallel_reduced.yaml", "x")) {
            CHECK_OK(p.status, &p.err);
            CHECK_TEXT(p.result->text, "## p\nP\n\n## q\nQ");
            CHECK_OK(cadre_run_frames(p.run, &frames, &n, &p.err), &p.err);
            CHECK_TEXT(frames[0].delta, "{\"result\":[\"P\",\"Q\"]}");
        }
        finish(&p);
    }
}

static void test_o23__what_leads_to_no_end_is_told_when_it_is_loaded(void)
{
    static const char *const cases[][2] = {
        {"g1.yaml", "g1.yaml:8:22: agents.g.graph.nodes.start: no way leads to the end "
                    "from: start, a, b\n"},
        {"g2.yaml", "g2.yaml:8:40: agents.g.graph.nodes.x: node 'x' is never reached "
                    "from the entry 'start'\n"},
        {"g3.yaml", "g3.yaml:8:24: agents.g.graph.nodes.b: node 'b' is never reached "
                    "from the entry 'a'\n"},
        {"g4.yaml", ""},
    };
    char problems[2000];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cadre_team *team =
            load("o23-no-way-to-the-end", cases[i][0], problems, sizeof problems);
        CHECK_TEXT(problems, cases[i][1]);
        cadre_team_free(team);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_o14__a_branch_not_taken_does_not_hold_the_join),
    CHECK_TEST(test_o16__what_a_route_gives_must_be_one_of_its_nodes),
    CHECK_TEST(test_o17__one_key_of_two_branches_needs_a_reducer),
    CHECK_TEST(test_o17__one_key_of_two_members_needs_a_reducer),
    CHECK_TEST(test_o23__what_leads_to_no_end_is_told_when_it_is_loaded),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (cadre_runtime_open(CADRE_RUNTIME(.offline = true), &runtime, NULL) != CADRE_OK)
        return 1;
    int status = check_main("cases/graph", tests);
    cadre_runtime_close(runtime);
    return status;
}
