// See listen_case.h.
#include "support/listen_case.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

listened_to listened;
bool (*listen_at)(const cadre_event *event);
cadre_frame *listen_frame;

static cdr_buf heard;
static pthread_t lead_thread;

static void note(size_t index, const cadre_agent *agent, const cadre_event *event)
{
    recorder one = {.n_events = 0};
    recorder_add(&one, event);
    cdr_buf_printf(&heard, "%zu %s %s %s%s%s\n", index,
                   cadre_agent_get_info(agent)->name, event->agent,
                   cadre_event_type_name(event->type),
                   one.events[0].says[0] == '\0' ? "" : " ", one.events[0].says);
    recorder_fini(&one);
}

static bool hear(void *ctx, const cadre_agent *agent, size_t index,
                 const cadre_event *event)
{
    CHECK(ctx == &heard);
    CHECK(pthread_equal(pthread_self(), lead_thread) != 0);
    note(index, agent, event);
    return listen_at == NULL || listen_at(event);
}

static cadre_status listen(cadre_frame *frame, cadre_outcome *out)
{
    cadre_call made[2];
    const cadre_call *calls[2] = {NULL, NULL};
    bool is_batch = listened.how == LISTEN_BATCH;
    for (size_t i = 0; i < listened.n; i++) {
        made[i] = *CADRE_CALL(.agent = batch_member(frame, listened.names[i]),
                              .input = "work", .flags = listened.flags,
                              .listener = is_batch ? NULL : hear,
                              .listener_ctx = is_batch ? NULL : &heard);
        calls[i] = &made[i];
    }
    if (listened.how == LISTEN_CALL)
        return cadre_frame_call(frame, calls[0], out, &listened.err);
    if (listened.how == LISTEN_DELEGATE)
        return cadre_frame_delegate(frame, calls[0], out, &listened.err);
    return cadre_frame_batch(frame,
                             CADRE_BATCH(.wait = listened.wait, .calls = calls,
                                         .n_calls = listened.n,
                                         .winner = &listened.winner, .listener = hear,
                                         .listener_ctx = &heard),
                             out, &listened.err);
}

cadre_status listen_lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out[2];
    (void)ctx;
    lead_thread = pthread_self();
    listen_frame = frame;
    cadre_error_clear(&listened.err);
    listened.status = listen(frame, out);
    cdr_buf_append_text(&heard, "returned\n");
    for (size_t i = 0; i < listened.n; i++)
        (void)snprintf(listened.texts[i], sizeof listened.texts[i], "%s%s %s%s",
                       out[i].agent, out[i].error[0] == '\0' ? ":" : "!", out[i].text,
                       out[i].error);
    if (listened.status == CADRE_EPARKED)
        return cadre_fail(err, CADRE_EPARKED, "%s", listened.err.text);
    return cadre_frame_set_output(frame, "returned", err);
}

void listen_set(listen_how how, cadre_wait wait, const char *first, const char *second)
{
    memset(&listened, 0, sizeof listened);
    listen_forget();
    listen_at = NULL;
    listened.how = how;
    listened.wait = wait;
    listened.names[0] = first;
    listened.names[1] = second;
    listened.n = second == NULL ? 1 : 2;
    listened.winner = 99;
}

const char *listen_text(void)
{
    return cdr_buf_text(&heard);
}

void listen_forget(void)
{
    cdr_buf_clear(&heard);
}

void listen_close(team_case *t)
{
    batch_case_close(t);
    cdr_buf_fini(&heard);
}
