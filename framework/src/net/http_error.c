// What an HTTP status and a provider's own words say about an error.
//
// Order: words that make a status more exact (a 429 for want of money is no rate
// limit), then the status; where the error came inside an answer of status 200, the
// words alone. The words are those of OpenAI, Azure, Anthropic, Gemini, Bedrock, xAI,
// DeepSeek, Mistral, Groq, OpenRouter, Moonshot, MiniMax, DashScope, vLLM, SGLang, TGI,
// llama.cpp, Ollama and LM Studio; tests/net/http_error_test.c has them as they come.
#include "cadre/ext/provider_error.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_MESSAGE 320 // bytes of the provider's message that are quoted
#define MAX_WORDS 32

// What is looked for, in small letters. Codes count under any status but 401. So do
// sentences, which can mean one thing only. Phrases may stand in any message, and count
// where the status is vague.
typedef struct error_words {
    cadre_error_class error_class;
    const char *codes[MAX_WORDS];
    const char *sentences[MAX_WORDS];
    const char *phrases[MAX_WORDS];
} error_words;

// Statuses that say little by themselves: words decide first.
static const error_words refinements[] = {
    {CADRE_CLASS_QUOTA,
     {"insufficient_quota", "exceeded_current_quota", "billing", "insufficient_balance",
      "insufficient_credit", "credits_exhausted", "arrearage", "usage_limit",
      "budget_exceeded", "overdue", "freetieronly",
      "perday"}, // the name of a quota of Gemini
     {"insufficient balance", "insufficient credit", "credit balance is too low",
      "credits are depleted", "spending cap", "limit: 0,", "limit: 0\n",
      "extra usage is required", "used all available credits", "monthly spending limit",
      "monthly usage limit", "key limit exceeded", "per day limit exceeded",
      "free-models-per-day", "out of call volume quota"},
     {"api usage limits", "have any credits"}},
    {CADRE_CLASS_CONTEXT_LENGTH,
     {"context_length", "context_window", "exceed_context_size",
      "string_above_max_length", "prompt_too_long", "request_too_large",
      "max_prompt_tokens"},
     // More than a minute's tokens in one request: waiting will not help.
     {"must be reduced in order to run", "request too large for"},
     {"maximum context length",
      "context window",
      "context length",
      "available context size",
      "context size has been exceeded",
      "configured context size",
      "context limit",
      "prompt is too long",
      "prompt too long",
      "input is too long",
      "too many tokens",
      "maximum prompt length",
      "maximum model length",
      "maximum number of tokens",
      "exceeded model token limit",
      "prompt token count",
      "input token count",
      "request payload size exceeds",
      "token limit exceeded",
      "input length",
      "prompt exceeds max",
      "max message tokens",
      "reduce the length",
      "`inputs` ",
      "must be at least 1, got -"}}, // vLLM, of what the prompt leaves of the context
    {CADRE_CLASS_CONTENT_FILTER,
     {"content_filter", "content_policy", "responsibleaipolicyviolation",
      "data_inspection", "moderation", "sensitivecontent", "prohibited_content"},
     {NULL},
     {"content management policy", "content filter", "content policy",
      "content exists risk", "inappropriate content", "unsafe or sensitive content",
      "usage policy", "usage policies", "usage guidelines", "was flagged",
      "requires moderation", "safety system"}},
    {CADRE_CLASS_AUTH,
     {"api_key_invalid", "invalid_api_key"},
     {NULL},
     {"api key not valid", "api key expired", "incorrect api key", "invalid api key",
      "organization has been disabled", "location is not supported"}},
};

// An error inside an answer of status 200 has no other sign than its code.
static const error_words in_stream[] = {
    {CADRE_CLASS_RATE_LIMITED,
     {"rate_limit", "rate limit", "too_many_requests", "resource_exhausted", "throttl"},
     {NULL},
     {"rate limit", "too many requests"}},
    {CADRE_CLASS_QUOTA, {NULL}, {NULL}, {"quota"}},
    {CADRE_CLASS_OVERLOADED,
     {"overload", "unavailable", "capacity"},
     {NULL},
     {"overloaded", "no capacity", "try again later"}},
    {CADRE_CLASS_TIMEOUT, {"timeout", "deadline"}, {NULL}, {"timed out"}},
    {CADRE_CLASS_AUTH,
     {"api_key", "authenticat", "permission", "unauthorized"},
     {NULL},
     {"api key"}},
    {CADRE_CLASS_SERVER, {"server_error", "internal"}, {NULL}, {NULL}},
    {CADRE_CLASS_INVALID_REQUEST,
     {"invalid", "not_found", "unsupported", "bad_request", "badrequest",
      "failed_precondition"},
     {NULL},
     {NULL}},
};

// Finds a word of small letters in a text, whatever its case.
static bool contains(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (; *text; text++)
        if (strncasecmp(text, word, len) == 0)
            return true;
    return false;
}

static bool contains_any(const char *text, const char *const words[MAX_WORDS])
{
    for (size_t i = 0; i < MAX_WORDS && words[i]; i++)
        if (contains(text, words[i]))
            return true;
    return false;
}

