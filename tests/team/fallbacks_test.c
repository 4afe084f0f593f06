// Fallbacks and limits of models: what is read, what is told, whose keys are needed.
#include "support/check.h"
#include "support/written_team.h"

#include "team/runtime.h"
#include "team/team.h"

#include <stdlib.h>
#include <string.h>

static team_case t;

// Tests have one thread while they change the environment.
static void set_variable(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1); // NOLINT(concurrency-mt-unsafe)
    else
        unsetenv(name); // NOLINT(concurrency-mt-unsafe)
}

static void test_fallbacks__are_read_in_order_with_limits(void)
{
    if (!written_team_open(&t, "models:\n"
                               "  near:\n"
                               "    model: driven/a\n"
                               "    fallback: [far, driven/c]\n"
                               "    rpm: 60\n"
                               "    max_concurrency: unlimited\n"
                               "  far: {model: driven/b, max_concurrency: 8}\n"
                               "agents: {solo: {model: near}}\n"))
        return;
    const cadre_model *near = t.team->models[0], *far = t.team->models[1];
    CHECK_INT(near->rpm, 60);
    CHECK_INT(near->max_concurrency, 0);
    CHECK_INT(far->rpm, 0);
    CHECK_INT(far->max_concurrency, 8);
    if (CHECK_INT(near->n_fallbacks, 2)) {
        CHECK(near->fallbacks[0] == far);
        CHECK_TEXT(near->fallbacks[1]->name, "driven/c");
        CHECK(near->fallbacks[1]->state != NULL);
        CHECK(near->fallbacks[1]->governor != NULL);
        CHECK(near->governor != far->governor);
    }
    size_t n_notes = 1;
    cadre_team_notes(t.team, &n_notes); // neither is "never used"
    CHECK_INT(n_notes, 0);
    team_case_close(&t);
}

static void test_fallbacks__mistakes_are_told_with_their_places(void)
{
    written_team_check_problems(
        "models:\n"
        "  near: {model: driven/a, fallback: [fra, near, far, far]}\n"
        "  far: {model: driven/b, fallback: driven/a, rpm: 0}\n"
        "  off: {model: script/x, fallback: [far]}\n"
        "  wide: {model: driven/c, fallback: [off], max_concurrency: 0.5}\n"
        "agents: {solo: {model: near}}\n",
        "2:38: models.near.fallback[0]: unknown model 'fra'; did you mean 'far'? "
        "(models: near, far, off, wide)\n"
        "2:43: models.near.fallback[1]: a model cannot fall back to itself\n"
        "2:54: models.near.fallback[3]: 'far' stands here twice\n"
        "3:36: models.far.fallback: expected a list of at most 16 elements, "
        "got \"driven/a\"; write [driven/a]\n"
        "3:51: models.far.rpm: expected an integer from 1 to 100000, got 0; write "
        "'unlimited' for no limit\n"
        "4:37: models.off.fallback[0]: a model of provider script answers from the "
        "script alone; it has no fallback and is none\n"
        "5:38: models.wide.fallback[0]: a model of provider script answers from the "
        "script alone; it has no fallback and is none\n"
        "5:61: models.wide.max_concurrency: expected an integer from 1 to 100000 or "
        "'unlimited', got 0.5\n");
}

static void test_fallbacks__mistakes_in_c_are_told(void)
{
    size_t n = 0;
    team_case_open(&t);
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "m", .model = DRIVEN_MODEL,
                                             .fallback = CADRE_NAMES("gone", NULL),
                                             .rpm = -2, .max_concurrency = 100001));
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "free", .model = DRIVEN_MODEL,
                                             .rpm = CADRE_UNLIMITED,
                                             .max_concurrency = 100000));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "free"));
    CHECK_STATUS(cadre_team_seal(t.team, NULL), CADRE_ECONFIG, NULL);
    const char *const *problems = cadre_team_problems(t.team, &n);
    if (CHECK_INT(n, 4)) {
        CHECK_TEXT(problems[0], "model 'm': rpm: expected 1 to 100000, or 0 for no "
                                "limit, got -2");
        CHECK_TEXT(problems[1],
                   "model 'm': max_concurrency: expected 1 to 100000, or 0 "
                   "for no limit, got 100001");
        CHECK_TEXT(problems[2], "model 'm': fallback[1]: expected a name, got NULL");
        CHECK_TEXT(problems[3], "model 'm': fallback[0]: unknown model 'gone' (models: "
                                "m, free)");
    }
    CHECK_INT(t.team->models[1]->rpm, 0);
    CHECK_INT(t.team->models[1]->max_concurrency, 100000);
    team_case_close(&t);
}

