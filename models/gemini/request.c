// From a transcript to the body of a request for generated content.
//
// Results are a content of their own: as many as there were calls, in their order, and
// nothing else, since models refuse it, or say nothing, where a text stands beside
// them.
#include "gemini.h"

#include "cadre/ext/wire_body.h"

#include <stdlib.h>
#include <string.h>

// Names of cached fragments; compared by address. A content of the model depends on
// whose it is and on whether calls need a signature.
static const char text_fragment[] = "gemini text";
static const char parts_fragment[] = "gemini parts";
static const char result_fragment[] = "gemini result";
static const char own_fragment[] = "gemini own";
static const char foreign_fragment[] = "gemini foreign";
static const char signed_fragment[] = "gemini signed";
static const char signed_foreign_fragment[] = "gemini signed foreign";

// The provider's own word for a call that no model of it made.
static const char no_signature[] = "\"skip_thought_signature_validator\"";

typedef struct writer {
    const cdr_gemini_model *model;
    const cadre_request *request;
    cadre_http *http;
} writer;

static void write_escaped(const cadre_request_item *item, cadre_http *http)
{
    cadre_http_append_escaped(http, item->text);
}

static void write_string(const cadre_request_item *item, cadre_http *http)
{
    cadre_http_append_string(http, item->text);
}

// --- What a user said ---

// What is text goes as text, behind its name.
static void append_text_file(cadre_http *http, const json_t *part)
{
    cadre_http_append_text(http, "{\"text\":\"[");
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
    const char *url = cadre_wire_text(part, "url");
    cadre_http_append_text(http, url[0] ? "{\"fileData\":{" : "{\"inlineData\":{");
    cadre_http_append_text(http, "\"mimeType\":");
    cadre_http_append_string(http, cadre_wire_text(part, "media_type"));
    cadre_http_append_text(http, url[0] ? ",\"fileUri\":" : ",\"data\":");
    cadre_http_append_string(http, url[0] ? url : cadre_wire_text(part, "data"));
    cadre_http_append_text(http, "}}");
}

static void write_parts(const cadre_request_item *item, cadre_http *http)
{
    json_error_t why;
    json_t *parts = json_loads(item->message->parts, 0, &why);
    size_t i = 0;
    const json_t *part = NULL;
    if (!parts && json_error_code(&why) == json_error_out_of_memory)
        cadre_http_fail(http);
    json_array_foreach(parts, i, part)
    {
        cadre_http_append_text(http, i == 0 ? "" : ",");
        append_part(http, part);
    }
    if (i == 0)
        cadre_http_append_text(http, "{\"text\":\"(nothing)\"}");
    json_decref(parts);
}

// Texts that follow one another are one part: the model sees no border between parts.
static void write_said(const writer *to, const cadre_turn *turn)
{
    cadre_http *http = to->http;
    const char *before = "";
    bool is_open = turn->n_items == 0;
    if (is_open) {
        cadre_http_append_text(http, "{\"text\":\"");
        cadre_http_append_escaped(http, turn->note);
    }
    for (size_t i = 0; i < turn->n_items; i++) {
        const cadre_request_item *item = turn->items[i];
        const char *parts = item->message->parts;
        if (parts && parts[0]) {
            cadre_http_append_text(http, is_open ? "\"}," : before);
            cadre_http_append_item(http, item, parts_fragment, write_parts);
            is_open = false;
            before = ",";
        }
        if (cadre_wire_is_blank(item->text))
            continue;
        cadre_http_append_text(http, is_open ? "\\n\\n" : before);
        cadre_http_append_text(http, is_open ? "" : "{\"text\":\"");
        cadre_http_append_item(http, item, text_fragment, write_escaped);
        is_open = true;
    }
    cadre_http_append_text(http, is_open ? "\"}" : "");
}

static void write_results(const writer *to, const cadre_turn *turn)
{
    cadre_http *http = to->http;
    for (size_t i = 0; i < turn->n_calls; i++) {
        const cadre_turn_call *call = &turn->calls[i];
        cadre_http_append_text(http, i == 0 ? "" : ",");
        cadre_http_append_text(http, "{\"functionResponse\":{\"id\":\"");
        cadre_http_append_text(http, call->id);
        cadre_http_append_text(http, "\",\"name\":\"");
        cadre_http_append_name(http, call->call->name);
        cadre_http_append_text(http, call->is_error ? "\",\"response\":{\"error\":"
                                                    : "\",\"response\":{\"output\":");
        if (call->result)
            cadre_http_append_item(http, call->result, result_fragment, write_string);
        else
            cadre_http_append_string(http, call->result_text);
        cadre_http_append_text(http, "}}}");
    }
}

// --- What a model said ---

