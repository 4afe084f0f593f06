// From the chunks of a generated content to the pieces of an answer.
//
// Each event is a whole response with the parts that are new. There is no end marker:
// the stream ends with the connection, and the finish reason says whether it is whole.
#include "gemini.h"

#include <string.h>

#define MAX_REASON 64
#define MAX_WHY 200 // bytes of what is said about a reason

// What a chunk says of the end, which counts when all of it has been read.
typedef struct chunk {
    const cdr_gemini_reading *to;
    cadre_status status;
    cadre_scan_text finish;  // empty: none
    cadre_scan_text blocked; // why the request was; empty: it was not
    cadre_scan_text why;
} chunk;

typedef struct candidate {
    int64_t index;
    cadre_scan content; // a bookmark
    bool has_content;
    cadre_scan_text finish, why;
} candidate;

static const cadre_scan_text none = {"", 0, false};

// --- Usage ---

// Stays a number, whatever a server says; the sink judges what is plausible.
static int64_t sum(int64_t one, int64_t other)
{
    return one < INT64_MAX - other ? one + other : INT64_MAX;
}

// The count that a key stands for; NULL: none.
static int64_t *count_of(cdr_gemini_reader *reader, cadre_scan_text key)
{
    static const struct {
        const char *key;
        size_t at;
    } counts[] = {
        {"promptTokenCount", offsetof(cdr_gemini_reader, prompt)},
        {"toolUsePromptTokenCount", offsetof(cdr_gemini_reader, tools)},
        {"candidatesTokenCount", offsetof(cdr_gemini_reader, said)},
        {"thoughtsTokenCount", offsetof(cdr_gemini_reader, thought)},
        {"cachedContentTokenCount", offsetof(cdr_gemini_reader, cached)},
        {"totalTokenCount", offsetof(cdr_gemini_reader, total)},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (cadre_scan_is(key, counts[i].key))
            return (int64_t *)(void *)((char *)reader + counts[i].at);
    return NULL;
}

// Each chunk counts from the start, but not all of them count everything: what one does
// not say, or says as 0, stays as it was.
static void read_usage(cadre_scan *scan, const cdr_gemini_reading *to)
{
    cdr_gemini_reader *reader = to->reader;
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        int64_t number = 0;
        int64_t *count = count_of(reader, key);
        if (!count)
            cadre_scan_skip(scan);
        else if (cadre_scan_integer(scan, &number) && number > 0)
            *count = number;
    }
    int64_t input = sum(reader->prompt, reader->tools);
    int64_t output = sum(reader->said, reader->thought);
    // Where nobody says what the candidates took, it is the rest.
    if (reader->said == 0 && reader->total > input)
        output = reader->total - input;
    const cadre_usage usage = {.input_tokens = input,
                               .output_tokens = output,
                               .cached_input_tokens = reader->cached,
                               .reasoning_tokens = reader->thought};
    if (!scan->failed)
        cadre_sink_usage(to->sink, &usage);
}

// --- The end ---

typedef enum outcome {
    OUTCOME_STOP,
    OUTCOME_LENGTH,
    OUTCOME_FILTERED,
    OUTCOME_CALL,    // of a tool that there is not
    OUTCOME_REFUSED, // the same request would fail again
    OUTCOME_BAD      // the model often does better the second time
} outcome;

