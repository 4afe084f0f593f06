// See recording.h, rule 4: what came after the end of what.
//
// 1. Calls of one frame that ran at the same time are looked at in the order in which
//    they ended. The last outcome of each gets the end of the one before.
// 2. One that was stopped ends with its stop, so nothing of it waits and nobody waits
//    for its end. What it had got and begun by then comes before the last outcome of
//    who won, or before the stop.
//
// So an outcome only ever waits for what came before it, and a replay cannot block.
#include "run/recording.h"

#include <stdlib.h>
#include <string.h>

// The last outcome of each frame, itself or below it; NONE: it has none.
typedef struct ordering {
    cdr_recording_maker *maker;
    int *last;  // by place
    int *group; // the children that are looked at
} ordering;

static const cdr_source *source_of(const ordering *o, int at)
{
    return &o->maker->frames[at];
}

// --- Last outcomes ---

static int later_of(const ordering *o, int a, int b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    const cdr_source *x = source_of(o, a), *y = source_of(o, b);
    if (x->is_quiet || y->is_quiet) // when is chance; any will do
        return x->place > y->place ? a : b;
    return x->row.end_seq >= y->row.end_seq ? a : b;
}

static void find_last(const ordering *o)
{
    size_t n = o->maker->n_frames;
    for (size_t i = 0; i < n; i++)
        o->last[i] = source_of(o, (int)i)->has_outcome ? (int)i : CDR_SOURCE_NONE;
    for (size_t i = n; i-- > 1;) { // parents come first
        int parent = source_of(o, (int)i)->parent;
        o->last[parent] = later_of(o, o->last[parent], o->last[i]);
    }
}

// --- Waiting for an end ---

static void add_after(cdr_recording_maker *maker, json_t **list, const char *at)
{
    if (*list == NULL)
        *list = json_array();
    maker->no_memory |= json_array_append_new(*list, json_string(at)) != 0;
}

static void wait_for(const ordering *o, int waiting, int ended)
{
    cdr_recording_maker *maker = o->maker;
    json_t *item = maker->frames[waiting].item;
    json_t *list = json_incref(json_object_get(item, "after"));
    bool is_new = list == NULL;
    add_after(maker, &list, maker->frames[ended].at);
    if (is_new)
        maker->no_memory |= json_object_set(item, "after", list) != 0;
    json_decref(list);
}

// The next frame below `top`, but for those that were stopped by themselves and what is
// below them: how far these came is chance, or in the hands of who won over them.
static int next_of(const ordering *o, int at, int top)
{
    at = cdr_recording_next(o->maker, at, top);
    while (at >= 0 && cdr_recording_is_stop(o->maker, source_of(o, at)))
        at = cdr_recording_next_beside(o->maker, at, top);
    return at;
}

// Calls `take` with the last outcome of each agent's own calls below `top`.
typedef void (*outcome_taker)(const ordering *o, int outcome, void *ctx);

static void each_outcome(const ordering *o, int top, outcome_taker take, void *ctx)
{
    for (int at = top; at >= 0; at = next_of(o, at, top)) {
        int last = source_of(o, at)->has_outcome && at == top ? at : CDR_SOURCE_NONE;
        for (int child = source_of(o, at)->first_child; child >= 0;
             child = source_of(o, child)->next)
            if (source_of(o, child)->has_outcome)
                last = later_of(o, last, child);
        if (last >= 0)
            take(o, last, ctx);
    }
}

// --- What ran at the same time ---

static bool is_stopped(const cdr_source *frame)
{
    return frame->row.mark[0] != '\0';
}

static bool has_ended(const cdr_source *frame)
{
    return frame->row.status >= CADRE_FRAME_COMPLETED;
}

// Results stand in their conversation, what else is told among the events.
static int64_t end_of(const ordering *o, const cdr_source *frame)
{
    return frame->result >= 0 ? o->maker->messages[frame->result].message.position
                              : frame->row.end_seq;
}

