// See transcript.h.
//
// One walk over the items lays out the turns and ties each result to its call; a walk
// over the calls then gives them their ids. Both look ids up in a hash table.
//
// Items that are settled make turns that stay. The others, the tail, are laid out
// behind them each time anew: so they may add turns and lengthen the last one, which is
// undone by setting the counts back. What they do beyond that (calls enter the tables
// of ids) spoils the transcript, and so does a lack of room; then it is made from its
// beginning, with twice the room.
#include "net/transcript.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define MAX_ID 40 // OpenAI's limit
#define MADE_ID 9 // letters and digits, as Mistral wants them
#define NO_CALL SIZE_MAX

// Told by its address: a call without a result.
static const char no_result[] =
    "Error: this call was interrupted. It has no result; it may or may not have run.";

typedef struct builder {
    cdr_transcript *to;
    const cadre_request *request;
    cdr_transcript_place old; // what was settled before
    size_t at;                // the item that is looked at
    bool is_tail;
} builder;

static bool is_blank(const char *text)
{
    return text == NULL || cadre_wire_is_blank(text);
}

static bool is_result(const cadre_request_item *item)
{
    return item->rendering == CADRE_AS_OWN && item->message->role == CADRE_ROLE_TOOL;
}

static bool is_assistant(const cadre_request_item *item)
{
    return item->rendering == CADRE_AS_OWN &&
           item->message->role == CADRE_ROLE_ASSISTANT;
}

// A turn that said nothing is left out, and its neighbours meet.
static bool says_something(const cadre_request_item *item)
{
    const cadre_message *m = item->message;
    if (!is_blank(item->text))
        return true;
    return is_assistant(item) ? m->n_tool_calls > 0
                              : m->parts != NULL && m->parts[0] != '\0';
}

// --- Ids ---

static uint64_t hash_of(const char *text, uint64_t hash) // FNV-1a
{
    for (; text != NULL && *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211U;
    return hash;
}

static cdr_id_slot *find(const cdr_id_slots *t, const char *id)
{
    uint64_t hash = hash_of(id, 14695981039346656037U);
    size_t i = (size_t)(hash ^ (hash >> 32)) & t->mask;
    while (t->slots[i].id != NULL && strcmp(t->slots[i].id, id) != 0)
        i = (i + 1) & t->mask;
    return &t->slots[i];
}

// Room for `n` ids at half load.
static bool slots_init(cdr_id_slots *t, size_t n, cdr_arena *arena)
{
    size_t size = 4;
    while (size < 2 * n)
        size *= 2;
    t->mask = size - 1;
    t->slots = cdr_arena_alloc(arena, size * sizeof *t->slots);
    return t->slots != NULL;
}

static bool is_sendable(const char *id)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    size_t len = strspn(id, allowed);
    return id[len] == '\0' && len > 0 && len <= MAX_ID;
}

// Follows from which call of which message it is, and from nothing else.
static void make_id(const cadre_message *message, size_t call, unsigned salt,
                    char out[MADE_ID + 1])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t number = hash_of(message->id, 14695981039346656037U);
    number = (number ^ (uint64_t)message->position) * 1099511628211U;
    number = (number ^ (uint64_t)call) * 1099511628211U;
    number = (number ^ salt) * 1099511628211U;
    number ^= number >> 29;
    out[0] = 'c';
    for (size_t i = 1; i < MADE_ID; i++) {
        out[i] = digits[number % 36];
        number /= 36;
    }
    out[MADE_ID] = '\0';
}

// Must the calls of this turn get other ids? Ids that may stay are used from here on.
static bool must_rename(const cadre_turn *turn, const cdr_id_slots *used)
{
    bool must = !turn->is_own;
    for (size_t i = 0; i < turn->n_calls && !must; i++) {
        const char *id = turn->calls[i].call->id;
        cdr_id_slot *place = is_sendable(id) ? find(used, id) : NULL;
        must = place == NULL || place->id != NULL;
        if (!must)
            place->id = id;
    }
    return must;
}

static bool name_calls(cdr_transcript *to, cadre_turn *turn, cadre_turn_call *calls)
{
    char made[MADE_ID + 1];
    turn->is_renamed = must_rename(turn, &to->used);
    for (size_t i = 0; i < turn->n_calls; i++) {
        calls[i].id = calls[i].call->id;
        for (unsigned salt = 0; turn->is_renamed; salt++) {
            make_id(turn->items[0]->message, i, salt, made);
            if (find(&to->used, made)->id != NULL)
                continue;
            calls[i].id = cdr_arena_text(&to->arena, made);
            if (calls[i].id == NULL)
                return false;
            break;
        }
        find(&to->used, calls[i].id)->id = calls[i].id;
    }
    return true;
}

