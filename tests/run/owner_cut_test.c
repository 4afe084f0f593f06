// What becomes of a call of a tool and of the child it owns when their process ends at
// each place where it matters, with the final rows. The child is a copy of the caller:
// of a `subagent`, or of a C tool's own call.
#include "support/check.h"
#include "support/owned_case.h"

#include <stdlib.h>

// --- The team: main calls the tool `work`, whose child thinks ---

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

static const owned_tool safe_call = {.run = work, .is_safe = true};
static const owned_tool unsafe_call = {.run = work};
static const owned_tool fickle_call = {.run = work_once, .is_safe = true};

static const cadre_run_config go = {.struct_size = sizeof go, .input = "Go."};
static const store_cut uncut = {.at = 0};

static void check_whole(lives *l, int n_requests)
{
    CHECK_OK(l->status, &l->err);
    CHECK_TEXT(l->answer, "Done.");
    owned_case_check(l, owned_rows);
    CHECK_INT(atomic_load(&lives_count()->requests), n_requests);
}

// --- In the child's request ---

static void check_retry(const char *type)
{
    const owned_tool *const kinds[] = {&owned_subagent, &safe_call};
    for (size_t i = 0; i < 2; i++) {
        lives l;
        if (!owned_case_open(&l, type, kinds[i]))
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
    "conversation root\n" OWNED_CONVERSATION
    "frame root agent main completed final: Done.\n"
    "frame root/1 model openai/m completed final: \n"
    "frame root/1/0 tool work failed error: " NOT_AGAIN "tool_error: " NOT_AGAIN "\n"
    "frame root/1/0/main#1 agent main failed interrupted: " NOT_AGAIN "\n"
    "frame root/1/0/main#1/1 model openai/m failed interrupted: " NOT_AGAIN "\n"
    "frame root/2 model openai/m completed final: \n" OWNED_ROWS_OF_CALL
    "message root 2 tool main>: work tool_error " NOT_AGAIN " by root\n"
    "message root 3 assistant main>:  ok Done. by root\n"
    "message root/1/0/main#1 0 user main>main:  ok Think. by root/1/0/main#1\n";

// The child's request is the last thing done in each life: the run ends all the same.
static void check_used_up(const char *type)
{
    lives l;
    int n_lives = 1;
    if (!owned_case_open(&l, type, &owned_subagent))
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
    owned_case_check(&l, used_up);
    lives_close(&l);
}

static void test_owner__a_child_is_not_cut_for_ever(void)
{
    lives_each_store(check_used_up);
}

static const char interrupted_with_child[] =
    "conversation root\n" OWNED_CONVERSATION
    "frame root agent main completed final: Done.\n"
    "frame root/1 model openai/m completed final: \n"
    "frame root/1/0 tool work failed interrupted: Interrupted: this call may or may "
    "not "
    "have run.interrupted: Interrupted: this call may or may not have run.\n"
    "frame root/1/0/main#1 agent main aborted aborted:  marked owner\n"
    "frame root/1/0/main#1/1 model openai/m aborted aborted:  marked owner\n"
    "frame root/2 model openai/m completed final: \n" OWNED_ROWS_OF_CALL
    "message root 2 tool main>: work interrupted Interrupted: this call may or may not "
    "have run. by root\n"
    "message root 3 assistant main>:  ok Done. by root\n"
    "message root/1/0/main#1 0 user main>main:  ok Think. by root/1/0/main#1\n";

static void check_unsafe(const char *type)
{
    lives l;
    if (!owned_case_open(&l, type, &unsafe_call))
        return;
    l.dies_in_request = 2;
    lives_start(&l, &go, uncut);
    CHECK(lives_resume(&l, uncut));
    CHECK_OK(l.status, &l.err);
    CHECK_INT(atomic_load(&lives_count()->requests), 3);
    CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 1);
    owned_case_check(&l, interrupted_with_child);
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
    if (!owned_case_open(&l, type, &unsafe_call))
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
    "frame root/2 model openai/m completed final: \n" OWNED_ROWS_OF_CALL
    "message root 2 tool main>: work interrupted Interrupted: this call may or may not "
    "have run. by root\n"
    "message root 3 assistant main>:  ok Done. by root\n";

static void check_before_child(const char *type)
{
    const owned_tool *const kinds[] = {&unsafe_call, &safe_call};
    for (size_t i = 0; i < 2; i++) {
        lives l;
        if (!owned_case_open(&l, type, kinds[i]))
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
            owned_case_check(&l, interrupted_alone);
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
    if (!owned_case_open(&l, type, &safe_call))
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
    if (!owned_case_open(&l, type, &safe_call))
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
    if (!owned_case_open(&l, type, &fickle_call))
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

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_owner__a_child_cut_in_its_request_goes_on),
    CHECK_TEST(test_owner__a_child_is_not_cut_for_ever),
    CHECK_TEST(test_owner__a_child_of_an_unsafe_call_ends_with_it),
    CHECK_TEST(test_owner__a_call_cut_before_its_intent_is_made),
    CHECK_TEST(test_owner__a_call_cut_between_intent_and_child_has_none),
    CHECK_TEST(test_owner__a_child_that_answered_is_not_asked_again),
    CHECK_TEST(test_owner__a_child_is_asked_once_more_at_most),
    CHECK_TEST(test_owner__a_child_that_nobody_calls_again_ends),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/owner_cut", tests);
}
