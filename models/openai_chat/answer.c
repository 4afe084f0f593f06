// From the events of a chat completion to the pieces of an answer.
//
// Nothing is built: a scanner goes over each event once. Servers disagree about nearly
// every field, so each is taken where it has a type that makes sense, and skipped where
// not. What decides is written at the place.
#include "openai_chat.h"

#include <stdio.h>

// What one choice holds, where the order of its keys must not matter.
typedef struct choice {
    int64_t index;                    // -1: none
    cadre_scan delta, message, error; // bookmarks
    bool has_delta, has_message, has_error;
    cadre_scan_text finish; // empty: none
} choice;

// What one event, or a body, holds.
typedef struct chunk {
    cdr_openai_reader *reader;
    cadre_sink *sink;
    cadre_error *err;
    cadre_status status;
    cadre_scan error; // a bookmark
    bool has_error;
    bool has_choices, has_message;
    cadre_scan_text finish; // of the choice that is the answer
} chunk;

// Takes a value for later. False: it is of another type.
static bool bookmark(cadre_scan *scan, cadre_scan_type type, cadre_scan *out)
{
    bool is_it = cadre_scan_peek(scan) == type;
    *out = *scan;
    cadre_scan_skip(scan);
    return is_it;
}

static void read_usage_details(cadre_scan *scan, cadre_usage *usage, cadre_sink *sink)
{
    int64_t n_written;
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "cached_tokens"))
            cadre_scan_integer(scan, &usage->cached_input_tokens);
        else if (cadre_scan_is(key, "cache_write_tokens")) { // OpenRouter
            if (cadre_scan_integer(scan, &n_written))
                cadre_sink_cache_written(sink, n_written);
        } else if (cadre_scan_is(key, "reasoning_tokens"))
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
        if (cadre_scan_is(key, "prompt_tokens") || cadre_scan_is(key, "input_tokens"))
            cadre_scan_integer(scan, &usage.input_tokens);
        else if (cadre_scan_is(key, "completion_tokens") ||
                 cadre_scan_is(key, "output_tokens"))
            cadre_scan_integer(scan, &usage.output_tokens);
        else if (cadre_scan_is(key, "total_tokens"))
            cadre_scan_integer(scan, &total);
        else if (cadre_scan_is(key, "prompt_cache_hit_tokens") || // DeepSeek
                 cadre_scan_is(key, "cached_tokens"))             // Moonshot
            cadre_scan_integer(scan, &usage.cached_input_tokens);
        else if (cadre_scan_is(key, "prompt_tokens_details") ||
                 cadre_scan_is(key, "completion_tokens_details"))
            read_usage_details(scan, &usage, sink);
        else
            cadre_scan_skip(scan);
    }
    // One that counts nothing tells nothing; it may follow one that does.
    if (!scan->failed && (usage.input_tokens != 0 || usage.output_tokens != 0))
        cadre_sink_usage_of(sink, &usage, total);
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

// Writes a word in small letters; a longer one is cut.
static const char *to_word(cadre_scan_text text, char *word, size_t size)
{
    cadre_scan_copy(text, word, size);
    for (char *at = word; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    return word;
}

// What a finish reason means; CADRE_FINISH_NONE: the server broke the answer off.
static cadre_finish finish_of(const char *word)
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
        {"max_output_tokens", CADRE_FINISH_LENGTH},
        {"model_length", CADRE_FINISH_LENGTH},                  // Mistral
        {"model_context_window_exceeded", CADRE_FINISH_LENGTH}, // Z.ai, Anthropic
        {"content_filter", CADRE_FINISH_CONTENT_FILTER},
        {"sensitive", CADRE_FINISH_CONTENT_FILTER}, // Z.ai
        {"safety", CADRE_FINISH_CONTENT_FILTER},    // Gemini, and the next three
        {"recitation", CADRE_FINISH_CONTENT_FILTER},
        {"prohibited_content", CADRE_FINISH_CONTENT_FILTER},
        {"blocklist", CADRE_FINISH_CONTENT_FILTER},
        {"guardrail_intervened", CADRE_FINISH_CONTENT_FILTER}, // Bedrock
        {"refusal", CADRE_FINISH_CONTENT_FILTER},              // Anthropic
        {"error", CADRE_FINISH_NONE},                          // OpenRouter
        {"network_error", CADRE_FINISH_NONE},                  // Z.ai
        {"insufficient_system_resource", CADRE_FINISH_NONE},   // DeepSeek
        {"engine_overloaded", CADRE_FINISH_NONE},              // Moonshot
        {"malformed_function_call", CADRE_FINISH_NONE},        // Gemini
        {"abort", CADRE_FINISH_NONE},                          // vLLM, SGLang
        {"cancelled", CADRE_FINISH_NONE},
        {"timeout", CADRE_FINISH_NONE},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(word, words[i].word) == 0)
            return words[i].finish;
    return CADRE_FINISH_STOP; // "eos", "end_turn", "unknown", ...
}

