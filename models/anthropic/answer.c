// From the events of a message to the pieces of an answer.
//
// The protocol: message_start, then for each content block content_block_start, its
// deltas and content_block_stop, then message_delta with the reason why it stopped and
// message_stop; ping anywhere, error anywhere. Unknown events are ignored. A server
// that does not stream sends the message whole.
#include "anthropic.h"

#include <string.h>

#define MAX_TOKENS INT64_C(1000000000000) // so that sums stay numbers
#define MAX_WHY 200                       // bytes of what is said about a refusal

// What an event holds, where the order of its keys must not matter.
typedef struct said {
    cadre_scan_text type;
    int64_t index;                                  // -1: none
    cadre_scan delta, block, message, usage, error; // bookmarks
    bool has_delta, has_block, has_message, has_usage, has_error;
} said;

// What message_delta, and a whole message, say of the end.
typedef struct ending {
    cadre_scan_text reason; // empty: none
    char why[MAX_WHY];      // of a refusal
} ending;

// --- Usage ---

static void read_output_details(cadre_scan *scan, cdr_anthropic_reader *reader)
{
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "thinking_tokens"))
            cadre_scan_integer(scan, &reader->reasoning);
        else
            cadre_scan_skip(scan);
    }
}

// Counts are cumulative, and some servers repeat them as 0 where they know no better.
static void read_count(cadre_scan *scan, int64_t *count)
{
    int64_t number;
    if (cadre_scan_integer(scan, &number) && number > 0)
        *count = number < MAX_TOKENS ? number : MAX_TOKENS;
}

static void read_usage(cadre_scan *scan, const cdr_anthropic_reading *to)
{
    cdr_anthropic_reader *reader = to->reader;
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "input_tokens"))
            read_count(scan, &reader->input);
        else if (cadre_scan_is(key, "cache_creation_input_tokens"))
            read_count(scan, &reader->written);
        else if (cadre_scan_is(key, "cache_read_input_tokens"))
            read_count(scan, &reader->read);
        else if (cadre_scan_is(key, "output_tokens"))
            read_count(scan, &reader->output);
        else if (cadre_scan_is(key, "output_tokens_details"))
            read_output_details(scan, reader);
        else
            cadre_scan_skip(scan);
    }
    // The provider's input_tokens are those that no cache had to do with.
    const cadre_usage usage = {.input_tokens =
                                   reader->input + reader->written + reader->read,
                               .output_tokens = reader->output,
                               .cached_input_tokens = reader->read,
                               .reasoning_tokens = reader->reasoning};
    cadre_sink_usage(to->sink, &usage);
    cadre_sink_cache_written(to->sink, reader->written);
}

// --- The end ---

static void read_stop_details(cadre_scan *scan, ending *out)
{
    cadre_scan_text key, text;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (!cadre_scan_string(scan, &text))
            continue;
        if (cadre_scan_is(key, "explanation"))
            cadre_scan_copy(text, out->why, sizeof(out->why));
    }
}

static void read_ending(cadre_scan *scan, ending *out)
{
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "stop_reason"))
            cadre_scan_string(scan, &out->reason);
        else if (cadre_scan_is(key, "stop_details"))
            read_stop_details(scan, out);
        else
            cadre_scan_skip(scan);
    }
}

