// The window: which part of a view is sent, where a limit of tokens is set.
//
// Rules:
// 1. What goes is the oldest, by whole rounds: an answer with all results of its calls,
//    or one message of somebody else.
// 2. These stay: the first user turn, the last one and what was said last to the agent
//    by who called it; and the last round.
// 3. Whenever the limit is passed so much goes that three tenths of what the limit
//    leaves beside rule 2 are free. Between two such steps the window only grows at its
//    end: so a prompt's prefix is the same, request after request.
// 4. It follows from the items and the limit alone, as if it had been looked at behind
//    each item: a resumed run sends what the first one would have.
// 5. What does not fit even so is told (`tokens`), not cut.
//
// Bringing it up to date takes time linear in what is new, and in what is sent.
// Thread: the frame's strand.
#ifndef CDR_WINDOW_H
#define CDR_WINDOW_H

#include "cadre/ext/transcript.h"

#define CDR_WINDOW_PINS 3

// How far it has come, in places of the view's items; SIZE_MAX: there is none.
typedef struct cdr_window_place {
    size_t n_items;
    size_t from;                   // the newest items, from here on, are in it
    int64_t sum;                   // tokens of these
    size_t pins[CDR_WINDOW_PINS];  // what stays: first user turn, last one, last input
    size_t older[CDR_WINDOW_PINS]; // those before `from` that stay until the next step
    size_t n_older;
} cdr_window_place;

// All zero: empty.
typedef struct cdr_window {
    const cadre_request_item *items; // what is sent
    size_t n_items;
    size_t n_settled; // so many of them will be there, and the same, at the next update
    unsigned edition; // another one: no item need be what it was, settled or not
    int64_t tokens;   // of what is sent, about
    bool is_cut;      // something is left out

    // What it is made from.
    int64_t max_tokens;
    unsigned of_edition; // of the view
    cdr_window_place settled;
    cdr_window_place shown; // what is sent now
    int64_t *counts;        // tokens of each item
    cadre_request_item *kept;
    size_t counts_capacity, kept_capacity;
} cdr_window;

// The items of a view.
typedef struct cdr_window_view {
    const cadre_request_item *items;
    size_t n_items;
    size_t n_said;    // of these, what was said: what hooks add behind is always sent
    size_t n_settled; // so many will be there, and the same, at the next update
    unsigned edition; // another one: no item need be what it was
} cdr_window_view;

// Brings it up to date; gives what an empty one would. `max_tokens` 0: all is sent, and
// nothing is counted. False: no memory.
bool cdr_window_update(cdr_window *window, const cdr_window_view *view,
                       int64_t max_tokens);

void cdr_window_fini(cdr_window *window);

// Tokens of items, about.
int64_t cdr_window_count(const cadre_request_item *items, size_t n_items);

#endif
