// What Gemini's generateContent refuses.
//
// 1. A content of the user is first and last; no two of the model are neighbours; none
//    is empty; each part is one thing.
// 2. No text is empty, but for the sake of a signature.
// 3. The content behind calls is their results and nothing else: as many, in order,
//    with their ids and names. Results stand nowhere else. Between two contents of the
//    user one is of results. Each call has an id of its own, a name, and an object.
// 4. A signature stands at the place where it came.
// 5. The system text is not blank; functions have names of their own.
// 6. In a schema nothing stands beside a reference.
#include "support/request_rule.h"

#include "base/json_iterable.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

typedef enum content_kind {
    CONTENT_NONE,
    CONTENT_MODEL,
    CONTENT_SAID,
    CONTENT_RESULTS
} content_kind;

typedef struct contents {
    rule_calls calls;
    const char *names[RULE_MAX_OPEN]; // of the calls that wait
    content_kind before;
} contents;

static bool check_call(contents *c, const json_t *call)
{
    size_t at = c->calls.n_open;
    if (!rule_check_call(&c->calls, rule_text(call, "id")))
        return false;
    c->names[at] = rule_text(call, "name");
    return rule_check_name(c->names[at]) &&
           CHECK(json_is_object(json_object_get(call, "args")));
}

static bool check_result(contents *c, const json_t *result)
{
    const json_t *response = json_object_get(result, "response");
    size_t at = c->calls.n_answered;
    const char *output = rule_text(response, "output");
    return rule_check_result(&c->calls, rule_text(result, "id")) &&
           CHECK_TEXT(rule_text(result, "name"), c->names[at]) &&
           rule_check_spoken(output[0] ? output : rule_text(response, "error"));
}

static bool check_data(const json_t *part)
{
    const json_t *inlined = json_object_get(part, "inlineData");
    const json_t *elsewhere = json_object_get(part, "fileData");
    const json_t *data = inlined ? inlined : elsewhere;
    return CHECK(rule_text(data, "mimeType")[0] != '\0') &&
           CHECK(rule_text(data, inlined ? "data" : "fileUri")[0] != '\0');
}

// Random histories sign the nth call of a turn, from 0, with "call-n", all else with
// "part".
static bool check_signature(const contents *c, const json_t *part)
{
    char wanted[32];
    const char *signature = rule_text(part, "thoughtSignature");
    if (json_object_get(part, "functionCall"))
        (void)snprintf(wanted, sizeof wanted, "call-%zu", c->calls.n_open);
    else
        (void)snprintf(wanted, sizeof wanted, "part");
    return signature[0] == '\0' || CHECK_TEXT(signature, wanted);
}

static size_t count_kinds(const json_t *part)
{
    static const char *const kinds[] = {"text",
                                        "inlineData",
                                        "fileData",
                                        "functionCall",
                                        "functionResponse",
                                        "executableCode",
                                        "codeExecutionResult"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        n += json_object_get(part, kinds[i]) != NULL;
    return n;
}

static bool check_part(contents *c, const json_t *part, content_kind kind)
{
    const json_t *call = json_object_get(part, "functionCall");
    const json_t *result = json_object_get(part, "functionResponse");
    const json_t *text = json_object_get(part, "text");
    bool is_model = kind == CONTENT_MODEL;
    if (!CHECK_INT(count_kinds(part), 1) || !check_signature(c, part) ||
        !CHECK((result != NULL) == (kind == CONTENT_RESULTS)) ||
        !CHECK(is_model || !json_object_get(part, "thoughtSignature")))
        return false;
    if (call)
        return CHECK(is_model) && check_call(c, call);
    if (result)
        return check_result(c, result);
    if (text)
        return json_object_get(part, "thoughtSignature") != NULL ||
               CHECK(json_string_length(text) > 0);
    return is_model || check_data(part);
}

static content_kind kind_of(const json_t *content)
{
    const json_t *first = json_array_get(json_object_get(content, "parts"), 0);
    if (strcmp(rule_text(content, "role"), "user") != 0)
        return CONTENT_MODEL;
    return json_object_get(first, "functionResponse") ? CONTENT_RESULTS : CONTENT_SAID;
}

static bool check_content(contents *c, const json_t *content)
{
    const json_t *parts = json_object_get(content, "parts");
    content_kind kind = kind_of(content);
    bool is_good = CHECK(json_array_size(parts) > 0);
    if (kind == CONTENT_MODEL)
        is_good &= CHECK_TEXT(rule_text(content, "role"), "model") &&
                   CHECK(c->before == CONTENT_SAID || c->before == CONTENT_RESULTS);
    else
        is_good &= CHECK(c->before != kind) &&
                   CHECK((kind == CONTENT_RESULTS) == (c->calls.n_open > 0));
    for (size_t i = 0; i < json_array_size(parts) && is_good; i++)
        is_good = check_part(c, json_array_get(parts, i), kind);
    if (kind == CONTENT_RESULTS)
        is_good = is_good && rule_check_answered(&c->calls);
    c->before = kind;
    return is_good;
}

// Beside a reference stands nothing, but what begins with `$`.
static bool check_references(const json_t *schema)
{
    const char *key = NULL;
    json_t *value = NULL;
    size_t i = 0;
    bool is_reference = json_is_string(json_object_get(schema, "$ref"));
    bool is_good = true;
    json_object_foreach(cdr_json_iterable(schema), key, value)
    {
        is_good =
            is_good && CHECK(!is_reference || key[0] == '$') && check_references(value);
    }
    json_array_foreach(schema, i, value)
    {
        is_good = is_good && check_references(value);
    }
    return is_good;
}

static bool check_tools(const json_t *tools)
{
    json_t *names = json_object();
    const json_t *functions =
        json_object_get(json_array_get(tools, 0), "functionDeclarations");
    bool is_good = CHECK(!tools || json_array_size(functions) > 0);
    for (size_t i = 0; i < json_array_size(functions) && is_good; i++) {
        const json_t *function = json_array_get(functions, i);
        const char *name = rule_text(function, "name");
        const json_t *schema = json_object_get(function, "parametersJsonSchema");
        is_good = rule_check_name(name) &&
                  CHECK(json_object_get(names, name) == NULL) &&
                  CHECK(json_object_set_new(names, name, json_true()) == 0) &&
                  (!schema || (CHECK_TEXT(rule_text(schema, "type"), "object") &&
                               check_references(schema)));
    }
    json_decref(names);
    return is_good;
}

static bool check_system(const json_t *system)
{
    const json_t *parts = json_object_get(system, "parts");
    return !system || (CHECK_INT(json_array_size(parts), 1) &&
                       rule_check_spoken(rule_text(json_array_get(parts, 0), "text")));
}

bool rules_gemini(const json_t *body)
{
    const json_t *list = json_object_get(body, "contents");
    contents c = {.before = CONTENT_NONE};
    rule_calls_init(&c.calls);
    const json_t *generation = json_object_get(body, "generationConfig");
    bool is_good =
        check_tools(json_object_get(body, "tools")) &&
        check_references(json_object_get(generation, "responseJsonSchema")) &&
        check_system(json_object_get(body, "systemInstruction"));
    for (size_t i = 0; i < json_array_size(list) && is_good; i++)
        is_good = check_content(&c, json_array_get(list, i));
    is_good = is_good && rule_check_answered(&c.calls) &&
              CHECK(c.before == CONTENT_SAID || c.before == CONTENT_RESULTS);
    rule_calls_fini(&c.calls);
    return is_good;
}