// What is not among them is as bad as OTHER: all the good reasons are here.
static outcome outcome_of(cadre_scan_text reason)
{
    static const struct {
        const char *word;
        outcome outcome;
    } words[] = {
        {"STOP", OUTCOME_STOP},
        {"FUNCTION_CALL", OUTCOME_STOP}, // of servers that speak the same
        {"MAX_TOKENS", OUTCOME_LENGTH},
        {"SAFETY", OUTCOME_FILTERED},
        {"RECITATION", OUTCOME_FILTERED},
        {"BLOCKLIST", OUTCOME_FILTERED},
        {"PROHIBITED_CONTENT", OUTCOME_FILTERED},
        {"SPII", OUTCOME_FILTERED},
        {"LANGUAGE", OUTCOME_FILTERED},
        {"MODEL_ARMOR", OUTCOME_FILTERED},
        {"IMAGE_SAFETY", OUTCOME_FILTERED},
        {"IMAGE_RECITATION", OUTCOME_FILTERED},
        {"IMAGE_PROHIBITED_CONTENT", OUTCOME_FILTERED},
        {"UNEXPECTED_TOOL_CALL", OUTCOME_CALL},
        {"MISSING_THOUGHT_SIGNATURE", OUTCOME_REFUSED},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (cadre_scan_is(reason, words[i].word))
            return words[i].outcome;
    return OUTCOME_BAD;
}

static cadre_status fail_stopped(const chunk *from, cadre_error_class error_class,
                                 bool retryable, const char *what)
{
    char reason[MAX_REASON], why[MAX_WHY];
    cadre_scan_copy(from->blocked.len > 0 ? from->blocked : from->finish, reason,
                    sizeof(reason));
    cadre_scan_copy(from->why, why, sizeof(why));
    return cadre_fail_class(from->to->err, CADRE_EIO, error_class, retryable,
                            "%s (%s%s%s)", what, reason, why[0] ? ": " : "", why);
}

static cadre_status finish(const chunk *from)
{
    const cdr_gemini_reading *to = from->to;
    if (from->blocked.len > 0)
        return fail_stopped(from, CADRE_CLASS_CONTENT_FILTER, false,
                            "the provider's content filter stopped the request");
    if (from->finish.len == 0 ||
        cadre_scan_is(from->finish, "FINISH_REASON_UNSPECIFIED"))
        return CADRE_OK;
    outcome found = outcome_of(from->finish);
    if (found == OUTCOME_CALL) // when it came, the model is told that there is none
        found = cadre_sink_call_count(to->sink) > 0 ? OUTCOME_STOP : OUTCOME_BAD;
    switch (found) {
    case OUTCOME_FILTERED:
        return fail_stopped(from, CADRE_CLASS_CONTENT_FILTER, false,
                            "the provider's content filter stopped the answer");
    case OUTCOME_REFUSED:
        return fail_stopped(from, CADRE_CLASS_INVALID_REQUEST, false,
                            "the provider refused the request");
    case OUTCOME_CALL:
    case OUTCOME_BAD:
        return fail_stopped(from, CADRE_CLASS_BAD_RESPONSE, true,
                            "the provider broke off the answer");
    case OUTCOME_LENGTH:
        cadre_sink_finish(to->sink, CADRE_FINISH_LENGTH);
        break;
    case OUTCOME_STOP: // also with calls
        cadre_sink_finish(to->sink, CADRE_FINISH_STOP);
        break;
    }
    to->reader->has_finish = true;
    return CADRE_OK;
}

// --- Chunks ---

static void read_content(cadre_scan *scan, chunk *to)
{
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (!cadre_scan_is(key, "parts")) {
            cadre_scan_skip(scan);
        } else if (cadre_scan_array(scan)) {
            while (to->status == CADRE_OK && cadre_scan_item(scan))
                to->status = cdr_gemini_read_part(to->to, scan);
            if (to->status != CADRE_OK)
                return;
        }
    }
}

static void read_candidate(cadre_scan *scan, chunk *to)
{
    candidate found = {.finish = none, .why = none};
    cadre_scan_text key;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "index")) {
            cadre_scan_integer(scan, &found.index);
        } else if (cadre_scan_is(key, "content")) {
            found.has_content = true;
            found.content = *scan;
            cadre_scan_skip(scan);
        } else if (cadre_scan_is(key, "finishReason")) {
            cadre_scan_string(scan, &found.finish);
        } else if (cadre_scan_is(key, "finishMessage")) {
            cadre_scan_string(scan, &found.why);
        } else {
            cadre_scan_skip(scan);
        }
    }
    if (scan->failed || found.index != 0 || to->status != CADRE_OK)
        return;
    if (found.has_content)
        read_content(&found.content, to);
    to->finish = found.finish;
    to->why = found.why;
}

