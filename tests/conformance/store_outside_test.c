// Every store: what is written from outside a trace, who may write a trace, and what is
// asked about traces (rules 4 to 6 of ext/store.h).
#include "support/store_case.h"

#include <stdio.h>
#include <string.h>

// Leases.

static void test_store_outside__lease_goes_to_one_at_a_time(void)
{
    store_start(&tested);
    CHECK_INT(store_lease(&tested, "ann", 60, NULL), 1);
    CHECK_INT(store_lease(&tested, "ann", 60, NULL), 1); // renewed
    CHECK_INT(store_lease(&tested, "bob", 60, NULL), -1);
    CHECK_INT(tested.err.status, CADRE_EBUSY);
    CHECK_CONTAINS(tested.err.text, "'ann'");
    CHECK_INT(store_lease(&tested, "bob", 0, NULL), -1); // not his to give back
    CHECK_INT(store_lease(&tested, "ann", 0, NULL), 1);
    CHECK_INT(store_lease(&tested, "bob", 60, NULL), 2);
}

static void test_store_outside__lease_of_the_dead_is_taken_over(void)
{
    store_start(&tested);
    CHECK_INT(store_lease(&tested, "ann", 60, NULL), 1);
    CHECK_INT(store_lease(&tested, "bob", 60, "eve"), -1); // she does not hold it
    CHECK_INT(tested.err.status, CADRE_EBUSY);
    CHECK_INT(store_lease(&tested, "bob", 60, "ann"), 2);
    CHECK_INT(store_lease(&tested, "ann", 60, NULL), -1);
    CHECK_INT(tested.err.status, CADRE_EBUSY);
}

// Who has lost it must not get it back by renewing: another may have had it.
static void test_store_outside__lease_is_only_renewed_by_its_owner(void)
{
    cadre_lease wanted = {
        .trace = store_id(1), .owner = "ann", .seconds = 60, .only_renew = true};
    int64_t epoch = -1;
    cadre_error *err = &tested.err;
    store_start(&tested);
    CHECK_STATUS(tested.ops->lease(tested.state, &wanted, &epoch, err), CADRE_ELOST,
                 err);
    CHECK_INT(store_lease(&tested, "ann", 60, NULL), 1);
    CHECK_OK(tested.ops->lease(tested.state, &wanted, &epoch, err), err);
    CHECK_INT(epoch, 1);
    CHECK_INT(store_lease(&tested, "bob", 60, "ann"), 2);
    CHECK_STATUS(tested.ops->lease(tested.state, &wanted, &epoch, err), CADRE_ELOST,
                 err);
    wanted.from = "bob";
    cadre_error_clear(err);
    CHECK_STATUS(tested.ops->lease(tested.state, &wanted, &epoch, err), CADRE_ELOST,
                 err);
    CHECK_INT(store_lease(&tested, "bob", 0, NULL), 2); // given back
    wanted.owner = "bob";
    cadre_error_clear(err);
    CHECK_STATUS(tested.ops->lease(tested.state, &wanted, &epoch, err), CADRE_ELOST,
                 err);
    wanted.trace = store_id(9);
    cadre_error_clear(err);
    CHECK_STATUS(tested.ops->lease(tested.state, &wanted, &epoch, err), CADRE_ENOTFOUND,
                 err);
}

static void test_store_outside__lease_needs_a_trace_and_an_owner(void)
{
    CHECK_INT(store_lease(&tested, "ann", 60, NULL), -1);
    CHECK_INT(tested.err.status, CADRE_ENOTFOUND);
    store_start(&tested);
    CHECK_INT(store_lease(&tested, "", 60, NULL), -1);
    CHECK_INT(tested.err.status, CADRE_EINVAL);
}

static void test_store_outside__first_batch_makes_the_lease(void)
{
    cadre_fact facts[] = {fact_conversation(100, ""), fact_trace(1),
                          fact_frame(1, 0, "root")};
    cadre_commit batch = {.trace = store_id(1),
                          .epoch = 7,
                          .owner = "ann",
                          .facts = facts,
                          .n_facts = N_OF(facts)};
    CHECK_OK(tested.ops->commit(tested.state, &batch, &tested.err), &tested.err);
    CHECK_INT(store_lease(&tested, "bob", 60, NULL), -1);
    CHECK_CONTAINS(tested.err.text, "'ann'");
    CHECK_INT(store_lease(&tested, "ann", 60, NULL), 7);
    tested.epoch = 7;
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"));
}

