// What the rules of several endpoints are made of; see request_rules.h.
//
// Thread: any of the running test.
#ifndef SUPPORT_REQUEST_RULE_H
#define SUPPORT_REQUEST_RULE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RULE_MAX_OPEN 128 // calls of one turn

// The calls of the request so far, and those that still wait for their result.
typedef struct rule_calls {
    const char *open[RULE_MAX_OPEN];
    size_t n_open, n_answered;
    json_t *ids; // that were used, as keys
} rule_calls;

void rule_calls_init(rule_calls *calls);
void rule_calls_fini(rule_calls *calls);

// The text of a key, "" when there is none.
const char *rule_text(const json_t *object, const char *key);

// A text that says something.
bool rule_check_spoken(const char *text);

// A name of [a-zA-Z_][a-zA-Z0-9_-]{0,63}.
bool rule_check_name(const char *name);

// The text of a JSON object.
bool rule_check_arguments(const char *text);

// A call whose id is [a-zA-Z0-9_-]{1,40} and was not used before. It waits from here.
bool rule_check_call(rule_calls *calls, const char *id);

// The result of the next call that waits.
bool rule_check_result(rule_calls *calls, const char *id);

// No call waits.
bool rule_check_answered(rule_calls *calls);

// Tools with names of their own, and parameters that are objects.
bool rule_check_tool(json_t *names, const char *name, const json_t *parameters);

// The rules of one endpoint each.
bool rules_openai_chat(const json_t *body);
bool rules_openai_responses(const json_t *body);
bool rules_anthropic(const json_t *body);
bool rules_gemini(const json_t *body);

#endif