// Of an item that is nothing else, and so belongs to the call before it: the
// signature, as JSON. Empty: it is something else.
static cadre_scan_text signature_of(cadre_scan_text json)
{
    cadre_scan_text signature = {"", 0, false};
    cadre_scan_text key;
    cadre_scan scan;
    cadre_scan_init(&scan, json.data, json.len);
    if (cadre_scan_object(&scan) && cadre_scan_key(&scan, &key) &&
        cadre_scan_is(key, "thoughtSignature") && cadre_scan_raw(&scan, &signature) &&
        !cadre_scan_key(&scan, &key))
        return signature;
    return (cadre_scan_text){"", 0, false};
}

// Appends an item as a part. A signature whose call is not there any more is left out.
static bool append_own(cadre_http *http, const cadre_turn_item *own, bool has_part)
{
    if (signature_of(own->json).len > 0)
        return has_part;
    cadre_http_append_text(http, has_part ? "," : "");
    cadre_http_append(http, own->json.data, own->json.len);
    return true;
}

// Appends the items up to a place.
static bool append_items(cadre_http *http, cadre_turn_items *list, int64_t place,
                         bool has_part)
{
    cadre_turn_items before = *list;
    cadre_turn_item own;
    while (cadre_turn_items_next(list, &own) && own.place <= place) {
        has_part = append_own(http, &own, has_part);
        before = *list;
    }
    *list = before; // the one that stands behind is looked at again
    return has_part;
}

static bool append_piece(cadre_http *http, const char *text, size_t len, bool has_part)
{
    char *piece = strndup(text, len);
    cadre_http_append_text(http, has_part ? ",{\"text\":" : "{\"text\":");
    cadre_http_append_string(http, piece ? piece : "");
    cadre_http_append_text(http, "}");
    if (!piece)
        cadre_http_fail(http);
    free(piece);
    return true;
}

// Appends the text, and the items in front of it and in it, each behind what was said
// before.
static bool append_text(cadre_http *http, cadre_turn_items *list,
                        const cadre_turn *turn)
{
    size_t n = 0;
    bool has_part = false;
    const char *text = turn->items[0]->text;
    cadre_turn_items before = list ? *list : (cadre_turn_items){.len = 0};
    cadre_turn_item own;
    while (list && cadre_turn_items_next(list, &own) && own.is_in_text) {
        if (own.n_text > n)
            has_part = append_piece(http, text + n, own.n_text - n, has_part);
        n = own.n_text > n ? own.n_text : n;
        has_part = append_own(http, &own, has_part);
        before = *list;
    }
    if (list)
        *list = before;
    return turn->has_text ? append_piece(http, text + n, strlen(text + n), has_part)
                          : has_part;
}

// Takes the signature of the call that is place - 1.
static cadre_scan_text take_signature(cadre_turn_items *list, int64_t place)
{
    cadre_turn_items next = *list;
    cadre_turn_item own;
    cadre_scan_text signature = {"", 0, false};
    if (cadre_turn_items_next(&next, &own) && own.place == place)
        signature = signature_of(own.json);
    if (signature.len > 0)
        *list = next;
    return signature;
}

static void append_call(cadre_http *http, const cadre_turn_call *call,
                        cadre_scan_text signature)
{
    char *arguments = cadre_wire_arguments(call->call->arguments);
    cadre_http_append_text(http, "{\"functionCall\":{\"id\":\"");
    cadre_http_append_text(http, call->id);
    cadre_http_append_text(http, "\",\"name\":\"");
    cadre_http_append_name(http, call->call->name);
    cadre_http_append_text(http, "\",\"args\":");
    cadre_http_append_text(http, arguments ? arguments : "");
    cadre_http_append_text(http, "}");
    if (!arguments)
        cadre_http_fail(http);
    free(arguments);
    if (signature.len > 0) {
        cadre_http_append_text(http, ",\"thoughtSignature\":");
        cadre_http_append(http, signature.data, signature.len);
    }
    cadre_http_append_text(http, "}");
}

static void append_turn(cadre_http *http, const cadre_turn *turn, bool wants_signature)
{
    static const cadre_scan_text none = {"", 0, false};
    static const cadre_scan_text made = {no_signature, sizeof(no_signature) - 1, false};
    cadre_turn_items list;
    bool has_items = cadre_turn_items_begin(&list, turn);
    bool has_part = append_text(http, has_items ? &list : NULL, turn);
    if (has_items)
        has_part =
            append_items(http, &list, turn->n_calls == 0 ? INT64_MAX : 1, has_part);
    for (size_t i = 0; i < turn->n_calls; i++) {
        int64_t place = (int64_t)i + 2;
        cadre_scan_text signature = has_items ? take_signature(&list, place) : none;
        if (signature.len == 0 && i == 0 && wants_signature)
            signature = made;
        cadre_http_append_text(http, has_part ? "," : "");
        append_call(http, &turn->calls[i], signature);
        has_part = true;
        if (has_items)
            append_items(http, &list, i + 1 == turn->n_calls ? INT64_MAX : place, true);
    }
}

static void write_turn(const cadre_turn *turn, cadre_http *http)
{
    append_turn(http, turn, false);
}

static void write_signed_turn(const cadre_turn *turn, cadre_http *http)
{
    append_turn(http, turn, true);
}

