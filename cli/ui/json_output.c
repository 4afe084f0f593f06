// See json_output.h.
#include "json_output.h"

#include "cost.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Bytes that are no UTF-8 are shown as text: JSON has no place for them.
static json_t *repaired(const char *text)
{
    char *safe = NULL;
    size_t len = 0;
    json_t *value = NULL;
    FILE *stream = open_memstream(&safe, &len);

    if (!stream)
        return NULL;
    cli_text_print(stream, text, strlen(text), CLI_TEXT_LINES);
    if (fclose(stream) == 0)
        value = json_stringn(safe, len);
    free(safe);
    return value;
}

json_t *cli_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    return value ? value : repaired(text);
}

// "" stands for "there is none" in the library.
static json_t *name_or_null(const char *name)
{
    return cli_json_text(name && *name ? name : NULL);
}

static void set(json_t *object, const char *key, json_t *value)
{
    // Missing memory shows at the end: the object is then NULL or lacks the field.
    json_object_set_new(object, key, value);
}

json_t *cli_json_time(int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    char day[32], text[48];

    if (ms <= 0 || !gmtime_r(&seconds, &parts))
        return json_null();
    if (strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &parts) == 0)
        return json_null();
    snprintf(text, sizeof(text), "%s.%03dZ", day, (int)(ms % 1000));
    return json_string(text);
}

static json_t *usage_json(const cadre_usage *usage)
{
    json_t *object = json_object();

    set(object, "model_calls", json_integer(usage->model_calls));
    set(object, "tool_calls", json_integer(usage->tool_calls));
    set(object, "input_tokens", json_integer(usage->input_tokens));
    set(object, "output_tokens", json_integer(usage->output_tokens));
    set(object, "cached_input_tokens", json_integer(usage->cached_input_tokens));
    set(object, "reasoning_tokens", json_integer(usage->reasoning_tokens));
    return object;
}

static json_t *cost_json(const cadre_usage *usage)
{
    return cli_cost_json(usage->cost_usd_micros, usage->unpriced_calls);
}

static json_t *error_json(const cadre_error_info *error)
{
    json_t *object = NULL;

    if (error->error_class == CADRE_CLASS_NONE)
        return json_null();
    object = json_object();
    set(object, "class", cli_json_text(cadre_error_class_name(error->error_class)));
    set(object, "message", cli_json_text(error->message ? error->message : ""));
    set(object, "retryable", json_boolean(error->retryable));
    set(object, "agent", name_or_null(error->agent));
    set(object, "frame", name_or_null(error->frame_id));
    return object;
}

static json_t *stop_reason_json(cadre_stop_reason reason)
{
    return reason == CADRE_STOP_NONE ? json_null()
                                     : cli_json_text(cadre_stop_reason_name(reason));
}

static json_t *tool_calls_json(const cadre_message *message)
{
    json_t *calls = json_array();

    for (size_t i = 0; i < message->n_tool_calls; i++) {
        const cadre_tool_call *call = &message->tool_calls[i];
        json_t *object = json_object();
        set(object, "id", cli_json_text(call->id));
        set(object, "name", cli_json_text(call->name));
        set(object, "arguments", cli_json_text(call->arguments));
        json_array_append_new(calls, object);
    }
    return calls;
}

// What came with a text, without the bytes; NULL: nothing did.
static json_t *files_json(const cadre_message *message)
{
    static const char *const told[] = {"type", "media_type", "name", "url"};
    json_t *parts = *message->parts ? json_loads(message->parts, 0, NULL) : NULL;
    json_t *files = json_is_array(parts) ? json_array() : NULL;
    size_t i = 0;
    json_t *part = NULL;

    json_array_foreach(files ? parts : NULL, i, part)
    {
        json_t *file = json_object();
        for (size_t k = 0; k < sizeof(told) / sizeof(told[0]); k++)
            if (json_object_get(part, told[k]))
                json_object_set(file, told[k], json_object_get(part, told[k]));
        json_array_append_new(files, file);
    }
    json_decref(parts);
    return files;
}

static json_t *message_json(const cadre_message *message)
{
    json_t *object = json_object();
    json_t *files = files_json(message);

    set(object, "role", cli_json_text(cadre_role_name(message->role)));
    set(object, "content", cli_json_text(message->text));
    set(object, "reasoning", cli_json_text(message->reasoning));
    set(object, "tool_calls", tool_calls_json(message));
    if (files)
        set(object, "files", files);
    return object;
}

