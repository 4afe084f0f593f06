// From the events of a response to the pieces of an answer.
//
// Deltas tell a text first; the whole of it, in an event of its own, in the item and in
// the response, is the same data and counts only where it was not told yet. One of the
// events of `ends` is the end. Events and items that nobody knows are passed by.
#include "openai_responses.h"

// The fields of an event, whose order must not matter; bookmarks of what is deep.
typedef struct event_fields {
    cadre_scan start; // all of it
    cadre_scan_text type, delta, item_id;
    cadre_scan_text whole; // `text`, `refusal` or `arguments`
    int64_t output_index;  // -1: none
    int64_t part_index;    // of a summary; 0: none, or the first
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

// One that no item can have counts as none.
static void read_place(cadre_scan *scan, int64_t *out)
{
    int64_t place = -1;
    cadre_scan_integer(scan, &place);
    if (place >= 0 && place <= INT32_MAX)
        *out = place;
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
        else if (cadre_scan_is(key, "item_id"))
            cadre_scan_string(scan, &out->item_id);
        else if (cadre_scan_is(key, "output_index"))
            read_place(scan, &out->output_index);
        else if (cadre_scan_is(key, "summary_index"))
            cadre_scan_integer(scan, &out->part_index);
        else if (cadre_scan_is(key, "item"))
            bookmark(scan, &out->item, &out->has_item);
        else if (cadre_scan_is(key, "response"))
            bookmark(scan, &out->response, &out->has_response);
        else if (cadre_scan_is(key, "error"))
            out->has_error = cadre_scan_error(scan, &out->error);
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
    int64_t total = 0;
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "input_tokens"))
            cadre_scan_integer(scan, &usage.input_tokens);
        else if (cadre_scan_is(key, "output_tokens"))
            cadre_scan_integer(scan, &usage.output_tokens);
        else if (cadre_scan_is(key, "total_tokens"))
            cadre_scan_integer(scan, &total);
        else if (cadre_scan_is(key, "input_tokens_details") ||
                 cadre_scan_is(key, "output_tokens_details"))
            read_usage_details(scan, &usage);
        else
            cadre_scan_skip(scan);
    }
    if (!scan->failed && (usage.input_tokens != 0 || usage.output_tokens != 0))
        cadre_sink_usage_of(sink, &usage, total);
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
            out->has_error = cadre_scan_error(scan, &out->error);
        else
            cadre_scan_skip(scan);
    }
    return !scan->failed;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static void fail_response(cdr_responses_answer *to, event_fields *event,
                          response_fields *response)
{
    if (response->has_error)
        to->status = cadre_fail_error(to->err, 200, &response->error);
    else if (event->has_error)
        to->status = cadre_fail_error(to->err, 200, &event->error);
    else if (cadre_scan_says_error(&event->start))
        to->status = cadre_fail_error(to->err, 200, &event->start);
    else
        to->status = cadre_fail_http(to->err, 0, "server_error",
                                     "the provider broke off the answer");
}

// Takes what a response says at its end; `how` is the status that the event tells,
// which counts where the response has none.
static void end_response(cdr_responses_answer *to, event_fields *event, const char *how)
{
    static const char *const failures[] = {"failed", "cancelled", "error", NULL};
    response_fields response = {.has_output = false};
    char status[16];
    if (event->has_response &&
        !read_response_fields(&event->response, to->sink, &response))
        return;
    cadre_scan_copy(response.status, status, sizeof(status));
    if (is_one_of(status, failures) || is_one_of(how, failures)) {
        fail_response(to, event, &response);
        return;
    }
    if (response.has_output)
        cdr_responses_read_output(to, &response.output);
    if (to->status != CADRE_OK)
        return;
    bool is_cut = strcmp(status[0] ? status : how, "incomplete") == 0;
    if (!is_cut)
        cadre_sink_finish(to->sink, CADRE_FINISH_STOP);
    else if (cadre_scan_is(response.reason, "content_filter"))
        cadre_sink_finish(to->sink, CADRE_FINISH_CONTENT_FILTER);
    else
        cadre_sink_finish(to->sink, CADRE_FINISH_LENGTH);
    to->reader->has_ended = true;
    cadre_sink_end(to->sink);
}

// --- Events ---

static const char *const text_deltas[] = {"output_text.delta", "refusal.delta", NULL};
static const char *const text_wholes[] = {"output_text.done", "refusal.done", NULL};
static const char *const reasoning_deltas[] = {
    "reasoning_summary_text.delta", "reasoning_text.delta", "reasoning.delta", NULL};
static const char *const reasoning_wholes[] = {
    "reasoning_summary_text.done", "reasoning_text.done", "reasoning.done", NULL};
static const char *const ends[] = {"completed", "incomplete", "failed", "cancelled",
                                   "error",     "done",       NULL};

static void add_whole_text(cdr_responses_answer *to, cadre_scan_text text)
{
    if (!to->reader->part_has_text)
        cdr_responses_add_text(to, text);
    to->reader->part_has_text = false;
}

static void add_whole_reasoning(cdr_responses_answer *to, cadre_scan_text text)
{
    if (!to->reader->part_has_reasoning)
        cdr_responses_add_reasoning(to, text);
    to->reader->part_has_reasoning = false;
}

