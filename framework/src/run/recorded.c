// See recorded.h.
#include "run/recorded.h"

#include "base/brief.h"
#include "base/json_text.h"
#include "run/asked.h"
#include "run/state.h"
#include "tree/delta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHAT_SIZE = 2 * CDR_BRIEF_SIZE
};

// --- Differences ---

const char *cdr_recorded_who(const cdr_recorded *recorded,
                             char who[CDR_RECORDED_WHO_SIZE])
{
    static const char *const words[][2] = {{"agent ", " step"},
                                           {"tool ", " result"},
                                           {"a person's answer", ""},
                                           {"step ", ""}};
    char name[CDR_BRIEF_SIZE] = "", at[CDR_BRIEF_SIZE], nth[16] = "";
    const char *const *word = words[recorded->kind];
    if (recorded->name[0] != '\0')
        cdr_brief_text(name, recorded->name, '\'');
    if (recorded->nth > 0)
        (void)snprintf(nth, sizeof nth, " %d", recorded->nth);
    (void)snprintf(who, CDR_RECORDED_WHO_SIZE, "%s%s%s%s (at %s)", word[0], name,
                   recorded->nth > 0 ? word[1] : "", nth,
                   cdr_brief_text(at, recorded->at_text, '\''));
    return who;
}

static cadre_status keep_difference(cdr_tree *tree, const cadre_error *difference,
                                    cadre_error *err)
{
    cdr_mutex_lock(&tree->mu);
    cadre_status status = cdr_replay_differ_locked(tree, difference, err);
    cdr_mutex_unlock(&tree->mu);
    return status;
}

// Tells of one that is in the recording.
static cadre_status differ(cdr_tree *tree, const cdr_recorded *recorded,
                           const char *what, cadre_error *err)
{
    char who[CDR_RECORDED_WHO_SIZE];
    cadre_error difference = CADRE_ERROR_INIT;
    cadre_fail(&difference, CADRE_EDIVERGED, "%s:%d:%d: %s: %s", recorded->at.file,
               recorded->at.line, recorded->at.column, cdr_recorded_who(recorded, who),
               what);
    return keep_difference(tree, &difference, err);
}

// The keypath of a frame's child as text, for who reads it.
static const char *place_of(const cadre_frame *frame, const char *key, cdr_arena *arena)
{
    size_t depth = 0;
    for (const cadre_frame *at = frame; at != NULL; at = at->parent)
        depth++;
    const cadre_frame **way = cdr_arena_alloc(arena, depth * sizeof(cadre_frame *));
    for (size_t i = depth; way != NULL && i-- > 0; frame = frame->parent)
        way[i] = frame;
    const char *text =
        way == NULL ? NULL : cdr_keypath_root_text(arena, way[0]->n_before);
    for (size_t i = 0; text != NULL && i < depth; i++)
        text = cdr_keypath_join(arena, text, way[i]->key,
                                i + 1 < depth ? way[i + 1]->key : key);
    return text == NULL ? key : text;
}

// Tells of a call that the recording has not. What a session's earlier runs made is not
// known here.
static cadre_status differ_by_more(const cadre_frame *agent, const char *what,
                                   const char *key, cadre_error *err)
{
    char who[CDR_RECORDED_WHO_SIZE], name[CDR_BRIEF_SIZE], at[CDR_BRIEF_SIZE];
    cdr_arena arena = CDR_ARENA_INIT;
    cdr_tree *tree = agent->tree;
    cadre_error difference = CADRE_ERROR_INIT;
    cdr_mutex_lock(&tree->mu);
    const cdr_recorded *left =
        tree->is_session ? NULL : cdr_replay_first_left(tree->replay);
    cdr_brief_text(at, place_of(agent, key, &arena), '\'');
    cdr_mutex_unlock(&tree->mu);
    cadre_fail(&difference, CADRE_EDIVERGED,
               "%s: agent %s %s (at %s), where the recording has nothing%s%s",
               tree->team->script->file, cdr_brief_text(name, agent->name, '\''), what,
               at, left == NULL ? "" : "; the first of what it has and was not made: ",
               left == NULL ? "" : cdr_recorded_who(left, who));
    cdr_arena_fini(&arena);
    return keep_difference(tree, &difference, err);
}

static cadre_status differ_again(cdr_tree *tree, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    cdr_mutex_lock(&tree->mu);
    if (tree->replay->difference.status != CADRE_OK)
        status = cdr_replay_differ_locked(tree, &tree->replay->difference, err);
    cdr_mutex_unlock(&tree->mu);
    return status;
}

