// See recording.h: what of a frame a script must have.
#include "run/recording.h"

#include "base/json_text.h"
#include "cadre/ext/tool.h"

#include <stdlib.h>
#include <string.h>

// --- Parts ---

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

// Takes the value over; NULL values are left out.
static void set(cdr_recording_maker *maker, json_t *item, const char *key,
                json_t *value)
{
    if (value != NULL)
        maker->no_memory |= json_object_set_new(item, key, value) != 0;
}

static void set_text(cdr_recording_maker *maker, json_t *item, const char *key,
                     const char *text)
{
    if (text != NULL && text[0] != '\0')
        set(maker, item, key, json_string(text));
}

static json_t *parse(const char *text)
{
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

// An object where the script gives the same text of it again, else the text itself.
static json_t *arguments_of(const char *text)
{
    json_t *value = parse(text);
    char *again = json_is_object(value)
                      ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15))
                      : NULL;
    bool is_same = again != NULL && strcmp(again, text) == 0;
    free(again);
    if (is_same)
        return value;
    json_decref(value);
    return json_string(text);
}

static json_t *call_json(const char *id, const char *name, const char *arguments)
{
    return json_pack("{s:s, s:s, s:o}", "id", id, "name", name, "arguments",
                     arguments_of(arguments));
}

static json_t *usage_json(const cadre_usage *usage)
{
    const struct {
        const char *name;
        int64_t value;
    } all[] = {{"input_tokens", usage->input_tokens},
               {"output_tokens", usage->output_tokens},
               {"cached_input_tokens", usage->cached_input_tokens},
               {"reasoning_tokens", usage->reasoning_tokens}};
    json_t *object = NULL;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].value == 0)
            continue;
        if (object == NULL)
            object = json_object();
        json_object_set_new(object, all[i].name, json_integer(all[i].value));
    }
    return object;
}

// --- Model calls ---

static const char *kept_text(const json_t *kept, const char *key)
{
    const char *text = json_string_value(json_object_get(kept, key));
    return text == NULL ? "" : text;
}

// Its answer as it was before hooks changed it; see run/model_hook.c.
static void set_kept_answer(cdr_recording_maker *maker, const cdr_source *frame)
{
    size_t i;
    json_t *call;
    const json_t *kept = frame->kept;
    json_t *calls = json_array();
    set(maker, frame->item, "text", json_string(kept_text(kept, "text")));
    set_text(maker, frame->item, "reasoning", kept_text(kept, "reasoning"));
    json_array_foreach(json_object_get(kept, "calls"), i, call)
    {
        json_array_append_new(calls,
                              call_json(kept_text(call, "id"), kept_text(call, "name"),
                                        kept_text(call, "arguments")));
    }
    if (json_array_size(calls) > 0)
        set(maker, frame->item, "tool_calls", json_incref(calls));
    json_decref(calls);
    if (strcmp(kept_text(kept, "finish"), "length") == 0)
        set_text(maker, frame->item, "finish", "length");
}

static void set_answer(cdr_recording_maker *maker, const cdr_source *frame)
{
    const cadre_message *m = &maker->messages[frame->answer].message;
    set(maker, frame->item, "text", json_string(m->text));
    set_text(maker, frame->item, "reasoning", m->reasoning);
    json_t *calls = m->n_tool_calls == 0 ? NULL : json_array();
    for (size_t i = 0; i < m->n_tool_calls; i++) {
        const cadre_tool_call *call = &m->tool_calls[i];
        json_array_append_new(calls, call_json(call->id, call->name, call->arguments));
    }
    maker->no_memory |= json_array_size(calls) != m->n_tool_calls;
    set(maker, frame->item, "tool_calls", calls);
    if (frame->row.stop_reason == CADRE_STOP_LIMIT)
        set_text(maker, frame->item, "finish", "length");
}

// What there was of an answer, when it failed or was stopped.
static void set_part(cdr_recording_maker *maker, const cdr_source *frame)
{
    if (frame->part < 0)
        return;
    const cadre_message *m = &maker->messages[frame->part].message;
    set_text(maker, frame->item, "text", m->text);
    set_text(maker, frame->item, "reasoning", m->reasoning);
}

static void set_failure(cdr_recording_maker *maker, const cdr_source *frame)
{
    const char *kind = cadre_error_class_name(frame->row.error_class);
    set(maker, frame->item, "error",
        json_pack("{s:s, s:s, s:b}", "class", kind == NULL ? "error" : kind, "message",
                  frame->row.error, "retryable", frame->row.error_retryable));
}

// The short form of what was asked, without the steps of a script it came from.
static json_t *asked_of(const cdr_source *frame)
{
    json_t *asked = parse(frame->row.input);
    if (!json_is_object(asked)) {
        json_decref(asked);
        return NULL;
    }
    json_object_del(asked, "steps");
    return asked;
}

