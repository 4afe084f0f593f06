// A model's answer while it is gathered, and the rules that settle it. What becomes of
// its texts is in answer_text.c.
#include "net/answer.h"

#include "base/utf8.h"
#include "net/call_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CALLS 4
#define MADE_ID_SIZE 32
#define PIECE 1024                        // of a text whose escapes are resolved
#define MAX_TOKENS INT64_C(1000000000000) // of one call

void cdr_answer_init(cadre_sink *sink)
{
    *sink = (cadre_sink){.finish = CADRE_FINISH_NONE}; // all buffers are empty
}

static void drop_calls(cadre_sink *sink)
{
    for (size_t i = 0; i < sink->n_calls; i++) {
        cdr_buf_fini(&sink->calls[i].id);
        cdr_buf_fini(&sink->calls[i].name);
        cdr_buf_fini(&sink->calls[i].arguments);
    }
    sink->n_calls = 0;
}

void cdr_answer_fini(cadre_sink *sink)
{
    drop_calls(sink);
    free(sink->calls);
    cdr_buf_fini(&sink->text);
    cdr_buf_fini(&sink->reasoning);
    cdr_buf_fini(&sink->text_held);
    cdr_buf_fini(&sink->reasoning_held);
    cdr_buf_fini(&sink->items);
    cdr_buf_fini(&sink->item);
    cdr_answer_init(sink);
}

void cdr_answer_clear(cadre_sink *sink)
{
    drop_calls(sink);
    cdr_buf_clear(&sink->text);
    cdr_buf_clear(&sink->reasoning);
    cdr_buf_clear(&sink->text_held);
    cdr_buf_clear(&sink->reasoning_held);
    cdr_buf_clear(&sink->items);
    cdr_buf_clear(&sink->item);
    sink->usage = (cadre_usage){0};
    sink->n_cache_written = 0;
    sink->finish = CADRE_FINISH_NONE;
    sink->ended = false;
    sink->failed = false;
    sink->n_text_tail = 0;
    sink->n_reasoning_tail = 0;
    sink->text_half = 0;
    sink->reasoning_half = 0;
    sink->think = (cdr_think){.state = CDR_THINK_OFF};
}

size_t cadre_sink_call_count(const cadre_sink *sink)
{
    return sink ? sink->n_calls : 0;
}

// The array has room for FIRST_CALLS, then for the next power of two: it is full when
// the count is one of these.
static bool is_full(size_t n_calls)
{
    return n_calls >= FIRST_CALLS && (n_calls & (n_calls - 1)) == 0;
}

size_t cadre_sink_add_call(cadre_sink *sink)
{
    if (!sink)
        return 0;
    size_t n = sink->n_calls;
    if (!sink->calls || is_full(n)) {
        size_t capacity = n < FIRST_CALLS ? FIRST_CALLS : 2 * n;
        cdr_answer_call *calls = realloc(sink->calls, capacity * sizeof(*calls));
        if (!calls) {
            sink->failed = true;
            return n; // out of range: what is added to it goes nowhere
        }
        sink->calls = calls;
    }
    sink->calls[n] = (cdr_answer_call){.id = CDR_BUF_INIT};
    sink->n_calls = n + 1;
    return n;
}

static void append_to_call(cadre_sink *sink, cdr_buf *buf, const char *text, size_t len)
{
    cdr_buf_append(buf, text, len);
    if (buf->failed)
        sink->failed = true;
}

// A number that is out of range is one that had no memory.
static bool has_call(const cadre_sink *sink, size_t call)
{
    return sink && call < sink->n_calls;
}

void cadre_sink_call_id(cadre_sink *sink, size_t call, const char *id, size_t len)
{
    if (has_call(sink, call) && id && sink->calls[call].id.len == 0)
        append_to_call(sink, &sink->calls[call].id, id, len);
}

void cadre_sink_call_name(cadre_sink *sink, size_t call, const char *name, size_t len)
{
    if (has_call(sink, call) && name && sink->calls[call].name.len == 0)
        append_to_call(sink, &sink->calls[call].name, name, len);
}

