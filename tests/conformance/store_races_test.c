// Every store: what others write while a holder writes. Each pair of calls has an
// order, and what each was told agrees with what is there.
#include "support/store_case.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    N_ROUNDS = 150,
    ATTEMPTS = 7
};

// One of two threads that do something to round `n` at the same moment.
typedef struct racer {
    store_case s; // a copy: the same state, an error and a buffer of its own
    pthread_barrier_t *both;
    void (*act)(struct racer *self, uint64_t n);
    bool is_done[N_ROUNDS]; // it was taken, in that round
} racer;

static void *run_racer(void *arg)
{
    racer *r = arg;
    for (uint64_t n = 0; n < N_ROUNDS; n++) {
        pthread_barrier_wait(r->both);
        r->act(r, n);
    }
    return NULL;
}

static racer one, other;

static void race(void (*act)(racer *, uint64_t), void (*against)(racer *, uint64_t))
{
    pthread_barrier_t both;
    pthread_t threads[2];
    pthread_barrier_init(&both, NULL, 2);
    one = (racer){.s = tested, .both = &both, .act = act};
    other = (racer){.s = tested, .both = &both, .act = against};
    CHECK_INT(pthread_create(&threads[0], NULL, run_racer, &one), 0);
    CHECK_INT(pthread_create(&threads[1], NULL, run_racer, &other), 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    pthread_barrier_destroy(&both);
}

static uint64_t frame_of(uint64_t n)
{
    return 1000 + n * 10;
}

// Root 1 with a frame for each round below it, waiting when they are questions.
static void start_rounds(cadre_frame_status status)
{
    static char keys[N_ROUNDS][8];
    static cadre_fact facts[N_ROUNDS];
    store_start(&tested);
    for (uint64_t n = 0; n < N_ROUNDS; n++) {
        snprintf(keys[n], sizeof(keys[n]), "%" PRIu64, n);
        facts[n] = fact_frame(frame_of(n), 1, keys[n]);
        facts[n].u.frame.status = status;
    }
    CHECK_OK(store_commit(&tested, 1, facts, N_ROUNDS), &tested.err);
}

// What is there in the end.
typedef struct tally {
    bool is_marked[N_ROUNDS];
    bool has_child[N_ROUNDS], is_child_marked[N_ROUNDS];
    int n_letters[N_ROUNDS];
    char text[N_ROUNDS][8]; // of the last letter
    bool has_trace[N_ROUNDS];
} tally;

static tally found;

static cadre_status count_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    uint64_t n = (row->id.counter - 1000) / 10;
    bool is_marked = row->mark[0] != '\0';
    (void)ctx;
    (void)err;
    if (row->id.counter < 1000)
        return CADRE_OK;
    if (row->id.counter % 10 == 0)
        found.is_marked[n] = is_marked;
    else
        found.is_child_marked[n] = is_marked;
    found.has_child[n] |= row->id.counter % 10 != 0;
    return CADRE_OK;
}

static cadre_status count_letter(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    uint64_t n = (row->frame.counter - 1000) / 10;
    (void)ctx;
    (void)err;
    if (n >= N_ROUNDS)
        return CADRE_OK;
    found.n_letters[n]++;
    snprintf(found.text[n], sizeof(found.text[n]), "%s", row->message.text);
    return CADRE_OK;
}

static cadre_status count_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    uint64_t n = (row->spawned_by.counter - 1000) / 10;
    (void)ctx;
    (void)err;
    if (n < N_ROUNDS)
        found.has_trace[n] = true;
    return CADRE_OK;
}

static void count_all(void)
{
    memset(&found, 0, sizeof(found));
    const cadre_store_reader reader = {.frame = count_frame, .message = count_letter};
    const cadre_store_reader spawned = {.trace = count_trace};
    cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
    query.kind = CADRE_QUERY_SPAWNED;
    CHECK_OK(tested.ops->read(tested.state, &query, &spawned, NULL), NULL);
}

// --- A mark against births, runs and ends ---

static void mark(racer *self, uint64_t n)
{
    CHECK_POST(&self->s, fact_mark(frame_of(n), "request"));
    self->is_done[n] = true;
}

static void bear(racer *self, uint64_t n)
{
    cadre_fact birth = fact_frame(frame_of(n) + 1, frame_of(n), "child");
    CHECK_OK(store_commit(&self->s, 1, &birth, 1), &self->s.err);
    self->is_done[n] = !birth.refused;
}

