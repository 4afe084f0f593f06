// An item of a response's output: a message, a call, reasoning.
#include "openai_responses.h"

#define MAX_NAME 256 // of an id or a tool; longer ones are cut

// The fields of an item, whose order must not matter.
typedef struct item_fields {
    cadre_scan_text raw; // all of it
    cadre_scan_text type, id, call_id, name, arguments, sealed;
    bool is_raw;                 // arguments came as JSON, not as text with JSON in it
    cadre_scan content, summary; // bookmarks
    bool has_content, has_summary;
    int64_t index; // its place in the output; -1: not known
    size_t rank;   // of a call among those of a whole response
    cdr_responses_telling telling;
} item_fields;

void cdr_responses_add_text(cdr_responses_answer *to, cadre_scan_text text)
{
    if (text.len == 0)
        return;
    to->reader->has_text = true;
    to->reader->item_has_text = true;
    to->reader->part_has_text = true;
    cadre_sink_scan_text(to->sink, text);
}

void cdr_responses_add_reasoning(cdr_responses_answer *to, cadre_scan_text text)
{
    if (text.len == 0)
        return;
    to->reader->has_reasoning = true;
    to->reader->item_has_reasoning = true;
    to->reader->part_has_reasoning = true;
    cadre_sink_scan_reasoning(to->sink, text);
}

// --- Calls ---

// 0 for no id.
static uint64_t hash_of(cadre_scan_text id)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < id.len; i++)
        hash = (hash ^ (unsigned char)id.data[i]) * UINT64_C(1099511628211);
    return id.len > 0 ? hash : 0;
}

// The newest call at a place; the number of calls: there is none.
static size_t find_by_place(const cdr_responses_answer *to, int64_t index)
{
    size_t n = cadre_sink_call_count(to->sink);
    for (size_t i = n; index >= 0 && i-- > 0;)
        if (to->reader->calls[i].place == index + 1)
            return i;
    return n;
}

// The newest call of an item's id, at its place rather than elsewhere: calls may have
// the one or the other in common.
static size_t find_by_item(const cdr_responses_answer *to, uint64_t item, int64_t index)
{
    size_t n = cadre_sink_call_count(to->sink);
    size_t found = n;
    for (size_t i = n; item != 0 && i-- > 0;) {
        if (to->reader->calls[i].item != item)
            continue;
        if (index >= 0 && to->reader->calls[i].place == index + 1)
            return i;
        if (found == n)
            found = i;
    }
    return found;
}

static size_t find_by_call_id(const cdr_responses_answer *to, const char *id)
{
    size_t n = cadre_sink_call_count(to->sink);
    for (size_t i = n; id[0] != '\0' && i-- > 0;)
        if (strcmp(cadre_sink_get_call_id(to->sink, i), id) == 0)
            return i;
    return n;
}

static size_t find_for_arguments(const cdr_responses_answer *to, uint64_t item,
                                 int64_t index)
{
    size_t n = cadre_sink_call_count(to->sink);
    size_t found = find_by_item(to, item, index);
    if (found == n)
        found = find_by_place(to, index);
    if (found == n && n > 0 && (index < 0 || to->reader->calls[n - 1].place == 0))
        found = n - 1;
    return found;
}

void cdr_responses_add_arguments(cdr_responses_answer *to, cadre_scan_text item_id,
                                 int64_t index, cadre_scan_text text, bool is_whole)
{
    size_t call = find_for_arguments(to, hash_of(item_id), index);
    if (call == cadre_sink_call_count(to->sink) || text.len == 0 ||
        (is_whole && to->reader->calls[call].has_arguments))
        return;
    to->reader->calls[call].has_arguments = true;
    cadre_sink_scan_arguments(to->sink, call, text);
}

static bool is_named(const cdr_responses_answer *to, size_t call, const char *name)
{
    return strcmp(cadre_sink_get_call_name(to->sink, call), name) == 0;
}

// The call that an item tells more of. Some servers give each event ids of its own,
// some give all calls one place: what ends a call that is open at its place is of that
// call, and the calls of a whole response are those that were told, in their order.
static size_t find_call(const cdr_responses_answer *to, const item_fields *item,
                        const char *call_id, const char *name)
{
    size_t n = cadre_sink_call_count(to->sink);
    size_t found = find_by_call_id(to, call_id);
    if (found == n && call_id[0] == '\0')
        found = find_by_item(to, hash_of(item->id), item->index);
    if (found < n || item->telling == CDR_RESPONSES_BEGINS)
        return found;
    if (item->telling == CDR_RESPONSES_AT_END)
        return item->rank < n && is_named(to, item->rank, name) ? item->rank : n;
    found = item->index < 0 && n > 0 ? n - 1 : find_by_place(to, item->index);
    return found < n && to->reader->calls[found].is_open ? found : n;
}

