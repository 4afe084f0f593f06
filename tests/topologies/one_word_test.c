// Three members and one script under every topology, by changing one word: `type` in
// the file, or --type of the program. tests/topologies/one_word is the team.
#include "support/case_files.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/program.h"
#include "support/recorded.h"
#include "support/team_case.h"

#include "cadre/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURE "tests/topologies/one_word"

typedef struct expected {
    const char *type;
    const char *agent, *answer;
    const char *said; // agents and their answers, in the order they ended
    int model_calls;
    const char *drawn; // a line of its drawing
} expected;

static const expected types[] = {
    {"handoff", "writer", "A text.", "writer A text.|lead |team A text.|", 2,
     "lead (llm), entry"},
    {"swarm", "writer", "A text.", "writer A text.|lead |team A text.|", 2,
     "lead (llm), entry"},
    {"coordinator", "lead", "The lead is done.",
     "writer A text.|lead The lead is done.|team The lead is done.|", 3,
     "lead (llm), entry"},
    {"chain", "critic", "Good all the same.",
     "lead The lead is done.|writer A text.|critic Good all the same.|team Good all "
     "the "
     "same.|",
     5, "critic (llm), end"},
    {"cycle", "critic", "Good.",
     "lead The lead is done.|writer A text.|critic Good.|team Good.|", 4,
     "critic (llm) ~> lead (next round, back)"},
    {"parallel", "team",
     "## lead\nThe lead is done.\n\n## writer\nA text.\n\n## critic\nGood all the "
     "same.",
     NULL, 5, "writer (llm), entry"},
};

enum {
    N_TYPES = sizeof types / sizeof types[0]
};

// --- From C ---

static void add_end(char *said, size_t size, const recorded_event *end)
{
    size_t len = strlen(said);
    const char *output = strchr(strchr(end->says, ' ') + 1, ' ') + 1;
    (void)snprintf(said + len, size - len, "%s %s|", end->agent, output);
}

// Runs what is loaded. What was recorded of it, to be compared; free() it.
static char *run(team_case *t, const expected *e)
{
    char said[600] = "";
    team_case_run(t, "Review it.");
    team_case_check_answer(t, e->agent, e->answer);
    if (t->result == NULL)
        return strdup("");
    CHECK_INT(t->result->usage.model_calls, e->model_calls);
    for (size_t i = 0; i < t->recorder.n_events; i++)
        if (t->recorder.events[i].type == CADRE_EVENT_FRAME_END)
            add_end(said, sizeof said, &t->recorder.events[i]);
    if (e->said != NULL)
        CHECK_TEXT(said, e->said);
    return recorded_text(t->runtime, t->result->trace_id);
}

// Loads a team file, as that type if it is not NULL, and runs it. free() it.
static char *run_file(const char *path, const char *type, const expected *e)
{
    team_case t;
    char *frames = NULL;
    memset(&t, 0, sizeof t);
    if (CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.offline = true), &t.runtime, &t.err),
                 &t.err) &&
        CHECK_OK(cadre_team_load_as(t.runtime, path, CADRE_LOAD(.type = type), &t.team,
                                    &t.err),
                 &t.err))
        frames = run(&t, e);
    team_case_close(&t);
    return frames;
}

// The same with another word in the file. free() it.
static char *run_edited(const expected *e)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    char text[1000];
    char *team = case_file_read(FIXTURE, "team.yaml", NULL);
    char *script = case_file_read(FIXTURE, "script.yaml", NULL);
    char *frames = NULL;
    const char *word = team == NULL ? NULL : strstr(team, "handoff");
    if (CHECK(word != NULL && script != NULL) && CHECK(folder_make(&folder))) {
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(word - team), team, e->type,
                       word + strlen("handoff"));
        if (folder_write(&folder, "script.yaml", script, path) &&
            folder_write(&folder, "team.yaml", text, path))
            frames = run_file(path, NULL, e);
        folder_remove(&folder);
    }
    free(team);
    free(script);
    return frames;
}