static json_t *item_at(cdr_recording_maker *maker, cdr_source *frame)
{
    frame->item = json_pack("{s:s}", "at", frame->at);
    maker->no_memory |= frame->item == NULL;
    return frame->item;
}

static void make_step(cdr_recording_maker *maker, cdr_source *frame)
{
    bool has_ended = frame->row.status >= CADRE_FRAME_COMPLETED;
    bool has_answer = frame->kept != NULL || frame->answer >= 0;
    bool is_failed = frame->row.status == CADRE_FRAME_FAILED;
    if (frame->row.attempts == 0 || !has_ended)
        return; // a hook answered, or nobody did yet
    item_at(maker, frame);
    frame->section = "agents";
    frame->name = maker->frames[frame->parent].row.name;
    set(maker, frame->item, "asked", asked_of(frame));
    if (frame->row.attempts > 1)
        set(maker, frame->item, "attempts", json_integer(frame->row.attempts));
    frame->has_outcome = has_answer || is_failed;
    if (!has_answer)
        set_part(maker, frame);
    if (frame->kept != NULL)
        set_kept_answer(maker, frame);
    else if (frame->answer >= 0)
        set_answer(maker, frame);
    else if (is_failed)
        set_failure(maker, frame);
    else
        set(maker, frame->item, "stopped", json_true());
    set(maker, frame->item, "usage", usage_json(&frame->row.own));
}

// --- Tool calls ---

// What a call came to, before its hooks changed it.
typedef struct outcome {
    cadre_result_code code;
    const char *text;
    json_t *state; // new reference; NULL: nothing was added
} outcome;

static cadre_result_code code_named(const char *name)
{
    int code = CADRE_RESULT_OK;
    while (code < CADRE_RESULT_ABORTED &&
           strcmp(name, cadre_result_code_name((cadre_result_code)code)) != 0)
        code++;
    return (cadre_result_code)code;
}

static outcome outcome_of(const cdr_recording_maker *maker, const cdr_source *frame)
{
    if (frame->kept != NULL)
        return (outcome){code_named(kept_text(frame->kept, "code")),
                         kept_text(frame->kept, "text"),
                         json_incref(json_object_get(frame->kept, "delta"))};
    if (frame->result < 0)
        return (outcome){CADRE_RESULT_ABORTED, "", NULL};
    const cadre_message *m = &maker->messages[frame->result].message;
    return (outcome){m->code, m->text,
                     frame->row.delta[0] == '\0' ? NULL : parse(frame->row.delta)};
}

// Is it what the tool itself came to, or what cut it?
static bool is_of_tool(cadre_result_code code)
{
    return code == CADRE_RESULT_OK || code == CADRE_RESULT_TOOL_ERROR ||
           code == CADRE_RESULT_TIMEOUT || code == CADRE_RESULT_INTERRUPTED ||
           code == CADRE_RESULT_RESTART_LIMIT;
}

static bool is_left_to_replay(const cdr_recording_maker *maker, const cdr_source *frame,
                              const outcome *came_to)
{
    bool has_handed_over =
        frame->result >= 0 && maker->messages[frame->result].message.to[0] != '\0';
    bool is_of_hook =
        frame->kept != NULL && json_is_true(json_object_get(frame->kept, "is_of_hook"));
    return has_handed_over || is_of_hook ||
           strcmp(frame->row.name, CADRE_TRANSFER_TOOL) == 0 ||
           strcmp(frame->row.name, CADRE_ESCALATE_TOOL) == 0 ||
           (!is_of_tool(came_to->code) && came_to->code != CADRE_RESULT_ABORTED);
}

static void set_result(cdr_recording_maker *maker, cdr_source *frame,
                       const outcome *came_to)
{
    bool is_ok = came_to->code == CADRE_RESULT_OK;
    set(maker, frame->item, is_ok ? "result" : "error", json_string(came_to->text));
    if (!is_ok && came_to->code != CADRE_RESULT_TOOL_ERROR)
        set_text(maker, frame->item, "code", cadre_result_code_name(came_to->code));
    set(maker, frame->item, "state", json_incref(came_to->state));
    frame->has_outcome = true;
}

static void make_result(cdr_recording_maker *maker, cdr_source *frame)
{
    bool has_ended = frame->row.status >= CADRE_FRAME_COMPLETED;
    if (frame->row.attempts == 0 || !has_ended)
        return;
    outcome came_to = outcome_of(maker, frame);
    if (!is_left_to_replay(maker, frame, &came_to)) {
        item_at(maker, frame);
        frame->section = "tools";
        frame->name = frame->row.name;
        set(maker, frame->item, "arguments", arguments_of(frame->row.input));
        if (frame->has_calls)
            set(maker, frame->item, "runs", json_true());
        else if (came_to.code == CADRE_RESULT_ABORTED)
            set(maker, frame->item, "stopped", json_true());
        else
            set_result(maker, frame, &came_to);
    }
    json_decref(came_to.state);
}