static void read_feedback(cadre_scan *scan, chunk *to)
{
    cadre_scan_text key, text;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (!cadre_scan_string(scan, &text))
            continue;
        if (cadre_scan_is(key, "blockReason") &&
            !cadre_scan_is(text, "BLOCK_REASON_UNSPECIFIED"))
            to->blocked = text;
        else if (cadre_scan_is(key, "blockReasonMessage"))
            to->why = text;
    }
}

static void read_field(cadre_scan *scan, cadre_scan_text key, chunk *to)
{
    if (cadre_scan_is(key, "candidates")) {
        if (cadre_scan_array(scan))
            while (cadre_scan_item(scan))
                read_candidate(scan, to);
    } else if (cadre_scan_is(key, "usageMetadata")) {
        read_usage(scan, to->to);
    } else if (cadre_scan_is(key, "promptFeedback")) {
        read_feedback(scan, to);
    } else if (cadre_scan_is(key, "error") &&
               cadre_scan_peek(scan) != CADRE_SCAN_NULL) {
        to->status = cadre_fail_error(to->to->err, 200, scan);
    } else {
        cadre_scan_skip(scan);
    }
}

static cadre_status read_chunk(cadre_scan *scan, const cdr_gemini_reading *to)
{
    chunk found = {to, CADRE_OK, none, none, none};
    cadre_scan_text key;
    if (cadre_scan_object(scan))
        while (found.status == CADRE_OK && cadre_scan_key(scan, &key))
            read_field(scan, key, &found);
    return found.status == CADRE_OK && !scan->failed ? finish(&found) : found.status;
}

// --- Events and bodies ---

cadre_status cdr_gemini_event(const void *state, void *reader,
                              const cadre_sse_event *event, cadre_sink *sink,
                              cadre_error *err)
{
    const cdr_gemini_model *model = state;
    const cdr_gemini_reading to = {reader, sink, err};
    cadre_scan scan;
    const char *data = NULL;
    size_t len = 0;
    if (!cadre_sse_event_data(event, &data, &len))
        return CADRE_OK;
    if (cadre_sse_data_is_done(data, len)) {
        cadre_sink_end_finished(sink);
        return CADRE_OK;
    }
    cadre_scan_init(&scan, data, len);
    cadre_scan_type found = cadre_scan_peek(&scan);
    if (strcmp(event->type, "error") == 0 || found == CADRE_SCAN_ARRAY)
        return cadre_fail_body(err, 200, model->endpoint.key_env, data, len);
    if (found != CADRE_SCAN_OBJECT)
        return cadre_fail_event(err, data, len);
    cadre_status status = read_chunk(&scan, &to);
    if (status == CADRE_OK && !cadre_scan_is_done(&scan))
        status = cadre_fail_event(err, data, len);
    return status;
}

// One response, or, of a server that does not know alt=sse, a list of chunks.
static cadre_status read_whole(cadre_scan *scan, const cdr_gemini_reading *to)
{
    cadre_status status = CADRE_OK;
    if (cadre_scan_peek(scan) != CADRE_SCAN_ARRAY)
        return read_chunk(scan, to);
    cadre_scan_array(scan);
    while (status == CADRE_OK && cadre_scan_item(scan))
        status = read_chunk(scan, to);
    return status;
}

cadre_status cdr_gemini_body(const void *state, const cadre_http_body *body,
                             cadre_sink *sink, cadre_error *err)
{
    const cdr_gemini_model *model = state;
    cdr_gemini_reader reader = {.has_content = false};
    const cdr_gemini_reading to = {&reader, sink, err};
    cadre_scan scan;
    cadre_scan_init(&scan, body->data, body->len);
    if (body->status >= 300)
        return cadre_fail_body(err, body->status, model->endpoint.key_env, body->data,
                               body->len);
    cadre_status status = read_whole(&scan, &to);
    if (status != CADRE_OK)
        return status;
    if (!cadre_scan_is_done(&scan) || (!reader.has_content && !reader.has_finish))
        return cadre_fail_answer(err, "generated content", &scan, body->data,
                                 body->len);
    cadre_sink_end_finished(sink); // whole JSON is a whole answer
    return CADRE_OK;
}
