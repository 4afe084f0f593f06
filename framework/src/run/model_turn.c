// See model_turn.h.
#include "run/model_turn.h"

#include "run/model_attempt.h"

static void wake(void *ctx)
{
    cdr_strand_wake(ctx);
}

static void show_wait(cdr_model_call *call, cdr_turn_wait why, int64_t wait_ms)
{
    static const char *const reasons[] = {"retry_after", "rpm", "max_concurrency"};
    cadre_event event = {.type = CADRE_EVENT_WAIT};
    event.u.wait.model = call->model->name;
    event.u.wait.reason = reasons[why];
    event.u.wait.wait_ms = wait_ms;
    cdr_model_show(call, &event);
}

static int64_t wait_of(const cdr_model_call *call, const cdr_turn_delay *delay)
{
    int64_t wait_ms = delay->until_ms - cdr_tree_now_ms(call->frame->tree);
    if (delay->until_ms == CDR_NEVER)
        return -1;
    return wait_ms > 0 ? wait_ms : 1; // 0 says that it is over
}

cadre_status cdr_model_turn_take(cdr_model_call *call, cdr_turn *turn, cadre_error *err)
{
    const cadre_model *model = call->model;
    cdr_strand *strand = call->agent->work->strand;
    cdr_turn_delay delay, told = {CDR_TURN_PAUSE, 0};
    *turn = (cdr_turn){.rpm = model->rpm,
                       .max_concurrency = model->max_concurrency,
                       .wake = wake,
                       .ctx = strand};
    while (model->governor != NULL && !cadre_frame_is_stopped(call->frame)) {
        unsigned seen = cdr_strand_seen(strand);
        if (cdr_turn_take(model->governor, turn, &delay)) {
            if (told.until_ms != 0)
                show_wait(call, told.why, 0);
            return CADRE_OK;
        }
        if (told.until_ms != 0) {
            cdr_frame_wait(call->frame, seen, delay.until_ms);
            continue;
        }
        // Telling may have to wait for who reads the run, and nobody else waits for
        // that: so it is done before it stands in line.
        cdr_turn_end(model->governor, turn);
        told = delay;
        show_wait(call, delay.why, wait_of(call, &delay));
    }
    return cdr_frame_stopped(call->frame, err);
}

void cdr_model_turn_end(cdr_model_call *call, cdr_turn *turn)
{
    if (call->model->governor != NULL)
        cdr_turn_end(call->model->governor, turn);
}

void cdr_model_turn_pause(cdr_model_call *call, int64_t ms,
                          cadre_error_class error_class)
{
    bool is_of_server = error_class == CADRE_CLASS_RATE_LIMITED ||
                        error_class == CADRE_CLASS_OVERLOADED;
    if (call->model->governor != NULL && is_of_server && ms > 0)
        cdr_governor_pause(call->model->governor, ms);
}
