// The content blocks of an answer: text, thoughts, calls, and what the server's own
// tools did.
//
// Blocks come one after the other, each with its start, its deltas and its end. What
// only the model can read is gathered as an item, byte for byte as it came, since a
// signature counts for nothing else.
#include "anthropic.h"

#include <string.h>

#define PIECE 1024   // of a text whose escapes are resolved
#define MAX_NAME 256 // of an id or a tool; longer ones are cut

// The fields of a block's start; slices of the event.
typedef struct block {
    cadre_scan_text type, text, thinking, signature, id, name;
    cadre_scan input; // a bookmark
    bool has_input;
} block;

static void append_item(const cdr_anthropic_reading *to, const char *text)
{
    cadre_sink_item_append(to->sink, text, strlen(text));
}

void cdr_anthropic_add_text(const cdr_anthropic_reading *to, cadre_scan_text text)
{
    if (text.len > 0)
        to->reader->has_content = true;
    cadre_sink_scan_text(to->sink, text);
}

// --- Thoughts ---

static void begin_thought(const cdr_anthropic_reading *to, int32_t index)
{
    to->reader->item = CDR_ANTHROPIC_THINKING;
    to->reader->item_index = index;
    append_item(to, "{\"type\":\"thinking\",\"thinking\":\"");
}

static void add_thought(const cdr_anthropic_reading *to, cadre_scan_text text)
{
    cadre_sink_scan_reasoning(to->sink, text);
    if (to->reader->item == CDR_ANTHROPIC_THINKING)
        cadre_sink_item_append(to->sink, text.data, text.len);
}

static void add_signature(const cdr_anthropic_reading *to, cadre_scan_text text)
{
    if (text.len == 0)
        return;
    if (to->reader->item == CDR_ANTHROPIC_THINKING) {
        append_item(to, "\",\"signature\":\"");
        to->reader->item = CDR_ANTHROPIC_SIGNATURE;
    }
    if (to->reader->item == CDR_ANTHROPIC_SIGNATURE)
        cadre_sink_item_append(to->sink, text.data, text.len);
}

// --- Calls ---

// The newest of that index; without an index the newest. The number of calls: none.
static size_t find_call(const cdr_anthropic_reading *to, int32_t index)
{
    size_t n = cadre_sink_call_count(to->sink);
    for (size_t i = n; i-- > 0;)
        if (index < 0 || to->reader->calls[i].index == index)
            return i;
    return n;
}

static cadre_status begin_call(const cdr_anthropic_reading *to, int32_t index,
                               block *start)
{
    char text[MAX_NAME];
    size_t call = cadre_sink_call_count(to->sink);
    if (call == CDR_ANTHROPIC_MAX_CALLS)
        return cadre_fail_class(to->err, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE, false,
                                "the answer has more than %d tool calls",
                                CDR_ANTHROPIC_MAX_CALLS);
    if (cadre_sink_add_call(to->sink) == cadre_sink_call_count(to->sink))
        return CADRE_OK; // no memory; the sink knows
    to->reader->has_content = true;
    to->reader->calls[call] = (cdr_anthropic_call){.index = index};
    cadre_scan_copy(start->id, text, sizeof(text));
    cadre_sink_call_id(to->sink, call, text, strlen(text));
    cadre_scan_copy(start->name, text, sizeof(text));
    cadre_sink_call_name(to->sink, call, text, strlen(text));
    if (start->has_input) { // what was text and comes in deltas too, the sink mends
        bool is_text = cadre_scan_peek(&start->input) == CADRE_SCAN_STRING;
        to->reader->calls[call].has_input =
            cadre_sink_call_value(to->sink, call, &start->input) && !is_text;
    }
    return CADRE_OK;
}

// --- Tools of the server ---

