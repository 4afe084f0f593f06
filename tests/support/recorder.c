// See recorder.h.
#include "support/recorder.h"

#include "support/check.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static void keep(char *to, size_t size, const char *text)
{
    strncpy(to, text == NULL ? "" : text, size - 1);
}

static void write_end(cdr_buf *says, cadre_frame_status status,
                      cadre_stop_reason reason, const char *output,
                      const cadre_error_info *error)
{
    cdr_buf_printf(says, "%s %s", cadre_frame_status_name(status),
                   cadre_stop_reason_name(reason));
    if (error->error_class != CADRE_CLASS_NONE)
        cdr_buf_printf(says, " %s: %s", cadre_error_class_name(error->error_class),
                       error->message);
    else
        cdr_buf_printf(says, " %s", output);
}

static void write_says(cdr_buf *says, const cadre_event *e)
{
    switch (e->type) {
    case CADRE_EVENT_STREAM_START:
        cdr_buf_append_text(says, e->u.stream_start.team);
        break;
    case CADRE_EVENT_FRAME_START:
        cdr_buf_printf(says, "%s %s %d", e->u.frame_start.key, e->u.frame_start.referer,
                       e->u.frame_start.depth);
        break;
    case CADRE_EVENT_FRAME_END:
        write_end(says, e->u.frame_end.status, e->u.frame_end.stop_reason,
                  e->u.frame_end.output, &e->u.frame_end.error);
        break;
    case CADRE_EVENT_MESSAGE_START:
    case CADRE_EVENT_ERROR:
        break;
    case CADRE_EVENT_TEXT_DELTA:
    case CADRE_EVENT_REASONING_DELTA:
        CHECK_INT(strlen(e->u.delta.text), e->u.delta.len);
        cdr_buf_append_text(says, e->u.delta.text);
        break;
    case CADRE_EVENT_MESSAGE_END:
        cdr_buf_printf(says, "%s %s", cadre_role_name(e->u.message_end.message->role),
                       e->u.message_end.message->text);
        break;
    case CADRE_EVENT_TOOL_CALL:
        cdr_buf_printf(says, "%s %s", e->u.tool_call.name, e->u.tool_call.arguments);
        break;
    case CADRE_EVENT_TOOL_PROGRESS:
        cdr_buf_printf(says, "%s %s", e->u.tool_progress.name, e->u.tool_progress.text);
        break;
    case CADRE_EVENT_TOOL_RESULT:
        cdr_buf_printf(says, "%s %s %s", e->u.tool_result.name,
                       cadre_result_code_name(e->u.tool_result.code),
                       e->u.tool_result.result);
        break;
    case CADRE_EVENT_TRANSFER:
        cdr_buf_printf(says, "%s %s %s", e->u.transfer.from, e->u.transfer.to,
                       e->u.transfer.decision);
        break;
    case CADRE_EVENT_ESCALATE:
        cdr_buf_printf(says, "%s", e->u.escalate.reason);
        break;
    case CADRE_EVENT_INTERRUPT:
        cdr_buf_printf(says, "%s %s", e->u.interrupt.question, e->u.interrupt.choices);
        break;
    case CADRE_EVENT_STATE_DELTA:
        cdr_buf_printf(says, "%s %s", e->u.state_delta.key, e->u.state_delta.value);
        break;
    case CADRE_EVENT_RETRY:
        cdr_buf_printf(says, "%d %s", e->u.retry.attempt,
                       cadre_error_class_name(e->u.retry.error.error_class));
        if (*e->u.retry.next_model)
            cdr_buf_printf(says, " %s -> %s", e->u.retry.model, e->u.retry.next_model);
        break;
    case CADRE_EVENT_WAIT:
        cdr_buf_printf(says, "%s %s %lld", e->u.wait.model, e->u.wait.reason,
                       (long long)e->u.wait.wait_ms);
        break;
    case CADRE_EVENT_STREAM_END:
        write_end(says, e->u.stream_end.status, e->u.stream_end.stop_reason,
                  e->u.stream_end.output, &e->u.stream_end.error);
        break;
    }
}

void recorder_add(recorder *r, const cadre_event *event)
{
    cdr_buf says = CDR_BUF_INIT;
    if (r->n_events == r->capacity) {
        r->capacity = r->capacity == 0 ? 64 : r->capacity * 2;
        r->events = realloc(r->events, r->capacity * sizeof *r->events);
        if (r->events == NULL)
            abort();
    }
    recorded_event *kept = &r->events[r->n_events++];
    memset(kept, 0, sizeof *kept);
    kept->type = event->type;
    kept->seq = event->seq;
    kept->is_main = event->is_main;
    keep(kept->frame, sizeof kept->frame, event->frame_id);
    keep(kept->thread, sizeof kept->thread, event->thread_id);
    keep(kept->agent, sizeof kept->agent, event->agent);
    const cadre_error_info *error = NULL;
    if (event->type == CADRE_EVENT_FRAME_END) {
        error = &event->u.frame_end.error;
        kept->usage = event->u.frame_end.usage;
    } else if (event->type == CADRE_EVENT_STREAM_END) {
        error = &event->u.stream_end.error;
        kept->usage = event->u.stream_end.usage;
    }
    if (error != NULL) {
        keep(kept->error_agent, sizeof kept->error_agent, error->agent);
        keep(kept->error_frame, sizeof kept->error_frame, error->frame_id);
    }
    write_says(&says, event);
    kept->says = cdr_buf_take(&says);
    if (kept->says == NULL)
        abort();
}