static void test_store_races__mark_falls_on_each_birth_or_refuses_it(void)
{
    start_rounds(CADRE_FRAME_RUNNING);
    race(mark, bear);
    count_all();
    for (int n = 0; n < N_ROUNDS; n++) {
        CHECK(found.is_marked[n]);
        CHECK_INT(found.has_child[n], other.is_done[n]);
        CHECK_INT(found.is_child_marked[n], other.is_done[n]);
    }
}

// A call is reserved before the mark, and marked, or the holder learns of the mark.
static void reserve(racer *self, uint64_t n)
{
    cadre_fact facts[] = {fact_running(frame_of(n), ATTEMPTS)};
    CHECK_OK(store_commit(&self->s, 1, facts, 1), &self->s.err);
    self->is_done[n] = !facts[0].refused;
    // From the commit that tells of a mark on, it is always there.
    if (facts[0].refused) {
        facts[0] = fact_running(frame_of(n), ATTEMPTS + 1);
        CHECK_OK(store_commit(&self->s, 1, facts, 1), &self->s.err);
        CHECK(facts[0].refused);
    }
}

// Attempts of the frames whose RUNNING was taken, and of no others.
static cadre_status check_attempts(void *ctx, const cadre_frame_row *row,
                                   cadre_error *err)
{
    const racer *holder = ctx;
    (void)err;
    if (row->id.counter >= 1000)
        CHECK_INT(row->attempts,
                  holder->is_done[(row->id.counter - 1000) / 10] ? ATTEMPTS : 0);
    return CADRE_OK;
}

static void check_reserved(void)
{
    const cadre_store_reader reader = {.frame = check_attempts, .ctx = &other};
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    CHECK_OK(tested.ops->read(tested.state, &query, &reader, NULL), NULL);
}

static void test_store_races__mark_is_learnt_with_the_reservation(void)
{
    start_rounds(CADRE_FRAME_PENDING);
    race(mark, reserve);
    count_all();
    for (int n = 0; n < N_ROUNDS; n++)
        CHECK(found.is_marked[n]);
    check_reserved();
}

// --- An answer against the end of its question, and against another answer ---

static void answer(racer *self, uint64_t n, const char *text)
{
    char request[24];
    cadre_fact fact =
        fact_post(self == &one ? 100000 + n : 200000 + n, 100, text, NULL);
    snprintf(request, sizeof(request), "answer:%" PRIu64, n);
    fact.u.message.frame = store_id(frame_of(n));
    fact.u.message.request_id = request;
    fact.u.message.request_hash = text;
    self->is_done[n] = !store_refuses_post(&self->s, fact);
}

static void say_yes(racer *self, uint64_t n)
{
    answer(self, n, "yes");
}

static void say_no(racer *self, uint64_t n)
{
    answer(self, n, "no");
}

static void end(racer *self, uint64_t n)
{
    CHECK_COMMIT(&self->s, 1, fact_end(frame_of(n), "ended"));
    self->is_done[n] = true;
}

static void test_store_races__answer_is_there_or_refused(void)
{
    start_rounds(CADRE_FRAME_WAITING);
    race(say_yes, end);
    count_all();
    for (int n = 0; n < N_ROUNDS; n++)
        CHECK_INT(found.n_letters[n], one.is_done[n]);
}

static void test_store_races__answer_or_mark_is_first(void)
{
    start_rounds(CADRE_FRAME_WAITING);
    race(say_yes, mark);
    count_all();
    for (int n = 0; n < N_ROUNDS; n++) {
        CHECK_INT(found.n_letters[n], one.is_done[n]);
        CHECK(found.is_marked[n]);
    }
}

static void test_store_races__one_of_two_answers_is_taken(void)
{
    start_rounds(CADRE_FRAME_WAITING);
    race(say_yes, say_no);
    count_all();
    for (int n = 0; n < N_ROUNDS; n++) {
        CHECK_INT(found.n_letters[n], 1);
        CHECK_INT(one.is_done[n] + other.is_done[n], 1);
        CHECK_TEXT(found.text[n], one.is_done[n] ? "yes" : "no");
    }
}

// --- A spawn against the mark or the end of its spawner ---

static cadre_status spawn_as(store_case *s, uint64_t id, uint64_t n)
{
    cadre_fact begun = fact_trace(id);
    begun.u.trace.spawned_by = store_id(frame_of(n));
    return COMMIT(s, id, fact_conversation(id * 1000, ""), begun,
                  fact_in(fact_frame(id * 1000, 0, "root"), id * 1000));
}