// --- What was stopped ---

// The nearest frame on the way up that the recording says was stopped.
static cadre_frame *find_stopped(cadre_frame *frame, const cdr_recorded_stop **stop)
{
    *stop = NULL;
    while (frame != NULL) {
        *stop = cdr_recording_find_stop(frame->tree->replay->recording, frame->keypath);
        if (*stop != NULL)
            return frame;
        frame = frame->parent;
    }
    return NULL;
}

// What stops it now. A time that it has not any more, and a store that was lost, do
// not: then it is for who wins.
static cdr_mark mark_again(const cadre_frame *stopped, const cdr_recorded_stop *stop)
{
    cdr_mark mark = stop == NULL ? CDR_MARK_OWNER : cdr_mark_of(stop->reason);
    bool has_time = stop != NULL && stopped->deadline_ms < CDR_NEVER;
    switch (mark) {
    case CDR_MARK_TIMEOUT:
        return has_time && !stopped->is_budget_time ? mark : CDR_MARK_OWNER;
    case CDR_MARK_BUDGET:
        return has_time && stopped->is_budget_time ? mark : CDR_MARK_OWNER;
    case CDR_MARK_REQUEST:
        return mark;
    default:
        return CDR_MARK_OWNER;
    }
}

static const char *stopped_by(const cdr_recorded_stop *stop)
{
    cdr_mark mark = stop == NULL ? CDR_MARK_OWNER : cdr_mark_of(stop->reason);
    return mark == CDR_MARK_TIMEOUT  ? " by a timeout"
           : mark == CDR_MARK_BUDGET ? " by a budget"
                                     : "";
}

// It had no answer any more, so `frame` is stopped here: by what stopped it then, or by
// the branch that wins.
static cadre_status stop_again(cadre_frame *frame, const char *who, cadre_error *err)
{
    const cdr_recorded_stop *stop = NULL;
    cdr_tree *tree = frame->tree;
    cadre_frame *stopped = find_stopped(frame, &stop);
    cdr_mark mark = mark_again(stopped, stop);
    cdr_replay_wait wait = {
        .who = who, .by = stopped_by(stop), .until_stopped = mark == CDR_MARK_OWNER};
    if (!wait.until_stopped) {
        wait.after = stop->after;
        wait.n_after = stop->n_after;
    }
    cadre_status status = cdr_replay_await(frame, &wait, err);
    if (status != CADRE_OK)
        return status;
    cdr_mutex_lock(&tree->mu);
    if (mark == CDR_MARK_REQUEST)
        cdr_tree_keep_reason(tree, stop->reason);
    cdr_frame_mark_locked(stopped, mark);
    cdr_mutex_unlock(&tree->mu);
    return cdr_frame_stopped(frame, err);
}

static bool is_below_stop(cadre_frame *frame)
{
    const cdr_recorded_stop *stop = NULL;
    return find_stopped(frame, &stop) != NULL;
}

cadre_status cdr_recorded_end(cadre_frame *frame, cadre_status status, cadre_error *err)
{
    char who[CDR_BRIEF_SIZE];
    const cdr_replay *replay = frame->tree->replay;
    bool has_come =
        status == CADRE_OK || status == CADRE_ESCALATED || status == CADRE_EFAILED;
    if (replay == NULL || !has_come || frame->mark != CDR_MARK_NONE ||
        differ_again(frame->tree, NULL) != CADRE_OK ||
        cdr_recording_find_stop(replay->recording, frame->keypath) == NULL)
        return status;
    cadre_error_clear(err);
    (void)snprintf(who, sizeof who, "agent '%s'", frame->name);
    return stop_again(frame, who, err);
}

cadre_status cdr_recorded_await(cadre_frame *frame, const cdr_recorded *recorded,
                                cadre_error *err)
{
    char who[CDR_RECORDED_WHO_SIZE];
    const cdr_replay_wait wait = {.after = recorded->after,
                                  .n_after = recorded->n_after,
                                  .who = cdr_recorded_who(recorded, who)};
    bool is_stopped = json_is_true(json_object_get(recorded->source, "stopped"));
    if (!is_stopped)
        return cdr_replay_await(frame, &wait, err);
    cdr_mutex_lock(&frame->tree->mu);
    cdr_replay_note_begun_locked(frame);
    cdr_mutex_unlock(&frame->tree->mu);
    return stop_again(frame, wait.who, err);
}

// --- Model calls ---

