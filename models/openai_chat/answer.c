// From the events of a chat completion to the pieces of an answer.
//
// Nothing is built: a scanner goes over each event once. Servers disagree about nearly
// every field, so each is taken where it has a type that makes sense, and skipped where
// not. What decides is written at the place.
#include "openai_chat.h"

// What one choice holds, where the order of its keys must not matter.
typedef struct choice {
    int64_t index;
    bool has_index;
    cadre_scan delta;   // a bookmark
    cadre_scan message; // a bookmark
    bool has_delta, has_message;
    cadre_scan_text finish;
    bool has_finish;
} choice;

typedef struct chunk {
    cdr_openai_reader *reader;
    cadre_sink *sink;
    int http_status;
    cadre_error *err;
    cadre_status status;
    bool is_error_object; // "object": "error"
    bool has_choice;
} chunk;

static bool is_null(cadre_scan *scan)
{
    if (cadre_scan_peek(scan) != CADRE_SCAN_NULL)
        return false;
    cadre_scan_skip(scan);
    return true;
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
        if (cadre_scan_is(key, "prompt_tokens"))
            cadre_scan_integer(scan, &usage.input_tokens);
        else if (cadre_scan_is(key, "completion_tokens"))
            cadre_scan_integer(scan, &usage.output_tokens);
        else if (cadre_scan_is(key, "prompt_cache_hit_tokens") || // DeepSeek
                 cadre_scan_is(key, "cached_tokens"))             // Moonshot
            cadre_scan_integer(scan, &usage.cached_input_tokens);
        else if (cadre_scan_is(key, "prompt_tokens_details") ||
                 cadre_scan_is(key, "completion_tokens_details"))
            read_usage_details(scan, &usage);
        else
            cadre_scan_skip(scan);
    }
    // One that counts nothing tells nothing; it may follow one that does.
    if (!scan->failed && (usage.input_tokens != 0 || usage.output_tokens != 0))
        cadre_sink_usage(sink, &usage);
}

// Groq puts the usage of a stream here.
static void read_groq(cadre_scan *scan, cadre_sink *sink)
{
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "usage"))
            read_usage(scan, sink);
        else
            cadre_scan_skip(scan);
    }
}

// A finish reason that is null or empty is none: some servers send "" with every piece.
static cadre_status read_finish(cadre_scan_text text, chunk *to)
{
    static const struct {
        const char *word;
        cadre_finish finish;
    } words[] = {
        {"tool_calls", CADRE_FINISH_TOOL_CALLS},
        {"function_call", CADRE_FINISH_TOOL_CALLS},
        {"tool_use", CADRE_FINISH_TOOL_CALLS},
        {"length", CADRE_FINISH_LENGTH},
        {"max_tokens", CADRE_FINISH_LENGTH},
        {"model_length", CADRE_FINISH_LENGTH}, // Mistral
        {"content_filter", CADRE_FINISH_CONTENT_FILTER},
        {"safety", CADRE_FINISH_CONTENT_FILTER},
    };
    if (text.len == 0)
        return CADRE_OK;
    if (cadre_scan_is(text, "error")) // OpenRouter, when the error object got lost
        return cadre_fail_http(to->err, to->http_status, "server_error",
                               "the provider broke off the answer with finish reason "
                               "'error'");
    cadre_finish finish = CADRE_FINISH_STOP; // "eos", "end_turn", "unknown", ...
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (cadre_scan_is(text, words[i].word))
            finish = words[i].finish;
    cadre_sink_finish(to->sink, finish);
    to->reader->has_finish = true;
    return CADRE_OK;
}

static void read_choice_fields(cadre_scan *scan, cadre_sink *sink, choice *out)
{
    cadre_scan_text key;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "index")) {
            out->has_index = cadre_scan_integer(scan, &out->index);
        } else if (cadre_scan_is(key, "delta")) {
            out->has_delta = cadre_scan_peek(scan) == CADRE_SCAN_OBJECT;
            out->delta = *scan;
            cadre_scan_skip(scan);
        } else if (cadre_scan_is(key, "message")) {
            out->has_message = cadre_scan_peek(scan) == CADRE_SCAN_OBJECT;
            out->message = *scan;
            cadre_scan_skip(scan);
        } else if (cadre_scan_is(key, "finish_reason")) {
            out->has_finish = cadre_scan_string(scan, &out->finish);
        } else if (cadre_scan_is(key, "usage")) { // Moonshot
            read_usage(scan, sink);
        } else {
            cadre_scan_skip(scan);
        }
    }
}

