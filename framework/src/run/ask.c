// See ask.h.
#include "run/ask.h"

#include "base/buf.h"
#include "base/json_text.h"
#include "run/arguments.h"
#include "run/call.h"
#include "run/recorded.h"
#include "tree/outbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// --- Questions ---

typedef struct question_parts {
    const char *text;
    const json_t *choices; // NULL: any answer
} question_parts;

static question_parts question_of(const json_t *stored)
{
    const char *text = json_string_value(json_object_get(stored, "question"));
    const json_t *choices = json_object_get(stored, "choices");
    return (question_parts){text == NULL ? "" : text,
                            json_array_size(choices) == 0 ? NULL : choices};
}

// A question given as text alone becomes an object. New reference; NULL: `err`.
static json_t *stored_form(const cadre_frame *frame, const json_t *question,
                           cadre_error *err)
{
    json_t *stored = json_is_string(question)
                         ? json_pack("{s:s}", "question", json_string_value(question))
                         : json_deep_copy(question);
    if (stored == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for a question");
        return NULL;
    }
    const json_t *choices = json_object_get(stored, "choices");
    bool is_sound = question_of(stored).text[0] != '\0' &&
                    (choices == NULL || json_is_array(choices));
    for (size_t i = 0; i < json_array_size(choices); i++)
        is_sound = is_sound && json_is_string(json_array_get(choices, i));
    if (is_sound)
        return stored;
    cadre_fail(err, CADRE_EINVAL,
               "'%s': a question is a text, or an object with \"question\" (a text) "
               "and, when there are, \"choices\" (a list of texts)",
               frame->name);
    json_decref(stored);
    return NULL;
}

cadre_status cdr_question_check(const json_t *stored, const json_t *answer,
                                cadre_error *err)
{
    const json_t *choices = question_of(stored).choices;
    cdr_buf known = CDR_BUF_INIT;
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const json_t *choice = json_array_get(choices, i);
        if (json_equal(choice, answer)) {
            cdr_buf_fini(&known);
            return CADRE_OK;
        }
        cdr_buf_printf(&known, "%s%s", i == 0 ? "" : ", ", json_string_value(choice));
    }
    if (choices == NULL)
        return CADRE_OK;
    cadre_fail(err, CADRE_EINVAL, "that is none of the answers it can have: %s",
               cdr_buf_text(&known));
    cdr_buf_fini(&known);
    return CADRE_EINVAL;
}

// --- Entering ---

static void fill_event(cadre_event *event, const char *id, const json_t *stored,
                       char **choices)
{
    question_parts parts = question_of(stored);
    *choices = parts.choices == NULL ? NULL : json_dumps(parts.choices, JSON_COMPACT);
    *event = (cadre_event){.type = CADRE_EVENT_INTERRUPT};
    event->u.interrupt.question_id = id;
    event->u.interrupt.question = parts.text;
    event->u.interrupt.choices = *choices == NULL ? "" : *choices;
}

// A question under way.
typedef struct asked {
    cadre_frame *child;
    cdr_entered how;
} asked;

