// A transcript: a request's conversation as turns that every provider accepts.
//
// What is stored is what happened; what is sent must be valid. The framework makes the
// transcript before cadre_model_ops.encode, so that a wire format only writes turns one
// after the other, and a history that broke one provider breaks none:
// 1. A user's turn comes first and last, and no two turns of a user or of an assistant
//    follow one another: a run of a user's messages is one turn, what says nothing is
//    left out, and where a user's turn is missing there is one with a `note`. Results
//    are a turn of their own, after which either may follow.
// 2. An assistant's turn with calls is followed by one with exactly one result for each
//    call, in the order of calls. A result that came late is there; one that never came
//    is made up and says so; one without a call is left out.
// 3. Ids of calls are unique in the request, [a-zA-Z0-9_-]{1,40}. One that is not, or
//    was used before, or came from another model, becomes nine letters and digits that
//    follow from its place (what the strictest provider, Mistral, takes).
// 4. Names of tools are [a-zA-Z_][a-zA-Z0-9_-]{0,63}; see cadre_wire_name.
// 5. What only the model that made it can read (cadre_message.items, reasoning) is
//    shown to that model alone.
// 6. The same history gives the same turns, so a prompt's prefix is stable.
//
// Thread: plain data, borrowed for the call it is given to.
#ifndef CADRE_EXT_TRANSCRIPT_H
#define CADRE_EXT_TRANSCRIPT_H

#include "cadre/ext/json_scan.h"
#include "cadre/message.h"

#include <jansson.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a stored message is shown to this model.
typedef enum cadre_rendering {
    CADRE_AS_OWN,    // in its own role, with calls; results as results
    CADRE_AS_USER,   // what the user, or a caller, said
    CADRE_AS_SPEECH, // another agent's text, as a user turn: "[alice]: ..."
    CADRE_AS_TRAFFIC // another agent's tool calls: "[alice] add({...}) -> 7"
} cadre_rendering;

typedef struct cadre_request_item {
    const cadre_message *message; // with its role, calls, call_id, parts
    const char *text;             // what to show, the speaker's name included
    cadre_rendering rendering;
    void *cache; // for cadre_http_append_item and cadre_http_append_turn
} cadre_request_item;

typedef enum cadre_turn_kind {
    CADRE_TURN_USER,
    CADRE_TURN_ASSISTANT,
    CADRE_TURN_RESULTS
} cadre_turn_kind;

typedef struct cadre_turn_call {
    const cadre_tool_call *call;      // name and arguments as they are stored
    const char *id;                   // on the wire
    const cadre_request_item *result; // NULL: it never came, or says nothing
    const char *result_text;          // never blank
    bool is_error;                    // the tool failed, or was not run
} cadre_turn_call;

typedef struct cadre_turn {
    cadre_turn_kind kind;
    // USER: what was said, each with a text that is not blank or with parts; or, where
    // n_items is 0, the note alone. ASSISTANT: one.
    const cadre_request_item *const *items;
    size_t n_items;
    const char *note;
    // ASSISTANT and the RESULTS behind it: the same array.
    const cadre_turn_call *calls;
    size_t n_calls;
    bool has_text;   // ASSISTANT: its text is not blank
    bool is_own;     // ASSISTANT: the model that is asked said it itself
    bool is_renamed; // ASSISTANT: its calls got other ids
} cadre_turn;

// Goes over what only the model that is asked can read of an assistant's turn, in the
// order in which it came. Begin gives false where there is nothing of the kind. A copy
// of the list goes on from the same place.
typedef struct cadre_turn_items {
    cadre_scan list;
    size_t len; // of the turn's text, but for blanks at its end
} cadre_turn_items;

typedef struct cadre_turn_item {
    int64_t place;        // see cadre_message.items
    bool is_in_text;      // there is more of the text behind it, which is not blank
    size_t n_text;        // then: how many bytes of the text stand before it
    cadre_scan_text json; // as the wire format gave it to cadre_sink_item
} cadre_turn_item;

CADRE_API bool cadre_turn_items_begin(cadre_turn_items *items, const cadre_turn *turn);
CADRE_API bool cadre_turn_items_next(cadre_turn_items *items, cadre_turn_item *out);

// Writes a name as all providers take it. One that fits stays as it is; `.` goes as
// `__`, every other byte that does not fit, and what would read like one of these, as
// `-` and two hex digits; one that is too long then is cut and ends in a hash of the
// whole name. No two names meet. The framework gives an answer's calls their names
// back, so a wire format writes names and reads none.
#define CADRE_WIRE_NAME_SIZE 65
CADRE_API void cadre_wire_name(const char *name, char out[CADRE_WIRE_NAME_SIZE]);

// Is there nothing but white space? No provider takes such a text.
CADRE_API bool cadre_wire_is_blank(const char *text);

// Gives arguments as the text of a JSON object that every server reads: what the model
// wrote, "{}" for nothing, and {"invalid_arguments": "..."} for what is none, so that
// the model sees what it wrote and no server refuses the history. free() it; NULL: no
// memory.
CADRE_API char *cadre_wire_arguments(const char *arguments);

#ifdef __cplusplus
}
#endif

#endif