// A holder that slept through a takeover wakes and writes.
static void test_store_outside__batch_of_a_lost_lease_changes_nothing(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"));
    CHECK_INT(store_lease(&tested, "bob", 60, NULL), 1);
    CHECK_STATUS(COMMIT(&tested, 1, fact_frame(3, 1, "b"), fact_end(2, "late"),
                        fact_message(100, 1, 0, "late")),
                 CADRE_ELOST, &tested.err);
    CHECK_CONTAINS(tested.err.text, "'bob'");
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 running\n");
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "");
    tested.epoch = 1;
    CHECK_COMMIT(&tested, 1, fact_end(2, "in time"));
    tested.epoch = 2;
    CHECK_STATUS(COMMIT(&tested, 1, fact_end(1, "")), CADRE_ELOST, &tested.err);
}

// Marks.

static void test_store_outside__posted_mark_stops_births(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "a"),
                 fact_frame(4, 1, "b"));
    CHECK_POST(&tested, fact_mark(2, "request"));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 running marked request\n"
                                         "3<2 running marked request\n4<1 running\n");
    cadre_fact births[] = {fact_frame(5, 3, "b"), fact_frame(6, 4, "b")};
    CHECK_OK(store_commit(&tested, 1, births, N_OF(births)), &tested.err);
    CHECK(births[0].refused && !births[1].refused);
    CHECK_POST(&tested, fact_mark(1, "owner"), fact_mark(2, "second"));
    CHECK_CONTAINS(store_frames(&tested, 1), "2<1 running marked request\n");
    CHECK_CONTAINS(store_frames(&tested, 1), "6<4 running marked owner\n");
}

static void test_store_outside__posts_only_marks_and_inbox_rows(void)
{
    store_start(&tested);
    CHECK_STATUS(POST(&tested, fact_frame(2, 1, "a")), CADRE_ESTORE, &tested.err);
    CHECK_STATUS(POST(&tested, fact_end(1, "x")), CADRE_ESTORE, &tested.err);
    CHECK_STATUS(POST(&tested, fact_message(100, 1, 0, "x")), CADRE_ESTORE,
                 &tested.err);
    CHECK_STATUS(POST(&tested, fact_mark(9, "request")), CADRE_ESTORE, &tested.err);
    CHECK_STATUS(POST(&tested, fact_post(9, 900, "x", NULL)), CADRE_ESTORE,
                 &tested.err);
    // Nothing of a post that fails stays.
    CHECK_STATUS(POST(&tested, fact_mark(1, "request"), fact_post(8, 100, "x", "r"),
                      fact_mark(9, "request")),
                 CADRE_ESTORE, &tested.err);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n");
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "");
    CHECK_POST(&tested, fact_post(8, 100, "x", "r"));
}

// Inboxes.

static void test_store_outside__inbox_is_read_last_and_placed(void)
{
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"), fact_message(100, 1, 0, "a"));
    CHECK_POST(&tested, fact_post(901, 100, "first", NULL),
               fact_post(902, 100, "second", NULL));
    CHECK_TEXT(store_session(&tested, "chat"), "0 a\n-1 first\n-1 second\nin 100\n");
    cadre_fact placed = fact_message(100, 1, 1, "what it says stays");
    placed.u.message.id = store_id(902);
    CHECK_COMMIT(&tested, 1, placed, fact_message(100, 1, 2, "b"));
    CHECK_TEXT(store_session(&tested, "chat"),
               "0 a\n1 second\n2 b\n-1 first\nin 100\n");
    placed.u.message.message.position = 3;
    CHECK_VIOLATION(&tested, 1, placed);
    placed.u.message.id = store_id(901);
    CHECK_VIOLATION(&tested, 1, placed, fact_trace(1));
    CHECK_TEXT(store_session(&tested, "chat"),
               "0 a\n1 second\n2 b\n-1 first\nin 100\n");
    CHECK_COMMIT(&tested, 1, placed);
    CHECK_TEXT(store_session(&tested, "chat"), "0 a\n1 second\n2 b\n3 first\nin 100\n");
}

