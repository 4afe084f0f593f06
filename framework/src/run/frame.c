// What an agent's or a tool's `run` may do with its frame, calls and turns apart.
#include "run/call.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "run/arguments.h"
#include "run/hook.h"
#include "run/scope.h"
#include "team/member_map.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

const char *cadre_frame_input(const cadre_frame *frame)
{
    return frame == NULL ? "" : cdr_text_bytes(frame->input);
}

const json_t *cadre_frame_input_json(const cadre_frame *frame)
{
    if (frame == NULL)
        return NULL;
    cdr_work *work = frame->work;
    if (work->input_json == NULL && frame->input != NULL)
        work->input_json = cdr_json_parse(frame->input->bytes, frame->input->len, NULL);
    return work->input_json;
}

const cadre_agent *cadre_frame_agent(const cadre_frame *frame)
{
    return frame == NULL ? NULL : frame->agent;
}

cadre_agents cadre_frame_members(const cadre_frame *frame)
{
    if (frame == NULL)
        return (cadre_agents){NULL, 0};
    const cadre_agent *agent = frame->agent;
    if (agent->ops->subagents != NULL)
        return agent->ops->subagents(agent->state);
    return agent->members;
}

static const cadre_agent *find_in(cadre_agents agents, const char *name)
{
    for (size_t i = 0; i < agents.count; i++)
        if (strcmp(agents.items[i]->info.name, name) == 0)
            return agents.items[i];
    return NULL;
}

const cadre_agent *cadre_frame_find(const cadre_frame *frame, const char *name)
{
    const cadre_agent *found = NULL;
    if (frame == NULL || name == NULL)
        return NULL;
    if (frame->scope != NULL)
        found = find_in(frame->scope->scope->roster, name);
    return found != NULL ? found : find_in(cadre_frame_members(frame), name);
}

const cadre_scope *cadre_frame_scope(const cadre_frame *frame)
{
    return frame == NULL || frame->scope == NULL ? NULL : frame->scope->scope;
}

cadre_agents cadre_frame_targets(cadre_frame *frame)
{
    cadre_agents none = {NULL, 0};
    if (frame == NULL || frame->scope == NULL)
        return none;
    cadre_agents roster = frame->scope->scope->roster;
    const cadre_agent **items =
        cadre_frame_alloc(frame, (roster.count + 1) * sizeof *items);
    size_t n = 0;
    for (size_t i = 0; items != NULL && i < roster.count; i++)
        if (cdr_scope_edge(frame->scope, frame->agent, roster.items[i]).allowed)
            items[n++] = roster.items[i];
    return (cadre_agents){items, n};
}

