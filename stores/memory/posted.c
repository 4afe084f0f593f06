// See posted.h. Other threads may release a trace while its rows are given, so all is
// copied under the locks.
#include "posted.h"

#include "frame_layout.h"

#include <stdlib.h>
#include <string.h>

typedef struct marked_frame {
    cadre_id id, trace;
    char *mark; // owned
} marked_frame;

typedef struct posted {
    marked_frame *frames;
    size_t n_frames, frames_capacity;
    cadre_message_row **messages; // owned
    size_t n_messages, messages_capacity;
} posted;

static void posted_fini(posted *p)
{
    for (size_t i = 0; i < p->n_frames; i++)
        free(p->frames[i].mark);
    for (size_t i = 0; i < p->n_messages; i++)
        free(p->messages[i]);
    free(p->messages);
    free(p->frames);
}

// Room for one more of `size` bytes. False: no memory.
static bool reserve(void **list, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity)
        return true;
    size_t more = *capacity ? *capacity * 2 : 8;
    void *grown = realloc(*list, more * size);
    if (!grown)
        return false;
    *list = grown;
    *capacity = more;
    return true;
}

static bool add_marked(posted *p, const cdr_memory_trace *trace)
{
    for (uint32_t i = 0; i < trace->frames.n_rows; i++) {
        const cdr_memory_frame *frame = trace->frames.rows[i];
        if (frame->is_refused || !frame->mark || cdr_memory_has_ended(frame) ||
            (frame->parent && frame->parent->mark))
            continue;
        if (!reserve((void **)&p->frames, p->n_frames, &p->frames_capacity,
                     sizeof(*p->frames)))
            return false;
        char *mark = strdup(frame->mark);
        if (!mark)
            return false;
        p->frames[p->n_frames++] =
            (marked_frame){.id = frame->id, .trace = trace->id, .mark = mark};
    }
    return true;
}

// Who works there: a root that lives, or whose conversation it is. None: nobody.
static cadre_id worker_of(const cdr_memory_conversation *conversation, cadre_id trace)
{
    bool has_worker = !cadre_id_is_none(conversation->live_root) ||
                      !cadre_id_is_none(conversation->row.owner_frame);
    return has_worker ? trace : (cadre_id){0, 0};
}

// `trace` is where it stands, or whose root was there last.
static bool add_inbox(posted *p, const cdr_memory_conversation *conversation,
                      cadre_id trace)
{
    if (conversation->is_refused)
        return true;
    for (uint32_t i = 0; i < conversation->n_notes; i++) {
        if (!conversation->notes[i].in_inbox)
            continue;
        if (!reserve((void **)&p->messages, p->n_messages, &p->messages_capacity,
                     sizeof(cadre_message_row *)))
            return false;
        cadre_message_row *copy = cdr_memory_message_dup(conversation->notes[i].row);
        if (!copy)
            return false;
        copy->trace = worker_of(conversation, trace);
        p->messages[p->n_messages++] = copy;
    }
    return true;
}

static bool add_trace(posted *p, const cdr_memory_trace *trace,
                      const cadre_store_reader *reader)
{
    bool is_ok = !reader->frame || add_marked(p, trace);
    for (uint32_t i = 0; i < trace->conversations.n_rows && is_ok && reader->message;
         i++)
        is_ok = add_inbox(p, trace->conversations.rows[i], trace->id);
    return is_ok;
}

static bool take(cdr_memory_store *store, const cadre_store_reader *reader, posted *p)
{
    bool is_ok = true;
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && is_ok; i++) {
        cdr_memory_trace_shelf *shelf = &store->traces[i];
        pthread_mutex_lock(&shelf->mu);
        for (uint32_t k = 0; k < shelf->traces.n_rows && is_ok; k++)
            is_ok = add_trace(p, shelf->traces.rows[k], reader);
        pthread_mutex_unlock(&shelf->mu);
    }
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && is_ok && reader->message; i++) {
        cdr_memory_session_shelf *shelf = &store->sessions[i];
        pthread_mutex_lock(&shelf->mu);
        for (uint32_t k = 0; k < shelf->conversations.n_rows && is_ok; k++) {
            const cdr_memory_conversation *conversation = shelf->conversations.rows[k];
            is_ok = add_inbox(p, conversation, conversation->live_trace);
        }
        pthread_mutex_unlock(&shelf->mu);
    }
    return is_ok;
}

static cadre_status give(const posted *p, const cadre_store_reader *reader,
                         cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < p->n_frames && status == CADRE_OK; i++) {
        cadre_frame_row row = {.id = p->frames[i].id,
                               .trace = p->frames[i].trace,
                               .mark = p->frames[i].mark,
                               .key = "",
                               .kind = "",
                               .name = "",
                               .referer = "",
                               .input = "",
                               .output = "",
                               .delta = "",
                               .error = ""};
        status = reader->frame(reader->ctx, &row, err);
    }
    for (size_t i = 0; i < p->n_messages && status == CADRE_OK; i++)
        status = reader->message(reader->ctx, p->messages[i], err);
    return status;
}

cadre_status cdr_memory_posted_read(cdr_memory_store *store,
                                    const cadre_store_reader *reader, cadre_error *err)
{
    posted p = {.frames = NULL};
    cadre_status status =
        take(store, reader, &p)
            ? give(&p, reader, err)
            : cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
    posted_fini(&p);
    return status;
}