// Makes or finds the question's frame; one that was asked before is shown again.
static cadre_status enter(cadre_frame *frame, const char *key, const json_t *stored,
                          asked *out, cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    char *choices = NULL;
    cadre_event event;
    char *text = json_dumps(stored, JSON_COMPACT);
    cdr_text *input = text == NULL ? NULL : cdr_text_new(text, strlen(text));
    free(text);
    if (input == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a question");
    cdr_birth birth = {.kind = CDR_FRAME_ASK,
                       .name = "ask",
                       .agent = frame->agent,
                       .key = key,
                       .input = input,
                       .is_named = key != NULL,
                       .is_waiting = true,
                       .replay_safe = true};
    cdr_mutex_lock(&frame->tree->mu);
    cadre_status status =
        cdr_frame_enter_locked(frame, &birth, &out->child, &out->how, err);
    if (status == CADRE_OK && out->how != CDR_ENTERED_RECORD) {
        cadre_id_text(out->child->id, id);
        fill_event(&event, id, stored, &choices);
        cdr_outbox_event_locked(out->child, &event, NULL, out->how == CDR_ENTERED_NEW);
    }
    cdr_mutex_unlock(&frame->tree->mu);
    if (status == CADRE_EDIVERGED)
        frame->work->sticky = status;
    free(choices);
    cdr_text_unref(input);
    return status;
}

// --- Waiting ---

// The time a person takes is nobody's: all above have so much more. What several wait
// at once counts once.
static void extend_locked(cadre_frame *frame, int64_t since_ms, int64_t now_ms)
{
    for (cadre_frame *at = frame; at != NULL; at = at->parent) {
        int64_t from_ms =
            since_ms > at->waited_until_ms ? since_ms : at->waited_until_ms;
        if (now_ms <= from_ms || at->deadline_ms >= CDR_NEVER - now_ms)
            continue;
        at->deadline_ms += now_ms - from_ms;
        at->waited_until_ms = now_ms;
    }
}

// Waits until there is an answer, a mark, or nothing else that can go on.
static cdr_message *await_answer(cadre_frame *child, cdr_strand *strand)
{
    cdr_tree *tree = child->tree;
    int64_t since_ms = cdr_tree_now_ms(tree);
    cdr_mutex_lock(&tree->mu);
    cdr_message *answer = cdr_inbox_take_answer_locked(tree, child->id);
    if (answer == NULL && child->mark == CDR_MARK_NONE && !tree->park.is_parked) {
        cdr_asking asking = {.frame = child, .strand = strand};
        cdr_park_ask_locked(tree, &asking);
        while (!asking.is_woken) {
            unsigned seen = cdr_strand_seen(strand);
            cdr_mutex_unlock(&tree->mu);
            cdr_strand_wait(strand, seen, tree->runtime->clock, CDR_NEVER);
            cdr_mutex_lock(&tree->mu);
        }
        cdr_park_forget_locked(tree, &asking);
        answer = cdr_inbox_take_answer_locked(tree, child->id);
        extend_locked(child, since_ms, cdr_tree_now_ms(tree));
    }
    cdr_mutex_unlock(&tree->mu);
    return answer;
}

// The answer gets its place in the conversation, where no model sees it, and the
// question its end.
static void end_answered(cadre_frame *child, cdr_message *answer)
{
    cdr_tree *tree = child->tree;
    const char *text = answer->m.text;
    cdr_text *output = cdr_text_new(text, strlen(text));
    cdr_mutex_lock(&tree->mu);
    cdr_message_ref(answer);
    if (!cdr_say_locked(child, answer) || output == NULL)
        cadre_fail(&tree->lost, CADRE_ESTORE, "no memory for an answer");
    cdr_frame_end_locked(child, &(cdr_ending){.status = CADRE_FRAME_COMPLETED,
                                              .stop_reason = CADRE_STOP_FINAL,
                                              .output = output,
                                              .seq = answer->m.seq});
    cdr_mutex_unlock(&tree->mu);
    cdr_message_unref(answer);
    cdr_text_unref(output);
}

static void end_stopped(cadre_frame *child)
{
    cdr_ending ending;
    cdr_ending_of(child, CADRE_EABORTED, NULL, &ending);
    cdr_mutex_lock(&child->tree->mu);
    cdr_frame_end_locked(child, &ending);
    cdr_mutex_unlock(&child->tree->mu);
    cdr_text_unref(ending.output);
}

// A replay does not go on: the question has no answer.
static cadre_status fail_asked(cadre_frame *child, cadre_status status)
{
    cdr_mutex_lock(&child->tree->mu);
    cdr_frame_end_locked(child, &(cdr_ending){.status = CADRE_FRAME_ABORTED,
                                              .stop_reason = CADRE_STOP_ABORTED});
    cdr_frame_release_locked(child);
    cdr_mutex_unlock(&child->tree->mu);
    return status;
}

// What a person said when it was recorded; NULL: it is really asked.
static cadre_status take_recorded(cadre_frame *frame, const cadre_frame *child,
                                  cdr_message **said, cadre_error *err)
{
    json_t *answer = NULL;
    cadre_status status = cdr_recorded_answer(frame, child, &answer, err);
    if (status != CADRE_OK || answer == NULL)
        return status;
    char *text = json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    const cadre_message message = {
        .role = CADRE_ROLE_USER, .text = text, .is_input = true};
    *said =
        text == NULL ? NULL : cdr_message_new(&message, (cadre_id){0, 0}, child->id);
    free(text);
    json_decref(answer);
    return *said == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for an answer")
                         : CADRE_OK;
}

// --- Asking ---

static cadre_status take_output(cadre_frame *frame, const cadre_frame *child,
                                json_t **answer, cadre_error *err)
{
    cadre_status status = cdr_frame_stopped(frame, err);
    if (status != CADRE_OK)
        return status;
    if (child->status != CADRE_FRAME_COMPLETED)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_ABORTED, false,
                                "'%s': its question was not answered", frame->name);
    if (answer == NULL)
        return CADRE_OK;
    const char *text = cdr_text_bytes(child->output);
    *answer = cdr_json_parse(text, strlen(text), NULL);
    return *answer == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for an answer")
                           : CADRE_OK;
}