// Some servers send "" or "null" with every piece.
static void read_finish(chunk *to)
{
    char word[64];
    char message[128];
    if (to->finish.len == 0 || cadre_scan_is(to->finish, "null"))
        return;
    cadre_finish finish = finish_of(to_word(to->finish, word, sizeof(word)));
    if (finish == CADRE_FINISH_NONE) {
        (void)snprintf(message, sizeof(message),
                       "the provider broke off the answer with finish reason '%s'",
                       word);
        to->status = cadre_fail_http(to->err, 0, word, message);
        return;
    }
    cadre_sink_finish(to->sink, finish);
    to->reader->has_finish = true;
}

static void read_choice_fields(cadre_scan *scan, cadre_sink *sink, choice *out)
{
    cadre_scan_text key;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "index"))
            cadre_scan_integer(scan, &out->index);
        else if (cadre_scan_is(key, "delta"))
            out->has_delta = bookmark(scan, CADRE_SCAN_OBJECT, &out->delta);
        else if (cadre_scan_is(key, "message"))
            out->has_message = bookmark(scan, CADRE_SCAN_OBJECT, &out->message);
        else if (cadre_scan_is(key, "finish_reason"))
            cadre_scan_string(scan, &out->finish);
        else if (cadre_scan_is(key, "error")) // OpenRouter
            out->has_error = cadre_scan_error(scan, &out->error);
        else if (cadre_scan_is(key, "usage")) // Moonshot
            read_usage(scan, sink);
        else
            cadre_scan_skip(scan);
    }
}

// Gateways send the whole message beside the last delta, or in its place.
static void take_choice(chunk *to, choice *found)
{
    if (found->has_delta)
        to->status =
            cdr_openai_read_delta(&found->delta, to->reader, to->sink, to->err);
    if (found->has_message && to->status == CADRE_OK)
        to->status =
            cdr_openai_read_message(&found->message, to->reader, to->sink, to->err);
    to->has_message = to->has_message || found->has_message;
    if (found->finish.len > 0)
        to->finish = found->finish;
    if (found->has_error && !to->has_error) {
        to->error = found->error;
        to->has_error = true;
    }
}

static void read_choice(cadre_scan *scan, chunk *to)
{
    choice found = {.index = -1};
    if (!cadre_scan_object(scan))
        return;
    read_choice_fields(scan, to->sink, &found);
    bool is_other = found.index >= 0 && found.index != to->reader->choice - 1;
    if (!scan->failed && to->status == CADRE_OK && !is_other)
        take_choice(to, &found);
}

// One answer is asked for. Where there are several, or its number is not 0, it is the
// lowest of those that come first.
static void find_choice(cadre_scan scan, cdr_openai_reader *reader)
{
    int64_t lowest = INT64_MAX - 1;
    cadre_scan_text key;
    if (!cadre_scan_array(&scan))
        return;
    while (cadre_scan_item(&scan)) {
        int64_t index = 0;
        if (!cadre_scan_object(&scan))
            continue;
        while (cadre_scan_key(&scan, &key))
            if (!cadre_scan_is(key, "index"))
                cadre_scan_skip(&scan);
            else if (!cadre_scan_integer(&scan, &index))
                index = 0;
        if (index >= 0 && index < lowest)
            lowest = index;
        reader->choice = lowest + 1;
    }
}