static void spawn(racer *self, uint64_t n)
{
    cadre_status status = spawn_as(&self->s, 500 + n, n);
    self->is_done[n] = status == CADRE_OK;
    if (status != CADRE_OK)
        CHECK_STATUS(status, CADRE_EREFUSED, &self->s.err);
}

static void check_spawned(void)
{
    count_all();
    for (int n = 0; n < N_ROUNDS; n++)
        CHECK_INT(found.has_trace[n], one.is_done[n]);
    for (uint64_t n = 0; n < N_ROUNDS; n++)
        CHECK_STATUS(spawn_as(&tested, 2000 + n, n), CADRE_EREFUSED, &tested.err);
}

static void test_store_races__spawned_before_the_mark_or_refused(void)
{
    start_rounds(CADRE_FRAME_RUNNING);
    race(spawn, mark);
    check_spawned();
}

static void test_store_races__spawned_before_the_end_or_refused(void)
{
    start_rounds(CADRE_FRAME_RUNNING);
    race(spawn, end);
    check_spawned();
}

// --- A take-over against the holder ---

// A holder that lost its lease changes nothing from then on.
static void take_over(racer *self, uint64_t n)
{
    char owner[24];
    char before[24];
    snprintf(owner, sizeof(owner), "p%" PRIu64, n + 1);
    snprintf(before, sizeof(before), "p%" PRIu64, n);
    CHECK_INT(store_lease(&self->s, owner, 60, before), (int64_t)n + 2);
}

static void write_as_holder(racer *self, uint64_t n)
{
    self->s.epoch = (int64_t)n + 1; // as of the round before
    cadre_status status = COMMIT(&self->s, 1, fact_running(frame_of(n), ATTEMPTS));
    self->is_done[n] = status == CADRE_OK;
    if (status != CADRE_OK)
        CHECK_STATUS(status, CADRE_ELOST, &self->s.err);
}

static void test_store_races__who_lost_the_lease_writes_nothing(void)
{
    start_rounds(CADRE_FRAME_RUNNING);
    CHECK_INT(store_lease(&tested, "p0", 60, NULL), 1);
    race(take_over, write_as_holder);
    check_reserved();
}

// --- A reader against all of them ---

static void look(racer *self, uint64_t n)
{
    const cadre_query query = {.kind = CADRE_QUERY_POSTED};
    const cadre_store_reader reader = {.frame = count_frame, .message = count_letter};
    CHECK_OK(self->s.ops->read(self->s.state, &query, &reader, NULL), NULL);
    self->is_done[n] = found.is_marked[n];
}

// What was posted before the look began is seen by it.
static void mark_then_look(racer *self, uint64_t n)
{
    mark(self, n);
    look(self, n);
}

static void bear_and_end(racer *self, uint64_t n)
{
    cadre_fact facts[] = {fact_frame(frame_of(n) + 1, 1, "x"),
                          fact_end(frame_of(n) + 1, "")};
    char key[16];
    snprintf(key, sizeof(key), "also %" PRIu64, n);
    facts[0].u.frame.key = key;
    CHECK_OK(store_commit(&self->s, 1, facts, N_OF(facts)), &self->s.err);
}

static void test_store_races__look_sees_what_was_posted_before(void)
{
    start_rounds(CADRE_FRAME_RUNNING);
    memset(&found, 0, sizeof(found));
    race(mark_then_look, bear_and_end);
    for (int n = 0; n < N_ROUNDS; n++)
        CHECK(one.is_done[n]);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store_races__mark_falls_on_each_birth_or_refuses_it),
    CHECK_TEST(test_store_races__mark_is_learnt_with_the_reservation),
    CHECK_TEST(test_store_races__answer_is_there_or_refused),
    CHECK_TEST(test_store_races__answer_or_mark_is_first),
    CHECK_TEST(test_store_races__one_of_two_answers_is_taken),
    CHECK_TEST(test_store_races__spawned_before_the_mark_or_refused),
    CHECK_TEST(test_store_races__spawned_before_the_end_or_refused),
    CHECK_TEST(test_store_races__who_lost_the_lease_writes_nothing),
    CHECK_TEST(test_store_races__look_sees_what_was_posted_before),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return store_case_main("conformance/store_races", tests);
}
