// See state.h, and the doors of cadre/state.h.
#include "run/state.h"

#include "base/brief.h"
#include "base/json_text.h"
#include "run/arguments.h"
#include "run/call.h"
#include "run/output.h"
#include "tree/delta.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

void cdr_state_inherit_locked(cadre_frame *frame)
{
    bool has_state = frame->kind == CDR_FRAME_AGENT || frame->kind == CDR_FRAME_TOOL;
    if (has_state && frame->parent != NULL && frame->state == NULL)
        frame->state = cdr_json_share(frame->parent->state);
}

cadre_status cdr_state_restore(cadre_frame *frame, bool has_handed_over,
                               cadre_error *err)
{
    json_t *recorded = frame->delta;
    frame->delta = NULL;
    cadre_status status =
        has_handed_over ? cdr_delta_add(frame, recorded, err) : CADRE_OK;
    cdr_json_unshare(recorded);
    return status;
}

// --- Setting ---

// Told as it was given: how it counts is the reducer's.
static void tell(cadre_frame *frame, const char *key, const json_t *value)
{
    cdr_tree *tree = frame->tree;
    if (frame->is_quiet || !cdr_frame_is_heard(frame))
        return;
    cadre_event event = {.type = CADRE_EVENT_STATE_DELTA};
    char *text = cdr_json_dump(value);
    event.u.state_delta.key = key;
    event.u.state_delta.value = text == NULL ? "null" : text;
    cdr_mutex_lock(&tree->mu);
    cdr_outbox_event_locked(frame, &event, NULL, false);
    cdr_mutex_unlock(&tree->mu);
    free(text);
}

static cadre_status set(cadre_frame *frame, const char *key, const json_t *value,
                        cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    json_t *delta = cdr_delta_new(frame->tree->team, key, value, &why);
    cadre_status status =
        delta == NULL ? why.status : cdr_delta_add(frame, delta, &why);
    cdr_json_unshare(delta);
    if (status == CADRE_OK)
        tell(frame, key, value);
    else
        cadre_fail_class(err, status, why.error_class, false, "%s '%s': %s",
                         frame->kind == CDR_FRAME_TOOL ? "tool" : "agent", frame->name,
                         why.text);
    return status;
}

// An answer is a text; where it must fit a schema, or the key takes numbers or objects,
// it is read as JSON.
static json_t *answer_value(const cadre_frame *frame, const char *key)
{
    const char *text = cdr_text_bytes(frame->work->output);
    cadre_reducer reducer = cdr_team_reducer(frame->tree->team, key);
    json_t *read = NULL;
    if (reducer == CADRE_REDUCE_SUM || reducer == CADRE_REDUCE_MERGE ||
        cdr_frame_output_schema(frame) != NULL)
        read = cdr_json_parse(text, strlen(text), NULL);
    return read != NULL ? read : json_string(text);
}

cadre_status cdr_state_keep_answer(cadre_frame *frame, cadre_error *err)
{
    const char *key = frame->agent->output_key;
    if (key == NULL || frame->kind != CDR_FRAME_AGENT || frame->mark != CDR_MARK_NONE)
        return CADRE_OK;
    json_t *value = answer_value(frame, key);
    if (value == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to keep an answer");
    cadre_status status = set(frame, key, value, err);
    json_decref(value);
    return status;
}

// --- Taking ---

void cdr_state_join_begin(cadre_frame *frame, cdr_state_join *join)
{
    *join = (cdr_state_join){.writers = NULL};
    frame->work->join = join;
}

void cdr_state_join_end(cadre_frame *frame)
{
    json_decref(frame->work->join->writers);
    frame->work->join = NULL;
}

// Two branches that ran at the same time set one key, and which was later must not be
// told from who was faster.
static cadre_status join_check(const cadre_team *team, cdr_state_join *join,
                               const char *callee, json_t *delta, cadre_error *err)
{
    const char *key;
    json_t *part;
    if (join->writers == NULL)
        join->writers = json_object();
    json_object_foreach(delta, key, part)
    {
        const char *first = json_string_value(json_object_get(join->writers, key));
        if (first == NULL || cdr_team_reducer(team, key) != CADRE_REDUCE_REPLACE)
            continue;
        return cadre_fail(
            err, CADRE_EFAILED,
            "state key '%s' was set by '%s' and by '%s' at the same time; "
            "give it a reducer (append, merge, sum), or each of them "
            "another key",
            key, first, callee);
    }
    json_object_foreach(delta, key, part)
    {
        if (json_object_set_new(join->writers, key, json_string(callee)) != 0)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for the state");
    }
    return CADRE_OK;
}

// What the call says in place of its answer.
static void become_failure(cadre_frame *frame, cdr_ran *ran, const cadre_error *why)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(cdr_frame_nearest_agent(frame)->id, id);
    cdr_text_unref(ran->output);
    ran->output = NULL;
    ran->status = CADRE_FRAME_FAILED;
    ran->stop_reason = CADRE_STOP_ERROR;
    cdr_failure_unref(ran->failure); // a budget's, of an answer that it cut
    ran->failure = cdr_failure_new(why, frame->agent->info.name, id);
}

