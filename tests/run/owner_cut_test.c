// A call of a tool owns the conversation of the child it calls: what becomes of both
// when their process ends at each place where it matters, with the final rows. The
// child is a copy of the caller: of a `subagent`, or of a C tool's own call.
#include "support/check.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "cadre/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// --- The team: main calls the tool `work`, whose child thinks ---

static const char script[] =
    "agents:\n"
    "  main:\n"
    "    - {tool_calls: [{name: work, arguments: {task: Think.}}]}\n"
    "    - {when: {equals: Think.}, text: Thought.}\n"
    "    - {text: Done.}\n";

#define ROWS_OF_CALL                                                                   \
    "message root 0 user >:  ok Go. by root\n"                                         \
    "message root 1 assistant main>:  ok  work({\"task\":\"Think.\"}) by root\n"

#define ROWS_OF_CHILD                                                                  \
    "message root/1/0/main#1 0 user main>main:  ok Think. by root/1/0/main#1\n"        \
    "message root/1/0/main#1 1 assistant main>:  ok Thought. by root/1/0/main#1\n"

#define OWNED "conversation root/1/0/main#1 owned by root/1/0 of root\n"

// What an undisturbed run leaves.
static const char whole[] =
    "conversation root\n" OWNED "frame root agent main completed final: Done.\n"
    "frame root/1 model openai/m completed final: \n"
    "frame root/1/0 tool work completed final: Thought.\n"
    "frame root/1/0/main#1 agent main completed final: Thought.\n"
    "frame root/1/0/main#1/1 model openai/m completed final: \n"
    "frame root/2 model openai/m completed final: \n" ROWS_OF_CALL
    "message root 2 tool main>: work ok Thought. by root\n"
    "message root 3 assistant main>:  ok Done. by root\n" ROWS_OF_CHILD;

// Where a tool of this test ends its process, in the first life alone.
typedef enum place {
    NOWHERE,
    BEFORE_CHILD,
    AFTER_CHILD,
    AFTER_RECORDED_CHILD // a step behind it has begun
} place;

static place dies_at;

static json_t *begin_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    atomic_fetch_add(&lives_count()->steps, 1);
    if (dies_at == AFTER_RECORDED_CHILD)
        mortal_store_die();
    return json_true();
}

static cadre_status work(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    cadre_outcome answer;
    (void)ctx;
    const char *task = json_string_value(json_object_get(arguments, "task"));
    atomic_fetch_add(&lives_count()->unsafe_ones, 1);
    if (dies_at == BEFORE_CHILD)
        mortal_store_die();
    cadre_status status = cadre_frame_call(
        frame, CADRE_CALL(.agent = cadre_frame_agent(frame), .input = task), &answer,
        err);
    if (dies_at == AFTER_CHILD)
        mortal_store_die();
    if (status == CADRE_OK && dies_at == AFTER_RECORDED_CHILD)
        status = cadre_frame_step(frame, CADRE_STEP(.name = "after", .run = begin_step),
                                  NULL, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, answer.text, err)
                              : status;
}

// Calls its child in the first life alone.
static cadre_status work_once(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    if (atomic_load(&lives_count()->safe) == 0) {
        atomic_fetch_add(&lives_count()->safe, 1);
        return work(ctx, frame, arguments, err);
    }
    return cadre_frame_set_output(frame, "Never mind.", err);
}

typedef struct tool_kind {
    const char *type;
    cadre_status (*run)(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err);
    bool is_safe;
} tool_kind;

static const tool_kind subagent = {.type = "subagent", .is_safe = true};
static const tool_kind safe_call = {.run = work, .is_safe = true};
static const tool_kind unsafe_call = {.run = work};
static const tool_kind fickle_call = {.run = work_once, .is_safe = true};

static const tool_kind *kind;
static const char *description; // of the agent
static bool has_more;           // a second tool

static cadre_team *make_team(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    const cadre_names one = CADRE_NAMES("work");
    const cadre_names two = CADRE_NAMES("work", "more");
    cadre_team *team = cadre_team_new(runtime, "owners");
    cadre_team_set_script(team, path);
    cadre_team_add_llm(team, CADRE_LLM(.name = "main", .model = "openai/m",
                                       .instructions = description,
                                       .tools = has_more ? two : one));
    cadre_team_add_tool(
        team,
        CADRE_TOOL(.name = "work", .type = kind->type, .run = kind->run,
                   .replay_safe = kind->run != NULL && kind->is_safe,
                   .parameters = kind->run == NULL ? NULL : "{\"type\":\"object\"}"));
    if (has_more)
        cadre_team_add_tool(team, CADRE_TOOL(.name = "more", .run = work));
    cadre_team_set_root(team, "main");
    return team;
}