static void test_store_outside__request_is_taken_once(void)
{
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"));
    CHECK(!store_refuses_post(&tested, fact_post(901, 100, "x", "r1")));
    CHECK(!store_refuses_post(&tested, fact_post(902, 100, "x", "r1")));
    CHECK(store_refuses_post(&tested, fact_post(903, 100, "other", "r1")));
    CHECK(!store_refuses_post(&tested, fact_post(904, 100, "x", "r2")));
    CHECK_TEXT(store_session(&tested, "chat"), "-1 x\n-1 x\nin 100\n");
    cadre_fact placed = fact_message(100, 1, 0, "");
    placed.u.message.id = store_id(901);
    CHECK_COMMIT(&tested, 1, placed);
    CHECK(!store_refuses_post(&tested, fact_post(905, 100, "x", "r1")));
    CHECK(store_refuses_post(&tested, fact_post(906, 100, "other", "r1")));
    // A holder's own, and in another conversation.
    cadre_fact said = fact_message(100, 1, 1, "y");
    said.u.message.request_id = "r3";
    said.u.message.request_hash = "y";
    CHECK_COMMIT(&tested, 1, said);
    CHECK(store_refuses_post(&tested, fact_post(907, 100, "other", "r3")));
    said.u.message.id = store_id(908);
    said.u.message.message.position = 2;
    CHECK_VIOLATION(&tested, 1, said);
    CHECK_COMMIT(&tested, 1, fact_owned(101, 100, 1),
                 fact_in(fact_frame(2, 1, "a"), 101));
    CHECK(!store_refuses_post(&tested, fact_post(909, 101, "z", "r3")));
    CHECK_TEXT(store_session(&tested, "chat"), "0 x\n1 y\n-1 x\nin 100\n");
}

static void test_store_outside__refuses_posts_under_a_closed_owner(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_owned(101, 100, 2),
                 fact_in(fact_frame(3, 2, "b"), 101), fact_frame(4, 1, "c"),
                 fact_owned(102, 100, 4));
    CHECK(!store_refuses_post(&tested, fact_post(901, 101, "early", "r")));
    CHECK_POST(&tested, fact_mark(2, "request"));
    CHECK(store_refuses_post(&tested, fact_post(902, 101, "late", NULL)));
    CHECK(!store_refuses_post(&tested, fact_post(903, 101, "early", "r"))); // known
    CHECK_COMMIT(&tested, 1, fact_end(4, "x"));
    CHECK(store_refuses_post(&tested, fact_post(904, 102, "late", NULL)));
    CHECK(!store_refuses_post(&tested, fact_post(905, 100, "to the main one", NULL)));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only),
               "-1 to the main one\n-1 early\n");
}

// A child that works on its own reports into its parent's inbox with its last batch.
static void test_store_outside__batch_reports_into_another_trace(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "spawn"));
    cadre_fact begun = fact_trace(2);
    begun.u.trace.spawned_by = store_id(2);
    CHECK_COMMIT(&tested, 2, fact_owned(200, 100, 2), begun,
                 fact_in(fact_frame(20, 0, "root"), 200));
    cadre_fact report = fact_post(901, 100, "seven", "report:2");
    CHECK_COMMIT(&tested, 2, report, fact_end(20, "seven"));
    report.u.message.id = store_id(902);
    CHECK_COMMIT(&tested, 2, report); // again, after a restart
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "-1 seven\n");
    CHECK_VIOLATION(&tested, 2, fact_post(903, 100, "undone", NULL), fact_trace(2));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "-1 seven\n");
}

// Owners and conversations.

