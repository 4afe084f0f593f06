// From a transcript to the body of a response.
#include "openai_responses.h"

#include "cadre/ext/strict_schema.h"
#include "cadre/ext/wire_body.h"

#include <stdlib.h>
#include <string.h>

// Names of cached fragments; compared by address.
static const char text_fragment[] = "openai_responses text";
static const char parts_fragment[] = "openai_responses parts";
static const char own_fragment[] = "openai_responses own turn";
static const char foreign_fragment[] = "openai_responses foreign turn";

typedef struct writer {
    const cdr_responses_model *model;
    const cadre_request *request;
    cadre_http *http;
    bool has_item;
} writer;

static void begin_item(writer *to, const char *start)
{
    if (to->has_item)
        cadre_http_append_text(to->http, ",");
    to->has_item = true;
    cadre_http_append_text(to->http, start);
}

static void write_text(const cadre_request_item *item, cadre_http *http)
{
    cadre_http_append_string(http, item->text);
}

// --- What a user said ---

// The bytes as a data URL, or where they are.
static void append_source(cadre_http *http, const json_t *part)
{
    const char *url = cadre_wire_text(part, "url");
    if (url[0] != '\0') {
        cadre_http_append_string(http, url);
        return;
    }
    cadre_http_append_text(http, "\"data:");
    cadre_http_append_escaped(http, cadre_wire_text(part, "media_type"));
    cadre_http_append_text(http, ";base64,");
    cadre_http_append_escaped(http, cadre_wire_text(part, "data"));
    cadre_http_append_text(http, "\"");
}

// What is text goes as text, behind its name.
static void append_text_file(cadre_http *http, const json_t *part)
{
    cadre_http_append_text(http, "{\"type\":\"input_text\",\"text\":\"[");
    cadre_http_append_escaped(http, cadre_wire_text(part, "name"));
    cadre_http_append_text(http, "]\\n");
    cadre_http_append_escaped(http, cadre_wire_text(part, "text"));
    cadre_http_append_text(http, "\"}");
}

static void append_part(cadre_http *http, const json_t *part)
{
    if (json_object_get(part, "text")) {
        append_text_file(http, part);
        return;
    }
    if (strcmp(cadre_wire_text(part, "type"), "image") == 0) {
        cadre_http_append_text(http, "{\"type\":\"input_image\",\"image_url\":");
    } else {
        cadre_http_append_text(http, "{\"type\":\"input_file\",\"filename\":");
        cadre_http_append_string(http, cadre_wire_text(part, "name"));
        cadre_http_append_text(http, cadre_wire_text(part, "url")[0]
                                         ? ",\"file_url\":"
                                         : ",\"file_data\":");
    }
    append_source(http, part);
    cadre_http_append_text(http, "}");
}

static void write_parts(const cadre_request_item *item, cadre_http *http)
{
    json_t *parts = json_loads(item->message->parts, 0, NULL);
    size_t i = 0;
    const json_t *part = NULL;
    json_array_foreach(parts, i, part)
    {
        cadre_http_append_text(http, i == 0 ? "" : ",");
        append_part(http, part);
    }
    json_decref(parts);
}

static void append_text_part(cadre_http *http)
{
    cadre_http_append_text(http, "{\"type\":\"input_text\",\"text\":");
}

static void write_user(writer *to, const cadre_turn *turn)
{
    cadre_http *http = to->http;
    const char *comma = "";
    begin_item(to, "{\"type\":\"message\",\"role\":\"user\",\"content\":[");
    if (turn->n_items == 0) {
        append_text_part(http);
        cadre_http_append_string(http, turn->note);
        cadre_http_append_text(http, "}");
    }
    for (size_t i = 0; i < turn->n_items; i++) {
        const cadre_request_item *item = turn->items[i];
        const char *parts = item->message->parts;
        if (!cadre_wire_is_blank(item->text)) {
            cadre_http_append_text(http, comma);
            append_text_part(http);
            cadre_http_append_item(http, item, text_fragment, write_text);
            cadre_http_append_text(http, "}");
            comma = ",";
        }
        if (parts && parts[0]) {
            cadre_http_append_text(http, comma);
            cadre_http_append_item(http, item, parts_fragment, write_parts);
            comma = ",";
        }
    }
    cadre_http_append_text(http, "]}");
}

// --- What a model said ---

// Appends what it alone can read that stands before a place.
static void append_items(cadre_http *http, cadre_turn_items *list, int64_t end)
{
    cadre_turn_items before = *list;
    cadre_turn_item own;
    while (cadre_turn_items_next(list, &own) && own.place < end) {
        cadre_http_append_text(http, ",");
        cadre_http_append(http, own.json.data, own.json.len);
        before = *list;
    }
    *list = before; // the one that stands behind is looked at again
}

static void append_text(cadre_http *http, const char *text)
{
    cadre_http_append_text(http,
                           ",{\"type\":\"message\",\"role\":\"assistant\",\"content\":"
                           "[{\"type\":\"output_text\",\"text\":");
    cadre_http_append_string(http, text);
    cadre_http_append_text(http, "}]}");
}

// Appends a piece of text, unless it is blank.
static bool append_piece(cadre_http *http, const char *text, size_t len)
{
    char *piece = strndup(text, len);
    bool is_blank = piece && cadre_wire_is_blank(piece);
    if (!piece)
        cadre_http_fail(http);
    if (!is_blank)
        append_text(http, piece ? piece : "");
    free(piece);
    return !is_blank;
}

