// Records: what a store tells of runs, while they are there and after they ended.
#include "support/check.h"
#include "support/team_case.h"

#include "cadre/cadre.h"

#include <stdio.h>
#include <string.h>

typedef struct listed {
    int n;
    char newest[64];
} listed;

static cadre_status note_run(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    listed *l = ctx;
    (void)err;
    if (l->n++ == 0)
        snprintf(l->newest, sizeof l->newest, "%s", info->trace_id);
    return CADRE_OK;
}

static cadre_status stop_listing(void *ctx, const cadre_record_info *info,
                                 cadre_error *err)
{
    (void)ctx;
    return cadre_fail(err, CADRE_EFAILED, "seen %s", info->team);
}

static cadre_status answer(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_set_output(frame, "an answer", err);
}

static void run_one(team_case *t)
{
    team_case_open(t);
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "one", .run = answer));
    team_case_run(t, "a question");
    CHECK_OK(t->status, &t->err);
}

static void test_record__tells_a_run_as_it_was(void)
{
    team_case t;
    cadre_record *record = NULL;
    size_t n_frames = 0;
    size_t n_messages = 0;
    run_one(&t);
    if (CHECK_OK(cadre_record_open(t.runtime, t.result->trace_id, &record, &t.err),
                 &t.err)) {
        const cadre_record_info *info = cadre_record_get_info(record);
        const cadre_frame_info *frames = cadre_record_frames(record, &n_frames);
        const cadre_record_message *said = cadre_record_messages(record, &n_messages);
        CHECK_TEXT(info->trace_id, t.result->trace_id);
        CHECK_TEXT(info->team, "team");
        CHECK_INT(info->status, CADRE_FRAME_COMPLETED);
        CHECK_INT(n_frames, 1);
        CHECK_TEXT(frames[0].name, "one");
        CHECK_TEXT(frames[0].output, "an answer");
        CHECK_INT(n_messages, 2);
        CHECK_TEXT(said[0].message->text, "a question");
        CHECK_TEXT(said[1].message->text, "an answer");
        CHECK_TEXT(said[1].conversation_id, frames[0].conversation_id);
    }
    cadre_record_close(record);
    team_case_close(&t);
}

static void test_record__lists_the_newest_first(void)
{
    team_case t;
    listed all = {0};
    listed one = {0};
    run_one(&t);
    CHECK_OK(cadre_record_list(t.runtime, 0, note_run, &all, &t.err), &t.err);
    CHECK_OK(cadre_record_list(t.runtime, 1, note_run, &one, &t.err), &t.err);
    CHECK_INT(all.n, 1);
    CHECK_INT(one.n, 1);
    CHECK_TEXT(all.newest, t.result->trace_id);
    team_case_close(&t);
}

static void test_record__ends_a_listing_when_it_is_told(void)
{
    team_case t;
    run_one(&t);
    cadre_error_clear(&t.err);
    CHECK_STATUS(cadre_record_list(t.runtime, 0, stop_listing, NULL, &t.err),
                 CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text, "seen team");
    team_case_close(&t);
}

static void test_record__names_what_is_not_there(void)
{
    team_case t;
    cadre_record *record = NULL;
    run_one(&t);
    cadre_error_clear(&t.err);
    CHECK_STATUS(cadre_record_open(t.runtime, "0123456789ab-1", &record, &t.err),
                 CADRE_ENOTFOUND, &t.err);
    CHECK_CONTAINS(t.err.text, "0123456789ab-1");
    cadre_error_clear(&t.err);
    CHECK_STATUS(cadre_record_open(t.runtime, "../etc", &record, &t.err), CADRE_EINVAL,
                 &t.err);
    CHECK_STATUS(cadre_record_open(NULL, "x", &record, NULL), CADRE_EINVAL, NULL);
    CHECK_STATUS(cadre_record_list(t.runtime, -1, note_run, NULL, NULL), CADRE_EINVAL,
                 NULL);
    cadre_record_close(NULL);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_record__tells_a_run_as_it_was),
    CHECK_TEST(test_record__lists_the_newest_first),
    CHECK_TEST(test_record__ends_a_listing_when_it_is_told),
    CHECK_TEST(test_record__names_what_is_not_there),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/record", tests);
}
