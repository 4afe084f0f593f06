// Every store is called by many threads at once: traces of their own, turns on one, and
// traces that come and go.
#include "support/store_case.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum {
    N_THREADS = 8,
    N_ROUNDS = 100
};

typedef struct worker {
    store_case s; // a copy: the same state, an error and a buffer of its own
    uint64_t number;
    pthread_mutex_t *turn; // of who writes to the one trace
    uint64_t *n_written;   // guarded by turn
} worker;

static void run_workers(store_case *s, void *(*work)(void *))
{
    static worker workers[N_THREADS];
    pthread_t threads[N_THREADS];
    pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    uint64_t n_written = 0;
    for (uint64_t i = 0; i < N_THREADS; i++) {
        workers[i] =
            (worker){.s = *s, .number = i, .turn = &turn, .n_written = &n_written};
        CHECK_INT(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *write_a_trace(void *arg)
{
    worker *w = arg;
    uint64_t id = 1 + w->number;
    uint64_t base = id * 10000;
    char name[16];
    snprintf(name, sizeof(name), "s%" PRIu64, id);
    CHECK_COMMIT(&w->s, id, fact_trace(id), fact_conversation(base, name),
                 fact_conversation(base + 1, ""),
                 fact_in(fact_frame(base, 0, "root"), base));
    for (uint64_t i = 0; i < N_ROUNDS; i++) {
        uint64_t child = base + 10 + i;
        char key[16];
        snprintf(key, sizeof(key), "%" PRIu64, i);
        CHECK_COMMIT(&w->s, id, fact_in(fact_frame(child, base, key), base),
                     fact_message(base, child, (int64_t)i, "said"),
                     fact_message(base + 1, child, (int64_t)i, "thought"));
        CHECK_COMMIT(&w->s, id, fact_end(child, key));
        CHECK_VIOLATION(&w->s, id, fact_message(base, base, (int64_t)i + 1, "undone"),
                        fact_frame(child, base, "again"));
        if (i % 25 == 0) {
            store_frames(&w->s, 1 + (w->number + 1) % N_THREADS);
            CHECK_CONTAINS(store_session(&w->s, name), "0 said\n");
        }
    }
    CHECK_COMMIT(&w->s, id, fact_end(base, name));
    return NULL;
}

static cadre_status count_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    (void)row;
    (void)err;
    int *n = ctx;
    ++*n;
    return CADRE_OK;
}

static int n_frames_of(store_case *s, uint64_t id)
{
    int n = 0;
    const cadre_store_reader reader = {.frame = count_frame, .ctx = &n};
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(id)};
    CHECK_OK(s->ops->read(s->state, &query, &reader, NULL), NULL);
    return n;
}

static void test_store_threads__write_traces_of_their_own(void)
{
    run_workers(&tested, write_a_trace);
    for (uint64_t i = 1; i <= N_THREADS; i++) {
        CHECK_INT(n_frames_of(&tested, i), N_ROUNDS + 1);
        char name[16];
        char last[32];
        snprintf(name, sizeof(name), "s%" PRIu64, i);
        snprintf(last, sizeof(last), "%d said\nin %" PRIu64, N_ROUNDS - 1, i * 10000);
        CHECK_CONTAINS(store_session(&tested, name), last);
    }
}

static void *write_to_one_trace(void *arg)
{
    worker *w = arg;
    for (uint64_t i = 0; i < N_ROUNDS; i++) {
        pthread_mutex_lock(w->turn);
        uint64_t n = (*w->n_written)++;
        char key[16];
        snprintf(key, sizeof(key), "%" PRIu64, n);
        CHECK_COMMIT(&w->s, 1, fact_frame(10 + n, 1, key), fact_end(10 + n, ""),
                     fact_message(100, 10 + n, (int64_t)n, "x"));
        pthread_mutex_unlock(w->turn);
        CHECK(n_frames_of(&w->s, 1) > (int)n);
    }
    return NULL;
}

static void test_store_threads__take_turns_on_one_trace(void)
{
    store_start(&tested);
    run_workers(&tested, write_to_one_trace);
    CHECK_INT(n_frames_of(&tested, 1), N_THREADS * N_ROUNDS + 1);
}

static void *open_and_release(void *arg)
{
    worker *w = arg;
    for (uint64_t i = 0; i < N_ROUNDS; i++) {
        uint64_t id = 1 + w->number + N_THREADS * i;
        CHECK_COMMIT(&w->s, id, fact_trace(id), fact_conversation(100000 + id, ""),
                     fact_in(fact_frame(id, 0, "root"), 100000 + id),
                     fact_message(100000 + id, id, 0, "x"), fact_end(id, "done"));
        CHECK_INT(n_frames_of(&w->s, id), 1);
        if (w->s.ops->release)
            w->s.ops->release(w->s.state, store_id(id));
    }
    return NULL;
}

static void test_store_threads__open_and_release_traces(void)
{
    run_workers(&tested, open_and_release);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store_threads__write_traces_of_their_own),
    CHECK_TEST(test_store_threads__take_turns_on_one_trace),
    CHECK_TEST(test_store_threads__open_and_release_traces),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return store_case_main("conformance/store_threads", tests);
}
