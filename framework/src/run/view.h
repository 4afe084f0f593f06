// The view: what one agent's model is shown of a conversation.
//
// Rules:
// 1. Its own messages as they are, each call followed by its result, in call order; a
//    call without one gets a synthetic result.
// 2. Of other agents their last words (an answer, or what was said when handing over),
//    as user turns with the speaker's name; not their tool traffic, except that of a
//    turn that handed over to this agent; transfers themselves never, nor answers that
//    were corrected.
// 3. Input is shown to the agent it was said to; input to a team, to all who are in it.
// 4. `history` narrows: all, own, last (the last user turn on), none (this frame's, and
//    where it has no input what was said last).
// 5. What attempts of a call said that failed is not shown to the next one.
// 6. The same conversation gives the same items, so that a prompt's prefix is stable.
//    The system text before them is too, unless {{state.x}} stands in it.
//
// Renderings are made once for a message and kept with it. A conversation grows at its
// end, so a view that is kept is brought up to date by looking at what is new.
// Thread: the frame's strand.
#ifndef CDR_VIEW_H
#define CDR_VIEW_H

#include "cadre/ext/model.h"

#include "team/member_map.h"
#include "tree/tree.h"

// How far a view has come: all before it stays as it is, whatever is said from now on.
typedef struct cdr_view_place {
    size_t n_messages, n_items;
    const char *last_input, *last_parts;
} cdr_view_place;

// All zero: empty.
typedef struct cdr_view {
    cadre_request_item *items;
    size_t n_items;
    const char *last_input; // the last text said to the model; ""
    const char *last_parts; // the images and files it came with; ""
    cdr_view_place settled;
    unsigned edition; // another one: no item need be what it was, settled or not

    // What it is made from.
    cdr_arena arena;    // of what is not kept with messages
    cdr_message **held; // references to the messages that were there
    size_t n_held;
    size_t n_base;   // so many of them are its caller's
    size_t n_closed; // no result comes any more for calls in so many of them
    size_t first;    // where what a narrow history has begins
    size_t items_capacity, held_capacity;
    cadre_history history;
    cdr_member_map map; // made when input to a team is met
} cdr_view;

// Brings the view up to date; it must be an empty one, or of this frame. Gives the same
// items as an empty one would. Errors: ENOMEM; then it is to be freed.
cadre_status cdr_view_update(cdr_view *view, cadre_frame *frame, cadre_history history,
                             cadre_error *err);

// Adds user turns behind all others, until the next update, which are in no
// conversation; the texts must live as long. False: no memory.
bool cdr_view_add_turns(cdr_view *view, const char *const *texts, size_t count);
void cdr_view_fini(cdr_view *view);

#endif
