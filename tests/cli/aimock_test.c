// The samples over HTTP, streamed, against aimock: a provider that this project did not
// write, so that a misreading of the protocol is not tested against itself. What we
// really sent is read from its journal. With its faults on a run ends with the right
// answer or with the right error, and with nothing else.
#include "support/aimock.h"
#include "support/online.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_RUN 77 // see tests/CMakeLists.txt
#define HELLO "hello", "I am Ada"
#define DESK "customer-desk", "I want to return order 1042"
#define N(array) (sizeof(array) / sizeof((array)[0]))

static const char desk_answer[] = "Order 1042 was delivered on Monday, so you can "
                                  "return it. Your return label is on its way.";

// Runs a sample without --offline. `option` may be NULL.
static bool run_sample(const aimock *mock, const char *sample, const char *input,
                       const char *option, online_result *ran)
{
    char path[64], team[4096];
    const char *const options[] = {option, NULL};

    (void)snprintf(path, sizeof(path), "samples/%s/team.yaml", sample);
    const online_config config = {.team = program_source_path(path, team, sizeof(team)),
                                  .input = input,
                                  .base_url = mock->base_url,
                                  .options = options,
                                  .timeout_ms = 60000};
    return online_run(&config, NULL, ran);
}

static const json_t *get(const json_t *object, const char *key)
{
    return json_object_get(object, key);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(get(object, key));
}

// A message of the nth request in the journal.
static const json_t *message_at(const json_t *journal, size_t request, size_t nth)
{
    const json_t *body = get(json_array_get(journal, request), "body");
    return json_array_get(get(body, "messages"), nth);
}

static void check_message(const json_t *message, const char *role, const char *content)
{
    CHECK_TEXT(text_of(message, "role"), role);
    CHECK_TEXT(text_of(message, "content"), content);
}

// The nth tool that a request offers; NULL: there are not so many.
static const json_t *tool_at(const json_t *journal, size_t request, size_t nth)
{
    const json_t *body = get(json_array_get(journal, request), "body");
    return get(json_array_get(get(body, "tools"), nth), "function");
}

static void check_request(const json_t *journal, size_t request, size_t n_messages,
                          size_t n_tools)
{
    const json_t *entry = json_array_get(journal, request);
    const json_t *body = get(entry, "body");

    CHECK_TEXT(text_of(entry, "method"), "POST");
    CHECK_TEXT(text_of(entry, "path"), "/v1/chat/completions");
    CHECK(json_is_true(get(body, "stream")));
    CHECK_TEXT(text_of(body, "model"), "gpt-5-mini");
    CHECK_INT(json_array_size(get(body, "messages")), n_messages);
    CHECK_INT(json_array_size(get(body, "tools")), n_tools);
    CHECK_INT(json_integer_value(get(get(entry, "response"), "status")), 200);
}

static void check_hello_journal(const json_t *journal)
{
    CHECK_INT(json_array_size(journal), 1);
    check_request(journal, 0, 2, 0);
    check_message(message_at(journal, 0, 0), "system",
                  "Greet the user by name in one friendly sentence.");
    check_message(message_at(journal, 0, 1), "user", "I am Ada");
}

static void test_aimock__hello_is_answered_over_http(void)
{
    aimock mock;
    online_result ran;

    if (aimock_start(&mock, NULL)) {
        if (run_sample(&mock, HELLO, NULL, &ran)) {
            json_t *journal = aimock_journal(&mock);
            CHECK_INT(ran.program.exit_status, 0);
            CHECK_TEXT(ran.program.out, "Hello, Ada. It is good to see you.\n");
            CHECK_CONTAINS(ran.program.err, "\ngreeter  api  completed ");
            CHECK_LACKS(ran.program.err, "offline");
            check_hello_journal(journal);
            json_decref(journal);
        }
        online_result_fini(&ran);
    }
    aimock_stop(&mock);
}

static void check_desk_offers(const json_t *journal)
{
    const json_t *transfer = tool_at(journal, 0, 0);

    CHECK_TEXT(text_of(transfer, "name"), "transfer_to_agent");
    CHECK_CONTAINS(text_of(transfer, "description"),
                   "\n- after_sales: Orders, returns and refunds\n"
                   "- tech: Devices that do not work");
    for (size_t request = 1; request < 3; request++) {
        const json_t *command = tool_at(journal, request, 0);
        transfer = tool_at(journal, request, 1);
        CHECK_TEXT(text_of(command, "name"), "order_status");
        CHECK_TEXT(text_of(command, "description"), "Looks up an order by its number");
        CHECK_TEXT(text_of(transfer, "name"), "transfer_to_agent");
        CHECK_CONTAINS(text_of(transfer, "description"),
                       "\n- pre_sales: First contact; recommends products and routes "
                       "the rest\n- tech: Devices that do not work");
    }
}