json_t *cli_json_said(const cadre_record_message *said)
{
    const cadre_message *message = said->message;
    json_t *object = message_json(message);

    set(object, "agent", name_or_null(message->agent));
    set(object, "model", name_or_null(message->model));
    set(object, "mark", name_or_null(message->mark));
    set(object, "to", name_or_null(message->to));
    set(object, "call_id", name_or_null(message->call_id));
    set(object, "name", name_or_null(message->tool_name));
    set(object, "code",
        message->role == CADRE_ROLE_TOOL
            ? cli_json_text(cadre_result_code_name(message->code))
            : json_null());
    set(object, "id", cli_json_text(message->id));
    set(object, "frame", name_or_null(message->frame_id));
    set(object, "conversation_id", cli_json_text(said->conversation_id));
    set(object, "position",
        message->position < 0 ? json_null() : json_integer(message->position));
    set(object, "seq", message->seq > 0 ? json_integer(message->seq) : json_null());
    return object;
}

static void add_message_end(json_t *line, const cadre_event *event)
{
    const cadre_message *message = event->u.message_end.message;
    cadre_finish finish = event->u.message_end.finish;

    set(line, "message_id", cli_json_text(message->id));
    set(line, "message", message_json(message));
    set(line, "model", name_or_null(message->model));
    set(line, "mark", name_or_null(message->mark));
    set(line, "finish",
        finish == CADRE_FINISH_NONE ? json_null()
                                    : cli_json_text(cadre_finish_name(finish)));
    set(line, "usage", usage_json(&event->u.message_end.usage));
    set(line, "cost", cost_json(&event->u.message_end.usage));
    set(line, "attempts", json_integer(event->u.message_end.attempts));
}

static void add_frame(json_t *line, const cadre_event *event)
{
    if (event->type == CADRE_EVENT_FRAME_START) {
        set(line, "parent", name_or_null(event->u.frame_start.parent_id));
        set(line, "key", cli_json_text(event->u.frame_start.key));
        set(line, "referer", cli_json_text(event->u.frame_start.referer));
        set(line, "depth", json_integer(event->u.frame_start.depth));
        set(line, "input", cli_json_text(event->u.frame_start.input));
        return;
    }
    set(line, "status",
        cli_json_text(cadre_frame_status_name(event->u.frame_end.status)));
    set(line, "stop_reason", stop_reason_json(event->u.frame_end.stop_reason));
    set(line, "output", cli_json_text(event->u.frame_end.output));
    set(line, "usage", usage_json(&event->u.frame_end.usage));
    set(line, "cost", cost_json(&event->u.frame_end.usage));
    set(line, "duration_ms", json_integer(event->u.frame_end.duration_ms));
}

static void add_tool(json_t *line, const cadre_event *event)
{
    switch (event->type) {
    case CADRE_EVENT_TOOL_CALL:
        set(line, "call_id", cli_json_text(event->u.tool_call.call_id));
        set(line, "name", cli_json_text(event->u.tool_call.name));
        set(line, "arguments", cli_json_text(event->u.tool_call.arguments));
        break;
    case CADRE_EVENT_TOOL_PROGRESS:
        set(line, "call_id", cli_json_text(event->u.tool_progress.call_id));
        set(line, "name", cli_json_text(event->u.tool_progress.name));
        set(line, "text", cli_json_text(event->u.tool_progress.text));
        break;
    default:
        set(line, "call_id", cli_json_text(event->u.tool_result.call_id));
        set(line, "name", cli_json_text(event->u.tool_result.name));
        set(line, "result", cli_json_text(event->u.tool_result.result));
        set(line, "is_error",
            json_boolean(event->u.tool_result.code != CADRE_RESULT_OK));
        set(line, "duration_ms", json_integer(event->u.tool_result.duration_ms));
        break;
    }
}

static void add_transfer(json_t *line, const cadre_event *event)
{
    set(line, "from", cli_json_text(event->u.transfer.from));
    set(line, "to", cli_json_text(event->u.transfer.to));
    set(line, "message", cli_json_text(event->u.transfer.message));
    set(line, "decision", cli_json_text(event->u.transfer.decision));
    set(line, "reason", name_or_null(event->u.transfer.reason));
}

// A value that the library gives as text; null for "".
static json_t *json_of(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    return value == NULL ? json_null() : value;
}

static void add_interrupt(json_t *line, const cadre_event *event)
{
    set(line, "question_id", cli_json_text(event->u.interrupt.question_id));
    set(line, "question", cli_json_text(event->u.interrupt.question));
    set(line, "choices", json_of(event->u.interrupt.choices));
}

