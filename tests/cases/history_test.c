// The handed cases of the history, tests/cases/h*: conversations that are stored as
// they are, and what must be sent of them, over every wire format.
//
// A case's messages, but the last, are put into a store as a session; a run goes on in
// it with the last one as its input, and a server takes what is sent.
#include "support/case_files.h"
#include "support/check.h"
#include "support/http_server.h"
#include "support/model_call.h"
#include "support/request_rules.h"
#include "support/store_case.h"
#include "support/wire_talk.h"

#include "run/offer.h"
#include "team/runtime.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MESSAGES 16
#define MAX_CALLS 4
#define NO_RESULT "Interrupted: this call has no result; it may or may not have run."

// A case as it was read: texts are borrowed from `json`.
typedef struct history {
    json_t *json;
    cadre_fact facts[MAX_MESSAGES];
    cadre_tool_call calls[MAX_MESSAGES][MAX_CALLS];
    size_t n_facts;
    char speaker[64];   // who speaks where a message does not say it
    const char *system; // of who speaks last
    const char *input;
    const char *model; // who is said to have answered
} history;

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

// A system text "You are X." says that X speaks from here on. It is not stored: it is
// what the agent X is told each time.
static void read_system(history *h, const json_t *message)
{
    h->system = text_of(message, "content");
    if (!CHECK_INT(sscanf(h->system, "You are %63[a-z]", h->speaker), 1))
        abort();
}

static void read_calls(history *h, const json_t *message, cadre_message *out)
{
    cadre_tool_call *calls = h->calls[h->n_facts];
    size_t i = 0;
    const json_t *call = NULL;
    json_array_foreach(json_object_get(message, "tool_calls"), i, call)
    {
        const json_t *function = json_object_get(call, "function");
        calls[i] = (cadre_tool_call){text_of(call, "id"), text_of(function, "name"),
                                     text_of(function, "arguments")};
        out->n_tool_calls = i + 1;
    }
    out->tool_calls = calls;
}

static void read_message(history *h, const json_t *message)
{
    const char *role = text_of(message, "role");
    if (strcmp(role, "system") == 0) {
        read_system(h, message);
        return;
    }
    if (!CHECK(h->n_facts < MAX_MESSAGES))
        abort();
    cadre_fact *fact = &h->facts[h->n_facts];
    *fact = fact_message(100, 1, (int64_t)h->n_facts, text_of(message, "content"));
    cadre_message *out = &fact->u.message.message;
    out->role = CADRE_ROLE_USER;
    if (strcmp(role, "assistant") == 0) {
        const char *name = text_of(message, "name");
        out->role = CADRE_ROLE_ASSISTANT;
        out->agent = strdup(name[0] ? name : h->speaker); // the speaker may change
        out->model = h->model;
        read_calls(h, message, out);
    } else if (strcmp(role, "tool") == 0) {
        out->role = CADRE_ROLE_TOOL;
        out->agent = strdup(h->speaker);
        out->call_id = text_of(message, "tool_call_id");
    }
    h->n_facts++;
}

static bool history_read(history *h, const char *name, const char *model)
{
    char path[CASE_PATH_BYTES];
    char *text = case_file_read(case_folder(name, path), "messages.json", NULL);
    *h = (history){.speaker = "solo", .system = "", .model = model};
    if (!CHECK(text != NULL))
        return false;
    h->json = json_loads(text, 0, NULL);
    free(text);
    size_t n = json_array_size(h->json);
    if (!CHECK(n > 1))
        return false;
    for (size_t i = 0; i + 1 < n; i++)
        read_message(h, json_array_get(h->json, i));
    h->input = text_of(json_array_get(h->json, n - 1), "content");
    return true;
}

static void history_fini(history *h)
{
    for (size_t i = 0; i < h->n_facts; i++)
        free((void *)(uintptr_t)h->facts[i].u.message.message.agent);
    json_decref(h->json);
}

// --- What is sent ---

static void store(cadre_runtime *runtime, history *h)
{
    store_case s = {.ops = runtime->store_ops, .state = runtime->store};
    CHECK_COMMIT(&s, 1, fact_conversation(100, "s"), fact_trace(1),
                 fact_frame(1, 0, "root"));
    CHECK_OK(store_commit(&s, 1, h->facts, h->n_facts), &s.err);
    CHECK_COMMIT(&s, 1, fact_end(1, "done"));
}

