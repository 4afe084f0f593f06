// See run_rows.h.
#include "support/run_rows.h"

#include "support/check.h"

#include "team/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(run_rows *rows, void *items, size_t count, size_t size)
{
    void *grown = cdr_arena_grow(&rows->arena, items, count, size);
    if (grown == NULL)
        abort();
    return grown;
}

static const char *keep(run_rows *rows, const char *text)
{
    const char *kept = cdr_arena_text(&rows->arena, text == NULL ? "" : text);
    if (kept == NULL)
        abort();
    return kept;
}

static int find_frame(const run_rows *rows, cadre_id id)
{
    for (size_t i = rows->n_frames; i-- > 0;)
        if (cadre_id_equal(rows->frames[i].row.id, id))
            return (int)i;
    return -1;
}

// --- Reading ---

static cadre_status take_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    run_rows *rows = ctx;
    (void)err;
    rows->is_there = true;
    rows->trace = *row;
    rows->trace.team = rows->trace.shape_digest = rows->trace.text_digest = "";
    rows->trace.options = "";
    rows->trace.lease_owner = keep(rows, row->lease_owner);
    return CADRE_OK;
}

static cadre_status take_conversation(void *ctx, const cadre_conversation_row *row,
                                      cadre_error *err)
{
    run_rows *rows = ctx;
    (void)err;
    rows->conversations = grow(rows, rows->conversations, rows->n_conversations,
                               sizeof *rows->conversations);
    rows->conversations[rows->n_conversations] = *row;
    rows->conversations[rows->n_conversations++].session = keep(rows, row->session);
    return CADRE_OK;
}

static cadre_status take_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    run_rows *rows = ctx;
    (void)err;
    rows->frames = grow(rows, rows->frames, rows->n_frames, sizeof *rows->frames);
    run_frame frame = {.row = *row, .parent = find_frame(rows, row->parent)};
    frame.row.key = keep(rows, row->key);
    frame.row.kind = keep(rows, row->kind);
    frame.row.name = keep(rows, row->name);
    frame.row.referer = keep(rows, row->referer);
    frame.row.input = keep(rows, row->input);
    frame.row.mark = keep(rows, row->mark);
    frame.row.delta = keep(rows, row->delta);
    frame.row.output = keep(rows, row->output);
    frame.row.error = keep(rows, row->error);
    cadre_id_text(row->id, frame.id);
    frame.is_fork = strcmp(row->referer, "agent_fork") == 0 ||
                    (frame.parent >= 0 && rows->frames[frame.parent].is_fork);
    rows->frames[rows->n_frames++] = frame;
    return CADRE_OK;
}

static void keep_calls(run_rows *rows, cadre_message *m)
{
    cadre_tool_call *calls =
        cdr_arena_alloc(&rows->arena, (m->n_tool_calls + 1) * sizeof *calls);
    if (calls == NULL)
        abort();
    for (size_t i = 0; i < m->n_tool_calls; i++)
        calls[i] = (cadre_tool_call){keep(rows, m->tool_calls[i].id),
                                     keep(rows, m->tool_calls[i].name),
                                     keep(rows, m->tool_calls[i].arguments)};
    m->tool_calls = calls;
}

static cadre_status take_message(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    run_rows *rows = ctx;
    (void)err;
    rows->messages =
        grow(rows, rows->messages, rows->n_messages, sizeof *rows->messages);
    run_message *message = &rows->messages[rows->n_messages++];
    *message = (run_message){.row = *row, .frame = find_frame(rows, row->frame)};
    cadre_message *m = &message->row.message;
    m->id = m->frame_id = m->reasoning = "";
    m->model = m->mark = m->parts = m->items = "";
    m->agent = keep(rows, m->agent);
    m->to = keep(rows, m->to);
    m->text = keep(rows, m->text);
    m->call_id = keep(rows, m->call_id);
    m->tool_name = keep(rows, m->tool_name);
    message->row.request_id = keep(rows, row->request_id);
    message->row.request_hash = "";
    keep_calls(rows, m);
    return CADRE_OK;
}

void run_rows_read(run_rows *rows, cadre_runtime *runtime, const char *trace)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_query query = {.kind = CADRE_QUERY_TRACE};
    const cadre_store_reader reader = {.trace = take_trace,
                                       .conversation = take_conversation,
                                       .frame = take_frame,
                                       .message = take_message,
                                       .ctx = rows};
    memset(rows, 0, sizeof *rows);
    CHECK(cadre_id_parse(trace, &query.trace));
    CHECK_OK(runtime->store_ops->read(runtime->store, &query, &reader, &err), &err);
}

void run_rows_fini(run_rows *rows)
{
    cdr_arena_fini(&rows->arena);
}

// --- Showing ---

const char *run_rows_path(run_rows *rows, int frame)
{
    const char *path = "";
    for (int at = frame; at >= 0; at = rows->frames[at].parent)
        path = cdr_arena_printf(&rows->arena, "%s%s%s", rows->frames[at].row.key,
                                at == frame ? "" : "/", path);
    return path;
}

static int level_of(const run_rows *rows, size_t i)
{
    int level = 0;
    for (int at = rows->frames[i].parent; at >= 0; at = rows->frames[at].parent)
        level++;
    return level;
}

static void print_frame(const run_rows *rows, size_t i)
{
    const cadre_frame_row *row = &rows->frames[i].row;
    printf("%*s%s %s %s %s %s %s%s%s [%" PRId64 "-%" PRId64 "] try %d+%d calls %" PRId64
           "/%" PRId64 " %.60s%s%.120s\n",
           4 + 2 * level_of(rows, i), "", row->key, row->kind, row->name,
           rows->frames[i].id, cadre_frame_status_name(row->status),
           cadre_stop_reason_name(row->stop_reason), row->mark[0] == '\0' ? "" : " !",
           row->mark, row->start_seq, row->end_seq, row->attempts, row->restarts,
           row->own.model_calls, row->usage.model_calls, row->output,
           row->error[0] == '\0' ? "" : " error: ", row->error);
}

static void print_message(const run_rows *rows, size_t i)
{
    const cadre_message_row *row = &rows->messages[i].row;
    const cadre_message *m = &row->message;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->conversation, id);
    printf("    %s %d seq %" PRId64 " %s %s>%s %s %s %s: %.80s", id, (int)m->position,
           m->seq, cadre_role_name(m->role), m->agent, m->to, m->call_id, m->tool_name,
           cadre_result_code_name(m->code), m->text);
    for (size_t k = 0; k < m->n_tool_calls; k++)
        printf(" %s=%s(%.40s)", m->tool_calls[k].id, m->tool_calls[k].name,
               m->tool_calls[k].arguments);
    printf(" by %s\n", rows->messages[i].frame < 0
                           ? "-"
                           : rows->frames[rows->messages[i].frame].id);
}

void run_rows_print(const run_rows *rows)
{
    printf("  the record: last seq %" PRId64 ", held by '%s'\n", rows->trace.last_seq,
           rows->trace.lease_owner);
    for (size_t i = 0; i < rows->n_frames; i++)
        print_frame(rows, i);
    for (size_t i = 0; i < rows->n_messages; i++)
        print_message(rows, i);
}
