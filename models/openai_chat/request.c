// From a transcript to the body of a chat completion.
#include "openai_chat.h"

#include "cadre/ext/strict_schema.h"
#include "cadre/ext/wire_body.h"

#include <stdlib.h>
#include <string.h>

// Names of cached fragments; compared by address.
static const char text_fragment[] = "openai_chat text";
static const char parts_fragment[] = "openai_chat parts";
static const char reasoning_fragment[] = "openai_chat reasoning";
static const char own_fragment[] = "openai_chat own calls";
static const char foreign_fragment[] = "openai_chat foreign calls";

typedef struct writer {
    const cdr_openai_model *model;
    const cadre_request *request;
    cadre_http *http;
    bool has_message;
} writer;

static void append_arguments(cadre_http *http, const char *arguments)
{
    char *text = cadre_wire_arguments(arguments);
    if (text)
        cadre_http_append_string(http, text);
    else
        cadre_http_fail(http);
    free(text);
}

// Finds what an item has under a key.
static bool find_kept(cadre_scan_text item, const char *wanted, cadre_scan_text *out)
{
    cadre_scan scan;
    cadre_scan_text key;
    cadre_scan_init(&scan, item.data, item.len);
    if (!cadre_scan_object(&scan))
        return false;
    while (cadre_scan_key(&scan, &key)) {
        if (cadre_scan_is(key, wanted))
            return cadre_scan_raw(&scan, out);
        cadre_scan_skip(&scan);
    }
    return false;
}

// What Gemini gives with a call it wants back with it: a signature of its thoughts.
static void write_extra(cadre_turn_items *list, int64_t place, cadre_http *http)
{
    cadre_turn_items before = *list;
    cadre_turn_item own;
    cadre_scan_text extra;
    bool has_extra = false;
    while (cadre_turn_items_next(list, &own) && own.place <= place) {
        before = *list;
        if (own.place < place || has_extra ||
            !find_kept(own.json, CDR_OPENAI_EXTRA, &extra))
            continue;
        cadre_http_append_text(http, ",\"" CDR_OPENAI_EXTRA "\":");
        cadre_http_append(http, extra.data, extra.len);
        has_extra = true;
    }
    *list = before; // the one that stands behind is looked at again
}

// The field, with its quotes, in which reasoning goes back: servers refuse any but
// their own. Empty: none does.
static cadre_scan_text field_of(const cdr_openai_model *model, const cadre_turn *turn)
{
    const char *usual =
        model->reasoning_field ? model->reasoning_field : "\"reasoning_content\"";
    cadre_scan_text field = {usual, strlen(usual), false};
    cadre_turn_items list;
    cadre_turn_item own;
    bool has_kept = !model->reasoning_field && cadre_turn_items_begin(&list, turn);
    while (has_kept && cadre_turn_items_next(&list, &own))
        has_kept = !find_kept(own.json, CDR_OPENAI_FIELD, &field);
    return field;
}

static void write_calls(const cadre_turn *turn, cadre_http *http)
{
    cadre_turn_items list;
    bool has_items = cadre_turn_items_begin(&list, turn);
    for (size_t i = 0; i < turn->n_calls; i++) {
        const cadre_turn_call *call = &turn->calls[i];
        cadre_http_append_text(http,
                               i == 0 ? ",\"tool_calls\":[{\"id\":\"" : ",{\"id\":\"");
        cadre_http_append_text(http, call->id);
        cadre_http_append_text(http,
                               "\",\"type\":\"function\",\"function\":{\"name\":\"");
        cadre_http_append_name(http, call->call->name);
        cadre_http_append_text(http, "\",\"arguments\":");
        append_arguments(http, call->call->arguments);
        cadre_http_append_text(http, "}");
        if (has_items)
            write_extra(&list, (int64_t)i + 2, http); // it stands behind its call
        cadre_http_append_text(http, "}");
    }
    cadre_http_append_text(http, "]");
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
        cadre_http_append_text(to->http, ",");
    to->has_message = true;
    cadre_http_append_text(to->http, start);
}

static void write_assistant(writer *to, const cadre_turn *turn)
{
    const cadre_request_item *item = turn->items[0];
    const char *reasoning = item->message->reasoning;
    begin_message(to, "{\"role\":\"assistant\",\"content\":\"");
    if (turn->has_text)
        cadre_http_append_item(to->http, item, text_fragment, write_text);
    cadre_http_append_text(to->http, "\"");
    cadre_scan_text field = field_of(to->model, turn);
    if (field.len > strlen("\"\"") && turn->is_own && reasoning && reasoning[0]) {
        cadre_http_append_text(to->http, ",");
        cadre_http_append(to->http, field.data, field.len);
        cadre_http_append_text(to->http, ":");
        cadre_http_append_item(to->http, item, reasoning_fragment, write_reasoning);
    }
    if (turn->n_calls > 0)
        cadre_http_append_turn(to->http, turn,
                               turn->is_own ? own_fragment : foreign_fragment,
                               write_calls);
    cadre_http_append_text(to->http, "}");
}

