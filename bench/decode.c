// decode: from the bytes of an event stream with small pieces of text to the answer:
// framing, the wire format's reader, the sink. Every wire format of the table that has
// a sample here; the floor is jansson, which parses each event and looks at nothing.
#include "bench.h"

#include "net/answer.h"
#include "net/sse.h"
#include "team/kinds.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_DELTAS = 10000, // of one stream
    ROUNDS = 15,
    READ_BYTES = 2048 // what the network's transfers are given at once
};

// A stream as the provider writes it; each delta adds `piece` to the answer.
typedef struct sample {
    const char *provider, *what;
    const char *head, *delta, *tail;
    const char *piece;
    bool is_call; // the piece belongs to a call's arguments
} sample;

#define CHAT                                                                           \
    "{\"id\":\"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG\",\"object\":"                   \
    "\"chat.completion.chunk\",\"created\":1741570283,\"model\":\"gpt-4o\","           \
    "\"service_tier\":\"default\",\"system_fingerprint\":\"fp_fc9f1d7035\","           \
    "\"choices\":[{\"index\":0,\"delta\":"
#define CHAT_REST ",\"logprobs\":null,\"finish_reason\":null}]}\n\n"

static const sample samples[] = {
    {.provider = "openai",
     .what = "text",
     .head = "data: " CHAT "{\"role\":\"assistant\",\"content\":\"\"}" CHAT_REST,
     .delta = "data: " CHAT "{\"content\":\" word\"}" CHAT_REST,
     .tail =
         "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
         "\n\ndata: [DONE]\n\n",
     .piece = " word"},
    {.provider = "openai",
     .what = "a call",
     .head = "data: " CHAT "{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":"
             "\"function\",\"function\":{\"name\":\"note\",\"arguments\":\"\"}}]"
             "}" CHAT_REST,
     .delta = "data: " CHAT "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"
              "\" \\\"a\\\"\"}}]}" CHAT_REST,
     .tail = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
             "\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
     .piece = " \"a\"",
     .is_call = true},
    {.provider = "anthropic",
     .what = "text",
     .head =
         "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{"
         "\"id\":\"msg_01\",\"type\":\"message\",\"role\":\"assistant\",\"content\":"
         "[],\"model\":\"claude\",\"stop_reason\":null,\"usage\":{\"input_tokens\":"
         "10,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":"
         "\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
         "\"text\":\"\"}}\n\n",
     .delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
              "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n",
     .tail =
         "event: content_block_stop\ndata: {\"type\":\"content_block_stop\","
         "\"index\":0}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\","
         "\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":"
         "{\"output_tokens\":15}}\n\nevent: message_stop\ndata: {\"type\":"
         "\"message_stop\"}\n\n",
     .piece = " word"},
    {.provider = "gemini",
     .what = "text",
     .head = "",
     .delta = "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \" word\"}"
              "],\"role\": \"model\"},\"index\": 0}],\"usageMetadata\": {"
              "\"promptTokenCount\": 10,\"totalTokenCount\": 15},\"modelVersion\": "
              "\"gemini-2.5-flash\",\"responseId\": \"abcdefghijklm\"}\n\n",
     .tail = "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"\"}],"
             "\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0}],"
             "\"usageMetadata\": {\"promptTokenCount\": 10,\"candidatesTokenCount\": 5,"
             "\"totalTokenCount\": 15}}\n\n",
     .piece = " word"},
    {.provider = "openai_responses",
     .what = "text",
     .head = "event: response.created\ndata: {\"type\":\"response.created\","
             "\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":"
             "\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\n"
             "event: response.output_item.added\ndata: {\"type\":"
             "\"response.output_item.added\",\"sequence_number\":1,\"output_index\":0,"
             "\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"status\":"
             "\"in_progress\",\"role\":\"assistant\",\"content\":[]}}\n\n"
             "event: response.content_part.added\ndata: {\"type\":"
             "\"response.content_part.added\",\"sequence_number\":2,\"item_id\":"
             "\"msg_1\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":"
             "\"output_text\",\"text\":\"\",\"annotations\":[]}}\n\n",
     .delta = "event: response.output_text.delta\ndata: {\"type\":"
              "\"response.output_text.delta\",\"sequence_number\":7,\"item_id\":"
              "\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\" word\","
              "\"logprobs\":[],\"obfuscation\":\"aBcDeFgHiJk\"}\n\n",
     .tail = "event: response.completed\ndata: {\"type\":\"response.completed\","
             "\"sequence_number\":9,\"response\":{\"id\":\"resp_1\",\"object\":"
             "\"response\",\"status\":\"completed\",\"usage\":{\"input_tokens\":10,"
             "\"output_tokens\":5}}}\n\n",
     .piece = " word"},
};

static char *make_stream(const sample *of, size_t *len)
{
    size_t head = strlen(of->head);
    size_t delta = strlen(of->delta);
    size_t tail = strlen(of->tail);
    *len = head + N_DELTAS * delta + tail;
    char *stream = malloc(*len + 1);
    if (stream == NULL)
        exit(1);
    memcpy(stream, of->head, head);
    for (size_t i = 0; i < N_DELTAS; i++)
        memcpy(stream + head + i * delta, of->delta, delta);
    memcpy(stream + *len - tail, of->tail, tail + 1);
    return stream;
}

