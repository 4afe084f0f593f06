// What chat completions refuse, on the strictest of the servers that speak it.
//
// 1. The system text is first, if there is one; then a user speaks first; no two turns
//    of a user, or of an assistant, are neighbours; a user or a result is last.
// 2. No turn is empty. Each call has an id of its own, a name, and arguments that are
//    the text of an object.
// 3. Right behind a turn with calls stand their results, one for each, in order.
#include "support/request_rule.h"

#include "support/check.h"

#include <string.h>

static bool check_part(const json_t *part)
{
    const char *type = rule_text(part, "type");
    if (strcmp(type, "text") == 0)
        return rule_check_spoken(rule_text(part, "text"));
    if (strcmp(type, "image_url") == 0)
        return rule_check_spoken(rule_text(json_object_get(part, "image_url"), "url"));
    return CHECK_TEXT(type, "file") &&
           rule_check_spoken(rule_text(json_object_get(part, "file"), "file_data"));
}

static bool check_content(const json_t *content)
{
    bool is_good = true;
    if (json_is_string(content))
        return rule_check_spoken(json_string_value(content));
    if (!CHECK(json_array_size(content) > 0))
        return false;
    for (size_t i = 0; i < json_array_size(content); i++)
        is_good &= check_part(json_array_get(content, i));
    return is_good;
}

static bool check_calls(const json_t *message, rule_calls *calls)
{
    const json_t *list = json_object_get(message, "tool_calls");
    bool is_good = CHECK(!list || json_array_size(list) > 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *call = json_array_get(list, i);
        const json_t *function = json_object_get(call, "function");
        is_good &= rule_check_call(calls, rule_text(call, "id"));
        is_good &= CHECK_TEXT(rule_text(call, "type"), "function");
        is_good &= rule_check_name(rule_text(function, "name"));
        is_good &= rule_check_arguments(rule_text(function, "arguments"));
    }
    return is_good;
}

static bool check_message(const json_t *message, const char *before, rule_calls *calls)
{
    const json_t *content = json_object_get(message, "content");
    const char *role = rule_text(message, "role");
    if (strcmp(role, "tool") == 0)
        return rule_check_result(calls, rule_text(message, "tool_call_id")) &&
               check_content(content);
    if (!rule_check_answered(calls) || !CHECK(strcmp(role, before) != 0))
        return false;
    if (strcmp(role, "assistant") != 0)
        return CHECK_TEXT(role, before[0] ? "user" : role) && check_content(content);
    if (!CHECK(before[0] != '\0' && strcmp(before, "system") != 0))
        return false;
    bool has_calls = json_object_get(message, "tool_calls") != NULL;
    return (has_calls || check_content(content)) && check_calls(message, calls);
}

static bool check_tools(const json_t *tools)
{
    json_t *names = json_object();
    bool is_good = CHECK(!tools || json_array_size(tools) > 0);
    for (size_t i = 0; i < json_array_size(tools); i++) {
        const json_t *tool = json_object_get(json_array_get(tools, i), "function");
        is_good &= rule_check_tool(names, rule_text(tool, "name"),
                                   json_object_get(tool, "parameters"));
    }
    json_decref(names);
    return is_good;
}

bool rules_openai_chat(const json_t *body)
{
    const json_t *messages = json_object_get(body, "messages");
    const char *before = "";
    rule_calls calls;
    rule_calls_init(&calls);
    bool is_good = check_tools(json_object_get(body, "tools"));
    for (size_t i = 0; is_good && i < json_array_size(messages); i++) {
        const json_t *message = json_array_get(messages, i);
        is_good = check_message(message, before, &calls);
        before = rule_text(message, "role");
    }
    is_good &= rule_check_answered(&calls);
    is_good &= CHECK(strcmp(before, "user") == 0 || strcmp(before, "tool") == 0);
    rule_calls_fini(&calls);
    return is_good;
}