// Goes on with the session and gives the body of the request. free() it.
static char *go_on(const cadre_model_ops *ops, cadre_team *team, const history *h,
                   http_server *server)
{
    char model[64];
    cadre_error err = CADRE_ERROR_INIT;
    snprintf(model, sizeof model, "%s/m", ops->provider);
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = model,
                                           .base_url = http_server_url(server),
                                           .api_key_env = ""));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = h->speaker, .model = "m", .instructions = h->system));
    char *answer = wire_talk_answer(ops->provider, "ok", NULL);
    http_server_add_answer(server, 200, NULL, "application/json", answer);
    free(answer);
    cadre_run *run = NULL;
    if (CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = h->input, .session = "s"),
                                 &run, &err),
                 &err))
        CHECK_OK(cadre_run_wait(run, NULL, &err), &err);
    cadre_run_free(run);
    const http_request *request = http_server_request(server, 0);
    return strdup(CHECK(request != NULL) ? request->body : "{}");
}

static char *send_history(const cadre_model_ops *ops, history *h)
{
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    http_server *server = http_server_start(NULL);
    char *body = NULL;
    if (CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err)) {
        store(runtime, h);
        cadre_team *team = cadre_team_new(runtime, "team");
        body = go_on(ops, team, h, server);
        cadre_team_free(team);
    }
    cadre_runtime_close(runtime);
    http_server_stop(server);
    return body ? body : strdup("{}");
}

// What a case must come to, whoever answered before.
typedef struct expectation {
    const char *name, *outline;
    void (*change)(history *h, int variant); // of what was read; NULL: as it is
} expectation;

static void check_sent(const cadre_model_ops *ops, const expectation *expected,
                       const char *model, int variant)
{
    history h;
    if (history_read(&h, expected->name, model)) {
        if (expected->change)
            expected->change(&h, variant);
        char *body = send_history(ops, &h);
        char *again = send_history(ops, &h);
        char *outline = wire_talk_outline(ops->provider, body);
        CHECK_TEXT(outline, expected->outline);
        CHECK(request_rules_check(ops->provider, body));
        CHECK_TEXT(again, body); // what is made up is made up alike
        free(outline);
        free(again);
        free(body);
    }
    history_fini(&h);
}

static void check_case(const cadre_model_ops *ops, void *ctx)
{
    char self[64];
    snprintf(self, sizeof self, "%s/m", ops->provider);
    check_sent(ops, ctx, "", 0); // an older store
    check_sent(ops, ctx, self, 0);
    check_sent(ops, ctx, "other/model", 0);
}

static void test_h01__an_unanswered_call_has_a_result_beside_it(void)
{
    expectation expected = {
        "h01-orphan-call-after-crash",
        "user do both\n"
        "call #1 read {\"f\":\"a\"}\n"
        "call #2 deploy {}\n"
        "result #1 A\n"
        "result #2 " NO_RESULT "\n"
        "user what happened?",
        NULL,
    };
    wire_talk_each(check_case, &expected);
}

static void test_h04__each_call_of_a_repeated_id_has_its_own_result(void)
{
    expectation expected = {
        "h04-ids-reused-over-turns",
        "user q\n"
        "call #1 terminal {\"c\":\"1\"}\n"
        "result #1 r1\n"
        "call #2 terminal {\"c\":\"2\"}\n"
        "result #2 r2\n"
        "call #3 terminal {\"c\":\"3\"}\n"
        "result #3 r3\n"
        "user sum up",
        NULL,
    };
    wire_talk_each(check_case, &expected);
}

static void set_blank(history *h, int variant)
{
    static const char *const blanks[] = {"", "  \n", "\t", NULL};
    if (variant > 0)
        h->facts[1].u.message.message.text = h->facts[3].u.message.message.text =
            blanks[variant - 1];
}

static void check_blanks(const cadre_model_ops *ops, void *ctx)
{
    for (int variant = 0; variant <= 4; variant++)
        check_sent(ops, ctx, "", variant);
}

static void test_h05__empty_turns_are_not_sent(void)
{
    expectation expected = {"h05-empty-assistant-turn", "user a\n\nb\n\nc", set_blank};
    wire_talk_each(check_blanks, &expected);
}

static void test_h07__one_system_text_that_of_who_speaks(void)
{
    expectation expected = {
        "h07-system-in-the-middle",
        "system You are billing.\n"
        "user bill?\n\n[triage]: Handing over.\n\nit is wrong",
        NULL,
    };
    wire_talk_each(check_case, &expected);
}

