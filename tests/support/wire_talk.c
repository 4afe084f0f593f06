// See wire_talk.h.
#include "support/wire_talk.h"

#include "support/check.h"

#include "base/buf.h"
#include "team/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ID 40
#define MAX_NAME 64

// --- An outline ---

typedef struct outline {
    cdr_buf text;
    json_t *ids;      // numbers of those that were met
    const char *role; // of the last line; NULL: none can be gone on with
} outline;

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void say(outline *o, const char *role, const char *text)
{
    if (o->role && strcmp(o->role, role) == 0)
        cdr_buf_printf(&o->text, "\n\n%s", text);
    else
        cdr_buf_printf(&o->text, "%s%s %s", o->text.len > 0 ? "\n" : "", role, text);
    o->role = role;
}

static bool is_word(const char *text, size_t max)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    size_t len = strspn(text, letters);
    return len > 0 && len <= max && text[len] == '\0';
}

static int number_of(outline *o, const char *id)
{
    CHECK(is_word(id, MAX_ID));
    if (!json_object_get(o->ids, id))
        json_object_set_new(o->ids, id,
                            json_integer((json_int_t)json_object_size(o->ids) + 1));
    return (int)json_integer_value(json_object_get(o->ids, id));
}

static void say_call(outline *o, const char *id, const char *name,
                     const json_t *arguments)
{
    char *text = json_dumps(arguments, JSON_COMPACT | JSON_ENCODE_ANY);
    CHECK(is_word(name, MAX_NAME));
    CHECK(json_is_object(arguments));
    o->role = NULL;
    cdr_buf_printf(&o->text, "\ncall #%d %s %s", number_of(o, id), name,
                   text ? text : "");
    free(text);
}

static void say_call_text(outline *o, const char *id, const char *name,
                          const char *arguments)
{
    json_t *json = json_loads(arguments, 0, NULL);
    say_call(o, id, name, json);
    json_decref(json);
}

static void say_result(outline *o, const char *id, const char *text)
{
    o->role = NULL;
    cdr_buf_printf(&o->text, "\nresult #%d %s", number_of(o, id), text);
}

// A text, or a list of parts with a text each.
static void say_content(outline *o, const char *role, const json_t *content)
{
    size_t i = 0;
    const json_t *part = NULL;
    if (json_is_string(content))
        say(o, role, json_string_value(content));
    json_array_foreach(content, i, part)
    {
        if (json_object_get(part, "text"))
            say(o, role, text_of(part, "text"));
    }
}

// --- OpenAI chat completions ---

static void outline_chat(outline *o, const json_t *body)
{
    size_t i = 0;
    size_t k = 0;
    const json_t *message = NULL;
    const json_t *call = NULL;
    json_array_foreach(json_object_get(body, "messages"), i, message)
    {
        const char *role = text_of(message, "role");
        const json_t *content = json_object_get(message, "content");
        const json_t *calls = json_object_get(message, "tool_calls");
        if (strcmp(role, "tool") == 0)
            say_result(o, text_of(message, "tool_call_id"),
                       text_of(message, "content"));
        else if (text_of(message, "content")[0] || json_array_size(calls) == 0)
            say_content(o, role, content);
        json_array_foreach(calls, k, call)
        {
            const json_t *function = json_object_get(call, "function");
            say_call_text(o, text_of(call, "id"), text_of(function, "name"),
                          text_of(function, "arguments"));
        }
    }
}

static json_t *answer_chat(const char *text, const cadre_tool_call *call)
{
    json_t *calls = json_array();
    if (call)
        json_array_append_new(calls,
                              json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", call->id,
                                        "type", "function", "function", "name",
                                        call->name, "arguments", call->arguments));
    return json_pack("{s:[{s:i, s:{s:s, s:s, s:s, s:o}, s:s}]}", "choices", "index", 0,
                     "message", "role", "assistant", "content", text,
                     "reasoning_content", "Hm.", "tool_calls", calls, "finish_reason",
                     call ? "tool_calls" : "stop");
}

// --- OpenAI responses ---