// --- Ours ---

typedef struct decoder {
    const cadre_model_ops *ops;
    void *state, *reader;
    cadre_sink sink;
    size_t shown; // bytes that went to who watches
} decoder;

static void show(void *ctx, bool is_reasoning, const char *text, size_t len)
{
    decoder *to = ctx;
    (void)is_reasoning;
    (void)text;
    to->shown += len;
}

static cadre_status on_event(void *ctx, const cadre_sse_event *event, cadre_error *err)
{
    decoder *to = ctx;
    return to->ops->event(to->state, to->reader, event, &to->sink, err);
}

static void decode(decoder *to, const char *stream, size_t len)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_sse sse;
    cdr_sse_init(&sse, 0);
    memset(to->reader, 0, to->ops->reader_size);
    for (size_t at = 0; at < len; at += READ_BYTES) {
        size_t n = len - at < READ_BYTES ? len - at : READ_BYTES;
        bench_must(cdr_sse_feed(&sse, stream + at, n, on_event, to, &err), &err);
    }
    bench_must(cdr_sse_end(&sse, on_event, to, &err), &err);
    bench_must(cdr_answer_settle(&to->sink, &err), &err);
    cdr_sse_fini(&sse);
}

// Were all pieces read? Else what was measured would be something else.
static void check(const decoder *to, const sample *of)
{
    size_t wanted = N_DELTAS * strlen(of->piece);
    const cadre_sink *sink = &to->sink;
    size_t n = of->is_call ? (sink->n_calls == 1 ? sink->calls[0].arguments.len : 0)
                           : sink->text.len;
    if (n == wanted && (of->is_call || to->shown == wanted))
        return;
    fprintf(stderr, "cadre-bench: %s: an answer of %zu bytes, not %zu\n", of->provider,
            n, wanted);
    exit(1);
}

static void decoder_init(decoder *to, const cadre_model_ops *ops)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *options = json_object();
    const cadre_model_config config = {.struct_size = sizeof config,
                                       .name = "m",
                                       .model = "m",
                                       .base_url = "http://127.0.0.1",
                                       .api_key_env = "",
                                       .options = options};
    *to = (decoder){.ops = ops,
                    .state = calloc(1, ops->state_size + 1),
                    .reader = calloc(1, ops->reader_size + 1)};
    if (ops->init != NULL)
        bench_must(ops->init(to->state, &config, &err), &err);
    json_decref(options);
    cdr_answer_init(&to->sink);
    to->sink.on_delta = show;
    to->sink.ctx = to;
}

static void decoder_fini(decoder *to)
{
    cdr_answer_fini(&to->sink);
    if (to->ops->fini != NULL)
        to->ops->fini(to->state);
    free(to->state);
    free(to->reader);
}

static double ours_us(const cadre_model_ops *ops, const sample *of, const char *stream,
                      size_t len)
{
    double times[ROUNDS];
    decoder to;
    decoder_init(&to, ops);
    for (int i = 0; i < ROUNDS; i++) {
        cdr_answer_clear(&to.sink);
        to.shown = 0;
        double start = bench_cpu_us();
        decode(&to, stream, len);
        times[i] = bench_cpu_us() - start;
        check(&to, of);
    }
    decoder_fini(&to);
    return bench_median(times, ROUNDS);
}

// --- The floor ---

// Finds the data lines and has jansson parse what they hold.
static double jansson_us(const char *stream, size_t len)
{
    double start = bench_cpu_us();
    const char *end = stream + len;
    for (const char *at = stream; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL)
            break;
        if (stop - at > 6 && memcmp(at, "data: {", 7) == 0)
            json_decref(json_loadb(at + 6, (size_t)(stop - at - 6), 0, NULL));
        at = stop + 1;
    }
    return bench_cpu_us() - start;
}

static double floor_us(const char *stream, size_t len)
{
    double times[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        times[i] = jansson_us(stream, len);
    return bench_median(times, ROUNDS);
}

static void measure(const cadre_model_ops *ops, const sample *of)
{
    char what[80];
    size_t len;
    char *stream = make_stream(of, &len);
    double ours = ours_us(ops, of, stream, len);
    double floor = floor_us(stream, len);
    snprintf(what, sizeof what, "%s, %s: MB a second", of->provider, of->what);
    bench_print_at_least(&(bench_row){what, (double)len / ours, "MB/s", 0, 150});
    snprintf(what, sizeof what, "%s, %s: an event of %zu bytes (floor: jansson)",
             of->provider, of->what, strlen(of->delta));
    bench_print(
        &(bench_row){what, ours * 1e3 / N_DELTAS, "ns", floor * 1e3 / N_DELTAS, 0.33});
    free(stream);
}

static int decode_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    bench_head("decode: an event stream of small pieces to an answer, one core");
    for (const cadre_model_ops *const *at = cdr_kinds_models; *at != NULL; at++) {
        int n_samples = 0;
        if ((*at)->event == NULL)
            continue;
        for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
            if (strcmp(samples[i].provider, (*at)->provider) == 0) {
                measure(*at, &samples[i]);
                n_samples++;
            }
        if (n_samples == 0)
            printf("%s: there is no sample of its stream\n", (*at)->provider);
    }
    return 0;
}

const bench bench_decode = {"decode", "event streams to answers", decode_run};