static size_t add_call(cdr_responses_answer *to)
{
    size_t call = cadre_sink_call_count(to->sink);
    if (call == CDR_RESPONSES_MAX_CALLS) {
        to->status = cadre_fail_class(to->err, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE,
                                      false, "the answer has more than %d tool calls",
                                      CDR_RESPONSES_MAX_CALLS);
        return call;
    }
    cadre_sink_add_call(to->sink);
    if (call < cadre_sink_call_count(to->sink))
        to->reader->calls[call] = (cdr_responses_call){.place = 0};
    return call;
}

// The arguments of a call that begins come later, all of them.
static void add_whole_arguments(cdr_responses_answer *to, const item_fields *item,
                                size_t call)
{
    cadre_scan_text text = item->arguments;
    if (text.len == 0 || to->reader->calls[call].has_arguments)
        return;
    to->reader->calls[call].has_arguments = true;
    if (item->is_raw)
        cadre_sink_call_arguments(to->sink, call, text.data, text.len);
    else
        cadre_sink_scan_arguments(to->sink, call, text);
}

static void read_call(cdr_responses_answer *to, const item_fields *item)
{
    char id[MAX_NAME], name[MAX_NAME];
    cadre_scan_copy(item->call_id, id, sizeof(id));
    cadre_scan_copy(item->name, name, sizeof(name));
    size_t call = find_call(to, item, id, name);
    if (call == cadre_sink_call_count(to->sink))
        call = add_call(to);
    if (call >= cadre_sink_call_count(to->sink))
        return;
    cdr_responses_call *told = &to->reader->calls[call];
    if (told->place == 0)
        told->place = item->index + 1;
    if (told->item == 0)
        told->item = hash_of(item->id);
    told->is_open = item->telling == CDR_RESPONSES_BEGINS;
    cadre_sink_call_id(to->sink, call, id, strlen(id));
    cadre_sink_call_name(to->sink, call, name, strlen(name));
    if (item->telling != CDR_RESPONSES_BEGINS)
        add_whole_arguments(to, item, call);
}

// --- Messages and reasoning ---

// {"type": "output_text", "text": "..."}, {"type": "refusal", "refusal": "..."},
// {"type": "summary_text", "text": "..."}, {"type": "reasoning_text", "text": "..."}
static cadre_scan_text read_part(cadre_scan *scan)
{
    cadre_scan_text key, text = {"", 0, false};
    if (!cadre_scan_object(scan))
        return text;
    while (cadre_scan_key(scan, &key))
        if (cadre_scan_is(key, "text") || cadre_scan_is(key, "refusal"))
            cadre_scan_string(scan, &text);
        else
            cadre_scan_skip(scan);
    return text;
}

static void read_message(cdr_responses_answer *to, const item_fields *item)
{
    cadre_scan content = item->content;
    if (!item->has_content || !cadre_scan_array(&content))
        return;
    while (cadre_scan_item(&content))
        cdr_responses_add_text(to, read_part(&content));
}

// Parts of a summary are paragraphs.
static void read_thoughts(cdr_responses_answer *to, cadre_scan parts)
{
    static const cadre_scan_text paragraph = {"\\n\\n", 4, true};
    if (!cadre_scan_array(&parts))
        return;
    for (bool is_first = true; cadre_scan_item(&parts); is_first = false) {
        if (!is_first)
            cdr_responses_add_reasoning(to, paragraph);
        cdr_responses_add_reasoning(to, read_part(&parts));
    }
}

static bool is_empty_list(cadre_scan scan)
{
    return !cadre_scan_array(&scan) || !cadre_scan_item(&scan);
}

// Nothing is kept at the provider: reasoning without its content, sealed or not, could
// not be found there when it is sent back.
static void keep_reasoning(cdr_responses_answer *to, const item_fields *item)
{
    bool has_content = item->has_content && !is_empty_list(item->content);
    to->reader->has_reasoning_item = true;
    if (item->sealed.len > 0 || has_content)
        cadre_sink_item(to->sink, item->raw.data, item->raw.len);
}