static void add_piece(cdr_responses_answer *to, const event_fields *event,
                      const char *of)
{
    static const cadre_scan_text paragraph = {"\\n\\n", 4, true};
    if (is_one_of(of, text_deltas))
        cdr_responses_add_text(to, event->delta);
    else if (is_one_of(of, text_wholes))
        add_whole_text(to, event->whole);
    else if (strcmp(of, "function_call_arguments.delta") == 0)
        cdr_responses_add_arguments(to, event->item_id, event->output_index,
                                    event->delta, false);
    else if (strcmp(of, "function_call_arguments.done") == 0)
        cdr_responses_add_arguments(to, event->item_id, event->output_index,
                                    event->whole, true);
    else if (is_one_of(of, reasoning_deltas))
        cdr_responses_add_reasoning(to, event->delta);
    else if (is_one_of(of, reasoning_wholes))
        add_whole_reasoning(to, event->whole);
    else if (strcmp(of, "reasoning_summary_part.added") == 0 && event->part_index > 0 &&
             to->reader->has_reasoning)
        cdr_responses_add_reasoning(to, paragraph);
}

static void read_named(cdr_responses_answer *to, event_fields *event, const char *of)
{
    bool is_done = strcmp(of, "output_item.done") == 0;
    if (is_done || strcmp(of, "output_item.added") == 0) {
        if (event->has_item)
            cdr_responses_read_item(to, &event->item, event->output_index,
                                    is_done ? CDR_RESPONSES_DONE
                                            : CDR_RESPONSES_BEGINS);
    } else if (is_one_of(of, ends)) {
        end_response(to, event, of);
    } else {
        add_piece(to, event, of);
    }
}

// The type stands in the data; of servers that leave it out it is the event's name.
static cadre_status read_event(cdr_responses_answer *to, cadre_scan *scan,
                               const char *event_name)
{
    static const char prefix[] = "response.";
    event_fields event = {.start = *scan, .output_index = -1};
    char name[64];
    if (cadre_scan_object(scan))
        read_event_fields(scan, &event);
    if (!cadre_scan_is_done(scan))
        return CADRE_OK; // told by who called
    cadre_scan_copy(event.type, name, sizeof(name));
    const char *type = name[0] ? name : event_name;
    if (strncmp(type, prefix, sizeof(prefix) - 1) == 0)
        read_named(to, &event, type + sizeof(prefix) - 1);
    else if (event.has_error)
        to->status = cadre_fail_error(to->err, 200, &event.error);
    else if (strcmp(type, "error") == 0 || cadre_scan_says_error(&event.start))
        to->status = cadre_fail_error(to->err, 200, &event.start);
    return to->status;
}

// Only errors come in one.
static bool is_list_of_objects(cadre_scan scan)
{
    return cadre_scan_peek(&scan) == CADRE_SCAN_ARRAY && cadre_scan_array(&scan) &&
           cadre_scan_item(&scan) && cadre_scan_peek(&scan) == CADRE_SCAN_OBJECT;
}

cadre_status cdr_responses_event(const void *state, void *reader,
                                 const cadre_sse_event *event, cadre_sink *sink,
                                 cadre_error *err)
{
    const cdr_responses_model *model = state;
    cdr_responses_answer to = {.reader = reader, .sink = sink, .err = err};
    cadre_scan scan;
    const char *data = NULL;
    size_t len = 0;
    if (!cadre_sse_event_data(event, &data, &len) || to.reader->has_ended)
        return CADRE_OK;
    if (cadre_sse_data_is_done(data, len)) {
        to.reader->has_ended = true;
        cadre_sink_end_finished(sink);
        return CADRE_OK;
    }
    cadre_scan_init(&scan, data, len);
    if (is_list_of_objects(scan) || (*data != '{' && strcmp(event->type, "error") == 0))
        return cadre_fail_body(err, 200, model->endpoint.key_env, data, len);
    if (*data != '{')
        return cadre_fail_event(err, data, len);
    cadre_status status = read_event(&to, &scan, event->type);
    if (status == CADRE_OK && !cadre_scan_is_done(&scan))
        status = cadre_fail_event(err, data, len);
    return status;
}

// A whole response, where a server does not stream.
static cadre_status read_body(cdr_responses_answer *to, const char *data, size_t len)
{
    response_fields response = {.has_output = false};
    event_fields event = {.has_response = true};
    cadre_scan scan;
    cadre_scan_init(&event.start, data, len);
    event.response = event.start;
    scan = event.start;
    bool is_read = read_response_fields(&scan, to->sink, &response);
    bool is_whole = is_read && cadre_scan_is_done(&scan);
    if (is_whole && response.has_error && !response.has_output)
        return cadre_fail_error(to->err, 200, &response.error);
    if (is_whole && !response.has_output && cadre_scan_says_error(&event.start))
        return cadre_fail_error(to->err, 200, &event.start);
    if (!is_whole || !response.has_output)
        return cadre_fail_answer(to->err, "a response", &scan, data, len);
    end_response(to, &event, "completed");
    return to->status;
}

cadre_status cdr_responses_body(const void *state, const cadre_http_body *body,
                                cadre_sink *sink, cadre_error *err)
{
    const cdr_responses_model *model = state;
    cdr_responses_reader reader = {.has_text = false};
    cdr_responses_answer to = {.reader = &reader, .sink = sink, .err = err};
    cadre_scan scan;
    cadre_scan_init(&scan, body->data, body->len);
    if (body->status >= 300 || is_list_of_objects(scan))
        return cadre_fail_body(err, body->status, model->endpoint.key_env, body->data,
                               body->len);
    return read_body(&to, body->data, body->len);
}