static cadre_status finish(const cdr_anthropic_reading *to, const ending *end)
{
    static const struct {
        const char *word;
        cadre_finish finish;
    } words[] = {
        {"tool_use", CADRE_FINISH_TOOL_CALLS},
        {"max_tokens", CADRE_FINISH_LENGTH},
        {"model_context_window_exceeded", CADRE_FINISH_LENGTH},
        // A long turn of the server's tools: what is there is a part of an answer.
        {"pause_turn", CADRE_FINISH_LENGTH},
    };
    if (end->reason.len == 0)
        return CADRE_OK;
    if (cadre_scan_is(end->reason, "refusal"))
        return cadre_fail_class(to->err, CADRE_EIO, CADRE_CLASS_CONTENT_FILTER, false,
                                "the provider's content filter stopped the answer "
                                "(refusal%s%s)",
                                end->why[0] ? ": " : "", end->why);
    if (cadre_scan_is(end->reason, "model_context_window_exceeded") &&
        !to->reader->has_content)
        return cadre_fail_class(to->err, CADRE_EIO, CADRE_CLASS_CONTEXT_LENGTH, false,
                                "the request fills the model's context window and "
                                "leaves no room for an answer");
    cadre_finish found = CADRE_FINISH_STOP; // "end_turn", "stop_sequence", unknown ones
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (cadre_scan_is(end->reason, words[i].word))
            found = words[i].finish;
    cadre_sink_finish(to->sink, found);
    to->reader->has_finish = true;
    return CADRE_OK;
}

// The provider's own end. Whoever says it without a reason, after text or a call, has
// finished.
static void end_message(const cdr_anthropic_reading *to)
{
    cdr_anthropic_end_block(to);
    cadre_sink_end_finished(to->sink);
}

// --- A whole message ---

// A text alone, as requests may have it, is a block of text.
static cadre_status read_content(cadre_scan *scan, const cdr_anthropic_reading *to)
{
    cadre_status status = CADRE_OK;
    cadre_scan_text text;
    if (cadre_scan_peek(scan) == CADRE_SCAN_STRING) {
        if (cadre_scan_string(scan, &text))
            cdr_anthropic_add_text(to, text);
        return CADRE_OK;
    }
    if (!cadre_scan_array(scan))
        return CADRE_OK;
    for (int32_t i = 0; status == CADRE_OK && cadre_scan_item(scan); i++)
        status = cdr_anthropic_begin_block(to, i, scan);
    cdr_anthropic_end_block(to);
    return status;
}

// Reads a message that is an answer, or the empty one that a stream begins with.
static cadre_status read_message(cadre_scan *scan, const cdr_anthropic_reading *to)
{
    ending end = {.why = ""};
    cadre_scan_text key;
    cadre_status status = CADRE_OK;
    if (!cadre_scan_object(scan))
        return CADRE_OK;
    while (status == CADRE_OK && cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "content"))
            status = read_content(scan, to);
        else if (cadre_scan_is(key, "usage"))
            read_usage(scan, to);
        else if (cadre_scan_is(key, "stop_reason"))
            cadre_scan_string(scan, &end.reason);
        else if (cadre_scan_is(key, "stop_details"))
            read_stop_details(scan, &end);
        else
            cadre_scan_skip(scan);
    }
    return status == CADRE_OK && !scan->failed ? finish(to, &end) : status;
}

// --- Events ---

static void mark(cadre_scan *scan, cadre_scan *bookmark, bool *has)
{
    *has = cadre_scan_peek(scan) == CADRE_SCAN_OBJECT;
    *bookmark = *scan;
    cadre_scan_skip(scan);
}

static void read_event(cadre_scan *scan, said *out)
{
    cadre_scan_text key;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "type"))
            cadre_scan_string(scan, &out->type);
        else if (cadre_scan_is(key, "index"))
            cadre_scan_integer(scan, &out->index);
        else if (cadre_scan_is(key, "delta"))
            mark(scan, &out->delta, &out->has_delta);
        else if (cadre_scan_is(key, "content_block"))
            mark(scan, &out->block, &out->has_block);
        else if (cadre_scan_is(key, "message"))
            mark(scan, &out->message, &out->has_message);
        else if (cadre_scan_is(key, "usage"))
            mark(scan, &out->usage, &out->has_usage);
        else if (cadre_scan_is(key, "error")) {
            out->has_error = cadre_scan_peek(scan) != CADRE_SCAN_NULL;
            out->error = *scan;
            cadre_scan_skip(scan);
        } else
            cadre_scan_skip(scan);
    }
}

