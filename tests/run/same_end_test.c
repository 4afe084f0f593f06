// A run that was cut ends as it would have: for the same reason, by the failure of the
// same agent, with the same state. Each team here commits between what it goes by and
// its end.
#include "support/check.h"
#include "support/folder.h"
#include "support/mortal_store.h"

#include "base/buf.h"
#include "cadre/cadre.h"
#include "cadre/ext/scope.h"
#include "cadre/ext/tool.h"

#include <stdio.h>

typedef struct end_case {
    test_folder folder;
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_error err;
} end_case;

static bool open_case(end_case *t, const char *script)
{
    char path[FOLDER_PATH_SIZE];
    *t = (end_case){.err = CADRE_ERROR_INIT};
    if (!CHECK(folder_make(&t->folder)) ||
        !folder_write(&t->folder, "script.yaml", script, path) ||
        !CHECK_OK(
            cadre_runtime_open(CADRE_RUNTIME(.offline = true), &t->runtime, &t->err),
            &t->err))
        return false;
    mortal_store_wrap(t->runtime);
    t->team = cadre_team_new(t->runtime, "team");
    cadre_team_set_script(t->team, path);
    cadre_team_add_model(t->team, CADRE_MODEL(.name = "m", .model = "openai/m"));
    cadre_team_add_state(t->team,
                         CADRE_STATE_KEY(.key = "log", .reducer = CADRE_REDUCE_APPEND));
    return true;
}

static void close_case(end_case *t)
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

// From every commit it comes to the same end.
static void check_equal(end_case *t)
{
    cdr_buf told = CDR_BUF_INIT;
    cadre_reenter_result result;
    cadre_error_clear(&t->err);
    CHECK_OK(cadre_reenter(t->team,
                           CADRE_REENTER(.run = CADRE_RUN(.input = "Go."),
                                         .every_commit = true, .on_difference = tell,
                                         .ctx = &told),
                           &result, &t->err),
             &t->err);
    CHECK(result.n_commits > 1);
    CHECK_TEXT(cdr_buf_text(&told), "");
    cdr_buf_fini(&told);
}

// How a run ended.
typedef struct end {
    cadre_status status;
    cadre_stop_reason reason;
    char agent[72];  // whose failure it is
    char delta[200]; // of the root
    int n_commits;
} end;

static void take_end(end_case *t, cadre_run *run, end *out)
{
    const cadre_result *result = NULL;
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    cadre_error_clear(&t->err);
    out->status = cadre_run_wait(run, &result, &t->err);
    out->reason = result->stop_reason;
    snprintf(out->agent, sizeof out->agent, "%s", result->error.agent);
    out->n_commits = mortal_store_count();
    if (CHECK_OK(cadre_run_frames(run, &frames, &n, NULL), NULL) && CHECK(n > 0))
        snprintf(out->delta, sizeof out->delta, "%s", frames[0].delta);
    cadre_run_free(run);
}

// Runs it, cut after its nth commit and gone on with; 0: undisturbed.
static bool run_cut(end_case *t, const char *session, int at, end *out)
{
    cadre_run *run = NULL;
    char trace[64];
    cadre_error_clear(&t->err);
    *out = (end){.status = CADRE_OK};
    mortal_store_cut((store_cut){.at = at, .is_after = true});
    if (!CHECK_OK(cadre_run_start(t->team,
                                  CADRE_RUN(.input = "Go.", .session = session), &run,
                                  &t->err),
                  &t->err))
        return false;
    snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(run));
    take_end(t, run, out);
    mortal_store_cut((store_cut){0});
    cadre_error_clear(&t->err);
    if (at == 0 || out->status != CADRE_ESTORE)
        return true;
    if (!CHECK_OK(cadre_run_resume(t->team, trace, NULL, &run, &t->err), &t->err))
        return false;
    take_end(t, run, out);
    return true;
}

// Undisturbed, and cut after each commit but the last, after which it has ended.
static void check_ends(end_case *t, cadre_stop_reason reason, const char *agent,
                       const char *delta)
{
    end got;
    int n = 1;
    for (int at = 0; at < n && run_cut(t, NULL, at, &got); at++) {
        if (at == 0)
            n = got.n_commits;
        CHECK_TEXT(cadre_stop_reason_name(got.reason), cadre_stop_reason_name(reason));
        CHECK_TEXT(got.agent, agent);
        CHECK_TEXT(got.delta, delta);
    }
    CHECK(n > 1);
}

