// Model calls that answer from the record: how they ended is part of it.
#include "support/check.h"
#include "support/team_case.h"

#include "base/buf.h"
#include "cadre/reenter.h"

#include <stdlib.h>

static team_case t;

static void note(void *ctx, const cadre_difference *d)
{
    cdr_buf_printf(ctx, "%d %s %s %s: %s / %s\n", d->commit, d->path, d->key, d->field,
                   d->first == NULL ? "(none)" : d->first,
                   d->again == NULL ? "(none)" : d->again);
}

// What is left to do is the ending of the agent: with the reason it had.
static void test_record__of_an_answer_that_was_cut_says_so_again(void)
{
    cdr_buf told = CDR_BUF_INIT;
    cadre_reenter_result result;
    cadre_error err = CADRE_ERROR_INIT;
    team_case_open(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    DRIVEN("alice", "always\nsay It begins\ncut");
    CHECK_OK(cadre_reenter(t.team,
                           CADRE_REENTER(.run = CADRE_RUN(.input = "hi"),
                                         .every_commit = true, .on_difference = note,
                                         .ctx = &told),
                           &result, &err),
             &err);
    CHECK_INT(result.status, CADRE_FRAME_COMPLETED);
    CHECK_TEXT(cdr_buf_text(&told), "");
    cdr_buf_fini(&told);
    team_case_close(&t);
}

static void test_record__of_a_cut_answer_shows_in_the_tree(void)
{
    team_case_open(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    DRIVEN("alice", "say It begins\ncut");
    team_case_run(&t, "hi");
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, "agent alice root completed limit\n"
                       "  model driven/test 1 completed limit\n");
    free(frames);
    team_case_close(&t);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_record__of_an_answer_that_was_cut_says_so_again),
        CHECK_TEST(test_record__of_a_cut_answer_shows_in_the_tree),
        CU_TEST_INFO_NULL,
    };

    return check_main("run/model_record", tests);
}