void cadre_sink_call_name_more(cadre_sink *sink, size_t call, const char *text,
                               size_t len)
{
    if (has_call(sink, call) && text)
        append_to_call(sink, &sink->calls[call].name, text, len);
}

const char *cadre_sink_get_call_id(const cadre_sink *sink, size_t call)
{
    return has_call(sink, call) ? cdr_buf_text(&sink->calls[call].id) : "";
}

const char *cadre_sink_get_call_name(const cadre_sink *sink, size_t call)
{
    return has_call(sink, call) ? cdr_buf_text(&sink->calls[call].name) : "";
}

void cadre_sink_call_arguments(cadre_sink *sink, size_t call, const char *text,
                               size_t len)
{
    if (has_call(sink, call) && text)
        append_to_call(sink, &sink->calls[call].arguments, text, len);
}

void cadre_sink_scan_arguments(cadre_sink *sink, size_t call, cadre_scan_text text)
{
    char piece[PIECE];
    if (!has_call(sink, call))
        return;
    size_t n = cadre_scan_join(&text, &sink->calls[call].half, piece);
    cadre_sink_call_arguments(sink, call, piece, n);
    if (!text.has_escapes)
        cadre_sink_call_arguments(sink, call, text.data, text.len);
    else
        while ((n = cadre_scan_unescape(&text, piece, sizeof(piece))) > 0)
            cadre_sink_call_arguments(sink, call, piece, n);
}

// Is there nothing in it? Some servers write an empty object as an empty list.
static bool is_empty_value(cadre_scan scan)
{
    cadre_scan_text key;
    switch (cadre_scan_peek(&scan)) {
    case CADRE_SCAN_NONE:
    case CADRE_SCAN_NULL:
        return true;
    case CADRE_SCAN_ARRAY:
        return cadre_scan_array(&scan) && !cadre_scan_item(&scan);
    case CADRE_SCAN_OBJECT:
        return cadre_scan_object(&scan) && !cadre_scan_key(&scan, &key);
    default:
        return false;
    }
}

bool cadre_sink_call_value(cadre_sink *sink, size_t call, cadre_scan *scan)
{
    cadre_scan_text text;
    bool is_text = cadre_scan_peek(scan) == CADRE_SCAN_STRING;
    if (is_empty_value(*scan)) {
        cadre_scan_skip(scan);
        return false;
    }
    if (!(is_text ? cadre_scan_string(scan, &text) : cadre_scan_raw(scan, &text)))
        return false;
    if (is_text)
        cadre_sink_scan_arguments(sink, call, text);
    else
        cadre_sink_call_arguments(sink, call, text.data, text.len);
    return text.len > 0;
}

// It will be a part of a request as it is, so it must be what every reader takes.
static bool is_json(cadre_sink *sink, const char *json, size_t len)
{
    json_error_t why;
    if (memchr(json, '\0', len)) // the parser takes no notice of one behind a number
        return false;
    json_t *value =
        json_loadb(json, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);
    if (!value && json_error_code(&why) == json_error_out_of_memory)
        sink->failed = true;
    json_decref(value);
    return value != NULL;
}

static size_t count_text(const cadre_sink *sink)
{
    return sink->text.len + sink->n_text_tail + sink->text_held.len;
}

void cadre_sink_item(cadre_sink *sink, const char *json, size_t len)
{
    if (!sink || !json)
        return;
    cdr_buf *items = &sink->items;
    size_t before = items->len;
    size_t n_text = count_text(sink);
    cdr_buf_append_text(items, before == 0 ? "[" : ",");
    if (sink->n_calls > 0)
        cdr_buf_printf(items, "{\"place\":%zu,\"item\":", sink->n_calls + 1);
    else if (n_text > 0)
        cdr_buf_printf(items, "{\"place\":1,\"at\":%zu,\"item\":", n_text);
    else
        cdr_buf_append_text(items, "{\"place\":0,\"item\":");
    size_t start = items->len;
    cdr_buf_append(items, json, len);
    cdr_buf_append(items, "}", 1);
    sink->failed |= items->failed;
    if (items->failed)
        return;
    if (sink->secrets)
        cdr_secrets_cover_whole(sink->secrets, items->data + start, len);
    if (is_json(sink, items->data + start, len))
        return;
    items->len = before;
    items->data[before] = '\0';
}

