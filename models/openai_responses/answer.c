// From the events of a response to the pieces of an answer.
//
// Deltas tell a text first; the whole item that follows is the same data and counts
// only where no delta came. `response.completed`, `.incomplete` and `.failed` are the
// end. Events and items that nobody knows are passed by.
#include "openai_responses.h"

// The fields of an event, whose order must not matter; bookmarks of what is deep.
typedef struct event_fields {
    cadre_scan_text type, delta, whole; // whole: `text` or `refusal`
    int64_t output_index;               // -1: none
    int64_t part_index;                 // of a summary; 0: none, or the first
    cadre_scan item, response, error;
    bool has_item, has_response, has_error;
} event_fields;

// What a response says when it ends.
typedef struct response_fields {
    cadre_scan_text status, reason;
    cadre_scan output, error;
    bool has_output, has_error;
} response_fields;

static void bookmark(cadre_scan *scan, cadre_scan *out, bool *has)
{
    *has = cadre_scan_peek(scan) == CADRE_SCAN_OBJECT ||
           cadre_scan_peek(scan) == CADRE_SCAN_ARRAY;
    *out = *scan;
    cadre_scan_skip(scan);
}

static void read_event_fields(cadre_scan *scan, event_fields *out)
{
    cadre_scan_text key;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "type"))
            cadre_scan_string(scan, &out->type);
        else if (cadre_scan_is(key, "delta"))
            cadre_scan_string(scan, &out->delta);
        else if (cadre_scan_is(key, "text") || cadre_scan_is(key, "refusal") ||
                 cadre_scan_is(key, "arguments"))
            cadre_scan_string(scan, &out->whole);
        else if (cadre_scan_is(key, "output_index"))
            cadre_scan_integer(scan, &out->output_index);
        else if (cadre_scan_is(key, "summary_index"))
            cadre_scan_integer(scan, &out->part_index);
        else if (cadre_scan_is(key, "item"))
            bookmark(scan, &out->item, &out->has_item);
        else if (cadre_scan_is(key, "response"))
            bookmark(scan, &out->response, &out->has_response);
        else if (cadre_scan_is(key, "error"))
            bookmark(scan, &out->error, &out->has_error);
        else
            cadre_scan_skip(scan);
    }
}

static void read_usage_details(cadre_scan *scan, cadre_usage *usage)
{
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "cached_tokens"))
            cadre_scan_integer(scan, &usage->cached_input_tokens);
        else if (cadre_scan_is(key, "reasoning_tokens"))
            cadre_scan_integer(scan, &usage->reasoning_tokens);
        else
            cadre_scan_skip(scan);
    }
}

static void read_usage(cadre_scan *scan, cadre_sink *sink)
{
    cadre_usage usage = {0};
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "input_tokens"))
            cadre_scan_integer(scan, &usage.input_tokens);
        else if (cadre_scan_is(key, "output_tokens"))
            cadre_scan_integer(scan, &usage.output_tokens);
        else if (cadre_scan_is(key, "input_tokens_details") ||
                 cadre_scan_is(key, "output_tokens_details"))
            read_usage_details(scan, &usage);
        else
            cadre_scan_skip(scan);
    }
    if (!scan->failed && (usage.input_tokens != 0 || usage.output_tokens != 0))
        cadre_sink_usage(sink, &usage);
}

static void read_reason(cadre_scan *scan, response_fields *out)
{
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "reason"))
            cadre_scan_string(scan, &out->reason);
        else
            cadre_scan_skip(scan);
    }
}

// False: it is no object.
static bool read_response_fields(cadre_scan *scan, cadre_sink *sink,
                                 response_fields *out)
{
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return false;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "status"))
            cadre_scan_string(scan, &out->status);
        else if (cadre_scan_is(key, "incomplete_details"))
            read_reason(scan, out);
        else if (cadre_scan_is(key, "usage"))
            read_usage(scan, sink);
        else if (cadre_scan_is(key, "output"))
            bookmark(scan, &out->output, &out->has_output);
        else if (cadre_scan_is(key, "error"))
            bookmark(scan, &out->error, &out->has_error);
        else
            cadre_scan_skip(scan);
    }
    return !scan->failed;
}

// A server may tell all at its end only.
static void read_output(cdr_responses_answer *to, const response_fields *response)
{
    cadre_scan output = response->output;
    if (to->reader->has_any || !response->has_output || !cadre_scan_array(&output))
        return;
    for (int64_t i = 0; cadre_scan_item(&output) && to->status == CADRE_OK; i++)
        cdr_responses_read_item(to, &output, i, true);
}

static void fail_response(cdr_responses_answer *to, response_fields *response)
{
    if (response->has_error)
        to->status = cadre_fail_error(to->err, 200, &response->error);
    else
        to->status = cadre_fail_http(to->err, 200, "server_error",
                                     "the provider broke off the answer");
}

static cadre_finish finish_of(const response_fields *response)
{
    if (!cadre_scan_is(response->status, "incomplete"))
        return CADRE_FINISH_STOP;
    return cadre_scan_is(response->reason, "content_filter")
               ? CADRE_FINISH_CONTENT_FILTER
               : CADRE_FINISH_LENGTH;
}

