// The kill matrix of runs that wait for a person: cut at each commit before the
// question, around it, and after the answer, which comes to a run that is parked, or to
// one that was cut with its question open. See also kill_test.c.
#include "support/check.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "base/buf.h"
#include "cadre/trace.h"

#include <stdlib.h>
#include <string.h>

// --- Teams ---

static cadre_team *make_sample(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    (void)folder;
    CHECK_OK(cadre_team_load(runtime, "samples/approval/team.yaml", &team, &err), &err);
    return team;
}

static cadre_status pay(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->unsafe_ones, 1);
    return cadre_frame_set_output(frame, "paid", err);
}

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "looked", err);
}

static const char script[] = "strict: true\n"
                             "agents:\n"
                             "  desk:\n"
                             "    - {tool_calls: [{name: pay}, {name: look}]}\n"
                             "    - {text: \"It is settled.\"}\n";

// One call needs approval, its neighbour does not.
static cadre_team *make_payer(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "payer");
    cadre_team_set_script(team, path);
    cadre_team_add_llm(team, CADRE_LLM(.name = "desk", .model = "openai/m",
                                       .tools = CADRE_NAMES("pay", "look")));
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "pay", .run = pay, .needs_approval = true));
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "look", .run = look, .replay_safe = true));
    return team;
}

// --- One case ---

typedef struct plan {
    const char *type;
    lives_team make;
    const char *answer;
    bool answers_cut; // the answer comes as soon as the question is recorded
    const char *recorded;
} plan;

static cadre_status answer(lives *l, const char *text, cadre_error *err)
{
    json_t *value = json_string(text);
    cadre_status status =
        cadre_trace_answer(lives_runtime(l), l->trace, NULL, value, err);
    json_decref(value);
    return status;
}

// Until it is parked, or its question is answered. False: nothing was recorded.
static bool begin(lives *l, const plan *p, store_cut cut)
{
    cadre_error err = CADRE_ERROR_INIT;
    lives_start(l, CADRE_RUN(.input = "I was charged twice"), cut);
    if (l->trace[0] == '\0')
        return false;
    if (p->answers_cut && answer(l, p->answer, &err) == CADRE_OK)
        return true;
    if (l->status != CADRE_EPARKED && !lives_resume(l, (store_cut){0}))
        return false;
    if (!CHECK_STATUS(l->status, CADRE_EPARKED, &l->err))
        return false;
    cadre_error_clear(&err);
    return CHECK_OK(answer(l, p->answer, &err), &err);
}

// All but what is said of the one call that may have been cut.
static char *without_call(const char *text)
{
    cdr_buf out = CDR_BUF_INIT;
    char *copy = strdup(text);
    char *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "frame root/1/0 tool", 19) == 0 ||
            strstr(line, ">: pay ") != NULL || strstr(line, ">: refund ") != NULL)
            continue;
        cdr_buf_printf(&out, "%s\n", line);
    }
    free(copy);
    return cdr_buf_take(&out);
}

static void check_end(lives *l, const plan *p)
{
    char *placed = lives_recorded(l);
    char *got = recorded_unplaced(placed);
    bool is_interrupted = strstr(got, " interrupted ") != NULL;
    CHECK_OK(l->status, &l->err);
    if (is_interrupted) {
        char *rest = without_call(got);
        char *expected = without_call(p->recorded);
        CHECK_TEXT(rest, expected);
        CHECK_TEXT(p->answer, "yes");
        free(rest);
        free(expected);
    } else {
        CHECK_TEXT(got, p->recorded);
    }
    int n_paid = atomic_load(&lives_count()->unsafe_ones);
    CHECK(n_paid <= 1);
    if (p->make == make_payer && !is_interrupted)
        CHECK_INT(n_paid, strcmp(p->answer, "yes") == 0);
    free(placed);
    free(got);
}

// Cuts at commit `n` before the answer, and at `after` after it; 0: not. False: that
// was beyond the end of that life.
static bool check_case(const plan *p, int n, int after, bool is_kept)
{
    lives l;
    bool was_cut = false;
    if (!lives_open(&l, p->type, p->make))
        return false;
    bool has_begun = begin(&l, p, (store_cut){.at = n, .is_after = is_kept});
    bool goes_on =
        has_begun && lives_resume(&l, (store_cut){.at = after, .is_after = is_kept});
    was_cut = goes_on && l.was_cut;
    if (was_cut)
        goes_on = lives_resume(&l, (store_cut){0});
    if (!goes_on && l.status == CADRE_EINVAL) { // cut when all was done
        CHECK_CONTAINS(l.err.text, "has ended (completed)");
        l.status = CADRE_OK;
        cadre_error_clear(&l.err);
    }
    if (has_begun)
        check_end(&l, p);
    else
        CHECK(n == 1 && !is_kept);
    lives_close(&l);
    return was_cut;
}

// --- The matrix ---

enum {
    MAX_COMMITS = 40
};

static void check_pairs(plan p, int n_commits)
{
    int max =
        p.make == make_payer ? LIVES_MAX_AGAIN : 1; // its programs take their time
    for (int n = 0; n <= n_commits; n += LIVES_STEP)
        for (int kept = 0; kept < 2; kept++) {
            int after = 1;
            check_case(&p, n, 0, kept != 0);
            while (after <= max && check_case(&p, n, after, kept != 0))
                after++;
            CHECK(after < MAX_COMMITS);
        }
}

static void check_answer(const char *type, lives_team make, const char *text)
{
    lives l;
    plan p = {.type = type, .make = make, .answer = text};
    if (!lives_open(&l, type, make))
        return;
    bool is_parked = begin(&l, &p, (store_cut){0});
    int n_commits = l.n_commits;
    if (CHECK(is_parked) && CHECK(lives_resume(&l, (store_cut){0}))) {
        char *placed = lives_recorded(&l);
        char *recorded = recorded_unplaced(placed);
        p.recorded = recorded;
        CHECK_OK(l.status, &l.err);
        lives_close(&l);
        check_pairs(p, n_commits);
        p.answers_cut = true;
        check_pairs(p, n_commits);
        free(placed);
        free(recorded);
        return;
    }
    lives_close(&l);
}

static void check_allowed_sample(const char *type)
{
    check_answer(type, make_sample, "yes");
}

static void test_approval__that_is_given_holds_over_every_cut(void)
{
    lives_each_store(check_allowed_sample);
}

static void check_refused_sample(const char *type)
{
    check_answer(type, make_sample, "no");
}

static void test_approval__that_is_not_given_holds_over_every_cut(void)
{
    lives_each_store(check_refused_sample);
}

static void check_payer(const char *type)
{
    check_answer(type, make_payer, "yes");
    check_answer(type, make_payer, "no");
}

static void test_approval__of_one_of_two_calls_is_paid_once(void)
{
    lives_each_store(check_payer);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_approval__that_is_given_holds_over_every_cut),
    CHECK_TEST(test_approval__that_is_not_given_holds_over_every_cut),
    CHECK_TEST(test_approval__of_one_of_two_calls_is_paid_once),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/kill_approval", tests);
}