// Where the first event of that type about that frame stands; n_events: nowhere.
static size_t place_of(const recorder *r, cadre_event_type type, const char *frame)
{
    size_t i = 0;
    while (i < r->n_events &&
           (r->events[i].type != type || strcmp(r->events[i].frame, frame) != 0))
        i++;
    return i;
}

static void check_frames(const recorder *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        const recorded_event *e = &r->events[i];
        if (e->type == CADRE_EVENT_FRAME_START) {
            CHECK_INT(place_of(r, CADRE_EVENT_FRAME_START, e->frame), i);
            CHECK(place_of(r, CADRE_EVENT_FRAME_END, e->frame) < r->n_events);
        } else if (e->type == CADRE_EVENT_FRAME_END) {
            CHECK_INT(place_of(r, CADRE_EVENT_FRAME_END, e->frame), i);
            CHECK(place_of(r, CADRE_EVENT_FRAME_START, e->frame) < i);
        } else if (e->thread[0] != '\0') {
            CHECK(place_of(r, CADRE_EVENT_FRAME_START, e->thread) < i);
            CHECK(place_of(r, CADRE_EVENT_FRAME_END, e->thread) > i);
        }
    }
}

// Durable events follow on each other; of a resumed run they go on where it was cut.
static int64_t check_seqs(const recorder *r)
{
    int64_t seq = 0;
    for (size_t i = 0; i < r->n_events; i++) {
        if (r->events[i].seq == 0)
            continue;
        if (seq != 0)
            CHECK_INT(r->events[i].seq, seq + 1);
        seq = r->events[i].seq;
    }
    return seq;
}

void recorder_check(const recorder *r)
{
    CHECK_INT(recorder_count(r, CADRE_EVENT_STREAM_START), 1);
    CHECK_INT(recorder_count(r, CADRE_EVENT_STREAM_END), 1);
    if (!CHECK(r->n_events >= 2))
        return;
    const recorded_event *first = &r->events[0];
    const recorded_event *last = &r->events[r->n_events - 1];
    int64_t seq = check_seqs(r);
    CHECK(first->type == CADRE_EVENT_STREAM_START);
    CHECK(last->type == CADRE_EVENT_STREAM_END);
    bool is_resumed = first->seq == 0;
    bool is_parked = strncmp(last->says, "waiting", 7) == 0;
    if (!is_resumed)
        CHECK_INT(first->seq, 1);
    CHECK_INT(last->seq, is_parked ? 0 : seq);
    if (is_resumed || is_parked)
        return;
    CHECK_INT(recorder_count(r, CADRE_EVENT_TOOL_RESULT),
              recorder_count(r, CADRE_EVENT_TOOL_CALL));
    check_frames(r);
}

void recorder_read(recorder *r, cadre_run *run)
{
    const cadre_event *event = NULL;
    cadre_status status = cadre_run_next(run, &event, NULL);
    for (; status == CADRE_OK; status = cadre_run_next(run, &event, NULL))
        recorder_add(r, event);
    CHECK_STATUS(status, CADRE_DONE, NULL);
    recorder_check(r);
}

void recorder_fini(recorder *r)
{
    for (size_t i = 0; i < r->n_events; i++)
        free(r->events[i].says);
    free(r->events);
    free(r->listing);
    memset(r, 0, sizeof *r);
}

const char *recorder_text(recorder *r, cadre_event_type type)
{
    cdr_buf text = CDR_BUF_INIT;
    for (size_t i = 0; i < r->n_events; i++)
        if (r->events[i].type == type)
            cdr_buf_printf(&text, "%s: %s\n", r->events[i].agent, r->events[i].says);
    free(r->listing);
    r->listing = cdr_buf_take(&text);
    return r->listing;
}

size_t recorder_count(const recorder *r, cadre_event_type type)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_events; i++)
        n += r->events[i].type == type;
    return n;
}

const recorded_event *recorder_find(const recorder *r, cadre_event_type type,
                                    size_t nth)
{
    for (size_t i = 0; i < r->n_events; i++)
        if (r->events[i].type == type && nth-- == 0)
            return &r->events[i];
    return NULL;
}
