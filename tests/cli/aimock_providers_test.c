// The same teams over each provider's own protocol, against aimock, a mock that this
// project did not write: what is answered, what was asked, and what becomes of its
// faults. What of chat completions alone is in aimock_test.c.
#include "support/aimock.h"
#include "support/folder.h"
#include "support/program.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_RUN 77 // see tests/CMakeLists.txt
#define KEY "sk-providers-7c1e55d0a9"
#define N(array) (sizeof(array) / sizeof((array)[0]))

typedef struct provider {
    const char *model, *base_env, *base_path, *key_env;
    const char *path; // of its requests
} provider;

static const provider providers[] = {
    {"openai/gpt-5-mini", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY",
     "/v1/chat/completions"},
    {"openai_responses/gpt-5-mini", "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY",
     "/v1/responses"},
    {"anthropic/claude-sonnet-4-5", "ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY",
     "/v1/messages"},
    {"gemini/gemini-3-pro-preview", "GEMINI_BASE_URL", "", "GEMINI_API_KEY",
     "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"},
};

// One agent with two calls in a turn, one of them without arguments.
static const char counter_agents[] =
    "  counter: {model: m, description: C, instructions: You count., "
    "tools: [now, add]}\n";

// A lead that calls two members at once.
static const char lead_agents[] =
    "  team: {type: coordinator, entry: lead, members: [lead, left, right]}\n"
    "  lead: {model: m, description: Leads, instructions: You lead.}\n"
    "  left: {model: m, description: Left, instructions: You do the left half.}\n"
    "  right: {model: m, description: Right, instructions: You do the right half.}\n";

static const char counter_answer[] =
    "It is noon, and \xE2\x80\x9Cone and two\xE2\x80\x9D "
    "are three. \xF0\x9F\x99\x82";

typedef struct result {
    program_result program;
    json_t *object; // of --json
} result;

static void result_fini(result *ran)
{
    json_decref(ran->object);
    program_result_fini(&ran->program);
    *ran = (result){.object = NULL};
}

static const json_t *get(const json_t *object, const char *key)
{
    return json_object_get(object, key);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(get(object, key));
}

static bool write_team(const test_folder *folder, const provider *over,
                       const char *agents, char path[FOLDER_PATH_SIZE])
{
    char text[4096];
    (void)snprintf(
        text, sizeof(text),
        "version: 1\nname: t\nmodels:\n"
        "  m:\n    model: %s\n    base_url: ${%s}\n    api_key_env: %s\n"
        "    retry: {attempts: 3, backoff: 5ms, max_backoff: 2s}\n"
        "tools:\n"
        "  now: {type: command, description: The time, argv: [/bin/echo, '12:00']}\n"
        "  add:\n    type: command\n    description: Adds\n    argv: [/bin/cat]\n"
        "    parameters: {type: object, properties: {a: {type: integer}, b: {type: "
        "string}}}\n"
        "agents:\n%s",
        over->model, over->base_env, over->key_env, agents);
    return folder_write(folder, "team.yaml", text, path);
}

// Runs a team over a provider. False, and a failed check: there is no result.
static bool run_team(const aimock *mock, const provider *over, const char *agents,
                     result *ran)
{
    char path[FOLDER_PATH_SIZE], url[128], key[128];
    const char *const changes[] = {url, key, NULL};
    const char *const arguments[] = {"run", path, "Go on then.", "--json", NULL};
    test_folder folder;
    bool is_run = false;
    *ran = (result){.object = NULL};
    (void)snprintf(url, sizeof(url), "%s=http://127.0.0.1:%d%s", over->base_env,
                   mock->port, over->base_path);
    (void)snprintf(key, sizeof(key), "%s=" KEY, over->key_env);
    if (CHECK(folder_make(&folder)) && write_team(&folder, over, agents, path))
        is_run = PROGRAM_RUN(&ran->program, .arguments = arguments, .changes = changes,
                             .timeout_ms = 60000);
    folder_remove(&folder);
    if (!is_run)
        return false;
    CHECK_LACKS(ran->program.out, KEY);
    CHECK_LACKS(ran->program.err, KEY);
    ran->object = json_loads(ran->program.out, 0, NULL);
    return CHECK(ran->object != NULL);
}