static void outline_responses(outline *o, const json_t *body)
{
    size_t i = 0;
    const json_t *item = NULL;
    if (json_object_get(body, "instructions"))
        say(o, "system", text_of(body, "instructions"));
    json_array_foreach(json_object_get(body, "input"), i, item)
    {
        const char *type = text_of(item, "type");
        if (strcmp(type, "function_call") == 0)
            say_call_text(o, text_of(item, "call_id"), text_of(item, "name"),
                          text_of(item, "arguments"));
        else if (strcmp(type, "function_call_output") == 0)
            say_result(o, text_of(item, "call_id"), text_of(item, "output"));
        else
            say_content(o, text_of(item, "role"), json_object_get(item, "content"));
    }
}

static json_t *answer_responses(const char *text, const cadre_tool_call *call)
{
    json_t *output = json_pack(
        "[{s:s, s:s, s:[], s:s}, {s:s, s:s, s:[{s:s, s:s}]}]", "type", "reasoning",
        "id", "rs_1", "summary", "encrypted_content", "QUJD", "type", "message", "role",
        "assistant", "content", "type", "output_text", "text", text);
    if (call)
        json_array_append_new(output, json_pack("{s:s, s:s, s:s, s:s, s:s}", "type",
                                                "function_call", "id", "fc_1",
                                                "call_id", call->id, "name", call->name,
                                                "arguments", call->arguments));
    return json_pack("{s:s, s:o}", "status", "completed", "output", output);
}

// --- Anthropic messages ---

static void outline_block(outline *o, const char *role, const json_t *block)
{
    const char *type = text_of(block, "type");
    const json_t *content = json_object_get(block, "content");
    if (strcmp(type, "tool_use") == 0)
        say_call(o, text_of(block, "id"), text_of(block, "name"),
                 json_object_get(block, "input"));
    else if (strcmp(type, "tool_result") == 0)
        say_result(o, text_of(block, "tool_use_id"),
                   json_is_string(content)
                       ? json_string_value(content)
                       : text_of(json_array_get(content, 0), "text"));
    else if (strcmp(type, "text") == 0)
        say(o, role, text_of(block, "text"));
}

static void outline_anthropic(outline *o, const json_t *body)
{
    size_t i = 0;
    size_t k = 0;
    const json_t *message = NULL;
    const json_t *block = NULL;
    say_content(o, "system", json_object_get(body, "system"));
    json_array_foreach(json_object_get(body, "messages"), i, message)
    {
        const json_t *content = json_object_get(message, "content");
        if (json_is_string(content))
            say_content(o, text_of(message, "role"), content);
        json_array_foreach(content, k, block)
        {
            outline_block(o, text_of(message, "role"), block);
        }
    }
}

static json_t *answer_anthropic(const char *text, const cadre_tool_call *call)
{
    json_t *content =
        json_pack("[{s:s, s:s, s:s}, {s:s, s:s}]", "type", "thinking", "thinking",
                  "Hm.", "signature", "sig:Hm.", "type", "text", "text", text);
    if (call)
        json_array_append_new(content,
                              json_pack("{s:s, s:s, s:s, s:o}", "type", "tool_use",
                                        "id", call->id, "name", call->name, "input",
                                        json_loads(call->arguments, 0, NULL)));
    return json_pack("{s:s, s:s, s:o, s:s}", "type", "message", "role", "assistant",
                     "content", content, "stop_reason", call ? "tool_use" : "end_turn");
}

// --- Gemini ---

static void outline_part(outline *o, const char *role, const json_t *part)
{
    const json_t *call = json_object_get(part, "functionCall");
    const json_t *result = json_object_get(part, "functionResponse");
    const json_t *response = json_object_get(result, "response");
    bool is_model = strcmp(role, "model") == 0;
    if (call)
        say_call(o, text_of(call, "id"), text_of(call, "name"),
                 json_object_get(call, "args"));
    else if (result)
        say_result(
            o, text_of(result, "id"),
            text_of(response, json_object_get(response, "error") ? "error" : "output"));
    else if (json_object_get(part, "text") &&
             !json_is_true(json_object_get(part, "thought")))
        say(o, is_model ? "assistant" : role, text_of(part, "text"));
}