static void read_choices(cadre_scan *scan, chunk *to)
{
    if (to->reader->choice == 0)
        find_choice(*scan, to->reader);
    if (!cadre_scan_array(scan))
        return;
    to->has_choices = true;
    while (cadre_scan_item(scan))
        read_choice(scan, to);
}

static void read_field(cadre_scan *scan, cadre_scan_text key, chunk *to)
{
    if (cadre_scan_is(key, "choices"))
        read_choices(scan, to);
    else if (cadre_scan_is(key, "usage"))
        read_usage(scan, to->sink);
    else if (cadre_scan_is(key, "error"))
        to->has_error = cadre_scan_error(scan, &to->error) || to->has_error;
    else if (cadre_scan_is(key, "x_groq"))
        read_groq(scan, to->sink);
    else
        cadre_scan_skip(scan);
}

static cadre_status read_chunk(cadre_scan *scan, chunk *to)
{
    cadre_scan start = *scan;
    cadre_scan_text key;
    if (!to->reader->has_begun)
        cadre_sink_split_thinking(to->sink, CDR_OPENAI_IN_CONTENT);
    to->reader->has_begun = true;
    if (cadre_scan_object(scan))
        while (to->status == CADRE_OK && cadre_scan_key(scan, &key))
            read_field(scan, key, to);
    if (to->status != CADRE_OK || scan->failed)
        return to->status;
    if (to->has_error)
        to->status = cadre_fail_error(to->err, 200, &to->error);
    else if (!to->has_choices && cadre_scan_says_error(&start))
        to->status = cadre_fail_error(to->err, 200, &start);
    else
        read_finish(to);
    return to->status;
}

static cadre_status fail_body(const cdr_openai_model *model, int http_status,
                              const char *data, size_t len, cadre_error *err)
{
    return cadre_fail_body(err, http_status, model->endpoint.key_env, data, len);
}

// Only errors come in one.
static bool is_list_of_objects(cadre_scan scan)
{
    return cadre_scan_peek(&scan) == CADRE_SCAN_ARRAY && cadre_scan_array(&scan) &&
           cadre_scan_item(&scan) && cadre_scan_peek(&scan) == CADRE_SCAN_OBJECT;
}

cadre_status cdr_openai_event(const void *state, void *reader,
                              const cadre_sse_event *event, cadre_sink *sink,
                              cadre_error *err)
{
    chunk to = {.reader = reader, .sink = sink, .err = err};
    cadre_scan scan;
    const char *data = NULL;
    size_t len = 0;
    if (!cadre_sse_event_data(event, &data, &len))
        return CADRE_OK;
    if (cadre_sse_data_is_done(data, len)) {
        to.reader->has_finish = true;
        cadre_sink_end_finished(sink);
        return CADRE_OK;
    }
    cadre_scan_init(&scan, data, len);
    if (strcmp(event->type, "error") == 0 || is_list_of_objects(scan))
        return fail_body(state, 200, data, len, err);
    if (*data == '{' && read_chunk(&scan, &to) != CADRE_OK)
        return to.status;
    // Behind a finish reason nothing is missing.
    if (cadre_scan_is_done(&scan) || to.reader->has_finish)
        return CADRE_OK;
    return cadre_fail_event(err, data, len);
}

cadre_status cdr_openai_body(const void *state, const cadre_http_body *body,
                             cadre_sink *sink, cadre_error *err)
{
    cdr_openai_reader reader = {.choice = 0};
    chunk to = {.reader = &reader, .sink = sink, .err = err};
    cadre_scan scan;
    cadre_scan_init(&scan, body->data, body->len);
    if (body->status >= 300 || is_list_of_objects(scan))
        return fail_body(state, body->status, body->data, body->len, err);
    if (read_chunk(&scan, &to) != CADRE_OK)
        return to.status;
    if (!cadre_scan_is_done(&scan) || !to.has_message)
        return cadre_fail_answer(err, "a chat completion", &scan, body->data,
                                 body->len);
    if (!reader.has_finish) // whole JSON is a whole answer
        cadre_sink_finish(sink, CADRE_FINISH_STOP);
    cadre_sink_end(sink);
    return CADRE_OK;
}