static void tell(const provider *over, const result *ran, unsigned n_failures)
{
    if (CU_get_number_of_failures() > n_failures)
        (void)printf("\n  over %s: %s\n", over->model,
                     ran->program.err ? ran->program.err : "");
}

// --- What was asked ---

// The result of a tool, which Gemini has as {"output": "..."}. The caller's.
static char *result_text(const json_t *message)
{
    const char *text = text_of(message, "content");
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    const char *output = text_of(json, "output");
    char *found = strdup(output ? output : text ? text : "?");
    json_decref(json);
    return found;
}

static void add_calls(cdr_buf *out, const json_t *message)
{
    size_t i = 0;
    const json_t *call = NULL;
    json_array_foreach(get(message, "tool_calls"), i, call)
    {
        const json_t *function = get(call, "function");
        json_t *arguments = json_loads(text_of(function, "arguments"), 0, NULL);
        char *text = json_dumps(arguments, JSON_COMPACT);
        cdr_buf_printf(out, "call %s %s\n", text_of(function, "name"),
                       text ? text : "?");
        free(text);
        json_decref(arguments);
    }
}

// aimock keeps each request as the chat completion that it amounts to. A line for each
// text, call and result. The caller's.
static char *outline(const json_t *request)
{
    size_t i = 0;
    const json_t *message = NULL;
    cdr_buf out = CDR_BUF_INIT;
    json_array_foreach(get(get(request, "body"), "messages"), i, message)
    {
        const char *role = text_of(message, "role");
        const char *said = text_of(message, "content");
        char *given = result_text(message);
        bool is_result = strcmp(role, "tool") == 0;
        if (is_result || (said && said[0]))
            cdr_buf_printf(&out, "%s %s\n", role, is_result ? given : said);
        add_calls(&out, message);
        free(given);
    }
    return cdr_buf_take(&out);
}

static void check_asked(const provider *over, const json_t *request,
                        const char *expected)
{
    char *got = outline(request);
    CHECK_TEXT(got, expected);
    free(got);
    CHECK_TEXT(text_of(request, "method"), "POST");
    CHECK_TEXT(text_of(request, "path"), over->path);
    CHECK_INT(json_integer_value(get(get(request, "response"), "status")), 200);
}

// --- Claims ---

static void check_counter(const aimock *mock, const provider *over, size_t *n_before)
{
    result ran;
    if (run_team(mock, over, counter_agents, &ran)) {
        const json_t *usage = get(ran.object, "usage");
        json_t *journal = aimock_journal(mock);
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_TEXT(text_of(ran.object, "output"), counter_answer);
        CHECK_INT(json_integer_value(get(usage, "model_calls")), 2);
        CHECK_INT(json_integer_value(get(usage, "tool_calls")), 2);
        CHECK_INT(json_integer_value(get(usage, "input_tokens")), 34);
        CHECK_INT(json_integer_value(get(usage, "output_tokens")), 12);
        CHECK_INT(json_array_size(journal), *n_before + 2);
        check_asked(over, json_array_get(journal, *n_before),
                    "system You count.\nuser Go on then.\n");
        check_asked(over, json_array_get(journal, *n_before + 1),
                    "system You count.\nuser Go on then.\nassistant Let me look.\n"
                    "call now {}\ncall add {\"a\":1,\"b\":\"\\\"2\\\" \xC3\xA9\"}\n"
                    "tool 12:00\ntool {\"a\":1,\"b\":\"\\\"2\\\" \xC3\xA9\"}\n");
        *n_before = json_array_size(journal);
        json_decref(journal);
    }
    result_fini(&ran);
}

static void test_aimock_providers__calls_of_a_turn_run_and_their_results_go_back(void)
{
    aimock mock;
    size_t n_asked = 0;
    if (aimock_start(&mock, NULL))
        for (size_t i = 0; i < N(providers); i++) {
            unsigned n_failures = CU_get_number_of_failures();
            check_counter(&mock, &providers[i], &n_asked);
            tell(&providers[i], &(result){.object = NULL}, n_failures);
        }
    aimock_stop(&mock);
}

static void check_lead(const aimock *mock, const provider *over)
{
    result ran;
    unsigned n_failures = CU_get_number_of_failures();
    if (run_team(mock, over, lead_agents, &ran)) {
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_TEXT(text_of(ran.object, "output"), "Both halves are done.");
        CHECK_INT(json_array_size(get(ran.object, "frames")), 4);
        CHECK_INT(json_integer_value(get(get(ran.object, "usage"), "model_calls")), 4);
    }
    tell(over, &ran, n_failures);
    result_fini(&ran);
}

