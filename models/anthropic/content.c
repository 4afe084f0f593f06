// What goes into a message: the content blocks of users and assistants.
//
// Users' blocks are left without their last brace, for the mark of the prompt cache.
#include "anthropic.h"

#include "cadre/ext/wire_body.h"

#include <stdlib.h>
#include <string.h>

// --- Images and files ---

static void append_source(cadre_http *http, const json_t *part)
{
    const char *url = cadre_wire_text(part, "url");
    cadre_http_append_text(http, ",\"source\":");
    if (url[0] != '\0') {
        cadre_http_append_text(http, "{\"type\":\"url\",\"url\":");
        cadre_http_append_string(http, url);
    } else {
        cadre_http_append_text(http, "{\"type\":\"base64\",\"media_type\":");
        cadre_http_append_string(http, cadre_wire_text(part, "media_type"));
        cadre_http_append_text(http, ",\"data\":");
        cadre_http_append_string(http, cadre_wire_text(part, "data"));
    }
    cadre_http_append_text(http, "}");
}

static void append_title(cadre_http *http, const json_t *part)
{
    const char *name = cadre_wire_text(part, "name");
    if (cadre_wire_is_blank(name))
        return;
    cadre_http_append_text(http, ",\"title\":");
    cadre_http_append_string(http, name);
}

static void append_text_file(cadre_http *http, const json_t *part)
{
    const char *text = cadre_wire_text(part, "text");
    cadre_http_append_text(
        http, "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":"
              "\"text/plain\",\"data\":");
    // A blank document would be refused, as a blank text is.
    cadre_http_append_string(http, cadre_wire_is_blank(text) ? "(no text)" : text);
    cadre_http_append_text(http, "}");
    append_title(http, part);
}

// The provider fetches pictures and PDF and nothing else; other addresses are told.
static void append_address(cadre_http *http, const json_t *part)
{
    cadre_http_append_text(http, "{\"type\":\"text\",\"text\":\"[");
    cadre_http_append_escaped(http, cadre_wire_text(part, "name"));
    cadre_http_append_text(http, "]\\n");
    cadre_http_append_escaped(http, cadre_wire_text(part, "url"));
    cadre_http_append_text(http, "\"");
}

// What cannot be shown is told, so that nobody waits for an answer to it.
static void append_unreadable(cadre_http *http, const json_t *part)
{
    cadre_http_append_text(http, "{\"type\":\"text\",\"text\":\"[file ");
    cadre_http_append_escaped(http, cadre_wire_text(part, "name"));
    cadre_http_append_text(http, " of type ");
    cadre_http_append_escaped(http, cadre_wire_text(part, "media_type"));
    cadre_http_append_text(http, ": this model cannot read it]\"");
}

static bool is_picture(const char *media_type)
{
    static const char *const known[] = {"image/png", "image/jpeg", "image/gif",
                                        "image/webp"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(media_type, known[i]) == 0)
            return true;
    return false;
}

static void append_part(cadre_http *http, const json_t *part)
{
    bool is_image = strcmp(cadre_wire_text(part, "type"), "image") == 0 &&
                    is_picture(cadre_wire_text(part, "media_type"));
    if (json_object_get(part, "text")) {
        append_text_file(http, part);
    } else if (is_image) {
        cadre_http_append_text(http, "{\"type\":\"image\"");
        append_source(http, part);
    } else if (strcmp(cadre_wire_text(part, "media_type"), "application/pdf") == 0) {
        cadre_http_append_text(http, "{\"type\":\"document\"");
        append_source(http, part);
        append_title(http, part);
    } else if (json_object_get(part, "url")) {
        append_address(http, part);
    } else {
        append_unreadable(http, part);
    }
}

void cdr_anthropic_write_parts(const cadre_request_item *item, cadre_http *http)
{
    json_error_t why;
    json_t *parts = json_loads(item->message->parts, 0, &why);
    size_t i = 0;
    const json_t *part = NULL;
    if (!parts && json_error_code(&why) == json_error_out_of_memory)
        cadre_http_fail(http);
    json_array_foreach(parts, i, part)
    {
        cadre_http_append_text(http, i == 0 ? "" : "},");
        append_part(http, part);
    }
    json_decref(parts);
}

// --- What an assistant said ---

// What an item says of itself; slices of it.
typedef struct own_item {
    cadre_scan_text type, id, answers;
} own_item;

static own_item look_into(cadre_scan_text json)
{
    own_item found = {{"", 0, false}, {"", 0, false}, {"", 0, false}};
    cadre_scan scan;
    cadre_scan_text key;
    cadre_scan_init(&scan, json.data, json.len);
    if (!cadre_scan_object(&scan))
        return found;
    while (cadre_scan_key(&scan, &key)) {
        if (cadre_scan_is(key, "type"))
            cadre_scan_string(&scan, &found.type);
        else if (cadre_scan_is(key, "id"))
            cadre_scan_string(&scan, &found.id);
        else if (cadre_scan_is(key, "tool_use_id"))
            cadre_scan_string(&scan, &found.answers);
        else
            cadre_scan_skip(&scan);
    }
    return found;
}

