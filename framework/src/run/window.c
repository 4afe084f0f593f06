// See window.h.
#include "run/window.h"

#include "run/tokens.h"

#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

enum {
    FIRST_TURN, // in `pins`
    LAST_TURN,
    LAST_INPUT
};

typedef struct folding {
    cdr_window_place at;
    const cadre_request_item *items;
    const int64_t *counts;
    int64_t max;
} folding;

static bool is_result(const cadre_request_item *item)
{
    return item->rendering == CADRE_AS_OWN && item->message->role == CADRE_ROLE_TOOL;
}

static size_t end_of_round(const folding *f, size_t at, size_t n)
{
    do
        at++;
    while (at < n && is_result(&f->items[at]));
    return at;
}

static int64_t sum_of(const folding *f, size_t from, size_t to)
{
    int64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += f->counts[i];
    return sum;
}

// --- What stays ---

// Lists the pins before a place, in order. Returns how many there are.
static size_t list_pins(const size_t pins[CDR_WINDOW_PINS], size_t before,
                        size_t out[CDR_WINDOW_PINS])
{
    size_t n = 0;
    for (size_t least = 0; n < CDR_WINDOW_PINS; n++) {
        size_t next = NONE;
        for (size_t i = 0; i < CDR_WINDOW_PINS; i++)
            if (pins[i] >= least && pins[i] < next)
                next = pins[i];
        if (next >= before)
            break;
        out[n] = next;
        least = next + 1;
    }
    return n;
}

static int64_t count_pins(const folding *f, size_t before)
{
    size_t listed[CDR_WINDOW_PINS];
    size_t n = list_pins(f->at.pins, before, listed);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += f->counts[listed[i]];
    return sum;
}

static int64_t count_older(const folding *f)
{
    int64_t sum = 0;
    for (size_t i = 0; i < f->at.n_older; i++)
        sum += f->counts[f->at.older[i]];
    return sum;
}

// What an agent says to itself of its answer is no input, and the report of a run no
// turn of the user.
static void note_pins(folding *f, size_t at)
{
    const cadre_request_item *item = &f->items[at];
    const cadre_message *m = item->message;
    if (item->rendering != CADRE_AS_USER)
        return;
    if (f->at.pins[FIRST_TURN] == NONE)
        f->at.pins[FIRST_TURN] = at;
    if (m->is_input && strcmp(m->agent, m->to) != 0)
        f->at.pins[LAST_INPUT] = at;
    else if (!m->is_input && m->agent[0] == '\0')
        f->at.pins[LAST_TURN] = at;
}

// --- Steps ---

// Leaves out rounds up to the newest, until there is room again.
static void step(folding *f, size_t newest)
{
    cdr_window_place *at = &f->at;
    int64_t fixed = count_pins(f, newest);
    int64_t low = fixed < f->max ? fixed + (f->max - fixed) * 7 / 10 : 0;
    while (at->from < newest && count_pins(f, at->from) + at->sum > low) {
        size_t end = end_of_round(f, at->from, newest);
        at->sum -= sum_of(f, at->from, end);
        at->from = end;
    }
    at->n_older = list_pins(at->pins, at->from, at->older);
}

static void fold(folding *f, size_t n_items)
{
    while (f->at.n_items < n_items) {
        size_t newest = f->at.n_items;
        size_t end = end_of_round(f, newest, n_items);
        note_pins(f, newest);
        f->at.sum += sum_of(f, newest, end);
        f->at.n_items = end;
        if (count_older(f) + f->at.sum > f->max)
            step(f, newest);
    }
}

// --- Bringing it up to date ---

static void restart(cdr_window *window, const cdr_window_view *view, int64_t max_tokens)
{
    window->max_tokens = max_tokens;
    window->of_edition = view->edition;
    window->edition++;
    window->settled = (cdr_window_place){.pins = {NONE, NONE, NONE}};
}

static bool is_same(const cdr_window *window, const cdr_window_view *view,
                    int64_t max_tokens)
{
    return window->max_tokens == max_tokens && window->of_edition == view->edition &&
           view->n_settled >= window->settled.n_items;
}

static void *with_room(void *array, size_t *capacity, size_t n, size_t size)
{
    if (n <= *capacity)
        return array;
    size_t more = n < 2 * *capacity ? 2 * *capacity : n;
    void *grown = realloc(array, more * size);
    if (grown != NULL)
        *capacity = more;
    return grown;
}

static bool count(cdr_window *window, const cdr_window_view *view)
{
    int64_t *counts = with_room(window->counts, &window->counts_capacity,
                                view->n_said + 1, sizeof *counts);
    if (counts == NULL)
        return false;
    window->counts = counts;
    for (size_t i = window->settled.n_items; i < view->n_said; i++)
        counts[i] = cdr_tokens_of_item(&view->items[i]);
    return true;
}

// Does the list begin as it did, but for what is new at its end?
static bool goes_on(const cdr_window_place *before, const cdr_window_place *at)
{
    return before->from == at->from && before->n_older == at->n_older &&
           memcmp(before->older, at->older, at->n_older * sizeof *at->older) == 0;
}

// What is sent where something is left out: what stays, and the newest.
static bool cut(cdr_window *window, const cdr_window_view *view,
                const cdr_window_place *at)
{
    size_t n_newest = view->n_items - at->from;
    cadre_request_item *kept = with_room(window->kept, &window->kept_capacity,
                                         at->n_older + n_newest, sizeof *kept);
    if (kept == NULL)
        return false;
    for (size_t i = 0; i < at->n_older; i++)
        kept[i] = view->items[at->older[i]];
    memcpy(kept + at->n_older, view->items + at->from, n_newest * sizeof *kept);
    window->kept = kept;
    window->items = kept;
    window->n_items = at->n_older + n_newest;
    window->n_settled =
        view->n_settled < at->from ? 0 : at->n_older + view->n_settled - at->from;
    return true;
}

bool cdr_window_update(cdr_window *window, const cdr_window_view *view,
                       int64_t max_tokens)
{
    if (!is_same(window, view, max_tokens))
        restart(window, view, max_tokens);
    window->items = view->items;
    window->n_items = view->n_items;
    window->n_settled = view->n_settled;
    window->tokens = 0;
    window->is_cut = false;
    if (max_tokens == 0)
        return true;
    if (!count(window, view))
        return false;
    folding f = {window->settled, view->items, window->counts, max_tokens};
    fold(&f, view->n_settled);
    window->settled = f.at;
    fold(&f, view->n_said);
    if (!goes_on(&window->shown, &f.at))
        window->edition++;
    window->shown = f.at;
    window->tokens = count_older(&f) + f.at.sum;
    window->is_cut = f.at.from > 0;
    return !window->is_cut || cut(window, view, &f.at);
}

void cdr_window_fini(cdr_window *window)
{
    free(window->counts);
    free(window->kept);
    *window = (cdr_window){.n_items = 0};
}

int64_t cdr_window_count(const cadre_request_item *items, size_t n_items)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n_items; i++)
        sum += cdr_tokens_of_item(&items[i]);
    return sum;
}