void cadre_sink_item_append(cadre_sink *sink, const char *json, size_t len)
{
    if (!sink || !json)
        return;
    cdr_buf_append(&sink->item, json, len);
    if (sink->item.failed)
        sink->failed = true;
}

void cadre_sink_item_end(cadre_sink *sink)
{
    if (!sink)
        return;
    cadre_sink_item(sink, cdr_buf_text(&sink->item), sink->item.len);
    cdr_buf_clear(&sink->item);
}

// What a server says of tokens: never below 0, and so far below the ends of int64_t
// that nobody who sums over a run has to look.
static int64_t plausible(int64_t n_tokens)
{
    if (n_tokens < 0)
        return 0;
    return n_tokens < MAX_TOKENS ? n_tokens : MAX_TOKENS;
}

void cadre_sink_usage(cadre_sink *sink, const cadre_usage *usage)
{
    if (!sink || !usage)
        return;
    sink->usage =
        (cadre_usage){.input_tokens = plausible(usage->input_tokens),
                      .output_tokens = plausible(usage->output_tokens),
                      .cached_input_tokens = plausible(usage->cached_input_tokens),
                      .reasoning_tokens = plausible(usage->reasoning_tokens)};
}

void cadre_sink_usage_of(cadre_sink *sink, const cadre_usage *usage, int64_t n_total)
{
    if (!sink || !usage)
        return;
    cadre_sink_usage(sink, usage);
    cadre_usage *own = &sink->usage;
    int64_t rest = plausible(n_total) - own->input_tokens - own->output_tokens;
    if (rest > 0 && rest != own->cached_input_tokens)
        own->output_tokens += rest;
}

void cadre_sink_cache_written(cadre_sink *sink, int64_t n_tokens)
{
    if (sink)
        sink->n_cache_written = plausible(n_tokens);
}

static bool is_cut(cadre_finish finish)
{
    return finish == CADRE_FINISH_LENGTH || finish == CADRE_FINISH_CONTENT_FILTER;
}

void cadre_sink_finish(cadre_sink *sink, cadre_finish finish)
{
    if (sink && (is_cut(finish) || !is_cut(sink->finish)))
        sink->finish = finish;
}

static bool has_whole_calls(const cadre_sink *sink)
{
    for (size_t i = 0; i < sink->n_calls; i++)
        if (!cdr_arguments_are_whole(&sink->calls[i].arguments))
            return false;
    return true;
}

void cadre_sink_end(cadre_sink *sink)
{
    if (sink)
        sink->ended = true;
}

void cadre_sink_end_finished(cadre_sink *sink)
{
    if (sink && sink->finish == CADRE_FINISH_NONE &&
        (sink->n_calls > 0 || count_text(sink) > 0) && has_whole_calls(sink))
        sink->finish = CADRE_FINISH_STOP;
    cadre_sink_end(sink);
}

static bool is_blank(const cdr_buf *buf)
{
    return cdr_utf8_is_blank(cdr_buf_text(buf), buf->len);
}

static bool has_id(const cadre_sink *sink, const char *id, size_t n_calls)
{
    for (size_t i = 0; i < n_calls; i++)
        if (strcmp(cdr_buf_text(&sink->calls[i].id), id) == 0)
            return true;
    return false;
}

// Nine letters and digits: what the strictest provider (Mistral) takes.
static void make_id(cadre_sink *sink, size_t call)
{
    char id[MADE_ID_SIZE];
    size_t number = call + 1;
    do {
        (void)snprintf(id, sizeof(id), "call%05zu", number);
        number += sink->n_calls;
    } while (has_id(sink, id, sink->n_calls));
    cdr_buf_clear(&sink->calls[call].id);
    append_to_call(sink, &sink->calls[call].id, id, strlen(id));
}