static void read_choice(cadre_scan *scan, chunk *to)
{
    choice found = {0};
    if (!cadre_scan_object(scan))
        return;
    read_choice_fields(scan, to->sink, &found);
    if (scan->failed || to->status != CADRE_OK || (found.has_index && found.index != 0))
        return;
    // Some gateways send the whole message beside the last delta.
    if (found.has_delta || found.has_message)
        to->status =
            cdr_openai_read_message(found.has_delta ? &found.delta : &found.message,
                                    to->reader, to->sink, to->err);
    to->has_choice = to->has_choice || found.has_message;
    if (to->status == CADRE_OK && found.has_finish)
        to->status = read_finish(found.finish, to);
}

static void read_field(cadre_scan *scan, cadre_scan_text key, chunk *to)
{
    cadre_scan_text text;
    if (cadre_scan_is(key, "choices")) {
        if (cadre_scan_array(scan))
            while (cadre_scan_item(scan))
                read_choice(scan, to);
    } else if (cadre_scan_is(key, "usage")) {
        read_usage(scan, to->sink);
    } else if (cadre_scan_is(key, "error")) {
        if (!is_null(scan) && to->status == CADRE_OK)
            to->status = cadre_fail_error(to->err, to->http_status, scan);
    } else if (cadre_scan_is(key, "object")) {
        to->is_error_object =
            cadre_scan_string(scan, &text) && cadre_scan_is(text, "error");
    } else if (cadre_scan_is(key, "x_groq")) {
        read_groq(scan, to->sink);
    } else {
        cadre_scan_skip(scan);
    }
}

static cadre_status read_chunk(cadre_scan *scan, chunk *to)
{
    cadre_scan start = *scan;
    cadre_scan_text key;
    if (cadre_scan_object(scan))
        while (to->status == CADRE_OK && cadre_scan_key(scan, &key))
            read_field(scan, key, to);
    if (to->status == CADRE_OK && to->is_error_object && !scan->failed)
        to->status = cadre_fail_error(to->err, to->http_status, &start);
    return to->status;
}

static cadre_status read_event(const char *data, size_t len, chunk *to)
{
    cadre_scan scan;
    cadre_scan_init(&scan, data, len);
    if (cadre_scan_peek(&scan) != CADRE_SCAN_OBJECT)
        return cadre_fail_event(to->err, data, len);
    cadre_status status = read_chunk(&scan, to);
    if (status == CADRE_OK && !cadre_scan_is_done(&scan))
        status = cadre_fail_event(to->err, data, len);
    return status;
}

static cadre_status fail_body(const cdr_openai_model *model, int http_status,
                              const char *data, size_t len, cadre_error *err)
{
    return cadre_fail_body(err, http_status, model->endpoint.key_env, data, len);
}

// The provider's own end. Whoever says it without a finish reason, after text or a
// call, has finished.
static void read_end(cdr_openai_reader *reader, cadre_sink *sink)
{
    if (!reader->has_finish && reader->has_content)
        cadre_sink_finish(sink, CADRE_FINISH_STOP);
    cadre_sink_end(sink);
}

cadre_status cdr_openai_event(const void *state, void *reader,
                              const cadre_sse_event *event, cadre_sink *sink,
                              cadre_error *err)
{
    const char *data = NULL;
    size_t len = 0;
    if (!cadre_sse_event_data(event, &data, &len))
        return CADRE_OK;
    if (len == 6 && memcmp(data, "[DONE]", 6) == 0) {
        read_end(reader, sink);
        return CADRE_OK;
    }
    if (strcmp(event->type, "error") == 0)
        return fail_body(state, 200, data, len, err);
    chunk to = {.reader = reader, .sink = sink, .http_status = 200, .err = err};
    return read_event(data, len, &to);
}

static bool is_list_of_objects(cadre_scan scan)
{
    return cadre_scan_peek(&scan) == CADRE_SCAN_ARRAY && cadre_scan_array(&scan) &&
           cadre_scan_item(&scan) && cadre_scan_peek(&scan) == CADRE_SCAN_OBJECT;
}

cadre_status cdr_openai_body(const void *state, const cadre_http_body *body,
                             cadre_sink *sink, cadre_error *err)
{
    if (body->status >= 300)
        return fail_body(state, body->status, body->data, body->len, err);
    cdr_openai_reader reader = {0};
    chunk to = {.reader = &reader, .sink = sink, .http_status = 200, .err = err};
    cadre_scan scan;
    cadre_scan_init(&scan, body->data, body->len);
    if (is_list_of_objects(scan)) // only errors come in one
        return fail_body(state, 200, body->data, body->len, err);
    if (read_chunk(&scan, &to) != CADRE_OK)
        return to.status;
    if (!cadre_scan_is_done(&scan) || !to.has_choice)
        return cadre_fail_answer(err, "a chat completion", &scan, body->data,
                                 body->len);
    if (!reader.has_finish) // whole JSON is a whole answer
        cadre_sink_finish(sink, CADRE_FINISH_STOP);
    cadre_sink_end(sink);
    return CADRE_OK;
}
