// What calls cost, and which prices are refused.
#include "team/price.h"

#include "support/scripted_case.h"

#include "team/team.h"

static cadre_usage used(int64_t input, int64_t cached, int64_t output)
{
    return (cadre_usage){
        .input_tokens = input, .cached_input_tokens = cached, .output_tokens = output};
}

static void test_price__adds_up_three_kinds_of_tokens(void)
{
    static const cdr_price price = {250000, 2000000, 25000, 250000, true};
    const struct {
        cadre_usage usage;
        int64_t cost;
    } cases[] = {
        {used(0, 0, 0), 0},
        {used(1000000, 0, 0), 250000},
        {used(0, 0, 1000000), 2000000},
        {used(1000000, 1000000, 0), 25000},
        {used(1200, 400, 90), 200 + 10 + 180},
        // More cached ones than there are: all of them.
        {used(1000, 5000, 0), 25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_INT(cdr_price_of(&price, &cases[i].usage, 0), cases[i].cost);
}

static void test_price__what_is_put_into_a_cache_has_its_own(void)
{
    static const cdr_price price = {1000000, 0, 100000, 1250000, true};
    const cadre_usage usage = used(1000, 400, 0);
    CHECK_INT(cdr_price_of(&price, &usage, 0), 600 + 40);
    CHECK_INT(cdr_price_of(&price, &usage, 200), 400 + 40 + 250);
    // More of it than there is: all that was not cached.
    CHECK_INT(cdr_price_of(&price, &usage, 5000), 40 + 750);
}

static void test_price__reasoning_is_part_of_the_output(void)
{
    static const cdr_price price = {1000000, 1000000, 1000000, 1000000, true};
    cadre_usage usage = used(10, 0, 7);
    usage.reasoning_tokens = 5;
    CHECK_INT(cdr_price_of(&price, &usage, 0), 17);
}

// The sum is rounded, not its parts: three times a third of a millionth is one.
static void test_price__rounds_the_sum_half_up(void)
{
    static const cdr_price halves = {500000, 500000, 500000, 500000, true};
    static const cdr_price parts = {333333, 333334, 333333, 333333, true};
    const cadre_usage one = used(1, 0, 0);
    const cadre_usage two = used(1, 0, 1);
    const cadre_usage each = used(2, 1, 1);
    CHECK_INT(cdr_price_of(&halves, &one, 0), 1);
    CHECK_INT(cdr_price_of(&halves, &two, 0), 1);
    CHECK_INT(cdr_price_of(&parts, &each, 0), 1);
    CHECK_INT(cdr_price_of(&parts, &one, 0), 0);
    CHECK_INT(cdr_price_of(&(cdr_price){499999, 0, 0, 499999, true}, &one, 0), 0);
}

static void test_price__is_exact_far_beyond_what_a_double_holds(void)
{
    const cdr_price price = {INT64_C(1000000000000), INT64_C(999999999999), 1,
                             INT64_C(1000000000000), true};
    const cadre_usage large = used(INT64_C(1000000000), 0, 3);
    const cadre_usage cheap = used(INT64_C(1000000000000), INT64_C(1000000000000), 0);
    // 10^9 tokens at 10^6 dollars a million, and 3 at a millionth of a dollar less.
    CHECK_INT(cdr_price_of(&price, &large, 0), INT64_C(1000000003000000));
    CHECK_INT(cdr_price_of(&price, &cheap, 0), 1000000);
}

static void test_price__stays_at_the_largest_number(void)
{
    const cdr_price price = {INT64_C(1000000000000), INT64_C(1000000000000),
                             INT64_C(1000000000000), INT64_C(1000000000000), true};
    const cadre_usage most = used(INT64_MAX, 0, INT64_MAX);
    CHECK_INT(cdr_price_of(&price, &most, 0), INT64_MAX);
}

static void test_price__nothing_where_none_is_known(void)
{
    const cdr_price none = {1, 1, 1, 1, false};
    const cadre_usage usage = used(1000000, 0, 1000000);
    CHECK_INT(cdr_price_of(&none, &usage, 0), 0);
}

// --- In a file ---

#define TEAM(price)                                                                    \
    "models:\n  m:\n    model: openai/m\n    price: " price "\n"                       \
    "agents:\n  a: {model: m}\n"

static void check_read(const char *team, cdr_price expected)
{
    scripted_case c;
    if (!scripted_case_open(&c, team, "agents: {a: [{text: Done.}]}\n"))
        return;
    const cdr_price *price = &c.team->models[0]->price;
    CHECK_INT(price->is_known, expected.is_known);
    CHECK_INT(price->input, expected.input);
    CHECK_INT(price->output, expected.output);
    CHECK_INT(price->cached_input, expected.cached_input);
    CHECK_INT(price->cache_write, expected.cache_write);
    scripted_case_close(&c);
}

static void test_price__is_read_from_the_file(void)
{
    check_read(TEAM("{input: 0.25, output: 2.00, cached_input: 0.025}"),
               (cdr_price){250000, 2000000, 25000, 250000, true});
    check_read(TEAM("{input: 3, output: 15, cache_write: 3.75}"),
               (cdr_price){3000000, 15000000, 3000000, 3750000, true});
    check_read(TEAM("{input: 3, output: 15}"),
               (cdr_price){3000000, 15000000, 3000000, 3000000, true});
    check_read(TEAM("{input: 0, output: 0}"), (cdr_price){0, 0, 0, 0, true});
    check_read(TEAM("{input: 1, output: 2, cached_input: 0}"),
               (cdr_price){1000000, 2000000, 0, 1000000, true});
    check_read("models: {m: {model: openai/m}}\nagents: {a: {model: m}}\n",
               (cdr_price){0, 0, 0, 0, false});
}

static void test_price__mistakes_are_told(void)
{
    static const struct {
        const char *team, *problem;
    } cases[] = {
        {TEAM("{input: 0.25}"), "team.yaml:4:12: models.m.price: missing key 'output'"},
        {TEAM("{input: -1, output: 2}"), "models.m.price.input: expected a number from "
                                         "0 to 1000000, got -1"},
        {TEAM("{input: 0.1234567, output: 2}"),
         "models.m.price.input: expected dollars with six decimals at most, got "
         "0.1234567"},
        {TEAM("{input: cheap, output: 2}"),
         "models.m.price.input: expected a number from 0 to 1000000, got \"cheap\""},
        {TEAM("{input: 1, output: 2, cached: 1}"), "unknown key 'cached'"},
        {TEAM("2"), "models.m.price: expected a mapping, got 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        scripted_case_check_refused(cases[i].team, cases[i].problem);
}

// --- In C ---

static void check_settings(const cadre_price *given, cdr_price expected)
{
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "t");
    cadre_team_add_model(team,
                         CADRE_MODEL(.name = "m", .model = "openai/m", .price = given));
    const cdr_price *price = &team->models[0]->price;
    CHECK_INT(price->is_known, expected.is_known);
    CHECK_INT(price->input, expected.input);
    CHECK_INT(price->output, expected.output);
    CHECK_INT(price->cached_input, expected.cached_input);
    CHECK_INT(price->cache_write, expected.cache_write);
    CHECK_INT(team->problems.count, 0);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void test_price__is_given_in_c(void)
{
    check_settings(CADRE_PRICE(.input_usd_micros = 5, .output_usd_micros = 7,
                               .cached_input_usd_micros = 2,
                               .cache_write_usd_micros = 6),
                   (cdr_price){5, 7, 2, 6, true});
    check_settings(CADRE_PRICE(.input_usd_micros = 5), (cdr_price){5, 0, 5, 5, true});
    check_settings(CADRE_PRICE(.input_usd_micros = 0), (cdr_price){0, 0, 0, 0, true});
    check_settings(NULL, (cdr_price){0, 0, 0, 0, false});
}

static void test_price__mistakes_in_c_are_told(void)
{
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "t");
    cadre_team_add_model(team,
                         CADRE_MODEL(.name = "m", .model = "openai/m",
                                     .price = CADRE_PRICE(.output_usd_micros = -3)));
    CHECK_INT(cadre_team_seal(team, &err), CADRE_ECONFIG);
    CHECK_CONTAINS(err.text, "model 'm': price.output_usd_micros: expected 0 to "
                             "1000000000000, got -3");
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_price__adds_up_three_kinds_of_tokens),
        CHECK_TEST(test_price__what_is_put_into_a_cache_has_its_own),
        CHECK_TEST(test_price__reasoning_is_part_of_the_output),
        CHECK_TEST(test_price__rounds_the_sum_half_up),
        CHECK_TEST(test_price__is_exact_far_beyond_what_a_double_holds),
        CHECK_TEST(test_price__stays_at_the_largest_number),
        CHECK_TEST(test_price__nothing_where_none_is_known),
        CHECK_TEST(test_price__is_read_from_the_file),
        CHECK_TEST(test_price__mistakes_are_told),
        CHECK_TEST(test_price__is_given_in_c),
        CHECK_TEST(test_price__mistakes_in_c_are_told),
        CU_TEST_INFO_NULL,
    };
    return check_main("team/price", tests);
}