// `reads_message`: may the message say anything at all?
static cadre_error_class class_of_words(const error_words *table, size_t n,
                                        const char *code, const char *message,
                                        bool reads_message)
{
    for (size_t i = 0; i < n; i++)
        if (contains_any(code, table[i].codes))
            return table[i].error_class;
    for (size_t i = 0; i < n; i++)
        if (contains_any(message, table[i].sentences))
            return table[i].error_class;
    for (size_t i = 0; i < n && reads_message; i++)
        if (contains_any(message, table[i].phrases))
            return table[i].error_class;
    return CADRE_CLASS_NONE;
}

static cadre_error_class class_of_status(int http_status)
{
    switch (http_status) {
    case 401:
    case 403:
    case 407:
        return CADRE_CLASS_AUTH;
    case 402:
        return CADRE_CLASS_QUOTA;
    case 408:
    case 504:
    case 524: // Cloudflare
        return CADRE_CLASS_TIMEOUT;
    case 409: // a conflict with another request, which passes
    case 424: // the model behind the server failed (TGI, Bedrock)
    case 425: // too early
    case 499: // the server itself broke it off (Gemini: CANCELLED)
        return CADRE_CLASS_SERVER;
    case 413:
        return CADRE_CLASS_CONTEXT_LENGTH;
    case 429:
        return CADRE_CLASS_RATE_LIMITED;
    case 498: // Groq: no capacity of this tier
    case 503:
    case 529: // Anthropic
        return CADRE_CLASS_OVERLOADED;
    default:
        return http_status >= 500 ? CADRE_CLASS_SERVER : CADRE_CLASS_INVALID_REQUEST;
    }
}

// May the message make this status more exact? A 401 is a 401, and the message of a 429
// or of a 503 may speak of anything; local servers say with 500 that a prompt is too
// long.
static bool is_vague(int http_status)
{
    return http_status == 400 || http_status == 403 || http_status == 404 ||
           http_status == 413 || http_status == 422 || http_status == 500;
}

// Some servers say 429 or 500 for both.
static bool is_overload(int http_status, const char *code)
{
    return (http_status == 429 || http_status >= 500) && contains(code, "overload");
}

static cadre_error_class classify(int http_status, const char *code,
                                  const char *message)
{
    const size_t n_refinements = sizeof(refinements) / sizeof(refinements[0]);
    const size_t n_in_stream = sizeof(in_stream) / sizeof(in_stream[0]);
    bool has_status = http_status >= 300;
    cadre_error_class found = CADRE_CLASS_NONE;
    if (http_status != 401)
        found = class_of_words(refinements, n_refinements, code, message,
                               !has_status || is_vague(http_status));
    if (found == CADRE_CLASS_NONE && has_status)
        found = is_overload(http_status, code) ? CADRE_CLASS_OVERLOADED
                                               : class_of_status(http_status);
    if (found == CADRE_CLASS_NONE)
        found = class_of_words(in_stream, n_in_stream, code, message, true);
    // An answer that had begun well: the fault is on the other side.
    return found == CADRE_CLASS_NONE ? CADRE_CLASS_SERVER : found;
}

static bool is_retryable(cadre_error_class error_class, int http_status)
{
    switch (error_class) {
    case CADRE_CLASS_RATE_LIMITED:
    case CADRE_CLASS_OVERLOADED:
    case CADRE_CLASS_TIMEOUT:
        return true;
    case CADRE_CLASS_SERVER:
        return http_status != 501 && http_status != 505;
    default:
        return false;
    }
}

static const char *hint_of(int http_status)
{
    if (http_status == 404)
        return " (check base_url and model)";
    if (http_status >= 300 && http_status < 400)
        return " (redirects are not followed: check base_url)";
    return "";
}

// Cuts the message to one line of a quotable length; blanks and control characters in
// a row become one blank.
static void to_line(const char *message, char out[MAX_MESSAGE + 4])
{
    size_t used = 0;
    bool is_after_blank = true;
    for (; *message && used < MAX_MESSAGE; message++) {
        unsigned char c = (unsigned char)*message;
        bool is_blank = c <= ' ' || c == 0x7f;
        if (!is_blank)
            out[used++] = *message;
        else if (!is_after_blank)
            out[used++] = ' ';
        is_after_blank = is_blank;
    }
    if (*message) {
        used = cdr_utf8_prefix(out, used);
        memcpy(out + used, "...", 3);
        used += 3;
    } else if (used > 0 && out[used - 1] == ' ') {
        used--;
    }
    out[used] = '\0';
}

cadre_status cadre_fail_http(cadre_error *err, int http_status, const char *code,
                             const char *message)
{
    code = code ? code : "";
    message = message ? message : "";
    cadre_error_class error_class = classify(http_status, code, message);
    bool retryable = is_retryable(error_class, http_status);
    char line[MAX_MESSAGE + 4];
    to_line(message, line);
    if (line[0] == '\0')
        to_line(code, line);
    char status[24] = ""; // of an answer that had begun well it tells nothing
    if (http_status >= 300)
        (void)snprintf(status, sizeof(status), "HTTP %d ", http_status);
    return cadre_fail_class(err, CADRE_EIO, error_class, retryable, "%s%s%s%s%s",
                            status, cadre_error_class_name(error_class),
                            line[0] ? ": " : "", line, hint_of(http_status));
}
