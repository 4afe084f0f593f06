// Every store: frames that wait for a person, the answers, and what a holder reads of
// what others wrote (rules 2 and 4 of ext/store.h, CADRE_QUERY_POSTED).
#include "support/store_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cadre_fact fact_question(uint64_t id, uint64_t parent, const char *key)
{
    cadre_fact fact = fact_frame(id, parent, key);
    fact.u.frame.kind = "ask";
    fact.u.frame.name = "ask";
    fact.u.frame.status = CADRE_FRAME_WAITING;
    return fact;
}

static cadre_fact fact_waiting(uint64_t id, int attempts)
{
    cadre_fact fact = fact_running(id, attempts);
    fact.u.frame.status = CADRE_FRAME_WAITING;
    return fact;
}

// To the question's conversation, 100 unless told.
static cadre_fact fact_answer(uint64_t id, uint64_t question, const char *text)
{
    static char requests[16][24];
    cadre_fact fact = fact_post(id, 100, text, NULL);
    char *request = requests[question % 16];
    snprintf(request, sizeof(requests[0]), "answer:%d", (int)question);
    fact.u.message.frame = store_id(question);
    fact.u.message.request_id = request;
    fact.u.message.request_hash = text;
    return fact;
}

// Waiting.

static void test_store_waiting__questions_are_born_waiting(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_question(2, 1, "q"));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 waiting\n");
    CHECK_TEXT(store_live(&tested, 1), "1<0 running\n2<1 waiting\n");
    CHECK_VIOLATION(&tested, 1, fact_end(1, "before its question"));
    CHECK_COMMIT(&tested, 1, fact_end(2, "yes"));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 completed = yes\n");
}

static void test_store_waiting__running_frames_wait_and_run_again(void)
{
    store_start(&tested);
    cadre_fact waiting = fact_waiting(1, 2);
    waiting.u.frame.restarts = 1;
    waiting.u.frame.start_seq = 7;
    CHECK_COMMIT(&tested, 1, waiting);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 waiting\n");
    CHECK_INT(tested.frame.attempts, 2);
    CHECK_INT(tested.frame.restarts, 1);
    CHECK_INT(tested.frame.start_seq, 7);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "under it"), fact_running(1, 3));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 running\n");
    CHECK_TEXT(store_live(&tested, 1), "1<0 running\n2<1 running\n");
}

static void test_store_waiting__running_says_only_that_it_runs_or_waits(void)
{
    static const cadre_frame_status others[] = {
        CADRE_FRAME_PENDING, CADRE_FRAME_COMPLETED, CADRE_FRAME_FAILED,
        CADRE_FRAME_TIMEOUT, CADRE_FRAME_ABORTED};
    store_start(&tested);
    for (size_t i = 0; i < N_OF(others); i++) {
        cadre_fact fact = fact_running(1, 5);
        fact.u.frame.status = others[i];
        CHECK_VIOLATION(&tested, 1, fact);
    }
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n");
    CHECK_INT(tested.frame.attempts, 0);
}

static void test_store_waiting__refuses_to_run_or_wait_under_a_mark(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "b"),
                 fact_frame(4, 1, "c"));
    CHECK_POST(&tested, fact_mark(2, "request"));
    cadre_fact facts[] = {fact_running(2, 1), fact_waiting(2, 1), fact_running(3, 1),
                          fact_waiting(3, 1), fact_running(4, 1), fact_waiting(4, 2)};
    CHECK_OK(store_commit(&tested, 1, facts, N_OF(facts)), &tested.err);
    for (size_t i = 0; i < N_OF(facts); i++)
        CHECK_INT(facts[i].refused, i < 4);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 running marked request\n"
                                         "3<2 running marked request\n4<1 waiting\n");
    CHECK_INT(tested.frame.attempts, 2);
}

// What has ended is neither run again nor refused: its end was there first.
static void test_store_waiting__running_after_the_end_is_ignored(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_question(2, 1, "q"), fact_end(2, "yes"));
    cadre_fact facts[] = {fact_running(2, 4), fact_waiting(2, 5)};
    CHECK_OK(store_commit(&tested, 1, facts, N_OF(facts)), &tested.err);
    CHECK(!facts[0].refused && !facts[1].refused);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 completed = yes\n");
    CHECK_INT(tested.frame.attempts, 0);
}

