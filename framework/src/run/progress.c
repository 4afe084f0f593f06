// See progress.h.
#include "run/progress.h"

#include "run/tool_result.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_PERIOD = 3, // so many rounds may take turns
    WARNED = 3,     // this time the model is told
    BLOCKED = 5     // and this time the tools do not run
};

// A round as it is remembered.
struct cdr_past_round {
    uint64_t calls;
    uint64_t *results; // by call
    size_t n_results, capacity;
    bool is_counted;
};

struct cdr_progress {
    struct cdr_past_round rounds[MAX_PERIOD]; // the last ones, in a ring
    struct cdr_past_round spare;              // its memory is the next one's
    size_t n_rounds;
    size_t n_equal[MAX_PERIOD + 1]; // by period: rounds in a row, up to the last, that
                                    // are equal to the one so many before
};

// --- Hashes: FNV-1a, 64 bits ---

#define START UINT64_C(0xCBF29CE484222325)
#define PRIME UINT64_C(0x100000001B3)

static uint64_t add_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * PRIME;
}

static uint64_t add_text(uint64_t hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = add_byte(hash, (unsigned char)text[i]);
    return add_byte(hash, 0);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Without the blanks between the words of the JSON.
static uint64_t add_arguments(uint64_t hash, const char *text)
{
    bool in_string = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (!in_string && is_blank(*c))
            continue;
        hash = add_byte(hash, (unsigned char)*c);
        if (in_string && *c == '\\' && c[1] != '\0')
            hash = add_byte(hash, (unsigned char)*++c);
        else if (*c == '"')
            in_string = !in_string;
    }
    return add_byte(hash, 0);
}

static uint64_t hash_calls(const cdr_round *round)
{
    uint64_t hash = START;
    for (size_t i = 0; i < round->n_entries; i++) {
        const cadre_tool_call *call = round->entries[i].call;
        hash = add_text(hash, call->name, strlen(call->name));
        hash = add_arguments(hash, call->arguments);
    }
    return hash;
}

static uint64_t hash_result(cadre_result_code code, const char *text, size_t len)
{
    return add_text(add_byte(START, (unsigned char)code), text, len);
}

// --- Looking back ---

// The round `back` rounds before the next one. NULL: there were not so many.
static const struct cdr_past_round *round_before(const struct cdr_progress *progress,
                                                 size_t back)
{
    if (progress->n_rounds < back)
        return NULL;
    return &progress->rounds[(progress->n_rounds - back) % MAX_PERIOD];
}

// Do rounds that take turns differ in their calls? One call with results that come and
// go is looking at something that changes.
static bool has_turns(const struct cdr_progress *progress, size_t period,
                      uint64_t calls)
{
    for (size_t back = 1; back < period; back++)
        if (round_before(progress, back)->calls != calls)
            return true;
    return period == 1;
}

// Which time it is, with the next round, that one and the `period` - 1 before it come.
static int times_with(const struct cdr_progress *progress, size_t period,
                      const cdr_round *round)
{
    const struct cdr_past_round *before = round_before(progress, period);
    if (before == NULL || !before->is_counted || before->calls != round->recurs.calls ||
        before->n_results != round->n_entries ||
        !has_turns(progress, period, round->recurs.calls))
        return 1;
    size_t times = (progress->n_equal[period] + period) / period + 1;
    return times > BLOCKED ? BLOCKED : (int)times;
}

static bool may_count(const cdr_round *round)
{
    for (size_t i = 0; i < round->n_entries; i++) {
        const cdr_tool_entry *entry = &round->entries[i];
        const cadre_tool *tool = entry->tool;
        if (entry->is_named_target ||
            (tool != NULL && (tool->may_repeat || tool->ops->is_control)))
            return false;
    }
    return true;
}

void cdr_progress_begin(cadre_frame *frame, cdr_round *round)
{
    cdr_work *work = frame->work;
    round->recurs = (cdr_recurrence){.calls = hash_calls(round), .times = 1};
    if (work->progress == NULL) {
        work->progress = cdr_arena_alloc(&work->arena, sizeof *work->progress);
        if (work->progress != NULL)
            *work->progress = (struct cdr_progress){.n_rounds = 0};
    }
    if (work->progress == NULL || !may_count(round))
        return;
    round->recurs.is_counted = true;
    for (size_t period = 1; period <= MAX_PERIOD; period++) {
        int times = times_with(work->progress, period, round);
        if (times <= round->recurs.times)
            continue;
        round->recurs.times = times;
        round->recurs.before = round_before(work->progress, period);
    }
    round->recurs.is_blocked = round->recurs.times >= BLOCKED;
}