static void test_h11__results_stand_in_the_order_of_calls(void)
{
    expectation expected = {
        "h11-gemini-pairing",
        "user go\n"
        "call #1 x {}\n"
        "call #2 y {}\n"
        "call #3 z {}\n"
        "result #1 X\n"
        "result #2 " NO_RESULT "\n"
        "result #3 Z\n"
        "user next",
        NULL,
    };
    wire_talk_each(check_case, &expected);
}

// As many responses as calls, in one content.
static void check_one_content(const cadre_model_ops *ops, void *ctx)
{
    history h;
    (void)ctx;
    if (strcmp(ops->provider, "gemini") != 0 ||
        !history_read(&h, "h11-gemini-pairing", ""))
        return;
    char *body = send_history(ops, &h);
    json_t *json = json_loads(body, 0, NULL);
    const json_t *contents = json_object_get(json, "contents");
    for (size_t i = 0; i < 3; i++) {
        const json_t *calls = json_object_get(json_array_get(contents, 1), "parts");
        const json_t *results = json_object_get(json_array_get(contents, 2), "parts");
        const json_t *call = json_object_get(json_array_get(calls, i), "functionCall");
        const json_t *result =
            json_object_get(json_array_get(results, i), "functionResponse");
        CHECK_TEXT(text_of(result, "name"), text_of(call, "name"));
        CHECK_TEXT(text_of(result, "id"), text_of(call, "id"));
    }
    json_decref(json);
    free(body);
    history_fini(&h);
}

static void test_h11__gemini_has_all_results_in_one_content(void)
{
    wire_talk_each(check_one_content, NULL);
}

static void test_h13__foreign_names_and_ids_are_made_to_fit(void)
{
    expectation expected = {
        "h13-foreign-names-ids",
        "user q\n"
        "call #1 my__tool-20v2 {}\n"
        "result #1 r\n"
        "user [Pr\xC3\xBC"
        "fer]: Gr\xC3\xBC\xC3\x9F"
        "e\n\nmore",
        NULL,
    };
    wire_talk_each(check_case, &expected);
}

// --- h13: two tools whose names are alike ---

// Both reach the endpoint under names of their own, and each of these is that tool's.
static void check_alike(const cadre_model_ops *ops, void *ctx)
{
    static const cadre_tool_info infos[] = {
        {.name = "my.tool", .description = "Dotted"},
        {.name = "my_tool", .description = "Plain"},
    };
    const cdr_offer offer = {.infos = (cadre_tool_info *)(uintptr_t)infos, .count = 2};
    const cadre_request request = {
        .system = "", .api_key = "", .agent = "a", .tools = infos, .n_tools = 2};
    cadre_error err = CADRE_ERROR_INIT;
    cadre_http http;
    (void)ctx;
    cdr_http_init(&http);
    void *state = model_open(ops, "http://h", NULL, &err);
    CHECK_OK(model_encode(ops, state, &request, &http, &err), &err);
    char *tools = wire_talk_tools(ops->provider, cdr_buf_text(&http.body));
    CHECK_CONTAINS(tools, "\"my__tool\"");
    CHECK_CONTAINS(tools, "\"my_tool\"");
    CHECK_LACKS(tools, "my.tool");
    CHECK_TEXT(cdr_offer_of_wire(&offer, "my__tool"), "my.tool");
    CHECK_TEXT(cdr_offer_of_wire(&offer, "my_tool"), "my_tool");
    free(tools);
    model_close(ops, state);
    cdr_http_fini(&http);
}

static void test_h13__tools_with_names_alike_are_told_apart(void)
{
    wire_talk_each(check_alike, NULL);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_h01__an_unanswered_call_has_a_result_beside_it),
    CHECK_TEST(test_h04__each_call_of_a_repeated_id_has_its_own_result),
    CHECK_TEST(test_h05__empty_turns_are_not_sent),
    CHECK_TEST(test_h07__one_system_text_that_of_who_speaks),
    CHECK_TEST(test_h11__results_stand_in_the_order_of_calls),
    CHECK_TEST(test_h11__gemini_has_all_results_in_one_content),
    CHECK_TEST(test_h13__foreign_names_and_ids_are_made_to_fit),
    CHECK_TEST(test_h13__tools_with_names_alike_are_told_apart),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cases/history", tests);
}