static void test_store_waiting__refuses_questions_under_a_mark(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_question(2, 1, "q"));
    CHECK_POST(&tested, fact_mark(1, "request: enough"));
    cadre_fact late[] = {fact_question(3, 1, "r"), fact_answer(901, 3, "\"no\"")};
    CHECK_OK(store_commit(&tested, 1, late, N_OF(late)), &tested.err);
    CHECK(late[0].refused && late[1].refused);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running marked request: enough\n"
                                         "2<1 waiting marked request: enough\n");
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "");
}

static void test_store_waiting__undoes_waiting_with_its_batch(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_running(1, 3));
    CHECK_VIOLATION(&tested, 1, fact_question(2, 1, "q"), fact_waiting(1, 4),
                    fact_trace(1));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n");
    CHECK_INT(tested.frame.attempts, 3);
    CHECK_COMMIT(&tested, 1, fact_question(2, 1, "q"));
}

// Answers.

static void test_store_waiting__answer_waits_for_its_question(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_question(2, 1, "q"), fact_question(3, 1, "r"));
    CHECK(!store_refuses_post(&tested, fact_answer(901, 3, "\"blue\"")));
    CHECK(!store_refuses_post(&tested, fact_answer(902, 2, "\"yes\"")));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only),
               "-1 \"blue\"\n-1 \"yes\"\n");
    // It gets its place with the commit that ends its question.
    cadre_fact placed = fact_message(100, 2, 0, "");
    placed.u.message.id = store_id(902);
    CHECK_COMMIT(&tested, 1, placed, fact_end(2, "\"yes\""));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only),
               "0 \"yes\"\n-1 \"blue\"\n");
    CHECK_TEXT(store_live(&tested, 1), "1<0 running\n3<1 waiting\n");
}

static void test_store_waiting__first_answer_wins(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_question(2, 1, "q"));
    CHECK(!store_refuses_post(&tested, fact_answer(901, 2, "\"yes\"")));
    CHECK(store_refuses_post(&tested, fact_answer(902, 2, "\"no\"")));
    CHECK(!store_refuses_post(&tested, fact_answer(903, 2, "\"yes\"")));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "-1 \"yes\"\n");
    CHECK_COMMIT(&tested, 1, fact_end(2, "\"yes\""));
    CHECK(!store_refuses_post(&tested, fact_answer(904, 2, "\"yes\""))); // known
    CHECK(store_refuses_post(&tested, fact_answer(905, 2, "\"no\"")));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "-1 \"yes\"\n");
}

static void test_store_waiting__refuses_answers_to_what_is_not_open(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_question(2, 1, "q"), fact_question(3, 1, "r"),
                 fact_question(4, 1, "s"), fact_frame(5, 1, "t"),
                 fact_question(6, 5, "u"), fact_end(2, "yes"));
    CHECK_POST(&tested, fact_mark(3, "request"), fact_mark(5, "owner"));
    CHECK(store_refuses_post(&tested, fact_answer(901, 2, "1")));  // ended
    CHECK(store_refuses_post(&tested, fact_answer(902, 3, "1")));  // marked
    CHECK(store_refuses_post(&tested, fact_answer(903, 6, "1")));  // with its parent
    CHECK(store_refuses_post(&tested, fact_answer(904, 99, "1"))); // unknown
    CHECK(!store_refuses_post(&tested, fact_answer(905, 4, "1")));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "-1 1\n");
}

static void test_store_waiting__refused_answer_does_not_take_the_request(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_question(2, 1, "q"), fact_end(2, "yes"),
                 fact_question(3, 1, "r"));
    cadre_fact answer = fact_answer(901, 2, "1");
    CHECK(store_refuses_post(&tested, answer));
    answer.u.message.frame = store_id(3);
    answer.u.message.message.text = "2";
    answer.u.message.request_hash = "2";
    CHECK(!store_refuses_post(&tested, answer));
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only), "-1 2\n");
}

// Posted.