void cdr_state_take(cadre_frame *frame, const char *callee, cdr_ran *ran)
{
    cadre_error why = CADRE_ERROR_INIT;
    cdr_state_join *join = frame->work->join;
    if (ran->status != CADRE_FRAME_COMPLETED || ran->delta == NULL ||
        (join != NULL && join->takes_none))
        return;
    cadre_status status =
        join == NULL ? CADRE_OK
                     : join_check(frame->tree->team, join, callee, ran->delta, &why);
    if (status == CADRE_OK)
        status = cdr_delta_add(frame, ran->delta, &why);
    if (status == CADRE_OK && frame->work->transfer != NULL) {
        cdr_mutex_lock(&frame->tree->mu);
        cdr_outbox_delta_locked(frame); // it is never run again
        cdr_mutex_unlock(&frame->tree->mu);
    }
    if (status != CADRE_OK)
        become_failure(frame, ran, &why);
}

cadre_status cdr_state_take_step(cadre_frame *frame, const cadre_frame *step,
                                 cadre_error *err)
{
    return step->status == CADRE_FRAME_COMPLETED
               ? cdr_delta_add(frame, step->delta, err)
               : CADRE_OK;
}

static bool is_undecided(const cdr_tool_entry *entry)
{
    return entry->target != NULL || cdr_tool_escalates(entry);
}

// An open call's is still that of its frame.
cadre_status cdr_state_take_call(cadre_frame *frame, const cdr_tool_entry *entry,
                                 cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    json_t *delta =
        entry->is_settled || entry->frame == NULL ? entry->delta : entry->frame->delta;
    cadre_status status = cdr_delta_add(frame, delta, &why);
    if (status != CADRE_OK)
        cadre_fail_class(err, status, why.error_class, false, "agent '%s': %s",
                         frame->name, why.text);
    return status;
}

cadre_status cdr_state_take_round(cadre_frame *frame, const cdr_round *round,
                                  cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < round->n_entries && status == CADRE_OK; i++)
        if (!is_undecided(&round->entries[i]))
            status = cdr_state_take_call(frame, &round->entries[i], err);
    return status;
}

// --- Doors ---

const json_t *cadre_frame_state(cadre_frame *frame)
{
    if (frame == NULL)
        return NULL;
    return frame->state == NULL ? frame->tree->team->state_defaults : frame->state;
}

cadre_status cadre_frame_set_state(cadre_frame *frame, const char *key,
                                   const json_t *value, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    if (key == NULL || value == NULL)
        return cdr_fail_null(err, __func__);
    if (!cdr_is_name(key))
        return cadre_fail(err, CADRE_EINVAL, "'%s': state key %s: " CDR_NAME_RULE,
                          frame->name, cdr_brief_text(brief, key, '\''));
    if (frame->work->transfer != NULL)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s' was handed over to '%s' already; set state key '%s' "
                          "before",
                          frame->name, frame->work->transfer->name, key);
    return set(frame, key, value, err);
}