static void add_stream_end(json_t *line, const cadre_event *event)
{
    set(line, "status",
        cli_json_text(cadre_frame_status_name(event->u.stream_end.status)));
    set(line, "stop_reason", stop_reason_json(event->u.stream_end.stop_reason));
    set(line, "output", cli_json_text(event->u.stream_end.output));
    set(line, "error", error_json(&event->u.stream_end.error));
    set(line, "usage", usage_json(&event->u.stream_end.usage));
    set(line, "cost", cost_json(&event->u.stream_end.usage));
    set(line, "duration_ms", json_integer(event->u.stream_end.duration_ms));
}

static void add_fields(json_t *line, const cadre_event *event)
{
    switch (event->type) {
    case CADRE_EVENT_STREAM_START:
        set(line, "trace_id", cli_json_text(event->u.stream_start.trace_id));
        set(line, "team", cli_json_text(event->u.stream_start.team));
        set(line, "offline", json_boolean(event->u.stream_start.offline));
        if (event->u.stream_start.texts_changed)
            set(line, "texts_changed", json_true());
        break;
    case CADRE_EVENT_FRAME_START:
    case CADRE_EVENT_FRAME_END:
        add_frame(line, event);
        break;
    case CADRE_EVENT_MESSAGE_START:
        set(line, "message_id", cli_json_text(event->u.message_start.message_id));
        break;
    case CADRE_EVENT_TEXT_DELTA:
    case CADRE_EVENT_REASONING_DELTA:
        set(line, "message_id", cli_json_text(event->u.delta.message_id));
        set(line, "text", cli_json_text(event->u.delta.text));
        break;
    case CADRE_EVENT_MESSAGE_END:
        add_message_end(line, event);
        break;
    case CADRE_EVENT_TOOL_CALL:
    case CADRE_EVENT_TOOL_PROGRESS:
    case CADRE_EVENT_TOOL_RESULT:
        add_tool(line, event);
        break;
    case CADRE_EVENT_TRANSFER:
        add_transfer(line, event);
        break;
    case CADRE_EVENT_ESCALATE:
        set(line, "reason", cli_json_text(event->u.escalate.reason));
        break;
    case CADRE_EVENT_INTERRUPT:
        add_interrupt(line, event);
        break;
    case CADRE_EVENT_STATE_DELTA:
        set(line, "key", cli_json_text(event->u.state_delta.key));
        set(line, "value", json_of(event->u.state_delta.value));
        break;
    case CADRE_EVENT_RETRY:
        set(line, "attempt", json_integer(event->u.retry.attempt));
        set(line, "error", error_json(&event->u.retry.error));
        set(line, "wait_ms", json_integer(event->u.retry.wait_ms));
        set(line, "model", name_or_null(event->u.retry.model));
        set(line, "next_model", name_or_null(event->u.retry.next_model));
        break;
    case CADRE_EVENT_WAIT:
        set(line, "model", cli_json_text(event->u.wait.model));
        set(line, "reason", cli_json_text(event->u.wait.reason));
        set(line, "wait_ms",
            event->u.wait.wait_ms < 0 ? json_null()
                                      : json_integer(event->u.wait.wait_ms));
        break;
    case CADRE_EVENT_ERROR:
        set(line, "error", error_json(&event->u.error));
        break;
    case CADRE_EVENT_STREAM_END:
        add_stream_end(line, event);
        break;
    }
}

