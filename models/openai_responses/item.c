// An item of a response's output: a message, a call, reasoning.
#include "openai_responses.h"

#define MAX_NAME 256 // of an id or a tool; longer ones are cut

// The fields of an item, whose order must not matter.
typedef struct item_fields {
    cadre_scan_text raw; // all of it
    cadre_scan_text type, call_id, name, arguments;
    bool has_arguments;
    cadre_scan content; // a bookmark
    bool has_content;
} item_fields;

void cdr_responses_add_text(cdr_responses_answer *to, cadre_scan_text text)
{
    to->reader->has_any = true;
    cadre_sink_scan_text(to->sink, text);
}

void cdr_responses_add_reasoning(cdr_responses_answer *to, cadre_scan_text text)
{
    to->reader->has_any = true;
    to->reader->has_reasoning = true;
    cadre_sink_scan_reasoning(to->sink, text);
}

// The call at a place of the output, else the last one; the number of calls: none.
static size_t find_call(const cdr_responses_answer *to, int64_t index)
{
    size_t n = cadre_sink_call_count(to->sink);
    for (size_t i = n; index >= 0 && i-- > 0;)
        if (to->reader->calls[i] == index + 1)
            return i;
    return index < 0 && n > 0 ? n - 1 : n;
}

void cdr_responses_add_arguments(cdr_responses_answer *to, int64_t index,
                                 cadre_scan_text text)
{
    size_t call = find_call(to, index);
    if (call == cadre_sink_call_count(to->sink) || text.len == 0)
        return;
    to->reader->has_arguments[call] = true;
    cadre_sink_scan_arguments(to->sink, call, text);
}

static size_t add_call(cdr_responses_answer *to, int64_t index)
{
    size_t call = cadre_sink_call_count(to->sink);
    if (call == CDR_RESPONSES_MAX_CALLS) {
        to->status = cadre_fail_class(to->err, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE,
                                      false, "the answer has more than %d tool calls",
                                      CDR_RESPONSES_MAX_CALLS);
        return call;
    }
    cadre_sink_add_call(to->sink);
    if (call < cadre_sink_call_count(to->sink)) {
        to->reader->calls[call] = index + 1;
        to->reader->has_arguments[call] = false;
    }
    return call;
}

// Deltas of the arguments and the whole of them are the same data.
static void read_call(cdr_responses_answer *to, const item_fields *item, int64_t index,
                      bool is_whole)
{
    char text[MAX_NAME];
    size_t call = find_call(to, index);
    bool is_new = index < 0 ? !is_whole : call == cadre_sink_call_count(to->sink);
    if (is_new)
        call = add_call(to, index);
    if (call >= cadre_sink_call_count(to->sink))
        return;
    to->reader->has_any = true;
    cadre_scan_copy(item->call_id, text, sizeof(text));
    cadre_sink_call_id(to->sink, call, text, strlen(text));
    cadre_scan_copy(item->name, text, sizeof(text));
    cadre_sink_call_name(to->sink, call, text, strlen(text));
    if (is_whole && item->has_arguments && !to->reader->has_arguments[call]) {
        to->reader->has_arguments[call] = true;
        cadre_sink_scan_arguments(to->sink, call, item->arguments);
    }
}

// {"type": "output_text", "text": "..."}, {"type": "refusal", "refusal": "..."}
static void read_part(cdr_responses_answer *to, cadre_scan *scan)
{
    cadre_scan_text key;
    cadre_scan_text text;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        bool is_text = cadre_scan_is(key, "text") || cadre_scan_is(key, "refusal");
        if (!is_text)
            cadre_scan_skip(scan);
        else if (cadre_scan_string(scan, &text))
            cdr_responses_add_text(to, text);
    }
}

// Only what no delta has told yet.
static void read_message(cdr_responses_answer *to, const item_fields *item)
{
    cadre_scan content = item->content;
    if (to->reader->has_text || !item->has_content || !cadre_scan_array(&content))
        return;
    while (cadre_scan_item(&content))
        read_part(to, &content);
}

static void read_fields(cadre_scan *scan, item_fields *out)
{
    cadre_scan_text key;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "type")) {
            cadre_scan_string(scan, &out->type);
        } else if (cadre_scan_is(key, "call_id")) {
            cadre_scan_string(scan, &out->call_id);
        } else if (cadre_scan_is(key, "name")) {
            cadre_scan_string(scan, &out->name);
        } else if (cadre_scan_is(key, "arguments")) {
            out->has_arguments = cadre_scan_string(scan, &out->arguments);
        } else if (cadre_scan_is(key, "content")) {
            out->has_content = cadre_scan_peek(scan) == CADRE_SCAN_ARRAY;
            out->content = *scan;
            cadre_scan_skip(scan);
        } else {
            cadre_scan_skip(scan);
        }
    }
}

void cdr_responses_read_item(cdr_responses_answer *to, cadre_scan *scan, int64_t index,
                             bool is_whole)
{
    item_fields item = {.raw = {.data = NULL}};
    cadre_scan inner = *scan;
    if (!cadre_scan_raw(scan, &item.raw) || !cadre_scan_object(&inner))
        return;
    read_fields(&inner, &item);
    if (inner.failed)
        return;
    if (cadre_scan_is(item.type, "function_call"))
        read_call(to, &item, index, is_whole);
    else if (is_whole && cadre_scan_is(item.type, "reasoning"))
        cadre_sink_item(to->sink, item.raw.data, item.raw.len);
    else if (is_whole && cadre_scan_is(item.type, "message"))
        read_message(to, &item);
    if (is_whole && cadre_scan_is(item.type, "message"))
        to->reader->has_text = false; // the next one has its own
}