static void test_store_outside__refuses_conversations_under_a_closed_owner(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_mark(2, "request"));
    cadre_fact begun = fact_trace(2);
    cadre_fact facts[] = {
        fact_owned(200, 100, 2), begun, fact_in(fact_frame(20, 0, "root"), 200),
        fact_in(fact_frame(21, 20, "a"), 200), fact_message(200, 20, 0, "x")};
    facts[0].u.conversation.session = "named";
    CHECK_OK(store_commit(&tested, 2, facts, N_OF(facts)), &tested.err);
    CHECK(facts[0].refused && !facts[1].refused && facts[2].refused);
    CHECK(facts[3].refused && facts[4].refused);
    CHECK_TEXT(store_frames(&tested, 2), "");
    CHECK_TEXT(store_session(&tested, "named"), "in 0\n");
    CHECK_VIOLATION(&tested, 2, fact_owned(201, 100, 99));
}

static void test_store_outside__fails_a_second_live_root_in_a_conversation(void)
{
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"));
    CHECK_BUSY(&tested, 2, fact_trace(2), fact_frame(2, 0, "root"));
    CHECK_VIOLATION(&tested, 1, fact_end(1, ""), fact_trace(1));
    CHECK_BUSY(&tested, 2, fact_trace(2), fact_frame(2, 0, "root"));
    CHECK_COMMIT(&tested, 1, fact_end(1, ""));
    CHECK_VIOLATION(&tested, 2, fact_trace(2), fact_frame(2, 0, "root"), fact_trace(2));
    CHECK_COMMIT(&tested, 2, fact_trace(2), fact_frame(2, 0, "root"));
    CHECK_BUSY(&tested, 3, fact_trace(3), fact_frame(3, 0, "root"));
}

static void test_store_outside__fails_a_frame_in_no_conversation_that_is_known(void)
{
    store_start(&tested);
    CHECK_VIOLATION(&tested, 1, fact_in(fact_frame(2, 1, "a"), 101));
    CHECK_COMMIT(&tested, 1, fact_conversation(101, ""),
                 fact_in(fact_frame(2, 1, "a"), 101));
}

// Queries.

static cadre_status see_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    char *seen = ctx;
    size_t len = strlen(seen);
    (void)err;
    snprintf(seen + len, 512 - len, "%d<%d %s %s %s %s %s %d %d '%s' %s\n",
             (int)row->id.counter, (int)row->spawned_by.counter, row->team,
             row->shape_digest, row->text_digest, row->options, row->lease_owner,
             (int)row->lease_epoch, (int)row->last_seq,
             row->lease_expires_at > 0 ? "held" : "free",
             cadre_frame_status_name(row->status));
    CHECK(row->created_at > 1700000000000);
    CHECK(row->lease_expires_at == 0 || row->lease_expires_at > row->created_at);
    return CADRE_OK;
}

static void test_store_outside__lists_traces_newest_first(void)
{
    char seen[512] = "";
    const cadre_store_reader reader = {.trace = see_trace, .ctx = seen};
    cadre_query query = {.kind = CADRE_QUERY_TRACES};
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    CHECK_TEXT(seen, "");
    store_start(&tested);
    cadre_fact facts[] = {fact_owned(200, 100, 1), fact_trace(2),
                          fact_in(fact_frame(20, 0, "root"), 200), fact_end(20, "")};
    facts[1].u.trace.spawned_by = store_id(1);
    facts[1].u.trace.shape_digest = "5a";
    facts[1].u.trace.text_digest = "7e";
    cadre_commit batch = {.trace = store_id(2),
                          .epoch = 4,
                          .owner = "ann",
                          .last_seq = 9,
                          .facts = facts,
                          .n_facts = N_OF(facts)};
    CHECK_OK(tested.ops->commit(tested.state, &batch, &tested.err), &tested.err);
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    CHECK_TEXT(seen, "2<1 desk 5a 7e {} ann 4 9 'held' completed\n"
                     "1<0 desk   {}  0 0 'free' running\n");
    seen[0] = '\0';
    query.limit = 1;
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    CHECK_TEXT(seen, "2<1 desk 5a 7e {} ann 4 9 'held' completed\n");
    seen[0] = '\0';
    query = (cadre_query){.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    CHECK_TEXT(seen, "1<0 desk   {}  0 0 'free' running\n");
}

static void test_store_outside__lists_live_frames_of_a_trace(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "a"),
                 fact_frame(4, 1, "b"), fact_end(4, "x"), fact_mark(3, "timeout"));
    CHECK_COMMIT(&tested, 2, fact_trace(2), fact_conversation(200, ""),
                 fact_in(fact_frame(20, 0, "root"), 200));
    CHECK_TEXT(store_live(&tested, 1),
               "1<0 running\n2<1 running\n3<2 running marked timeout\n");
    CHECK_COMMIT(&tested, 1, fact_end(3, ""), fact_end(2, ""), fact_end(1, ""));
    CHECK_TEXT(store_live(&tested, 1), "");
    CHECK_TEXT(store_live(&tested, 9), "");
}