static bool open_lives(lives *l, const char *type, const tool_kind *wanted)
{
    kind = wanted;
    dies_at = NOWHERE;
    description = "Work.";
    has_more = false;
    return lives_open(l, type, make_team);
}

static const cadre_run_config go = {.struct_size = sizeof go, .input = "Go."};
static const store_cut uncut = {.at = 0};

static void check_rows(lives *l, const char *expected)
{
    char *got = lives_recorded(l);
    CHECK_TEXT(got, expected);
    free(got);
}

static void check_whole(lives *l, int n_requests)
{
    CHECK_OK(l->status, &l->err);
    CHECK_TEXT(l->answer, "Done.");
    check_rows(l, whole);
    CHECK_INT(atomic_load(&lives_count()->requests), n_requests);
}

// --- In the child's request ---

static void check_retry(const char *type)
{
    const tool_kind *const kinds[] = {&subagent, &safe_call};
    for (size_t i = 0; i < 2; i++) {
        lives l;
        if (!open_lives(&l, type, kinds[i]))
            return;
        l.dies_in_request = 2;
        lives_start(&l, &go, uncut);
        CHECK(l.was_cut);
        CHECK(lives_resume(&l, uncut));
        check_whole(&l, 4); // that of the child was made twice
        lives_close(&l);
    }
}

static void test_owner__a_child_cut_in_its_request_goes_on(void)
{
    lives_each_store(check_retry);
}

#define NOT_AGAIN                                                                      \
    "agent 'main': model 'openai/m': the run was cut 4 times during this call; it is " \
    "not made again"

static const char used_up[] =
    "conversation root\n" OWNED "frame root agent main completed final: Done.\n"
    "frame root/1 model openai/m completed final: \n"
    "frame root/1/0 tool work failed error: " NOT_AGAIN "tool_error: " NOT_AGAIN "\n"
    "frame root/1/0/main#1 agent main failed interrupted: " NOT_AGAIN "\n"
    "frame root/1/0/main#1/1 model openai/m failed interrupted: " NOT_AGAIN "\n"
    "frame root/2 model openai/m completed final: \n" ROWS_OF_CALL
    "message root 2 tool main>: work tool_error " NOT_AGAIN " by root\n"
    "message root 3 assistant main>:  ok Done. by root\n"
    "message root/1/0/main#1 0 user main>main:  ok Think. by root/1/0/main#1\n";

// The child's request is the last thing done in each life: the run ends all the same.
static void check_used_up(const char *type)
{
    lives l;
    int n_lives = 1;
    if (!open_lives(&l, type, &subagent))
        return;
    l.dies_in_request = 2;
    lives_start(&l, &go, uncut);
    while (l.was_cut && n_lives < 10) {
        l.dies_in_request = 1;
        if (n_lives++ >= 4) // what is left is the answer of main
            l.dies_in_request = 0;
        CHECK(lives_resume(&l, uncut));
    }
    CHECK_OK(l.status, &l.err);
    CHECK_INT(n_lives, 5);
    CHECK_INT(atomic_load(&lives_count()->requests), 1 + 4 + 1);
    check_rows(&l, used_up);
    lives_close(&l);
}

static void test_owner__a_child_is_not_cut_for_ever(void)
{
    lives_each_store(check_used_up);
}

static const char interrupted_with_child[] =
    "conversation root\n" OWNED "frame root agent main completed final: Done.\n"
    "frame root/1 model openai/m completed final: \n"
    "frame root/1/0 tool work failed interrupted: Interrupted: this call may or may "
    "not "
    "have run.interrupted: Interrupted: this call may or may not have run.\n"
    "frame root/1/0/main#1 agent main aborted aborted:  marked owner\n"
    "frame root/1/0/main#1/1 model openai/m aborted aborted:  marked owner\n"
    "frame root/2 model openai/m completed final: \n" ROWS_OF_CALL
    "message root 2 tool main>: work interrupted Interrupted: this call may or may not "
    "have run. by root\n"
    "message root 3 assistant main>:  ok Done. by root\n"
    "message root/1/0/main#1 0 user main>main:  ok Think. by root/1/0/main#1\n";

static void check_unsafe(const char *type)
{
    lives l;
    if (!open_lives(&l, type, &unsafe_call))
        return;
    l.dies_in_request = 2;
    lives_start(&l, &go, uncut);
    CHECK(lives_resume(&l, uncut));
    CHECK_OK(l.status, &l.err);
    CHECK_INT(atomic_load(&lives_count()->requests), 3);
    CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 1);
    check_rows(&l, interrupted_with_child);
    lives_close(&l);
}