// The specialist sees what the user said and what it was handed, and nothing of the
// handing over; each result stands right behind its call.
static void check_desk_journal(const json_t *journal)
{
    static const char heard[] = "I want to return order 1042\n\n"
                                "The customer wants to return order 1042.";
    const json_t *call = message_at(journal, 2, 2), *result = message_at(journal, 2, 3);
    const json_t *asked = json_array_get(get(call, "tool_calls"), 0);

    if (!CHECK_INT(json_array_size(journal), 3))
        return;
    check_request(journal, 0, 2, 1);
    check_request(journal, 1, 2, 2);
    check_request(journal, 2, 4, 2);
    check_desk_offers(journal);
    CHECK_CONTAINS(text_of(message_at(journal, 0, 0), "content"),
                   "You are the first contact of Lamplight Books.");
    check_message(message_at(journal, 0, 1), "user", "I want to return order 1042");
    check_message(message_at(journal, 1, 1), "user", heard);
    check_message(message_at(journal, 2, 1), "user", heard);
    CHECK_TEXT(text_of(call, "role"), "assistant");
    CHECK_INT(json_array_size(get(call, "tool_calls")), 1);
    CHECK_TEXT(text_of(get(asked, "function"), "name"), "order_status");
    CHECK_TEXT(text_of(get(asked, "function"), "arguments"), "{\"order\": \"1042\"}");
    check_message(result, "tool",
                  "{\"order\": \"1042\", \"status\": \"delivered\", \"day\": "
                  "\"Monday\"}");
    CHECK_TEXT(text_of(result, "tool_call_id"), text_of(asked, "id"));
}

static void test_aimock__the_desk_hands_over_looks_up_and_answers(void)
{
    aimock mock;
    online_result ran;

    if (aimock_start(&mock, NULL)) {
        if (run_sample(&mock, DESK, NULL, &ran)) {
            json_t *journal = aimock_journal(&mock);
            CHECK_INT(ran.program.exit_status, 0);
            CHECK(strncmp(ran.program.out, desk_answer, strlen(desk_answer)) == 0);
            CHECK_TEXT(ran.program.out + strlen(desk_answer), "\n");
            CHECK_CONTAINS(ran.program.err, "\ndesk               api    completed ");
            CHECK_CONTAINS(ran.program.err, "\n└─ pre_sales       agent  completed ");
            CHECK_CONTAINS(ran.program.err, "\n   └─ after_sales  agent  completed ");
            CHECK_CONTAINS(ran.program.err, "(transfer)\n");
            CHECK_CONTAINS(ran.program.err,
                           "\ncompleted, 3 agents, 3 model calls, 2 tool calls, ");
            check_desk_journal(journal);
            json_decref(journal);
        }
        online_result_fini(&ran);
    }
    aimock_stop(&mock);
}

static void test_aimock__json_counts_calls_and_tokens(void)
{
    aimock mock;
    online_result ran;

    if (aimock_start(&mock, NULL)) {
        if (run_sample(&mock, DESK, "--json", &ran)) {
            const json_t *usage = get(ran.object, "usage");
            CHECK_INT(ran.program.exit_status, 0);
            CHECK_TEXT(ran.status, "completed");
            CHECK_TEXT(text_of(ran.object, "stop_reason"), "final");
            CHECK_TEXT(text_of(ran.object, "agent"), "after_sales");
            CHECK_TEXT(ran.output, desk_answer);
            CHECK_INT(ran.n_model_calls, 3);
            CHECK_INT(ran.n_tool_calls, 2);
            CHECK(json_integer_value(get(usage, "input_tokens")) > 0);
            CHECK(json_integer_value(get(usage, "output_tokens")) > 0);
            CHECK(json_is_false(get(ran.object, "offline")));
        }
        online_result_fini(&ran);
    }
    aimock_stop(&mock);
}

