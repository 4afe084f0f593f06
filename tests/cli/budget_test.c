// What the program says of budgets.
#include "support/lab.h"

#include <stdio.h>
#include <string.h>

static const char team[] =
    "root: desk\n"
    "script: ./script.yaml\n"
    "models:\n"
    "  fast: {model: openai/fast, price: {input: 1, output: 10}}\n"
    "agents:\n"
    "  desk: {type: chain, members: [first, last]}\n"
    "  first: {model: fast}\n"
    "  last: {model: fast}\n";

static const char script[] =
    "strict: false\n"
    "agents:\n"
    "  first: [{text: From the first., usage: {input_tokens: 90, output_tokens: 1}}]\n"
    "  last: [{text: From the last., usage: {input_tokens: 90, output_tokens: 1}}]\n";

static void test_budget__ends_a_run_with_an_answer_by_6(void)
{
    lab it;
    program_result ran;
    if (!lab_make(&it, team, script))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "hi", "--offline", "--json",
                "--max-cost", "0.0001")) {
        json_t *run = json_loads(ran.out, 0, NULL);
        CHECK_INT(ran.exit_status, 6);
        CHECK_TEXT(json_string_value(json_object_get(run, "status")), "completed");
        CHECK_TEXT(json_string_value(json_object_get(run, "stop_reason")), "budget");
        CHECK_TEXT(json_string_value(json_object_get(run, "output")),
                   "From the first.");
        CHECK(json_number_value(json_object_get(run, "cost")) == 0.0001);
        CHECK_CONTAINS(json_string_value(
                           json_object_get(json_object_get(run, "error"), "message")),
                       "the run's budget.max_cost of $0.0001 is used up: $0.0001 is ");
        CHECK_CONTAINS(ran.err, "cadre: agent 'last': the run's budget.max_cost of ");
        json_decref(run);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_budget__ends_a_run_without_an_answer_by_1(void)
{
    lab it;
    program_result ran;
    if (!lab_make(&it, team, script))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "hi there, how are you?", "--offline",
                "--json", "--max-cost", "0.000001")) {
        json_t *run = json_loads(ran.out, 0, NULL);
        json_t *error = json_object_get(run, "error");
        CHECK_INT(ran.exit_status, 1);
        CHECK_TEXT(json_string_value(json_object_get(run, "stop_reason")), "budget");
        CHECK_TEXT(json_string_value(json_object_get(error, "class")), "budget");
        CHECK_CONTAINS(json_string_value(json_object_get(error, "message")),
                       "the run's budget.max_cost of $0.000001 is used up: $0.00 is "
                       "used, and the next call costs $0.0000");
        json_decref(run);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_budget__max_cost_must_be_dollars(void)
{
    static const char *const wrong[] = {"cheap", "0",  "-1", "1.0000001", "1e3",
                                        "1.",    "$1", "",   "1000000.1", ".5"};
    lab it;
    program_result ran;
    if (!lab_make(&it, team, script))
        return;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (LAB_RUN(&it, &ran, "run", "team.yaml", "hi", "--offline", "--max-cost",
                    wrong[i])) {
            CHECK_INT(ran.exit_status, 2);
            CHECK_CONTAINS(ran.err, "option '--max-cost': expected dollars from ");
            program_result_fini(&ran);
        }
    lab_remove(&it);
}

static void test_budget__max_cost_needs_prices(void)
{
    static const char bare[] = "script: ./script.yaml\n"
                               "agents: {first: {model: openai/m}}\n";
    lab it;
    program_result ran;
    if (!lab_make(&it, bare, "strict: false\nagents: {first: [{text: Hi.}]}\n"))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "hi", "--offline", "--max-cost", "1")) {
        CHECK_INT(ran.exit_status, 2);
        CHECK_CONTAINS(ran.err, "model 'openai/m' has no price");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// A run that goes on from any commit is stopped at the same place, by the same.
static void test_budget__is_the_same_for_a_run_that_goes_on(void)
{
    char text[600];
    lab it;
    program_result ran;
    (void)snprintf(text, sizeof text, "budget: {max_tokens: 91}\n%s", team);
    if (!lab_make(&it, text, script))
        return;
    if (PROGRAM_RUN(&ran,
                    .arguments = LAB_WORDS("test", "team.yaml", "hi", "--reenter",
                                           "--every-commit"),
                    .directory = it.directory)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, ": no difference\n");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_budget__is_shown_by_check(void)
{
    char text[600];
    lab it;
    program_result ran;
    (void)snprintf(text, sizeof text,
                   "budget: {max_cost: 0.25, max_tokens: 12345, max_time: 90s}\n%s",
                   team);
    if (!lab_make(&it, text, script))
        return;
    if (PROGRAM_RUN(&ran, .arguments = LAB_WORDS("check", "team.yaml"),
                    .directory = it.directory)) {
        CHECK_CONTAINS(ran.out,
                       " of 32, budget $0.25 and 12,345 tokens and 1 m 30 s\n");
        program_result_fini(&ran);
    }
    if (PROGRAM_RUN(&ran, .arguments = LAB_WORDS("check", "team.yaml", "--json"),
                    .directory = it.directory)) {
        CHECK_CONTAINS(ran.out, "\"max_cost\": 0.25");
        CHECK_CONTAINS(ran.out, "\"max_tokens\": 12345");
        CHECK_CONTAINS(ran.out, "\"max_time_ms\": 90000");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_budget__ends_a_run_with_an_answer_by_6),
        CHECK_TEST(test_budget__ends_a_run_without_an_answer_by_1),
        CHECK_TEST(test_budget__max_cost_must_be_dollars),
        CHECK_TEST(test_budget__max_cost_needs_prices),
        CHECK_TEST(test_budget__is_the_same_for_a_run_that_goes_on),
        CHECK_TEST(test_budget__is_shown_by_check),
        CU_TEST_INFO_NULL,
    };
    return check_main("cli/budget", tests);
}
