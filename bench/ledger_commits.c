// Durable commits: a frame and a message of 250 bytes each, by many runs at once and by
// one alone. The floor is one thread that inserts the same rows into the same tables
// with SQLite alone: no triggers, no foreign keys, nothing checked; in groups as large
// as those the store made.
#include "ledger.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_RUNS = 64,
    PER_RUN = 30, // commits of each in a round
    ALONE = 100,  // commits of one that is alone
    ROUNDS = 25,
    TEXT_LEN = 250
};

static char text[TEXT_LEN + 1];

// --- Counting transactions ---

static atomic_long n_transactions;

static int count_transaction(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&n_transactions, 1);
    return 0;
}

static int watch(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    sqlite3_commit_hook(db, count_transaction, NULL);
    return SQLITE_OK;
}

// --- Cadre ---

typedef struct worker {
    const ledger_store *store;
    ledger_trace trace;
    int n_commits; // of the next round
    int64_t n_done;
    pthread_barrier_t *all;
} worker;

static void commit_one(worker *w)
{
    char key[24];
    cadre_id id = cadre_id_new();
    snprintf(key, sizeof key, "%lld", (long long)w->n_done);
    cadre_fact facts[2] = {ledger_birth(&w->trace, id, w->trace.root, key),
                           {.type = CADRE_FACT_MESSAGE}};
    facts[1].u.message = (cadre_message_row){.id = cadre_id_new(),
                                             .conversation = w->trace.conversation,
                                             .frame = id,
                                             .message = {.role = CADRE_ROLE_ASSISTANT,
                                                         .agent = "one",
                                                         .text = text,
                                                         .position = w->n_done}};
    ledger_write(w->store, w->trace.id, facts, 2);
    w->n_done++;
}

static void *work(void *arg)
{
    worker *w = arg;
    pthread_barrier_wait(w->all);
    for (int i = 0; i < w->n_commits; i++)
        commit_one(w);
    pthread_barrier_wait(w->all);
    return NULL;
}

static double cadre_us(worker *workers, unsigned n, int n_commits)
{
    pthread_t threads[N_RUNS];
    pthread_barrier_t all;
    pthread_barrier_init(&all, NULL, n + 1);
    for (unsigned i = 0; i < n; i++) {
        workers[i].n_commits = n_commits;
        workers[i].all = &all;
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    pthread_barrier_wait(&all);
    double start = bench_wall_us();
    pthread_barrier_wait(&all);
    double us = bench_wall_us() - start;
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all);
    return us / (n_commits * (double)n);
}

// --- SQLite alone ---

typedef struct raw {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *frame, *message;
    const worker *twins; // whose traces were made in this file
    int64_t n_done[N_RUNS];
} raw;

static void must(sqlite3 *db, int rc)
{
    if (rc == SQLITE_OK || rc == SQLITE_DONE)
        return;
    fprintf(stderr, "cadre-bench: SQLite: %s\n", sqlite3_errmsg(db));
    exit(1);
}

static void prepare(raw *r, sqlite3_stmt **stmt, const char *sql)
{
    must(r->db, sqlite3_prepare_v2(r->db, sql, -1, stmt, NULL));
}

