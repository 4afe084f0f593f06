// See model_record.h.
#include "run/model_record.h"

#include "run/hook.h"
#include "run/offer.h"
#include "run/tool_round.h"
#include "tree/birth.h"
#include "tree/delta.h"

#include <stdio.h>
#include <string.h>

bool cdr_keep_answer_locked(cadre_frame *frame, const cdr_message *message)
{
    cdr_work *work = frame->work;
    if (message->m.n_tool_calls > 0 && message->m.text[0] == '\0')
        return true;
    cdr_text_unref(work->output);
    work->output = cdr_text_new(message->m.text, strlen(message->m.text));
    work->answered_by = NULL;
    work->answer_reason = CADRE_STOP_NONE;
    return work->output != NULL;
}

// It was a hook that failed, so the frame does, whatever its `run` makes of it.
static void note_hook(cadre_frame *frame, const cadre_frame *record)
{
    const cdr_failure *failure = record->failure;
    cadre_error why = CADRE_ERROR_INIT;
    if (failure == NULL || record->output == NULL)
        return;
    cadre_fail_class(&why, CADRE_EFAILED, failure->error_class, failure->retryable,
                     "%s", failure->message);
    cdr_hook_note_failure(frame, &why);
}

static cadre_status failure_from_record(cadre_frame *frame, const cadre_frame *record,
                                        cadre_error *err)
{
    const cdr_failure *failure = record->failure;
    cdr_failure_unref(frame->work->child_failure);
    frame->work->child_failure = cdr_failure_ref(record->failure);
    frame->work->child_reason =
        (unsigned char)(record->stop_reason == CADRE_STOP_INTERRUPTED
                            ? CADRE_STOP_INTERRUPTED
                            : CADRE_STOP_NONE);
    note_hook(frame, record);
    return cadre_fail_class(
        err, CADRE_EFAILED, failure == NULL ? CADRE_CLASS_ERROR : failure->error_class,
        failure != NULL && failure->retryable, "%s",
        failure == NULL ? "the model call failed" : failure->message);
}

cdr_message *cdr_recorded_answer_locked(cadre_frame *frame, int turn)
{
    char key[16];
    snprintf(key, sizeof key, "%d", turn);
    const cadre_frame *model = cdr_frame_child_locked(frame, key);
    if (model == NULL || model->kind != CDR_FRAME_MODEL ||
        model->status != CADRE_FRAME_COMPLETED)
        return NULL;
    return cdr_conversation_find(frame->conversation, cdr_text_bytes(model->output),
                                 &frame->work->n_read);
}

// One that was cut by its token limit says so again.
static cadre_finish finish_of(const cadre_frame *record, const cdr_message *message)
{
    if (message->m.n_tool_calls > 0)
        return CADRE_FINISH_TOOL_CALLS;
    return record->stop_reason == CADRE_STOP_LIMIT ? CADRE_FINISH_LENGTH
                                                   : CADRE_FINISH_STOP;
}

static cadre_status answer_from_record(cadre_frame *frame, const cadre_frame *record,
                                       cadre_tools tools, cadre_answer *answer,
                                       cadre_error *err)
{
    cdr_arena arena = CDR_ARENA_INIT;
    cdr_offer offer;
    bool ok = cdr_offer_init(&offer, frame, tools, &arena);
    cdr_mutex_lock(&frame->tree->mu);
    cdr_message *message = cdr_recorded_answer_locked(frame, frame->work->turn);
    if (ok && message != NULL) {
        ok = cdr_keep_answer_locked(frame, message);
        frame->work->round =
            cdr_round_new_locked(frame, message, frame->work->turn, &offer);
        ok = ok && frame->work->round != NULL;
    }
    cdr_mutex_unlock(&frame->tree->mu);
    cdr_arena_fini(&arena);
    if (message == NULL)
        return cadre_fail(err, CADRE_ESTORE,
                          "agent '%s': the record of its model call %d has no answer",
                          frame->name, frame->work->turn);
    *answer = (cadre_answer){&message->m, finish_of(record, message)};
    return ok ? CADRE_OK : cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
}

const cadre_frame *cdr_model_record_find(cadre_frame *frame, const char *key)
{
    cdr_mutex_lock(&frame->tree->mu);
    cadre_frame *record = cdr_frame_child_locked(frame, key);
    if (record != NULL && !cdr_frame_is_ended(record))
        record = NULL;
    if (record != NULL)
        cdr_frame_witness_locked(record, "");
    cdr_mutex_unlock(&frame->tree->mu);
    return record;
}

cadre_status cdr_model_record_use(cadre_frame *frame, const cadre_frame *record,
                                  const cadre_model_call *asked, cadre_answer *answer,
                                  cadre_error *err)
{
    if (record->kind != CDR_FRAME_MODEL ||
        strcmp(record->name, asked->model->name) != 0)
        return cadre_fail(err, CADRE_EDIVERGED,
                          "agent '%s': turn %s was asked of model '%s', now of '%s'",
                          frame->name, record->key, record->name, asked->model->name);
    cdr_hook_witness_turn(frame, frame->work->turn);
    if (record->status != CADRE_FRAME_COMPLETED)
        return failure_from_record(frame, record, err);
    // What its hooks have added to the state; they do not run again.
    cadre_status status = cdr_delta_add(frame, record->delta, err);
    return status == CADRE_OK
               ? answer_from_record(frame, record, asked->tools, answer, err)
               : status;
}
