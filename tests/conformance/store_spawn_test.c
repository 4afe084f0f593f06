// Every store: traces that a frame of another trace spawned, and what they report
// (rule 2 of ext/store.h, CADRE_QUERY_SPAWNED).
#include "support/store_case.h"

#include <stdio.h>
#include <string.h>

static cadre_fact fact_spawned(uint64_t id, uint64_t by)
{
    cadre_fact fact = fact_trace(id);
    fact.u.trace.spawned_by = store_id(by);
    return fact;
}

// Trace `id` with conversation id * 100 and root id * 10.
static cadre_status spawn(store_case *s, uint64_t id, uint64_t by)
{
    return COMMIT(s, id, fact_conversation(id * 100, ""), fact_spawned(id, by),
                  fact_in(fact_frame(id * 10, 0, "root"), id * 100));
}

#define CHECK_REFUSED(id, by)                                                          \
    CHECK_STATUS(spawn(&tested, id, by), CADRE_EREFUSED, &tested.err)

static cadre_status see_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    char *seen = ctx;
    size_t len = strlen(seen);
    (void)err;
    snprintf(seen + len, 512 - len, "%d<%d %s\n", (int)row->id.counter,
             (int)row->spawned_by.counter, cadre_frame_status_name(row->status));
    return CADRE_OK;
}

// By a frame, or (0) by any of a trace.
static const char *spawned(uint64_t trace, uint64_t frame, char seen[512])
{
    const cadre_store_reader reader = {.trace = see_trace, .ctx = seen};
    const cadre_query query = {.kind = CADRE_QUERY_SPAWNED,
                               .trace = store_id(trace),
                               .frame = store_id(frame)};
    seen[0] = '\0';
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    return seen;
}

static const char *traces(char seen[512])
{
    const cadre_store_reader reader = {.trace = see_trace, .ctx = seen};
    const cadre_query query = {.kind = CADRE_QUERY_TRACES};
    seen[0] = '\0';
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    return seen;
}

static void test_store_spawn__live_frames_spawn(void)
{
    char seen[512];
    store_start(&tested);
    cadre_fact pending = fact_frame(3, 1, "b");
    cadre_fact waiting = fact_frame(4, 1, "c");
    pending.u.frame.status = CADRE_FRAME_PENDING;
    waiting.u.frame.status = CADRE_FRAME_WAITING;
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), pending, waiting);
    for (uint64_t by = 2; by <= 4; by++)
        CHECK_OK(spawn(&tested, by, by), &tested.err);
    CHECK_TEXT(traces(seen), "4<4 running\n3<3 running\n2<2 running\n1<0 running\n");
    CHECK_TEXT(store_frames(&tested, 3), "30<0 running\n");
}

static void test_store_spawn__refuses_what_an_ended_or_marked_frame_spawns(void)
{
    char seen[512];
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_end(2, "x"),
                 fact_frame(3, 1, "b"), fact_frame(4, 3, "c"), fact_frame(5, 1, "d"));
    CHECK_POST(&tested, fact_mark(3, "request"));
    CHECK_REFUSED(2, 2);
    CHECK_REFUSED(3, 3);
    CHECK_REFUSED(4, 4); // marked with what is above it
    CHECK_OK(spawn(&tested, 5, 5), &tested.err);
    CHECK_TEXT(traces(seen), "5<5 running\n1<0 running\n");
}

static void test_store_spawn__refuses_what_a_refused_or_unknown_frame_spawns(void)
{
    char seen[512];
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_mark(1, "request"), fact_frame(2, 1, "refused"));
    CHECK_REFUSED(2, 2);
    CHECK_REFUSED(3, 99);
    CHECK_TEXT(traces(seen), "1<0 running\n");
}

// It says that a trace was refused, and which; its batch leaves nothing behind.
static void test_store_spawn__leaves_nothing_of_a_refused_trace(void)
{
    char seen[512];
    char id[CADRE_ID_TEXT_SIZE];
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_end(2, "x"));
    CHECK_STATUS(COMMIT(&tested, 2, fact_conversation(200, "chat"),
                        fact_post(901, 100, "undone", "r"), fact_spawned(2, 2),
                        fact_in(fact_frame(20, 0, "root"), 200),
                        fact_message(200, 20, 0, "hi")),
                 CADRE_EREFUSED, &tested.err);
    cadre_id_text(store_id(2), id);
    CHECK_CONTAINS(tested.err.text, id);
    CHECK_CONTAINS(tested.err.text, "has ended, or must");
    CHECK_TEXT(traces(seen), "1<0 running\n");
    CHECK_TEXT(store_session(&tested, "chat"), "in 0\n");
    CHECK_TEXT(store_frames(&tested, 2), "");
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "");
    CHECK_VIOLATION(&tested, 2, fact_frame(21, 0, "root"));
    // The same ids may be used: nothing of them was ever there.
    CHECK_COMMIT(&tested, 2, fact_conversation(200, "chat"),
                 fact_post(901, 100, "done", "r"), fact_spawned(2, 1),
                 fact_in(fact_frame(20, 0, "root"), 200));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "-1 done\n");
}