static void outline_gemini(outline *o, const json_t *body)
{
    size_t i = 0;
    size_t k = 0;
    const json_t *content = NULL;
    const json_t *part = NULL;
    say_content(o, "system",
                json_object_get(json_object_get(body, "systemInstruction"), "parts"));
    json_array_foreach(json_object_get(body, "contents"), i, content)
    {
        json_array_foreach(json_object_get(content, "parts"), k, part)
        {
            outline_part(o, text_of(content, "role"), part);
        }
    }
}

static json_t *answer_gemini(const char *text, const cadre_tool_call *call)
{
    json_t *parts = json_pack("[{s:s}]", "text", text);
    if (call)
        json_array_append_new(parts,
                              json_pack("{s:{s:s, s:s, s:o}, s:s}", "functionCall",
                                        "id", call->id, "name", call->name, "args",
                                        json_loads(call->arguments, 0, NULL),
                                        "thoughtSignature", "call-0"));
    return json_pack("{s:[{s:{s:s, s:o}, s:s}]}", "candidates", "content", "role",
                     "model", "parts", parts, "finishReason", "STOP");
}

// --- All of them ---

typedef struct talk {
    const char *provider;
    const char *messages; // the key of what was said
    void (*outline)(outline *o, const json_t *body);
    json_t *(*answer)(const char *text, const cadre_tool_call *call);
    const char *too_long;
} talk;

static const talk talks[] = {
    {"openai", "messages", outline_chat, answer_chat,
     "{\"error\":{\"message\":\"This model's maximum context length is 100 tokens.\","
     "\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}"},
    {"openai_responses", "input", outline_responses, answer_responses,
     "{\"error\":{\"message\":\"Your input exceeds the context window of this model.\","
     "\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\"}}"},
    {"anthropic", "messages", outline_anthropic, answer_anthropic,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
     "\"prompt is too long: 210000 tokens > 200000 maximum\"}}"},
    {"gemini", "contents", outline_gemini, answer_gemini,
     "{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"message\":\"The input "
     "token count (1200000) exceeds the maximum number of tokens allowed "
     "(1048576).\"}}"},
};

static const talk *find(const char *provider)
{
    for (size_t i = 0; i < sizeof talks / sizeof talks[0]; i++)
        if (strcmp(talks[i].provider, provider) == 0)
            return &talks[i];
    return NULL;
}

void wire_talk_each(void (*check)(const cadre_model_ops *ops, void *ctx), void *ctx)
{
    for (size_t i = 0; cdr_kinds_models[i]; i++) {
        const cadre_model_ops *ops = cdr_kinds_models[i];
        if (!ops->encode)
            continue;
        if (find(ops->provider))
            check(ops, ctx);
        else
            CHECK_TEXT(ops->provider, "a provider that wire_talk.c knows");
    }
}

static char *must(char *text)
{
    if (!text)
        abort();
    return text;
}

char *wire_talk_outline(const char *provider, const char *body)
{
    json_error_t why = {.text = ""};
    json_t *json = json_loads(body, JSON_REJECT_DUPLICATES, &why);
    outline o = {.text = CDR_BUF_INIT, .ids = json_object()};
    CHECK_TEXT(why.text, "");
    find(provider)->outline(&o, json);
    json_decref(json);
    json_decref(o.ids);
    return must(cdr_buf_take(&o.text));
}

// The bytes of a list at the top of the body, without its brackets.
static char *slice(const char *body, const char *name)
{
    cadre_scan scan;
    cadre_scan_text key;
    cadre_scan_text raw = {"[]", 2, false};
    cadre_scan_init(&scan, body, strlen(body));
    CHECK(cadre_scan_object(&scan));
    while (cadre_scan_key(&scan, &key)) {
        if (cadre_scan_is(key, name))
            CHECK(cadre_scan_raw(&scan, &raw));
        else
            cadre_scan_skip(&scan);
    }
    return must(strndup(raw.data + 1, raw.len - 2));
}

char *wire_talk_messages(const char *provider, const char *body)
{
    return slice(body, find(provider)->messages);
}

char *wire_talk_tools(const char *provider, const char *body)
{
    (void)find(provider); // all call them so
    return slice(body, "tools");
}

char *wire_talk_answer(const char *provider, const char *text,
                       const cadre_tool_call *call)
{
    json_t *json = find(provider)->answer(text, call);
    char *body = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return must(body);
}

const char *wire_talk_too_long(const char *provider)
{
    return find(provider)->too_long;
}