cadre_status cdr_ask(cadre_frame *frame, const char *key, const json_t *question,
                     json_t **answer, cadre_error *err)
{
    cdr_tree *tree = frame->tree;
    asked q = {NULL, CDR_ENTERED_NEW};
    json_t *stored = stored_form(frame, question, err);
    if (stored == NULL)
        return err == NULL || err->status == CADRE_OK ? CADRE_EINVAL : err->status;
    cadre_status status = enter(frame, key, stored, &q, err);
    cadre_frame *child = q.child;
    json_decref(stored);
    if (status != CADRE_OK)
        return status;
    if (q.how == CDR_ENTERED_RECORD)
        return take_output(frame, child, answer, err);
    cdr_tree_flush(tree, NULL); // it can be answered now; a lost store marks the frame
    cdr_message *said = NULL;
    status = take_recorded(frame, child, &said, err);
    if (status != CADRE_OK && child->mark == CDR_MARK_NONE)
        return fail_asked(child, status);
    if (said == NULL)
        said = await_answer(child, frame->work->strand);
    if (said == NULL && child->mark == CDR_MARK_NONE) {
        frame->work->sticky = CADRE_EPARKED;
        return cadre_fail(err, CADRE_EPARKED, "'%s' waits for an answer", frame->name);
    }
    if (said != NULL)
        end_answered(child, said);
    else
        end_stopped(child);
    status = take_output(frame, child, answer, err);
    cdr_mutex_lock(&tree->mu);
    cdr_frame_release_locked(child);
    cdr_mutex_unlock(&tree->mu);
    return status;
}

cadre_status cadre_frame_ask(cadre_frame *frame, const char *key,
                             const json_t *question, json_t **answer, cadre_error *err)
{
    cadre_status status = cdr_check_frame(frame, err);
    if (status == CADRE_OK)
        status =
            cdr_check_text((cdr_argument){frame->name, "the question's key"}, key, err);
    if (status == CADRE_OK)
        status = cdr_check_key(frame->name, key, err);
    if (status == CADRE_OK && question == NULL)
        status = cadre_fail(err, CADRE_EINVAL, "'%s': a question is NULL", frame->name);
    if (status == CADRE_OK && frame->work->transfer != NULL)
        status = cadre_fail(err, CADRE_EINVAL,
                            "'%s' has handed over: from here on it asks nobody",
                            frame->name);
    return status == CADRE_OK ? cdr_ask(frame, key, question, answer, err) : status;
}
