// A part of an answer: text, a thought, a call, what the server's own tools did.
//
// A thoughtSignature belongs to the place where it came, and goes back there. As an
// item it is
//     {"thoughtSignature": "..."}                 of the call before it
//     {"text": "", "thoughtSignature": "..."}     a part of its own: text comes in
//                                                 pieces, so it signs all before it
//     {"thought": true, "text": "", "thoughtSignature": "..."}     likewise
// and a part of the server's tools is an item as it came.
#include "gemini.h"

#include <string.h>

#define MAX_NAME 256 // of an id or a tool; longer ones are cut

// Slices of the event.
typedef struct part {
    cadre_scan_text text, signature;
    cadre_scan call; // a bookmark
    bool has_text, has_call;
    bool is_thought;
    bool is_kept; // of the server's tools
} part;

static void append_item(const cdr_gemini_reading *to, const char *text)
{
    cadre_sink_item_append(to->sink, text, strlen(text));
}

// Some answers begin with an empty chunk that says STOP: what is said behind an end
// takes it back, so that no cut is taken for one.
static void go_on(const cdr_gemini_reading *to)
{
    to->reader->has_content = true;
    if (to->reader->has_finish)
        cadre_sink_finish(to->sink, CADRE_FINISH_NONE);
    to->reader->has_finish = false;
}

static void add_text(const cdr_gemini_reading *to, cadre_scan_text text,
                     bool is_thought)
{
    if (is_thought) {
        cadre_sink_scan_reasoning(to->sink, text);
        return;
    }
    if (text.len > 0)
        go_on(to);
    cadre_sink_scan_text(to->sink, text);
}

static void add_signature(const cdr_gemini_reading *to, const part *from)
{
    if (from->signature.len == 0)
        return;
    append_item(to, "{");
    if (from->is_thought)
        append_item(to, "\"thought\":true,");
    if (!from->has_call)
        append_item(to, "\"text\":\"\",");
    append_item(to, "\"thoughtSignature\":\"");
    cadre_sink_item_append(to->sink, from->signature.data, from->signature.len);
    append_item(to, "\"}");
    cadre_sink_item_end(to->sink);
}

static void read_call_fields(const cdr_gemini_reading *to, size_t call,
                             cadre_scan *scan)
{
    char text[MAX_NAME];
    cadre_scan_text key, value;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "name") && cadre_scan_string(scan, &value)) {
            cadre_scan_copy(value, text, sizeof(text));
            cadre_sink_call_name(to->sink, call, text, strlen(text));
        } else if (cadre_scan_is(key, "id") && cadre_scan_string(scan, &value)) {
            cadre_scan_copy(value, text, sizeof(text));
            cadre_sink_call_id(to->sink, call, text, strlen(text));
        } else if (cadre_scan_is(key, "args")) {
            cadre_sink_call_value(to->sink, call, scan);
        } else if (!cadre_scan_is(key, "name") && !cadre_scan_is(key, "id")) {
            cadre_scan_skip(scan);
        }
    }
}

static cadre_status add_call(const cdr_gemini_reading *to, cadre_scan *scan)
{
    if (cadre_sink_call_count(to->sink) == CDR_GEMINI_MAX_CALLS)
        return cadre_fail_class(to->err, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE, false,
                                "the answer has more than %d tool calls",
                                CDR_GEMINI_MAX_CALLS);
    size_t call = cadre_sink_add_call(to->sink);
    go_on(to);
    if (cadre_scan_object(scan))
        read_call_fields(to, call, scan);
    return CADRE_OK;
}

static bool is_of_server_tool(cadre_scan_text key)
{
    static const char *const keys[] = {"executableCode", "codeExecutionResult",
                                       "toolCall", "toolResponse"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (cadre_scan_is(key, keys[i]))
            return true;
    return false;
}

static void read_fields(cadre_scan *scan, part *out)
{
    cadre_scan_text key, value;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "text")) {
            out->has_text = cadre_scan_string(scan, &out->text);
        } else if (cadre_scan_is(key, "thoughtSignature")) {
            cadre_scan_string(scan, &out->signature);
        } else if (cadre_scan_is(key, "thought")) {
            out->is_thought =
                cadre_scan_raw(scan, &value) && cadre_scan_is(value, "true");
        } else if (cadre_scan_is(key, "functionCall")) {
            out->has_call = cadre_scan_peek(scan) == CADRE_SCAN_OBJECT;
            out->call = *scan;
            cadre_scan_skip(scan);
        } else {
            out->is_kept = out->is_kept || is_of_server_tool(key);
            cadre_scan_skip(scan);
        }
    }
}

cadre_status cdr_gemini_read_part(const cdr_gemini_reading *to, cadre_scan *scan)
{
    part found = {.has_text = false};
    cadre_scan start = *scan;
    cadre_scan_text raw;
    if (!cadre_scan_object(scan))
        return CADRE_OK;
    read_fields(scan, &found);
    if (scan->failed)
        return CADRE_OK; // whoever reads the chunk tells it
    if (found.is_kept) {
        if (cadre_scan_raw(&start, &raw))
            cadre_sink_item(to->sink, raw.data, raw.len);
        return CADRE_OK;
    }
    if (found.has_text)
        add_text(to, found.text, found.is_thought);
    cadre_status status = found.has_call ? add_call(to, &found.call) : CADRE_OK;
    add_signature(to, &found);
    return status;
}
