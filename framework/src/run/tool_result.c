// See tool_result.h.
#include "run/tool_result.h"

#include "base/buf.h"
#include "run/progress.h"
#include "tree/call_result.h"
#include "tree/delta.h"
#include "tree/ending.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_RESULT_BYTES = 256 * 1024
};

static void frame_ending(const cdr_tool_result *result, cdr_ending *ending)
{
    cadre_result_code code = result->code;
    ending->status = CADRE_FRAME_COMPLETED;
    ending->stop_reason =
        result->is_escalation ? CADRE_STOP_ESCALATED : CADRE_STOP_FINAL;
    if (code == CADRE_RESULT_TIMEOUT) {
        ending->status = CADRE_FRAME_TIMEOUT;
        ending->stop_reason = CADRE_STOP_TIMEOUT;
    } else if (code == CADRE_RESULT_ABORTED && result->hook_error == NULL) {
        ending->status = CADRE_FRAME_ABORTED;
        ending->stop_reason = CADRE_STOP_ABORTED;
    } else if (code != CADRE_RESULT_OK) {
        ending->status = CADRE_FRAME_FAILED;
        ending->stop_reason = code == CADRE_RESULT_INTERRUPTED ? CADRE_STOP_INTERRUPTED
                              : code == CADRE_RESULT_RESTART_LIMIT
                                  ? CADRE_STOP_RESTART_LIMIT
                                  : CADRE_STOP_ERROR;
    }
}

static cdr_failure *failure_of_result(const cadre_frame *frame,
                                      const cdr_tool_result *result)
{
    cadre_error err = CADRE_ERROR_INIT;
    char id[CADRE_ID_TEXT_SIZE];
    if (result->code == CADRE_RESULT_OK)
        return NULL;
    cadre_id_text(frame->id, id);
    if (result->hook_error != NULL)
        return cdr_failure_new(result->hook_error, frame->agent->info.name, id);
    cadre_fail_class(&err, CADRE_EFAILED,
                     result->is_of_hook ? CADRE_CLASS_HOOK : CADRE_CLASS_TOOL, false,
                     "%s: %s", cadre_result_code_name(result->code), result->text);
    return cdr_failure_new(&err, frame->agent->info.name, id);
}

char *cdr_tool_cap(const char *text)
{
    size_t len = strlen(text);
    if (len <= MAX_RESULT_BYTES)
        return NULL;
    size_t kept = MAX_RESULT_BYTES;
    while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
        kept--;
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append(&buf, text, kept);
    cdr_buf_printf(&buf, "\n[cut: %zu of %zu bytes shown]", kept, len);
    if (buf.failed) {
        cdr_buf_fini(&buf);
        return NULL;
    }
    return cdr_buf_take(&buf);
}

// What the guard against loops adds to it; `cut` is taken over. NULL: it stays as
// it is.
static char *noted(const cadre_frame *frame, const cdr_tool_entry *entry,
                   const cdr_tool_result *result, char *cut)
{
    char note[CDR_PROGRESS_NOTE_SIZE];
    const cdr_round *round = frame->work == NULL ? NULL : frame->work->round;
    const char *text = cut == NULL ? result->text : cut;
    if (cdr_progress_note(round, entry, result->code, text, note) == NULL)
        return cut;
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append_text(&buf, text);
    cdr_buf_append_text(&buf, note);
    if (buf.failed) {
        cdr_buf_fini(&buf);
        return cut;
    }
    free(cut);
    return cdr_buf_take(&buf);
}

int64_t cdr_tool_tell_abandoned_locked(const cdr_tool_entry *entry)
{
    return cdr_call_result_say_locked(entry->frame,
                                      &(cdr_call_result){.call = entry->call,
                                                         .code = CADRE_RESULT_ABORTED,
                                                         .text = "aborted"});
}

// Unchecked inside: the tool's frame has the lock of the agent's.
void cdr_tool_settle_locked(cadre_frame *frame, cdr_tool_entry *entry,
                            const cdr_tool_result *result) CDR_NO_THREAD_SAFETY
{
    if (entry->is_settled || entry->frame == NULL)
        return;
    if (cdr_frame_is_ended(entry->frame)) { // it was abandoned
        entry->is_settled = true;
        entry->code = CADRE_RESULT_ABORTED;
        return;
    }
    char *made = NULL;
    if (!entry->is_recorded)
        made = noted(frame, entry, result, cdr_tool_cap(result->text));
    const char *text = made == NULL ? result->text : made;
    cdr_text *output = cdr_text_new(text, strlen(text));
    cdr_ending ending = {.output = output,
                         .failure = failure_of_result(frame, result),
                         .own = {.tool_calls = 1}};
    frame_ending(result, &ending);
    ending.seq = cdr_call_result_say_locked(
        entry->frame,
        &(cdr_call_result){
            .call = entry->call, .code = result->code, .text = text, .to = result->to});
    if (output == NULL)
        cadre_fail(&frame->tree->lost, CADRE_ESTORE, "no memory for a tool's result");
    cdr_frame_end_locked(entry->frame, &ending);
    entry->delta = cdr_json_share(entry->frame->delta);
    cdr_frame_release_locked(entry->frame);
    if (cdr_tool_is_bad_call(result->code))
        entry->complaint = strdup(text); // without memory it counts, unexplained
    cdr_text_unref(output);
    free(made);
    entry->frame = NULL;
    entry->is_settled = true;
    entry->code = result->code;
}

void cdr_tool_settle(cadre_frame *frame, cdr_tool_entry *entry, cadre_result_code code,
                     const char *text)
{
    cdr_mutex_lock(&frame->tree->mu);
    cdr_tool_settle_locked(frame, entry,
                           &(cdr_tool_result){.code = code, .text = text});
    cdr_mutex_unlock(&frame->tree->mu);
}