static bool ends_with(cadre_scan_text text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.data + text.len - len, end, len) == 0;
}

// A tool of the server whose result never came (the answer was cut there) would be
// refused.
static bool is_complete(cadre_scan_text json, cadre_turn_items rest)
{
    own_item use = look_into(json);
    cadre_turn_item later;
    if (!ends_with(use.type, "_tool_use"))
        return true;
    while (cadre_turn_items_next(&rest, &later)) {
        own_item result = look_into(later.json);
        if (result.answers.len > 0 && result.answers.len == use.id.len &&
            memcmp(result.answers.data, use.id.data, use.id.len) == 0)
            return true;
    }
    return false;
}

static void append_item(cadre_http *http, const cadre_turn_item *own,
                        const cadre_turn_items *rest)
{
    if (!is_complete(own->json, *rest))
        return;
    cadre_http_append(http, own->json.data, own->json.len);
    cadre_http_append_text(http, ",");
}

// Appends the items that stand before place `end`.
static void append_items(cadre_http *http, cadre_turn_items *list, int64_t end)
{
    cadre_turn_items before = *list;
    cadre_turn_item own;
    while (cadre_turn_items_next(list, &own) && own.place < end) {
        append_item(http, &own, list);
        before = *list;
    }
    *list = before; // the one that stands behind is looked at again
}

// Appends a piece of text, unless it is blank: that would be refused.
static bool append_piece(cadre_http *http, const char *text, size_t len)
{
    char *piece = strndup(text, len);
    bool is_blank = piece && cadre_wire_is_blank(piece);
    if (!piece)
        cadre_http_fail(http);
    if (!is_blank) {
        cadre_http_append_text(http, "{\"type\":\"text\",\"text\":");
        cadre_http_append_string(http, piece ? piece : "");
        cadre_http_append_text(http, "},");
    }
    free(piece);
    return !is_blank;
}

// Appends the items in front of the text and in it, each behind what was said before.
// Returns how much of the text that was.
static size_t append_begun(cadre_http *http, cadre_turn_items *list, const char *text)
{
    size_t n = 0;
    cadre_turn_items before = *list;
    cadre_turn_item own;
    while (cadre_turn_items_next(list, &own) && own.is_in_text) {
        if (own.n_text > n && append_piece(http, text + n, own.n_text - n))
            n = own.n_text;
        append_item(http, &own, list);
        before = *list;
    }
    *list = before;
    return n;
}

static void append_call(cadre_http *http, const cadre_turn_call *call)
{
    char name[CADRE_WIRE_NAME_SIZE];
    char *input = cadre_wire_arguments(call->call->arguments);
    cadre_wire_name(call->call->name, name);
    cadre_http_append_text(http, "{\"type\":\"tool_use\",\"id\":\"");
    cadre_http_append_text(http, call->id);
    cadre_http_append_text(http, "\",\"name\":\"");
    cadre_http_append_text(http, name);
    cadre_http_append_text(http, "\",\"input\":");
    cadre_http_append_text(http, input ? input : "");
    cadre_http_append_text(http, "}");
    if (!input)
        cadre_http_fail(http);
    free(input);
}

// Items stand where they came, but a message must not end with one: what would be last
// goes before the last block.
void cdr_anthropic_write_turn(cadre_http *http, const cadre_turn *turn)
{
    cadre_turn_items list;
    const char *text = turn->items[0]->text;
    size_t n = turn->n_calls;
    bool has_items = cadre_turn_items_begin(&list, turn);
    if (has_items)
        text += append_begun(http, &list, text);
    if (has_items && n == 0)
        append_items(http, &list, INT64_MAX);
    if (turn->has_text) {
        cadre_http_append_text(http, "{\"type\":\"text\",\"text\":");
        cadre_http_append_string(http, text);
        cadre_http_append_text(http, n == 0 ? "}" : "},");
    }
    for (size_t i = 0; i < n; i++) {
        if (has_items)
            append_items(http, &list, i + 1 == n ? INT64_MAX : (int64_t)i + 2);
        append_call(http, &turn->calls[i]);
        cadre_http_append_text(http, i + 1 < n ? "," : "");
    }
}

bool cdr_anthropic_begins_with_thought(const cadre_turn *turn)
{
    cadre_turn_items list;
    cadre_turn_item first;
    if (!cadre_turn_items_begin(&list, turn) || !cadre_turn_items_next(&list, &first))
        return false;
    own_item own = look_into(first.json);
    return first.place == 0 && (cadre_scan_is(own.type, "thinking") ||
                                cadre_scan_is(own.type, "redacted_thinking"));
}