static void write_model(const writer *to, const cadre_turn *turn)
{
    static const char *const fragments[2][2] = {
        {foreign_fragment, own_fragment},
        {signed_foreign_fragment, signed_fragment},
    };
    bool is_signed = to->model->is_of_3_on;
    cadre_http_append_text(to->http, "{\"role\":\"model\",\"parts\":[");
    cadre_http_append_turn(to->http, turn, fragments[is_signed][turn->is_own],
                           is_signed ? write_signed_turn : write_turn);
    cadre_http_append_text(to->http, "]}");
}

// --- The body ---

static void write_turn_of(const writer *to, const cadre_turn *turn)
{
    if (turn->kind == CADRE_TURN_ASSISTANT) {
        write_model(to, turn);
        return;
    }
    cadre_http_append_text(to->http, "{\"role\":\"user\",\"parts\":[");
    if (turn->kind == CADRE_TURN_RESULTS)
        write_results(to, turn);
    else
        write_said(to, turn);
    cadre_http_append_text(to->http, "]}");
}

static void write_contents(const writer *to)
{
    const char *head = to->model->endpoint.head;
    size_t n_kept = cadre_http_kept_turns(to->http);
    if (n_kept == 0) {
        cadre_http_append_text(to->http, head);
        cadre_http_append_text(to->http,
                               head[1] ? ",\"contents\":[" : "\"contents\":[");
    }
    for (size_t i = n_kept; i < to->request->n_turns; i++) {
        cadre_http_append_text(to->http, i > 0 ? "," : "");
        write_turn_of(to, &to->request->turns[i]);
        cadre_http_keep_turns(to->http, i + 1);
    }
    cadre_http_append_text(to->http, "]");
}

// Is the schema of the answer told in words? Models before Gemini 3 take none beside
// tools.
static bool tells_schema(const writer *to)
{
    const cadre_request *request = to->request;
    bool has_place = to->model->is_of_3_on || request->n_tools == 0;
    return request->output_schema && (to->model->tells_schema || !has_place);
}

static void write_system(const writer *to)
{
    bool is_empty = cadre_wire_is_blank(to->request->system);
    if (is_empty && !tells_schema(to))
        return;
    cadre_http_append_text(to->http, ",\"systemInstruction\":{\"parts\":[{\"text\":\"");
    if (!is_empty)
        cadre_http_append_escaped(to->http, to->request->system);
    if (tells_schema(to)) {
        cadre_http_append_text(to->http, is_empty ? "" : "\\n\\n");
        cadre_wire_tell_schema(to->http, to->request->output_schema);
    }
    cadre_http_append_text(to->http, "\"}]}");
}

static void write_tools(const writer *to)
{
    const cadre_request *request = to->request;
    cadre_http *http = to->http;
    if (request->n_tools == 0)
        return;
    cadre_http_append_text(http, ",\"tools\":[{\"functionDeclarations\":[");
    for (size_t i = 0; i < request->n_tools; i++) {
        const cadre_tool_info *tool = &request->tools[i];
        cadre_http_append_text(http, i == 0 ? "{\"name\":\"" : ",{\"name\":\"");
        cadre_http_append_name(http, tool->name);
        cadre_http_append_text(http, "\"");
        if (tool->description && !cadre_wire_is_blank(tool->description)) {
            cadre_http_append_text(http, ",\"description\":");
            cadre_http_append_string(http, tool->description);
        }
        if (tool->parameters) {
            cadre_http_append_text(http, ",\"parametersJsonSchema\":");
            cdr_gemini_append_schema(http, tool->parameters);
        }
        cadre_http_append_text(http, "}");
    }
    cadre_http_append_text(http, "]}]");
    if (to->model->tool_config) {
        cadre_http_append_text(http, ",\"toolConfig\":");
        cadre_http_append_text(http, to->model->tool_config);
    }
}

static void write_generation(const writer *to)
{
    const char *made = to->model->generation;
    const json_t *schema = tells_schema(to) ? NULL : to->request->output_schema;
    if (!made[1] && !schema)
        return;
    cadre_http_append_text(to->http, ",\"generationConfig\":");
    cadre_http_append_text(to->http, made);
    if (schema) {
        cadre_http_append_text(to->http, made[1] ? "," : "");
        cadre_http_append_text(to->http, "\"responseMimeType\":\"application/json\","
                                         "\"responseJsonSchema\":");
        cdr_gemini_append_schema(to->http, schema);
    }
    cadre_http_append_text(to->http, "}");
}

cadre_status cdr_gemini_encode(const void *state, const cadre_request *request,
                               cadre_http *http, cadre_error *err)
{
    writer to = {.model = state, .request = request, .http = http};
    (void)err;
    cadre_endpoint_begin(&to.model->endpoint, request->api_key, http);
    write_contents(&to);
    write_generation(&to);
    write_system(&to);
    write_tools(&to);
    cadre_http_append_text(http, "}");
    return CADRE_OK;
}
