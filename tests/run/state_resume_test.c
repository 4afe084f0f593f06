// The state of a run that was cut: whatever was recorded by then, it ends with the same
// deltas as undisturbed, on each registered store. And code that sets state is entered
// again without a difference.
#include "support/check.h"
#include "support/lives.h"
#include "support/recorded.h"
#include "support/state_case.h"

#include "cadre/ext/scope.h"
#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- A team that sets state wherever it can be set ---

static cadre_status put(cadre_frame *frame, const char *key, json_t *value,
                        cadre_error *err)
{
    cadre_status status = cadre_frame_set_state(frame, key, value, err);
    json_decref(value);
    return status;
}

static cadre_status note_tool(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    const json_t *text = json_object_get(arguments, "text");
    (void)ctx;
    cadre_status status = cadre_frame_set_state(frame, "notes", text, err);
    if (status == CADRE_OK)
        status = cadre_frame_set_state(frame, "last", text, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, state_seen(frame), err)
                              : status;
}

static json_t *note_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return put(frame, "notes", json_string("step"), err) == CADRE_OK ? json_true()
                                                                     : NULL;
}

// Hands over by its code, with a delta that only it knows of.
static cadre_status clerk(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = put(frame, "notes", json_string("clerk"), err);
    if (status == CADRE_OK)
        status = put(frame, "total", json_integer(5), err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "tech"), .input = "yours"),
        err);
}

static cadre_status opener(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = put(frame, "notes", json_string("opener"), err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "closer")), err);
}

static cadre_status closer(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = put(frame, "notes", json_string("closer"), err);
    return status == CADRE_OK ? put(frame, "total", json_integer(2), err) : status;
}

// A chain that has ended while its caller goes on, which is recorded.
static cadre_status delegate_chain(cadre_frame *frame, const char *key,
                                   cadre_error *err)
{
    const cadre_agent *const both[] = {cadre_frame_find(frame, "opener"),
                                       cadre_frame_find(frame, "closer")};
    const cadre_scope scope = CADRE_SCOPE(.roster = {both, 2});
    cadre_status status = cadre_frame_delegate(
        frame, CADRE_CALL(.agent = both[0], .scope = &scope, .key = key), NULL, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_step(frame, CADRE_STEP(.name = "after", .run = note_step), NULL,
                            err);
}

static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    (void)ctx;
    const cadre_call *const calls[] = {
        CADRE_CALL(.agent = members.items[0], .input = "first"),
        CADRE_CALL(.agent = members.items[1], .input = "second")};
    cadre_status status = put(frame, "notes", json_string("lead"), err);
    if (status == CADRE_OK)
        status = cadre_frame_batch(
            frame, CADRE_BATCH(.wait = CADRE_ALL, .calls = calls, .n_calls = 2), NULL,
            err);
    if (status == CADRE_OK)
        status = cadre_frame_step(frame, CADRE_STEP(.name = "note", .run = note_step),
                                  NULL, err);
    if (status == CADRE_OK)
        status = cadre_frame_delegate(
            frame, CADRE_CALL(.agent = members.items[2], .input = "Go."), NULL, err);
    if (status == CADRE_OK)
        status = delegate_chain(frame, NULL, err);
    for (int i = 0; i < 2 && status == CADRE_OK; i++)
        status = delegate_chain(frame, "named", err); // answers from its record
    return status == CADRE_OK ? cadre_frame_set_output(frame, state_seen(frame), err)
                              : status;
}

static const char script[] =
    "strict: true\n"
    "agents:\n"
    "  left:\n"
    "    - {tool_calls: [{name: note, arguments: {text: l1}}, {name: note, arguments: "
    "{text: l2}}]}\n"
    "    - {text: L}\n"
    "  right: [{text: \"{\\\"r\\\": 1}\"}]\n"
    "  triage:\n"
    "    - {tool_calls: [{name: note, arguments: {text: t1}}]}\n"
    "    - {tool_calls: [{name: note, arguments: {text: t2}}], handoffs: [{to: clerk, "
    "message: help}]}\n"
    "  tech: [{tool_calls: [{name: note, arguments: {text: e1}}]}, {text: Solved.}]\n";

#define PARAMETERS                                                                     \
    "{\"type\":\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":" \
    "\"string\"}}}"

