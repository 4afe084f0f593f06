// Budgets over the wire: what a server tells, what it does not, and what it refuses.
#include "support/check.h"
#include "support/http_server.h"

#include "cadre/cadre.h"

#include <stdio.h>
#include <string.h>

enum {
    N_BRANCHES = 64
};

#define PIECE(text)                                                                    \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define WHOLE(text, input, output)                                                     \
    PIECE(text)                                                                        \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"  \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":" #input                       \
    ",\"completion_tokens\":" #output "}}\n\ndata: [DONE]\n\n"

typedef struct wire {
    http_server *server;
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_run *run;
    const cadre_result *result;
    cadre_status status;
    cadre_error err;
} wire;

static wire w;

static void open_wire(bool repeats)
{
    char url[80];
    w = (wire){.err = CADRE_ERROR_INIT};
    w.server = http_server_start(&(http_server_config){.repeat_last = repeats});
    (void)snprintf(url, sizeof url, "%s/v1", http_server_url(w.server));
    CHECK_OK(cadre_runtime_open(NULL, &w.runtime, &w.err), &w.err);
    w.team = cadre_team_new(w.runtime, "wire");
    cadre_team_add_model(w.team, CADRE_MODEL(.name = "near", .model = "openai/test",
                                             .base_url = url, .api_key_env = "",
                                             .options = "{\"max_tokens\": 90}"));
    cadre_team_add_llm(w.team, CADRE_LLM(.name = "worker", .model = "near"));
}

static void add_stream(const char *body)
{
    http_server_add_stream(w.server, body, strlen(body), NULL);
}

static void run(const cadre_run_config *config)
{
    if (!CHECK_OK(cadre_run_start(w.team, config, &w.run, &w.err), &w.err))
        return;
    w.status = cadre_run_wait(w.run, &w.result, &w.err);
}

static void close_wire(void)
{
    cadre_run_free(w.run);
    cadre_team_free(w.team);
    cadre_runtime_close(w.runtime);
    http_server_stop(w.server);
}

// --- A crowd ---

static cadre_status ask_all(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_call *one =
        CADRE_CALL(.agent = cadre_frame_find(frame, "worker"), .input = "Go.");
    const cadre_call *calls[N_BRANCHES];
    cadre_outcome out[N_BRANCHES];
    int *n_answers = ctx;
    for (size_t i = 0; i < N_BRANCHES; i++)
        calls[i] = one;
    (void)cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = N_BRANCHES),
                            out, NULL);
    for (size_t i = 0; i < N_BRANCHES; i++) {
        bool is_answer = out[i].status == CADRE_FRAME_COMPLETED;
        *n_answers += is_answer;
        if (!is_answer)
            CHECK_INT(out[i].error_class, CADRE_CLASS_BUDGET);
    }
    return cadre_frame_set_output(frame, "All asked.", err);
}

static void test_budget_wire__64_branches_exceed_it_by_one_call_at_most(void)
{
    int n_answers = 0;
    open_wire(true);
    add_stream(WHOLE("A", 10, 90));
    cadre_team_add_function(w.team, CADRE_FUNCTION(.name = "lead", .run = ask_all,
                                                   .ctx = &n_answers,
                                                   .members = CADRE_NAMES("worker")));
    cadre_team_set_root(w.team, "lead");
    run(CADRE_RUN(.input = "Go.", .budget = {.max_tokens = 1050}));
    CHECK_OK(w.status, &w.err);
    CHECK_INT(n_answers, 11);
    CHECK_INT(w.result->usage.input_tokens + w.result->usage.output_tokens, 1100);
    CHECK_INT(w.result->stop_reason, CADRE_STOP_BUDGET);
    close_wire();
}

// --- What is told, and what is not ---

// A message of 8 bytes takes 6 tokens, 9 bytes of an answer 3.
static void check_usage(int64_t input, int64_t output)
{
    CHECK_OK(w.status, &w.err);
    CHECK_TEXT(w.result->text, "Done.");
    CHECK_INT(w.result->usage.input_tokens, input);
    CHECK_INT(w.result->usage.output_tokens, output);
}

static void test_budget_wire__a_cut_answer_is_paid_by_its_length(void)
{
    static const http_step cut[] = {
        HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                  "Connection: close\r\n\r\n" PIECE("123456789")),
        HTTP_CLOSE, HTTP_END};
    open_wire(false);
    http_server_add(w.server, cut);
    add_stream(WHOLE("Done.", 20, 5));
    run(CADRE_RUN(.input = "12345678", .budget = {.max_tokens = 1000}));
    check_usage(6 + 20, 3 + 5);
    CHECK_INT(w.result->usage.model_calls, 1);
    close_wire();
}

static void test_budget_wire__what_is_refused_costs_nothing(void)
{
    open_wire(false);
    http_server_add_answer(w.server, 429, NULL, "application/json", "{}");
    http_server_add_answer(w.server, 529, NULL, "application/json", "{}");
    add_stream(WHOLE("Done.", 20, 5));
    run(CADRE_RUN(.input = "12345678", .budget = {.max_tokens = 1000}));
    check_usage(20, 5);
    close_wire();
}

static void test_budget_wire__a_server_that_tells_nothing_is_reckoned_with(void)
{
    open_wire(false);
    add_stream(PIECE("Done.") "data: {\"choices\":[{\"index\":0,\"delta\":{},"
                              "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    run(CADRE_RUN(.input = "12345678", .budget = {.max_tokens = 1000}));
    check_usage(6, 2);
    close_wire();
}

static void test_budget_wire__without_a_budget_nothing_is_estimated(void)
{
    open_wire(false);
    add_stream(PIECE("Done.") "data: {\"choices\":[{\"index\":0,\"delta\":{},"
                              "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    run(CADRE_RUN(.input = "12345678"));
    check_usage(0, 0);
    close_wire();
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_budget_wire__64_branches_exceed_it_by_one_call_at_most),
        CHECK_TEST(test_budget_wire__a_cut_answer_is_paid_by_its_length),
        CHECK_TEST(test_budget_wire__what_is_refused_costs_nothing),
        CHECK_TEST(test_budget_wire__a_server_that_tells_nothing_is_reckoned_with),
        CHECK_TEST(test_budget_wire__without_a_budget_nothing_is_estimated),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/budget_wire", tests);
}