static int32_t index_of(const said *from)
{
    return from->index >= 0 && from->index <= INT32_MAX ? (int32_t)from->index : -1;
}

static cadre_status read_message_delta(said *from, const cdr_anthropic_reading *to)
{
    ending end = {.why = ""};
    if (from->has_usage)
        read_usage(&from->usage, to);
    if (from->has_delta)
        read_ending(&from->delta, &end);
    if (end.reason.len > 0) // else it only counts
        cdr_anthropic_end_block(to);
    return finish(to, &end);
}

static cadre_status act(said *from, const cdr_anthropic_reading *to)
{
    if (from->has_error)
        return cadre_fail_error(to->err, 200, &from->error);
    if (cadre_scan_is(from->type, "content_block_delta") && from->has_delta)
        cdr_anthropic_read_delta(to, index_of(from), &from->delta);
    else if (cadre_scan_is(from->type, "content_block_start") && from->has_block)
        return cdr_anthropic_begin_block(to, index_of(from), &from->block);
    else if (cadre_scan_is(from->type, "content_block_stop"))
        cdr_anthropic_end_block(to);
    else if (cadre_scan_is(from->type, "message_start") && from->has_message)
        return read_message(&from->message, to);
    else if (cadre_scan_is(from->type, "message_delta"))
        return read_message_delta(from, to);
    else if (cadre_scan_is(from->type, "message_stop"))
        end_message(to);
    return CADRE_OK;
}

cadre_status cdr_anthropic_event(const void *state, void *reader,
                                 const cadre_sse_event *event, cadre_sink *sink,
                                 cadre_error *err)
{
    const cdr_anthropic_model *model = state;
    const cdr_anthropic_reading to = {reader, sink, err};
    said found = {.type = {event->type, strlen(event->type), false}, .index = -1};
    cadre_scan scan;
    const char *data = NULL;
    size_t len = 0;
    if (!cadre_sse_event_data(event, &data, &len))
        return CADRE_OK;
    if (cadre_sse_data_is_done(data, len)) {
        end_message(&to);
        return CADRE_OK;
    }
    cadre_scan_init(&scan, data, len);
    if (strcmp(event->type, "error") == 0)
        return cadre_fail_body(err, 200, model->endpoint.key_env, data, len);
    if (cadre_scan_peek(&scan) != CADRE_SCAN_OBJECT)
        return cadre_fail_event(err, data, len);
    cadre_scan_object(&scan);
    read_event(&scan, &found);
    if (!cadre_scan_is_done(&scan))
        return cadre_fail_event(err, data, len);
    return act(&found, &to);
}

// {"type": "error", ...} under status 200, and {"error": ...} of gateways.
static bool is_error(cadre_scan scan)
{
    said found = {.index = -1};
    if (!cadre_scan_object(&scan))
        return false;
    read_event(&scan, &found);
    return !scan.failed && (found.has_error || cadre_scan_is(found.type, "error"));
}

cadre_status cdr_anthropic_body(const void *state, const cadre_http_body *body,
                                cadre_sink *sink, cadre_error *err)
{
    const cdr_anthropic_model *model = state;
    cdr_anthropic_reader reader = {.has_content = false};
    const cdr_anthropic_reading to = {&reader, sink, err};
    cadre_scan scan;
    cadre_scan_init(&scan, body->data, body->len);
    if (body->status >= 300 || is_error(scan))
        return cadre_fail_body(err, body->status, model->endpoint.key_env, body->data,
                               body->len);
    cadre_status status = read_message(&scan, &to);
    if (status != CADRE_OK)
        return status;
    if (!cadre_scan_is_done(&scan) || (!reader.has_content && !reader.has_finish))
        return cadre_fail_answer(err, "a message", &scan, body->data, body->len);
    cadre_sink_end_finished(sink); // whole JSON is a whole answer
    return CADRE_OK;
}