cadre_status cadre_frame_messages(cadre_frame *frame,
                                  const cadre_message *const **messages,
                                  size_t *n_messages, cadre_error *err)
{
    if (frame == NULL || messages == NULL || n_messages == NULL)
        return cdr_fail_null(err, __func__);
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    size_t n = cdr_conversation_count(frame->conversation);
    cdr_message **list = cadre_frame_alloc(frame, (n + 1) * sizeof *list);
    if (list != NULL)
        cdr_conversation_list(frame->conversation, 0, list);
    cdr_mutex_unlock(&tree->mu);
    const cadre_message **out = cadre_frame_alloc(frame, (n + 1) * sizeof *out);
    if (list == NULL || out == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a list of messages");
    for (size_t i = 0; i < n; i++)
        out[i] = &list[i]->m;
    *messages = out;
    *n_messages = n;
    return CADRE_OK;
}

const cadre_agent *cadre_frame_last_speaker(cadre_frame *frame, cadre_agents roster)
{
    if (frame == NULL || roster.items == NULL)
        return NULL;
    cdr_tree *tree = frame->tree;
    const cadre_agent *speaker = NULL;
    cdr_member_map map = {.team = NULL};
    cdr_arena arena = CDR_ARENA_INIT;
    bool has_map = cdr_member_map_init(&map, tree->team, &arena);
    cdr_mutex_lock(&tree->mu);
    const cdr_conversation *conversation = frame->conversation;
    for (size_t i = frame->n_before; has_map && !speaker && i-- > 0;) {
        const cadre_message *m = &conversation->messages[i]->m;
        if (m->role == CADRE_ROLE_ASSISTANT && m->mark[0] == '\0' &&
            !cdr_frame_is_hidden(frame, i))
            speaker = cdr_member_map_find(&map, roster, m->agent);
    }
    cdr_mutex_unlock(&tree->mu);
    cdr_arena_fini(&arena);
    return speaker;
}

// Answers are UTF-8 for models, the store and `--json`, whatever a tool has read.
static cdr_text *clean_text(const char *text)
{
    size_t len = strlen(text);
    if (cdr_utf8_prefix(text, len) == len)
        return cdr_text_new(text, len);
    cdr_buf clean = CDR_BUF_INIT;
    cdr_utf8_append(&clean, text, len);
    cdr_text *made =
        clean.failed ? NULL : cdr_text_new(cdr_buf_text(&clean), clean.len);
    cdr_buf_fini(&clean);
    return made;
}

// Executed again, it says what stands in the record already. Answers of its model do
// too; both are gone through in the order in which they were said.
static bool was_said_locked(cadre_frame *frame, const char *text)
{
    cdr_work *work = frame->work;
    const cdr_conversation *conversation = frame->conversation;
    size_t from = work->n_read > frame->n_before ? work->n_read : frame->n_before;
    for (size_t i = from; i < work->n_recorded; i++) {
        const cdr_message *message = conversation->messages[i];
        if (!cadre_id_equal(message->frame, frame->id) ||
            message->m.role != CADRE_ROLE_ASSISTANT || message->m.mark[0] != '\0' ||
            message->m.n_tool_calls > 0 || strcmp(message->m.text, text) != 0)
            continue;
        work->n_read = i + 1;
        return true;
    }
    return false;
}

cadre_status cadre_frame_set_output(cadre_frame *frame, const char *text,
                                    cadre_error *err)
{
    if (frame == NULL || text == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = cdr_hook_refuse(frame, true, __func__, err);
    if (status != CADRE_OK)
        return status;
    cdr_tree *tree = frame->tree;
    cdr_work *work = frame->work;
    cdr_text *output = clean_text(text);
    if (output == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
    cdr_text_unref(work->output);
    work->output = output;
    work->answered_by = NULL;
    work->answer_reason = CADRE_STOP_NONE;
    if (frame->kind != CDR_FRAME_AGENT)
        return CADRE_OK;
    cadre_message said = {
        .role = CADRE_ROLE_ASSISTANT, .agent = frame->name, .text = output->bytes};
    cdr_mutex_lock(&tree->mu);
    bool ok =
        was_said_locked(frame, output->bytes) ||
        cdr_say_locked(frame, cdr_message_new(&said, work->open_message, frame->id));
    cdr_mutex_unlock(&tree->mu);
    work->open_message = (cadre_id){0, 0};
    return ok ? CADRE_OK : cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
}

static void emit_progress(cadre_frame *frame, const char *text)
{
    cdr_event_id id;
    cadre_event event = {.type = CADRE_EVENT_TOOL_PROGRESS};
    const char *call_id = frame->work->call_id;
    event.u.tool_progress.call_id = call_id == NULL ? "" : call_id; // a step's
    event.u.tool_progress.name = frame->name;
    event.u.tool_progress.text = text;
    cdr_event_address(frame, &event, id);
    cdr_ear_await_room(frame->ear); // the run's queue is waited for where it is shown
    cdr_frame_show(frame, &event);
}

// The first piece opens the message that the next cadre_frame_set_output will end.
static void emit_piece(cadre_frame *frame, const char *text, size_t len)
{
    cdr_event_id id;
    char message_id[CADRE_ID_TEXT_SIZE];
    bool is_first = cadre_id_is_none(frame->work->open_message);
    if (is_first)
        frame->work->open_message = cadre_id_new();
    cadre_id_text(frame->work->open_message, message_id);
    if (is_first) {
        cadre_event start = {.type = CADRE_EVENT_MESSAGE_START};
        cdr_event_address(frame, &start, id);
        start.u.message_start.message_id = message_id;
        cdr_frame_show(frame, &start);
    }
    cadre_event event = {.type = CADRE_EVENT_TEXT_DELTA};
    cdr_event_address(frame, &event, id);
    event.u.delta.message_id = message_id;
    event.u.delta.text = text;
    event.u.delta.len = len;
    cdr_frame_await_room(frame);
    cdr_frame_show_delta(frame, &event);
}

void cadre_frame_emit(cadre_frame *frame, const char *text, size_t len)
{
    if (frame == NULL || text == NULL || frame->is_quiet || !cdr_frame_is_heard(frame))
        return;
    cdr_buf clean = CDR_BUF_INIT;
    cdr_utf8_append(&clean, text, strnlen(text, len));
    cdr_tree_flush(frame->tree, NULL); // what it belongs to is shown first
    bool has_text = !clean.failed && clean.len > 0;
    if (has_text && frame->kind == CDR_FRAME_TOOL)
        emit_progress(frame, cdr_buf_text(&clean));
    else if (has_text)
        emit_piece(frame, cdr_buf_text(&clean), clean.len);
    cdr_buf_fini(&clean);
}

const char *cadre_frame_id(cadre_frame *frame)
{
    return frame == NULL ? "" : cdr_frame_id_text(frame);
}

const char *cadre_frame_path(cadre_frame *frame)
{
    if (frame == NULL)
        return "";
    const char *path = cdr_frame_path_text(frame, &frame->work->arena);
    return path == NULL ? frame->name : path;
}

bool cadre_frame_is_stopped(cadre_frame *frame)
{
    return frame == NULL || frame->mark != CDR_MARK_NONE || cdr_frame_expire(frame);
}

int cadre_frame_cancel_fd(cadre_frame *frame)
{
    if (frame == NULL)
        return -1;
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    if (frame->work->cancel_fd < 0)
        frame->work->cancel_fd =
            eventfd(frame->mark != CDR_MARK_NONE ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
    int fd = frame->work->cancel_fd;
    cdr_mutex_unlock(&tree->mu);
    return fd;
}

int64_t cadre_frame_remaining_ms(cadre_frame *frame)
{
    if (frame == NULL)
        return 0;
    if (frame->deadline_ms == CDR_NEVER)
        return INT64_MAX;
    int64_t left = frame->deadline_ms - cdr_tree_now_ms(frame->tree);
    return left < 0 ? 0 : left;
}

cadre_status cadre_frame_sleep(cadre_frame *frame, int64_t ms, cadre_error *err)
{
    if (frame == NULL)
        return cdr_fail_null(err, __func__);
    int64_t now = cdr_tree_now_ms(frame->tree);
    int64_t until = ms > INT64_MAX - now ? CDR_NEVER : now + ms;
    while (!cadre_frame_is_stopped(frame)) {
        unsigned seen = cdr_strand_seen(frame->work->strand);
        if (cdr_tree_now_ms(frame->tree) >= until)
            return CADRE_OK;
        if (!cadre_frame_is_stopped(frame))
            cdr_frame_wait(frame, seen, until);
    }
    return cdr_frame_stopped(frame, err);
}

void *cadre_frame_alloc(cadre_frame *frame, size_t size)
{
    return frame == NULL ? NULL : cdr_arena_alloc(&frame->work->arena, size);
}

const char *cadre_frame_printf(cadre_frame *frame, const char *format, ...)
{
    va_list args;
    if (frame == NULL || format == NULL)
        return NULL;
    va_start(args, format);
    const char *text = cdr_arena_vprintf(&frame->work->arena, format, args);
    va_end(args);
    return text;
}

cadre_status cadre_frame_request_transfer(cadre_frame *frame, const char *target,
                                          const char *message, cadre_error *err)
{
    if (frame == NULL)
        return cdr_fail_null(err, __func__);
    cdr_work *work = frame->work;
    if (frame->kind != CDR_FRAME_TOOL)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': only a tool asks for a transfer this way",
                          frame->name);
    cadre_status status = cdr_hook_refuse(frame, false, __func__, err);
    if (status == CADRE_OK)
        status = cdr_check_text((cdr_argument){frame->name, "the transfer's target"},
                                target, err);
    if (status == CADRE_OK)
        status = cdr_check_text((cdr_argument){frame->name, "the transfer's message"},
                                message, err);
    if (status != CADRE_OK)
        return status;
    free(work->target);
    free(work->target_message);
    work->target = strdup(target == NULL ? "" : target);
    work->target_message = strdup(message == NULL ? "" : message);
    if (work->target == NULL || work->target_message == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a transfer");
    return CADRE_OK;
}

cadre_status cadre_frame_request_escalation(cadre_frame *frame, const char *reason,
                                            cadre_error *err)
{
    if (frame == NULL)
        return cdr_fail_null(err, __func__);
    if (frame->kind != CDR_FRAME_TOOL)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': only a tool asks to escalate this way; an agent "
                          "returns CADRE_ESCALATED",
                          frame->name);
    cadre_status status =
        cdr_check_text((cdr_argument){frame->name, "the reason"}, reason, err);
    if (status != CADRE_OK)
        return status;
    free(frame->work->escalation);
    frame->work->escalation = strdup(reason == NULL ? "" : reason);
    if (frame->work->escalation == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to escalate");
    return CADRE_OK;
}

const char *cadre_frame_idempotency_key(cadre_frame *frame)
{
    if (frame == NULL)
        return "";
    return cadre_frame_printf(frame, "%s/%s", frame->tree->trace_text,
                              cdr_frame_id_text(frame));
}
