// What every store must refuse, ignore and fail (rules 1 to 4 of ext/store.h); each
// claim is tried on each of them.
#include "support/store_case.h"

#include <inttypes.h>
#include <stdio.h>

// Refused: the batch goes on.

static void test_store_rules__refuses_births_under_an_end(void)
{
    store_start(&tested);
    cadre_fact facts[] = {fact_frame(2, 1, "a"), fact_end(2, "x"),
                          fact_frame(3, 2, "late"), fact_frame(4, 1, "b")};
    CHECK_OK(store_commit(&tested, 1, facts, N_OF(facts)), &tested.err);
    CHECK(!facts[0].refused && !facts[1].refused && !facts[3].refused);
    CHECK(facts[2].refused);
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 running\n2<1 completed = x\n4<1 running\n");
}

static void test_store_rules__refuses_births_under_a_mark(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "a"),
                 fact_frame(4, 1, "b"));
    CHECK_COMMIT(&tested, 1, fact_mark(2, "timeout"));
    cadre_fact facts[] = {fact_frame(5, 2, "b"), fact_frame(6, 3, "b"),
                          fact_frame(7, 4, "b")};
    CHECK_OK(store_commit(&tested, 1, facts, N_OF(facts)), &tested.err);
    CHECK(facts[0].refused && facts[1].refused && !facts[2].refused);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 running marked timeout\n"
                                         "3<2 running marked timeout\n4<1 running\n"
                                         "7<4 running\n");
}

static void test_store_rules__refuses_what_depends_on_a_refused_birth(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_mark(2, "request"));
    cadre_fact same[] = {fact_frame(3, 2, "a"), fact_frame(4, 3, "a"),
                         fact_running(3, 1),    fact_mark(4, "owner"),
                         fact_end(4, "x"),      fact_message(100, 3, 0, "x")};
    CHECK_OK(store_commit(&tested, 1, same, N_OF(same)), &tested.err);
    for (size_t i = 0; i < N_OF(same); i++)
        CHECK(same[i].refused);
    cadre_fact later[] = {fact_frame(5, 4, "a"), fact_end(3, "x"), fact_end(2, "y")};
    CHECK_OK(store_commit(&tested, 1, later, N_OF(later)), &tested.err);
    CHECK(later[0].refused && later[1].refused && !later[2].refused);
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 running\n2<1 completed marked request = y\n");
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "");
}

// The messages behind it got their positions before anybody knew of the refusal.
static void test_store_rules__place_of_a_refused_message_stays_empty(void)
{
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"));
    CHECK_COMMIT(&tested, 1, fact_message(100, 1, 0, "a"), fact_mark(1, "request"),
                 fact_frame(2, 1, "a"), fact_message(100, 2, 1, "never"),
                 fact_message(100, 1, 2, "b"));
    CHECK_COMMIT(&tested, 1, fact_message(100, 1, 3, "c"));
    CHECK_TEXT(store_session(&tested, "chat"), "0 a\n2 b\n3 c\nin 100\n");
}

static void test_store_rules__refusal_does_not_take_the_key(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_mark(2, "request"),
                 fact_frame(3, 2, "k"));
    cadre_fact again[] = {fact_frame(4, 2, "k")};
    CHECK_OK(store_commit(&tested, 1, again, 1), &tested.err);
    CHECK(again[0].refused);
}

// Marks and ends.

static void test_store_rules__mark_falls_on_all_live_frames_below(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "a"),
                 fact_frame(4, 3, "a"), fact_frame(5, 2, "b"), fact_frame(6, 1, "b"),
                 fact_end(4, "x"));
    CHECK_COMMIT(&tested, 1, fact_mark(2, "request"));
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 running\n2<1 running marked request\n"
               "3<2 running marked request\n4<3 completed = x\n"
               "5<2 running marked request\n6<1 running\n");
}

static void test_store_rules__first_mark_stays(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "a"),
                 fact_frame(4, 1, "b"), fact_end(4, "x"));
    CHECK_COMMIT(&tested, 1, fact_mark(2, "timeout"));
    CHECK_COMMIT(&tested, 1, fact_mark(3, "owner"), fact_mark(4, "late"),
                 fact_mark(1, "request"));
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 running marked request\n2<1 running marked timeout\n"
               "3<2 running marked timeout\n4<1 completed = x\n");
}

