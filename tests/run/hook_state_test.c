// The state that hooks set, and that a tool set before its hooks saw the result, is the
// same when a run was cut anywhere.
#include "support/check.h"
#include "support/folder.h"

#include "base/buf.h"
#include "cadre/cadre.h"

static cadre_status set_log(cadre_frame *frame, const char *text, cadre_error *err)
{
    json_t *value = json_string(text);
    cadre_status status = cadre_frame_set_state(frame, "log", value, err);
    json_decref(value);
    return status;
}

static cadre_status before_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err)
{
    (void)ctx;
    return set_log(frame, call->turn == 1 ? "before 1" : "before 2", err);
}

static cadre_status after_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err)
{
    (void)ctx;
    return set_log(frame, call->turn == 1 ? "after 1" : "after 2", err);
}

static json_t *nothing(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return json_true();
}

// A step is a commit between the tool's result and its end.
static cadre_status after_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                               cadre_error *err)
{
    json_t *value = NULL;
    (void)ctx;
    (void)call;
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "look", .run = nothing), &value, err);
    json_decref(value);
    return status == CADRE_OK ? set_log(frame, "after tool", err) : status;
}

static cadre_status note(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    cadre_status status = set_log(frame, "tool", err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "noted", err) : status;
}

static const char script[] = "agents:\n"
                             "  alice:\n"
                             "    - {tool_calls: [{name: note, arguments: {}}]}\n"
                             "    - {text: Done}\n";

typedef struct hook_case {
    test_folder folder;
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_error err;
} hook_case;

static bool open_alice(hook_case *t)
{
    char path[FOLDER_PATH_SIZE];
    *t = (hook_case){.err = CADRE_ERROR_INIT};
    if (!CHECK(folder_make(&t->folder)) ||
        !folder_write(&t->folder, "script.yaml", script, path) ||
        !CHECK_OK(
            cadre_runtime_open(CADRE_RUNTIME(.offline = true), &t->runtime, &t->err),
            &t->err))
        return false;
    t->team = cadre_team_new(t->runtime, "team");
    cadre_team_set_script(t->team, path);
    cadre_team_add_state(t->team,
                         CADRE_STATE_KEY(.key = "log", .reducer = CADRE_REDUCE_APPEND));
    cadre_team_add_tool(t->team, CADRE_TOOL(.name = "note", .run = note));
    cadre_team_add_llm(t->team,
                       CADRE_LLM(.name = "alice", .model = "openai/m",
                                 .tools = CADRE_NAMES("note"),
                                 .hooks = CADRE_HOOKS(.before_model = before_model,
                                                      .after_model = after_model,
                                                      .after_tool = after_tool)));
    return true;
}

static void close_case(hook_case *t)
{
    cadre_team_free(t->team);
    cadre_runtime_close(t->runtime);
    folder_remove(&t->folder);
}

static void tell(void *ctx, const cadre_difference *d)
{
    cdr_buf_printf(ctx, "%d %s %s %s: %s / %s\n", d->commit, d->path, d->key, d->field,
                   d->first == NULL ? "(none)" : d->first,
                   d->again == NULL ? "(none)" : d->again);
}

static void test_state__of_hooks_is_the_same_after_every_cut(void)
{
    hook_case t;
    cdr_buf told = CDR_BUF_INIT;
    cadre_reenter_result result;
    if (!open_alice(&t))
        return;
    CHECK_OK(cadre_reenter(t.team,
                           CADRE_REENTER(.run = CADRE_RUN(.input = "hi"),
                                         .every_commit = true, .on_difference = tell,
                                         .ctx = &told),
                           &result, &t.err),
             &t.err);
    CHECK_INT(result.status, CADRE_FRAME_COMPLETED);
    CHECK(result.n_commits > 2);
    CHECK_TEXT(cdr_buf_text(&told), "");
    cdr_buf_fini(&told);
    close_case(&t);
}

static void test_state__of_hooks_stands_in_the_record(void)
{
    hook_case t;
    cadre_run *run = NULL;
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    if (!open_alice(&t))
        return;
    CHECK_OK(cadre_run_start(t.team, CADRE_RUN(.input = "hi"), &run, &t.err), &t.err);
    CHECK_OK(cadre_run_wait(run, NULL, &t.err), &t.err);
    CHECK_OK(cadre_run_frames(run, &frames, &n, NULL), NULL);
    if (CHECK(n > 1)) {
        CHECK_TEXT(frames[0].delta,
                   "{\"log\":[\"before 1\",\"after 1\",\"tool\",\"after "
                   "tool\",\"before 2\",\"after 2\"]}");
        CHECK_TEXT(frames[1].kind, "model");
        CHECK_TEXT(frames[1].delta, "{\"log\":[\"before 1\",\"after 1\"]}");
    }
    cadre_run_free(run);
    close_case(&t);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_state__of_hooks_is_the_same_after_every_cut),
        CHECK_TEST(test_state__of_hooks_stands_in_the_record),
        CU_TEST_INFO_NULL,
    };

    return check_main("run/hook_state", tests);
}
