// Budgets of a team file: what is read, and what is refused.
#include "support/scripted_case.h"

#include "team/team.h"

#include <stdio.h>
#include <string.h>

static const char script[] = "strict: false\nagents: {first: [{text: One.}]}\n";

static void check_budget(const cadre_budget *budget, int64_t cost, int64_t tokens,
                         int64_t ms)
{
    CHECK_INT(budget->max_cost_usd_micros, cost);
    CHECK_INT(budget->max_tokens, tokens);
    CHECK_INT(budget->max_time_ms, ms);
}

static void test_budget__is_read_at_the_top_and_of_agents(void)
{
    static const char team[] =
        "budget: {max_cost: 0.5, max_tokens: 200000, max_time: 30m}\n"
        "models: {fast: {model: openai/fast, price: {input: 1, output: 2}}}\n"
        "agents:\n"
        "  first: {model: fast, budget: {max_cost: 0.000001}}\n"
        "  second: {model: fast, budget: {max_time: 250ms, x-why: slow}}\n"
        "  third: {model: fast}\n";
    scripted_case c;
    if (!scripted_case_open(&c, team, script))
        return;
    check_budget(&c.team->budget, 500000, 200000, 1800000);
    check_budget(&cadre_team_find(c.team, "first")->budget, 1, 0, 0);
    check_budget(&cadre_team_find(c.team, "second")->budget, 0, 0, 250);
    check_budget(&cadre_team_find(c.team, "third")->budget, 0, 0, 0);
    scripted_case_close(&c);
}

static void test_budget__refuses_what_is_none(void)
{
    static const struct {
        const char *budget, *problem;
    } cases[] = {
        {"{max_cost: 0}", "team.yaml:1:20: budget.max_cost: "},
        {"{max_cost: 0.0000001}", "budget.max_cost: "},
        {"{max_cost: cheap}", "budget.max_cost: "},
        {"{max_tokens: 0}", "budget.max_tokens: "},
        {"{max_tokens: 1.5}", "budget.max_tokens: "},
        {"{max_time: 0s}", "budget.max_time: "},
        {"{max_time: 10}", "budget.max_time: "},
        {"{max_calls: 3}", "budget: unknown key 'max_calls'"},
        {"5", "budget: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char team[300];
        (void)snprintf(team, sizeof team,
                       "budget: %s\nagents: {first: {model: openai/m}}\n",
                       cases[i].budget);
        scripted_case_check_refused(team, cases[i].problem);
        (void)snprintf(team, sizeof team,
                       "agents:\n  first: {model: openai/m, budget: %s}\n",
                       cases[i].budget);
        scripted_case_check_refused(team, strchr(cases[i].problem, 'b'));
    }
}

static void test_budget__of_money_needs_prices(void)
{
    scripted_case_check_refused(
        "budget:\n"
        "  max_cost: 1\n"
        "models: {bare: {model: openai/m}}\n"
        "agents: {first: {model: bare}}\n",
        "team.yaml:2:13: budget.max_cost: model 'bare' has no price; give it one "
        "(price), or leave max_cost out");
    // Where it is named in the agent there is no place for a price.
    scripted_case_check_refused("budget: {max_cost: 1}\n"
                                "agents: {first: {model: openai/other}}\n",
                                "budget.max_cost: model 'openai/other' has no price");
    scripted_case_check_refused(
        "models: {bare: {model: openai/m}}\n"
        "agents:\n"
        "  first: {type: chain, members: [pair], budget: {max_cost: 1}}\n"
        "  pair: {type: chain, members: [second]}\n"
        "  second: {model: bare}\n",
        "team.yaml:3:60: agents.first.budget.max_cost: model 'bare', which works for "
        "first, has no price; give it one (price), or leave max_cost out");
}

// What nobody uses, and who does not work for that agent, needs none.
static void test_budget__of_money_needs_no_other_prices(void)
{
    static const char team[] =
        "models:\n"
        "  fast: {model: openai/fast, price: {input: 1, output: 2}}\n"
        "  bare: {model: openai/m}\n"
        "agents:\n"
        "  first: {model: fast, budget: {max_cost: 1}}\n"
        "  second: {model: bare}\n";
    static const char whole[] =
        "budget: {max_cost: 1}\n"
        "models:\n"
        "  fast: {model: openai/fast, price: {input: 1, output: 2}}\n"
        "  bare: {model: openai/m}\n"
        "agents: {first: {model: fast}}\n";
    scripted_case c;
    if (scripted_case_open(&c, team, script))
        scripted_case_close(&c);
    if (scripted_case_open(&c, whole, script))
        scripted_case_close(&c);
}

static void test_budget__is_checked_in_c(void)
{
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "office");
    cadre_team_add_llm(team, CADRE_LLM(.name = "first", .model = "openai/m",
                                       .budget = {.max_tokens = -3}));
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    CHECK_TEXT(err.text,
               "agent 'first': budget.max_tokens: expected at least 0, got -3");
    cadre_team_free(team);
    cadre_error_clear(&err);
    team = cadre_team_new(runtime, "office");
    cadre_team_add_llm(team, CADRE_LLM(.name = "first", .model = "openai/m",
                                       .budget = {.max_cost_usd_micros = 3}));
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    CHECK_CONTAINS(err.text, "agent 'first': budget.max_cost_usd_micros: model "
                             "'openai/m', which works for first, has no price");
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_budget__is_read_at_the_top_and_of_agents),
        CHECK_TEST(test_budget__refuses_what_is_none),
        CHECK_TEST(test_budget__of_money_needs_prices),
        CHECK_TEST(test_budget__of_money_needs_no_other_prices),
        CHECK_TEST(test_budget__is_checked_in_c),
        CU_TEST_INFO_NULL,
    };
    return check_main("team/budget", tests);
}
