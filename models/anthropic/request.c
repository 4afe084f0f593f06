// From a transcript to the body of a message request.
//
// Results and what a user says behind them are one message, results first. Marks of the
// prompt cache, at most four: behind the tools, behind the system text, and behind the
// last two messages of a user, of which the older one is what the request before has
// written.
#include "anthropic.h"

#include "cadre/ext/wire_body.h"

#include <string.h>

// Names of cached fragments; compared by address.
static const char text_fragment[] = "anthropic text";
static const char parts_fragment[] = "anthropic parts";
static const char result_fragment[] = "anthropic result";
static const char own_fragment[] = "anthropic own turn";
static const char foreign_fragment[] = "anthropic foreign turn";

typedef struct writer {
    const cdr_anthropic_model *model;
    const cadre_request *request;
    cadre_http *http;
    size_t marks_from; // the turn from which on users' messages end with a mark
} writer;

// Ends a block, of which the prompt's prefix up to here is to be kept.
static void end_block(const writer *to, bool is_marked)
{
    if (is_marked && to->model->caches)
        cadre_http_append_text(to->http, ",\"cache_control\":{\"type\":\"ephemeral\"}");
    cadre_http_append_text(to->http, "}");
}

// --- Messages ---

static bool is_assistant(const writer *to, size_t turn)
{
    return to->request->turns[turn].kind == CADRE_TURN_ASSISTANT;
}

// Does a user's message end with this turn?
static bool is_end_of_message(const writer *to, size_t turn)
{
    return turn + 1 == to->request->n_turns || is_assistant(to, turn + 1);
}

static void find_marks(writer *to)
{
    size_t at = to->request->n_turns;
    size_t n_messages = 0;
    while (to->model->caches && at > 0 && n_messages < 2) {
        at--;
        n_messages += !is_assistant(to, at) && is_end_of_message(to, at);
    }
    to->marks_from = at;
}

static void write_result_text(const cadre_request_item *item, cadre_http *http)
{
    cadre_http_append_string(http, item->text);
}

static void write_results(const writer *to, const cadre_turn *turn, bool is_marked)
{
    cadre_http *http = to->http;
    for (size_t i = 0; i < turn->n_calls; i++) {
        const cadre_turn_call *call = &turn->calls[i];
        cadre_http_append_text(http, i == 0 ? "" : ",");
        cadre_http_append_text(http, "{\"type\":\"tool_result\",\"tool_use_id\":\"");
        cadre_http_append_text(http, call->id);
        cadre_http_append_text(http, call->is_error
                                         ? "\",\"is_error\":true,\"content\":"
                                         : "\",\"content\":");
        if (call->result)
            cadre_http_append_item(http, call->result, result_fragment,
                                   write_result_text);
        else
            cadre_http_append_string(http, call->result_text);
        end_block(to, is_marked && i + 1 == turn->n_calls);
    }
}

static void write_text(const cadre_request_item *item, cadre_http *http)
{
    cadre_http_append_escaped(http, item->text);
}

// Texts that follow one another are one block: the model may see no border between
// blocks. Pictures stand before the text that speaks of them: so the provider advises.
static void write_said(const writer *to, const cadre_turn *turn, bool is_marked)
{
    cadre_http *http = to->http;
    const char *before = "";
    bool is_open = turn->n_items == 0;
    if (is_open) {
        cadre_http_append_text(http, "{\"type\":\"text\",\"text\":\"");
        cadre_http_append_escaped(http, turn->note);
    }
    for (size_t i = 0; i < turn->n_items; i++) {
        const cadre_request_item *item = turn->items[i];
        const char *parts = item->message->parts;
        if (parts && parts[0]) {
            cadre_http_append_text(http, is_open ? "\"}," : before);
            cadre_http_append_item(http, item, parts_fragment,
                                   cdr_anthropic_write_parts);
            is_open = false;
            before = "},";
        }
        if (cadre_wire_is_blank(item->text))
            continue;
        cadre_http_append_text(http, is_open ? "\\n\\n" : before);
        cadre_http_append_text(http, is_open ? "" : "{\"type\":\"text\",\"text\":\"");
        cadre_http_append_item(http, item, text_fragment, write_text);
        is_open = true;
    }
    cadre_http_append_text(http, is_open ? "\"" : "");
    end_block(to, is_marked);
}

static void write_assistant_blocks(const cadre_turn *turn, cadre_http *http)
{
    cdr_anthropic_write_turn(http, turn);
}

static void write_content(const writer *to, size_t at)
{
    const cadre_turn *turn = &to->request->turns[at];
    bool is_marked = at >= to->marks_from && is_end_of_message(to, at);
    if (turn->kind == CADRE_TURN_ASSISTANT)
        cadre_http_append_turn(to->http, turn,
                               turn->is_own ? own_fragment : foreign_fragment,
                               write_assistant_blocks);
    else if (turn->kind == CADRE_TURN_RESULTS)
        write_results(to, turn, is_marked);
    else
        write_said(to, turn, is_marked);
}