static void show_reasoning(cdr_responses_answer *to, const item_fields *item)
{
    if (item->has_summary && !is_empty_list(item->summary))
        read_thoughts(to, item->summary);
    else if (item->has_content)
        read_thoughts(to, item->content);
}

// --- Items ---

static void read_arguments(cadre_scan *scan, item_fields *out)
{
    out->is_raw = cadre_scan_peek(scan) == CADRE_SCAN_OBJECT;
    if (out->is_raw)
        cadre_scan_raw(scan, &out->arguments);
    else
        cadre_scan_string(scan, &out->arguments);
}

static bool bookmark_list(cadre_scan *scan, cadre_scan *out)
{
    bool is_list = cadre_scan_peek(scan) == CADRE_SCAN_ARRAY;
    *out = *scan;
    cadre_scan_skip(scan);
    return is_list;
}

static void read_fields(cadre_scan *scan, item_fields *out)
{
    cadre_scan_text key;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "type"))
            cadre_scan_string(scan, &out->type);
        else if (cadre_scan_is(key, "id"))
            cadre_scan_string(scan, &out->id);
        else if (cadre_scan_is(key, "call_id"))
            cadre_scan_string(scan, &out->call_id);
        else if (cadre_scan_is(key, "name"))
            cadre_scan_string(scan, &out->name);
        else if (cadre_scan_is(key, "arguments"))
            read_arguments(scan, out);
        else if (cadre_scan_is(key, "encrypted_content"))
            cadre_scan_string(scan, &out->sealed);
        else if (cadre_scan_is(key, "content"))
            out->has_content = bookmark_list(scan, &out->content);
        else if (cadre_scan_is(key, "summary"))
            out->has_summary = bookmark_list(scan, &out->summary);
        else
            cadre_scan_skip(scan);
    }
}

// False: it is no object.
static bool read_item(cadre_scan *scan, item_fields *out)
{
    *out = (item_fields){.raw = {.data = NULL}};
    cadre_scan inner = *scan;
    if (!cadre_scan_raw(scan, &out->raw) || !cadre_scan_object(&inner))
        return false;
    read_fields(&inner, out);
    return !inner.failed;
}

// The next item has its own texts.
static void end_item(cdr_responses_reader *reader)
{
    reader->item_has_text = false;
    reader->item_has_reasoning = false;
    reader->part_has_text = false;
    reader->part_has_reasoning = false;
}

void cdr_responses_read_item(cdr_responses_answer *to, cadre_scan *scan, int64_t index,
                             cdr_responses_telling telling)
{
    item_fields item;
    if (!read_item(scan, &item))
        return;
    item.index = index < 0 ? -1 : index;
    item.telling = telling;
    if (cadre_scan_is(item.type, "function_call"))
        read_call(to, &item);
    if (telling == CDR_RESPONSES_BEGINS)
        return;
    if (cadre_scan_is(item.type, "message") && !to->reader->item_has_text)
        read_message(to, &item);
    if (cadre_scan_is(item.type, "reasoning")) {
        keep_reasoning(to, &item);
        if (!to->reader->item_has_reasoning)
            show_reasoning(to, &item);
    }
    if (!cadre_scan_is(item.type, "function_call"))
        end_item(to->reader);
}

// Reasoning belongs in front of what it led to: where that was told it is too late.
static void read_last(cdr_responses_answer *to, const item_fields *item,
                      const cdr_responses_reader *told, bool has_calls)
{
    if (cadre_scan_is(item->type, "function_call"))
        read_call(to, item);
    if (cadre_scan_is(item->type, "message") && !told->has_text)
        read_message(to, item);
    if (!cadre_scan_is(item->type, "reasoning"))
        return;
    if (!told->has_reasoning_item && !told->has_text && !has_calls)
        keep_reasoning(to, item);
    if (!told->has_reasoning)
        show_reasoning(to, item);
}

void cdr_responses_read_output(cdr_responses_answer *to, cadre_scan *scan)
{
    const cdr_responses_reader told = *to->reader;
    bool has_calls = cadre_sink_call_count(to->sink) > 0;
    size_t n_calls = 0;
    item_fields item;
    if (!cadre_scan_array(scan))
        return;
    for (int64_t i = 0; cadre_scan_item(scan) && to->status == CADRE_OK; i++) {
        if (!read_item(scan, &item))
            continue;
        item.index = i;
        item.rank = n_calls;
        item.telling = CDR_RESPONSES_AT_END;
        n_calls += cadre_scan_is(item.type, "function_call");
        read_last(to, &item, &told, has_calls);
    }
}
