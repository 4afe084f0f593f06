// See request_rules.h.
#include "support/request_rules.h"

#include "support/check.h"
#include "support/request_rule.h"

#include <string.h>

// A provider that is not here is checked as far as all are.
static const struct {
    const char *provider;
    bool (*check)(const json_t *body);
} rules[] = {
    {"openai", rules_openai_chat},
    {"openai_responses", rules_openai_responses},
    {"anthropic", rules_anthropic},
    {"gemini", rules_gemini},
};

bool request_rules_check(const char *provider, const char *body)
{
    json_error_t why = {.text = ""};
    json_t *json = json_loads(body, JSON_REJECT_DUPLICATES, &why);
    bool is_good = CHECK_TEXT(why.text, "") && CHECK(json_is_object(json));
    for (size_t i = 0; is_good && i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].provider, provider) == 0)
            is_good = rules[i].check(json);
    json_decref(json);
    return is_good;
}