static int compare_ends(const void *a, const void *b, void *ctx)
{
    const ordering *o = ctx;
    int64_t x = end_of(o, source_of(o, *(const int *)a));
    int64_t y = end_of(o, source_of(o, *(const int *)b));
    return (x > y) - (x < y);
}

// Nodes of one step of a graph: "write@3" and "check@3[1]".
static bool is_same_step(const char *a, const char *b)
{
    const char *x = strrchr(a, '@'), *y = strrchr(b, '@');
    return x != NULL && y != NULL && x[1] != '\0' &&
           strtol(x + 1, NULL, 10) == strtol(y + 1, NULL, 10);
}

// May they have run at the same time? What both keys begin with says so: the round of
// two calls, the batch of two branches. When they did, is chance.
static bool is_same_batch(const cdr_source *a, const cdr_source *b)
{
    const char *slash = strrchr(a->row.key, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - a->row.key) + 1;
    if (len == 0)
        return is_same_step(a->row.key, b->row.key);
    return strncmp(a->row.key, b->row.key, len) == 0 &&
           strchr(b->row.key + len, '/') == NULL;
}

// Quiet ones have no place among the events.
static bool is_told(const cdr_source *frame)
{
    return frame->result >= 0 ||
           (!frame->is_quiet && frame->row.start_seq < frame->row.end_seq);
}

// The children of a frame that `is_wanted`, in the order of their ends. One without any
// outcome cannot be made to wait, so where it stands is chance; so it is with one that
// is not told.
static size_t take_group(ordering *o, int parent, bool (*is_wanted)(const cdr_source *))
{
    size_t n = 0;
    for (int child = source_of(o, parent)->first_child; child >= 0;
         child = source_of(o, child)->next)
        if (o->last[child] >= 0 && is_told(source_of(o, child)) &&
            is_wanted(source_of(o, child)))
            o->group[n++] = child;
    if (n > 1)
        qsort_r(o->group, n, sizeof *o->group, compare_ends, o);
    return n;
}

// Not one that hands over: its turn decides it at the end.
static bool is_call(const cdr_source *frame)
{
    return has_ended(frame) && !is_stopped(frame) && frame->result >= 0 &&
           frame->item != NULL;
}

static bool is_agent(const cdr_source *frame)
{
    return has_ended(frame) && !is_stopped(frame) && frame->kind == CDR_SOURCE_AGENT;
}

// A person's answer comes after the results that were there before.
static void order_answers(const ordering *o, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (int child = source_of(o, o->group[i])->first_child; child >= 0;
             child = source_of(o, child)->next) {
            const cdr_source *ask = source_of(o, child);
            size_t low = 0, high = i; // the first that came later
            while (low < high && ask->kind == CDR_SOURCE_ASK && ask->has_outcome) {
                size_t middle = low + (high - low) / 2;
                if (end_of(o, source_of(o, o->group[middle])) < end_of(o, ask))
                    low = middle + 1;
                else
                    high = middle;
            }
            if (low > 0 && is_same_batch(source_of(o, o->group[low - 1]),
                                         source_of(o, o->group[i])))
                wait_for(o, child, o->group[low - 1]);
        }
    }
}

static void order_ends(ordering *o, int parent, bool (*is_wanted)(const cdr_source *))
{
    size_t n = take_group(o, parent, is_wanted);
    order_answers(o, n);
    for (size_t i = 1; i < n; i++) {
        int before = o->group[i - 1], at = o->group[i];
        if (is_same_batch(source_of(o, before), source_of(o, at)))
            wait_for(o, o->last[at], before);
    }
}

// --- Winners ---

// Of the branches of a loser's batch that were not stopped: the one that completed, or
// else the last. NONE: nobody won.
static int winner_over(const ordering *o, int loser)
{
    int winner = CDR_SOURCE_NONE;
    int parent = source_of(o, loser)->parent;
    for (int child = source_of(o, parent)->first_child; child >= 0;
         child = source_of(o, child)->next) {
        const cdr_source *frame = source_of(o, child);
        if (!is_agent(frame) || !is_same_batch(source_of(o, loser), frame))
            continue;
        if (winner < 0 || frame->row.status == CADRE_FRAME_COMPLETED ||
            source_of(o, winner)->row.status != CADRE_FRAME_COMPLETED)
            winner = child;
    }
    return winner;
}

