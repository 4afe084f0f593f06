// A delta of an answer, or a whole message: text, reasoning, calls.
#include "openai_chat.h"

#define MAX_NESTED 3 // content parts within content parts
#define MAX_NAME 256 // of an id or a tool; longer ones are cut

// The fields of one delta of a call; slices of the event.
typedef struct call_delta {
    int32_t index; // -1: none
    cadre_scan_text id, name, arguments;
    cadre_scan_text extra; // what only the provider can read
    bool is_raw;           // arguments came as JSON, not as text with JSON in it
} call_delta;

typedef struct message_reader {
    cdr_openai_reader *reader;
    cadre_sink *sink;
    cadre_error *err;
    cadre_status status;
    const char *field;  // of the reasoning, as it is kept; NULL: it needs not be
    bool is_whole;      // a message, no delta
    bool has_reasoning; // in this delta
} message_reader;

static void add_text(message_reader *to, cadre_scan_text text, bool is_reasoning)
{
    bool *is_told = is_reasoning ? &to->reader->has_reasoning : &to->reader->has_text;
    if (text.len == 0 || (to->is_whole && *is_told))
        return;
    *is_told = !to->is_whole;
    if (!is_reasoning) {
        cadre_sink_scan_text(to->sink, text);
        return;
    }
    if (to->field && !to->reader->has_field)
        cadre_sink_item(to->sink, to->field, strlen(to->field));
    to->reader->has_field = true;
    cadre_sink_scan_reasoning(to->sink, text);
    to->has_reasoning = true;
}

static void read_content(cadre_scan *scan, message_reader *to, bool is_reasoning,
                         int nested);

// {"type": "text", "text": "..."}, {"type": "thinking", "thinking": [{...}]} (Mistral),
// {"type": "reasoning.summary", "summary": "..."} (OpenRouter)
static void read_part(cadre_scan *scan, message_reader *to, bool is_reasoning,
                      int nested)
{
    cadre_scan_text key;
    if (cadre_scan_peek(scan) == CADRE_SCAN_STRING) {
        read_content(scan, to, is_reasoning, nested);
        return;
    }
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "text") || cadre_scan_is(key, "refusal"))
            read_content(scan, to, is_reasoning, nested);
        else if (cadre_scan_is(key, "thinking") || cadre_scan_is(key, "reasoning") ||
                 cadre_scan_is(key, "summary"))
            read_content(scan, to, true, nested);
        else
            cadre_scan_skip(scan);
    }
}

static void read_content(cadre_scan *scan, message_reader *to, bool is_reasoning,
                         int nested)
{
    cadre_scan_text text;
    cadre_scan_type type = cadre_scan_peek(scan);
    if (type == CADRE_SCAN_STRING) {
        if (cadre_scan_string(scan, &text))
            add_text(to, text, is_reasoning);
    } else if (type == CADRE_SCAN_ARRAY && nested < MAX_NESTED) {
        cadre_scan_array(scan);
        while (cadre_scan_item(scan))
            read_part(scan, to, is_reasoning, nested + 1);
    } else if (type == CADRE_SCAN_OBJECT && nested < MAX_NESTED) {
        read_part(scan, to, is_reasoning, nested + 1);
    } else {
        cadre_scan_skip(scan);
    }
}

// `reasoning`, `reasoning_content` and `reasoning_details` are names for one thing, and
// servers send several of them: the first one that says something counts. It is a text,
// or has one, as content has.
static void read_reasoning(cadre_scan *scan, cadre_scan_text key, message_reader *to)
{
    bool is_usual = cadre_scan_is(key, "reasoning_content");
    to->field = is_usual ? NULL : "{\"" CDR_OPENAI_FIELD "\":\"reasoning\"}";
    if (to->has_reasoning)
        cadre_scan_skip(scan);
    else
        read_content(scan, to, true, 0);
    to->field = CDR_OPENAI_IN_CONTENT;
}

static void read_arguments(cadre_scan *scan, call_delta *out)
{
    cadre_scan_type type = cadre_scan_peek(scan);
    if (type == CADRE_SCAN_STRING)
        cadre_scan_string(scan, &out->arguments);
    else if (type == CADRE_SCAN_NULL)
        cadre_scan_skip(scan);
    else // also what is no object: the model is told so, and no tool runs without them
        out->is_raw = cadre_scan_raw(scan, &out->arguments);
}

static void read_function_field(cadre_scan *scan, cadre_scan_text key, call_delta *out)
{
    if (cadre_scan_is(key, "name"))
        cadre_scan_string(scan, &out->name);
    else if (cadre_scan_is(key, "arguments"))
        read_arguments(scan, out);
    else
        cadre_scan_skip(scan);
}

