// See transcript.h.
//
// One walk over the items lays out the turns and ties each result to its call; a walk
// over the calls then gives them their ids. Both look ids up in a hash table.
#include "net/transcript.h"

#include <stdint.h>
#include <string.h>

#define MAX_ID 40 // OpenAI's limit
#define MADE_ID 9 // letters and digits, as Mistral wants them
#define NO_CALL SIZE_MAX

// Told by its address: a call without a result.
static const char no_result[] =
    "Error: this call was interrupted. It has no result; it may or may not have run.";

// A place of the hash table: the newest call under an id, or a text that is an id.
typedef struct slot {
    const char *id; // NULL: free
    size_t call;
} slot;

typedef struct table {
    slot *slots;
    size_t mask;
} table;

typedef struct builder {
    cdr_transcript *to;
    const cadre_request *request;
    const cadre_request_item **shown; // the items of all turns, one after the other
    size_t n_shown;
    cadre_turn_call *calls;
    size_t *older; // of a call: the one before with the same id, or NO_CALL
    size_t *first; // of a call: the first of its turn
    size_t n_calls;
    table by_id;
} builder;

static bool is_blank(const char *text)
{
    return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
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

static slot *find(const table *t, const char *id)
{
    uint64_t hash = hash_of(id, 14695981039346656037U);
    size_t i = (size_t)(hash ^ (hash >> 32)) & t->mask;
    while (t->slots[i].id != NULL && strcmp(t->slots[i].id, id) != 0)
        i = (i + 1) & t->mask;
    return &t->slots[i];
}

// Room for `n` ids at half load.
static bool table_init(table *t, size_t n, cdr_arena *arena)
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
static bool must_rename(const cadre_turn *turn, const table *used)
{
    bool must = !turn->is_own;
    for (size_t i = 0; i < turn->n_calls && !must; i++) {
        const char *id = turn->calls[i].call->id;
        slot *place = is_sendable(id) ? find(used, id) : NULL;
        must = place == NULL || place->id != NULL;
        if (!must)
            place->id = id;
    }
    return must;
}

static bool name_calls(builder *b, cadre_turn *turn, cadre_turn_call *calls,
                       const table *used)
{
    char made[MADE_ID + 1];
    turn->is_renamed = must_rename(turn, used);
    for (size_t i = 0; i < turn->n_calls; i++) {
        calls[i].id = calls[i].call->id;
        for (unsigned salt = 0; turn->is_renamed; salt++) {
            make_id(turn->items[0]->message, i, salt, made);
            if (find(used, made)->id != NULL)
                continue;
            calls[i].id = cdr_arena_text(&b->to->arena, made);
            if (calls[i].id == NULL)
                return false;
            break;
        }
        find(used, calls[i].id)->id = calls[i].id;
    }
    return true;
}

static bool give_ids(builder *b)
{
    table used;
    if (!table_init(&used, 2 * b->n_calls, &b->to->arena))
        return false;
    for (size_t i = 0; i < b->to->n_turns; i++) {
        cadre_turn *turn = &b->to->turns[i];
        if (turn->kind != CADRE_TURN_ASSISTANT || turn->n_calls == 0)
            continue;
        if (!name_calls(b, turn, &b->calls[turn->calls - b->calls], &used))
            return false;
    }
    return true;
}

// --- Turns ---

static cadre_turn *add_turn(builder *b, cadre_turn_kind kind)
{
    cadre_turn *turn = &b->to->turns[b->to->n_turns++];
    *turn = (cadre_turn){.kind = kind, .items = b->shown + b->n_shown, .note = ""};
    return turn;
}

static void show(builder *b, cadre_turn *turn, const cadre_request_item *item)
{
    b->shown[b->n_shown++] = item;
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
    size_t number = b->n_calls++;
    slot *place = find(&b->by_id, call->id);
    b->calls[number] =
        (cadre_turn_call){.call = call, .result_text = no_result, .is_error = true};
    b->older[number] = place->id == NULL ? NO_CALL : place->call;
    b->first[number] = (size_t)(last_turn(b)->calls - b->calls);
    *place = (slot){call->id, number};
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
    turn->calls = b->calls + b->n_calls;
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

static bool is_open(const builder *b, size_t number)
{
    return b->calls[number].result_text == no_result;
}

// It answers the newest turn that has a call of its id without a result, and in that
// turn the first such call.
static void tie_result(builder *b, const cadre_request_item *item)
{
    const slot *place = find(&b->by_id, item->message->call_id);
    size_t number = place->id == NULL ? NO_CALL : place->call;
    while (number != NO_CALL && !is_open(b, number))
        number = b->older[number];
    if (number == NO_CALL)
        return;
    size_t first = b->first[number];
    for (size_t at = number; at != NO_CALL && at >= first; at = b->older[at])
        if (is_open(b, at))
            number = at;
    cadre_turn_call *call = &b->calls[number];
    call->is_error = item->message->code != CADRE_RESULT_OK;
    call->result = is_blank(item->text) ? NULL : item;
    call->result_text = call->result == NULL ? "(no output)" : item->text;
}

static bool reserve(builder *b)
{
    const cadre_request *request = b->request;
    cdr_arena *arena = &b->to->arena;
    size_t n = request->n_items;
    size_t n_calls = 0;
    for (size_t i = 0; i < n; i++)
        n_calls += request->items[i].message->n_tool_calls;
    // An item is at most a note, a turn and results; a note may close.
    b->to->turns = cdr_arena_alloc(arena, (3 * n + 1) * sizeof(cadre_turn));
    b->shown = cdr_arena_alloc(arena, (n + 1) * sizeof *b->shown);
    b->calls = cdr_arena_alloc(arena, (n_calls + 1) * sizeof *b->calls);
    b->older = cdr_arena_alloc(arena, (n_calls + 1) * sizeof *b->older);
    b->first = cdr_arena_alloc(arena, (n_calls + 1) * sizeof *b->first);
    return b->to->turns != NULL && b->shown != NULL && b->calls != NULL &&
           b->older != NULL && b->first != NULL &&
           table_init(&b->by_id, n_calls, arena);
}

static void lay_out(builder *b)
{
    const cadre_request *request = b->request;
    for (size_t i = 0; i < request->n_items; i++) {
        const cadre_request_item *item = &request->items[i];
        if (is_result(item))
            tie_result(b, item);
        else if (!says_something(item))
            continue;
        else if (is_assistant(item))
            add_assistant(b, item);
        else
            add_user(b, item);
    }
    const cadre_turn *last = last_turn(b);
    if (last == NULL || last->kind == CADRE_TURN_ASSISTANT)
        add_note(b);
}

cadre_status cdr_transcript_init(cdr_transcript *transcript,
                                 const cadre_request *request, cadre_error *err)
{
    *transcript = (cdr_transcript){.arena = CDR_ARENA_INIT};
    builder b = {.to = transcript, .request = request};
    bool ok = reserve(&b);
    if (ok) {
        lay_out(&b);
        ok = give_ids(&b);
    }
    if (ok)
        return CADRE_OK;
    cdr_transcript_fini(transcript);
    return cadre_fail(err, CADRE_ENOMEM, "no memory for a model request");
}

void cdr_transcript_fini(cdr_transcript *transcript)
{
    cdr_arena_fini(&transcript->arena);
    *transcript = (cdr_transcript){.arena = CDR_ARENA_INIT};
}