static cadre_status see_conversation(void *ctx, const cadre_conversation_row *row,
                                     cadre_error *err)
{
    char *seen = ctx;
    size_t len = strlen(seen);
    (void)err;
    snprintf(seen + len, 512 - len, "%d '%s' %d/%d %d@%d\n", (int)row->id.counter,
             row->session, (int)row->owner_conversation.counter,
             (int)row->owner_frame.counter, (int)row->base.counter,
             (int)row->base_position);
    return CADRE_OK;
}

static void test_store_outside__gives_owners_and_bases_of_conversations(void)
{
    char seen[512] = "";
    const cadre_store_reader reader = {.conversation = see_conversation, .ctx = seen};
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"));
    cadre_fact fork = fact_owned(101, 100, 1);
    fork.u.conversation.base = store_id(100);
    fork.u.conversation.base_position = 3;
    CHECK_COMMIT(&tested, 1, fork, fact_in(fact_frame(2, 1, "a"), 101));
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    CHECK_TEXT(seen, "100 'chat' 0/0 0@0\n101 '' 100/1 100@3\n");
}

static void test_store_outside__running_counts_restarts(void)
{
    store_start(&tested);
    cadre_fact again = fact_running(1, 2);
    again.u.frame.restarts = 2;
    CHECK_COMMIT(&tested, 1, again);
    CHECK_VIOLATION(&tested, 1, fact_running(1, 3), fact_trace(1));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n");
    CHECK_INT(tested.frame.restarts, 2);
    CHECK_INT(tested.frame.attempts, 2);
    CHECK_COMMIT(&tested, 1, fact_running(1, 3));
    store_frames(&tested, 1);
    CHECK_INT(tested.frame.restarts, 0);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store_outside__lease_goes_to_one_at_a_time),
    CHECK_TEST(test_store_outside__lease_of_the_dead_is_taken_over),
    CHECK_TEST(test_store_outside__lease_is_only_renewed_by_its_owner),
    CHECK_TEST(test_store_outside__lease_needs_a_trace_and_an_owner),
    CHECK_TEST(test_store_outside__first_batch_makes_the_lease),
    CHECK_TEST(test_store_outside__batch_of_a_lost_lease_changes_nothing),
    CHECK_TEST(test_store_outside__posted_mark_stops_births),
    CHECK_TEST(test_store_outside__posts_only_marks_and_inbox_rows),
    CHECK_TEST(test_store_outside__inbox_is_read_last_and_placed),
    CHECK_TEST(test_store_outside__request_is_taken_once),
    CHECK_TEST(test_store_outside__refuses_posts_under_a_closed_owner),
    CHECK_TEST(test_store_outside__batch_reports_into_another_trace),
    CHECK_TEST(test_store_outside__refuses_conversations_under_a_closed_owner),
    CHECK_TEST(test_store_outside__fails_a_second_live_root_in_a_conversation),
    CHECK_TEST(test_store_outside__fails_a_frame_in_no_conversation_that_is_known),
    CHECK_TEST(test_store_outside__lists_traces_newest_first),
    CHECK_TEST(test_store_outside__lists_live_frames_of_a_trace),
    CHECK_TEST(test_store_outside__gives_owners_and_bases_of_conversations),
    CHECK_TEST(test_store_outside__running_counts_restarts),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return store_case_main("conformance/store_outside", tests);
}