// Unchecked: its callers hold the tree's lock by another name.
void cdr_recorded_post_locked(cadre_frame *agent, const char *key) CDR_NO_THREAD_SAFETY
{
    size_t count = 0;
    cdr_tree *tree = agent->tree;
    if (tree->replay == NULL || cdr_frame_child_locked(agent, key) != NULL)
        return; // a call that was cut: it was said before
    bool is_root = strcmp(key, CDR_ROOT_KEY) == 0;
    cdr_keypath keypath =
        is_root ? agent->keypath : cdr_keypath_below(agent->keypath, agent->key, key);
    const cdr_recorded_message *messages =
        cdr_recording_messages(tree->replay->recording, keypath, &count);
    for (size_t i = 0; i < count; i++) {
        const cadre_message said = {.role = CADRE_ROLE_USER,
                                    .agent = messages[i].agent,
                                    .text = messages[i].text};
        cdr_message *message = cdr_message_new(&said, (cadre_id){0, 0}, agent->id);
        if (message == NULL || !cdr_say_locked(agent, message))
            cadre_fail(&tree->lost, CADRE_ESTORE, "no memory for a message");
    }
}

static cadre_status compare_asked(const cdr_model_call *call,
                                  const cdr_recorded *recorded, const char *asked,
                                  cadre_error *err)
{
    cdr_tree *tree = call->agent->tree;
    const json_t *was = json_object_get(recorded->source, "asked");
    cdr_buf what = CDR_BUF_INIT;
    cadre_status status = CADRE_OK;
    if (!tree->team->script->is_strict || was == NULL)
        return CADRE_OK;
    json_t *now = json_loads(asked, 0, NULL);
    if (now == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
    if (cdr_asked_differs(was, now, &what))
        status = differ(tree, recorded, cdr_buf_text(&what), err);
    json_decref(now);
    cdr_buf_fini(&what);
    return status;
}

cadre_status cdr_recorded_step(cdr_model_call *call, const char *key, const char *asked,
                               cadre_error *err)
{
    cadre_frame *agent = call->agent;
    cdr_tree *tree = agent->tree;
    char what[WHAT_SIZE];
    call->recorded = NULL;
    if (tree->replay == NULL || !call->model->is_scripted || call->hook.is_given)
        return CADRE_OK;
    const cdr_recorded *recorded = cdr_replay_find(agent, key);
    cadre_status status = differ_again(tree, err);
    if (status != CADRE_OK)
        return status;
    if (recorded != NULL && (recorded->kind != CDR_RECORDED_STEP ||
                             strcmp(recorded->name, agent->name) != 0)) {
        (void)snprintf(what, sizeof what, "now agent '%s' asks its model there",
                       agent->name);
        return differ(tree, recorded, what, err);
    }
    if (recorded != NULL) {
        call->recorded = recorded;
        return compare_asked(call, recorded, asked, err);
    }
    if (is_below_stop(agent)) {
        (void)snprintf(what, sizeof what, "agent '%s'", agent->name);
        return stop_again(agent, what, err);
    }
    return tree->replay->recording->is_whole
               ? differ_by_more(agent, "asks its model", key, err)
               : CADRE_OK;
}

// --- Tool calls ---

// What was called, as it stands in a recording: an object where that says the same.
static bool has_arguments(const cdr_recorded *recorded, const char *now)
{
    const json_t *was = json_object_get(recorded->source, "arguments");
    if (was == NULL)
        return true;
    if (json_is_string(was))
        return strcmp(json_string_value(was), now) == 0;
    json_t *value = cdr_json_parse(now, strlen(now), NULL);
    bool is_same = json_equal(value, was);
    json_decref(value);
    return is_same;
}

static cadre_status compare_call(const cadre_frame *agent, const cdr_tool_entry *entry,
                                 const cdr_recorded *recorded, cadre_error *err)
{
    char what[WHAT_SIZE], brief[CDR_BRIEF_SIZE], was[CDR_BRIEF_SIZE];
    cdr_tree *tree = agent->tree;
    const char *called = entry->call->name;
    const char *now = entry->call->arguments;
    if (!tree->team->script->is_strict)
        return CADRE_OK;
    if (recorded->kind != CDR_RECORDED_RESULT || strcmp(recorded->name, called) != 0) {
        (void)snprintf(what, sizeof what, "now agent '%s' calls the tool %s there",
                       agent->name, cdr_brief_text(brief, called, '\''));
        return differ(tree, recorded, what, err);
    }
    if (has_arguments(recorded, now))
        return CADRE_OK;
    const json_t *arguments = json_object_get(recorded->source, "arguments");
    char *text = json_is_string(arguments) ? strdup(json_string_value(arguments))
                                           : cdr_json_dump(arguments);
    (void)snprintf(what, sizeof what,
                   "agent '%s' called it with %s, the recording has %s", agent->name,
                   cdr_brief_text(brief, now, '\0'),
                   cdr_brief_text(was, text == NULL ? "" : text, '\0'));
    free(text);
    return differ(tree, recorded, what, err);
}

// What the call added to the state stands in place of what its hooks have by now.
static cadre_status take_state(cadre_frame *frame, const cdr_recorded *recorded,
                               cadre_error *err)
{
    json_t *state = json_object_get(recorded->source, "state");
    if (state == NULL)
        return CADRE_OK;
    cdr_json_unshare(frame->delta);
    cdr_json_unshare(frame->state);
    frame->delta = frame->state = NULL;
    cdr_mutex_lock(&frame->tree->mu);
    cdr_state_inherit_locked(frame);
    cdr_mutex_unlock(&frame->tree->mu);
    json_t *own = json_deep_copy(state);
    if (own == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the state");
    json_t *shared = cdr_json_share(own);
    cadre_status status = cdr_delta_add(frame, shared, err);
    cdr_json_unshare(shared);
    json_decref(own);
    return status;
}

cadre_status cdr_recorded_result(cdr_tool_entry *entry, cdr_tool_raw *raw,
                                 cadre_error *err)
{
    cadre_frame *call = entry->frame;
    cadre_frame *agent = call->parent;
    char what[WHAT_SIZE], brief[CDR_BRIEF_SIZE];
    if (agent->tree->replay == NULL || entry->tool->ops->is_control)
        return CADRE_OK;
    const cdr_recorded *recorded = cdr_replay_find(agent, call->key);
    cadre_status status = differ_again(agent->tree, err);
    if (status != CADRE_OK)
        return status;
    if (recorded != NULL) {
        status = compare_call(agent, entry, recorded, err);
        if (status == CADRE_OK &&
            !json_is_true(json_object_get(recorded->source, "runs")))
            status = cdr_recorded_await(call, recorded, err);
        if (status == CADRE_OK && recorded->text != NULL)
            status = take_state(call, recorded, err);
        if (status != CADRE_OK || recorded->text == NULL)
            return status;
        *raw = (cdr_tool_raw){recorded->code, recorded->text};
        entry->is_recorded = true;
        return CADRE_OK;
    }
    (void)snprintf(what, sizeof what, "calls the tool %s",
                   cdr_brief_text(brief, entry->call->name, '\''));
    if (is_below_stop(call))
        return stop_again(call, what, err);
    return agent->tree->replay->recording->is_whole
               ? differ_by_more(agent, what, call->key, err)
               : CADRE_OK;
}

// --- Questions and steps ---

cadre_status cdr_recorded_answer(cadre_frame *frame, const cadre_frame *question,
                                 json_t **answer, cadre_error *err)
{
    const cdr_recorded *recorded = cdr_replay_find(frame, question->key);
    *answer = NULL;
    if (recorded == NULL)
        return CADRE_OK;
    if (recorded->kind != CDR_RECORDED_ANSWER)
        return differ(frame->tree, recorded, "now a person is asked there", err);
    cadre_status status = cdr_recorded_await(frame, recorded, err);
    if (status == CADRE_OK)
        *answer = json_incref(json_object_get(recorded->source, "answer"));
    return status;
}

cadre_status cdr_recorded_value(cadre_frame *step, json_t **value, cadre_error *err)
{
    const cdr_recorded *recorded = cdr_replay_find(step->parent, step->key);
    *value = NULL;
    if (recorded == NULL)
        return CADRE_OK;
    if (recorded->kind != CDR_RECORDED_VALUE || strcmp(recorded->name, step->name) != 0)
        return differ(step->tree, recorded, "now another step is made there", err);
    const json_t *source = recorded->source;
    const char *failure = json_string_value(json_object_get(source, "error"));
    const char *kind = json_string_value(json_object_get(source, "class"));
    cadre_status status = cdr_recorded_await(step, recorded, err);
    if (status == CADRE_OK)
        status = take_state(step, recorded, err);
    if (status == CADRE_OK && failure != NULL)
        return cadre_fail_class(err, CADRE_EFAILED,
                                kind == NULL ? CADRE_CLASS_ERROR
                                             : cadre_error_class_from_name(kind),
                                false, "%s", failure);
    if (status == CADRE_OK)
        *value = json_incref(json_object_get(source, "value"));
    return status;
}
