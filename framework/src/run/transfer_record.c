// See transfer_record.h.
#include "run/transfer_record.h"

#include "run/decide.h"
#include "run/fallback.h"
#include "run/model_record.h"
#include "run/tool_record.h"
#include "run/transfer.h"

static cadre_status replay_round(cadre_frame *frame, cdr_message *message, int turn,
                                 cadre_error *err)
{
    cdr_arena arena = CDR_ARENA_INIT;
    cdr_offer offer;
    cdr_round *round = NULL;
    cadre_status status = CADRE_ENOMEM;
    if (cdr_offer_init(&offer, frame, cadre_agent_tools(frame->agent), &arena)) {
        cdr_mutex_lock(&frame->tree->mu);
        round = cdr_round_new_locked(frame, message, turn, &offer);
        cdr_mutex_unlock(&frame->tree->mu);
    }
    if (round != NULL)
        status = cdr_tools_replay(frame, round, err);
    if (round != NULL && status == CADRE_OK)
        status = cdr_decide_turn(frame, round, err);
    if (round != NULL)
        cdr_round_free(round);
    cdr_arena_fini(&arena);
    return round == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for a record")
                         : status;
}

// Of a frame whose own code, or a hook, handed over: no call asked for it. A return is
// left to who makes it.
static cadre_status replay_own_transfer(cadre_frame *frame, cadre_error *err)
{
    cdr_transfer_decision decision;
    cdr_mutex_lock(&frame->tree->mu);
    const cadre_frame *target = cdr_frame_child_locked(frame, "transfer");
    cdr_text *input = cdr_text_ref(target->input);
    const cadre_agent *to = target->agent;
    cdr_mutex_unlock(&frame->tree->mu);
    const char *message = cdr_text_bytes(input);
    cadre_status status = CADRE_OK;
    if (!cdr_transfer_is_return(frame, to, message)) {
        status = cdr_scope_decide(frame->scope, frame->agent, to->info.name, message,
                                  &decision, err);
        if (status == CADRE_OK && decision.kind == CDR_TRANSFER_DONE)
            status = cdr_transfer_enter(frame, &decision, message, err);
    }
    cdr_text_unref(input);
    return status;
}

cadre_status cdr_replay_transfers(cadre_frame *frame, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (int turn = 1; status == CADRE_OK && frame->work->transfer == NULL; turn++) {
        cdr_mutex_lock(&frame->tree->mu);
        cdr_message *message = cdr_recorded_answer_locked(frame, turn);
        if (message != NULL)
            cdr_message_ref(message);
        cdr_mutex_unlock(&frame->tree->mu);
        if (message == NULL)
            break;
        status = replay_round(frame, message, turn, err);
        cdr_message_unref(message);
    }
    if (status != CADRE_OK || frame->work->transfer != NULL)
        return status;
    if (cdr_has_fallen_back(frame))
        return cdr_fall_back_again(frame, err);
    return replay_own_transfer(frame, err);
}
