// What the Responses API refuses.
//
// 1. A user speaks first; no two messages of a user are neighbours; a user's message or
//    an output is last.
// 2. No message is empty, and its parts are those of its role. Each call has an id of
//    its own, a name, and arguments that are the text of an object.
// 3. Behind the calls of a turn stand their outputs, one for each, in order, with
//    nothing between them.
// 4. A reasoning item stands before what it led to: a message or a call.
// 5. Nothing is kept there, so nothing refers to what was.
#include "support/request_rule.h"

#include "support/check.h"

#include <string.h>

static bool check_part(const json_t *part, bool is_user)
{
    const char *type = rule_text(part, "type");
    if (!is_user || strcmp(type, "input_text") == 0)
        return CHECK_TEXT(type, is_user ? "input_text" : "output_text") &&
               rule_check_spoken(rule_text(part, "text"));
    if (strcmp(type, "input_image") == 0)
        return rule_check_spoken(rule_text(part, "image_url"));
    return CHECK_TEXT(type, "input_file") && CHECK(json_object_get(part, "file_data") ||
                                                   json_object_get(part, "file_url"));
}

static bool check_message(const json_t *item, const char *before)
{
    const json_t *content = json_object_get(item, "content");
    bool is_user = strcmp(rule_text(item, "role"), "user") == 0;
    bool is_good = CHECK(json_array_size(content) > 0);
    if (is_user)
        is_good &=
            CHECK(strcmp(before, "user") != 0 && strcmp(before, "reasoning") != 0);
    else
        is_good &= CHECK_TEXT(rule_text(item, "role"), "assistant") &&
                   CHECK(before[0] != '\0' && strcmp(before, "assistant") != 0);
    for (size_t i = 0; i < json_array_size(content); i++)
        is_good &= check_part(json_array_get(content, i), is_user);
    return is_good;
}

static bool check_item(const json_t *item, const char *type, const char *before,
                       rule_calls *calls)
{
    bool is_open = calls->n_answered < calls->n_open;
    if (strcmp(type, "function_call_output") == 0)
        return CHECK(strcmp(before, "reasoning") != 0) &&
               rule_check_result(calls, rule_text(item, "call_id")) &&
               rule_check_spoken(rule_text(item, "output"));
    if (calls->n_answered > 0 && !rule_check_answered(calls))
        return false;
    if (strcmp(type, "function_call") == 0)
        return CHECK(before[0] != '\0') &&
               rule_check_call(calls, rule_text(item, "call_id")) &&
               rule_check_name(rule_text(item, "name")) &&
               rule_check_arguments(rule_text(item, "arguments"));
    if (strcmp(type, "reasoning") == 0)
        return CHECK(before[0] != '\0');
    return CHECK_TEXT(type, "message") && CHECK(!is_open) &&
           check_message(item, before);
}

// What the next item sees of this one: whose message it is, else its type.
static const char *trace_of(const json_t *item)
{
    const char *role = rule_text(item, "role");
    return role[0] ? role : rule_text(item, "type");
}

static bool check_tools(const json_t *tools)
{
    json_t *names = json_object();
    bool is_good = CHECK(!tools || json_array_size(tools) > 0);
    for (size_t i = 0; i < json_array_size(tools); i++) {
        const json_t *tool = json_array_get(tools, i);
        is_good &= rule_check_tool(names, rule_text(tool, "name"),
                                   json_object_get(tool, "parameters"));
    }
    json_decref(names);
    return is_good;
}

bool rules_openai_responses(const json_t *body)
{
    const json_t *input = json_object_get(body, "input");
    const char *before = "";
    rule_calls calls;
    rule_calls_init(&calls);
    bool is_good = check_tools(json_object_get(body, "tools")) &&
                   CHECK(json_is_false(json_object_get(body, "store"))) &&
                   CHECK(json_object_get(body, "previous_response_id") == NULL);
    for (size_t i = 0; is_good && i < json_array_size(input); i++) {
        const json_t *item = json_array_get(input, i);
        is_good = check_item(item, rule_text(item, "type"), before, &calls);
        before = trace_of(item);
    }
    is_good &= rule_check_answered(&calls);
    is_good &= CHECK(strcmp(before, "user") == 0 ||
                     strcmp(before, "function_call_output") == 0);
    rule_calls_fini(&calls);
    return is_good;
}