static void read_function(cadre_scan *scan, call_delta *out)
{
    cadre_scan_text key;
    if (cadre_scan_object(scan))
        while (cadre_scan_key(scan, &key))
            read_function_field(scan, key, out);
}

// An integer that may be written as text ("0"), as some gateways do. One that no call
// can have counts as none.
static void read_index(cadre_scan *scan, int32_t *out)
{
    cadre_scan_text text;
    int64_t index = -1;
    if (cadre_scan_peek(scan) != CADRE_SCAN_STRING) {
        cadre_scan_integer(scan, &index);
    } else if (cadre_scan_string(scan, &text) && text.len > 0) {
        cadre_scan inner;
        cadre_scan_init(&inner, text.data, text.len);
        cadre_scan_integer(&inner, &index);
    }
    if (index >= 0 && index <= INT32_MAX)
        *out = (int32_t)index;
}

static void read_call_delta(cadre_scan *scan, call_delta *out)
{
    cadre_scan_text key;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "index"))
            read_index(scan, &out->index);
        else if (cadre_scan_is(key, "id"))
            cadre_scan_string(scan, &out->id);
        else if (cadre_scan_is(key, "function"))
            read_function(scan, out);
        else if (cadre_scan_is(key, "extra_content") &&
                 cadre_scan_peek(scan) == CADRE_SCAN_OBJECT)
            cadre_scan_raw(scan, &out->extra);
        else // some servers leave the `function` around these out
            read_function_field(scan, key, out);
    }
}

static bool has_id(const message_reader *to, size_t call, const char *id)
{
    return strcmp(cadre_sink_get_call_id(to->sink, call), id) == 0;
}

static bool has_name(const message_reader *to, size_t call)
{
    return cadre_sink_get_call_name(to->sink, call)[0] != '\0';
}

// Does a delta with a name start another call than the one that has its index? It
// brings another id, or, without ids, another name after arguments.
static bool is_other_call(const message_reader *to, size_t call, const char *id,
                          const char *name)
{
    const char *own_id = cadre_sink_get_call_id(to->sink, call);
    const char *own_name = cadre_sink_get_call_name(to->sink, call);
    if (name[0] == '\0' || own_name[0] == '\0')
        return false;
    if (id[0] != '\0' && own_id[0] != '\0')
        return strcmp(own_id, id) != 0;
    return to->reader->has_arguments[call] && strcmp(own_name, name) != 0;
}

// Finds the call that a delta without an index goes on with: that of its id; without an
// id too the last one, unless that has a name and the delta brings another.
static size_t find_without_index(const message_reader *to, const char *id,
                                 const char *name)
{
    size_t n = cadre_sink_call_count(to->sink);
    size_t last = to->reader->last;
    if (id[0] == '\0')
        return n == 0 || (name[0] != '\0' && has_name(to, last)) ? n : last;
    for (size_t i = n; i-- > 0;)
        if (has_id(to, i, id))
            return i;
    return n;
}

// Finds the call that a delta goes on with; the number of calls: it starts one.
//
// A known index goes on, with the call of the delta's id where several have that index,
// else with the last: Ollama gives all calls index 0. Another id without a name is no
// sign of another call: some servers make one for each delta.
static size_t find_call(const message_reader *to, int32_t index, const char *id,
                        const char *name)
{
    const int32_t *indexes = to->reader->indexes;
    size_t n = cadre_sink_call_count(to->sink);
    size_t found = n;
    if (index < 0)
        return find_without_index(to, id, name);
    for (size_t i = n; i-- > 0;) {
        if (indexes[i] != index)
            continue;
        if (id[0] != '\0' && has_id(to, i, id))
            return i;
        if (found == n)
            found = i;
    }
    return found < n && is_other_call(to, found, id, name) ? n : found;
}

// A name comes whole, whole again with each piece, or in pieces; those are all there
// before the arguments begin.
static void add_name(message_reader *to, size_t call, const char *name)
{
    const char *own = cadre_sink_get_call_name(to->sink, call);
    size_t n_own = strlen(own);
    if (to->reader->has_arguments[call] && n_own > 0)
        return;
    if (strncmp(name, own, n_own) == 0)
        name += n_own;
    cadre_sink_call_name_more(to->sink, call, name, strlen(name));
}

static void add_arguments(message_reader *to, size_t call, const call_delta *delta)
{
    cadre_scan_text text = delta->arguments;
    if (text.len == 0)
        return;
    to->reader->has_arguments[call] = true;
    if (delta->is_raw)
        cadre_sink_call_arguments(to->sink, call, text.data, text.len);
    else
        cadre_sink_scan_arguments(to->sink, call, text);
}