static void test_store_rules__first_end_stays(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_end(2, "first"),
                 fact_end(2, "second"));
    cadre_fact again[] = {fact_end(2, "third"), fact_end(1, "root")};
    CHECK_OK(store_commit(&tested, 1, again, N_OF(again)), &tested.err);
    CHECK(!again[0].refused);
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 completed = root\n2<1 completed = first\n");
}

static void test_store_rules__marked_frames_end(void)
{
    store_start(&tested);
    cadre_fact ending = fact_end(1, "");
    ending.u.frame.status = CADRE_FRAME_ABORTED;
    CHECK_COMMIT(&tested, 1, fact_mark(1, "request"), ending);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 aborted marked request\n");
}

// Violations.

static void test_store_rules__fails_an_end_before_a_live_child(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "a"));
    char parent[CADRE_ID_TEXT_SIZE];
    char child[CADRE_ID_TEXT_SIZE];
    cadre_id_text(store_id(2), parent);
    cadre_id_text(store_id(3), child);
    CHECK_VIOLATION(&tested, 1, fact_end(2, "early"));
    CHECK_CONTAINS(tested.err.text, parent);
    CHECK_CONTAINS(tested.err.text, child);
    CHECK_COMMIT(&tested, 1, fact_end(3, "x"), fact_end(2, "y"));
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 running\n2<1 completed = y\n3<2 completed = x\n");
}

static void test_store_rules__fails_a_second_root(void)
{
    store_start(&tested);
    CHECK_VIOLATION(&tested, 1, fact_frame(2, 0, "another"));
    CHECK_COMMIT(&tested, 1, fact_end(1, "x"));
    CHECK_VIOLATION(&tested, 1, fact_frame(2, 0, "another"));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 completed = x\n");
}

static void test_store_rules__fails_a_key_used_twice(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "a"),
                 fact_frame(4, 1, "A"), fact_frame(5, 1, "a "), fact_frame(6, 1, ""),
                 fact_end(4, ""));
    CHECK_VIOLATION(&tested, 1, fact_frame(7, 1, "a"));
    CHECK_CONTAINS(tested.err.text, "'a'");
    CHECK_VIOLATION(&tested, 1, fact_frame(7, 1, "A"));
    CHECK_VIOLATION(&tested, 1, fact_frame(7, 1, ""));
    CHECK_VIOLATION(&tested, 1, fact_frame(7, 3, "x"), fact_frame(8, 3, "x"));
}

static void test_store_rules__fails_what_names_a_frame_that_is_not_there(void)
{
    store_start(&tested);
    CHECK_VIOLATION(&tested, 1, fact_frame(2, 5, "a"));
    CHECK_VIOLATION(&tested, 1, fact_end(5, "x"));
    CHECK_VIOLATION(&tested, 1, fact_running(5, 1));
    CHECK_VIOLATION(&tested, 1, fact_mark(5, "request"));
    CHECK_VIOLATION(&tested, 1, fact_message(100, 5, 0, "x"));
    CHECK_VIOLATION(&tested, 1, fact_message(105, 1, 0, "x"));
    CHECK_VIOLATION(&tested, 1, fact_frame(1, 1, "itself"));
}

static void test_store_rules__fails_a_status_no_birth_or_end_has(void)
{
    store_start(&tested);
    cadre_fact born_ended = fact_frame(2, 1, "a");
    born_ended.u.frame.status = CADRE_FRAME_COMPLETED;
    CHECK_VIOLATION(&tested, 1, born_ended);
    cadre_fact no_end = fact_end(1, "x");
    no_end.u.frame.status = CADRE_FRAME_WAITING;
    CHECK_VIOLATION(&tested, 1, no_end);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n");
}

