// From a request to the body of a chat completion.
//
// What is stored may be anything that ever happened; what is sent keeps these rules,
// and is the same each time for the same history:
// 1. Each call has exactly one result, right behind its message, in the order of calls.
//    A missing one is made up and says so; one without a call is left out.
// 2. Ids are unique. A message whose ids were used before, or which another provider
//    made too odd, gets ids that follow from its position: nine letters and digits.
// 3. No empty turn; neighbouring turns of the user are one (templates of local servers
//    want roles to alternate).
// 4. Arguments are the text of a JSON object.
#include "openai_chat.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ID 40 // OpenAI's limit
#define ID_SIZE (MAX_ID + 1)

#define NO_RESULT                                                                      \
    "Error: this call was interrupted. It has no result; it may or may not have run."

// Names of cached fragments; compared by address.
static const char text_fragment[] = "openai_chat text";
static const char reasoning_fragment[] = "openai_chat reasoning";
static const char calls_fragment[] = "openai_chat calls";
static const char renamed_fragment[] = "openai_chat renamed calls";

// Ids that stand before this point of the history: an open hash table of borrowed
// texts.
typedef struct id_set {
    const char **slots;
    size_t mask;
} id_set;

typedef struct writer {
    const cdr_openai_model *model;
    const cadre_request *request;
    cadre_http *http;
    id_set seen;
    bool has_message;
} writer;

