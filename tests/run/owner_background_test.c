// Who owns what runs in the background is stopped, or has ended; and what others say to
// it meanwhile. On each store.
#include "support/check.h"
#include "support/owner_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lives *const l = &owner_lives;

// --- A child in the background ---

static bool begin_background(const char *type)
{
    if (!owner_case_open(type, NULL))
        return false;
    DRIVEN("main", "call start", "hold", "say I see.", "say I know.");
    DRIVEN("aide", "gate\nsay thought");
    return owner_case_begin("Go.") && CHECK(driven_await_held(2));
}

static const char *report_in(const char *request)
{
    return strstr(request, "user: Report of background run ");
}

// The next turn reads the report, and the one after it no second time.
static void check_next_turns(const char *first)
{
    for (size_t i = 0; i < 2; i++) {
        if (!owner_case_begin("And?"))
            return;
        owner_case_finish(CADRE_OK);
        const char *report = report_in(driven_request("main", 2 + i));
        CHECK(report != NULL && report_in(report + 1) == NULL);
    }
    snprintf(l->trace, sizeof l->trace, "%s", first);
    char *got = lives_recorded(l);
    owner_case_check_row(got, "Report of background run", 1);
    owner_case_check_row(got, "message root -1 ", 0);
    free(got);
}

static void check_plain_abort(const char *type)
{
    char first[64];
    cadre_error err = CADRE_ERROR_INIT;
    if (!begin_background(type))
        return;
    snprintf(first, sizeof first, "%s", l->trace);
    CHECK_OK(cadre_trace_abort(l->runtime, l->trace, NULL, NULL), NULL);
    owner_case_finish(CADRE_EABORTED);
    owner_child child = owner_case_child();
    CHECK_INT(child.count, 1);
    CHECK_STATUS(cadre_trace_wait(l->runtime, child.id, false, 30, &err),
                 CADRE_ETIMEOUT, &err);
    driven_release();
    CHECK_OK(cadre_trace_wait(l->runtime, l->trace, true, 20000, NULL), NULL);
    CHECK_INT(owner_case_child().status, CADRE_FRAME_COMPLETED);
    CHECK_OK(cadre_runtime_wait(l->runtime, 20000, NULL), NULL);
    char *got = lives_recorded(l);
    owner_case_check_row(
        got, "message root -1 user aide>:  ok Report of background run ID", 1);
    owner_case_check_row(got, "frame root agent main aborted", 1);
    owner_case_check_row(got, "frame root/2 model driven/test aborted", 1);
    owner_case_check_row(got, "frame root/1/0 tool start completed final: ID", 1);
    free(got);
    check_next_turns(first);
    owner_case_close();
}

static void test_owner_background__that_is_stopped_leaves_what_it_spawned(void)
{
    lives_each_store(check_plain_abort);
}

static void check_background_abort(const char *type)
{
    if (!begin_background(type))
        return;
    CHECK_OK(cadre_trace_abort(l->runtime, l->trace,
                               CADRE_ABORT(.background = true, .reason = "all"), NULL),
             NULL);
    owner_case_finish(CADRE_EABORTED);
    CHECK_OK(cadre_trace_wait(l->runtime, l->trace, true, 20000, NULL), NULL);
    CHECK_OK(cadre_runtime_wait(l->runtime, 20000, NULL), NULL);
    owner_child child = owner_case_child();
    CHECK_INT(child.count, 1);
    CHECK_INT(child.status, CADRE_FRAME_ABORTED);
    char *got = lives_recorded(l);
    owner_case_check_row(got,
                         "message root -1 user aide>:  ok Background run ID "
                         "(aide) aborted: all by",
                         1);
    free(got);
    char *of_child = recorded_text(l->runtime, child.id);
    owner_case_check_row(
        of_child, "frame root agent aide aborted aborted: aborted: all marked", 1);
    owner_case_check_row(of_child, "frame root/1 model driven/test aborted", 1);
    free(of_child);
    owner_case_close();
}

static void test_owner_background__that_is_stopped_with_all_stops_what_it_spawned(void)
{
    lives_each_store(check_background_abort);
}

// A tool that has returned does not end what it spawned, nor wait for it.
static void check_returned(const char *type)
{
    if (!owner_case_open(type, NULL))
        return;
    DRIVEN("main", "call start", "say Started.");
    DRIVEN("aide", "gate\nsay thought");
    if (owner_case_begin("Go.") && CHECK(driven_await_held(1))) {
        owner_case_finish(CADRE_OK);
        CHECK_INT(owner_case_child().status, CADRE_FRAME_RUNNING);
        driven_release();
        CHECK_OK(cadre_runtime_wait(l->runtime, 20000, NULL), NULL);
        CHECK_INT(owner_case_child().status, CADRE_FRAME_COMPLETED);
        char *got = lives_recorded(l);
        owner_case_check_row(
            got, "message root -1 user aide>:  ok Report of background run", 1);
        free(got);
    }
    owner_case_close();
}

static void test_owner_background__that_has_ended_gets_the_report_too(void)
{
    lives_each_store(check_returned);
}

// --- What is said meanwhile ---

static size_t count_in(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        n++;
    return n;
}

static void check_steering(const char *type)
{
    char first[64];
    if (!owner_case_open(type, NULL))
        return;
    DRIVEN("main", "hold", "say A", "say B");
    if (!owner_case_begin("Go.") || !CHECK(driven_await_held(1)))
        return;
    snprintf(first, sizeof first, "%s", l->trace);
    for (int i = 0; i < 2; i++) // the same once more is one
        CHECK_OK(cadre_trace_send(l->runtime, l->trace, "Be brief.", "steer-1", NULL),
                 NULL);
    CHECK_OK(cadre_trace_abort(l->runtime, l->trace, NULL, NULL), NULL);
    owner_case_finish(CADRE_EABORTED);
    char *got = lives_recorded(l);
    owner_case_check_row(got, "message root -1 user >:  ok Be brief. by", 1);
    owner_case_check_row(got, "Be brief.", 1);
    free(got);
    for (size_t i = 1; i < 3; i++) {
        if (!owner_case_begin("And?"))
            break;
        owner_case_finish(CADRE_OK);
        CHECK_INT(count_in(driven_request("main", i), "user: Be brief.\n"), 1);
    }
    snprintf(l->trace, sizeof l->trace, "%s", first);
    got = lives_recorded(l);
    owner_case_check_row(got, "message root -1 ", 0);
    owner_case_check_row(got, "Be brief.", 1);
    free(got);
    owner_case_close();
}

static void
test_owner_background__that_is_stopped_leaves_what_was_said_to_the_next_turn(void)
{
    lives_each_store(check_steering);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_owner_background__that_is_stopped_leaves_what_it_spawned),
    CHECK_TEST(test_owner_background__that_is_stopped_with_all_stops_what_it_spawned),
    CHECK_TEST(test_owner_background__that_has_ended_gets_the_report_too),
    CHECK_TEST(
        test_owner_background__that_is_stopped_leaves_what_was_said_to_the_next_turn),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/owner_background", tests);
}