// --- Who works for a caller, and its reasons ---

static json_t *one(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return json_integer(1);
}

static cadre_status step(cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_step(frame, CADRE_STEP(.name = "one", .run = one), NULL, err);
}

// Its member works in a scope of its own, so that one's reason to stop is the lead's;
// then a step, which is a commit.
static cadre_status lead_scope(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_error failure = CADRE_ERROR_INIT;
    cadre_agents members = cadre_frame_members(frame);
    const cadre_scope scope = CADRE_SCOPE(.roster = members);
    (void)ctx;
    cadre_status status = cadre_frame_delegate(
        frame, CADRE_CALL(.agent = members.items[0], .scope = &scope), NULL, &failure);
    if (status != CADRE_OK && status != CADRE_EFAILED)
        return cadre_fail(err, status, "%s", failure.text);
    cadre_status stepped = step(frame, err);
    if (stepped != CADRE_OK || status == CADRE_OK)
        return stepped;
    return cadre_fail_class(err, status, failure.error_class, failure.retryable, "%s",
                            failure.text);
}

static void add_lead(end_case *t)
{
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "lead", .run = lead_scope,
                                                    .members = CADRE_NAMES("alice")));
    cadre_team_set_root(t->team, "lead");
}

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_set_output(frame, "seen", err);
}

static void add_alice_of_one_turn(end_case *t)
{
    cadre_team_add_tool(t->team,
                        CADRE_TOOL(.name = "look", .run = look, .replay_safe = true));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "alice", .model = "m", .max_turns = 1,
                                          .tools = CADRE_NAMES("look")));
}

static void test_end__keeps_the_reason_of_who_answered_in_a_scope(void)
{
    end_case t;
    if (!open_case(&t, "agents:\n"
                       "  alice:\n"
                       "    - {text: So far., tool_calls: [{name: look}]}\n"
                       "    - {text: So far., tool_calls: [{name: look}]}\n"))
        return;
    add_lead(&t);
    add_alice_of_one_turn(&t);
    check_ends(&t, CADRE_STOP_MAX_TURNS, "", "");
    check_equal(&t);
    close_case(&t);
}

static void test_end__keeps_the_reason_of_who_failed_in_a_scope(void)
{
    end_case t;
    if (!open_case(&t, "agents:\n"
                       "  alice:\n"
                       "    - {tool_calls: [{name: look}]}\n"
                       "    - {tool_calls: [{name: look}]}\n"))
        return;
    add_lead(&t);
    add_alice_of_one_turn(&t);
    check_ends(&t, CADRE_STOP_MAX_TURNS, "alice", "");
    check_equal(&t);
    close_case(&t);
}

// What is passed on after a step is still the member's.
static void test_end__blames_who_failed_before_a_step(void)
{
    end_case t;
    if (!open_case(&t, "agents:\n"
                       "  alice: [{error: {status: 401}}, {error: {status: 401}}]\n"))
        return;
    add_lead(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = "m"));
    check_ends(&t, CADRE_STOP_ERROR, "alice", "");
    check_equal(&t);
    close_case(&t);
}

// --- State of a turn that escalates, or hands over ---

static cadre_status log_text(cadre_frame *frame, const char *text, cadre_error *err)
{
    json_t *value = json_string(text);
    cadre_status status = cadre_frame_set_state(frame, "log", value, err);
    json_decref(value);
    return status;
}

static cadre_status log_call(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                             cadre_error *err)
{
    (void)ctx;
    return log_text(frame, call->name, err);
}

static cadre_status note(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    cadre_status status = log_text(frame, "noted", err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "noted", err) : status;
}

static cadre_status pass_to_bob(void *ctx, cadre_frame *frame, const json_t *arguments,
                                cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    cadre_status status = log_text(frame, "passed", err);
    return status == CADRE_OK ? cadre_frame_request_transfer(frame, "bob", "yours", err)
                              : status;
}

static cadre_status give_up(void *ctx, cadre_frame *frame, const json_t *arguments,
                            cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    cadre_status status = log_text(frame, "given up", err);
    return status == CADRE_OK ? cadre_frame_request_escalation(frame, "why", err)
                              : status;
}