static void test_owner__a_child_of_an_unsafe_call_ends_with_it(void)
{
    lives_each_store(check_unsafe);
}

// --- Before it, between, and after it ---

static void check_before_intent(const char *type)
{
    lives l;
    if (!open_lives(&l, type, &unsafe_call))
        return;
    lives_start(&l, &go, (store_cut){.at = 2}); // answer and intent
    CHECK(l.was_cut);
    CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 0);
    CHECK(lives_resume(&l, uncut));
    CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 1);
    check_whole(&l, 4); // the first was heard of by nobody
    lives_close(&l);
}

static void test_owner__a_call_cut_before_its_intent_is_made(void)
{
    lives_each_store(check_before_intent);
}

static const char interrupted_alone[] =
    "conversation root\n"
    "frame root agent main completed final: Done.\n"
    "frame root/1 model openai/m completed final: \n"
    "frame root/1/0 tool work failed interrupted: Interrupted: this call may or may "
    "not "
    "have run.interrupted: Interrupted: this call may or may not have run.\n"
    "frame root/2 model openai/m completed final: \n" ROWS_OF_CALL
    "message root 2 tool main>: work interrupted Interrupted: this call may or may not "
    "have run. by root\n"
    "message root 3 assistant main>:  ok Done. by root\n";

static void check_before_child(const char *type)
{
    const tool_kind *const kinds[] = {&unsafe_call, &safe_call};
    for (size_t i = 0; i < 2; i++) {
        lives l;
        if (!open_lives(&l, type, kinds[i]))
            return;
        dies_at = BEFORE_CHILD;
        l.dies = true;
        lives_start(&l, &go, uncut);
        CHECK(l.was_cut);
        dies_at = NOWHERE;
        CHECK(lives_resume(&l, uncut));
        CHECK_INT(atomic_load(&lives_count()->unsafe_ones), kinds[i]->is_safe ? 2 : 1);
        if (kinds[i]->is_safe)
            check_whole(&l, 3);
        else
            check_rows(&l, interrupted_alone);
        lives_close(&l);
    }
}

static void test_owner__a_call_cut_between_intent_and_child_has_none(void)
{
    lives_each_store(check_before_child);
}

// What the child said is recorded at the latest when something is done after it.
static void check_after_child(const char *type)
{
    lives l;
    if (!open_lives(&l, type, &safe_call))
        return;
    dies_at = AFTER_RECORDED_CHILD;
    l.dies = true;
    lives_start(&l, &go, uncut);
    CHECK(l.was_cut);
    CHECK_INT(atomic_load(&lives_count()->requests), 2);
    dies_at = NOWHERE;
    CHECK(lives_resume(&l, uncut));
    CHECK_OK(l.status, &l.err);
    CHECK_INT(atomic_load(&lives_count()->requests), 3);
    char *got = lives_recorded(&l);
    CHECK_INT(recorded_count(got, "message", " ok Thought. "), 2);
    CHECK_INT(recorded_count(got, "conversation ", ""), 2);
    CHECK_INT(recorded_count(got, "frame", " model openai/m completed final"), 3);
    free(got);
    lives_close(&l);
}

static void test_owner__a_child_that_answered_is_not_asked_again(void)
{
    lives_each_store(check_after_child);
}

// Without anything in between, its answer and the tool's result are one commit.
static void check_at_result(const char *type)
{
    lives l;
    if (!open_lives(&l, type, &safe_call))
        return;
    dies_at = AFTER_CHILD;
    l.dies = true;
    lives_start(&l, &go, uncut);
    CHECK(l.was_cut);
    dies_at = NOWHERE;
    CHECK(lives_resume(&l, uncut));
    int n_requests = atomic_load(&lives_count()->requests);
    CHECK(n_requests == 3 || n_requests == 4);
    check_whole(&l, n_requests);
    lives_close(&l);
}

static void test_owner__a_child_is_asked_once_more_at_most(void)
{
    lives_each_store(check_at_result);
}

