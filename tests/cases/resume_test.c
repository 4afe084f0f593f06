// The case files of going on: with a team that was edited, and with nothing to say.
#include "support/case_files.h"
#include "support/lab.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "cadre/cadre.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- d07: the team was edited while the run waited ---

// A file of the case, over the folder's own of that name.
static bool put(const lab *it, const char *file, const char *as)
{
    char folder[CASE_PATH_BYTES];
    char path[FOLDER_PATH_SIZE];
    char *text =
        case_file_read(case_folder("d07-resume-after-edit", folder), file, NULL);
    bool is_put = CHECK(text != NULL) && folder_write(&it->folder, as, text, path);
    free(text);
    return is_put;
}

// The first version, which has asked its question.
static bool start_d07(lab *it, char trace[32])
{
    if (!lab_make(it, "", "") || !put(it, "v1.yaml", "team.yaml") ||
        !put(it, "script.yaml", "script.yaml"))
        return false;
    LAB_CHECK(it, 3, "", "ok?", "run", "team.yaml", "x", "--offline");
    snprintf(trace, 32, "%s", it->trace);
    return true;
}

// The second version, where c goes by the name of d, with a script of its own.
static bool edit_d07(const lab *it)
{
    return put(it, "v2.yaml", "team.yaml") && put(it, "script_v2.yaml", "script.yaml");
}

static void test_d07__another_shape_is_refused_with_the_name(void)
{
    lab it;
    char trace[32];
    if (!start_d07(&it, trace) || !edit_d07(&it))
        return;
    LAB_CHECK(&it, 0, NULL, "", "answer", trace, "yes", "--no-resume");
    LAB_CHECK(&it, 2, "", "agent 'c' is gone", "resume", trace);
    // Nothing of it was done: with its own team the run goes on.
    if (put(&it, "v1.yaml", "team.yaml") && put(&it, "script.yaml", "script.yaml"))
        LAB_CHECK(&it, 0, "c\n", "", "resume", trace);
    lab_remove(&it);
}

static void test_d07__another_shape_may_be_accepted(void)
{
    lab it;
    char trace[32];
    if (!start_d07(&it, trace) || !edit_d07(&it))
        return;
    LAB_CHECK(&it, 0, NULL, "", "answer", trace, "yes", "--no-resume");
    LAB_CHECK(&it, 0, "d\n", "", "resume", trace, "--accept-changes");
    lab_remove(&it);
}

static void test_d07__other_texts_go_on_with_a_note(void)
{
    lab it;
    char trace[32];
    program_result ran;
    if (!start_d07(&it, trace) || !put(&it, "v3.yaml", "team.yaml"))
        return;
    LAB_CHECK(&it, 0, NULL, "", "answer", trace, "yes", "--no-resume");
    if (LAB_RUN(&it, &ran, "resume", trace, "--events")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "\"type\":\"stream_start\"");
        CHECK_CONTAINS(ran.out, "\"texts_changed\":true");
        CHECK_CONTAINS(ran.out, "\"output\":\"c\"");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// --- d10: going on with no input ---

static cadre_team *make_d10(cadre_runtime *runtime, const test_folder *folder)
{
    char path[CASE_PATH_BYTES];
    char file[CASE_PATH_BYTES + 16];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = NULL;
    (void)folder;
    snprintf(file, sizeof file, "%s/team.yaml",
             case_folder("d10-resume-with-no-input", path));
    CHECK_OK(cadre_team_load(runtime, file, &team, &err), &err);
    return team;
}

// A run that ended when the answer of `a` was stored.
static bool cut_d10(lives *l)
{
    if (!lives_open(l, "sqlite", make_d10))
        return false;
    lives_start(l, CADRE_RUN(.input = "x", .session = "s"),
                (store_cut){.at = 3, .is_after = true});
    return CHECK(l->was_cut);
}

// What the run holds: b and c have answered once, and the user spoke once.
static void check_whole(lives *l)
{
    char *recorded = lives_recorded(l);
    CHECK_INT(recorded_count(recorded, "message root ", NULL), 4);
    CHECK_INT(recorded_count(recorded, "message root ", " user "), 1);
    free(recorded);
    // a; b, which was reserved but not asked; c.
    CHECK_INT(atomic_load(&lives_count()->requests), 3);
}

static void check_goes_on(const cadre_run_config *config)
{
    lives l;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    if (cut_d10(&l)) {
        lives_runtime(&l);
        CHECK_INT(atomic_load(&lives_count()->requests), 1);
        if (CHECK_OK(cadre_run_resume(l.team, l.trace, config, &run, &l.err), &l.err) &&
            CHECK_OK(cadre_run_wait(run, &result, &l.err), &l.err))
            CHECK_TEXT(result->text, "c");
        cadre_run_free(run);
        check_whole(&l);
    }
    lives_close(&l);
}

static void test_d10__goes_on_where_it_was_with_nothing_to_say(void)
{
    check_goes_on(NULL);
    check_goes_on(CADRE_RUN());
    check_goes_on(CADRE_RUN(.input = ""));
    check_goes_on(CADRE_RUN(.input = "x")); // its own
}

static void test_d10__another_input_is_refused_and_nothing_is_done(void)
{
    lives l;
    cadre_run *run = NULL;
    if (cut_d10(&l)) {
        lives_runtime(&l);
        CHECK_STATUS(cadre_run_resume(l.team, l.trace, CADRE_RUN(.input = "other"),
                                      &run, &l.err),
                     CADRE_EINVAL, &l.err);
        CHECK_CONTAINS(l.err.text, "was started with another input");
        CHECK_INT(atomic_load(&lives_count()->requests), 1);
        // Nobody holds it, so it can be gone on with.
        CHECK(lives_resume(&l, (store_cut){0}));
        CHECK_TEXT(l.answer, "c");
        check_whole(&l);
    }
    lives_close(&l);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_d07__another_shape_is_refused_with_the_name),
        CHECK_TEST(test_d07__another_shape_may_be_accepted),
        CHECK_TEST(test_d07__other_texts_go_on_with_a_note),
        CHECK_TEST(test_d10__goes_on_where_it_was_with_nothing_to_say),
        CHECK_TEST(test_d10__another_input_is_refused_and_nothing_is_done),
        CU_TEST_INFO_NULL,
    };

    return check_main("cases/resume", tests);
}