static bool give_ids(cdr_transcript *to, size_t from_turn)
{
    for (size_t i = from_turn; i < to->n_turns; i++) {
        cadre_turn *turn = &to->turns[i];
        if (turn->kind != CADRE_TURN_ASSISTANT || turn->n_calls == 0)
            continue;
        if (!name_calls(to, turn, &to->calls[turn->calls - to->calls]))
            return false;
    }
    return true;
}

// --- Turns ---

static cadre_turn *add_turn(builder *b, cadre_turn_kind kind)
{
    assert(b->to->turns != NULL);
    cadre_turn *turn = &b->to->turns[b->to->n_turns++];
    *turn =
        (cadre_turn){.kind = kind, .items = b->to->shown + b->to->n_shown, .note = ""};
    return turn;
}

static void show(builder *b, cadre_turn *turn, const cadre_request_item *item)
{
    b->to->shown[b->to->n_shown++] = item;
    turn->n_items++;
}

static const cadre_turn *last_turn(const builder *b)
{
    return b->to->n_turns == 0 ? NULL : &b->to->turns[b->to->n_turns - 1];
}

// Where a user's turn must stand and nobody said anything.
static void add_note(builder *b)
{
    const char *note = last_turn(b) == NULL ? "Begin." : "Go on.";
    add_turn(b, CADRE_TURN_USER)->note = note;
}

static void add_call(builder *b, const cadre_tool_call *call)
{
    cdr_transcript *to = b->to;
    size_t number = to->n_calls++;
    cdr_id_slot *place = find(&to->by_id, call->id);
    to->calls[number] =
        (cadre_turn_call){.call = call, .result_text = no_result, .is_error = true};
    to->older[number] = place->id == NULL ? NO_CALL : place->call;
    to->first[number] = (size_t)(last_turn(b)->calls - to->calls);
    *place = (cdr_id_slot){call->id, number};
    to->is_spoilt = to->is_spoilt || b->is_tail;
}

static void add_assistant(builder *b, const cadre_request_item *item)
{
    const cadre_message *m = item->message;
    const char *asked = b->request->model;
    const cadre_turn *before = last_turn(b);
    if (before == NULL || before->kind == CADRE_TURN_ASSISTANT)
        add_note(b);
    cadre_turn *turn = add_turn(b, CADRE_TURN_ASSISTANT);
    show(b, turn, item);
    turn->has_text = !is_blank(item->text);
    turn->is_own = m->model == NULL || m->model[0] == '\0' || asked == NULL ||
                   strcmp(m->model, asked) == 0;
    turn->calls = b->to->calls + b->to->n_calls;
    turn->n_calls = m->n_tool_calls;
    for (size_t i = 0; i < m->n_tool_calls; i++)
        add_call(b, &m->tool_calls[i]);
    if (turn->n_calls == 0)
        return;
    cadre_turn *results = add_turn(b, CADRE_TURN_RESULTS);
    results->calls = turn->calls;
    results->n_calls = turn->n_calls;
}

static void add_user(builder *b, const cadre_request_item *item)
{
    const cadre_turn *before = last_turn(b);
    cadre_turn *turn = before != NULL && before->kind == CADRE_TURN_USER
                           ? &b->to->turns[b->to->n_turns - 1]
                           : add_turn(b, CADRE_TURN_USER);
    show(b, turn, item);
}

static bool is_open(const cdr_transcript *to, size_t number)
{
    return to->calls[number].result_text == no_result;
}

// It answers the newest turn that has a call of its id without a result, and in that
// turn the first such call.
static void tie_result(builder *b, const cadre_request_item *item)
{
    cdr_transcript *to = b->to;
    const cdr_id_slot *place = find(&to->by_id, item->message->call_id);
    size_t number = place->id == NULL ? NO_CALL : place->call;
    while (number != NO_CALL && !is_open(to, number))
        number = to->older[number];
    if (number == NO_CALL)
        return;
    size_t first = to->first[number];
    for (size_t at = number; at != NO_CALL && at >= first; at = to->older[at])
        if (is_open(to, at))
            number = at;
    cadre_turn_call *call = &to->calls[number];
    call->is_error = item->message->code != CADRE_RESULT_OK;
    call->result = is_blank(item->text) ? NULL : item;
    call->result_text = call->result == NULL ? "(no output)" : item->text;
    if (b->at >= b->old.n_items && number < b->old.n_calls)
        to->n_same = 0;
    to->is_spoilt = to->is_spoilt || b->is_tail;
    to->is_changed = to->is_changed || (b->is_tail && number < to->settled.n_calls);
}

