// See random_program.h.
#include "support/random_program.h"

#include "support/random_model.h"

#include "cadre/state.h"

// What one function does: so many things, one after the other.
typedef struct program {
    cadre_frame *frame;
    cadre_agents members;
    bool is_calm, has_quiet;
    dice dice;
} program;

static const cadre_agent *draw_member(program *p)
{
    return p->members.items[dice_throw(&p->dice, (int)p->members.count)];
}

static json_t *step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    random_work_note();
    return json_string("stepped");
}

static bool hear(void *ctx, const cadre_agent *agent, size_t index,
                 const cadre_event *event)
{
    int *n_left = ctx;
    (void)agent;
    (void)index;
    (void)event;
    return (*n_left)-- != 0;
}

static cadre_status do_batch(program *p, cadre_error *err)
{
    enum {
        MAX_CALLS = 4
    };
    dice *d = &p->dice;
    cadre_call made[MAX_CALLS];
    const cadre_call *calls[MAX_CALLS];
    size_t winner = 0;
    int n = dice_throw(d, MAX_CALLS + 1);
    int n_heard = p->is_calm || dice_percent(d, 70) ? -1 : dice_throw(d, 9);
    for (int i = 0; i < n; i++) {
        made[i] = (cadre_call){.struct_size = sizeof made[i],
                               .agent = dice_percent(d, 4) ? NULL : draw_member(p),
                               .input = "One of several.",
                               .history = dice_percent(d, 50) ? CADRE_HISTORY_ALL
                                                              : CADRE_HISTORY_NONE};
        if (!p->is_calm && dice_percent(d, 10))
            made[i].timeout_ms = 2 + dice_throw(d, 20);
        calls[i] = &made[i];
    }
    cadre_batch batch = {.struct_size = sizeof batch,
                         .wait = p->is_calm ? CADRE_ALL : (cadre_wait)dice_throw(d, 3),
                         .calls = calls,
                         .n_calls = (size_t)n,
                         .winner = &winner};
    if (dice_percent(d, 40)) {
        batch.listener = hear;
        batch.listener_ctx = &n_heard;
    }
    return cadre_frame_batch(p->frame, &batch, NULL, err);
}

static cadre_status do_ask(program *p, cadre_error *err)
{
    json_t *answer = NULL;
    json_t *question = json_string("Which?");
    cadre_status status = cadre_frame_ask(p->frame, NULL, question, &answer, err);
    json_decref(question);
    json_decref(answer);
    return status;
}

static cadre_status do_set(program *p, cadre_error *err)
{
    static const char *const keys[] = {"log", "total"};
    json_t *value = json_integer(dice_throw(&p->dice, 10));
    cadre_status status =
        cadre_frame_set_state(p->frame, keys[dice_throw(&p->dice, 2)], value, err);
    json_decref(value);
    return status;
}

static cadre_status do_step(program *p, cadre_error *err)
{
    int64_t now_ms = 0;
    uint64_t bits = 0;
    json_t *value = NULL;
    cadre_status status = cadre_frame_step(
        p->frame, CADRE_STEP(.name = "step", .run = step), &value, err);
    json_decref(value);
    if (status != CADRE_OK || p->is_calm) // else the record is another one each time
        return status;
    status = cadre_frame_now(p->frame, &now_ms, err);
    return status == CADRE_OK ? cadre_frame_random(p->frame, &bits, err) : status;
}

static cadre_status do_transfer(program *p, cadre_error *err)
{
    cadre_error dropped = CADRE_ERROR_INIT;
    const cadre_agent *agent = random_model_peer(p->frame, &p->dice);
    if (agent == NULL)
        return CADRE_OK;
    cadre_status status = cadre_frame_transfer(
        p->frame, CADRE_CALL(.agent = agent, .input = "Yours."), &dropped);
    if (status == CADRE_EREFUSED || status == CADRE_EINVAL)
        return CADRE_OK;
    return status == CADRE_OK ? CADRE_DONE
                              : cadre_fail(err, status, "%s", dropped.text);
}

// On its own; it reports some time.
static cadre_status do_spawn(program *p, cadre_error *err)
{
    cadre_error dropped = CADRE_ERROR_INIT;
    if (p->is_calm)
        return CADRE_OK;
    cadre_status status = cadre_frame_spawn(
        p->frame,
        CADRE_CALL(.agent = draw_member(p), .input = "On your own.", .timeout_ms = 200),
        NULL, &dropped);
    return status == CADRE_OK ? CADRE_OK : cadre_fail(err, status, "%s", dropped.text);
}

static cadre_status do_call(program *p, bool is_fork, cadre_error *err)
{
    dice *d = &p->dice;
    cadre_call call = {.struct_size = sizeof call,
                       .agent = draw_member(p),
                       .input = dice_percent(d, 80) ? "Do it." : NULL,
                       .flags =
                           p->has_quiet && dice_percent(d, 20) ? CADRE_CALL_QUIET : 0};
    if (!p->is_calm && dice_percent(d, 15))
        call.timeout_ms = 2 + dice_throw(d, 30);
    if (dice_percent(d, 20))
        call.key = dice_percent(d, 50) ? "mine" : "other";
    return is_fork ? cadre_frame_call(p->frame, &call, NULL, err)
                   : cadre_frame_delegate(p->frame, &call, NULL, err);
}

static cadre_status do_one(program *p, cadre_error *err)
{
    int what = dice_throw(&p->dice, 40);
    if (what < 8)
        return do_batch(p, err);
    if (what < 14)
        return do_call(p, true, err);
    if (what < 20)
        return do_call(p, false, err);
    if (what < 25)
        return do_step(p, err);
    if (what < 29)
        return do_set(p, err);
    if (what < 30)
        return do_ask(p, err);
    if (what < 33)
        return cadre_frame_set_output(p->frame, "So far again.", err);
    if (what < 35)
        return do_transfer(p, err);
    if (what < 37)
        return cadre_frame_sleep(p->frame, dice_throw(&p->dice, 3), err);
    if (what < 38)
        return do_spawn(p, err);
    if (what < 39)
        return cadre_fail(err, CADRE_EFAILED, "it gives up");
    return CADRE_OK;
}

cadre_status random_program_run(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    program p = {.frame = frame,
                 .members = cadre_frame_members(frame),
                 .is_calm = random_model_plan()->is_calm,
                 .has_quiet = random_model_plan()->has_quiet};
    dice all = random_model_dice(frame, "program");
    int n = 1 + dice_throw(&all, 4);
    for (int i = 0; i < n; i++) {
        cadre_error failure = CADRE_ERROR_INIT;
        p.dice = random_model_dice(frame, i == 0 ? "1" : i == 1 ? "2" : "3");
        p.dice.state += (uint64_t)i;
        bool survives = dice_percent(&p.dice, 60);
        cadre_status status = do_one(&p, &failure);
        if (status == CADRE_DONE)
            return CADRE_OK; // it has handed over
        bool is_own =
            status == CADRE_EFAILED || status == CADRE_EINVAL || status == CADRE_ELIMIT;
        if (status == CADRE_OK || (is_own && survives))
            continue;
        return cadre_fail_class(err, status, failure.error_class, failure.retryable,
                                "%s", failure.text);
    }
    if (dice_percent(&all, 3))
        return CADRE_ESCALATED;
    return dice_percent(&all, 70) ? cadre_frame_set_output(frame, "It is done.", err)
                                  : CADRE_OK;
}
