// See store_writers.h.
#include "store_writers.h"

#include "team/kinds.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double monotonic_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// --- Writing ---

typedef struct writer {
    const store_writers *plan;
    store_case s; // the same state, an error of its own
    uint64_t trace;
    bool is_ok;
} writer;

// Ids of a trace: the trace's, then its conversation's, root's and children's.
static uint64_t id_in(uint64_t trace, uint64_t number)
{
    return trace * 10000000 + number;
}

static bool begin_trace(writer *w)
{
    uint64_t conversation = id_in(w->trace, 1);
    return COMMIT(&w->s, w->trace, fact_conversation(conversation, ""),
                  fact_trace(w->trace),
                  fact_in(fact_frame(id_in(w->trace, 2), 0, "root"), conversation)) ==
           CADRE_OK;
}

static bool add_child(writer *w, uint64_t n)
{
    char key[24];
    uint64_t conversation = id_in(w->trace, 1);
    uint64_t child = id_in(w->trace, 2 + n);
    snprintf(key, sizeof(key), "%" PRIu64, n);
    cadre_fact said = fact_message(conversation, child, (int64_t)n - 1, key);
    said.u.message.id = store_id(id_in(w->trace, 5000000 + n));
    return COMMIT(&w->s, w->trace,
                  fact_in(fact_frame(child, id_in(w->trace, 2), key), conversation),
                  said, fact_end(child, key)) == CADRE_OK;
}

static bool tell(const writer *w, uint64_t n)
{
    const commit_told told = {w->trace, n};
    return write(w->plan->fd, &told, sizeof(told)) == sizeof(told);
}

static void *work(void *arg)
{
    writer *w = arg;
    w->is_ok = begin_trace(w);
    for (uint64_t n = 1;
         w->is_ok && (w->plan->n_each == 0 || n <= (uint64_t)w->plan->n_each); n++)
        w->is_ok = add_child(w, n) && tell(w, n);
    return NULL;
}

static bool run_threads(const store_writers *plan, const store_case *s, uint64_t first)
{
    writer writers[STORE_WRITERS_THREADS];
    pthread_t threads[STORE_WRITERS_THREADS];
    bool is_ok = true;
    for (uint64_t i = 0; i < STORE_WRITERS_THREADS; i++) {
        writers[i] = (writer){.plan = plan, .s = *s, .trace = first + i};
        if (pthread_create(&threads[i], NULL, work, &writers[i]) != 0)
            return false;
    }
    for (int i = 0; i < STORE_WRITERS_THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (!writers[i].is_ok)
            fprintf(stderr, "a writer failed: %s\n", writers[i].s.err.text);
        is_ok = is_ok && writers[i].is_ok;
    }
    return is_ok;
}

static bool open_and_write(const store_writers *plan, uint64_t first)
{
    store_case s = {.err = CADRE_ERROR_INIT};
    const cadre_store_ops *const *at = cdr_kinds_stores;
    while (*at && strcmp((*at)->type, "sqlite") != 0)
        at++;
    s.ops = *at;
    s.state = s.ops ? calloc(1, s.ops->state_size) : NULL;
    if (!s.state)
        return false;
    bool is_ok = s.ops->init(s.state, plan->url, &s.err) == CADRE_OK;
    if (is_ok) {
        is_ok = run_threads(plan, &s, first);
        s.ops->fini(s.state);
    } else {
        fprintf(stderr, "not opened: %s\n", s.err.text);
    }
    free(s.state);
    return is_ok;
}

bool store_writers_run(const store_writers *plan)
{
    double until = monotonic_s() + plan->seconds;
    uint64_t trace = plan->first_trace;
    bool is_ok = true;
    do {
        is_ok = open_and_write(plan, trace);
        trace += STORE_WRITERS_THREADS;
    } while (is_ok && monotonic_s() < until);
    return is_ok;
}

// --- What was told ---

static void note(told_commits *told, const commit_told *one)
{
    size_t at = (size_t)(one->trace - told->first);
    if (!CHECK(at < told->n_traces))
        return;
    CHECK_INT(one->n, told->n[at] + 1);
    told->n[at] = one->n;
    told->total++;
}

bool told_commits_read(told_commits *told, int fd, double seconds)
{
    double until = monotonic_s() + seconds;
    for (;;) {
        struct pollfd it = {.fd = fd, .events = POLLIN};
        double left = until - monotonic_s();
        struct timespec wait = {.tv_nsec = 0};
        if (seconds >= 0 && left <= 0)
            return false;
        wait.tv_sec = (time_t)left;
        wait.tv_nsec = (long)((left - (double)wait.tv_sec) * 1e9);
        int n = ppoll(&it, 1, seconds < 0 ? NULL : &wait, NULL);
        if (n < 0 && errno != EINTR)
            return false;
        commit_told one;
        if (n > 0 && read(fd, &one, sizeof(one)) != sizeof(one))
            return true;
        if (n > 0)
            note(told, &one);
    }
}

// Read-only: a log that was left by a crash stays as it is.
void told_commits_check(const told_commits *told, const char *path)
{
    static const char sql[] =
        "SELECT (SELECT count(*) FROM messages WHERE conversation_id = root"
        ".conversation_id AND position = content - 1), count(child.id) FROM frames AS "
        "root JOIN frames AS child ON child.parent_id = root.id AND "
        "child.status = 'completed' AND child.output = child.key "
        "WHERE root.trace_id = ?1 AND root.is_root = 1";
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    if (told->total == 0)
        return; // there may be no file yet
    CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    for (size_t i = 0; i < told->n_traces; i++) {
        char id[CADRE_ID_TEXT_SIZE];
        if (told->n[i] == 0)
            continue;
        if (!CHECK_INT(rc, SQLITE_OK))
            break;
        cadre_id_text(store_id(told->first + i), id);
        sqlite3_bind_text(stmt, 1, id, -1, SQLITE_TRANSIENT);
        CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
        uint64_t n_said = (uint64_t)sqlite3_column_int64(stmt, 0);
        uint64_t n = (uint64_t)sqlite3_column_int64(stmt, 1);
        CHECK(n == told->n[i] || n == told->n[i] + 1);
        CHECK_INT(n_said, n);
        sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}