static void write_results(writer *to, const cadre_turn *turn)
{
    for (size_t i = 0; i < turn->n_calls; i++) {
        const cadre_turn_call *call = &turn->calls[i];
        begin_message(to, "{\"role\":\"tool\",\"tool_call_id\":\"");
        cadre_http_append_text(to->http, call->id);
        cadre_http_append_text(to->http, "\",\"content\":\"");
        if (call->result)
            cadre_http_append_item(to->http, call->result, text_fragment, write_text);
        else
            cadre_http_append_escaped(to->http, call->result_text);
        cadre_http_append_text(to->http, "\"}");
    }
}

// What is text goes as text, behind its name; so does the address of a document, since
// this format has no other place for one.
static void append_text_file(cadre_http *http, const json_t *part, const char *text)
{
    cadre_http_append_text(http, "{\"type\":\"text\",\"text\":\"[");
    cadre_http_append_escaped(http, cadre_wire_text(part, "name"));
    cadre_http_append_text(http, "]\\n");
    cadre_http_append_escaped(http, text);
    cadre_http_append_text(http, "\"}");
}

static void append_image(cadre_http *http, const json_t *part)
{
    const char *url = cadre_wire_text(part, "url");
    cadre_http_append_text(http, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"");
    if (url[0]) {
        cadre_http_append_escaped(http, url);
    } else {
        cadre_http_append_text(http, "data:");
        cadre_http_append_escaped(http, cadre_wire_text(part, "media_type"));
        cadre_http_append_text(http, ";base64,");
        cadre_http_append_escaped(http, cadre_wire_text(part, "data"));
    }
    cadre_http_append_text(http, "\"}}");
}

