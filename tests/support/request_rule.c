// See request_rule.h.
#include "support/request_rule.h"

#include "support/check.h"

#include <string.h>

#define MAX_ID 40
#define MAX_NAME 64
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

void rule_calls_init(rule_calls *calls)
{
    *calls = (rule_calls){.ids = json_object()};
}

void rule_calls_fini(rule_calls *calls)
{
    json_decref(calls->ids);
}

const char *rule_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool rule_check_spoken(const char *text)
{
    return CHECK(text[strspn(text, " \t\r\n")] != '\0');
}

bool rule_check_name(const char *name)
{
    size_t len = strspn(name, LETTERS DIGITS "-");
    return CHECK(name[0] != '\0' && strchr(LETTERS, name[0])) &&
           CHECK(name[len] == '\0' && len <= MAX_NAME);
}

bool rule_check_arguments(const char *text)
{
    json_t *arguments = json_loads(text, 0, NULL);
    bool is_good = CHECK(json_is_object(arguments));
    json_decref(arguments);
    return is_good;
}

bool rule_check_call(rule_calls *calls, const char *id)
{
    size_t len = strspn(id, LETTERS DIGITS "-");
    if (!CHECK(id[len] == '\0' && len > 0 && len <= MAX_ID) ||
        !CHECK(json_object_get(calls->ids, id) == NULL) ||
        !CHECK(calls->n_open < RULE_MAX_OPEN))
        return false;
    calls->open[calls->n_open++] = id;
    return CHECK(json_object_set_new(calls->ids, id, json_true()) == 0);
}

bool rule_check_result(rule_calls *calls, const char *id)
{
    return CHECK(calls->n_answered < calls->n_open) &&
           CHECK_TEXT(id, calls->open[calls->n_answered++]);
}

bool rule_check_answered(rule_calls *calls)
{
    bool is_good = CHECK_INT(calls->n_answered, calls->n_open);
    calls->n_answered = calls->n_open = 0;
    return is_good;
}

bool rule_check_tool(json_t *names, const char *name, const json_t *parameters)
{
    return rule_check_name(name) && CHECK(json_object_get(names, name) == NULL) &&
           CHECK(json_object_set_new(names, name, json_true()) == 0) &&
           CHECK_TEXT(rule_text(parameters, "type"), "object");
}