static void end_response(cdr_responses_answer *to, cadre_scan *scan)
{
    response_fields response = {.has_output = false};
    if (!read_response_fields(scan, to->sink, &response))
        return;
    if (cadre_scan_is(response.status, "failed") ||
        cadre_scan_is(response.status, "cancelled")) {
        fail_response(to, &response);
        return;
    }
    read_output(to, &response);
    if (to->status != CADRE_OK)
        return;
    cadre_sink_finish(to->sink, finish_of(&response));
    cadre_sink_end(to->sink);
}

static void add_delta(cdr_responses_answer *to, const event_fields *event,
                      const char *of)
{
    static const char summary_break[] = "\\n\\n";
    cadre_scan_text text = event->delta;
    if (strcmp(of, "output_text.delta") == 0 || strcmp(of, "refusal.delta") == 0) {
        to->reader->has_text = true;
        cdr_responses_add_text(to, text);
    } else if (strcmp(of, "function_call_arguments.delta") == 0) {
        cdr_responses_add_arguments(to, event->output_index, text);
    } else if (strcmp(of, "reasoning_summary_text.delta") == 0 ||
               strcmp(of, "reasoning_text.delta") == 0) {
        cdr_responses_add_reasoning(to, text);
    } else if (strcmp(of, "reasoning_summary_part.added") == 0 &&
               to->reader->has_reasoning && event->part_index > 0) {
        cdr_responses_add_reasoning(
            to, (cadre_scan_text){summary_break, sizeof(summary_break) - 1, true});
    }
}

static void read_named(cdr_responses_answer *to, event_fields *event, const char *of)
{
    bool is_done = strcmp(of, "output_item.done") == 0;
    if (is_done || strcmp(of, "output_item.added") == 0) {
        if (event->has_item)
            cdr_responses_read_item(to, &event->item, event->output_index, is_done);
    } else if (strcmp(of, "completed") == 0 || strcmp(of, "incomplete") == 0 ||
               strcmp(of, "failed") == 0) {
        if (event->has_response)
            end_response(to, &event->response);
    } else {
        add_delta(to, event, of);
    }
}

static cadre_status read_event(cdr_responses_answer *to, cadre_scan *scan)
{
    static const char prefix[] = "response.";
    event_fields event = {.output_index = -1};
    char name[64];
    cadre_scan start = *scan;
    if (cadre_scan_object(scan))
        read_event_fields(scan, &event);
    if (!cadre_scan_is_done(scan))
        return CADRE_OK; // told by who called
    cadre_scan_copy(event.type, name, sizeof(name));
    if (strcmp(name, "error") == 0 || (name[0] == '\0' && event.has_error))
        return cadre_fail_error(to->err, 200, event.has_error ? &event.error : &start);
    if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
        read_named(to, &event, name + sizeof(prefix) - 1);
    return to->status;
}

cadre_status cdr_responses_event(const void *state, void *reader,
                                 const cadre_sse_event *event, cadre_sink *sink,
                                 cadre_error *err)
{
    cdr_responses_answer to = {.reader = reader, .sink = sink, .err = err};
    cadre_scan scan;
    (void)state;
    // The type stands in the data too.
    const char *data = NULL;
    size_t len = 0;
    if (!cadre_sse_event_data(event, &data, &len))
        return CADRE_OK;
    if (cadre_sse_data_is_done(data, len)) {
        cadre_sink_end(sink);
        return CADRE_OK;
    }
    cadre_scan_init(&scan, data, len);
    if (cadre_scan_peek(&scan) != CADRE_SCAN_OBJECT)
        return cadre_fail_event(err, data, len);
    cadre_status status = read_event(&to, &scan);
    if (status == CADRE_OK && !cadre_scan_is_done(&scan))
        status = cadre_fail_event(err, data, len);
    return status;
}

// A whole response, where a server does not stream.
static cadre_status read_body(cdr_responses_answer *to, const char *data, size_t len)
{
    response_fields response = {.has_output = false};
    cadre_scan scan;
    cadre_scan_init(&scan, data, len);
    bool is_read = read_response_fields(&scan, to->sink, &response);
    bool is_whole = is_read && cadre_scan_is_done(&scan);
    if (is_whole && response.has_error && !response.has_output)
        return cadre_fail_error(to->err, 200, &response.error);
    if (!is_whole || !response.has_output)
        return cadre_fail_answer(to->err, "a response", &scan, data, len);
    cadre_scan_init(&scan, data, len);
    end_response(to, &scan);
    return to->status;
}

cadre_status cdr_responses_body(const void *state, const cadre_http_body *body,
                                cadre_sink *sink, cadre_error *err)
{
    const cdr_responses_model *model = state;
    cdr_responses_reader reader = {.has_any = false};
    cdr_responses_answer to = {.reader = &reader, .sink = sink, .err = err};
    if (body->status >= 300)
        return cadre_fail_body(err, body->status, model->endpoint.key_env, body->data,
                               body->len);
    return read_body(&to, body->data, body->len);
}