static void append_sound(cadre_http *http, const json_t *part)
{
    bool is_wav = strcmp(cadre_wire_text(part, "media_type"), "audio/wav") == 0;
    cadre_http_append_text(http,
                           "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"");
    cadre_http_append_escaped(http, cadre_wire_text(part, "data"));
    cadre_http_append_text(http, is_wav ? "\",\"format\":\"wav\"}}"
                                        : "\",\"format\":\"mp3\"}}");
}

static void append_file(cadre_http *http, const json_t *part)
{
    cadre_http_append_text(http, "{\"type\":\"file\",\"file\":{\"filename\":");
    cadre_http_append_string(http, cadre_wire_text(part, "name"));
    cadre_http_append_text(http, ",\"file_data\":\"data:");
    cadre_http_append_escaped(http, cadre_wire_text(part, "media_type"));
    cadre_http_append_text(http, ";base64,");
    cadre_http_append_escaped(http, cadre_wire_text(part, "data"));
    cadre_http_append_text(http, "\"}}");
}

static void append_part(cadre_http *http, const json_t *part)
{
    if (json_object_get(part, "text"))
        append_text_file(http, part, cadre_wire_text(part, "text"));
    else if (strcmp(cadre_wire_text(part, "type"), "image") == 0)
        append_image(http, part);
    else if (!json_object_get(part, "data"))
        append_text_file(http, part, cadre_wire_text(part, "url"));
    else if (strncmp(cadre_wire_text(part, "media_type"), "audio/", 6) == 0)
        append_sound(http, part);
    else
        append_file(http, part);
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

static bool has_parts(const cadre_request_item *item)
{
    return item->message->parts && item->message->parts[0];
}

// A turn with pictures or files: a list of parts.
static void write_user_parts(writer *to, const cadre_turn *turn)
{
    const char *comma = "";
    begin_message(to, "{\"role\":\"user\",\"content\":[");
    for (size_t i = 0; i < turn->n_items; i++) {
        const cadre_request_item *item = turn->items[i];
        if (!cadre_wire_is_blank(item->text)) {
            cadre_http_append_text(to->http, comma);
            cadre_http_append_text(to->http, "{\"type\":\"text\",\"text\":\"");
            cadre_http_append_item(to->http, item, text_fragment, write_text);
            cadre_http_append_text(to->http, "\"}");
            comma = ",";
        }
        if (has_parts(item)) {
            cadre_http_append_text(to->http, comma);
            cadre_http_append_item(to->http, item, parts_fragment, write_parts);
            comma = ",";
        }
    }
    cadre_http_append_text(to->http, "]}");
}

static void write_user_text(writer *to, const cadre_turn *turn)
{
    begin_message(to, "{\"role\":\"user\",\"content\":\"");
    cadre_http_append_text(to->http, turn->note);
    for (size_t i = 0; i < turn->n_items; i++) {
        if (i > 0)
            cadre_http_append_text(to->http, "\\n\\n");
        cadre_http_append_item(to->http, turn->items[i], text_fragment, write_text);
    }
    cadre_http_append_text(to->http, "\"}");
}

// Local servers take a plain text better than a list with one.
static void write_user(writer *to, const cadre_turn *turn)
{
    for (size_t i = 0; i < turn->n_items; i++)
        if (has_parts(turn->items[i])) {
            write_user_parts(to, turn);
            return;
        }
    write_user_text(to, turn);
}

static void write_turn(writer *to, const cadre_turn *turn)
{
    switch (turn->kind) {
    case CADRE_TURN_USER:
        write_user(to, turn);
        break;
    case CADRE_TURN_ASSISTANT:
        write_assistant(to, turn);
        break;
    case CADRE_TURN_RESULTS:
        write_results(to, turn);
        break;
    }
}

// The system text, and in it the schema where that is told in words: a server that is
// asked for some JSON refuses requests that do not speak of it.
static void write_system(writer *to)
{
    const cadre_request *request = to->request;
    cdr_openai_format format = to->model->format;
    bool tells_schema = request->output_schema && (format == CDR_OPENAI_FORMAT_OBJECT ||
                                                   format == CDR_OPENAI_FORMAT_TEXT);
    bool is_empty = cadre_wire_is_blank(request->system);
    if (is_empty && !tells_schema)
        return;
    begin_message(to, "{\"role\":\"system\",\"content\":\"");
    if (!is_empty)
        cadre_http_append_escaped(to->http, request->system);
    if (tells_schema) {
        cadre_http_append_text(to->http, is_empty ? "" : "\\n\\n");
        cadre_wire_tell_schema(to->http, request->output_schema);
    }
    cadre_http_append_text(to->http, "\"}");
}

static void write_head(writer *to)
{
    cadre_http_append_text(to->http, to->model->endpoint.head);
    cadre_http_append_text(to->http, ",\"messages\":[");
    write_system(to);
}

static void write_messages(writer *to)
{
    const cadre_request *request = to->request;
    size_t n_kept = cadre_http_kept_turns(to->http);
    if (n_kept == 0)
        write_head(to);
    else
        to->has_message = true;
    for (size_t i = n_kept; i < request->n_turns; i++) {
        write_turn(to, &request->turns[i]);
        cadre_http_keep_turns(to->http, i + 1);
    }
}

static void write_tools(const writer *to)
{
    const cadre_request *request = to->request;
    cadre_http *http = to->http;
    for (size_t i = 0; i < request->n_tools; i++) {
        const cadre_tool_info *tool = &request->tools[i];
        cadre_http_append_text(http, i == 0 ? ",\"tools\":[" : ",");
        cadre_http_append_text(http,
                               "{\"type\":\"function\",\"function\":{\"name\":\"");
        cadre_http_append_name(http, tool->name);
        cadre_http_append_text(http, "\"");
        cadre_wire_tool(http, tool, "parameters");
        cadre_http_append_text(http, "}}");
    }
    if (request->n_tools > 0) {
        cadre_http_append_text(http, "]");
        cadre_http_append_text(http, to->model->tool_tail);
    }
}

static void write_format(const writer *to)
{
    const cadre_request *request = to->request;
    if (!request->output_schema)
        return;
    if (to->model->format == CDR_OPENAI_FORMAT_OBJECT)
        cadre_http_append_text(to->http,
                               ",\"response_format\":{\"type\":\"json_object\"}");
    if (to->model->format != CDR_OPENAI_FORMAT_SCHEMA)
        return;
    cadre_http_append_text(to->http, ",\"response_format\":{\"type\":\"json_schema\","
                                     "\"json_schema\":{\"name\":");
    cadre_http_append_string(to->http, request->output_name);
    if (cadre_schema_is_strict(request->output_schema))
        cadre_http_append_text(to->http, ",\"strict\":true");
    cadre_http_append_text(to->http, ",\"schema\":");
    cadre_http_append_json(to->http, request->output_schema);
    cadre_http_append_text(to->http, "}}");
}

cadre_status cdr_openai_encode(const void *state, const cadre_request *request,
                               cadre_http *http, cadre_error *err)
{
    writer to = {.model = state, .request = request, .http = http};
    (void)err;
    cadre_endpoint_begin(&to.model->endpoint, request->api_key, http);
    write_messages(&to);
    cadre_http_append_text(http, "]");
    write_tools(&to);
    write_format(&to);
    cadre_http_append_text(http, "}");
    return CADRE_OK;
}
