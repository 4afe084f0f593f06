// See random_hooks.h.
#include "support/random_hooks.h"

#include "support/kept_views.h"
#include "support/random_model.h"

#include "cadre/state.h"

#include <stdio.h>

static dice dice_at(cadre_frame *frame, const char *hook, int turn)
{
    char what[32];
    snprintf(what, sizeof what, "%s %d", hook, turn);
    return random_model_dice(frame, what);
}

static json_t *step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    random_work_note();
    return json_string("stepped");
}

// What any hook may do beside its own: mostly nothing.
static cadre_status do_any(cadre_frame *frame, dice *d, cadre_error *err)
{
    int what = dice_throw(d, 200);
    cadre_status status = CADRE_OK;
    json_t *value = NULL;
    if (what < 6) {
        status = cadre_frame_step(frame, CADRE_STEP(.name = "hook", .run = step),
                                  &value, err);
    } else if (what < 7) {
        json_t *question = json_string("May it?");
        status = cadre_frame_ask(frame, NULL, question, &value, err);
        json_decref(question);
    } else if (what < 10) {
        status = cadre_frame_sleep(frame, 1, err);
    } else if (what < 12) {
        status = cadre_fail(err, CADRE_EFAILED, "the hook does not want it");
    } else if (what < 16) {
        value = json_integer(dice_throw(d, 5));
        status = cadre_frame_set_state(frame, "log", value, err);
    }
    json_decref(value);
    return status;
}

static cadre_status hand_over(cadre_frame *frame, dice *d, cadre_error *err)
{
    cadre_error dropped = CADRE_ERROR_INIT;
    const cadre_agent *agent = random_model_peer(frame, d);
    if (agent == NULL)
        return CADRE_OK;
    cadre_status status = cadre_frame_transfer(
        frame, CADRE_CALL(.agent = agent, .input = "By a hook."), &dropped);
    if (status == CADRE_EREFUSED || status == CADRE_EINVAL)
        return CADRE_OK;
    return status == CADRE_OK ? status : cadre_fail(err, status, "%s", dropped.text);
}

static cadre_status create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    dice d = dice_at(frame, "create", 0);
    cadre_status status = do_any(frame, &d, err);
    int what = dice_throw(&d, 100);
    if (status != CADRE_OK || what >= 6)
        return status;
    if (what < 3)
        return hand_over(frame, &d, err);
    status = cadre_frame_set_output(frame, "created again", err);
    return status == CADRE_OK ? CADRE_DONE : status;
}

static cadre_status before_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err)
{
    (void)ctx;
    kept_views_check(frame);
    dice d = dice_at(frame, "before_model", call->turn);
    cadre_status status = do_any(frame, &d, err);
    int what = dice_throw(&d, 100);
    if (status != CADRE_OK)
        return status;
    if (what < 3)
        return cadre_model_hook_set_system(call, "Another.", err);
    if (what < 6)
        return cadre_model_hook_add_turn(call, "And mind the hook.", err);
    return what < 10 ? cadre_model_hook_answer(call, "hooked", err) : CADRE_OK;
}

static cadre_status after_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err)
{
    (void)ctx;
    dice d = dice_at(frame, "after_model", call->turn);
    cadre_status status = do_any(frame, &d, err);
    if (status != CADRE_OK || !dice_percent(&d, 8))
        return status;
    return cadre_model_hook_answer(call, "reworded", err);
}

static cadre_status before_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                                cadre_error *err)
{
    (void)ctx;
    dice d = dice_at(frame, "before_tool", 0);
    cadre_status status = do_any(frame, &d, err);
    int what = dice_throw(&d, 100);
    if (status != CADRE_OK)
        return status;
    if (what < 4)
        return cadre_tool_hook_block(call, "not now", err);
    return what < 8 && !call->is_control ? cadre_tool_hook_set_result(call, "made", err)
                                         : CADRE_OK;
}

static cadre_status after_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                               cadre_error *err)
{
    (void)ctx;
    dice d = dice_at(frame, "after_tool", 0);
    cadre_status status = do_any(frame, &d, err);
    if (status != CADRE_OK || !dice_percent(&d, 8))
        return status;
    return cadre_tool_hook_set_result(call, "another", err);
}

static cadre_status next(void *ctx, cadre_frame *frame, const cadre_outcome *answer,
                         cadre_error *err)
{
    (void)ctx;
    (void)answer;
    dice d = dice_at(frame, "next", 0);
    cadre_status status = do_any(frame, &d, err);
    int what = dice_throw(&d, 100);
    if (status != CADRE_OK || what >= 8)
        return status;
    if (what < 4)
        return hand_over(frame, &d, err);
    return cadre_frame_set_output(frame, "next 7", err);
}

const cadre_hooks *random_hooks(void)
{
    static const cadre_hooks hooks = {.struct_size = sizeof hooks,
                                      .create = create,
                                      .before_model = before_model,
                                      .after_model = after_model,
                                      .before_tool = before_tool,
                                      .after_tool = after_tool,
                                      .next = next};
    return &hooks;
}