static bool ends_with(cadre_scan_text text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

// Is the value an object with something in it?
static bool has_members(cadre_scan scan)
{
    cadre_scan_text key;
    return cadre_scan_object(&scan) && cadre_scan_key(&scan, &key);
}

// A copy of the block without its input, which comes in deltas.
static void begin_use(const cdr_anthropic_reading *to, int32_t index, cadre_scan scan,
                      block *start)
{
    cadre_scan_text key, value;
    const char *before = "{\"";
    cadre_scan_object(&scan);
    while (cadre_scan_key(&scan, &key)) {
        if (!cadre_scan_raw(&scan, &value) || cadre_scan_is(key, "input"))
            continue;
        append_item(to, before);
        cadre_sink_item_append(to->sink, key.data, key.len);
        append_item(to, "\":");
        cadre_sink_item_append(to->sink, value.data, value.len);
        before = ",\"";
    }
    to->reader->item = CDR_ANTHROPIC_USE;
    to->reader->item_index = index;
    if (!start->has_input || !has_members(start->input) ||
        !cadre_scan_raw(&start->input, &value))
        return;
    append_item(to, ",\"input\":");
    cadre_sink_item_append(to->sink, value.data, value.len);
    to->reader->item = CDR_ANTHROPIC_WHOLE;
}

static void add_input(const cdr_anthropic_reading *to, cadre_scan_text text)
{
    char piece[PIECE];
    size_t n;
    if (to->reader->item == CDR_ANTHROPIC_USE && text.len > 0) {
        append_item(to, ",\"input\":");
        to->reader->item = CDR_ANTHROPIC_INPUT;
    }
    while (to->reader->item == CDR_ANTHROPIC_INPUT &&
           (n = cadre_scan_unescape(&text, piece, sizeof(piece))) > 0)
        cadre_sink_item_append(to->sink, piece, n);
}

// --- Blocks ---

static void read_start(cadre_scan *scan, block *out)
{
    static const struct {
        const char *key;
        size_t at;
    } fields[] = {
        {"type", offsetof(block, type)},
        {"text", offsetof(block, text)},
        {"thinking", offsetof(block, thinking)},
        {"signature", offsetof(block, signature)},
        {"id", offsetof(block, id)},
        {"name", offsetof(block, name)},
    };
    const size_t n = sizeof(fields) / sizeof(fields[0]);
    cadre_scan_text key;
    while (cadre_scan_key(scan, &key)) {
        size_t i = 0;
        while (i < n && !cadre_scan_is(key, fields[i].key))
            i++;
        if (i < n)
            cadre_scan_string(scan, (cadre_scan_text *)((char *)out + fields[i].at));
        else {
            if (cadre_scan_is(key, "input")) {
                out->has_input = true;
                out->input = *scan;
            }
            cadre_scan_skip(scan);
        }
    }
}

cadre_status cdr_anthropic_begin_block(const cdr_anthropic_reading *to, int32_t index,
                                       cadre_scan *scan)
{
    block start = {.has_input = false};
    cadre_scan copy = *scan;
    cadre_scan_text raw;
    cdr_anthropic_end_block(to);
    if (!cadre_scan_object(scan))
        return CADRE_OK;
    read_start(scan, &start);
    if (cadre_scan_is(start.type, "text")) {
        cdr_anthropic_add_text(to, start.text);
    } else if (cadre_scan_is(start.type, "tool_use")) {
        return begin_call(to, index, &start);
    } else if (cadre_scan_is(start.type, "thinking")) {
        begin_thought(to, index);
        add_thought(to, start.thinking);
        add_signature(to, start.signature);
    } else if (ends_with(start.type, "_tool_use")) {
        begin_use(to, index, copy, &start);
    } else if (cadre_scan_is(start.type, "redacted_thinking") ||
               ends_with(start.type, "_tool_result")) {
        if (cadre_scan_raw(&copy, &raw))
            cadre_sink_item(to->sink, raw.data, raw.len);
    }
    return CADRE_OK;
}

// A piece of what a tool is given; a few servers send it whole, and not as text.
static void read_input(const cdr_anthropic_reading *to, int32_t index, bool is_item,
                       cadre_scan *scan)
{
    cadre_scan_text text;
    size_t call = is_item ? CDR_ANTHROPIC_MAX_CALLS : find_call(to, index);
    if (is_item && cadre_scan_string(scan, &text))
        add_input(to, text);
    else if (call < CDR_ANTHROPIC_MAX_CALLS && !to->reader->calls[call].has_input)
        cadre_sink_call_value(to->sink, call, scan);
    else if (!is_item)
        cadre_scan_skip(scan);
}

// By what is in it, since that says as much as its type.
void cdr_anthropic_read_delta(const cdr_anthropic_reading *to, int32_t index,
                              cadre_scan *scan)
{
    cadre_scan_text key, text;
    bool is_item =
        to->reader->item != CDR_ANTHROPIC_NO_ITEM && to->reader->item_index == index;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "partial_json"))
            read_input(to, index, is_item, scan);
        else if (!cadre_scan_string(scan, &text))
            continue;
        else if (cadre_scan_is(key, "text"))
            cdr_anthropic_add_text(to, text);
        else if (cadre_scan_is(key, "thinking"))
            add_thought(to, text);
        else if (cadre_scan_is(key, "signature") && is_item)
            add_signature(to, text);
    }
}

// What is left open is no JSON, so that the sink drops it: a thought without a
// signature would be refused.
void cdr_anthropic_end_block(const cdr_anthropic_reading *to)
{
    static const char *const ends[] = {
        [CDR_ANTHROPIC_NO_ITEM] = "",      [CDR_ANTHROPIC_THINKING] = "",
        [CDR_ANTHROPIC_SIGNATURE] = "\"}", [CDR_ANTHROPIC_USE] = ",\"input\":{}}",
        [CDR_ANTHROPIC_INPUT] = "}",       [CDR_ANTHROPIC_WHOLE] = "}",
    };
    if (to->reader->item == CDR_ANTHROPIC_NO_ITEM)
        return;
    append_item(to, ends[to->reader->item]);
    cadre_sink_item_end(to->sink);
    to->reader->item = CDR_ANTHROPIC_NO_ITEM;
}