static cadre_status see_mark(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    char *seen = ctx;
    size_t len = strlen(seen);
    (void)err;
    snprintf(seen + len, 1024 - len, "%d of %d: %s\n", (int)row->id.counter,
             (int)row->trace.counter, row->mark);
    return CADRE_OK;
}

static cadre_status see_letter(void *ctx, const cadre_message_row *row,
                               cadre_error *err)
{
    char *seen = ctx;
    size_t len = strlen(seen);
    (void)err;
    snprintf(seen + len, 1024 - len, "%d in %d, answers %d, for %d: %s\n",
             (int)row->id.counter, (int)row->conversation.counter,
             (int)row->frame.counter, (int)row->trace.counter, row->message.text);
    CHECK_INT(row->message.position, -1);
    return CADRE_OK;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// A store need not know in which order what stands in different traces was written.
static const char *posted(char seen[1024])
{
    char unsorted[1024] = "";
    char *lines[32];
    size_t n = 0;
    char *rest = NULL;
    const cadre_store_reader reader = {
        .frame = see_mark, .message = see_letter, .ctx = unsorted};
    const cadre_query query = {.kind = CADRE_QUERY_POSTED};
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    for (char *at = strtok_r(unsorted, "\n", &rest); at && n < N_OF(lines);
         at = strtok_r(NULL, "\n", &rest))
        lines[n++] = at;
    qsort(lines, n, sizeof(lines[0]), compare_lines);
    seen[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(seen);
        snprintf(seen + len, 1024 - len, "%s\n", lines[i]);
    }
    return seen;
}

// What lies below a marked frame is marked with it, and is not told again.
static void test_store_waiting__posted_gives_marks_that_live(void)
{
    char seen[1024];
    CHECK_TEXT(posted(seen), "");
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "b"),
                 fact_question(4, 1, "q"));
    CHECK_COMMIT(&tested, 2, fact_trace(2), fact_conversation(200, ""),
                 fact_in(fact_frame(20, 0, "root"), 200));
    CHECK_TEXT(posted(seen), "");
    CHECK_POST(&tested, fact_mark(2, "request: too slow"), fact_mark(20, "owner"));
    CHECK_COMMIT(&tested, 1, fact_mark(4, "timeout"));
    CHECK_TEXT(posted(seen), "2 of 1: request: too slow\n20 of 2: owner\n"
                             "4 of 1: timeout\n");
    CHECK_COMMIT(&tested, 1, fact_end(3, ""));
    CHECK_TEXT(posted(seen), "2 of 1: request: too slow\n20 of 2: owner\n"
                             "4 of 1: timeout\n");
    CHECK_COMMIT(&tested, 1, fact_end(2, ""), fact_end(4, ""));
    CHECK_COMMIT(&tested, 2, fact_end(20, ""));
    CHECK_TEXT(posted(seen), "");
}

// A reason is "request: why"; 200 bytes of why, in any language.
static void test_store_waiting__posted_gives_the_whole_reason(void)
{
    char seen[1024];
    char reason[240];
    char expected[300];
    store_start(&tested);
    snprintf(reason, sizeof(reason), "request: ");
    while (strlen(reason) < 209)
        strncat(reason, "\xc3\xa9", sizeof(reason) - strlen(reason) - 1);
    CHECK_POST(&tested, fact_mark(1, reason));
    snprintf(expected, sizeof(expected), "1 of 1: %s\n", reason);
    CHECK_TEXT(posted(seen), expected);
}

