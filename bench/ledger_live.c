// What looks only at what is live: is a run idle, marking all of it, and what others
// have posted. 200,000 frames are stored, half of them in the same trace; 50 are live.
// When what was posted is looked at, there are 100 live marks too, and of 10,000
// letters that came all were taken.
#include "ledger.h"

#include <stdio.h>
#include <stdlib.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

enum {
    N_TRACES = 3, // and one with half of all frames
    N_STORED = 200000,
    N_LIVE = 50,
    N_MARKS = 100,
    N_LETTERS = 10000,
    BATCH = 500,
    TIMES = 21
};

typedef struct lab {
    ledger_store store;
    ledger_trace trace, idle; // one with live frames, one that has ended
    cadre_id branch;          // below the root: 48 more are below it
    cadre_id leaves[N_LIVE - 2];
    int64_t n_born;
} lab;

static void fill(lab *l, const ledger_trace *trace, int n)
{
    static cadre_fact facts[2 * BATCH];
    static char keys[BATCH][24];
    for (int done = 0; done < n; done += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            cadre_id id = cadre_id_new();
            snprintf(keys[i], sizeof keys[i], "%lld", (long long)l->n_born++);
            facts[2 * i] = ledger_birth(trace, id, trace->root, keys[i]);
            facts[2 * i + 1] = ledger_end(id);
        }
        ledger_write(&l->store, trace->id, facts, 2 * BATCH);
    }
}

static void bear_branch(lab *l)
{
    cadre_fact facts[N_LIVE - 1];
    char keys[N_LIVE][24];
    l->branch = cadre_id_new();
    for (int i = 0; i < N_LIVE - 1; i++) {
        cadre_id id = i == 0 ? l->branch : cadre_id_new();
        snprintf(keys[i], sizeof keys[i], "%lld", (long long)l->n_born++);
        facts[i] =
            ledger_birth(&l->trace, id, i == 0 ? l->trace.root : l->branch, keys[i]);
        if (i > 0)
            l->leaves[i - 1] = id;
    }
    ledger_write(&l->store, l->trace.id, facts, N_LIVE - 1);
}

static void end_branch(lab *l)
{
    cadre_fact facts[N_LIVE - 1];
    for (int i = 0; i < N_LIVE - 2; i++)
        facts[i] = ledger_end(l->leaves[i]);
    facts[N_LIVE - 2] = ledger_end(l->branch);
    ledger_write(&l->store, l->trace.id, facts, N_LIVE - 1);
}

static cadre_status count(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    int *counts = ctx;
    (void)err;
    counts[row->mark[0] != '\0']++;
    return CADRE_OK;
}

// Counts live frames, without and with a mark. Returns how long it took.
static double look(const lab *l, cadre_id trace, int counts[2])
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_store_reader reader = {.frame = count, .ctx = counts};
    const cadre_query query = {.kind = CADRE_QUERY_LIVE, .trace = trace};
    counts[0] = counts[1] = 0;
    double start = bench_wall_us();
    bench_must(l->store.ops->read(l->store.state, &query, &reader, &err), &err);
    return bench_wall_us() - start;
}

static double mark(const lab *l)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fact fact = {.type = CADRE_FACT_MARK};
    fact.u.frame = (cadre_frame_row){.id = l->branch, .mark = "request"};
    double start = bench_wall_us();
    bench_must(l->store.ops->post(l->store.state, &fact, 1, &err), &err);
    return bench_wall_us() - start;
}

// Letters that came to the trace, each placed.
static void take_letters(const lab *l, const ledger_trace *trace)
{
    static cadre_fact facts[BATCH];
    cadre_error err = CADRE_ERROR_INIT;
    for (int done = 0; done < N_LETTERS; done += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            facts[i] = (cadre_fact){.type = CADRE_FACT_MESSAGE};
            facts[i].u.message.id = cadre_id_new();
            facts[i].u.message.conversation = trace->conversation;
            facts[i].u.message.message =
                (cadre_message){.text = "Go on.", .position = -1};
        }
        bench_must(l->store.ops->post(l->store.state, facts, BATCH, &err), &err);
        for (int i = 0; i < BATCH; i++)
            facts[i].u.message.message.position = done + i;
        ledger_write(&l->store, trace->id, facts, BATCH);
    }
}