// The call is made again, and does without its child: that one ends with it.
static void check_fickle(const char *type)
{
    lives l;
    if (!open_lives(&l, type, &fickle_call))
        return;
    l.dies_in_request = 2;
    lives_start(&l, &go, uncut);
    CHECK(lives_resume(&l, uncut));
    CHECK_OK(l.status, &l.err);
    char *got = lives_recorded(&l);
    CHECK_INT(recorded_count(
                  got, "frame root/1/0 tool work completed final: Never mind.", ""),
              1);
    CHECK_INT(recorded_count(got, "frame root/1/0/main#1 agent main aborted", ""), 1);
    CHECK_INT(recorded_count(got, "frame root/1/0/main#1/1 model openai/m aborted", ""),
              1);
    CHECK_INT(recorded_count(got, "frame", " running "), 0);
    CHECK_INT(recorded_count(got, "main#1 owned by root/1/0 of root", ""), 1);
    CHECK_INT(atomic_load(&lives_count()->requests), 3);
    free(got);
    lives_close(&l);
}

static void test_owner__a_child_that_nobody_calls_again_ends(void)
{
    lives_each_store(check_fickle);
}

// --- Marks ---

typedef struct marking {
    const char *url;
    bool dies;
} marking;

// Marks the run after its third commit, which reserves the child's request.
static void mark_third(void *ctx, const cadre_commit *commit, int n)
{
    const marking *it = ctx;
    char trace[CADRE_ID_TEXT_SIZE];
    cadre_runtime *marker = NULL; // another one on the same file
    cadre_error err = CADRE_ERROR_INIT;
    if (n != 3)
        return;
    cadre_id_text(commit->trace, trace);
    if (!CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = it->url), &marker, &err),
                  &err))
        return;
    CHECK_OK(cadre_trace_abort(marker, trace, CADRE_ABORT(.reason = "enough"), &err),
             &err);
    cadre_runtime_close(marker);
    if (it->dies)
        mortal_store_die();
}

static void check_aborted(lives *l)
{
    char *got = lives_recorded(l);
    CHECK_INT(recorded_count(got, "conversation ", "owned by root/1/0 of root"), 1);
    CHECK_INT(recorded_count(got, "frame ", NULL), 5);
    CHECK_INT(recorded_count(got, "frame root/1 model openai/m completed", NULL), 1);
    CHECK_INT(recorded_count(got, " aborted aborted: ", " marked request: enough"), 4);
    CHECK_INT(recorded_count(got, "frame root agent main ", "aborted: enough"), 1);
    free(got);
    CHECK(!lives_resume(l, uncut));
    CHECK_CONTAINS(l->err.text, "has ended (aborted)");
}

static void test_owner__a_run_cut_right_after_the_mark_only_ends(void)
{
    for (int by_abort = 0; by_abort < 2; by_abort++) {
        lives l;
        if (!open_lives(&l, "sqlite", &subagent))
            return;
        marking it = {l.url, true};
        l.dies = true;
        lives_start(&l, &go, (store_cut){.on_commit = mark_third, .ctx = &it});
        CHECK(l.was_cut);
        int n_requests = atomic_load(&lives_count()->requests);
        if (by_abort) {
            CHECK_OK(cadre_trace_abort(lives_runtime(&l), l.trace, NULL, NULL), NULL);
        } else {
            CHECK(lives_resume(&l, uncut));
            CHECK_STATUS(l.status, CADRE_EABORTED, &l.err);
        }
        check_aborted(&l);
        CHECK_INT(atomic_load(&lives_count()->requests), n_requests);
        lives_close(&l);
    }
}

static void test_owner__a_run_cut_while_it_ends_only_ends(void)
{
    for (int after = 0; after < 2; after++) {
        lives l;
        if (!open_lives(&l, "sqlite", &subagent))
            return;
        marking it = {l.url, false};
        lives_start(
            &l, &go,
            (store_cut){
                .at = 4, .is_after = after != 0, .on_commit = mark_third, .ctx = &it});
        CHECK(l.was_cut);
        if (lives_resume(&l, uncut))
            CHECK_STATUS(l.status, CADRE_EABORTED, &l.err);
        char *got = lives_recorded(&l);
        CHECK_INT(recorded_count(got, "frame root agent main aborted", ""), 1);
        CHECK_INT(recorded_count(got, "frame ", " running "), 0);
        CHECK_INT(recorded_count(got, "conversation ", "owned by root/1/0 of root"), 1);
        free(got);
        CHECK(!lives_resume(&l, uncut));
        CHECK_CONTAINS(l.err.text, "has ended (aborted)");
        lives_close(&l);
    }
}

// --- Another team ---

static void check_other_texts(const char *type)
{
    lives l;
    if (!open_lives(&l, type, &subagent))
        return;
    l.dies_in_request = 2;
    lives_start(&l, &go, uncut);
    description = "Work, and be kind.";
    lives_runtime(&l);
    cadre_team_free(l.team); // that of a store of memory is made anew
    l.team = make_team(l.runtime, &l.folder);
    CHECK(lives_resume(&l, uncut));
    CHECK_OK(l.status, &l.err);
    check_rows(&l, whole);
    lives_close(&l);
}