// For whom: who asks; who lives there as a root; whose conversation it is.
static void test_store_waiting__posted_tells_for_whom_an_inbox_row_is(void)
{
    char seen[1024];
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"), fact_question(2, 1, "q"),
                 fact_frame(3, 1, "a"), fact_owned(101, 100, 3));
    CHECK_COMMIT(&tested, 2, fact_trace(2), fact_conversation(200, ""),
                 fact_in(fact_frame(20, 0, "root"), 200));
    CHECK_POST(&tested, fact_post(901, 100, "to a session", NULL),
               fact_post(902, 101, "to an owner's", NULL),
               fact_post(903, 200, "to one without a name", NULL),
               fact_answer(904, 2, "yes"));
    CHECK_TEXT(posted(seen), "901 in 100, answers 0, for 1: to a session\n"
                             "902 in 101, answers 0, for 1: to an owner's\n"
                             "903 in 200, answers 0, for 2: to one without a name\n"
                             "904 in 100, answers 2, for 1: yes\n");
    cadre_fact placed = fact_message(100, 2, 0, "");
    placed.u.message.id = store_id(904);
    CHECK_COMMIT(&tested, 1, placed, fact_end(2, "yes"));
    CHECK_TEXT(posted(seen), "901 in 100, answers 0, for 1: to a session\n"
                             "902 in 101, answers 0, for 1: to an owner's\n"
                             "903 in 200, answers 0, for 2: to one without a name\n");
}

// Nobody works there between two runs of a session; the next one gets it.
static void test_store_waiting__posted_to_a_session_is_for_its_next_run(void)
{
    char seen[1024];
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"));
    CHECK_POST(&tested, fact_post(901, 100, "hello", NULL));
    CHECK_TEXT(posted(seen), "901 in 100, answers 0, for 1: hello\n");
    CHECK_COMMIT(&tested, 1, fact_end(1, ""));
    CHECK_TEXT(posted(seen), "901 in 100, answers 0, for 0: hello\n");
    CHECK_COMMIT(&tested, 2, fact_trace(2), fact_frame(21, 0, "root"));
    CHECK_TEXT(posted(seen), "901 in 100, answers 0, for 2: hello\n");
}

static void test_store_waiting__posted_gives_an_inbox_in_order(void)
{
    static char texts[40][4];
    char all[1024] = "";
    store_start(&tested);
    for (uint64_t i = 0; i < N_OF(texts); i++) {
        snprintf(texts[i], sizeof(texts[i]), "%d", (int)i);
        CHECK_POST(&tested, fact_post(901 + i, 100, texts[i], NULL));
    }
    const cadre_store_reader reader = {.message = see_letter, .ctx = all};
    const cadre_query query = {.kind = CADRE_QUERY_POSTED};
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    const char *at = all;
    for (int i = 0; i < 20 && CHECK(at != NULL); i++) {
        char head[80];
        snprintf(head, sizeof(head), "%d in 100, answers 0, for 1: %d\n", 901 + i, i);
        if (!CHECK(strncmp(at, head, strlen(head)) == 0))
            break;
        at = strchr(at, '\n') + 1;
    }
}

// The numbers of letters grow; asked for those after one, a store gives at least
// these.
typedef struct letters {
    int64_t last;
    int n;
    char text[16]; // of the last
} letters;

static cadre_status count_letter(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    letters *l = ctx;
    (void)err;
    CHECK(row->number == 0 || row->number > l->last);
    l->last = row->number;
    l->n++;
    snprintf(l->text, sizeof(l->text), "%s", row->message.text);
    return CADRE_OK;
}

static letters letters_after(int64_t after)
{
    letters l = {.last = after};
    const cadre_store_reader reader = {.message = count_letter, .ctx = &l};
    const cadre_query query = {.kind = CADRE_QUERY_POSTED, .after = after};
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    return l;
}

static void test_store_waiting__posted_after_a_number_gives_what_is_new(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_conversation(101, ""),
                 fact_in(fact_frame(2, 1, "a"), 101), fact_message(100, 1, 0, "said"));
    CHECK_POST(&tested, fact_post(901, 101, "one", NULL),
               fact_post(902, 100, "two", NULL));
    letters seen = letters_after(0);
    CHECK_INT(seen.n, 2);
    CHECK_COMMIT(&tested, 1, fact_message(100, 1, 1, "said too"));
    letters later = letters_after(seen.last);
    CHECK_INT(later.n, seen.last == 0 ? 2 : 0);
    CHECK_POST(&tested, fact_post(903, 100, "three", NULL));
    later = letters_after(seen.last);
    CHECK_INT(later.n, seen.last == 0 ? 3 : 1);
    CHECK_TEXT(later.text, seen.last == 0 ? later.text : "three");
    cadre_fact placed = fact_message(100, 1, 2, "");
    placed.u.message.id = store_id(902);
    CHECK_COMMIT(&tested, 1, placed);
    CHECK_INT(letters_after(0).n, 2);
}

