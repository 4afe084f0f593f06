// The turns of an agent's loop: running what an answer called for, whether there is one
// more, and how the loop stops that comes to no end. Asking is in model_call.c.
#include "cadre/ext/turn.h"

#include "base/brief.h"
#include "run/arguments.h"
#include "run/call.h"
#include "run/decide.h"
#include "run/output.h"
#include "run/progress.h"
#include "run/state.h"
#include "run/tool_result.h"
#include "run/tool_run.h"

#include <stdio.h>

static void count_bad(cadre_frame *frame, const cdr_round *round, cadre_round *out)
{
    const cdr_tool_entry *last = NULL;
    for (size_t i = 0; i < round->n_entries; i++) {
        const cdr_tool_entry *entry = &round->entries[i];
        if (!cdr_tool_is_bad_call(entry->code))
            continue;
        out->n_bad++;
        last = entry;
    }
    if (last == NULL)
        return;
    char brief[CDR_BRIEF_SIZE];
    const char *text = cadre_frame_printf(
        frame, "%s: %s", cdr_brief_text(brief, last->call->name, '\0'),
        last->complaint == NULL ? "no memory to tell why" : last->complaint);
    out->last_bad = text == NULL ? "" : text;
}

cadre_status cadre_frame_run_tools(cadre_frame *frame, const cadre_answer *answer,
                                   cadre_round *out, cadre_error *err)
{
    if (frame == NULL || answer == NULL || out == NULL)
        return cdr_fail_null(err, __func__);
    cdr_round *round = frame->work->round;
    *out = (cadre_round){.last_bad = ""};
    if (round == NULL || &round->message->m != answer->message)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': run_tools needs the answer just asked for",
                          frame->name);
    cadre_status status = cdr_check_frame(frame, err);
    if (status == CADRE_OK) {
        cdr_progress_begin(frame, round);
        status = cdr_tools_run(frame, round, err);
    }
    if (status == CADRE_OK)
        status = cdr_frame_stopped(frame, err);
    if (status == CADRE_OK)
        status = cdr_state_take_round(frame, round, err);
    if (status == CADRE_OK)
        status = cdr_decide_turn(frame, round, err);
    if (status != CADRE_OK) {
        if (status != CADRE_EPARKED && status != CADRE_ESCALATED)
            cdr_round_settle_rest(frame, round);
        return status;
    }
    cdr_progress_end(frame, round);
    out->n_calls = round->n_entries;
    out->is_blocked = round->recurs.is_blocked;
    count_bad(frame, round, out);
    out->transferred = frame->work->transfer != NULL;
    return CADRE_OK;
}

// A turn in the record was asked for because of a message that has its place now: one
// that was posted, or a correction, which its agent makes again.
bool cadre_frame_goes_on(cadre_frame *frame)
{
    char key[16];
    if (frame == NULL || frame->work == NULL)
        return false;
    snprintf(key, sizeof key, "%d", frame->work->turn + 1);
    cdr_mutex_lock(&frame->tree->mu);
    bool has = cdr_correction_recorded_locked(frame) == NULL &&
               (cdr_frame_child_locked(frame, key) != NULL ||
                (frame->mark == CDR_MARK_NONE &&
                 cdr_inbox_has_next_locked(frame->tree, frame->conversation->id)));
    cdr_mutex_unlock(&frame->tree->mu);
    return has;
}

cadre_status cadre_frame_stop(cadre_frame *frame, cadre_stop_reason reason,
                              cadre_error *err, const char *format, ...)
{
    if (frame == NULL || format == NULL)
        return cdr_fail_null(err, __func__);
    cdr_work *work = frame->work;
    work->stop_reason = (unsigned char)reason;
    // What goes round in a loop has not answered, whatever it said on the way.
    bool may_answer = reason != CADRE_STOP_LOOP && reason != CADRE_STOP_MAX_STEPS;
    if (may_answer && cdr_text_bytes(work->output)[0] != '\0')
        return CADRE_OK;
    va_list args;
    va_start(args, format);
    char *text = cdr_arena_vprintf(&work->arena, format, args);
    va_end(args);
    return cadre_fail_class(err, CADRE_EFAILED,
                            reason == CADRE_STOP_LOOP ? CADRE_CLASS_LOOP
                                                      : CADRE_CLASS_LIMIT,
                            false, "%s", text == NULL ? "" : text);
}
