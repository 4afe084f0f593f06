// What Anthropic's Messages API refuses.
//
// 1. Messages alternate; a user's is first and last; none is empty.
// 2. No text is blank. Users' blocks are texts, pictures, documents and results; an
//    assistant's are texts, calls, thoughts, and what the server's tools did.
// 3. The message behind calls begins with their results, one for each, in order; a
//    result stands nowhere else. Each call has an id of its own, a name, and an object.
// 4. A thought has the signature it came with, stays as it came, and is not last.
// 5. What a tool of the server was asked has its answer behind it.
// 6. At most four marks of the prompt cache, none at a thought.
// 7. `max_tokens` is there; the system text is not blank; tools have names of their
// own.
#include "support/request_rule.h"

#include "support/check.h"

#include <string.h>

#define MAX_MARKS 4

typedef struct messages {
    rule_calls calls;
    const char *before; // the role of the message before
    int n_marks;
    const char *asked; // the server's tool that has no answer yet; NULL: none
} messages;

static bool count_mark(messages *m, const json_t *block)
{
    const json_t *mark = json_object_get(block, "cache_control");
    if (!mark)
        return true;
    m->n_marks++;
    return CHECK_TEXT(rule_text(mark, "type"), "ephemeral") &&
           CHECK(strstr(rule_text(block, "type"), "thinking") == NULL);
}

static bool check_source(const json_t *block)
{
    const json_t *source = json_object_get(block, "source");
    const char *type = rule_text(source, "type");
    if (strcmp(type, "url") == 0)
        return CHECK(rule_text(source, "url")[0] != '\0');
    return CHECK(strcmp(type, "base64") == 0 || strcmp(type, "text") == 0) &&
           CHECK(rule_text(source, "media_type")[0] != '\0') &&
           rule_check_spoken(rule_text(source, "data"));
}

static bool check_user_block(messages *m, const json_t *block)
{
    const char *type = rule_text(block, "type");
    if (strcmp(type, "tool_result") == 0)
        return rule_check_result(&m->calls, rule_text(block, "tool_use_id")) &&
               rule_check_spoken(rule_text(block, "content"));
    // Results come first, all of them.
    if (!rule_check_answered(&m->calls))
        return false;
    if (strcmp(type, "text") == 0)
        return rule_check_spoken(rule_text(block, "text"));
    return CHECK(strcmp(type, "image") == 0 || strcmp(type, "document") == 0) &&
           check_source(block);
}

// The signatures of random histories say what was thought: "sig:" and the thought.
static bool check_thought(const json_t *block)
{
    const char *signature = rule_text(block, "signature");
    return CHECK(strncmp(signature, "sig:", 4) == 0) &&
           CHECK_TEXT(rule_text(block, "thinking"), signature + 4);
}

static bool check_server_block(messages *m, const json_t *block)
{
    const char *type = rule_text(block, "type");
    if (strcmp(type, "server_tool_use") == 0) {
        bool is_good = CHECK(m->asked == NULL);
        m->asked = rule_text(block, "id");
        return is_good && CHECK(json_is_object(json_object_get(block, "input")));
    }
    bool is_good = CHECK_TEXT(type, "web_search_tool_result") &&
                   CHECK_TEXT(rule_text(block, "tool_use_id"), m->asked);
    m->asked = NULL;
    return is_good;
}

static bool check_assistant_block(messages *m, const json_t *block, bool is_last)
{
    const char *type = rule_text(block, "type");
    if (strcmp(type, "text") == 0)
        return rule_check_spoken(rule_text(block, "text"));
    if (strcmp(type, "tool_use") == 0)
        return rule_check_call(&m->calls, rule_text(block, "id")) &&
               rule_check_name(rule_text(block, "name")) &&
               CHECK(json_is_object(json_object_get(block, "input")));
    if (strcmp(type, "thinking") == 0)
        return CHECK(!is_last) && check_thought(block);
    if (strcmp(type, "redacted_thinking") == 0)
        return CHECK(!is_last) && CHECK(rule_text(block, "data")[0] != '\0');
    return check_server_block(m, block);
}

static bool check_message(messages *m, const json_t *message)
{
    const char *role = rule_text(message, "role");
    const json_t *content = json_object_get(message, "content");
    size_t n = json_array_size(content);
    bool is_user = strcmp(role, "user") == 0;
    bool is_good =
        CHECK(n > 0) &&
        CHECK_TEXT(role, strcmp(m->before, "user") == 0 ? "assistant" : "user");
    for (size_t i = 0; i < n && is_good; i++) {
        const json_t *block = json_array_get(content, i);
        is_good = count_mark(m, block) &&
                  (is_user ? check_user_block(m, block)
                           : check_assistant_block(m, block, i + 1 == n));
    }
    m->before = role;
    return is_good && CHECK(!is_user || m->calls.n_open == m->calls.n_answered) &&
           CHECK(m->asked == NULL);
}

static bool check_messages(messages *m, const json_t *list)
{
    bool is_good = true;
    for (size_t i = 0; i < json_array_size(list) && is_good; i++) {
        if (strcmp(m->before, "user") == 0) // the one before has answered
            is_good = rule_check_answered(&m->calls);
        is_good = is_good && check_message(m, json_array_get(list, i));
    }
    return is_good && CHECK_TEXT(m->before, "user");
}

static bool check_tools(messages *m, const json_t *tools)
{
    json_t *names = json_object();
    bool is_good = CHECK(!tools || json_array_size(tools) > 0);
    for (size_t i = 0; i < json_array_size(tools) && is_good; i++) {
        const json_t *tool = json_array_get(tools, i);
        const json_t *description = json_object_get(tool, "description");
        is_good = rule_check_tool(names, rule_text(tool, "name"),
                                  json_object_get(tool, "input_schema")) &&
                  (!description || rule_check_spoken(json_string_value(description))) &&
                  count_mark(m, tool);
    }
    json_decref(names);
    return is_good;
}

static bool check_system(messages *m, const json_t *system)
{
    bool is_good = CHECK(!system || json_array_size(system) > 0);
    for (size_t i = 0; i < json_array_size(system) && is_good; i++) {
        const json_t *block = json_array_get(system, i);
        is_good = CHECK_TEXT(rule_text(block, "type"), "text") &&
                  rule_check_spoken(rule_text(block, "text")) && count_mark(m, block);
    }
    return is_good;
}

bool rules_anthropic(const json_t *body)
{
    messages m = {.before = ""};
    rule_calls_init(&m.calls);
    bool is_good = CHECK(json_integer_value(json_object_get(body, "max_tokens")) > 0) &&
                   CHECK(rule_text(body, "model")[0] != '\0') &&
                   check_tools(&m, json_object_get(body, "tools")) &&
                   check_system(&m, json_object_get(body, "system")) &&
                   check_messages(&m, json_object_get(body, "messages")) &&
                   CHECK(m.n_marks <= MAX_MARKS);
    rule_calls_fini(&m.calls);
    return is_good;
}