// --- What the model is told ---

static void write_note(int times, char note[CDR_PROGRESS_NOTE_SIZE])
{
    (void)snprintf(note, CDR_PROGRESS_NOTE_SIZE,
                   "\n\nNote: the same call had the same result %d times. Do something "
                   "else, or answer.",
                   times);
}

const char *cdr_progress_note(const cdr_round *round, const cdr_tool_entry *entry,
                              cadre_result_code code, const char *text,
                              char note[CDR_PROGRESS_NOTE_SIZE])
{
    if (round == NULL || round->recurs.times < WARNED || round->recurs.is_blocked)
        return NULL;
    uint64_t hash = hash_result(code, text, strlen(text));
    if (round->recurs.before->results[entry - round->entries] != hash)
        return NULL;
    write_note(round->recurs.times, note);
    return note;
}

const char *cdr_progress_refusal(void)
{
    return "Not done: this call was made 4 times with the same result. Do something "
           "else, or answer.";
}

// --- Counting ---

// Without the note that this round's results were given.
static size_t bare_length(const cdr_round *round, const char *text)
{
    char note[CDR_PROGRESS_NOTE_SIZE];
    size_t len = strlen(text);
    if (round->recurs.times < WARNED || round->recurs.is_blocked)
        return len;
    write_note(round->recurs.times, note);
    size_t n_note = strlen(note);
    return len >= n_note && strcmp(text + len - n_note, note) == 0 ? len - n_note : len;
}

// Did a tool do work, and nobody ask for a handover?
static bool was_work(const cdr_round *round)
{
    bool has_work = false;
    for (size_t i = 0; i < round->n_entries; i++) {
        if (round->entries[i].target != NULL)
            return false;
        has_work |= !cdr_tool_is_bad_call(round->entries[i].code);
    }
    return has_work;
}

static bool make_room(cadre_frame *frame, struct cdr_past_round *past, size_t n)
{
    if (n <= past->capacity)
        return true;
    size_t capacity = past->capacity * 2 > n ? past->capacity * 2 : n;
    uint64_t *results =
        cdr_arena_alloc(&frame->work->arena, capacity * sizeof *results);
    if (results == NULL)
        return false;
    past->results = results;
    past->capacity = capacity;
    return true;
}

// A blocked round counts as what it would have been.
static void remember(const cdr_round *round, struct cdr_past_round *past)
{
    past->n_results = round->n_entries;
    for (size_t i = 0; i < round->n_entries; i++) {
        const cdr_message *result =
            atomic_load_explicit(round->entries[i].result, memory_order_acquire);
        const char *text = result == NULL ? "" : result->m.text;
        past->results[i] =
            round->recurs.is_blocked
                ? round->recurs.before->results[i]
                : hash_result(round->entries[i].code, text, bare_length(round, text));
    }
}

static bool is_equal(const struct cdr_past_round *a, const struct cdr_past_round *b)
{
    return a->is_counted && b->is_counted && a->calls == b->calls &&
           a->n_results == b->n_results &&
           memcmp(a->results, b->results, a->n_results * sizeof *a->results) == 0;
}

void cdr_progress_end(cadre_frame *frame, const cdr_round *round)
{
    struct cdr_progress *progress = frame->work->progress;
    struct cdr_past_round now = {.calls = round->recurs.calls};
    if (progress == NULL)
        return;
    // In the place of the oldest one, but only once it was compared with that.
    struct cdr_past_round *place = &progress->rounds[progress->n_rounds % MAX_PERIOD];
    struct cdr_past_round *spare = &progress->spare;
    now.results = spare->results;
    now.capacity = spare->capacity;
    now.is_counted = round->recurs.is_counted && was_work(round) &&
                     make_room(frame, &now, round->n_entries);
    if (now.is_counted)
        remember(round, &now);
    for (size_t period = 1; period <= MAX_PERIOD; period++) {
        const struct cdr_past_round *before = round_before(progress, period);
        bool equal = before != NULL && is_equal(&now, before);
        progress->n_equal[period] = equal ? progress->n_equal[period] + 1 : 0;
    }
    *spare = *place;
    *place = now;
    progress->n_rounds++;
}