static void test_one_word__in_the_file_or_by_the_loader_gives_the_same_run(void)
{
    for (int i = 0; i < N_TYPES; i++) {
        char *edited = run_edited(&types[i]);
        char *loaded = run_file(FIXTURE "/team.yaml", types[i].type, &types[i]);
        CHECK_TEXT(edited, loaded);
        free(edited);
        free(loaded);
    }
}

// --- By the program ---

static bool run_program(const char *command, const char *const *more, const char *type,
                        program_result *ran)
{
    const char *words[10] = {command, "team.yaml", "--type", type};
    for (size_t i = 0; i + 4 < 9 && more[i] != NULL; i++)
        words[4 + i] = more[i];
    return PROGRAM_RUN(ran, .arguments = words, .directory = FIXTURE);
}

#define MORE(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_one_word__the_program_runs_it_under_each_type(void)
{
    for (int i = 0; i < N_TYPES; i++) {
        program_result ran;
        char answer[200];
        snprintf(answer, sizeof answer, "%s\n", types[i].answer);
        if (!run_program("run", MORE("Review it.", "--offline", "--store", "memory"),
                         types[i].type, &ran))
            continue;
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.out, answer);
        program_result_fini(&ran);
    }
}

static void test_one_word__the_program_finds_no_mistake_under_any(void)
{
    for (int i = 0; i < N_TYPES; i++) {
        program_result ran;
        char line[100];
        snprintf(line, sizeof line,
                 "ok: 4 agents, 1 of them over others, root team (%s)\n",
                 types[i].type);
        if (!run_program("check", MORE(NULL), types[i].type, &ran))
            continue;
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, line);
        program_result_fini(&ran);
    }
}

static void test_one_word__the_program_draws_it_under_each_type(void)
{
    for (int i = 0; i < N_TYPES; i++) {
        program_result ran;
        char head[40];
        snprintf(head, sizeof head, "team (%s)\n", types[i].type);
        if (!run_program("draw", MORE(NULL), types[i].type, &ran))
            continue;
        CHECK_INT(ran.exit_status, 0);
        CHECK(strncmp(ran.out, head, strlen(head)) == 0);
        CHECK_CONTAINS(ran.out, types[i].drawn);
        program_result_fini(&ran);
    }
}

// What it would take to be one is told, and so is what is no topology.
static void test_one_word__what_cannot_be_is_told(void)
{
    static const char *const refused[][2] = {
        {"graph", "a graph needs nodes (by --type graph)"},
        {"llm", "unknown type 'llm'"}};
    for (size_t i = 0; i < 2; i++) {
        program_result ran;
        if (!run_program("check", MORE(NULL), refused[i][0], &ran))
            continue;
        CHECK_INT(ran.exit_status, 2);
        CHECK_CONTAINS(ran.err, refused[i][1]);
        program_result_fini(&ran);
    }
}

static void test_one_word__all_of_them_side_by_side(void)
{
    program_result ran;
    if (!PROGRAM_RUN(&ran, .directory = FIXTURE,
                     .arguments = (const char *[]){
                         "compare", "team.yaml", "Review it.", "--types",
                         "handoff,swarm,coordinator,chain,cycle,parallel", "--offline",
                         "--store", "memory", "--json", "--quiet", NULL}))
        return;
    json_t *trials = json_loads(ran.out, 0, NULL);
    CHECK_INT(ran.exit_status, 0);
    CHECK_INT(json_array_size(trials), N_TYPES);
    for (size_t i = 0; i < N_TYPES && i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        CHECK_TEXT(json_string_value(json_object_get(trial, "type")), types[i].type);
        CHECK_TEXT(json_string_value(json_object_get(trial, "output")),
                   types[i].answer);
    }
    json_decref(trials);
    program_result_fini(&ran);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_one_word__in_the_file_or_by_the_loader_gives_the_same_run),
    CHECK_TEST(test_one_word__the_program_runs_it_under_each_type),
    CHECK_TEST(test_one_word__the_program_finds_no_mistake_under_any),
    CHECK_TEST(test_one_word__the_program_draws_it_under_each_type),
    CHECK_TEST(test_one_word__what_cannot_be_is_told),
    CHECK_TEST(test_one_word__all_of_them_side_by_side),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/one_word", tests);
}