static void test_aimock_providers__a_lead_calls_two_members_at_once(void)
{
    aimock mock;
    if (aimock_start(&mock, NULL))
        for (size_t i = 0; i < N(providers); i++)
            check_lead(&mock, &providers[i]);
    aimock_stop(&mock);
}

// --- Faults ---

typedef struct fault {
    const char *option;
    const char *error_class;
    size_t n_requests; // when all fail
} fault;

static const fault faults[] = {
    {"--chaos-ratelimit", "rate_limited", 3},
    {"--chaos-disconnect", "connection", 3},
    {"--chaos-malformed", "bad_response", 1},
    {"--chaos-drop", "server", 3},
};

static size_t count_requests(const aimock *mock)
{
    json_t *journal = aimock_journal(mock);
    size_t n = json_array_size(journal);
    json_decref(journal);
    return n;
}

static void check_all_fail(const aimock *mock, const provider *over, const fault *kind)
{
    result ran;
    unsigned n_failures = CU_get_number_of_failures();
    size_t n_before = count_requests(mock);
    if (run_team(mock, over, counter_agents, &ran)) {
        CHECK_INT(ran.program.exit_status, 1);
        CHECK_TEXT(text_of(ran.object, "status"), "failed");
        CHECK_TEXT(text_of(get(ran.object, "error"), "class"), kind->error_class);
        CHECK_TEXT(text_of(ran.object, "output"), "");
        CHECK_INT(count_requests(mock) - n_before, kind->n_requests);
    }
    tell(over, &ran, n_failures);
    result_fini(&ran);
}

static void test_aimock_providers__faults_that_never_end_fail_with_their_class(void)
{
    for (size_t f = 0; f < N(faults); f++) {
        aimock mock;
        if (aimock_start(&mock, (const char *const[]){faults[f].option, "1", NULL}))
            for (size_t i = 0; i < N(providers); i++)
                check_all_fail(&mock, &providers[i], &faults[f]);
        aimock_stop(&mock);
    }
}

// One run under faults that come and go: the right answer or the right error. Returns
// whether it was answered.
static bool check_honest(const aimock *mock, const provider *over, const fault *kind)
{
    result ran;
    bool is_answered = false;
    unsigned n_failures = CU_get_number_of_failures();
    if (run_team(mock, over, counter_agents, &ran)) {
        const char *error_class = text_of(get(ran.object, "error"), "class");
        is_answered = ran.program.exit_status == 0;
        CHECK_INT(ran.program.exit_status, is_answered ? 0 : 1);
        CHECK_TEXT(text_of(ran.object, "output"), is_answered ? counter_answer : "");
        CHECK_TEXT(error_class, is_answered ? NULL : kind->error_class);
    }
    tell(over, &ran, n_failures);
    result_fini(&ran);
    return is_answered;
}

static void test_aimock_providers__faults_that_pass_end_in_the_answer_or_the_error(void)
{
    enum {
        RUNS = 3 // over each provider
    };
    for (size_t f = 0; f < N(faults); f++) {
        aimock mock;
        int n_answered = 0;
        if (aimock_start(&mock, (const char *const[]){faults[f].option, "0.2", NULL}))
            for (size_t i = 0; i < N(providers) * RUNS; i++)
                n_answered += check_honest(&mock, &providers[i / RUNS], &faults[f]);
        // Twelve runs of two calls that all fail by chance: once in 10^5 where a fault
        // is final, and far less often where it is not.
        CHECK(n_answered > 0);
        aimock_stop(&mock);
    }
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(
            test_aimock_providers__calls_of_a_turn_run_and_their_results_go_back),
        CHECK_TEST(test_aimock_providers__a_lead_calls_two_members_at_once),
        CHECK_TEST(test_aimock_providers__faults_that_never_end_fail_with_their_class),
        CHECK_TEST(
            test_aimock_providers__faults_that_pass_end_in_the_answer_or_the_error),
        CU_TEST_INFO_NULL,
    };

    return aimock_is_there() ? check_main("cli/aimock_providers", tests) : NOT_RUN;
}
