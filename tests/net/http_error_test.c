// Classes of provider errors: by status, and where that says little by words.
#include "cadre/ext/model.h"

#include "support/check.h"

#include <stdlib.h>
#include <string.h>

typedef struct row {
    int http_status;
    const char *code, *message;
    cadre_error_class error_class;
    bool retryable;
} row;

static void check_rows(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        cadre_status status =
            cadre_fail_http(&err, rows[i].http_status, rows[i].code, rows[i].message);
        CHECK_STATUS(status, CADRE_EIO, NULL);
        if (!CHECK_TEXT(cadre_error_class_name(err.error_class),
                        cadre_error_class_name(rows[i].error_class)) ||
            !CHECK_INT(err.retryable, rows[i].retryable))
            CHECK_TEXT(err.text, "the row above");
    }
}

static void test_http_error__status_gives_the_class(void)
{
    static const row rows[] = {
        {400, "", "bad", CADRE_CLASS_INVALID_REQUEST, false},
        {401, "", "no key", CADRE_CLASS_AUTH, false},
        {402, "", "pay", CADRE_CLASS_QUOTA, false},
        {403, "", "no", CADRE_CLASS_AUTH, false},
        {407, "", "proxy", CADRE_CLASS_AUTH, false},
        {404, "", "gone", CADRE_CLASS_INVALID_REQUEST, false},
        {405, "", "", CADRE_CLASS_INVALID_REQUEST, false},
        {408, "", "", CADRE_CLASS_TIMEOUT, true},
        {409, "", "", CADRE_CLASS_SERVER, true},
        {413, "", "too large", CADRE_CLASS_CONTEXT_LENGTH, false},
        {422, "", "", CADRE_CLASS_INVALID_REQUEST, false},
        {424, "", "", CADRE_CLASS_SERVER, true},
        {425, "", "", CADRE_CLASS_SERVER, true},
        {498, "", "", CADRE_CLASS_OVERLOADED, true},
        {499, "", "", CADRE_CLASS_SERVER, true},
        {429, "", "slow down", CADRE_CLASS_RATE_LIMITED, true},
        {500, "", "", CADRE_CLASS_SERVER, true},
        {501, "", "", CADRE_CLASS_SERVER, false},
        {502, "", "", CADRE_CLASS_SERVER, true},
        {503, "", "", CADRE_CLASS_OVERLOADED, true},
        {504, "", "", CADRE_CLASS_TIMEOUT, true},
        {505, "", "", CADRE_CLASS_SERVER, false},
        {520, "", "", CADRE_CLASS_SERVER, true},
        {524, "", "", CADRE_CLASS_TIMEOUT, true},
        {529, "", "", CADRE_CLASS_OVERLOADED, true},
        {302, "", "", CADRE_CLASS_INVALID_REQUEST, false},
    };
    check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_http_error__words_make_a_status_more_exact(void)
{
    static const row rows[] = {
        {429, "insufficient_quota", "", CADRE_CLASS_QUOTA, false},
        {429, "billing_hard_limit_reached", "", CADRE_CLASS_QUOTA, false},
        {403, "insufficient_quota", "", CADRE_CLASS_QUOTA, false},
        {400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
         CADRE_CLASS_AUTH, false},
        {400, "INVALID_ARGUMENT",
         "The input token count (1200000) exceeds the maximum number of tokens allowed "
         "(1048576).",
         CADRE_CLASS_CONTEXT_LENGTH, false},
        {400, "context_length_exceeded", "", CADRE_CLASS_CONTEXT_LENGTH, false},
        {400, "", "This model's Maximum Context Length is 8192 tokens",
         CADRE_CLASS_CONTEXT_LENGTH, false},
        {400, "exceed_context_size_error", "", CADRE_CLASS_CONTEXT_LENGTH, false},
        {500, "", "the request exceeds the available context size",
         CADRE_CLASS_CONTEXT_LENGTH, false},
        {400, "content_filter", "", CADRE_CLASS_CONTENT_FILTER, false},
        {400, "", "triggering Azure OpenAI's content management policy",
         CADRE_CLASS_CONTENT_FILTER, false},
        {400, "", "Your credit balance is too low", CADRE_CLASS_QUOTA, false},
        {429, "rate_limit_error", "Extra usage is required for long context requests.",
         CADRE_CLASS_QUOTA, false},
        {429, "RESOURCE_EXHAUSTED",
         "* Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, "
         "model: gemini-3.1-pro\nPlease retry in 25.465784708s.",
         CADRE_CLASS_QUOTA, false},
        {429, "RESOURCE_EXHAUSTED",
         "* Quota exceeded for metric: generate_content_free_tier_requests, limit: 15, "
         "model: gemini-3.1-pro\nPlease retry in 25.465784708s.",
         CADRE_CLASS_RATE_LIMITED, true},
        {429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.",
         CADRE_CLASS_QUOTA, false},
        {429, "RESOURCE_EXHAUSTED",
         "Your project has exceeded its monthly spending cap.", CADRE_CLASS_QUOTA,
         false},
        {400, "INVALID_ARGUMENT",
         "Unable to submit request because the input token count is 2000000 but model "
         "only supports up to 1048576.",
         CADRE_CLASS_CONTEXT_LENGTH, false},
        {400, "INVALID_ARGUMENT",
         "Request payload size exceeds the limit: 20971520 bytes.",
         CADRE_CLASS_CONTEXT_LENGTH, false},
        {500, "overloaded_error", "", CADRE_CLASS_OVERLOADED, true},
        // Not misled by what a text speaks of.
        {429, "", "you exceeded your context window of requests",
         CADRE_CLASS_RATE_LIMITED, true},
        {401, "", "content filter", CADRE_CLASS_AUTH, false},
        {503, "", "maximum context length", CADRE_CLASS_OVERLOADED, true},
    };
    check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_http_error__words_alone_class_an_error_inside_an_answer(void)
{
    static const row rows[] = {
        {200, "insufficient_quota", "quota exceeded", CADRE_CLASS_QUOTA, false},
        {200, "rate_limit_exceeded", "", CADRE_CLASS_RATE_LIMITED, true},
        {200, "overloaded_error", "Overloaded", CADRE_CLASS_OVERLOADED, true},
        {200, "server_error", "", CADRE_CLASS_SERVER, true},
        {200, "invalid_request_error", "", CADRE_CLASS_INVALID_REQUEST, false},
        {200, "authentication_error", "", CADRE_CLASS_AUTH, false},
        {200, "timeout", "", CADRE_CLASS_TIMEOUT, true},
        {200, "", "maximum context length", CADRE_CLASS_CONTEXT_LENGTH, false},
        {200, "", "the model is overloaded", CADRE_CLASS_OVERLOADED, true},
        {200, "", "quota exceeded", CADRE_CLASS_QUOTA, false},
        {200, "", "something broke", CADRE_CLASS_SERVER, true},
        {200, "api_error", "Internal server error", CADRE_CLASS_SERVER, true},
        {200, "permission_error", "", CADRE_CLASS_AUTH, false},
        {200, "not_found_error", "", CADRE_CLASS_INVALID_REQUEST, false},
        {200, "billing_error", "", CADRE_CLASS_QUOTA, false},
        {200, "request_too_large", "", CADRE_CLASS_CONTEXT_LENGTH, false},
        {200, "UNAUTHENTICATED", "", CADRE_CLASS_AUTH, false},
        {200, "RESOURCE_EXHAUSTED", "", CADRE_CLASS_RATE_LIMITED, true},
        {200, "UNAVAILABLE", "", CADRE_CLASS_OVERLOADED, true},
        {200, "DEADLINE_EXCEEDED", "", CADRE_CLASS_TIMEOUT, true},
        {200, "INTERNAL", "", CADRE_CLASS_SERVER, true},
        {200, "FAILED_PRECONDITION", "", CADRE_CLASS_INVALID_REQUEST, false},
        {200, "BadRequestError", "", CADRE_CLASS_INVALID_REQUEST, false},
        {0, "", "", CADRE_CLASS_SERVER, true},
    };
    check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

// As servers have sent them; `code` is what a format found of type, code and status.
static const row said[] = {
    // OpenAI
    {400, "invalid_request_error context_length_exceeded",
     "Your input exceeds the context window of this model. Please adjust your "
     "input and try again.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {429, "tokens rate_limit_exceeded",
     "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): "
     "Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
     CADRE_CLASS_RATE_LIMITED, true},
    {429, "tokens rate_limit_exceeded",
     "Request too large for gpt-5 in organization org-x on tokens per min (TPM): "
     "Limit 30000, Requested 41000. The input or output tokens must be reduced in "
     "order to run successfully.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {429, "insufficient_quota insufficient_quota",
     "You exceeded your current quota, please check your plan and billing details.",
     CADRE_CLASS_QUOTA, false},
    {400, "invalid_request_error invalid_prompt",
     "Invalid prompt: your prompt was flagged as potentially violating our usage "
     "policy.",
     CADRE_CLASS_CONTENT_FILTER, false},
    {403, "request_forbidden unsupported_country_region_territory",
     "Country, region, or territory not supported", CADRE_CLASS_AUTH, false},
    {400, "invalid_request_error unsupported_parameter",
     "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
     "'max_completion_tokens' instead.",
     CADRE_CLASS_INVALID_REQUEST, false},
    {400, "invalid_request_error invalid_value",
     "max_tokens is too large: 50000. This model supports at most 16384 completion "
     "tokens",
     CADRE_CLASS_INVALID_REQUEST, false},
    {503, "", "The engine is currently overloaded, please try again later",
     CADRE_CLASS_OVERLOADED, true},
    // Azure
    {400, "content_filter",
     "The response was filtered due to the prompt triggering Azure OpenAI's "
     "content management policy.",
     CADRE_CLASS_CONTENT_FILTER, false},
    {401, "401",
     "Access denied due to invalid subscription key or wrong API "
     "endpoint.",
     CADRE_CLASS_AUTH, false},
    {404, "DeploymentNotFound",
     "The API deployment for this resource does not "
     "exist.",
     CADRE_CLASS_INVALID_REQUEST, false},
    {429, "429",
     "Requests to the ChatCompletions_Create Operation have exceeded "
     "token rate limit of your current OpenAI S0 pricing tier.",
     CADRE_CLASS_RATE_LIMITED, true},
    {403, "403",
     "Out of call volume quota for the service. Quota will be "
     "replenished in 6.22:01:31",
     CADRE_CLASS_QUOTA, false},
    // Anthropic
    {400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "invalid_request_error",
     "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "invalid_request_error",
     "Your credit balance is too low to access the Anthropic API.", CADRE_CLASS_QUOTA,
     false},
    {400, "invalid_request_error",
     "You have reached your specified API usage limits. You will regain access on "
     "2026-12-01 at 00:00 UTC.",
     CADRE_CLASS_QUOTA, false},
    {400, "invalid_request_error", "This organization has been disabled.",
     CADRE_CLASS_AUTH, false},
    {400, "invalid_request_error", "Output blocked by content filtering policy",
     CADRE_CLASS_CONTENT_FILTER, false},
    {400, "invalid_request_error",
     "messages.1: tool_use ids were found without "
     "tool_result blocks",
     CADRE_CLASS_INVALID_REQUEST, false},
    {401, "authentication_error", "invalid x-api-key", CADRE_CLASS_AUTH, false},
    {402, "billing_error", "", CADRE_CLASS_QUOTA, false},
    {403, "permission_error", "", CADRE_CLASS_AUTH, false},
    {404, "not_found_error", "model: claude-x", CADRE_CLASS_INVALID_REQUEST, false},
    {413, "request_too_large", "Request exceeds the maximum size",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {429, "rate_limit_error",
     "This request would exceed your organization's rate limit of 40,000 input "
     "tokens per minute",
     CADRE_CLASS_RATE_LIMITED, true},
    {500, "api_error", "Internal server error", CADRE_CLASS_SERVER, true},
    {504, "timeout_error", "", CADRE_CLASS_TIMEOUT, true},
    {529, "overloaded_error", "Overloaded", CADRE_CLASS_OVERLOADED, true},
    // Gemini
    {400, "INVALID_ARGUMENT API_KEY_INVALID",
     "API key not valid. Please pass a valid API key.", CADRE_CLASS_AUTH, false},
    {400, "INVALID_ARGUMENT",
     "The input token count (1196265) exceeds the maximum number of tokens allowed "
     "(1048575).",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "INVALID_ARGUMENT",
     "Unable to submit request because it must have a "
     "text parameter.",
     CADRE_CLASS_INVALID_REQUEST, false},
    {400, "FAILED_PRECONDITION", "User location is not supported for the API use.",
     CADRE_CLASS_AUTH, false},
    {401, "UNAUTHENTICATED", "", CADRE_CLASS_AUTH, false},
    {403, "PERMISSION_DENIED", "", CADRE_CLASS_AUTH, false},
    {404, "NOT_FOUND", "", CADRE_CLASS_INVALID_REQUEST, false},
    {429, "RESOURCE_EXHAUSTED GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
     "You exceeded your current quota, please check your plan and billing details.",
     CADRE_CLASS_RATE_LIMITED, true},
    {429, "RESOURCE_EXHAUSTED GenerateRequestsPerDayPerProjectPerModel-FreeTier",
     "You exceeded your current quota, please check your plan and billing details.",
     CADRE_CLASS_QUOTA, false},
    {499, "CANCELLED", "The operation was cancelled.", CADRE_CLASS_SERVER, true},
    {500, "INTERNAL", "", CADRE_CLASS_SERVER, true},
    {503, "UNAVAILABLE", "The model is overloaded. Please try again later.",
     CADRE_CLASS_OVERLOADED, true},
    {504, "DEADLINE_EXCEEDED", "", CADRE_CLASS_TIMEOUT, true},
    // Bedrock
    {400, "ValidationException", "Input is too long for requested model.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {429, "ThrottlingException", "Too many tokens, please wait before trying again.",
     CADRE_CLASS_RATE_LIMITED, true},
    // vLLM, SGLang, TGI, llama.cpp, Ollama, LM Studio
    {400, "BadRequestError",
     "This model's maximum context length is 4096 tokens. However, you requested "
     "5000 tokens.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "BadRequestError",
     "The decoder prompt (length 5000) is longer than the "
     "maximum model length of 4096.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "BadRequestError", "max_tokens must be at least 1, got -23.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {422, "validation",
     "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {404, "NotFoundError", "The model `x` does not exist.", CADRE_CLASS_INVALID_REQUEST,
     false},
    {400, "",
     "The input (300 tokens) is longer than the model's context length "
     "(200 tokens).",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {422, "validation",
     "Input validation error: `inputs` tokens + "
     "`max_new_tokens` must be <= 4096.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {424, "generation", "Request failed during generation", CADRE_CLASS_SERVER, true},
    {429, "overloaded", "Model is overloaded", CADRE_CLASS_OVERLOADED, true},
    {400, "exceed_context_size_error",
     "the request exceeds the available context size, try increasing it",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {500, "server_error", "Context size has been exceeded.", CADRE_CLASS_CONTEXT_LENGTH,
     false},
    {503, "unavailable_error", "Loading model", CADRE_CLASS_OVERLOADED, true},
    {404, "", "model 'x' not found, try pulling it first", CADRE_CLASS_INVALID_REQUEST,
     false},
    {503, "", "server busy, please try again. maximum pending requests exceeded",
     CADRE_CLASS_OVERLOADED, true},
    {400, "",
     "The number of tokens to keep from the initial prompt is greater "
     "than the context length",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    // OpenRouter
    {400, "", "This endpoint's maximum context length is 131072 tokens.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {402, "", "Insufficient credits", CADRE_CLASS_QUOTA, false},
    {403, "", "Key limit exceeded (total limit).", CADRE_CLASS_QUOTA, false},
    {403, "",
     "openai/gpt-4 requires moderation. Your input was flagged for "
     "\"violence\".",
     CADRE_CLASS_CONTENT_FILTER, false},
    {429, "",
     "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock "
     "1000 free model requests per day",
     CADRE_CLASS_QUOTA, false},
    {429, "", "Rate limit exceeded: free-models-per-min.", CADRE_CLASS_RATE_LIMITED,
     true},
    {502, "", "Provider returned error", CADRE_CLASS_SERVER, true},
    // DeepSeek, Mistral, xAI, Groq, Moonshot, MiniMax, DashScope, GitHub
    {402, "unknown_error invalid_request_error", "Insufficient Balance",
     CADRE_CLASS_QUOTA, false},
    {400, "invalid_request_error", "Content Exists Risk", CADRE_CLASS_CONTENT_FILTER,
     false},
    {400, "invalid_request_error 3051",
     "Prompt contains 40000 tokens, too large for model with 32768 maximum context "
     "length",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {429, "invalid_request_error 3505",
     "Service tier capacity exceeded for this model.", CADRE_CLASS_RATE_LIMITED, true},
    {400, "Client specified an invalid argument",
     "This model's maximum prompt length is 131072 but the request contains 537812 "
     "tokens.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "Client specified an invalid argument", "Incorrect API key provided: xa***.",
     CADRE_CLASS_AUTH, false},
    {403, "The caller does not have permission to execute the specified operation",
     "Your team x has either used all available credits or reached its monthly "
     "spending limit.",
     CADRE_CLASS_QUOTA, false},
    {429, "Some resource has been exhausted",
     "Your team x has either used all available credits or reached its monthly "
     "spending limit.",
     CADRE_CLASS_QUOTA, false},
    {413, "tokens rate_limit_exceeded",
     "Request too large for model `x` on tokens per minute (TPM): Limit 6000, "
     "Requested 7000",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {429, "exceeded_current_quota_error",
     "Your account is suspended, please check your plan and billing details",
     CADRE_CLASS_QUOTA, false},
    {429, "engine_overloaded_error",
     "The engine is currently overloaded, please try again later",
     CADRE_CLASS_OVERLOADED, true},
    {400, "invalid_request_error", "Your request exceeded model token limit: 262144",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "", "invalid params, context window exceeds limit",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {429, "1113", "Insufficient balance or no resource package. Please recharge.",
     CADRE_CLASS_QUOTA, false},
    {400, "invalid_parameter_error", "Range of input length should be [1, 30720]",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "data_inspection_failed", "Input data may contain inappropriate content.",
     CADRE_CLASS_CONTENT_FILTER, false},
    {400, "Arrearage",
     "Access denied, please make sure your account is in good "
     "standing.",
     CADRE_CLASS_QUOTA, false},
    {403, "AllocationQuota.FreeTierOnly",
     "The free tier of the model has been exhausted.", CADRE_CLASS_QUOTA, false},
    {429, "", "You've reached kimi monthly usage limit for this billing cycle.",
     CADRE_CLASS_QUOTA, false},
    {429, "usage_limit_reached", "The usage limit has been reached", CADRE_CLASS_QUOTA,
     false},
    // Z.ai, Volcengine, NVIDIA, Cerebras, LiteLLM
    {400, "1261", "Prompt exceeds max length", CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "1301", "System detected potentially unsafe or sensitive content in input",
     CADRE_CLASS_CONTENT_FILTER, false},
    {400, "InvalidParameter", "Input length 300000 exceeds the maximum length 262144",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "InvalidParameter",
     "Total tokens of image and text exceed max message tokens.",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {400, "InputTextSensitiveContentDetected", "", CADRE_CLASS_CONTENT_FILTER, false},
    {403, "AccountOverdueError", "your account has an overdue balance",
     CADRE_CLASS_QUOTA, false},
    {400, "", "Prompt length 5000 exceeds maximum input length 4096",
     CADRE_CLASS_CONTEXT_LENGTH, false},
    {429, "token_quota_exceeded", "Tokens per day limit exceeded", CADRE_CLASS_QUOTA,
     false},
    {429, "request_quota_exceeded", "Requests per minute limit exceeded",
     CADRE_CLASS_RATE_LIMITED, true},
    {400, "budget_exceeded", "Budget has been exceeded!", CADRE_CLASS_QUOTA, false},
    {400, "model_max_prompt_tokens_exceeded",
     "prompt token count of 130000 exceeds the limit of 128000",
     CADRE_CLASS_CONTEXT_LENGTH, false},
};

static void test_http_error__classes_what_providers_say(void)
{
    check_rows(said, sizeof(said) / sizeof(said[0]));
}

static void test_http_error__says_status_class_and_message_in_one_line(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fail_http(&err, 429, "", "  slow\r\n\t down\x01now  ");
    CHECK_TEXT(err.text, "HTTP 429 rate_limited: slow down now");
    cadre_error_clear(&err);
    cadre_fail_http(&err, 404, "", "no such model");
    CHECK_TEXT(err.text, "HTTP 404 invalid_request: no such model (check base_url and "
                         "model)");
    cadre_error_clear(&err);
    cadre_fail_http(&err, 500, "", "");
    CHECK_TEXT(err.text, "HTTP 500 server");
    cadre_error_clear(&err);
    cadre_fail_http(&err, 0, "overloaded", "");
    CHECK_TEXT(err.text, "overloaded: overloaded");
}

static void test_http_error__cuts_a_long_message_at_a_character(void)
{
    char message[2001];
    for (size_t i = 0; i + 2 < sizeof(message); i += 2)
        memcpy(message + i, "\xC3\xA9", 2);
    message[2000] = '\0';
    message[0] = 'x';
    message[1] = 'y'; // so that the limit falls into a character or not
    cadre_error err = CADRE_ERROR_INIT;
    cadre_fail_http(&err, 404, "", message);
    CHECK_CONTAINS(err.text, "\xC3\xA9... (check base_url and model)");
    CHECK_LACKS(err.text, "\\x");
    cadre_error_clear(&err);
    cadre_fail_http(&err, 404, "", message + 1);
    CHECK_CONTAINS(err.text, "\xC3\xA9... (check base_url and model)");
    CHECK_LACKS(err.text, "\\x");
    CHECK_STATUS(cadre_fail_http(NULL, 500, "", message), CADRE_EIO, NULL);
}

static void test_http_error__a_refused_key_says_where_it_comes_from(void)
{
    static const struct {
        int http_status;
        const char *body;
    } rows[] = {
        {401, "{\"error\":{\"message\":\"no\"}}"},
        {400, "{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a "
              "valid API key.\",\"status\":\"INVALID_ARGUMENT\"}}"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cadre_error err = CADRE_ERROR_INIT;
        const char *body = rows[i].body;
        CHECK_STATUS(
            cadre_fail_body(&err, rows[i].http_status, "THE_KEY", body, strlen(body)),
            CADRE_EIO, NULL);
        CHECK_INT(err.error_class, CADRE_CLASS_AUTH);
        CHECK_CONTAINS(err.text, "(the key is that of THE_KEY)");
    }
}

// What stands in a body, whatever its form.
static void test_http_error__finds_the_message_and_the_time_to_wait(void)
{
    static const struct {
        int http_status;
        const char *body;
        const char *text;
        int64_t retry_after_ms;
    } rows[] = {
        {400, "{\"error\":{\"message\":\"m\"}}", "HTTP 400 invalid_request: m", 0},
        {500, "{\"errors\":[{\"code\":7,\"message\":\"m\"},{\"message\":\"n\"}]}",
         "HTTP 500 server: m", 0},
        {500, "{\"errors\":[\"m\"]}", "HTTP 500 server: m", 0},
        {400, "{\"error_code\":18,\"error_msg\":\"m\"}", "HTTP 400 invalid_request: m",
         0},
        {200, "{\"base_resp\":{\"status_code\":1002,\"status_msg\":\"rate limit\"}}",
         "rate_limited: rate limit", 0},
        // As server-sent events (vLLM, DashScope).
        {429, "data: {\"error\":{\"message\":\"m\"}}\n\ndata: [DONE]\n\n",
         "HTTP 429 rate_limited: m", 0},
        {500, "id:1\nevent:error\n:HTTP_STATUS/500\ndata:{\"message\":\"m\"}\n\n",
         "HTTP 500 server: m", 0},
        {500, "no data: {\"message\":\"m\"}",
         "HTTP 500 server: no data: {\"message\":\"m\"}", 0},
        // A page.
        {502,
         "<!DOCTYPE html>\n<html><head>\n<TITLE>x | 502:\nBad gateway</TITLE><style>",
         "HTTP 502 server: x | 502: Bad gateway", 0},
        {502, "<html><title>cut", "HTTP 502 server: <html><title>cut", 0},
        {502, "", "HTTP 502 server", 0},
        // OpenAI and Groq, Azure, Gemini.
        {429, "{\"error\":{\"message\":\"Please try again in 1m2.5s. Visit x\"}}",
         "HTTP 429 rate_limited: Please try again in 1m2.5s. Visit x", 62500},
        {429, "{\"error\":{\"message\":\"Please retry after 26 seconds.\"}}",
         "HTTP 429 rate_limited: Please retry after 26 seconds.", 26000},
        {429,
         "{\"error\":{\"message\":\"Please retry in 9s.\",\"details\":[{"
         "\"retryDelay\":\"8s\"}]}}",
         "HTTP 429 rate_limited: Please retry in 9s.", 8000},
        {429, "{\"error\":{\"message\":\"Try again in a while.\"}}",
         "HTTP 429 rate_limited: Try again in a while.", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cadre_error err = CADRE_ERROR_INIT;
        size_t len = strlen(rows[i].body);
        char *exact = malloc(len + 1); // so that reading beyond it is noticed
        if (!CHECK(exact != NULL))
            return;
        memcpy(exact, rows[i].body, len + 1);
        cadre_fail_body(&err, rows[i].http_status, "", exact, len);
        CHECK_TEXT(err.text, rows[i].text);
        CHECK_INT(err.retry_after_ms, rows[i].retry_after_ms);
        free(exact);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_http_error__status_gives_the_class),
    CHECK_TEST(test_http_error__words_make_a_status_more_exact),
    CHECK_TEST(test_http_error__words_alone_class_an_error_inside_an_answer),
    CHECK_TEST(test_http_error__classes_what_providers_say),
    CHECK_TEST(test_http_error__says_status_class_and_message_in_one_line),
    CHECK_TEST(test_http_error__cuts_a_long_message_at_a_character),
    CHECK_TEST(test_http_error__a_refused_key_says_where_it_comes_from),
    CHECK_TEST(test_http_error__finds_the_message_and_the_time_to_wait),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("net/http_error", tests);
}