// It outlives its spawner: a mark there stays there.
static void test_store_spawn__spawned_traces_live_on(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"));
    CHECK_OK(spawn(&tested, 2, 2), &tested.err);
    CHECK_POST(&tested, fact_mark(1, "request"));
    cadre_fact births[] = {fact_in(fact_frame(21, 20, "a"), 200)};
    CHECK_OK(store_commit(&tested, 2, births, 1), &tested.err);
    CHECK(!births[0].refused);
    CHECK_TEXT(store_frames(&tested, 2), "20<0 running\n21<20 running\n");
    CHECK_COMMIT(&tested, 1, fact_end(2, ""), fact_end(1, ""));
    CHECK_COMMIT(&tested, 2, fact_end(21, ""), fact_end(20, "done"));
}

static void test_store_spawn__tells_what_a_frame_or_a_trace_spawned(void)
{
    char seen[512];
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 1, "b"));
    CHECK_OK(spawn(&tested, 7, 2), &tested.err);
    CHECK_OK(spawn(&tested, 6, 3), &tested.err);
    CHECK_OK(spawn(&tested, 5, 2), &tested.err);
    CHECK_OK(spawn(&tested, 4, 70), &tested.err); // by what was spawned itself
    CHECK_COMMIT(&tested, 7, fact_end(70, "done"));
    CHECK_TEXT(spawned(0, 2, seen), "7<2 completed\n5<2 running\n");
    CHECK_TEXT(spawned(0, 3, seen), "6<3 running\n");
    CHECK_TEXT(spawned(0, 1, seen), "");
    CHECK_TEXT(spawned(0, 99, seen), "");
    CHECK_TEXT(spawned(1, 0, seen), "7<2 completed\n6<3 running\n5<2 running\n");
    CHECK_TEXT(spawned(7, 0, seen), "4<70 running\n");
    CHECK_TEXT(spawned(4, 0, seen), "");
    CHECK_TEXT(spawned(99, 0, seen), "");
    CHECK_COMMIT(&tested, 1, fact_end(2, ""), fact_end(3, ""), fact_end(1, ""));
    CHECK_TEXT(spawned(1, 0, seen), "7<2 completed\n6<3 running\n5<2 running\n");
}

// Reports.

static cadre_fact fact_report(uint64_t id)
{
    return fact_post(id, 100, "seven", "report:2");
}

static void test_store_spawn__reports_once(void)
{
    store_start(&tested);
    CHECK_OK(spawn(&tested, 2, 1), &tested.err);
    CHECK_COMMIT(&tested, 2, fact_report(901), fact_end(20, "seven"));
    CHECK_COMMIT(&tested, 2, fact_report(902), fact_end(20, "seven")); // a second life
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "-1 seven\n");
    cadre_fact placed = fact_message(100, 1, 0, "");
    placed.u.message.id = store_id(901);
    CHECK_COMMIT(&tested, 1, placed);
    CHECK_COMMIT(&tested, 2, fact_report(903));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "0 seven\n");
}

// Who reports to an owner that has ended is refused, and ends all the same.
static void test_store_spawn__report_to_a_closed_owner_is_refused_alone(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_owned(101, 100, 2));
    CHECK_OK(spawn(&tested, 2, 2), &tested.err);
    CHECK_COMMIT(&tested, 1, fact_end(2, ""));
    cadre_fact facts[] = {fact_post(901, 101, "seven", "report:2"),
                          fact_end(20, "seven")};
    CHECK_OK(store_commit(&tested, 2, facts, N_OF(facts)), &tested.err);
    CHECK(facts[0].refused && !facts[1].refused);
    CHECK_TEXT(store_frames(&tested, 2), "20<0 completed = seven\n");
}

// A store may have forgotten to whom it reports: it ends all the same.
static void test_store_spawn__ends_when_its_spawner_was_released(void)
{
    store_start(&tested);
    CHECK_OK(spawn(&tested, 2, 1), &tested.err);
    CHECK_COMMIT(&tested, 1, fact_end(1, ""));
    if (tested.ops->release)
        tested.ops->release(tested.state, store_id(1));
    CHECK_COMMIT(&tested, 2, fact_report(901), fact_end(20, "seven"));
    CHECK_TEXT(store_frames(&tested, 2), "20<0 completed = seven\n");
    CHECK_REFUSED(3, 1);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store_spawn__live_frames_spawn),
    CHECK_TEST(test_store_spawn__refuses_what_an_ended_or_marked_frame_spawns),
    CHECK_TEST(test_store_spawn__refuses_what_a_refused_or_unknown_frame_spawns),
    CHECK_TEST(test_store_spawn__leaves_nothing_of_a_refused_trace),
    CHECK_TEST(test_store_spawn__spawned_traces_live_on),
    CHECK_TEST(test_store_spawn__tells_what_a_frame_or_a_trace_spawned),
    CHECK_TEST(test_store_spawn__reports_once),
    CHECK_TEST(test_store_spawn__report_to_a_closed_owner_is_refused_alone),
    CHECK_TEST(test_store_spawn__ends_when_its_spawner_was_released),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return store_case_main("conformance/store_spawn", tests);
}
