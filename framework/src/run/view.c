// See view.h.
#include "run/view.h"

#include "base/buf.h"
#include <stdlib.h>
#include <string.h>

// What is looked at while a view is built.
typedef struct builder {
    cdr_view *view;
    const cadre_frame *frame;
    const char *self; // the agent's name
    bool is_open;     // what was added last may yet change
    bool failed;
} builder;

// Gives an array with room for `n` entries: this one, or a grown one in its place.
// NULL: no memory, and it is as it was.
static void *with_room(void *items, size_t *capacity, size_t n, size_t size)
{
    if (items != NULL && n <= *capacity)
        return items;
    size_t wanted = *capacity == 0 ? 4 : *capacity * 2; // most are short
    wanted = wanted < n ? n : wanted;
    void *grown = realloc(items, wanted * size);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

// Takes the new pointers under the tree's mutex: other strands may append meanwhile.
static bool take_messages(cdr_view *view, cadre_frame *frame)
{
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    size_t n = cdr_conversation_count(frame->conversation);
    void *held = with_room(view->held, &view->held_capacity, n, sizeof *view->held);
    if (held != NULL) {
        view->held = held;
        cdr_conversation_list(frame->conversation, view->n_held,
                              view->held + view->n_held);
        for (size_t i = view->n_held; i < n; i++)
            cdr_message_ref(view->held[i]);
        view->n_held = n;
    }
    cdr_mutex_unlock(&tree->mu);
    return held != NULL;
}

// `cache` NULL: the message is not a stored one, so nothing is kept with it.
static void add_item(builder *b, const cadre_message *message, cdr_fragments *cache,
                     const char *text, cadre_rendering rendering)
{
    cdr_view *view = b->view;
    void *items = with_room(view->items, &view->items_capacity, view->n_items + 1,
                            sizeof *view->items);
    if (items == NULL) {
        b->failed = true;
        return;
    }
    view->items = items;
    view->items[view->n_items++] =
        (cadre_request_item){message, text, rendering, cache};
}

static void add_stored(builder *b, cdr_message *message, const char *text,
                       cadre_rendering rendering)
{
    add_item(b, &message->m, &message->fragments, text, rendering);
}

static const char *keep(builder *b, const char *text)
{
    if (text == NULL)
        b->failed = true;
    return text == NULL ? "" : text;
}

// A call that has no result: the run was cut, or goes on elsewhere.
static void add_missing_result(builder *b, const cadre_tool_call *call)
{
    static const char text[] =
        "Interrupted: this call has no result; it may or may not have run.";
    cadre_message *m = cdr_arena_alloc(&b->view->arena, sizeof *m);
    if (m == NULL) {
        b->failed = true;
        return;
    }
    *m = (cadre_message){.id = "",
                         .frame_id = "",
                         .agent = b->self,
                         .to = "",
                         .text = text,
                         .reasoning = "",
                         .call_id = call->id,
                         .tool_name = call->name,
                         .role = CADRE_ROLE_TOOL,
                         .code = CADRE_RESULT_INTERRUPTED};
    add_item(b, m, NULL, text, CADRE_AS_OWN);
}

// The result of a call, as far as it belongs to what is looked at: a fork does not see
// what its caller's tools bring while it works. NULL: none.
static cdr_message *result_of(const builder *b, size_t at, size_t call)
{
    cdr_message *const *held = b->view->held;
    cdr_message *result = held[at]->results[call];
    if (result == NULL || at >= b->view->n_base)
        return result;
    for (size_t i = at + 1; i < b->view->n_base; i++)
        if (held[i] == result)
            return result;
    return NULL;
}

static void add_own_turn(builder *b, size_t at)
{
    cdr_message *message = b->view->held[at];
    add_stored(b, message, message->m.text, CADRE_AS_OWN);
    for (size_t i = 0; i < message->m.n_tool_calls; i++) {
        cdr_message *result = result_of(b, at, i);
        if (result != NULL)
            add_stored(b, result, result->m.text, CADRE_AS_OWN);
        else
            add_missing_result(b, &message->m.tool_calls[i]);
    }
}

// Is it the result of a tool that ran? Those of transfers, done and refused, are not.
static bool is_work(const cdr_message *result)
{
    switch (result->m.code) {
    case CADRE_RESULT_UNKNOWN_TOOL:
    case CADRE_RESULT_INVALID_ARGUMENTS:
    case CADRE_RESULT_BLOCKED:
        return false;
    default:
        return result->m.to[0] == '\0';
    }
}

// "[alice] add({...}) -> 7", a line for each tool of a turn that handed over to us.
static void add_traffic(builder *b, size_t at)
{
    cdr_message *message = b->view->held[at];
    cdr_buf text = CDR_BUF_INIT;
    for (size_t i = 0; i < message->m.n_tool_calls; i++) {
        const cadre_tool_call *call = &message->m.tool_calls[i];
        const cdr_message *result = result_of(b, at, i);
        if (result == NULL || !is_work(result))
            continue;
        cdr_buf_printf(&text, "%s[%s] %s(", text.len == 0 ? "" : "\n", message->m.agent,
                       call->name);
        cdr_buf_append_text(&text, call->arguments);
        cdr_buf_append_text(&text, ") -> ");
        cdr_buf_append_text(&text, result->m.text);
    }
    if (text.len > 0)
        add_stored(b, message,
                   keep(b, cdr_arena_copy(&b->view->arena, text.data, text.len)),
                   CADRE_AS_TRAFFIC);
    b->failed = b->failed || text.failed;
    cdr_buf_fini(&text);
}

// Of others their last words: of a frame that answered, or that handed over.
static void add_other_turn(builder *b, size_t at)
{
    cdr_message *message = b->view->held[at];
    const cadre_message *m = &message->m;
    bool is_draft = atomic_load_explicit(&message->is_draft, memory_order_acquire);
    bool is_final =
        (m->n_tool_calls == 0 || message->transferred_to != NULL) && !is_draft;
    if (is_final && m->text[0] != '\0') {
        const char *text =
            keep(b, cdr_arena_printf(&b->view->arena, "[%s]: %s", m->agent, m->text));
        add_stored(b, message, text, CADRE_AS_SPEECH);
    }
    if (message->transferred_to != NULL &&
        strcmp(message->transferred_to, b->self) == 0)
        add_traffic(b, at);
}

// Is it input that was said to this agent, or to a team it is in?
static bool is_said_to(builder *b, const cdr_message *message)
{
    const cadre_message *m = &message->m;
    if (m->role != CADRE_ROLE_USER || !m->is_input)
        return false;
    if (!message->is_to_team || strcmp(m->to, b->self) == 0)
        return strcmp(m->to, b->self) == 0;
    const cadre_team *team = b->frame->tree->team;
    const cadre_agent *to = cadre_team_find(team, m->to);
    if (!cdr_member_map_init(&b->view->map, team, &b->view->arena)) {
        b->failed = true;
        return false;
    }
    return to != NULL &&
           cdr_member_map_find(&b->view->map, to->members, b->self) != NULL;
}

static void add_message(builder *b, size_t at)
{
    cdr_message *message = b->view->held[at];
    const cadre_message *m = &message->m;
    switch (m->role) {
    case CADRE_ROLE_USER:
        if (!m->is_input || is_said_to(b, message)) {
            add_stored(b, message, m->text, CADRE_AS_USER);
            b->view->last_input = m->text;
            b->view->last_parts = m->parts == NULL ? "" : m->parts;
        }
        break;
    case CADRE_ROLE_ASSISTANT:
        if (strcmp(m->agent, b->self) == 0)
            add_own_turn(b, at);
        else
            add_other_turn(b, at);
        break;
    case CADRE_ROLE_TOOL: // shown with its call
        break;
    }
}

// Is it a part of an answer, or was it said by an attempt that failed, before this one?
static bool is_hidden(const builder *b, size_t at)
{
    if (b->view->held[at]->m.mark[0] != '\0')
        return true;
    size_t n_base = b->view->n_base;
    return at >= n_base && cdr_frame_is_hidden(b->frame, at - n_base);
}

// Moves `first` to the last user turn among the messages from the nth on, or to input
// to this agent where that counts; a correction is none of what it was given.
static void find_first(builder *b, size_t from)
{
    cdr_view *view = b->view;
    bool with_input = view->history == CADRE_HISTORY_NONE;
    for (size_t i = view->n_held; i-- > from;) {
        const cdr_message *message = view->held[i];
        if (message->m.role == CADRE_ROLE_USER && !is_hidden(b, i) &&
            (!message->m.is_input ||
             (with_input && !message->is_correction && is_said_to(b, message)))) {
            view->first = i;
            return;
        }
    }
}

static bool is_visible(const builder *b, size_t i)
{
    const cdr_view *view = b->view;
    const cdr_message *message = view->held[i];
    const cadre_message *m = &message->m;
    switch (view->history) {
    case CADRE_HISTORY_OWN:
        return m->role == CADRE_ROLE_USER || strcmp(m->agent, b->self) == 0;
    case CADRE_HISTORY_LAST:
        return i >= view->first;
    case CADRE_HISTORY_NONE:
        // Who was told nothing of its own was given what was said last.
        return cadre_id_equal(message->frame, b->frame->id) ||
               (b->frame->input == NULL && i == view->first);
    default:
        return true;
    }
}

// A result answers no call from before the last user turn that was added.
static void find_closed(cdr_view *view, size_t from)
{
    for (size_t i = view->n_held; i-- > from;) {
        const cadre_message *m = &view->held[i]->m;
        if (m->role == CADRE_ROLE_USER && !m->is_input) {
            view->n_closed = i;
            return;
        }
    }
}

// May a message yet be shown in another way? Calls whose results are to come do that;
// its caller's part of a fork's view does not grow any more.
static bool is_settled(const cdr_view *view, size_t at)
{
    const cdr_message *message = view->held[at];
    if (at < view->n_base || at < view->n_closed)
        return true;
    for (size_t i = 0; i < message->m.n_tool_calls; i++)
        if (message->results[i] == NULL)
            return false;
    return true;
}

static void restart(cdr_view *view)
{
    view->settled = (cdr_view_place){.last_input = "", .last_parts = ""};
    view->edition++;
}

static void add_messages(builder *b)
{
    cdr_view *view = b->view;
    view->n_items = view->settled.n_items;
    view->last_input = view->settled.last_input;
    view->last_parts = view->settled.last_parts;
    for (size_t i = view->settled.n_messages; i < view->n_held; i++) {
        // Looked at before it is shown: results may come meanwhile.
        b->is_open = b->is_open || !is_settled(view, i);
        if (!is_hidden(b, i) && is_visible(b, i))
            add_message(b, i);
        if (!b->is_open)
            view->settled = (cdr_view_place){i + 1, view->n_items, view->last_input,
                                             view->last_parts};
    }
}

static cadre_history history_of(const cadre_frame *frame, cadre_history asked)
{
    return frame->history != CADRE_HISTORY_DEFAULT ? (cadre_history)frame->history
                                                   : asked;
}

cadre_status cdr_view_update(cdr_view *view, cadre_frame *frame, cadre_history history,
                             cadre_error *err)
{
    builder b = {.view = view, .frame = frame, .self = frame->agent->info.name};
    size_t n_before = view->n_held;
    size_t first_before = view->first;
    cadre_history history_before = view->history;
    view->history = history_of(frame, history);
    if (frame->conversation->base != NULL)
        view->n_base = frame->conversation->base_count;
    if (!take_messages(view, frame))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a view");
    bool is_new = n_before == 0 || view->history != history_before;
    if (is_new)
        view->first = 0;
    find_first(&b, is_new ? 0 : n_before);
    find_closed(view, n_before);
    if (is_new || (view->first != first_before && view->history != CADRE_HISTORY_ALL &&
                   view->history != CADRE_HISTORY_OWN))
        restart(view);
    add_messages(&b);
    if (b.failed)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a view");
    return CADRE_OK;
}

bool cdr_view_add_turns(cdr_view *view, const char *const *texts, size_t count)
{
    builder b = {.view = view};
    for (size_t i = 0; i < count && !b.failed; i++) {
        cadre_message *m = cdr_arena_alloc(&view->arena, sizeof *m);
        if (m == NULL)
            return false;
        *m = (cadre_message){.id = "",
                             .frame_id = "",
                             .agent = "",
                             .to = "",
                             .text = texts[i],
                             .reasoning = "",
                             .call_id = "",
                             .tool_name = "",
                             .role = CADRE_ROLE_USER};
        add_item(&b, m, NULL, texts[i], CADRE_AS_USER);
    }
    return !b.failed;
}

void cdr_view_fini(cdr_view *view)
{
    for (size_t i = 0; i < view->n_held; i++)
        cdr_message_unref(view->held[i]);
    free(view->held);
    free(view->items);
    cdr_arena_fini(&view->arena);
    *view = (cdr_view){.n_items = 0};
}