static void test_store_rules__fails_a_position_taken_or_left_out(void)
{
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"));
    CHECK_VIOLATION(&tested, 1, fact_message(100, 1, 1, "gap"));
    CHECK_COMMIT(&tested, 1, fact_message(100, 1, 0, "a"),
                 fact_message(100, 1, 1, "b"));
    CHECK_VIOLATION(&tested, 1, fact_message(100, 1, 1, "taken"));
    CHECK_VIOLATION(&tested, 1, fact_message(100, 1, 3, "gap"));
    CHECK_TEXT(store_session(&tested, "chat"), "0 a\n1 b\nin 100\n");
}

static void test_store_rules__fails_a_trace_unknown_or_born_twice(void)
{
    CHECK_VIOLATION(&tested, 1, fact_frame(1, 0, "root"));
    CHECK_VIOLATION(&tested, 1, fact_conversation(100, ""));
    CHECK_VIOLATION(&tested, 1, fact_trace(2));
    store_start(&tested);
    CHECK_VIOLATION(&tested, 1, fact_trace(1));
}

static void test_store_rules__fails_a_conversation_born_twice_or_half_owned(void)
{
    CHECK_COMMIT(&tested, 1, fact_conversation(100, ""), fact_conversation(101, "chat"),
                 fact_trace(1), fact_frame(1, 0, "root"));
    CHECK_VIOLATION(&tested, 1, fact_conversation(100, ""));
    CHECK_VIOLATION(&tested, 1, fact_conversation(101, "other"));
    CHECK_VIOLATION(&tested, 1, fact_conversation(102, "chat"));
    CHECK_VIOLATION(&tested, 1, fact_conversation(102, "x"),
                    fact_conversation(103, "x"));
    cadre_fact half = fact_conversation(102, "");
    half.u.conversation.owner_frame = store_id(1);
    CHECK_VIOLATION(&tested, 1, half);
    half.u.conversation.owner_conversation = store_id(100);
    CHECK_COMMIT(&tested, 1, half);
    CHECK_TEXT(store_session(&tested, "other"), "in 0\n");
    CHECK_TEXT(store_session(&tested, "x"), "in 0\n");
}

// A batch of every type of fact, of which the last is a violation: nothing of it may be
// seen, and without the violation it must be possible as if it had never been tried.
static void test_store_rules__leaves_nothing_of_a_failed_batch(void)
{
    static const char before[] = "1<0 running\n2<1 pending\n3<1 running\n4<3 running\n"
                                 "5<1 running marked timeout\n";
    store_start(&tested);
    cadre_fact pending = fact_frame(2, 1, "a");
    pending.u.frame.status = CADRE_FRAME_PENDING;
    CHECK_COMMIT(&tested, 1, pending, fact_frame(3, 1, "b"), fact_frame(4, 3, "a"),
                 fact_frame(5, 1, "c"), fact_mark(5, "timeout"),
                 fact_message(100, 1, 0, "a"));
    cadre_fact facts[] = {
        fact_conversation(101, "chat"),
        fact_conversation(102, ""),
        fact_frame(6, 1, "d"),
        fact_in(fact_frame(7, 6, "a"), 102),
        fact_running(2, 9),
        fact_frame(8, 5, "refused"),
        fact_mark(3, "request"),
        fact_mark(5, "it has one"),
        fact_message(100, 6, 1, "b"),
        fact_message(100, 8, 2, "refused"),
        fact_message(101, 1, 0, "c"),
        fact_message(102, 1, 0, "d"),
        fact_end(7, "x"),
        fact_end(6, "y"),
        fact_end(4, "z"),
        fact_mark(1, "request"),
        fact_end(2, "w"),
        fact_end(3, "v"),
        fact_frame(9, 1, "a"),
        fact_frame(1, 0, "a second birth of the root"),
    };
    size_t n_good = N_OF(facts) - 1;
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(store_commit(&tested, 1, facts, N_OF(facts)), CADRE_ESTORE,
                     &tested.err);
        CHECK_TEXT(store_frames(&tested, 1), before);
        CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "0 a\n");
        CHECK_TEXT(store_session(&tested, "chat"), "in 0\n");
    }
    CHECK_OK(store_commit(&tested, 1, facts, n_good), &tested.err);
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 running marked request\n2<1 completed marked request = w\n"
               "3<1 completed marked request = v\n"
               "4<3 completed marked request = z\n5<1 running marked timeout\n"
               "6<1 completed = y\n7<6 completed = x\n");
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "0 a\n1 b\n0 d\n");
    CHECK_TEXT(store_session(&tested, "chat"), "0 c\nin 101\n");
}