// Lists "type:agent" of each event, and all streamed text; deltas that follow one
// another count as one.
static void list_events(char *lines, char *types, size_t types_size, char *text,
                        size_t text_size)
{
    char *rest = NULL, last[64] = "";

    for (char *line = strtok_r(lines, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        json_t *event = json_loads(line, 0, NULL);
        const char *type = text_of(event, "type");
        char entry[64];
        if (!CHECK(type != NULL))
            return;
        bool is_delta = strcmp(type, "text_delta") == 0;
        if (is_delta)
            (void)snprintf(text + strlen(text), text_size - strlen(text), "%s",
                           text_of(event, "text"));
        (void)snprintf(entry, sizeof(entry), "%s:%s ", type, text_of(event, "agent"));
        if (!is_delta || strcmp(entry, last) != 0)
            (void)snprintf(types + strlen(types), types_size - strlen(types), "%s",
                           entry);
        memcpy(last, entry, sizeof(last));
        json_decref(event);
    }
}

static void test_aimock__events_tell_the_run_in_order(void)
{
    static const char expected[] =
        "stream_start:desk frame_start:desk message_end:desk "
        "frame_start:pre_sales message_start:pre_sales message_end:pre_sales "
        "tool_call:pre_sales transfer:pre_sales tool_result:pre_sales "
        "frame_start:after_sales message_end:after_sales message_start:after_sales "
        "message_end:after_sales tool_call:after_sales tool_result:after_sales "
        "message_start:after_sales text_delta:after_sales message_end:after_sales "
        "frame_end:after_sales frame_end:pre_sales frame_end:desk stream_end:desk ";
    char types[2048] = "", text[1024] = "";
    aimock mock;
    online_result ran;

    if (aimock_start(&mock, NULL)) {
        if (run_sample(&mock, DESK, "--events", &ran)) {
            CHECK_INT(ran.program.exit_status, 0);
            list_events(ran.program.out, types, sizeof(types), text, sizeof(text));
            CHECK_TEXT(types, expected);
            CHECK_TEXT(text, desk_answer);
        }
        online_result_fini(&ran);
    }
    aimock_stop(&mock);
}

typedef struct fault {
    const char *option;
    const char *error_class;
    size_t n_requests; // when all fail
} fault;

static const fault faults[] = {
    {"--chaos-ratelimit", "rate_limited", 4},
    {"--chaos-disconnect", "connection", 4},
    {"--chaos-malformed", "bad_response", 1},
    {"--chaos-drop", "server", 4},
};

static void check_all_fail(const fault *kind)
{
    aimock mock;
    online_result ran;

    if (aimock_start(&mock, (const char *const[]){kind->option, "1", NULL})) {
        if (run_sample(&mock, HELLO, "--json", &ran)) {
            json_t *journal = aimock_journal(&mock);
            CHECK_INT(ran.program.exit_status, 1);
            CHECK_TEXT(ran.status, "failed");
            CHECK_TEXT(ran.error_class, kind->error_class);
            CHECK_TEXT(ran.output, "");
            CHECK_INT(json_array_size(journal), kind->n_requests);
            json_decref(journal);
        }
        online_result_fini(&ran);
    }
    aimock_stop(&mock);
}

static void test_aimock__faults_that_never_end_fail_with_their_class(void)
{
    for (size_t i = 0; i < N(faults); i++)
        check_all_fail(&faults[i]);
}

// One run under faults that come and go: the right answer or the right error. Returns
// whether it was answered.
static bool check_honest(const aimock *mock, const char *error_class)
{
    online_result ran;
    bool is_answered = false;

    if (run_sample(mock, DESK, "--json", &ran)) {
        is_answered = ran.program.exit_status == 0;
        CHECK_INT(ran.program.exit_status, is_answered ? 0 : 1);
        CHECK_TEXT(ran.status, is_answered ? "completed" : "failed");
        CHECK_TEXT(ran.output, is_answered ? desk_answer : "");
        CHECK_TEXT(ran.error_class, is_answered ? NULL : error_class);
    }
    online_result_fini(&ran);
    return is_answered;
}

// Of what is asked again one fault in five spoils no run but one in hundreds (four
// attempts, three calls); the malformed half of them at once.
static void test_aimock__faults_that_pass_end_in_the_answer_or_the_error(void)
{
    enum {
        RUNS = 4
    };

    for (size_t i = 0; i < N(faults); i++) {
        aimock mock;
        int n_answered = 0;
        bool is_retried = faults[i].n_requests > 1;
        if (aimock_start(&mock, (const char *const[]){faults[i].option, "0.2", NULL}))
            for (int run = 0; run < RUNS; run++)
                n_answered += check_honest(&mock, faults[i].error_class);
        // Four runs that all fail by chance: once in 10^9.
        if (is_retried)
            CHECK(n_answered > 0);
        aimock_stop(&mock);
    }
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_aimock__hello_is_answered_over_http),
        CHECK_TEST(test_aimock__the_desk_hands_over_looks_up_and_answers),
        CHECK_TEST(test_aimock__json_counts_calls_and_tokens),
        CHECK_TEST(test_aimock__events_tell_the_run_in_order),
        CHECK_TEST(test_aimock__faults_that_never_end_fail_with_their_class),
        CHECK_TEST(test_aimock__faults_that_pass_end_in_the_answer_or_the_error),
        CU_TEST_INFO_NULL,
    };

    return aimock_is_there() ? check_main("cli/aimock", tests) : NOT_RUN;
}