static cadre_team *make_team(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "office");
    cadre_team_set_script(team, path);
    cadre_team_add_state(
        team, CADRE_STATE_KEY(.key = "notes", .reducer = CADRE_REDUCE_APPEND));
    cadre_team_add_state(
        team, CADRE_STATE_KEY(.key = "facts", .reducer = CADRE_REDUCE_MERGE));
    cadre_team_add_state(team,
                         CADRE_STATE_KEY(.key = "total", .reducer = CADRE_REDUCE_SUM));
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "openai/m"));
    cadre_team_add_function(
        team, CADRE_FUNCTION(.name = "lead", .run = lead,
                             .members = CADRE_NAMES("left", "right", "desk", "opener",
                                                    "closer")));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "opener", .run = opener));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "closer", .run = closer));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "left", .model = "m", .tools = CADRE_NAMES("note")));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "right", .model = "m", .output_key = "facts"));
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .output_key = "answer",
                       .members = CADRE_NAMES("triage", "clerk", "tech")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "triage", .model = "m",
                                       .tools = CADRE_NAMES("note"),
                                       .handoffs = CADRE_NAMES("clerk")));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "clerk", .run = clerk,
                                                 .handoffs = CADRE_NAMES("tech")));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "tech", .model = "m", .tools = CADRE_NAMES("note"),
                        .output_key = "solution", .handoffs = CADRE_NAMES("triage")));
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "note", .run = note_tool,
                                   .replay_safe = true, .parameters = PARAMETERS));
    cadre_team_set_root(team, "lead");
    return team;
}

#define CHAIN "\"opener\",\"closer\",\"step\""
#define ANSWER                                                                         \
    "{\"answer\":\"Solved.\",\"facts\":{\"r\":1},\"last\":\"e1\",\"notes\":[\"lead\"," \
    "\"l1\",\"l2\",\"step\",\"t1\",\"t2\",\"clerk\",\"e1\"," CHAIN "," CHAIN "," CHAIN \
    "],\"solution\":\"Solved.\",\"total\":11}"

// --- The matrix ---

// Results of tools that run at the same time come in any order.
static char *unplaced_take(char *recorded)
{
    char *unplaced = recorded_unplaced(recorded);
    free(recorded);
    return unplaced;
}

// What is cut, and what it must leave.
typedef struct matrix {
    lives_team make;
    const char *type;
    const char *const *lines; // of the record; NULL at the end
} matrix;

static char *undisturbed(const matrix *m, int *n_commits)
{
    lives l;
    if (!lives_open(&l, m->type, m->make))
        return NULL;
    lives_start(&l, CADRE_RUN(.input = "Go."), (store_cut){0});
    CHECK_OK(l.status, &l.err);
    *n_commits = l.n_commits;
    char *recorded = lives_recorded(&l);
    for (size_t i = 0; m->lines[i] != NULL; i++)
        CHECK_CONTAINS(recorded, m->lines[i]);
    lives_close(&l);
    return unplaced_take(recorded);
}

// False: the second cut was beyond the end.
static bool check_cut(const matrix *m, const char *recorded, store_cut cut, int again)
{
    lives l;
    if (!lives_open(&l, m->type, m->make))
        return false;
    lives_start(&l, CADRE_RUN(.input = "Go."), cut);
    cut.at = again;
    bool goes_on = lives_resume(&l, cut);
    bool is_cut_again = goes_on && l.was_cut;
    if (is_cut_again)
        goes_on = lives_resume(&l, (store_cut){0});
    if (goes_on)
        CHECK_OK(l.status, &l.err);
    char *got = l.trace[0] == '\0' ? NULL : unplaced_take(lives_recorded(&l));
    if (got != NULL && strcmp(got, "") != 0)
        CHECK_TEXT(got, recorded);
    free(got);
    lives_close(&l);
    return is_cut_again;
}

static void check_matrix(const matrix *m)
{
    int n_commits = 0;
    char *recorded = undisturbed(m, &n_commits);
    if (!CHECK(recorded != NULL) || !CHECK(n_commits > 2))
        return;
    for (int n = 1; n <= n_commits; n++)
        for (int after = 0; after < 2; after++) {
            const store_cut cut = {.at = n, .is_after = after != 0};
            check_cut(m, recorded, cut, 0);
            int again = 1;
            while (n % (2 * LIVES_STEP) == 0 && again <= LIVES_MAX_AGAIN &&
                   check_cut(m, recorded, cut, again))
                again += 2;
        }
    free(recorded);
}

static void check_office(const char *type)
{
    // Of a chain each row has its own.
    static const char *const lines[] = {
        ANSWER,
        "frame root/desk#1/triage#1 agent triage completed final:  delta "
        "{\"notes\":[\"t1\",\"t2\"],\"last\":\"t2\"}\n",
        "/transfer agent clerk completed final:  delta "
        "{\"notes\":[\"clerk\"],\"total\":5}\n",
        NULL};
    check_matrix(&(matrix){make_team, type, lines});
}