// Calls are text too: what is not UTF-8 could be neither stored nor sent again. Pieces
// were joined byte by byte, so no character is torn here.
static void clean(cadre_sink *sink, cdr_buf *buf)
{
    if (sink->secrets && buf->len > 0)
        cdr_secrets_cover_whole(sink->secrets, buf->data, buf->len);
    if (cdr_utf8_prefix(cdr_buf_text(buf), buf->len) == buf->len)
        return;
    cdr_buf cleaned = CDR_BUF_INIT;
    cdr_utf8_append(&cleaned, buf->data, buf->len);
    if (cleaned.failed)
        sink->failed = true;
    cdr_buf_fini(buf);
    *buf = cleaned;
}

static cadre_status settle_call(cadre_sink *sink, size_t i, cadre_error *err)
{
    cdr_answer_call *call = &sink->calls[i];
    if (call->name.len == 0)
        return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE, true,
                                "tool call %zu of the answer has no name", i + 1);
    if (call->half != 0) // what was cut will not come any more
        append_to_call(sink, &call->arguments, CDR_UTF8_REPLACEMENT,
                       strlen(CDR_UTF8_REPLACEMENT));
    clean(sink, &call->id);
    clean(sink, &call->name);
    clean(sink, &call->arguments);
    if (call->id.len == 0 || has_id(sink, call->id.data, i))
        make_id(sink, i);
    if (!cdr_arguments_mend(&call->arguments))
        sink->failed = true;
    return CADRE_OK;
}

static cadre_status settle_calls(cadre_sink *sink, cadre_error *err)
{
    for (size_t i = 0; i < sink->n_calls; i++) {
        cadre_status status = settle_call(sink, i, err);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

// The list of items is whole.
static void close_items(cadre_sink *sink)
{
    if (sink->items.len > 0)
        cdr_buf_append(&sink->items, "]", 1);
    if (sink->items.failed)
        sink->failed = true;
}

static cadre_status check_not_empty(const cadre_sink *sink, bool was_cut,
                                    cadre_error *err)
{
    if (sink->n_calls > 0 || !is_blank(&sink->text))
        return CADRE_OK;
    if (sink->finish == CADRE_FINISH_LENGTH && !is_blank(&sink->reasoning))
        return CADRE_OK; // a part of an answer
    if (was_cut)
        return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_EMPTY_RESPONSE, false,
                                "the answer reached its length limit inside a tool "
                                "call (raise max_tokens)");
    if (sink->finish == CADRE_FINISH_LENGTH)
        return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_EMPTY_RESPONSE, false,
                                "the answer reached its length limit before its first "
                                "word (raise max_tokens)");
    return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_EMPTY_RESPONSE, true,
                            "the answer has neither text nor a tool call");
}

size_t cdr_answer_size(const cadre_sink *sink)
{
    size_t size = count_text(sink) + sink->reasoning.len + sink->n_calls;
    for (size_t i = 0; i < sink->n_calls; i++)
        size += sink->calls[i].arguments.len;
    return size;
}

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "no memory for the model's answer");
}

cadre_status cdr_answer_settle(cadre_sink *sink, cadre_error *err)
{
    cdr_answer_end_texts(sink);
    close_items(sink);
    if (sink->failed)
        return no_memory(err);
    if (sink->finish == CADRE_FINISH_NONE)
        return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_TRUNCATED, true,
                                "the answer ended before it was whole (no finish "
                                "reason came)");
    if (sink->finish == CADRE_FINISH_CONTENT_FILTER)
        return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_CONTENT_FILTER, false,
                                "the provider's content filter stopped the answer");
    bool was_cut = sink->finish == CADRE_FINISH_LENGTH && sink->n_calls > 0;
    if (was_cut)
        drop_calls(sink);
    cadre_status status = check_not_empty(sink, was_cut, err);
    if (status == CADRE_OK)
        status = settle_calls(sink, err);
    if (sink->failed)
        return no_memory(err);
    if (status == CADRE_OK && sink->finish != CADRE_FINISH_LENGTH)
        sink->finish = sink->n_calls > 0 ? CADRE_FINISH_TOOL_CALLS : CADRE_FINISH_STOP;
    return status;
}
