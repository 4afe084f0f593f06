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
    static const char *const wide[] = {"\u00a0", "\u2003", "\u2028", "\u3000"};
    size_t n = 1;
    while (n > 0) {
        n = strspn(text, " \t\r\n\v\f");
        for (size_t i = 0; i < sizeof wide / sizeof wide[0] && n == 0; i++)
            if (strncmp(text, wide[i], strlen(wide[i])) == 0)
                n = strlen(wide[i]);
        text += n;
    }
    return CHECK(text[0] != '\0');
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

// OpenAI and Anthropic take nothing at the top that is about more than properties.
static bool check_top(const json_t *parameters)
{
    static const char *const refused[] = {"anyOf", "oneOf", "allOf",
                                          "not",   "enum",  "const"};
    bool is_good = true;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        is_good = CHECK(json_object_get(parameters, refused[i]) == NULL) && is_good;
    return is_good;
}

bool rule_check_tool(json_t *names, const char *name, const json_t *parameters)
{
    return check_top(parameters) && rule_check_name(name) &&
           CHECK(json_object_get(names, name) == NULL) &&
           CHECK(json_object_set_new(names, name, json_true()) == 0) &&
           CHECK_TEXT(rule_text(parameters, "type"), "object");
}