static void test_owner__a_child_goes_on_with_other_texts(void)
{
    lives_each_store(check_other_texts);
}

static void check_other_shape(const char *type)
{
    lives l;
    cadre_run *run = NULL;
    if (!open_lives(&l, type, &subagent))
        return;
    l.dies_in_request = 2;
    lives_start(&l, &go, uncut);
    char *before = lives_recorded(&l);
    has_more = true;
    lives_runtime(&l);
    cadre_team_free(l.team);
    l.team = make_team(l.runtime, &l.folder);
    CHECK(lives_resume(&l, uncut));
    CHECK_STATUS(l.status, CADRE_ECONFIG, &l.err);
    CHECK_CONTAINS(l.err.text, "agent 'main' has other members, tools, handoffs, "
                               "fallback or output_key");
    check_rows(&l, before); // untouched
    cadre_error_clear(&l.err);
    CHECK_OK(cadre_run_resume(l.team, l.trace, CADRE_RUN(.accept_changes = true), &run,
                              &l.err),
             &l.err);
    CHECK_OK(cadre_run_wait(run, NULL, &l.err), &l.err);
    cadre_run_free(run);
    check_rows(&l, whole);
    free(before);
    lives_close(&l);
}

static void test_owner__a_child_does_not_go_on_in_another_shape(void)
{
    lives_each_store(check_other_shape);
}

// --- Two processes on one file ---

enum {
    N_PROCESSES = 2,
    N_RUNS = 12
};

static void run_many(lives *l)
{
    lives_runtime(l);
    for (int i = 0; i < N_RUNS; i++) {
        cadre_run *run = NULL;
        CHECK_OK(cadre_run_start(l->team, &go, &run, &l->err), &l->err);
        CHECK_OK(cadre_run_wait(run, NULL, &l->err), &l->err);
        cadre_run_free(run);
    }
    cadre_team_free(l->team);
    cadre_runtime_close(l->runtime);
}

static cadre_status check_run(void *ctx, const cadre_record_info *info,
                              cadre_error *err)
{
    (void)err;
    lives *l = ctx;
    snprintf(l->trace, sizeof l->trace, "%s", info->trace_id);
    l->n_commits++;
    check_rows(l, whole);
    return CADRE_OK;
}

static void test_owner__of_two_processes_on_one_file_have_their_own(void)
{
    lives l;
    pid_t children[N_PROCESSES];
    if (!open_lives(&l, "sqlite", &subagent))
        return;
    unsigned n_failures = CU_get_number_of_failures();
    fflush(NULL);
    for (int i = 0; i < N_PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            run_many(&l);
            _exit(CU_get_number_of_failures() > n_failures);
        }
    }
    for (int i = 0; i < N_PROCESSES; i++) {
        int status = 0;
        CHECK_INT(waitpid(children[i], &status, 0), children[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    l.n_commits = 0;
    CHECK_OK(cadre_record_list(lives_runtime(&l), 0, check_run, &l, NULL), NULL);
    CHECK_INT(l.n_commits, N_PROCESSES * N_RUNS);
    CHECK_INT(atomic_load(&lives_count()->requests), N_PROCESSES * N_RUNS * 3);
    lives_close(&l);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_owner__a_child_cut_in_its_request_goes_on),
    CHECK_TEST(test_owner__a_child_is_not_cut_for_ever),
    CHECK_TEST(test_owner__a_child_of_an_unsafe_call_ends_with_it),
    CHECK_TEST(test_owner__a_call_cut_before_its_intent_is_made),
    CHECK_TEST(test_owner__a_call_cut_between_intent_and_child_has_none),
    CHECK_TEST(test_owner__a_child_that_answered_is_not_asked_again),
    CHECK_TEST(test_owner__a_child_is_asked_once_more_at_most),
    CHECK_TEST(test_owner__a_child_that_nobody_calls_again_ends),
    CHECK_TEST(test_owner__a_run_cut_right_after_the_mark_only_ends),
    CHECK_TEST(test_owner__a_run_cut_while_it_ends_only_ends),
    CHECK_TEST(test_owner__a_child_goes_on_with_other_texts),
    CHECK_TEST(test_owner__a_child_does_not_go_on_in_another_shape),
    CHECK_TEST(test_owner__of_two_processes_on_one_file_have_their_own),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/owner_cut", tests);
}