static void append(cadre_http *http, const char *text)
{
    cadre_http_append(http, text, strlen(text));
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static bool is_assistant(const cadre_request_item *item)
{
    return item->rendering == CADRE_AS_OWN &&
           item->message->role == CADRE_ROLE_ASSISTANT;
}

// A turn that said nothing: it is left out, and its neighbours meet.
static bool is_spoken(const cadre_request_item *item)
{
    return is_assistant(item) &&
           (item->message->n_tool_calls > 0 || !is_blank(item->text));
}

static bool is_result(const cadre_request_item *item)
{
    return item->rendering == CADRE_AS_OWN && item->message->role == CADRE_ROLE_TOOL;
}

static bool has_calls(const cadre_request_item *item)
{
    return is_assistant(item) && item->message->n_tool_calls > 0;
}

static cadre_status id_set_init(id_set *set, const cadre_request *request,
                                cadre_error *err)
{
    size_t n_calls = 0;
    for (size_t i = 0; i < request->n_items; i++)
        if (has_calls(&request->items[i]))
            n_calls += request->items[i].message->n_tool_calls;
    size_t size = 1;
    while (size < 2 * n_calls)
        size *= 2;
    set->mask = size - 1;
    set->slots = n_calls > 0 ? calloc(size, sizeof(*set->slots)) : NULL;
    if (n_calls > 0 && !set->slots)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a model request");
    return CADRE_OK;
}

// Adds an id. False: it is there already.
static bool id_set_add(id_set *set, const char *id)
{
    assert(set->slots);                    // there are calls, so it was made
    uint64_t hash = 14695981039346656037U; // FNV-1a
    for (const char *at = id; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211U;
    size_t i = (size_t)(hash ^ (hash >> 32)) & set->mask;
    for (; set->slots[i]; i = (i + 1) & set->mask)
        if (strcmp(set->slots[i], id) == 0)
            return false;
    set->slots[i] = id;
    return true;
}

static bool is_sendable(const char *id)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-.:";
    size_t len = strspn(id, allowed);
    return id[len] == '\0' && len > 0 && len <= MAX_ID;
}

// Must the calls of this message get other ids?
static bool must_rename(id_set *seen, const cadre_message *message)
{
    bool must = false;
    for (size_t i = 0; i < message->n_tool_calls; i++) {
        const char *id = message->tool_calls[i].id;
        if (!is_sendable(id) || !id_set_add(seen, id))
            must = true;
    }
    return must;
}

// The id of a call on the wire.
static const char *wire_id(const cadre_message *message, size_t call, bool is_renamed,
                           char out[ID_SIZE])
{
    if (!is_renamed)
        return message->tool_calls[call].id;
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint64_t number = (uint64_t)message->position * CDR_OPENAI_MAX_CALLS + call;
    size_t at = 9;
    out[at] = '\0';
    while (at > 1) {
        out[--at] = digits[number % 36];
        number /= 36;
    }
    out[0] = 'c';
    return out;
}

static bool is_object(const char *text)
{
    cadre_scan scan;
    cadre_scan_init(&scan, text, strlen(text));
    if (cadre_scan_peek(&scan) != CADRE_SCAN_OBJECT)
        return false;
    cadre_scan_skip(&scan);
    return cadre_scan_is_done(&scan);
}

static void write_arguments(cadre_http *http, const char *arguments)
{
    if (is_blank(arguments)) {
        append(http, "\"{}\"");
        return;
    }
    if (is_object(arguments)) {
        cadre_http_append_string(http, arguments);
        return;
    }
    // Servers that parse them would refuse the whole history; the model is shown what
    // it wrote.
    json_t *shown = json_pack("{s:s}", "invalid_arguments", arguments);
    char *text = shown ? json_dumps(shown, JSON_COMPACT) : NULL;
    cadre_http_append_string(http, text ? text : "{}");
    free(text);
    json_decref(shown);
}

static void write_calls(const cadre_request_item *item, cadre_http *http,
                        bool is_renamed)
{
    const cadre_message *message = item->message;
    for (size_t i = 0; i < message->n_tool_calls; i++) {
        char id[ID_SIZE];
        append(http, i == 0 ? ",\"tool_calls\":[{\"id\":\"" : ",{\"id\":\"");
        append(http, wire_id(message, i, is_renamed, id));
        append(http, "\",\"type\":\"function\",\"function\":{\"name\":\"");
        cdr_openai_write_name(http, message->tool_calls[i].name);
        append(http, "\",\"arguments\":");
        write_arguments(http, message->tool_calls[i].arguments);
        append(http, "}}");
    }
    append(http, "]");
}

static void write_own_calls(const cadre_request_item *item, cadre_http *http)
{
    write_calls(item, http, false);
}

static void write_renamed_calls(const cadre_request_item *item, cadre_http *http)
{
    write_calls(item, http, true);
}

static void write_text(const cadre_request_item *item, cadre_http *http)
{
    cadre_http_append_escaped(http, item->text);
}

static void write_reasoning(const cadre_request_item *item, cadre_http *http)
{
    cadre_http_append_string(http, item->message->reasoning);
}

static void begin_message(writer *to, const char *start)
{
    if (to->has_message)
        append(to->http, ",");
    to->has_message = true;
    append(to->http, start);
}

static void write_result(writer *to, const char *id, const cadre_request_item *result)
{
    begin_message(to, "{\"role\":\"tool\",\"tool_call_id\":\"");
    append(to->http, id);
    append(to->http, "\",\"content\":\"");
    if (!result)
        append(to->http, NO_RESULT);
    else if (is_blank(result->text))
        append(to->http, "(no output)"); // some servers refuse an empty one
    else
        cadre_http_append_item(to->http, result, text_fragment, write_text);
    append(to->http, "\"}");
}

// Finds the result of a call between its message and the next one with calls.
static const cadre_request_item *find_result(const cadre_request *request, size_t from,
                                             const char *call_id)
{
    for (size_t i = from; i < request->n_items; i++) {
        const cadre_request_item *item = &request->items[i];
        if (has_calls(item))
            break;
        if (is_result(item) && strcmp(item->message->call_id, call_id) == 0)
            return item;
    }
    return NULL;
}

static void write_assistant(writer *to, size_t at)
{
    const cadre_request_item *item = &to->request->items[at];
    const cadre_message *message = item->message;
    bool calls = has_calls(item);
    bool is_renamed = calls && must_rename(&to->seen, message);
    begin_message(to, "{\"role\":\"assistant\",\"content\":\"");
    if (!is_blank(item->text))
        cadre_http_append_item(to->http, item, text_fragment, write_text);
    append(to->http, "\"");
    if (to->model->reasoning_key && message->reasoning && message->reasoning[0]) {
        append(to->http, ",\"");
        append(to->http, to->model->reasoning_key);
        append(to->http, "\":");
        cadre_http_append_item(to->http, item, reasoning_fragment, write_reasoning);
    }
    if (calls)
        cadre_http_append_item(to->http, item,
                               is_renamed ? renamed_fragment : calls_fragment,
                               is_renamed ? write_renamed_calls : write_own_calls);
    append(to->http, "}");
    for (size_t i = 0; calls && i < message->n_tool_calls; i++) {
        char id[ID_SIZE];
        write_result(to, wire_id(message, i, is_renamed, id),
                     find_result(to->request, at + 1, message->tool_calls[i].id));
    }
}

// Writes a run of user turns as one. Returns the index behind it.
static size_t write_user(writer *to, size_t at)
{
    const cadre_request *request = to->request;
    bool has_text = false;
    for (; at < request->n_items; at++) {
        const cadre_request_item *item = &request->items[at];
        if (is_spoken(item))
            break;
        if (is_result(item) || is_blank(item->text))
            continue; // a result was written with its call
        if (has_text)
            append(to->http, "\\n\\n");
        else
            begin_message(to, "{\"role\":\"user\",\"content\":\"");
        has_text = true;
        cadre_http_append_item(to->http, item, text_fragment, write_text);
    }
    if (has_text)
        append(to->http, "\"}");
    return at;
}

static void write_messages(writer *to)
{
    const cadre_request *request = to->request;
    if (!is_blank(request->system)) {
        begin_message(to, "{\"role\":\"system\",\"content\":");
        cadre_http_append_string(to->http, request->system);
        append(to->http, "}");
    }
    size_t at = 0;
    while (at < request->n_items) {
        if (is_spoken(&request->items[at]))
            write_assistant(to, at++);
        else
            at = write_user(to, at);
    }
}

static void write_tools(const writer *to)
{
    const cadre_request *request = to->request;
    cadre_http *http = to->http;
    for (size_t i = 0; i < request->n_tools; i++) {
        const cadre_tool_info *tool = &request->tools[i];
        append(http, i == 0 ? ",\"tools\":[" : ",");
        append(http, "{\"type\":\"function\",\"function\":{\"name\":\"");
        cdr_openai_write_name(http, tool->name);
        append(http, "\"");
        if (tool->description && !is_blank(tool->description)) {
            append(http, ",\"description\":");
            cadre_http_append_string(http, tool->description);
        }
        append(http, ",\"parameters\":");
        if (tool->parameters)
            cadre_http_append_json(http, tool->parameters);
        else
            append(http, "{\"type\":\"object\",\"properties\":{}}");
        append(http, "}}");
    }
    if (request->n_tools > 0) {
        append(http, "]");
        append(http, to->model->tool_tail);
    }
}

static void write_headers(const writer *to)
{
    const cdr_openai_model *model = to->model;
    cadre_http_add_header(to->http, "Content-Type", "application/json");
    cadre_http_add_header(to->http, "Accept", "text/event-stream");
    if (to->request->api_key && to->request->api_key[0])
        cadre_http_add_header(to->http, model->key_header, "%s%s",
                              model->is_bearer ? "Bearer " : "", to->request->api_key);
    void *at = json_object_iter(model->headers);
    for (; at; at = json_object_iter_next(model->headers, at))
        cadre_http_add_header(to->http, json_object_iter_key(at), "%s",
                              json_string_value(json_object_iter_value(at)));
}

cadre_status cdr_openai_encode(const void *state, const cadre_request *request,
                               cadre_http *http, cadre_error *err)
{
    writer to = {.model = state, .request = request, .http = http};
    cadre_status status = id_set_init(&to.seen, request, err);
    if (status != CADRE_OK)
        return status;
    cadre_http_set_url(http, "%s", to.model->url);
    write_headers(&to);
    append(http, to.model->head);
    write_messages(&to);
    append(http, "]");
    write_tools(&to);
    append(http, "}");
    free(to.seen.slots);
    return CADRE_OK;
}
