// What runs cost: of a call, of all below a frame, and where prices are missing.
#include "support/scripted_case.h"

#include <string.h>

#define MODELS                                                                         \
    "models:\n"                                                                        \
    "  fast: {model: openai/fast, price: {input: 1, output: 10, cached_input: 0.5},"   \
    "         retry: {attempts: 3, backoff: 1ms}}\n"                                   \
    "  slow: {model: openai/slow, price: {input: 100, output: 100}}\n"                 \
    "  free: {model: openai/free}\n"

static scripted_case c;

static void check_usage(const cadre_usage *usage, int64_t cost, int64_t unpriced)
{
    CHECK_INT(usage->cost_usd_micros, cost);
    CHECK_INT(usage->unpriced_calls, unpriced);
}

static void test_cost__goes_up_the_tree(void)
{
    static const char team[] =
        MODELS "root: desk\n"
               "agents:\n"
               "  desk: {type: chain, members: [first, second]}\n"
               "  first: {model: fast}\n"
               "  second: {model: slow}\n";
    static const char script[] =
        "agents:\n"
        "  first: [{text: One., usage: {input_tokens: 100, cached_input_tokens: 40,"
        "           output_tokens: 7, reasoning_tokens: 3}}]\n"
        "  second: [{text: Two., usage: {input_tokens: 5, output_tokens: 2}}]\n";
    if (!scripted_case_open(&c, team, script))
        return;
    scripted_case_run(&c, CADRE_RUN(.input = "Go."));
    CHECK_OK(c.status, &c.err);
    CHECK_INT(c.result->usage.reasoning_tokens, 3);
    check_usage(&c.result->usage, 60 + 20 + 70 + 700, 0);
    check_usage(&scripted_case_frame(&c, "model", "fast", 0)->own, 150, 0);
    check_usage(&scripted_case_frame(&c, "agent", "second", 0)->own, 700, 0);
    check_usage(&scripted_case_frame(&c, "agent", "desk", 0)->own, 0, 0);
    check_usage(&scripted_case_frame(&c, "agent", "desk", 0)->usage, 850, 0);
    scripted_case_close(&c);
}

static void test_cost__calls_without_a_price_are_counted(void)
{
    static const char team[] =
        MODELS "root: desk\n"
               "agents:\n"
               "  desk: {type: chain, members: [first, second, third]}\n"
               "  first: {model: fast}\n"
               "  second: {model: free}\n"
               "  third: {model: openai/other}\n";
    static const char script[] = "agents:\n"
                                 "  first: [{text: One., usage: {input_tokens: 3}}]\n"
                                 "  second: [{text: Two., usage: {input_tokens: 5}}]\n"
                                 "  third: [{text: Three.}]\n";
    if (!scripted_case_open(&c, team, script))
        return;
    scripted_case_run(&c, CADRE_RUN(.input = "Go."));
    CHECK_OK(c.status, &c.err);
    check_usage(&c.result->usage, 3, 2);
    CHECK_INT(c.result->usage.model_calls, 3);
    CHECK_INT(c.result->usage.input_tokens, 8);
    scripted_case_close(&c);
}

// Attempts are one call: those that failed are charged with what the server told.
static void test_cost__failed_attempts_are_charged(void)
{
    static const char team[] = MODELS "agents:\n  first: {model: fast}\n";
    static const char script[] =
        "agents:\n"
        "  first:\n"
        "    - {error: {status: 500}, usage: {input_tokens: 50, output_tokens: 1}}\n"
        "    - {error: {status: 500}}\n"
        "    - {text: One., usage: {input_tokens: 50, output_tokens: 2}}\n";
    if (!scripted_case_open(&c, team, script))
        return;
    scripted_case_run(&c, CADRE_RUN(.input = "Go."));
    CHECK_OK(c.status, &c.err);
    CHECK_INT(c.result->usage.model_calls, 1);
    CHECK_INT(c.result->usage.input_tokens, 100);
    CHECK_INT(c.result->usage.output_tokens, 3);
    check_usage(&c.result->usage, 130, 0);
    scripted_case_close(&c);
}

static void test_cost__a_call_that_fails_is_charged(void)
{
    static const char team[] = MODELS "agents:\n  first: {model: fast}\n";
    static const char script[] =
        "agents:\n"
        "  first: [{error: {status: 500}, usage: {input_tokens: 9}, times: 3}]\n";
    if (!scripted_case_open(&c, team, script))
        return;
    scripted_case_run(&c, CADRE_RUN(.input = "Go."));
    CHECK_INT(c.status, CADRE_EFAILED);
    check_usage(&c.result->usage, 27, 0);
    scripted_case_close(&c);
}

// Each attempt of an agent is charged.
static void test_cost__retries_of_an_agent_are_charged(void)
{
    static const char team[] =
        MODELS "agents:\n"
               "  desk: {type: chain, members: [first]}\n"
               "  first: {model: slow, retry: {attempts: 2, backoff: 1ms}}\n"
               "root: desk\n";
    static const char script[] =
        "agents:\n"
        "  first:\n"
        "    - {error: {status: 401}, usage: {input_tokens: 1}}\n"
        "    - {text: One., usage: {input_tokens: 1}}\n";
    if (!scripted_case_open(&c, team, script))
        return;
    scripted_case_run(&c, CADRE_RUN(.input = "Go."));
    CHECK_OK(c.status, &c.err);
    check_usage(&c.result->usage, 200, 0);
    scripted_case_close(&c);
}

static cadre_status see_cost(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    (void)err;
    *(int64_t *)ctx = info->cost_usd_micros * 1000 + info->unpriced_calls;
    return CADRE_OK;
}

static void test_cost__a_listing_of_runs_has_it(void)
{
    static const char team[] =
        MODELS "root: desk\n"
               "agents:\n"
               "  desk: {type: chain, members: [first, second]}\n"
               "  first: {model: fast}\n"
               "  second: {model: free}\n";
    static const char script[] = "agents:\n"
                                 "  first: [{text: One., usage: {input_tokens: 7}}]\n"
                                 "  second: [{text: Two.}]\n";
    int64_t seen = 0;
    if (!scripted_case_open(&c, team, script))
        return;
    scripted_case_run(&c, CADRE_RUN(.input = "Go."));
    CHECK_OK(cadre_record_list(c.runtime, 1, see_cost, &seen, &c.err), &c.err);
    CHECK_INT(seen, 7001);
    scripted_case_close(&c);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_cost__goes_up_the_tree),
        CHECK_TEST(test_cost__calls_without_a_price_are_counted),
        CHECK_TEST(test_cost__failed_attempts_are_charged),
        CHECK_TEST(test_cost__a_call_that_fails_is_charged),
        CHECK_TEST(test_cost__retries_of_an_agent_are_charged),
        CHECK_TEST(test_cost__a_listing_of_runs_has_it),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/cost", tests);
}