static void win_after_outcome(const ordering *o, int outcome, void *ctx)
{
    wait_for(o, *(const int *)ctx, outcome);
}

// Who was not stopped has ended before the winner; of the quiet ones no event says so.
static void win_after_others(const ordering *o, int winner)
{
    int parent = source_of(o, winner)->parent;
    for (int child = source_of(o, parent)->first_child; child >= 0;
         child = source_of(o, child)->next) {
        const cdr_source *frame = source_of(o, child);
        if (child != winner && is_agent(frame) && o->last[winner] >= 0 &&
            is_same_batch(source_of(o, winner), frame) && !is_told(frame))
            wait_for(o, o->last[winner], child);
    }
}

static bool is_cut(const cdr_source *frame)
{
    return json_is_true(json_object_get(frame->item, "stopped"));
}

// The calls of a loser that were under way had begun. Of its first events a frame has
// the number of the one before; quiet ones have none.
static void win_after_begun(const ordering *o, int loser, int outcome)
{
    const cdr_source *won = source_of(o, outcome);
    for (int at = loser; at >= 0; at = next_of(o, at, loser)) {
        const cdr_source *call = source_of(o, at);
        if (is_cut(call) && !call->is_quiet && !won->is_quiet &&
            call->row.start_seq < won->row.end_seq)
            wait_for(o, outcome, at);
    }
}

// The winner comes after all that losers had got, and after who had failed before.
static void order_winner(const ordering *o, int parent)
{
    int winner = CDR_SOURCE_NONE, first = CDR_SOURCE_NONE; // of one batch
    for (int child = source_of(o, parent)->first_child; child >= 0;
         child = source_of(o, child)->next) {
        const cdr_source *frame = source_of(o, child);
        bool has_lost = frame->kind == CDR_SOURCE_AGENT &&
                        cdr_recording_is_stop(o->maker, frame) &&
                        strcmp(frame->row.mark, "owner") == 0;
        if (has_lost && (first < 0 || !is_same_batch(source_of(o, first), frame))) {
            first = child;
            winner = winner_over(o, child);
            if (winner >= 0)
                win_after_others(o, winner);
        }
        int waiting = winner < 0 ? CDR_SOURCE_NONE : o->last[winner];
        if (has_lost && waiting >= 0) {
            each_outcome(o, child, win_after_outcome, &waiting);
            win_after_begun(o, child, waiting);
        }
    }
}

static void order_children(ordering *o, int parent)
{
    order_ends(o, parent, is_call);
    order_ends(o, parent, is_agent);
    order_winner(o, parent);
}

// --- Stops ---

static void stop_after_outcome(const ordering *o, int outcome, void *ctx)
{
    int stopped = *(const int *)ctx;
    add_after(o->maker, &o->maker->frames[stopped].after, o->maker->frames[outcome].at);
}

static void order_stop(const ordering *o, int stopped)
{
    if (!cdr_recording_is_stop(o->maker, source_of(o, stopped)))
        return;
    each_outcome(o, stopped, stop_after_outcome, &stopped);
    for (int at = stopped; at >= 0; at = next_of(o, at, stopped))
        if (is_cut(source_of(o, at)))
            stop_after_outcome(o, at, &stopped);
}

void cdr_recording_set_order(cdr_recording_maker *maker)
{
    size_t size = (maker->n_frames + 1) * sizeof(int);
    ordering o = {maker, cdr_arena_alloc(&maker->arena, size),
                  cdr_arena_alloc(&maker->arena, size)};
    if (o.last == NULL || o.group == NULL || maker->n_frames == 0) {
        maker->no_memory |= maker->n_frames > 0;
        return;
    }
    find_last(&o);
    for (int i = 0; i < (int)maker->n_frames; i++) {
        order_children(&o, i);
        order_stop(&o, i);
    }
}
