// What the program says of what runs cost.
#include "support/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char team[] =
    "name: desk\n"
    "root: desk\n"
    "script: ./script.yaml\n"
    "models:\n"
    "  fast: {model: openai/fast, price: {input: 0.25, output: 2}}\n"
    "  bare: {model: openai/bare}\n"
    "agents:\n"
    "  desk: {type: handoff, entry: first, members: [first, last]}\n"
    "  first: {model: fast, description: Leads}\n"
    "  last: {model: bare, description: Helps}\n";

static const char script[] =
    "strict: false\n"
    "agents:\n"
    "  first: [{text: From the first., usage: {input_tokens: 4000,"
    " output_tokens: 300}}]\n"
    "  last: [{text: From the last., usage: {input_tokens: 10}}]\n";

static double number(const json_t *object, const char *key)
{
    CHECK(json_is_real(json_object_get(object, key)));
    return json_number_value(json_object_get(object, key));
}

static void test_cost__is_a_number_in_json(void)
{
    lab it;
    program_result ran;
    if (!lab_make(&it, team, script))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "hi", "--offline", "--json")) {
        json_t *run = json_loads(ran.out, 0, NULL);
        const json_t *frame = json_array_get(json_object_get(run, "frames"), 1);
        const json_t *cost = json_object_get(frame, "cost");
        CHECK(number(run, "cost") == 0.0016);
        CHECK(number(cost, "own") == 0.0016);
        CHECK(number(cost, "subtree") == 0.0016);
        CHECK_CONTAINS(ran.out, "\"cost\": 0.0016,");
        CHECK_CONTAINS(ran.err, ", 4000 tokens in, 300 out, $0.0016, ");
        CHECK_CONTAINS(ran.err, "4000 in  300 out  $0.0016\n");
        json_decref(run);
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "runs")) {
        CHECK_CONTAINS(ran.out, "completed  desk  $0.0016  ");
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "runs", "--json")) {
        CHECK_CONTAINS(ran.out, "\"cost\": 0.0016,");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_cost__is_null_where_a_call_has_no_price(void)
{
    lab it;
    program_result ran;
    if (!lab_make(&it, team, script))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "hi", "--offline", "--type", "chain",
                "--json")) {
        json_t *run = json_loads(ran.out, 0, NULL);
        CHECK(json_is_null(json_object_get(run, "cost")));
        CHECK_CONTAINS(ran.err,
                       ", 4010 tokens in, 300 out, $0.0016 without 1 unpriced call, ");
        json_decref(run);
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "runs")) {
        CHECK_CONTAINS(ran.out, "completed  desk  at least $0.0016  ");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// The cost of the events of one type, in their order.
static double event_cost(const char *events, const char *type)
{
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "\"type\":\"%s\"", type);
    const char *line = strstr(events, wanted);
    if (!CHECK(line != NULL))
        return -1;
    const char *cost = strstr(line, "\"cost\":");
    return CHECK(cost != NULL) ? strtod(cost + 7, NULL) : -1;
}

static void test_cost__is_told_by_events(void)
{
    static const char *const types[] = {"message_end", "frame_end", "stream_end"};
    lab it;
    program_result ran;
    if (!lab_make(&it, team, script))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "hi", "--offline", "--events")) {
        // The first message is the user's, which costs nothing.
        CHECK(event_cost(ran.out, types[0]) == 0);
        for (size_t i = 1; i < 3; i++)
            CHECK(event_cost(ran.out, types[i]) == 0.0016);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_cost__is_compared(void)
{
    lab it;
    program_result ran;
    if (!lab_make(&it, team, script))
        return;
    if (LAB_RUN(&it, &ran, "compare", "team.yaml", "hi", "--offline", "--types",
                "handoff,chain")) {
        CHECK_CONTAINS(ran.out, "  1  4000  300  $0.0016  ");
        CHECK_CONTAINS(ran.out, "  2  4010  300        -  ");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_cost__is_a_number_in_json),
        CHECK_TEST(test_cost__is_null_where_a_call_has_no_price),
        CHECK_TEST(test_cost__is_told_by_events),
        CHECK_TEST(test_cost__is_compared),
        CU_TEST_INFO_NULL,
    };
    return check_main("cli/cost", tests);
}
