// The tree itself: frames by parent and key, endings, marks, what leaves memory.
#include "support/check.h"
#include "support/team_case.h"

#include "run/execute.h"
#include "run/run.h"
#include "tree/birth.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static team_case t;

// The tests work on a root's frame inside its own `run`, where it is alive.
typedef void (*root_work)(cadre_frame *root);

static cadre_status run_root(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (*(root_work *)ctx)(frame);
    return cadre_frame_set_output(frame, "done", err);
}

static void run_on_root(root_work work)
{
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "root", .run = run_root, .ctx = &work));
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
}

static cadre_frame *enter(cadre_frame *parent, const char *key, cadre_status expected,
                          cadre_error *err)
{
    cadre_frame *frame = NULL;
    cdr_entered found = CDR_ENTERED_NEW;
    cdr_birth birth = {.kind = CDR_FRAME_AGENT,
                       .name = "root",
                       .agent = parent->agent,
                       .key = key,
                       .is_named = key != NULL};
    cdr_mutex_lock(&parent->tree->mu);
    cadre_status status = cdr_frame_enter_locked(parent, &birth, &frame, &found, err);
    cdr_mutex_unlock(&parent->tree->mu);
    CHECK_STATUS(status, expected, err);
    return frame;
}

static void end(cadre_frame *frame, cadre_frame_status status)
{
    cdr_mutex_lock(&frame->tree->mu);
    cdr_frame_end_locked(frame, &(cdr_ending){.status = status});
    cdr_mutex_unlock(&frame->tree->mu);
}

static void release(cadre_frame *frame)
{
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    cdr_frame_release_locked(frame);
    cdr_mutex_unlock(&tree->mu);
}

// --- Many at once ---

enum {
    THREADS = 64,
    FRAMES = 50
};

static void *enter_and_end(void *arg)
{
    cadre_frame *parent = arg;
    for (int i = 0; i < FRAMES; i++) {
        cadre_frame *frame = NULL;
        cdr_entered found = CDR_ENTERED_RECORD;
        cdr_birth birth = {
            .kind = CDR_FRAME_AGENT, .name = "root", .agent = parent->agent};
        cdr_mutex_lock(&parent->tree->mu);
        cadre_status status =
            cdr_frame_enter_locked(parent, &birth, &frame, &found, NULL);
        cdr_mutex_unlock(&parent->tree->mu);
        if (status != CADRE_OK || found != CDR_ENTERED_NEW)
            return parent; // it was not entered
        end(frame, CADRE_FRAME_COMPLETED);
        release(frame);
    }
    return NULL;
}

static void enter_from_many_threads(cadre_frame *root)
{
    pthread_t threads[THREADS];
    cdr_queue_deafen(&root->tree->queue); // nobody reads 6,400 events
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, enter_and_end, root);
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        CHECK(wrong == NULL);
    }
    CHECK_INT(root->tree->n_frames, 0); // none is left; the root is in no list
    CHECK(root->live_children == NULL && root->kept_children == NULL);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void test_tree__64_threads_enter_under_one_parent(void)
{
    root_work work = enter_from_many_threads;
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "root", .run = run_root, .ctx = &work));
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    t.status = cadre_run_wait(t.run, &t.result, &t.err);
    CHECK_OK(t.status, &t.err);
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(t.run, &frames, &n, &t.err), &t.err);
    CHECK_INT(n, THREADS * FRAMES + 1);
    const char **keys = calloc(n, sizeof *keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = frames[i].key;
    qsort(keys, n, sizeof *keys, compare_texts);
    for (size_t i = 1; i < n; i++)
        CHECK(strcmp(keys[i - 1], keys[i]) != 0);
    free(keys);
    team_case_close(&t);
}

// --- Endings ---

static void leave_twice(cadre_frame *root)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_frame *a = enter(root, "a", CADRE_OK, &err);
    cadre_frame *b = enter(root, "b", CADRE_OK, &err);
    end(a, CADRE_FRAME_FAILED); // before b, which was entered later
    end(a, CADRE_FRAME_COMPLETED);
    CHECK_INT(a->status, CADRE_FRAME_FAILED);
    end(b, CADRE_FRAME_COMPLETED);
    end(b, CADRE_FRAME_ABORTED);
    CHECK_INT(b->status, CADRE_FRAME_COMPLETED);
    release(a);
    release(b);
}

static void test_tree__first_ending_wins_and_order_does_not_matter(void)
{
    run_on_root(leave_twice);
    CHECK_TEXT(
        recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
        "root: failed none \nroot: completed none \nroot: completed final done\n");
    team_case_close(&t);
}

static void use_keys(cadre_frame *root)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_frame *kept = enter(root, "named", CADRE_OK, &err);
    enter(root, "named", CADRE_EINVAL, &err);
    cadre_error_clear(&err);
    end(kept, CADRE_FRAME_COMPLETED);
    release(kept);
    CHECK(enter(root, "named", CADRE_OK, &err) == kept);
    CHECK_INT(root->tree->n_frames, 1);
    cadre_frame *unnamed = enter(root, NULL, CADRE_OK, &err);
    CHECK_TEXT(unnamed->key, "root#1");
    end(unnamed, CADRE_FRAME_COMPLETED);
    release(unnamed);
    CHECK_INT(root->tree->n_frames, 1); // it left memory
}

static void test_tree__keeps_ended_frames_for_their_name_only(void)
{
    run_on_root(use_keys);
    team_case_close(&t);
}