// Those of models that an agent asks, and of their fallbacks, but not of theirs.
static void test_fallbacks__need_their_keys_before_a_run(void)
{
    static const char text[] =
        "models:\n"
        "  near: {model: driven/a, fallback: [far]}\n"
        "  far: {model: openai/b, api_key_env: CADRE_TEST_FAR, fallback: [beyond]}\n"
        "  beyond: {model: openai/c, api_key_env: CADRE_TEST_BEYOND}\n"
        "agents: {solo: {model: near}}\n";
    cadre_error err = CADRE_ERROR_INIT;
    set_variable("CADRE_TEST_FAR", NULL);
    set_variable("CADRE_TEST_BEYOND", NULL);
    if (!written_team_open(&t, text))
        return;
    CHECK_STATUS(cdr_team_check_keys(t.team, &err), CADRE_ECONFIG, &err);
    CHECK_CONTAINS(err.text, "model 'far': CADRE_TEST_FAR is not set");
    set_variable("CADRE_TEST_FAR", "x");
    cadre_error_clear(&err);
    CHECK_OK(cdr_team_check_keys(t.team, &err), &err);
    CHECK(t.team->models[2]->governor == NULL);
    team_case_close(&t);
}

static void test_fallbacks__need_prices_where_money_counts(void)
{
    written_team_check_problems(
        "budget: {max_cost: 1}\n"
        "models:\n"
        "  near: {model: driven/a, fallback: [far], price: {input: 1, output: 1}}\n"
        "  far: {model: driven/b, fallback: [beyond]}\n"
        "  beyond: {model: driven/c}\n"
        "agents: {solo: {model: near}}\n",
        "1:20: budget.max_cost: model 'far' has no price; give it one (price), or "
        "leave "
        "max_cost out\n");
    written_team_check_problems(
        "models:\n"
        "  near: {model: driven/a, fallback: [far], price: {input: 1, output: 1}}\n"
        "  far: {model: driven/b}\n"
        "agents: {solo: {model: near, budget: {max_cost: 1}}}\n",
        "4:49: agents.solo.budget.max_cost: model 'far', which works for solo, has no "
        "price; give it one (price), or leave max_cost out\n");
}

static void test_fallbacks__of_a_scripted_team_need_nothing(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.offline = true), &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_model(team,
                         CADRE_MODEL(.name = "m", .model = "openai/a",
                                     .fallback = CADRE_NAMES("openai/b"), .rpm = 5));
    cadre_team_add_llm(team, CADRE_LLM(.name = "solo", .model = "m"));
    set_variable("OPENAI_API_KEY", NULL);
    cadre_team_seal(team, NULL); // has no script, and tells so
    CHECK_OK(cdr_team_check_keys(team, &err), &err);
    CHECK(team->models[0]->governor == NULL);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void test_fallbacks__are_texts_of_the_team(void)
{
    char digests[2][CDR_DIGEST_SIZE], shapes[2][CDR_DIGEST_SIZE];
    for (int i = 0; i < 2; i++) {
        team_case_open(&t);
        cadre_team_add_model(
            t.team,
            CADRE_MODEL(.name = "m", .model = DRIVEN_MODEL,
                        .fallback = {i == 0 ? NULL : (const char *const[]){"driven/b"},
                                     (size_t)i}));
        cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "m"));
        CHECK_OK(cadre_team_seal(t.team, NULL), NULL);
        memcpy(digests[i], t.team->text_digest, CDR_DIGEST_SIZE);
        memcpy(shapes[i], t.team->shape_digest, CDR_DIGEST_SIZE);
        team_case_close(&t);
    }
    CHECK(strcmp(digests[0], digests[1]) != 0);
    CHECK_TEXT(shapes[0], shapes[1]);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_fallbacks__are_read_in_order_with_limits),
    CHECK_TEST(test_fallbacks__mistakes_are_told_with_their_places),
    CHECK_TEST(test_fallbacks__mistakes_in_c_are_told),
    CHECK_TEST(test_fallbacks__need_their_keys_before_a_run),
    CHECK_TEST(test_fallbacks__need_prices_where_money_counts),
    CHECK_TEST(test_fallbacks__of_a_scripted_team_need_nothing),
    CHECK_TEST(test_fallbacks__are_texts_of_the_team),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("team/fallbacks", tests);
}
