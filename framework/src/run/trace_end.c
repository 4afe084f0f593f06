// See trace_end.h.
#include "run/trace_end.h"

#include "run/lease.h"
#include "run/options.h"
#include "tree/ending.h"
#include "tree/id_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPORT_ID_SIZE = CADRE_ID_TEXT_SIZE + 8,
    REPORT_TEXT_SIZE = 400
};

typedef struct ended_frame {
    cadre_id id;
    size_t parent; // its place from 1; 0: the root
    cadre_usage usage;
    bool is_live, is_agent;
} ended_frame;

typedef struct ender {
    ended_frame *frames; // parents first
    size_t n_frames, capacity;
    cdr_id_table places; // from 1
    int64_t last_seq;
    cadre_id report_to; // of a run that another spawned; else none
    char name[80];      // the root's
    bool is_marked;     // the root
    char why[200];
} ender;

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "no memory to end a run");
}

static cadre_status take_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    ender *e = ctx;
    json_t *options = cdr_options_parse(row->options);
    if (options == NULL)
        return no_memory(err);
    const char *to = json_string_value(
        json_object_get(json_object_get(options, "spawn"), "report_to"));
    if (to != NULL)
        (void)cadre_id_parse(to, &e->report_to);
    json_decref(options);
    e->last_seq = row->last_seq;
    return CADRE_OK;
}

static cadre_status take_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    ender *e = ctx;
    if (e->n_frames == e->capacity) {
        size_t capacity = e->capacity == 0 ? 64 : e->capacity * 2;
        void *grown = realloc(e->frames, capacity * sizeof(*e->frames));
        if (grown == NULL)
            return no_memory(err);
        e->frames = grown;
        e->capacity = capacity;
    }
    size_t parent = (size_t)(uintptr_t)cdr_id_table_get(&e->places, row->parent);
    e->frames[e->n_frames++] =
        (ended_frame){.id = row->id,
                      .parent = parent,
                      .usage = row->usage,
                      .is_live = row->status < CADRE_FRAME_COMPLETED,
                      .is_agent = strcmp(row->kind, "agent") == 0};
    if (parent == 0) {
        const char *why = strchr(row->mark, ' ');
        e->is_marked = row->mark[0] != '\0';
        snprintf(e->name, sizeof e->name, "%s", row->name);
        snprintf(e->why, sizeof e->why, "aborted: %s",
                 why == NULL ? "cancelled" : why + 1);
    }
    return cdr_id_table_put(&e->places, row->id, (void *)(uintptr_t)e->n_frames)
               ? CADRE_OK
               : no_memory(err);
}

// A live frame's usage is the sum of what is below it.
static void sum_usage(ender *e)
{
    for (size_t i = e->n_frames; i-- > 0;) {
        const ended_frame *frame = &e->frames[i];
        if (frame->parent > 0 && e->frames[frame->parent - 1].is_live)
            cdr_usage_add(&e->frames[frame->parent - 1].usage, &frame->usage);
    }
}

// Facts of all ends, bottom-up. NULL: no memory.
static cadre_fact *make_facts(const ender *e, int64_t now_ms, size_t *n_facts)
{
    cadre_fact *facts = calloc(e->n_frames + 1, sizeof(*facts));
    for (size_t i = e->n_frames; facts != NULL && i-- > 0;) {
        const ended_frame *frame = &e->frames[i];
        if (!frame->is_live)
            continue;
        cadre_fact *fact = &facts[(*n_facts)++];
        bool is_agent = frame->is_agent; // the rest is stopped with one
        fact->type = CADRE_FACT_END;
        fact->u.frame = (cadre_frame_row){.id = frame->id,
                                          .status = CADRE_FRAME_ABORTED,
                                          .stop_reason = CADRE_STOP_ABORTED,
                                          .output = "",
                                          .error = is_agent ? e->why : "",
                                          .error_class = is_agent ? CADRE_CLASS_ABORTED
                                                                  : CADRE_CLASS_NONE,
                                          .usage = frame->usage,
                                          .end_seq = e->last_seq + (int64_t)*n_facts,
                                          .completed_at = now_ms};
    }
    return facts;
}