static void end_over_pending(cadre_frame *root)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_frame *parent = enter(root, "parent", CADRE_OK, &err);
    cadre_frame *child = NULL;
    cdr_entered found = CDR_ENTERED_NEW;
    cdr_birth birth = {.kind = CDR_FRAME_AGENT,
                       .name = "root",
                       .agent = root->agent,
                       .key = "child",
                       .is_pending = true};
    cdr_mutex_lock(&parent->tree->mu);
    CHECK_OK(cdr_frame_enter_locked(parent, &birth, &child, &found, &err), &err);
    cdr_mutex_unlock(&parent->tree->mu);
    end(parent, CADRE_FRAME_FAILED);
    release(parent);
}

static void test_tree__ends_open_children_before_their_parent(void)
{
    run_on_root(end_over_pending);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_FRAME_START),
               "root: root api 0\nroot: parent agent 1\nroot: child agent 2\n");
    CHECK_TEXT(
        recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
        "root: aborted aborted \nroot: failed none \nroot: completed final done\n");
    team_case_close(&t);
}

// --- Marks ---

static void enter_under_mark(cadre_frame *root)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_frame *parent = enter(root, "parent", CADRE_OK, &err);
    cadre_frame *ended = enter(parent, "ended", CADRE_OK, &err);
    end(ended, CADRE_FRAME_COMPLETED);
    release(ended);
    cadre_frame *beside = enter(root, "beside", CADRE_OK, &err);
    cdr_mutex_lock(&root->tree->mu);
    cdr_frame_mark_locked(parent, CDR_MARK_REQUEST);
    cdr_mutex_unlock(&root->tree->mu);
    enter(parent, "new", CADRE_EABORTED, &err);
    cadre_error_clear(&err);
    // Found before it is refused.
    CHECK(enter(parent, "ended", CADRE_OK, &err) == ended);
    CHECK_INT(beside->mark, CDR_MARK_NONE);
    CHECK_INT(root->mark, CDR_MARK_NONE);
    cdr_mutex_lock(&root->tree->mu);
    cdr_frame_mark_locked(parent, CDR_MARK_TIMEOUT);
    cdr_mutex_unlock(&root->tree->mu);
    CHECK_INT(parent->mark, CDR_MARK_REQUEST); // the first one stays
    end(parent, CADRE_FRAME_ABORTED);
    end(beside, CADRE_FRAME_COMPLETED);
    release(parent);
    release(beside);
}

static void test_tree__nothing_is_born_under_a_mark(void)
{
    run_on_root(enter_under_mark);
    team_case_close(&t);
}

static void mark_a_deep_chain(cadre_frame *root)
{
    enum {
        DEEP = 10000
    };
    cadre_error err = CADRE_ERROR_INIT;
    cadre_frame *at = root;
    cdr_queue_deafen(&root->tree->queue);
    for (int i = 0; i < DEEP; i++)
        at = enter(at, "next", CADRE_OK, &err);
    cdr_mutex_lock(&root->tree->mu);
    cdr_frame_mark_locked(root->live_children, CDR_MARK_REQUEST);
    cdr_mutex_unlock(&root->tree->mu);
    CHECK_INT(at->mark, CDR_MARK_REQUEST);
    CHECK_INT(at->depth, DEEP);
    cdr_arena arena = CDR_ARENA_INIT;
    CHECK_TEXT(cdr_frame_path_text(at, &arena),
               "root -> root -> root -> root -> root -> (9991 more) -> root -> root -> "
               "root -> root -> root");
    cdr_arena_fini(&arena);
    while (at != root) {
        cadre_frame *parent = at->parent;
        end(at, CADRE_FRAME_ABORTED);
        at = parent;
    }
    while (root->kept_children != NULL) {
        root->kept_children->is_named = false;
        release(root->kept_children);
    }
}

static void test_tree__walks_are_loops(void)
{
    root_work work = mark_a_deep_chain;
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "root", .run = run_root, .ctx = &work));
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) != NULL) {
        t.status = cadre_run_wait(t.run, &t.result, &t.err);
        CHECK_OK(t.status, &t.err);
    }
    team_case_close(&t);
}

static void use_as_many_keys_as_names(cadre_frame *root)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_queue_deafen(&root->tree->queue);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        cadre_frame *frame = enter(root, key, CADRE_OK, &err);
        end(frame, CADRE_FRAME_COMPLETED);
        release(frame);
    }
    CHECK_INT(root->tree->n_frames, 1000);
    CHECK(root->tree->n_buckets >= 512); // the table has grown
    CHECK(enter(root, "999", CADRE_OK, &err) == root->kept_children);
}

static void test_tree__finds_frames_in_a_grown_table(void)
{
    root_work work = use_as_many_keys_as_names;
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "root", .run = run_root, .ctx = &work));
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) != NULL) {
        t.status = cadre_run_wait(t.run, &t.result, &t.err);
        CHECK_OK(t.status, &t.err);
        CHECK_INT(t.run->tree->n_frames, 0);
    }
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_tree__64_threads_enter_under_one_parent),
    CHECK_TEST(test_tree__first_ending_wins_and_order_does_not_matter),
    CHECK_TEST(test_tree__keeps_ended_frames_for_their_name_only),
    CHECK_TEST(test_tree__ends_open_children_before_their_parent),
    CHECK_TEST(test_tree__nothing_is_born_under_a_mark),
    CHECK_TEST(test_tree__walks_are_loops),
    CHECK_TEST(test_tree__finds_frames_in_a_grown_table),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("tree/tree", tests);
}