static void test_store_rules__leaves_nothing_of_a_failed_first_batch(void)
{
    CHECK_VIOLATION(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                    fact_frame(1, 0, "root"), fact_message(100, 1, 0, "a"),
                    fact_message(100, 1, 0, "taken"));
    CHECK_TEXT(store_frames(&tested, 1), "");
    CHECK_TEXT(store_session(&tested, "chat"), "in 0\n");
    CHECK_COMMIT(&tested, 2, fact_conversation(101, "chat"), fact_trace(2));
    store_start(&tested);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n");
}

static void test_store_rules__undoes_thousands_of_births(void)
{
    enum {
        N_BIRTHS = 3000
    };
    static cadre_fact facts[N_BIRTHS + 1];
    static char keys[N_BIRTHS][12];
    store_start(&tested);
    for (uint64_t i = 0; i < N_BIRTHS; i++) {
        snprintf(keys[i], sizeof(keys[i]), "%" PRIu64, i);
        facts[i] = fact_frame(10 + i, i % 3 == 0 ? 1 : 9 + i, keys[i]);
    }
    facts[N_BIRTHS] = fact_trace(1);
    CHECK_STATUS(store_commit(&tested, 1, facts, N_BIRTHS + 1), CADRE_ESTORE,
                 &tested.err);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n");
    CHECK_OK(store_commit(&tested, 1, facts, N_BIRTHS), &tested.err);
    CHECK_VIOLATION(&tested, 1, fact_end(10 + N_BIRTHS - 2, "before its child"));
    CHECK_COMMIT(&tested, 1, fact_mark(1, "request"), fact_end(10 + N_BIRTHS - 1, ""),
                 fact_end(10 + N_BIRTHS - 2, ""));
}

static void test_store_rules__takes_an_empty_batch(void)
{
    CHECK_OK(store_commit(&tested, 1, NULL, 0), &tested.err);
    store_start(&tested);
    CHECK_OK(store_commit(&tested, 1, NULL, 0), &tested.err);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store_rules__refuses_births_under_an_end),
    CHECK_TEST(test_store_rules__refuses_births_under_a_mark),
    CHECK_TEST(test_store_rules__refuses_what_depends_on_a_refused_birth),
    CHECK_TEST(test_store_rules__place_of_a_refused_message_stays_empty),
    CHECK_TEST(test_store_rules__refusal_does_not_take_the_key),
    CHECK_TEST(test_store_rules__mark_falls_on_all_live_frames_below),
    CHECK_TEST(test_store_rules__first_mark_stays),
    CHECK_TEST(test_store_rules__first_end_stays),
    CHECK_TEST(test_store_rules__marked_frames_end),
    CHECK_TEST(test_store_rules__fails_an_end_before_a_live_child),
    CHECK_TEST(test_store_rules__fails_a_second_root),
    CHECK_TEST(test_store_rules__fails_a_key_used_twice),
    CHECK_TEST(test_store_rules__fails_what_names_a_frame_that_is_not_there),
    CHECK_TEST(test_store_rules__fails_a_status_no_birth_or_end_has),
    CHECK_TEST(test_store_rules__fails_a_position_taken_or_left_out),
    CHECK_TEST(test_store_rules__fails_a_trace_unknown_or_born_twice),
    CHECK_TEST(test_store_rules__fails_a_conversation_born_twice_or_half_owned),
    CHECK_TEST(test_store_rules__leaves_nothing_of_a_failed_batch),
    CHECK_TEST(test_store_rules__leaves_nothing_of_a_failed_first_batch),
    CHECK_TEST(test_store_rules__undoes_thousands_of_births),
    CHECK_TEST(test_store_rules__takes_an_empty_batch),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return store_case_main("conformance/store_rules", tests);
}
