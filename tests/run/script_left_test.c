// What a strict script may have left at the end of a run.
#include "support/scripted_case.h"

#include "base/buf.h"

static scripted_case c;

// `hare` answers; the chain, of which `tortoise` is not done, has lost.
static const char race[] =
    "models: {m: {model: openai/m}}\n"
    "root: race\n"
    "agents:\n"
    "  race: {type: parallel, members: [slow, hare], parallel: {wait: any}}\n"
    "  slow: {type: chain, members: [tortoise, snail]}\n"
    "  tortoise: {model: m}\n"
    "  snail: {model: m}\n"
    "  hare: {model: m}\n";

#define LOSERS                                                                         \
    "strict: true\n"                                                                   \
    "agents:\n"                                                                        \
    "  tortoise: [{text: Late., delay: 1h}]\n"                                         \
    "  snail: [{text: Later.}]\n"

static bool run(const char *team, const char *script)
{
    if (!scripted_case_open(&c, team, script))
        return false;
    scripted_case_run(&c, CADRE_RUN(.input = "Go."));
    return true;
}

static void test_left__of_the_loser_of_a_race_is_no_mistake(void)
{
    if (!run(race, LOSERS "  hare: [{text: First.}]\n"))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_TEXT(c.result->text, "First.");
    scripted_case_close(&c);
}

static void test_left__of_the_winner_is_one(void)
{
    if (!run(race, LOSERS "  hare: [{text: First.}, {text: Again.}]\n"))
        return;
    CHECK_STATUS(c.status, CADRE_EFAILED, &c.err);
    CHECK_CONTAINS(c.err.text,
                   "/script.yaml:5:3: the script has 1 step left for agent 'hare'");
    scripted_case_close(&c);
}

static void test_left__of_one_whose_time_was_up_is_no_mistake(void)
{
    static const char team[] =
        "models: {m: {model: openai/m}}\n"
        "root: both\n"
        "agents:\n"
        "  both: {type: parallel, members: [late, quick], parallel: {on_failure: "
        "report, output: '{{outputs.quick}}'}}\n"
        "  late: {model: m, timeout: 20ms}\n"
        "  quick: {model: m}\n";
    if (!run(team, "strict: true\n"
                   "agents:\n"
                   "  late: [{text: Late., delay: 1h}, {text: More.}]\n"
                   "  quick: [{text: Quick.}]\n"))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_TEXT(c.result->text, "Quick.");
    scripted_case_close(&c);
}

static void tell(void *ctx, const cadre_difference *d)
{
    cdr_buf_printf(ctx, "%d %s %s %s\n", d->commit, d->path, d->key, d->field);
}

// Cut anywhere, also before the loser has taken its step, it ends as it did.
static void test_left__is_judged_alike_when_the_run_is_resumed(void)
{
    cdr_buf told = CDR_BUF_INIT;
    cadre_reenter_result result;
    if (!scripted_case_open(&c, race, LOSERS "  hare: [{text: First., delay: 20ms}]\n"))
        return;
    CHECK_OK(cadre_reenter(c.team,
                           CADRE_REENTER(.run = CADRE_RUN(.input = "Go."),
                                         .every_commit = true, .on_difference = tell,
                                         .ctx = &told),
                           &result, &c.err),
             &c.err);
    CHECK(result.n_commits > 1);
    CHECK_TEXT(cdr_buf_text(&told), "");
    cdr_buf_fini(&told);
    scripted_case_close(&c);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_left__of_the_loser_of_a_race_is_no_mistake),
    CHECK_TEST(test_left__of_the_winner_is_one),
    CHECK_TEST(test_left__of_one_whose_time_was_up_is_no_mistake),
    CHECK_TEST(test_left__is_judged_alike_when_the_run_is_resumed),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/script_left", tests);
}