static size_t count_calls(const cadre_request *request, size_t from)
{
    size_t n = 0;
    for (size_t i = from; i < request->n_items; i++)
        n += request->items[i].message->n_tool_calls;
    return n;
}

static void lay_out(builder *b, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const cadre_request_item *item = &b->request->items[i];
        b->at = i;
        if (is_result(item))
            tie_result(b, item);
        else if (!says_something(item))
            continue;
        else if (is_assistant(item))
            add_assistant(b, item);
        else
            add_user(b, item);
    }
}

// --- Bringing it up to date ---

static bool has_room(const cdr_transcript *to, const cadre_request *request,
                     size_t n_settled)
{
    return to->turns != NULL && !to->is_spoilt && to->items == request->items &&
           n_settled >= to->settled.n_items && request->n_items <= to->capacity &&
           to->settled.n_calls + count_calls(request, to->settled.n_items) <=
               to->calls_capacity;
}

// Empties it and makes room: exact the first time, since most are made but once.
static bool restart(cdr_transcript *to, const cadre_request *request)
{
    size_t twice = to->arena.head == NULL ? 1 : 2;
    size_t n = twice * request->n_items;
    size_t n_calls = twice * count_calls(request, 0);
    cdr_transcript_fini(to);
    cdr_arena *arena = &to->arena;
    to->capacity = n;
    to->calls_capacity = n_calls;
    // An item is at most a note, a turn and results; a note may close.
    to->turns = cdr_arena_alloc(arena, (3 * n + 1) * sizeof(cadre_turn));
    to->shown = cdr_arena_alloc(arena, (n + 1) * sizeof *to->shown);
    to->calls = cdr_arena_alloc(arena, (n_calls + 1) * sizeof *to->calls);
    to->older = cdr_arena_alloc(arena, (n_calls + 1) * sizeof *to->older);
    to->first = cdr_arena_alloc(arena, (n_calls + 1) * sizeof *to->first);
    return to->turns != NULL && to->shown != NULL && to->calls != NULL &&
           to->older != NULL && to->first != NULL &&
           slots_init(&to->by_id, n_calls, arena) &&
           slots_init(&to->used, 2 * n_calls, arena);
}

static void drop_tail(cdr_transcript *to)
{
    to->n_turns = to->settled.n_turns;
    to->n_shown = to->settled.n_shown;
    to->n_calls = to->settled.n_calls;
    if (to->n_turns > 0)
        to->turns[to->n_turns - 1] = to->last;
}

static void settle(cdr_transcript *to, size_t n_items)
{
    to->settled =
        (cdr_transcript_place){n_items, to->n_turns, to->n_shown, to->n_calls};
    if (to->n_turns > 0)
        to->last = to->turns[to->n_turns - 1];
}

static bool extend(builder *b, size_t n_settled)
{
    cdr_transcript *to = b->to;
    size_t n_turns = to->n_turns;
    lay_out(b, to->settled.n_items, n_settled);
    if (!give_ids(to, n_turns))
        return false;
    settle(to, n_settled);
    b->is_tail = true;
    n_turns = to->n_turns;
    lay_out(b, n_settled, b->request->n_items);
    const cadre_turn *last = last_turn(b);
    if (last == NULL || last->kind == CADRE_TURN_ASSISTANT)
        add_note(b);
    return give_ids(to, n_turns);
}

// What was settled is the same, but for the user's turn at its end, which may go on.
static size_t count_same(const cdr_transcript *to, size_t n_settled)
{
    size_t n = to->settled.n_turns;
    if (n_settled < to->settled.n_items || to->is_changed)
        return 0;
    return n > 0 && to->last.kind == CADRE_TURN_USER ? n - 1 : n;
}

cadre_status cdr_transcript_update(cdr_transcript *to, const cadre_request *request,
                                   size_t n_settled, cadre_error *err)
{
    size_t n_same = count_same(to, n_settled);
    builder b = {.to = to, .request = request, .old = to->settled};
    bool ok = true;
    if (has_room(to, request, n_settled))
        drop_tail(to);
    else
        ok = restart(to, request);
    to->n_same = n_same;
    to->items = request->items;
    if (ok)
        ok = extend(&b, n_settled);
    if (ok)
        return CADRE_OK;
    cdr_transcript_fini(to);
    return cadre_fail(err, CADRE_ENOMEM, "no memory for a model request");
}

void cdr_transcript_fini(cdr_transcript *transcript)
{
    cdr_arena_fini(&transcript->arena);
    *transcript = (cdr_transcript){.arena = CDR_ARENA_INIT};
}