static void raw_open(raw *r, const char *path, const worker *twins)
{
    static const char set_up[] =
        "PRAGMA foreign_keys = OFF; PRAGMA synchronous = FULL;"
        "PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 16777216;"
        "DROP TRIGGER frames_born; DROP TRIGGER frames_final;"
        "DROP TRIGGER frames_fixed; DROP TRIGGER frames_marked;"
        "DROP TRIGGER frames_ended; DROP TRIGGER conversations_fixed;"
        "DROP TRIGGER messages_final; DROP TRIGGER messages_fixed;";
    *r = (raw){.twins = twins};
    must(NULL, sqlite3_open_v2(path, &r->db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    must(r->db, sqlite3_exec(r->db, set_up, NULL, NULL, NULL));
    prepare(r, &r->begin, "BEGIN IMMEDIATE");
    prepare(r, &r->commit, "COMMIT");
    prepare(r, &r->frame,
            "INSERT INTO frames (id, trace_id, parent_id, is_root, conversation_id, "
            "key, kind, name, referer, input, depth, status, attempts, restarts, "
            "replay_safe, start_seq, created_at) VALUES (?1, ?2, ?3, 0, ?4, ?5, "
            "'agent', 'one', 'agent', '', 0, 'running', 0, 0, 0, 0, 0)");
    prepare(r, &r->message,
            "INSERT INTO messages (id, conversation_id, frame_id, position, seq, role, "
            "agent, recipient, content, reasoning, call_id, tool_name, is_input, "
            "created_at) VALUES (?1, ?2, ?3, ?4, 0, 'assistant', 'one', '', ?5, '', "
            "'', '', 0, 1700000000000)");
}

static void raw_close(raw *r)
{
    sqlite3_finalize(r->begin);
    sqlite3_finalize(r->commit);
    sqlite3_finalize(r->frame);
    sqlite3_finalize(r->message);
    sqlite3_close(r->db);
}

static void bind_id(sqlite3_stmt *stmt, int at, cadre_id id)
{
    char id_text[CADRE_ID_TEXT_SIZE];
    cadre_id_text(id, id_text);
    sqlite3_bind_text(stmt, at, id_text, -1, SQLITE_TRANSIENT);
}

static void step(raw *r, sqlite3_stmt *stmt)
{
    must(r->db, sqlite3_step(stmt));
    sqlite3_reset(stmt);
}

static void insert_one(raw *r, int of)
{
    char key[24];
    const ledger_trace *trace = &r->twins[of].trace;
    int64_t number = r->n_done[of]++;
    cadre_id id = cadre_id_new();
    snprintf(key, sizeof key, "%lld", (long long)number);
    bind_id(r->frame, 1, id);
    bind_id(r->frame, 2, trace->id);
    bind_id(r->frame, 3, trace->root);
    bind_id(r->frame, 4, trace->conversation);
    sqlite3_bind_text(r->frame, 5, key, -1, SQLITE_STATIC);
    step(r, r->frame);
    bind_id(r->message, 1, cadre_id_new());
    bind_id(r->message, 2, trace->conversation);
    bind_id(r->message, 3, id);
    sqlite3_bind_int64(r->message, 4, number);
    sqlite3_bind_text(r->message, 5, text, TEXT_LEN, SQLITE_STATIC);
    step(r, r->message);
}

// Inserts `n` times, for `n_runs` in turn, in that many transactions.
static double raw_us(raw *r, int n, int n_runs, long n_groups)
{
    double start = bench_wall_us();
    int done = 0;
    for (long group = 1; group <= n_groups; group++) {
        int until = (int)((int64_t)n * group / n_groups);
        step(r, r->begin);
        for (; done < until; done++)
            insert_one(r, done % n_runs);
        step(r, r->commit);
    }
    return (bench_wall_us() - start) / n;
}

// --- Both in turn ---

typedef struct contest {
    worker *workers;
    raw *floor;
    int n_runs, n_commits; // of each, in a round
} contest;

typedef struct turn {
    double ours, ratio, group;
} turn;

static turn fight(const contest *c)
{
    int n = c->n_runs * c->n_commits;
    long before = atomic_load(&n_transactions);
    turn r = {.ours = cadre_us(c->workers, (unsigned)c->n_runs, c->n_commits)};
    long n_groups = atomic_load(&n_transactions) - before;
    r.ratio = r.ours / raw_us(c->floor, n, c->n_runs, n_groups);
    r.group = (double)n / (double)n_groups;
    return r;
}

static void compare(const contest *c, const char *what, double goal)
{
    char line[80];
    double ours[ROUNDS];
    double ratios[ROUNDS];
    double groups[ROUNDS];
    fight(c); // warms up
    for (int i = 0; i < ROUNDS; i++) {
        turn r = fight(c);
        ours[i] = r.ours;
        ratios[i] = r.ratio;
        groups[i] = r.group;
    }
    snprintf(line, sizeof line, "%s (groups of %.0f)", what,
             bench_median(groups, ROUNDS));
    // The ratio of a round, since the disk is another one a second later.
    double value = bench_median(ours, ROUNDS);
    bench_print(
        &(bench_row){line, value, "us", value / bench_median(ratios, ROUNDS), goal});
}

void ledger_commits(void)
{
    static worker workers[N_RUNS];
    static worker twins[N_RUNS];
    char path[LEDGER_PATH_SIZE];
    ledger_folder folder;
    ledger_store store;
    raw r;
    memset(text, 'x', TEXT_LEN);
    ledger_folder_make(&folder);
    ledger_folder_path(&folder, "raw.db", path);
    ledger_open(&store, path);
    for (int i = 0; i < N_RUNS; i++)
        twins[i].trace = ledger_begin(&store);
    ledger_close(&store);
    raw_open(&r, path, twins);
    sqlite3_auto_extension((void (*)(void))watch);
    ledger_folder_path(&folder, "cadre.db", path);
    ledger_open(&store, path);
    sqlite3_cancel_auto_extension((void (*)(void))watch);
    for (int i = 0; i < N_RUNS; i++)
        workers[i] = (worker){.store = &store, .trace = ledger_begin(&store)};
    bench_head("ledger: durable commits of a frame and a message (floor: one thread, "
               "SQLite alone)");
    compare(&(contest){workers, &r, N_RUNS, PER_RUN}, "64 runs at once: wall a commit",
            1 / 0.7);
    compare(&(contest){workers, &r, 1, ALONE}, "one run alone: wall a commit", 1.3);
    raw_close(&r);
    ledger_close(&store);
    ledger_folder_remove(&folder);
}