static cadre_status call_and_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    (void)ctx;
    cadre_status status =
        cadre_frame_call(frame, CADRE_CALL(.agent = members.items[0]), NULL, err);
    return status == CADRE_OK ? step(frame, err) : status;
}

// Alice answers with these calls, and whoever works below `desk` commits once more.
static bool open_calls(end_case *t, const char *calls)
{
    char script[600];
    snprintf(script, sizeof script,
             "agents:\n"
             "  alice:\n"
             "    - {tool_calls: [%s]}\n"
             "    - {tool_calls: [%s]}\n"
             "  bob:\n"
             "    - {text: B}\n"
             "    - {text: B}\n",
             calls, calls);
    if (!open_case(t, script))
        return false;
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "lead", .run = call_and_step,
                                           .members = CADRE_NAMES("desk")));
    cadre_team_set_root(t->team, "lead");
    cadre_team_add_topology(
        t->team, "swarm",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_tool(t->team, CADRE_TOOL(.name = "up", .type = "escalate"));
    cadre_team_add_tool(t->team,
                        CADRE_TOOL(.name = "note", .run = note, .replay_safe = true));
    cadre_team_add_tool(
        t->team, CADRE_TOOL(.name = "pass", .run = pass_to_bob, .replay_safe = true));
    cadre_team_add_tool(
        t->team, CADRE_TOOL(.name = "give_up", .run = give_up, .replay_safe = true));
    cadre_team_add_llm(t->team,
                       CADRE_LLM(.name = "alice", .model = "m",
                                 .tools = CADRE_NAMES("up", "note", "pass", "give_up"),
                                 .hooks = CADRE_HOOKS(.before_tool = log_call)));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "bob", .model = "m"));
    return true;
}

static void check_log(const char *calls, const char *log)
{
    end_case t;
    char delta[200];
    snprintf(delta, sizeof delta, "{\"log\":[%s]}", log);
    if (!open_calls(&t, calls))
        return;
    check_ends(&t, CADRE_STOP_FINAL, "", delta);
    check_equal(&t);
    close_case(&t);
}

#define CALL(name) "{name: " name ", arguments: {}}"

// What the call has set that has its way comes last. One that has not had it failed, so
// what it set is not there.
static void test_end__counts_the_state_of_a_turn_that_escalates(void)
{
    check_log(CALL("escalate"), "\"escalate\"");
    check_log(CALL("escalate") ", " CALL("note") ", " CALL("escalate"),
              "\"note\",\"noted\",\"escalate\"");
    check_log(CALL("give_up") ", " CALL("note"),
              "\"note\",\"noted\",\"give_up\",\"given up\"");
}

static void test_end__counts_the_state_of_a_turn_that_hands_over(void)
{
    check_log(CALL("pass") ", " CALL("note"), "\"note\",\"noted\",\"pass\",\"passed\"");
    check_log(CALL("bob") ", " CALL("note") ", " CALL("escalate"),
              "\"note\",\"noted\",\"bob\"");
}

// --- A start that was kept, and reported as lost ---

// It is nobody else who went on with the session, but this run: it can be gone on with.
static void test_end__of_a_start_in_a_session_that_was_reported_as_lost(void)
{
    end_case t;
    end got;
    if (!open_case(&t, "agents: {bob: [{text: B}, {text: B}]}\n"))
        return;
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = "m"));
    for (int i = 0; i < 2; i++) { // the second finds a session that is there
        if (run_cut(&t, "talk", 1, &got))
            CHECK_OK(got.status, &t.err);
        CHECK_TEXT(cadre_stop_reason_name(got.reason), "final");
    }
    close_case(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_end__keeps_the_reason_of_who_answered_in_a_scope),
    CHECK_TEST(test_end__keeps_the_reason_of_who_failed_in_a_scope),
    CHECK_TEST(test_end__blames_who_failed_before_a_step),
    CHECK_TEST(test_end__counts_the_state_of_a_turn_that_escalates),
    CHECK_TEST(test_end__counts_the_state_of_a_turn_that_hands_over),
    CHECK_TEST(test_end__of_a_start_in_a_session_that_was_reported_as_lost),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/same_end", tests);
}