static void test_state_resume__ends_with_the_same_deltas(void)
{
    lives_each_store(check_office);
}

// --- A chain that goes back to who began it ---

// Hands over first; called back, it answers.
static cadre_status ask_back(void *ctx, cadre_frame *frame, cadre_error *err)
{
    size_t n = json_array_size(json_object_get(cadre_frame_state(frame), "notes"));
    (void)ctx;
    cadre_status status = put(frame, "notes", json_integer((json_int_t)n), err);
    if (status == CADRE_OK && n == 0)
        return cadre_frame_transfer(
            frame, CADRE_CALL(.agent = cadre_frame_find(frame, "back")), err);
    if (status == CADRE_OK)
        status = cadre_frame_step(frame, CADRE_STEP(.name = "it", .run = note_step),
                                  NULL, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "front", err) : status;
}

static cadre_status answer_back(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status =
        cadre_frame_step(frame, CADRE_STEP(.name = "it", .run = note_step), NULL, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "back", err) : status;
}

static cadre_team *make_return(cadre_runtime *runtime, const test_folder *folder)
{
    (void)folder;
    cadre_team *team = cadre_team_new(runtime, "return");
    cadre_team_add_state(
        team, CADRE_STATE_KEY(.key = "notes", .reducer = CADRE_REDUCE_APPEND));
    cadre_team_add_topology(team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .options = "{\"return_to_source\": true}",
                                           .members = CADRE_NAMES("front", "back")));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "front", .run = ask_back,
                                                 .output_key = "front",
                                                 .handoffs = CADRE_NAMES("back")));
    cadre_team_add_function(
        team, CADRE_FUNCTION(.name = "back", .run = answer_back, .output_key = "back"));
    return team;
}

static void check_return(const char *type)
{
    static const char *const lines[] = {
        "frame root agent desk completed final: front delta {\"notes\":[0,\"step\",2,"
        "\"step\"],\"back\":\"back\",\"front\":\"front\"}\n",
        "agent back completed final:  delta {\"notes\":[\"step\"],\"back\":\"back\"}\n",
        NULL};
    check_matrix(&(matrix){make_return, type, lines});
}

static void test_state_resume__who_is_called_back_sees_what_was_set(void)
{
    lives_each_store(check_return);
}

// --- Entering again ---

static void count_difference(void *ctx, const cadre_difference *d)
{
    fprintf(stderr, "commit %d: %s %s %s: %s / %s\n", d->commit, d->path, d->key,
            d->field, d->first == NULL ? "(none)" : d->first,
            d->again == NULL ? "(none)" : d->again);
    ++*(int *)ctx;
}

static void test_state_resume__pure_code_sets_the_same_again(void)
{
    test_folder folder;
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_reenter_result result = {.n_frames = 0};
    int n_told = 0;
    if (!CHECK(folder_make(&folder)) ||
        !CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.offline = true), &runtime, &err),
                  &err))
        return;
    cadre_team *team = make_team(runtime, &folder);
    const cadre_run_config run = {.struct_size = sizeof run, .input = "Go."};
    CHECK_OK(
        cadre_reenter(team,
                      CADRE_REENTER(.run = &run, .every_commit = true,
                                    .on_difference = count_difference, .ctx = &n_told),
                      &result, &err),
        &err);
    CHECK_INT(n_told, 0);
    CHECK_INT(result.status, CADRE_FRAME_COMPLETED);
    CHECK(result.n_commits > 3);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    folder_remove(&folder);
}

static int n_lives;

static cadre_status set_another_each_time(void *ctx, cadre_frame *frame,
                                          cadre_error *err)
{
    (void)ctx;
    return put(frame, "n", json_integer(++n_lives), err);
}

static void note_field(void *ctx, const cadre_difference *d)
{
    snprintf(ctx, 128, "%s: %s / %s", d->field, d->first, d->again);
}

static void test_state_resume__impure_state_is_found(void)
{
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_reenter_result result = {.n_frames = 0};
    char told[128] = "";
    n_lives = 0;
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_function(team,
                            CADRE_FUNCTION(.name = "it", .run = set_another_each_time));
    CHECK_OK(cadre_reenter(team,
                           CADRE_REENTER(.on_difference = note_field, .ctx = told),
                           &result, &err),
             &err);
    CHECK_TEXT(told, "delta: {\"n\":1} / {\"n\":2}");
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_state_resume__ends_with_the_same_deltas),
    CHECK_TEST(test_state_resume__who_is_called_back_sees_what_was_set),
    CHECK_TEST(test_state_resume__pure_code_sets_the_same_again),
    CHECK_TEST(test_state_resume__impure_state_is_found),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/state_resume", tests);
}
