// Provider "script": plays the step that the framework chose from the script file. It
// makes answers and failures as a provider would, so everything behind it is real.
#include "cadre/ext/model.h"
#include "cadre/ext/script.h"

#include <stdlib.h>
#include <string.h>

// Where the piece ends that should end at `at`: never inside a character.
static size_t piece_end(const char *text, size_t len, size_t at)
{
    while (at < len && ((unsigned char)text[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static cadre_status wait_for(cadre_frame *frame, int64_t ms, cadre_error *err)
{
    if (ms > 0)
        return cadre_frame_sleep(frame, ms, err);
    if (cadre_frame_is_stopped(frame)) // sleeping 0 ms tells why
        return cadre_frame_sleep(frame, 0, err);
    return CADRE_OK;
}

// The delay is that of the whole step: a part of it goes before each piece.
static cadre_status play_text(const cadre_script_step *step, cadre_frame *frame,
                              cadre_sink *sink, cadre_error *err)
{
    const char *text = step->text ? step->text : "";
    size_t len = strlen(text);
    size_t n_pieces = step->chunks > 1 ? (size_t)step->chunks : 1;
    size_t from = 0;
    int64_t waited_ms = 0;
    if (step->reasoning)
        cadre_sink_reasoning(sink, step->reasoning, strlen(step->reasoning));
    for (size_t i = 1; i <= n_pieces; i++) {
        int64_t due_ms = step->delay_ms / (int64_t)n_pieces * (int64_t)i;
        if (i == n_pieces)
            due_ms = step->delay_ms;
        cadre_status status = wait_for(frame, due_ms - waited_ms, err);
        if (status != CADRE_OK)
            return status;
        waited_ms = due_ms;
        size_t to = i == n_pieces ? len : piece_end(text, len, len / n_pieces * i);
        if (to > from)
            cadre_sink_text(sink, text + from, to - from);
        from = to > from ? to : from;
    }
    return CADRE_OK;
}

static cadre_status add_arguments(cadre_sink *sink, size_t call, const json_t *value,
                                  cadre_error *err)
{
    if (!value || json_is_null(value))
        return CADRE_OK;
    if (json_is_string(value)) {
        cadre_sink_call_arguments(sink, call, json_string_value(value),
                                  json_string_length(value));
        return CADRE_OK;
    }
    char *text =
        json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    if (!text)
        return cadre_fail(err, CADRE_ENOMEM, "script: no memory for a tool call");
    cadre_sink_call_arguments(sink, call, text, strlen(text));
    free(text);
    return CADRE_OK;
}

static cadre_status play_calls(const json_t *calls, cadre_sink *sink, cadre_error *err)
{
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_t *call = json_array_get(calls, i);
        const char *id = json_string_value(json_object_get(call, "id"));
        const char *name = json_string_value(json_object_get(call, "name"));
        size_t n = cadre_sink_add_call(sink);
        if (id)
            cadre_sink_call_id(sink, n, id, strlen(id));
        if (name)
            cadre_sink_call_name(sink, n, name, strlen(name));
        cadre_status status =
            add_arguments(sink, n, json_object_get(call, "arguments"), err);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

static cadre_status play_handoffs(const json_t *handoffs, cadre_sink *sink,
                                  cadre_error *err)
{
    for (size_t i = 0; i < json_array_size(handoffs); i++) {
        const json_t *handoff = json_array_get(handoffs, i);
        json_t *message = json_object_get(handoff, "message");
        json_t *arguments = json_pack(
            "{s:O, s:O*}", "agent", json_object_get(handoff, "to"), "message", message);
        if (!arguments)
            return cadre_fail(err, CADRE_ENOMEM, "script: no memory for a handoff");
        size_t n = cadre_sink_add_call(sink);
        cadre_sink_call_name(sink, n, CADRE_TRANSFER_TOOL, strlen(CADRE_TRANSFER_TOOL));
        cadre_status status = add_arguments(sink, n, arguments, err);
        json_decref(arguments);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

// One call that a word of a step stands for; `text` "" gives it no arguments.
static cadre_status play_word(const char *name, const char *key, const char *text,
                              cadre_sink *sink, cadre_error *err)
{
    if (!text)
        return CADRE_OK;
    json_t *arguments = *text ? json_pack("{s:s}", key, text) : json_object();
    if (!arguments)
        return cadre_fail(err, CADRE_ENOMEM, "script: no memory for a tool call");
    size_t n = cadre_sink_add_call(sink);
    cadre_sink_call_name(sink, n, name, strlen(name));
    cadre_status status = add_arguments(sink, n, arguments, err);
    json_decref(arguments);
    return status;
}

static cadre_status play_answer(const cadre_script_step *step, cadre_sink *sink,
                                cadre_error *err)
{
    cadre_status status = play_calls(step->tool_calls, sink, err);
    if (status == CADRE_OK)
        status = play_handoffs(step->handoffs, sink, err);
    if (status == CADRE_OK)
        status = play_word("ask", "question", step->ask, sink, err);
    if (status == CADRE_OK)
        status = play_word("escalate", "reason", step->escalate, sink, err);
    return status;
}

static cadre_status play_error(const cadre_script_step *step, cadre_error *err)
{
    if (step->error_class != CADRE_CLASS_NONE)
        return cadre_fail_class(err, CADRE_EFAILED, step->error_class,
                                step->error_retryable, "%s", step->error_message);
    const char *message = step->error_message && step->error_message[0]
                              ? step->error_message
                              : "an error of the script";
    cadre_status status = CADRE_EIO;
    if (step->error_status < 0)
        cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_CONNECTION, true,
                         "connection refused: %s", message);
    else
        status = cadre_fail_http(err, step->error_status, "", message);
    if (err != NULL && step->error_retry_after_ms > 0)
        err->retry_after_ms = step->error_retry_after_ms;
    return status;
}

static cadre_finish finish_of(const cadre_script_step *step, const cadre_sink *sink)
{
    if (step->finish != CADRE_FINISH_NONE)
        return step->finish;
    return cadre_sink_call_count(sink) > 0 ? CADRE_FINISH_TOOL_CALLS
                                           : CADRE_FINISH_STOP;
}

static int64_t tokens(const json_t *usage, const char *name)
{
    return json_integer_value(json_object_get(usage, name));
}

// A server tells what an attempt has used before the end, and some when it failed.
static void play_usage(const cadre_script_step *step, cadre_sink *sink)
{
    const json_t *told = step->usage;
    const cadre_usage usage = {
        .input_tokens = tokens(told, "input_tokens"),
        .output_tokens = tokens(told, "output_tokens"),
        .cached_input_tokens = tokens(told, "cached_input_tokens"),
        .reasoning_tokens = tokens(told, "reasoning_tokens"),
    };
    if (told)
        cadre_sink_usage(sink, &usage);
}

static cadre_status answer(const void *state, cadre_frame *frame,
                           const cadre_request *request, cadre_sink *sink,
                           cadre_error *err)
{
    (void)state;
    const cadre_script_step *step = request->script_step;
    if (!step)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': its model answers from a script, but there is "
                          "none (--script FILE, or `script:` in the team file)",
                          request->agent);
    cadre_status status = play_text(step, frame, sink, err);
    if (status != CADRE_OK)
        return status;
    play_usage(step, sink);
    if (step->is_stopped)
        return CADRE_OK; // who asked waits for the stop
    if (step->error_status != 0 || step->error_class != CADRE_CLASS_NONE)
        return play_error(step, err);
    status = play_answer(step, sink, err);
    if (status != CADRE_OK)
        return status;
    cadre_sink_finish(sink, finish_of(step, sink));
    cadre_sink_end(sink);
    return CADRE_OK;
}

extern const cadre_model_ops cadre_model_script;

const cadre_model_ops cadre_model_script = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "script",
    .summary = "answers from a script file, without a network",
    .answer = answer,
};