static void set_marks(lab *l, const ledger_trace *trace)
{
    static cadre_fact facts[2 * N_MARKS];
    static char keys[N_MARKS][24];
    for (int i = 0; i < N_MARKS; i++) {
        cadre_id id = cadre_id_new();
        snprintf(keys[i], sizeof keys[i], "%lld", (long long)l->n_born++);
        facts[i] = ledger_birth(trace, id, trace->root, keys[i]);
        facts[N_MARKS + i] = (cadre_fact){.type = CADRE_FACT_MARK};
        facts[N_MARKS + i].u.frame = (cadre_frame_row){.id = id, .mark = "request"};
    }
    ledger_write(&l->store, trace->id, facts, N_OF(facts));
}

static cadre_status count_letter(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    int *counts = ctx;
    (void)row;
    (void)err;
    counts[0]++;
    return CADRE_OK;
}

// Counts what was posted: letters, then marks. Returns how long it took.
static double look_posted(const lab *l, int counts[2])
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_store_reader reader = {
        .frame = count, .message = count_letter, .ctx = counts};
    const cadre_query query = {.kind = CADRE_QUERY_POSTED};
    counts[0] = counts[1] = 0;
    double start = bench_wall_us();
    bench_must(l->store.ops->read(l->store.state, &query, &reader, &err), &err);
    return bench_wall_us() - start;
}

static void must_be(const int counts[2], int unmarked, int marked)
{
    if (counts[0] == unmarked && counts[1] == marked)
        return;
    fprintf(stderr, "cadre-bench: %d live and %d marked frames\n", counts[0],
            counts[1]);
    exit(1);
}

static void measure(lab *l)
{
    double idle[TIMES];
    double busy[TIMES];
    double marks[TIMES];
    int counts[2];
    for (int i = 0; i < TIMES; i++) {
        idle[i] = look(l, l->idle.id, counts);
        must_be(counts, 0, 0);
        bear_branch(l);
        busy[i] = look(l, l->trace.id, counts);
        must_be(counts, N_LIVE, 0);
        marks[i] = mark(l);
        look(l, l->trace.id, counts);
        must_be(counts, 1, N_LIVE - 1);
        end_branch(l);
    }
    bench_print(&(bench_row){"is it idle? a trace that is",
                             bench_median(idle, TIMES) / 1e3, "ms", 0, 5});
    bench_print(&(bench_row){"is it idle? the trace with 50 live frames",
                             bench_median(busy, TIMES) / 1e3, "ms", 0, 5});
    bench_print(&(bench_row){"marking a frame with 48 below it, durably",
                             bench_median(marks, TIMES) / 1e3, "ms", 0, 5});
}

static void measure_posted(lab *l)
{
    double quiet[TIMES];
    double busy[TIMES];
    int counts[2];
    ledger_trace trace = ledger_begin(&l->store);
    take_letters(l, &trace);
    for (int i = 0; i < TIMES; i++) {
        quiet[i] = look_posted(l, counts);
        must_be(counts, 0, 0);
    }
    set_marks(l, &trace);
    for (int i = 0; i < TIMES; i++) {
        busy[i] = look_posted(l, counts);
        must_be(counts, 0, N_MARKS);
    }
    bench_print(&(bench_row){"what was posted? nothing, 10,000 letters were taken",
                             bench_median(quiet, TIMES) / 1e3, "ms", 0, 1});
    bench_print(&(bench_row){"what was posted? 100 live marks",
                             bench_median(busy, TIMES) / 1e3, "ms", 0, 1});
}

void ledger_live(void)
{
    char path[LEDGER_PATH_SIZE];
    char fast[LEDGER_PATH_SIZE + 24];
    ledger_folder folder;
    lab l = {.n_born = 0};
    ledger_folder_make(&folder);
    ledger_folder_path(&folder, "cadre.db", path);
    snprintf(fast, sizeof fast, "%s?durability=normal", path);
    ledger_open(&l.store, fast);
    for (int i = 0; i < N_TRACES; i++) {
        l.idle = ledger_begin(&l.store);
        fill(&l, &l.idle, N_STORED / 2 / N_TRACES);
        cadre_fact end = ledger_end(l.idle.root);
        ledger_write(&l.store, l.idle.id, &end, 1);
    }
    l.trace = ledger_begin(&l.store);
    fill(&l, &l.trace, N_STORED / 2);
    ledger_close(&l.store);
    ledger_open(&l.store, path);
    bench_head("ledger: 200,000 stored frames, 50 of them live");
    measure(&l);
    measure_posted(&l);
    ledger_close(&l.store);
    ledger_folder_remove(&folder);
}