// A message is closed by what comes behind it, so that what is written of a turn does
// not depend on the next one.
static void write_turn(const writer *to, size_t at)
{
    bool goes_on = at > 0 && is_assistant(to, at) == is_assistant(to, at - 1);
    if (at > 0)
        cadre_http_append_text(to->http, goes_on ? "," : "]},");
    if (!goes_on)
        cadre_http_append_text(to->http, is_assistant(to, at)
                                             ? "{\"role\":\"assistant\",\"content\":["
                                             : "{\"role\":\"user\",\"content\":[");
    write_content(to, at);
}

// What has a mark is written again the next time.
static void write_messages(writer *to)
{
    find_marks(to);
    size_t n_kept = cadre_http_cut_turns(to->http, to->marks_from);
    if (n_kept == 0) {
        cadre_http_append_text(to->http, to->model->endpoint.head);
        cadre_http_append_text(to->http, ",\"messages\":[");
    }
    for (size_t i = n_kept; i < to->request->n_turns; i++) {
        write_turn(to, i);
        if (i < to->marks_from)
            cadre_http_keep_turns(to->http, i + 1);
    }
    cadre_http_append_text(to->http, "]}]");
}

// --- The rest ---

// `told`: a schema of the answer that stands here for want of another place; NULL:
// none.
static void write_system(const writer *to, const json_t *told)
{
    bool is_empty = cadre_wire_is_blank(to->request->system);
    if (is_empty && !told)
        return;
    cadre_http_append_text(to->http, ",\"system\":[{\"type\":\"text\",\"text\":\"");
    if (!is_empty)
        cadre_http_append_escaped(to->http, to->request->system);
    if (told) {
        cadre_http_append_text(to->http, is_empty ? "" : "\\n\\n");
        cadre_wire_tell_schema(to->http, told);
    }
    cadre_http_append_text(to->http, "\"");
    end_block(to, true);
    cadre_http_append_text(to->http, "]");
}

static void write_tool(const writer *to, const cadre_tool_info *tool)
{
    cadre_http *http = to->http;
    char name[CADRE_WIRE_NAME_SIZE];
    cadre_wire_name(tool->name, name);
    cadre_http_append_text(http, "{\"name\":\"");
    cadre_http_append_text(http, name);
    cadre_http_append_text(http, "\"");
    cadre_wire_tool(http, tool, "input_schema");
}

static void write_tools(const writer *to)
{
    const cadre_request *request = to->request;
    if (request->n_tools == 0)
        return;
    cadre_http_append_text(to->http, ",\"tools\":[");
    for (size_t i = 0; i < request->n_tools; i++) {
        cadre_http_append_text(to->http, i == 0 ? "" : ",");
        write_tool(to, &request->tools[i]);
        end_block(to, i + 1 == request->n_tools);
    }
    cadre_http_append_text(to->http, "]");
    cadre_http_append_text(to->http,
                           to->model->tool_choice ? to->model->tool_choice : "");
}

// With a budget for thinking the provider refuses to go on with calls that did not
// begin with a thought: those of another model, or made while thinking was off. There
// the model goes on without.
static bool may_think(const writer *to)
{
    const cadre_request *request = to->request;
    if (!to->model->has_budget)
        return true;
    for (size_t at = request->n_turns; at > 0; at--)
        if (is_assistant(to, at - 1))
            return request->turns[at - 1].n_calls == 0 ||
                   cdr_anthropic_begins_with_thought(&request->turns[at - 1]);
    return true;
}

// `schema`: of the answer, as the provider takes it; NULL: none.
static void write_output_config(const writer *to, const json_t *schema)
{
    const char *effort = to->model->effort;
    if (!effort && !schema)
        return;
    cadre_http_append_text(to->http, ",\"output_config\":{");
    if (effort) {
        cadre_http_append_text(to->http, "\"effort\":");
        cadre_http_append_text(to->http, effort);
    }
    if (schema) {
        cadre_http_append_text(to->http, effort ? ",\"format\":" : "\"format\":");
        cadre_http_append_text(to->http, "{\"type\":\"json_schema\",\"schema\":");
        cadre_http_append_json(to->http, schema);
        cadre_http_append_text(to->http, "}");
    }
    cadre_http_append_text(to->http, "}");
}

static void begin(const writer *to)
{
    const cdr_anthropic_model *model = to->model;
    cadre_http_set_header(to->http, "anthropic-version", "2023-06-01");
    if (model->beta)
        cadre_http_set_header(to->http, "anthropic-beta", "%s", model->beta);
    cadre_endpoint_begin(&model->endpoint, to->request->api_key, to->http);
}

cadre_status cdr_anthropic_encode(const void *state, const cadre_request *request,
                                  cadre_http *http, cadre_error *err)
{
    writer to = {.model = state, .request = request, .http = http};
    const json_t *wanted = request->output_schema;
    bool has_place = wanted && !to.model->tells_schema;
    json_t *schema = has_place ? cdr_anthropic_fit_schema(wanted) : NULL;
    (void)err;
    begin(&to);
    write_messages(&to);
    if (to.model->thinking && may_think(&to))
        cadre_http_append_text(http, to.model->thinking);
    write_output_config(&to, schema);
    write_tools(&to);
    write_system(&to, schema ? NULL : wanted);
    cadre_http_append_text(http, "}");
    json_decref(schema);
    return CADRE_OK;
}