// Appends the items in front of the text and in it, each behind what was said before;
// blanks alone are no message. Returns how much of the text that was.
static size_t append_begun(cadre_http *http, cadre_turn_items *list, const char *text)
{
    size_t n = 0;
    cadre_turn_items before = *list;
    cadre_turn_item own;
    while (cadre_turn_items_next(list, &own) && own.is_in_text) {
        if (own.n_text > n && append_piece(http, text + n, own.n_text - n))
            n = own.n_text;
        cadre_http_append_text(http, ",");
        cadre_http_append(http, own.json.data, own.json.len);
        before = *list;
    }
    *list = before;
    return n;
}

static void append_call(cadre_http *http, const cadre_turn_call *call)
{
    char *arguments = cadre_wire_arguments(call->call->arguments);
    cadre_http_append_text(http, ",{\"type\":\"function_call\",\"call_id\":\"");
    cadre_http_append_text(http, call->id);
    cadre_http_append_text(http, "\",\"name\":\"");
    cadre_http_append_name(http, call->call->name);
    cadre_http_append_text(http, "\",\"arguments\":");
    cadre_http_append_string(http, arguments ? arguments : "{}");
    cadre_http_append_text(http, "}");
    free(arguments);
}

// All items of a turn, each with a comma before it. A reasoning item is refused without
// what it led to, so those behind the last one stay away.
static void write_turn_items(const cadre_turn *turn, cadre_http *http)
{
    cadre_turn_items list;
    const char *text = turn->items[0]->text;
    bool has_items = cadre_turn_items_begin(&list, turn);
    if (has_items)
        text += append_begun(http, &list, text);
    if (turn->has_text)
        append_text(http, text);
    for (size_t i = 0; i < turn->n_calls; i++) {
        if (has_items)
            append_items(http, &list, (int64_t)i + 2);
        append_call(http, &turn->calls[i]);
    }
}

static void write_results(writer *to, const cadre_turn *turn)
{
    for (size_t i = 0; i < turn->n_calls; i++) {
        const cadre_turn_call *call = &turn->calls[i];
        begin_item(to, "{\"type\":\"function_call_output\",\"call_id\":\"");
        cadre_http_append_text(to->http, call->id);
        cadre_http_append_text(to->http, "\",\"output\":");
        if (call->result)
            cadre_http_append_item(to->http, call->result, text_fragment, write_text);
        else
            cadre_http_append_string(to->http, call->result_text);
        cadre_http_append_text(to->http, "}");
    }
}

static void write_turn(writer *to, const cadre_turn *turn)
{
    switch (turn->kind) {
    case CADRE_TURN_USER:
        write_user(to, turn);
        break;
    case CADRE_TURN_ASSISTANT: // a user's turn stands before it
        cadre_http_append_turn(to->http, turn,
                               turn->is_own ? own_fragment : foreign_fragment,
                               write_turn_items);
        break;
    case CADRE_TURN_RESULTS:
        write_results(to, turn);
        break;
    }
}

// --- The rest ---

static void write_tools(const writer *to)
{
    const cadre_request *request = to->request;
    cadre_http *http = to->http;
    for (size_t i = 0; i < request->n_tools; i++) {
        const cadre_tool_info *tool = &request->tools[i];
        cadre_http_append_text(http, i == 0 ? ",\"tools\":[" : ",");
        cadre_http_append_text(http, "{\"type\":\"function\",\"name\":\"");
        cadre_http_append_name(http, tool->name);
        cadre_http_append_text(http, "\",\"strict\":false");
        cadre_wire_tool(http, tool, "parameters");
        cadre_http_append_text(http, "}");
    }
    if (request->n_tools > 0)
        cadre_http_append_text(http, "]");
}

static void write_format(const writer *to)
{
    const cadre_request *request = to->request;
    if (!request->output_schema)
        return;
    cadre_http_append_text(to->http,
                           ",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":");
    cadre_http_append_string(to->http, request->output_name);
    bool is_strict = cadre_schema_is_strict(request->output_schema);
    cadre_http_append_text(to->http,
                           is_strict ? ",\"strict\":true" : ",\"strict\":false");
    cadre_http_append_text(to->http, ",\"schema\":");
    cadre_http_append_json(to->http, request->output_schema);
    cadre_http_append_text(to->http, "}}");
}

static void write_head(const writer *to)
{
    const char *system = to->request->system;
    cadre_http_append_text(to->http, to->model->endpoint.head);
    if (!cadre_wire_is_blank(system)) {
        cadre_http_append_text(to->http, ",\"instructions\":");
        cadre_http_append_string(to->http, system);
    }
    cadre_http_append_text(to->http, ",\"input\":[");
}

static void write_input(writer *to)
{
    const cadre_request *request = to->request;
    size_t n_kept = cadre_http_kept_turns(to->http);
    if (n_kept == 0)
        write_head(to);
    to->has_item = n_kept > 0;
    for (size_t i = n_kept; i < request->n_turns; i++) {
        write_turn(to, &request->turns[i]);
        cadre_http_keep_turns(to->http, i + 1);
    }
}

cadre_status cdr_responses_encode(const void *state, const cadre_request *request,
                                  cadre_http *http, cadre_error *err)
{
    writer to = {.model = state, .request = request, .http = http};
    (void)err;
    cadre_endpoint_begin(&to.model->endpoint, request->api_key, http);
    write_input(&to);
    cadre_http_append_text(http, "]");
    write_format(&to);
    write_tools(&to);
    cadre_http_append_text(http, "}");
    return CADRE_OK;
}