// --- Steps and questions ---

static void make_value(cdr_recording_maker *maker, cdr_source *frame)
{
    bool is_failed = frame->row.status == CADRE_FRAME_FAILED;
    if ((frame->row.status != CADRE_FRAME_COMPLETED && !is_failed) || frame->has_calls)
        return; // what it called is recorded, so it runs
    item_at(maker, frame);
    frame->section = "values";
    set_text(maker, frame->item, "name", frame->row.name);
    if (is_failed) {
        set(maker, frame->item, "error", json_string(frame->row.error));
        set_text(maker, frame->item, "class",
                 cadre_error_class_name(frame->row.error_class));
    } else {
        set(maker, frame->item, "value", parse(frame->row.output));
        if (frame->row.delta[0] != '\0')
            set(maker, frame->item, "state", parse(frame->row.delta));
    }
    // Nobody waits for what a model's call keeps of the history.
    frame->has_outcome = !has_prefix(frame->row.key, "history/");
}

static void make_answer(cdr_recording_maker *maker, cdr_source *frame)
{
    if (frame->row.status != CADRE_FRAME_COMPLETED)
        return;
    json_t *asked = parse(frame->row.input);
    item_at(maker, frame);
    frame->section = "answers";
    set_text(maker, frame->item, "question", kept_text(asked, "question"));
    set(maker, frame->item, "answer", parse(frame->row.output));
    frame->has_outcome = true;
    json_decref(asked);
}

// --- All of them ---

// "turn/index": a call, and no step.
static bool is_of_round(const char *key)
{
    static const char digits[] = "0123456789";
    size_t turn = strspn(key, digits);
    if (turn == 0 || key[turn] != '/')
        return false;
    size_t index = strspn(key + turn + 1, digits);
    return index > 0 && key[turn + 1 + index] == '\0';
}

// What was kept for hooks is the outcome of the call that they looked at. True: it is.
static bool take_kept(cdr_recording_maker *maker, const cdr_source *frame)
{
    cdr_source *above = &maker->frames[frame->parent];
    cdr_source *of = NULL;
    if (frame->kind != CDR_SOURCE_TOOL)
        return false;
    if (strcmp(frame->row.key, "after_tool") == 0)
        of = above;
    else if (has_prefix(frame->row.key, "after_model/") &&
             strchr(frame->row.key + strlen("after_model/"), '/') == NULL &&
             above->last_model >= 0)
        of = &maker->frames[above->last_model];
    if (of == NULL)
        return false;
    if (of->kept == NULL)
        of->kept = parse(frame->row.output);
    return true;
}

// Did it call others, and not only its hooks and who approves it?
static void note_call(cdr_recording_maker *maker, const cdr_source *frame)
{
    static const char *const of_others[] = {"approval", "before_tool/", "after_tool"};
    cdr_source *above = &maker->frames[frame->parent];
    bool is_own = true;
    for (size_t i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
        is_own = is_own && !has_prefix(frame->row.key, of_others[i]);
    above->has_calls |= is_own;
}

static void look_around(cdr_recording_maker *maker, size_t i, bool *is_kept)
{
    cdr_source *frame = &maker->frames[i];
    is_kept[i] = false;
    if (frame->parent < 0)
        return;
    is_kept[i] = take_kept(maker, frame);
    note_call(maker, frame);
    if (frame->kind == CDR_SOURCE_MODEL)
        maker->frames[frame->parent].last_model = (int)i;
}

void cdr_recording_make_items(cdr_recording_maker *maker)
{
    bool *is_kept = cdr_arena_alloc(&maker->arena, maker->n_frames + 1);
    maker->no_memory |= is_kept == NULL;
    for (size_t i = 0; is_kept != NULL && i < maker->n_frames; i++)
        look_around(maker, i, is_kept);
    for (size_t i = 0; is_kept != NULL && i < maker->n_frames; i++) {
        cdr_source *frame = &maker->frames[i];
        if (is_kept[i])
            continue;
        if (frame->kind == CDR_SOURCE_MODEL)
            make_step(maker, frame);
        else if (frame->kind == CDR_SOURCE_TOOL && is_of_round(frame->row.key))
            make_result(maker, frame);
        else if (frame->kind == CDR_SOURCE_TOOL)
            make_value(maker, frame);
        else if (frame->kind == CDR_SOURCE_ASK)
            make_answer(maker, frame);
    }
}