static void keep_extra(cadre_sink *sink, cadre_scan_text extra)
{
    static const char start[] = "{\"" CDR_OPENAI_EXTRA "\":";
    cadre_sink_item_append(sink, start, sizeof(start) - 1);
    cadre_sink_item_append(sink, extra.data, extra.len);
    cadre_sink_item_append(sink, "}", 1);
    cadre_sink_item_end(sink);
}

static void add_call_delta(message_reader *to, const call_delta *delta)
{
    char id[MAX_NAME];
    char name[MAX_NAME];
    cadre_scan_copy(delta->id, id, sizeof(id));
    cadre_scan_copy(delta->name, name, sizeof(name));
    size_t call = find_call(to, delta->index, id, name);
    if (call == CDR_OPENAI_MAX_CALLS) {
        to->status = cadre_fail_class(to->err, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE,
                                      false, "the answer has more than %d tool calls",
                                      CDR_OPENAI_MAX_CALLS);
        return;
    }
    // Some servers send a call that nothing is said of.
    if (call == cadre_sink_call_count(to->sink) && id[0] == '\0' && name[0] == '\0' &&
        delta->arguments.len == 0)
        return;
    if (call == cadre_sink_call_count(to->sink)) {
        if (cadre_sink_add_call(to->sink) == cadre_sink_call_count(to->sink))
            return; // no memory; the sink knows
        to->reader->indexes[call] = delta->index;
    }
    to->reader->last = call;
    to->reader->has_calls = !to->is_whole;
    cadre_sink_call_id(to->sink, call, id, strlen(id));
    add_name(to, call, name);
    add_arguments(to, call, delta);
    if (delta->extra.len > 0)
        keep_extra(to->sink, delta->extra);
}

static void read_call(cadre_scan *scan, message_reader *to)
{
    call_delta delta = {.index = -1};
    if (!cadre_scan_object(scan))
        return;
    read_call_delta(scan, &delta);
    if (!scan->failed && to->status == CADRE_OK)
        add_call_delta(to, &delta);
}

static void read_calls(cadre_scan *scan, message_reader *to)
{
    if (cadre_scan_peek(scan) == CADRE_SCAN_OBJECT) {
        read_call(scan, to); // one call without its list
    } else if (cadre_scan_array(scan)) {
        while (cadre_scan_item(scan))
            read_call(scan, to);
    }
}

// The form of 2023: one call, without an id.
static void read_function_call(cadre_scan *scan, message_reader *to)
{
    call_delta delta = {.index = 0};
    if (cadre_scan_peek(scan) != CADRE_SCAN_OBJECT) {
        cadre_scan_skip(scan);
        return;
    }
    read_function(scan, &delta);
    if (!scan->failed && to->status == CADRE_OK)
        add_call_delta(to, &delta);
}

static void read_field(cadre_scan *scan, cadre_scan_text key, message_reader *to)
{
    bool has_calls = to->is_whole && to->reader->has_calls;
    if (cadre_scan_is(key, "content") || cadre_scan_is(key, "refusal"))
        read_content(scan, to, false, 0);
    else if (cadre_scan_is(key, "reasoning_content") ||
             cadre_scan_is(key, "reasoning") || cadre_scan_is(key, "reasoning_details"))
        read_reasoning(scan, key, to);
    else if (cadre_scan_is(key, "tool_calls") && !has_calls)
        read_calls(scan, to);
    else if (cadre_scan_is(key, "function_call") && !has_calls)
        read_function_call(scan, to);
    else
        cadre_scan_skip(scan);
}

static cadre_status read_fields(cadre_scan *scan, message_reader *to)
{
    cadre_scan_text key;
    if (cadre_scan_object(scan))
        while (cadre_scan_key(scan, &key))
            read_field(scan, key, to);
    return to->status;
}

cadre_status cdr_openai_read_delta(cadre_scan *scan, cdr_openai_reader *reader,
                                   cadre_sink *sink, cadre_error *err)
{
    message_reader to = {
        .reader = reader, .sink = sink, .err = err, .field = CDR_OPENAI_IN_CONTENT};
    return read_fields(scan, &to);
}

cadre_status cdr_openai_read_message(cadre_scan *scan, cdr_openai_reader *reader,
                                     cadre_sink *sink, cadre_error *err)
{
    message_reader to = {.reader = reader,
                         .sink = sink,
                         .err = err,
                         .field = CDR_OPENAI_IN_CONTENT,
                         .is_whole = true};
    return read_fields(scan, &to);
}