// As the run itself would have reported.
static void add_report(const ender *e, cadre_id trace, char id[REPORT_ID_SIZE],
                       char text[REPORT_TEXT_SIZE], cadre_fact *fact)
{
    char trace_text[CADRE_ID_TEXT_SIZE];
    cadre_id_text(trace, trace_text);
    snprintf(id, REPORT_ID_SIZE, "report:%s", trace_text);
    snprintf(text, REPORT_TEXT_SIZE, "Background run %s (%s) %s", trace_text, e->name,
             e->why);
    fact->type = CADRE_FACT_MESSAGE;
    fact->u.message = (cadre_message_row){.id = cadre_id_new(),
                                          .conversation = e->report_to,
                                          .request_id = id,
                                          .request_hash = id};
    fact->u.message.message = (cadre_message){.role = CADRE_ROLE_USER,
                                              .agent = e->name,
                                              .to = "",
                                              .text = text,
                                              .reasoning = "",
                                              .call_id = "",
                                              .tool_name = "",
                                              .position = -1};
}

static cadre_status end_frames(cadre_runtime *runtime, cadre_id trace, int64_t epoch,
                               ender *e, cadre_error *err)
{
    size_t n_facts = 0;
    char id[REPORT_ID_SIZE];
    char text[REPORT_TEXT_SIZE];
    sum_usage(e);
    cadre_fact *facts = make_facts(e, cdr_clock_wall_ms(runtime->clock), &n_facts);
    if (facts == NULL)
        return no_memory(err);
    int64_t last_seq = e->last_seq + (int64_t)n_facts;
    if (!cadre_id_is_none(e->report_to))
        add_report(e, trace, id, text, &facts[n_facts++]);
    cadre_commit commit = {.trace = trace,
                           .epoch = epoch,
                           .last_seq = last_seq,
                           .facts = facts,
                           .n_facts = n_facts};
    cadre_status status = runtime->store_ops->commit(runtime->store, &commit, err);
    free(facts);
    return status;
}

cadre_status cdr_trace_end(cadre_runtime *runtime, cadre_id trace, cadre_error *err)
{
    ender e = {.frames = NULL};
    cdr_holder_name name;
    int64_t epoch = 0;
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = trace};
    const cadre_store_reader reader = {
        .trace = take_trace, .frame = take_frame, .ctx = &e};
    cadre_status status = cdr_lease_take_as(runtime, trace, name, &epoch, err);
    if (status != CADRE_OK)
        return status;
    status = runtime->store_ops->read(runtime->store, &query, &reader, err);
    if (status == CADRE_OK && e.is_marked && e.n_frames > 0 && e.frames[0].is_live)
        status = end_frames(runtime, trace, epoch, &e, err);
    cdr_lease_give_back_as(runtime, trace, name);
    cdr_id_table_fini(&e.places);
    free(e.frames);
    return status;
}

static cadre_status find_marked_root(void *ctx, const cadre_frame_row *row,
                                     cadre_error *err)
{
    bool *is_marked = ctx;
    (void)err;
    *is_marked |= cadre_id_is_none(row->parent) && row->mark[0] != '\0';
    return CADRE_OK;
}

void cdr_trace_end_marked(cadre_runtime *runtime, cadre_id trace)
{
    bool is_marked = false;
    const cadre_query query = {.kind = CADRE_QUERY_LIVE, .trace = trace};
    const cadre_store_reader reader = {.frame = find_marked_root, .ctx = &is_marked};
    runtime->store_ops->read(runtime->store, &query, &reader, NULL);
    if (is_marked)
        cdr_trace_end(runtime, trace, NULL);
}
