// Aborts from outside after every commit of a run that comes to wait for a person: also
// one that comes as the run goes to rest ends it.
#include "support/check.h"
#include "support/lives.h"

#include "cadre/trace.h"

#include <stdio.h>

static const char script[] = "agents:\n"
                             "  clerk:\n"
                             "    - {ask: \"Which?\"}\n"
                             "    - {text: Done.}\n";

static cadre_team *make_clerk(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "clerks");
    cadre_team_set_script(team, path);
    cadre_team_add_llm(team, CADRE_LLM(.name = "clerk", .model = "openai/m",
                                       .tools = CADRE_NAMES("ask")));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "ask", .type = "ask"));
    return team;
}

typedef struct aborter {
    lives *l;
    int at;
    bool has_aborted;
} aborter;

static void abort_after(void *ctx, const cadre_commit *commit, int n)
{
    aborter *it = ctx;
    char trace[CADRE_ID_TEXT_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    if (n != it->at)
        return;
    cadre_id_text(commit->trace, trace);
    it->has_aborted = true;
    CHECK_OK(cadre_trace_abort(it->l->runtime, trace, NULL, &err), &err);
}

static cadre_frame_status root_status(cadre_runtime *runtime, const char *trace)
{
    cadre_record *record = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_frame_status status = CADRE_FRAME_PENDING;
    if (CHECK_OK(cadre_record_open(runtime, trace, &record, &err), &err))
        status = cadre_record_get_info(record)->status;
    cadre_record_close(record);
    return status;
}

// False: there is no such commit.
static bool check_commit(const char *type, int at)
{
    lives l;
    cadre_error err = CADRE_ERROR_INIT;
    aborter it = {&l, at, false};
    if (!lives_open(&l, type, make_clerk))
        return false;
    lives_start(&l, CADRE_RUN(.input = "Go."),
                (store_cut){.on_commit = abort_after, .ctx = &it});
    if (it.has_aborted) {
        CHECK(l.status == CADRE_EABORTED || l.status == CADRE_EPARKED);
        CHECK_OK(cadre_trace_wait(l.runtime, l.trace, false, 5000, &err), &err);
        CHECK_INT(root_status(l.runtime, l.trace), CADRE_FRAME_ABORTED);
    }
    lives_close(&l);
    return it.has_aborted;
}

static void check_store(const char *type)
{
    int n = 1;
    while (check_commit(type, n))
        n++;
    CHECK(n > 3); // its start, the question, its rest
}

static void test_abort__ends_a_run_that_goes_to_rest(void)
{
    lives_each_store(check_store);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_abort__ends_a_run_that_goes_to_rest),
        CU_TEST_INFO_NULL,
    };

    return check_main("run/abort_park", tests);
}