static json_t *now_json(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return cli_json_time((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

json_t *cli_json_event(const cadre_event *event)
{
    json_t *line = json_object();

    set(line, "seq", event->seq > 0 ? json_integer(event->seq) : json_null());
    set(line, "type", cli_json_text(cadre_event_type_name(event->type)));
    set(line, "time", now_json());
    set(line, "frame", name_or_null(event->frame_id));
    set(line, "thread_id", name_or_null(event->thread_id));
    set(line, "agent", name_or_null(event->agent));
    add_fields(line, event);
    return line;
}

static bool is_agent(const cadre_frame_info *frame)
{
    return strcmp(frame->kind, "agent") == 0;
}

// `kind` names the field that says who: "agent", "model" or "tool".
static json_t *frame_json(const cadre_frame_info *frame, const char *parent_id)
{
    json_t *object = json_object(), *usage = json_object(), *cost = json_object();

    set(object, "id", cli_json_text(frame->id));
    set(object, "trace_id", cli_json_text(frame->trace_id));
    set(object, "parent_id", name_or_null(parent_id));
    set(object, "key", cli_json_text(frame->key));
    set(object, "kind", cli_json_text(frame->kind));
    set(object, frame->kind, cli_json_text(frame->name));
    set(object, "referer", cli_json_text(frame->referer));
    set(object, "depth", json_integer(frame->depth));
    set(object, "conversation_id", name_or_null(frame->conversation_id));
    set(object, "status", cli_json_text(cadre_frame_status_name(frame->status)));
    set(object, "stop_reason", stop_reason_json(frame->stop_reason));
    set(object, "abort_requested", json_boolean(frame->abort_reason[0] != '\0'));
    set(object, "abort_reason",
        frame->abort_reason[0] == '\0' ? json_null()
                                       : json_string(frame->abort_reason));
    set(object, "error", error_json(&frame->error));
    set(object, "attempts", json_integer(frame->attempts));
    set(object, "input", cli_json_text(frame->input));
    set(object, "output", cli_json_text(frame->output));
    set(object, "delta", json_of(frame->delta));
    set(usage, "own", usage_json(&frame->own));
    set(usage, "subtree", usage_json(&frame->usage));
    set(object, "usage", usage);
    set(cost, "own", cost_json(&frame->own));
    set(cost, "subtree", cost_json(&frame->usage));
    set(object, "cost", cost);
    set(object, "created_at", cli_json_time(frame->created_at));
    set(object, "completed_at", cli_json_time(frame->completed_at));
    set(object, "duration_ms", json_integer(frame->duration_ms));
    return object;
}

int *cli_json_agent_parents(cli_frames frames)
{
    int *parents = calloc(frames.count + 1, sizeof(*parents));

    for (size_t i = 0; parents && i < frames.count; i++) {
        int parent = frames.items[i].parent;
        if (parent >= 0 && !is_agent(&frames.items[parent]))
            parent = parents[parent];
        parents[i] = parent;
    }
    return parents;
}

json_t *cli_json_frames(cli_frames frames, bool wants_all)
{
    json_t *array = json_array();
    int *parents = cli_json_agent_parents(frames);

    for (size_t i = 0; parents && i < frames.count; i++) {
        const cadre_frame_info *frame = &frames.items[i];
        int parent = wants_all ? frame->parent : parents[i];
        if (wants_all || is_agent(frame))
            json_array_append_new(
                array, frame_json(frame, parent < 0 ? "" : frames.items[parent].id));
    }
    free(parents);
    return array;
}

json_t *cli_json_result(const cadre_result *result, cli_frames frames,
                        bool wants_all_frames)
{
    json_t *object = json_object();

    set(object, "trace_id", cli_json_text(result->trace_id));
    set(object, "status", cli_json_text(cadre_frame_status_name(result->status)));
    set(object, "stop_reason", stop_reason_json(result->stop_reason));
    set(object, "agent", name_or_null(result->agent));
    set(object, "output", cli_json_text(result->text));
    set(object, "error", error_json(&result->error));
    set(object, "usage", usage_json(&result->usage));
    set(object, "cost", cost_json(&result->usage));
    set(object, "duration_ms", json_integer(result->duration_ms));
    set(object, "stop_ms",
        result->stop_ms < 0 ? json_null() : json_integer(result->stop_ms));
    set(object, "offline", json_boolean(result->offline));
    set(object, "frames", cli_json_frames(frames, wants_all_frames));
    return object;
}

// Why a run could not start. What the caller got wrong is a matter of what was set.
static cadre_error_info info_of(const cadre_error *err)
{
    bool has_class =
        err->error_class != CADRE_CLASS_NONE && err->error_class != CADRE_CLASS_ERROR;
    cadre_error_class otherwise =
        err->status == CADRE_EINVAL ? CADRE_CLASS_CONFIG : CADRE_CLASS_ERROR;

    return (cadre_error_info){.error_class = has_class ? err->error_class : otherwise,
                              .retryable = err->retryable,
                              .message = err->text};
}

json_t *cli_json_no_run(const cadre_error *err, const cadre_team *team)
{
    const cadre_error_info error = info_of(err);
    json_t *object = json_object(), *texts = json_array();
    size_t n = 0;
    const char *const *problems = team ? cadre_team_problems(team, &n) : NULL;

    for (size_t i = 0; i < n; i++)
        json_array_append_new(texts, cli_json_text(problems[i]));
    set(object, "error", error_json(&error));
    set(object, "problems", texts);
    return object;
}

json_t *cli_json_no_run_event(const cadre_error *err)
{
    return cli_json_event(
        &(const cadre_event){.type = CADRE_EVENT_ERROR, .u.error = info_of(err)});
}