// Marks are given whatever was seen of letters.
static void test_store_waiting__posted_after_a_number_gives_all_marks(void)
{
    char seen[1024] = "";
    store_start(&tested);
    CHECK_POST(&tested, fact_mark(1, "owner"), fact_post(901, 100, "x", NULL));
    letters l = letters_after(0);
    const cadre_store_reader reader = {.frame = see_mark, .ctx = seen};
    const cadre_query query = {.kind = CADRE_QUERY_POSTED, .after = l.last + 5};
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    CHECK_TEXT(seen, "1 of 1: owner\n");
}

// Messages where a live frame works and those it is a fork of; no others are needed.
static void test_store_waiting__only_open_gives_where_a_live_frame_works(void)
{
    cadre_query query = {
        .kind = CADRE_QUERY_TRACE, .trace = store_id(1), .only_open = true};
    cadre_store_reader reader = store_messages_only;
    store_start(&tested);
    cadre_fact fork = fact_owned(101, 100, 1);
    fork.u.conversation.base = store_id(100);
    fork.u.conversation.base_position = 1;
    cadre_fact again = fact_owned(102, 101, 1);
    again.u.conversation.base = store_id(101);
    again.u.conversation.base_position = 1;
    CHECK_COMMIT(&tested, 1, fact_message(100, 1, 0, "main"), fork,
                 fact_in(fact_frame(2, 1, "fork"), 101),
                 fact_message(101, 2, 0, "fork"), again,
                 fact_in(fact_frame(3, 2, "fork of it"), 102),
                 fact_message(102, 3, 0, "its fork"), fact_conversation(103, ""),
                 fact_in(fact_frame(4, 1, "done"), 103),
                 fact_message(103, 4, 0, "closed"), fact_end(4, "x"));
    CHECK_POST(&tested, fact_post(901, 102, "letter", NULL));
    reader.ctx = &tested;
    tested.seen[0] = '\0';
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    CHECK_CONTAINS(tested.seen, "0 main\n0 fork\n0 its fork\n");
    CHECK_CONTAINS(tested.seen, "-1 letter\n");
    CHECK_TEXT(store_read_trace(&tested, 1, &store_messages_only),
               "0 main\n0 fork\n0 its fork\n0 closed\n-1 letter\n");
    CHECK_CONTAINS(store_frames(&tested, 1), "4<1 completed = x\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store_waiting__questions_are_born_waiting),
    CHECK_TEST(test_store_waiting__running_frames_wait_and_run_again),
    CHECK_TEST(test_store_waiting__running_says_only_that_it_runs_or_waits),
    CHECK_TEST(test_store_waiting__refuses_to_run_or_wait_under_a_mark),
    CHECK_TEST(test_store_waiting__running_after_the_end_is_ignored),
    CHECK_TEST(test_store_waiting__refuses_questions_under_a_mark),
    CHECK_TEST(test_store_waiting__undoes_waiting_with_its_batch),
    CHECK_TEST(test_store_waiting__answer_waits_for_its_question),
    CHECK_TEST(test_store_waiting__first_answer_wins),
    CHECK_TEST(test_store_waiting__refuses_answers_to_what_is_not_open),
    CHECK_TEST(test_store_waiting__refused_answer_does_not_take_the_request),
    CHECK_TEST(test_store_waiting__posted_gives_marks_that_live),
    CHECK_TEST(test_store_waiting__posted_gives_the_whole_reason),
    CHECK_TEST(test_store_waiting__posted_tells_for_whom_an_inbox_row_is),
    CHECK_TEST(test_store_waiting__posted_to_a_session_is_for_its_next_run),
    CHECK_TEST(test_store_waiting__posted_gives_an_inbox_in_order),
    CHECK_TEST(test_store_waiting__posted_after_a_number_gives_what_is_new),
    CHECK_TEST(test_store_waiting__posted_after_a_number_gives_all_marks),
    CHECK_TEST(test_store_waiting__only_open_gives_where_a_live_frame_works),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return store_case_main("conformance/store_waiting", tests);
}
