// The public doors: whatever is NULL, out of range or no text is refused with its name,
// or ignored where nothing can be returned; nothing crashes.
#include "cadre/ext/agent.h"
#include "cadre/ext/id.h"
#include "cadre/ext/json_scan.h"
#include "cadre/ext/model.h"
#include "cadre/ext/script.h"
#include "cadre/ext/turn.h"

#include "support/check.h"
#include "support/team_case.h"

#include <stdio.h>

static team_case t;

// Each call below is made with a fresh error `why`, must be refused and must say
// something.
#define REFUSED(call)                                                                  \
    do {                                                                               \
        cadre_error why = CADRE_ERROR_INIT;                                            \
        CHECK_STATUS((call), CADRE_EINVAL, &why);                                      \
        CHECK(why.text[0] != '\0');                                                    \
        CHECK_INT(why.status, CADRE_EINVAL);                                           \
    } while (0)

// --- No object ---

static void test_doors__runs_and_runtimes_take_null(void)
{
    cadre_run *run = NULL;
    cadre_team *team = NULL;
    const cadre_event *event = NULL;
    const cadre_result *result = NULL;
    const cadre_frame_info *frames = NULL;
    cadre_kind_info kind;
    size_t n = 7;
    REFUSED(cadre_run_start(NULL, CADRE_RUN(.input = "x"), &run, &why));
    REFUSED(cadre_run_start(NULL, NULL, NULL, &why));
    REFUSED(cadre_run_next(NULL, &event, &why));
    REFUSED(cadre_run_wait(NULL, &result, &why));
    REFUSED(cadre_run_frames(NULL, &frames, &n, &why));
    cadre_run_cancel(NULL, "why");
    cadre_run_free(NULL);
    CHECK_TEXT(cadre_run_trace_id(NULL), "");
    REFUSED(cadre_runtime_open(NULL, NULL, &why));
    REFUSED(cadre_runtime_register(NULL, NULL, &why));
    REFUSED(cadre_runtime_register_tool(NULL, NULL, &why));
    REFUSED(cadre_runtime_register_model(NULL, NULL, &why));
    cadre_runtime_close(NULL);
    CHECK(!cadre_kind_at(CADRE_KIND_AGENT, 0, NULL));
    CHECK(cadre_kind_at(CADRE_KIND_AGENT, 0, &kind));
    REFUSED(cadre_team_load(NULL, NULL, &team, &why));
    REFUSED(cadre_team_seal(NULL, &why));
    CHECK(run == NULL && team == NULL && event == NULL && result == NULL);
}

static void test_doors__teams_and_agents_take_null(void)
{
    size_t n = 7;
    CHECK(cadre_team_new(NULL, NULL) == NULL);
    cadre_team_free(NULL);
    CHECK(cadre_team_add_llm(NULL, NULL) == NULL);
    CHECK(cadre_team_add_topology(NULL, NULL, NULL) == NULL);
    CHECK(cadre_team_add_function(NULL, NULL) == NULL);
    cadre_team_add_model(NULL, NULL);
    cadre_team_add_tool(NULL, NULL);
    cadre_team_set_root(NULL, NULL);
    cadre_team_set_script(NULL, NULL);
    CHECK(cadre_team_problems(NULL, &n) == NULL);
    CHECK_INT(n, 0);
    CHECK(cadre_team_problems(NULL, NULL) == NULL);
    CHECK(cadre_team_problem_file(NULL, 0) == NULL);
    CHECK(cadre_team_notes(NULL, &n) == NULL);
    CHECK_INT(n, 0);
    CHECK(cadre_team_notes(NULL, NULL) == NULL);
    CHECK_TEXT(cadre_team_name(NULL), "");
    CHECK(cadre_team_root(NULL) == NULL);
    CHECK(cadre_team_find(NULL, NULL) == NULL);
    CHECK_INT(cadre_team_agents(NULL).count, 0);
    CHECK_TEXT(cadre_agent_get_info(NULL)->name, "");
    CHECK_INT(cadre_agent_members(NULL).count, 0);
    CHECK_INT(cadre_agent_handoffs(NULL).count, 0);
}

static void test_doors__operations_of_a_frame_take_null(void)
{
    json_t *value = NULL;
    int64_t ms = 0;
    uint64_t bits = 0;
    size_t n = 0;
    const cadre_message *const *messages = NULL;
    cadre_answer answer = {NULL, CADRE_FINISH_NONE};
    cadre_round round;
    REFUSED(cadre_frame_delegate(NULL, NULL, NULL, &why));
    REFUSED(cadre_frame_call(NULL, NULL, NULL, &why));
    REFUSED(cadre_frame_batch(NULL, NULL, NULL, &why));
    REFUSED(cadre_frame_transfer(NULL, NULL, &why));
    REFUSED(cadre_frame_step(NULL, NULL, &value, &why));
    REFUSED(cadre_frame_now(NULL, &ms, &why));
    REFUSED(cadre_frame_random(NULL, &bits, &why));
    REFUSED(cadre_frame_set_output(NULL, "x", &why));
    REFUSED(cadre_frame_messages(NULL, &messages, &n, &why));
    REFUSED(cadre_frame_sleep(NULL, 1, &why));
    REFUSED(cadre_frame_ask_model(NULL, NULL, &answer, &why));
    REFUSED(cadre_frame_run_tools(NULL, &answer, &round, &why));
    REFUSED(cadre_frame_take_answer(NULL, &answer, &why));
    REFUSED(cadre_frame_correct(NULL, "x", &why));
    REFUSED(cadre_frame_stop(NULL, CADRE_STOP_LIMIT, &why, "x"));
    REFUSED(cadre_frame_request_transfer(NULL, "a", "b", &why));
}

static void test_doors__questions_to_no_frame_have_an_answer(void)
{
    const cadre_agents none = {NULL, 0};
    cadre_frame_emit(NULL, "x", 1);
    CHECK_TEXT(cadre_frame_input(NULL), "");
    CHECK(cadre_frame_input_json(NULL) == NULL);
    CHECK(cadre_frame_agent(NULL) == NULL);
    CHECK_INT(cadre_frame_members(NULL).count, 0);
    CHECK(cadre_frame_find(NULL, NULL) == NULL);
    CHECK(cadre_frame_last_speaker(NULL, none) == NULL);
    CHECK_TEXT(cadre_frame_id(NULL), "");
    CHECK_TEXT(cadre_frame_path(NULL), "");
    CHECK(cadre_frame_is_stopped(NULL)); // so that a loop over it ends
    CHECK_INT(cadre_frame_cancel_fd(NULL), -1);
    CHECK_INT(cadre_frame_remaining_ms(NULL), 0);
    CHECK(cadre_frame_alloc(NULL, 8) == NULL);
    CHECK(cadre_frame_printf(NULL, "x") == NULL);
    CHECK(cadre_frame_scope(NULL) == NULL);
    CHECK_INT(cadre_frame_targets(NULL).count, 0);
    CHECK_TEXT(cadre_frame_idempotency_key(NULL), "");
}

static void test_doors__extensions_take_null(void)
{
    cadre_script *script = NULL;
    const cadre_script_step *step = NULL;
    bool is_error = false;
    int used = 0;
    cadre_id id = {0, 0};
    REFUSED(cadre_script_load(NULL, &script, &why));
    REFUSED(cadre_script_next(NULL, "a", "b", &used, &step, &why));
    CHECK_INT(cadre_script_length(NULL, NULL), 0);
    CHECK(!cadre_script_is_strict(NULL));
    CHECK_INT(cadre_script_agents(NULL).count, 0);
    CHECK(cadre_script_tool_result(NULL, NULL, 0, &is_error) == NULL);
    cadre_script_free(NULL);
    cadre_id_text(id, NULL);
    CHECK(!cadre_id_parse(NULL, &id));
    cadre_http_set_url(NULL, "x");
    cadre_http_set_header(NULL, "a", "b");
    cadre_http_append(NULL, "a", 1);
    cadre_http_append_string(NULL, "a");
    cadre_http_append_escaped(NULL, "a");
    cadre_http_append_json(NULL, NULL);
    cadre_http_append_item(NULL, NULL, "f", NULL);
    cadre_sink_text(NULL, "a", 1);
    cadre_sink_reasoning(NULL, "a", 1);
    CHECK_INT(cadre_sink_call_count(NULL), 0);
    CHECK_INT(cadre_sink_add_call(NULL), 0);
    cadre_sink_call_id(NULL, 0, "a", 1);
    cadre_sink_call_name(NULL, 0, "a", 1);
    cadre_sink_call_arguments(NULL, 0, "a", 1);
    CHECK_TEXT(cadre_sink_get_call_id(NULL, 0), "");
    cadre_sink_usage(NULL, NULL);
    cadre_sink_finish(NULL, CADRE_FINISH_STOP);
    cadre_sink_end(NULL);
    CHECK_INT(cadre_fail_http(NULL, 500, NULL, NULL), CADRE_EIO);
}

static void test_doors__scanners_and_errors_take_null(void)
{
    char out[8];
    cadre_scan scan;
    cadre_scan_text text = {"", 0, false};
    int64_t number = 0;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_scan_init(NULL, "1", 1);
    cadre_scan_init(&scan, NULL, 4);
    CHECK_INT(cadre_scan_peek(&scan), CADRE_SCAN_NONE);
    CHECK_INT(cadre_scan_peek(NULL), CADRE_SCAN_NONE);
    CHECK(!cadre_scan_object(NULL) && !cadre_scan_array(NULL));
    CHECK(!cadre_scan_key(NULL, &text) && !cadre_scan_item(NULL));
    CHECK(!cadre_scan_string(NULL, &text) && !cadre_scan_integer(NULL, &number));
    CHECK(!cadre_scan_raw(NULL, &text));
    cadre_scan_skip(NULL);
    CHECK(!cadre_scan_is_done(NULL) && !cadre_scan_is_cut(NULL));
    CHECK_INT(cadre_scan_unescape(NULL, out, sizeof out), 0);
    CHECK_TEXT(cadre_scan_copy(text, NULL, 0), "");
    cadre_error_clear(NULL);
    CHECK_INT(cadre_error_class_from_name(NULL), CADRE_CLASS_NONE);
    CHECK_INT(cadre_fail(&err, CADRE_EIO, NULL), CADRE_EIO);
    CHECK_TEXT(err.text, "io");
}

// --- A run, and arguments of it that make no sense ---

// What a run may not be started with, and what the error says.
static void check_config(const cadre_run_config *config, const char *text)
{
    cadre_run *run = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_run_start(t.team, config, &run, &err), CADRE_EINVAL, &err);
    CHECK_TEXT(err.text, text);
    CHECK(run == NULL);
}

static void test_doors__a_run_is_not_started_with_nonsense(void)
{
    static const char limit[] =
        "; it must be at least 1, 0 for the default, or CADRE_UNLIMITED";
    char text[200];
    team_case_open(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL));
    check_config(CADRE_RUN(.input = "caf\xE9"),
                 "cadre_run_config.input is not UTF-8: byte 0xE9 at offset 3");
    check_config(CADRE_RUN(.input = "hi", .session = "\xFF"),
                 "cadre_run_config.session is not UTF-8: byte 0xFF at offset 0");
    check_config(CADRE_RUN(.input = "hi", .timeout_ms = -5),
                 "cadre_run_config.timeout_ms is -5; it must be at least 1, or 0 for "
                 "none");
    snprintf(text, sizeof text, "cadre_run_config.limits.max_depth is -9%s", limit);
    check_config(CADRE_RUN(.input = "hi", .limits = {.max_depth = -9}), text);
    snprintf(text, sizeof text, "cadre_run_config.limits.max_model_calls is -2%s",
             limit);
    check_config(CADRE_RUN(.input = "hi", .limits = {.max_model_calls = -2}), text);
    snprintf(text, sizeof text, "cadre_run_config.limits.max_tool_calls is -3%s",
             limit);
    check_config(CADRE_RUN(.input = "hi", .limits = {.max_tool_calls = -3}), text);
    REFUSED(cadre_run_start(t.team, CADRE_RUN(.input = "hi"), NULL, &why));
    DRIVEN("solo", "say fine");
    team_case_run_with(
        &t, CADRE_RUN(.input = "hi", .timeout_ms = INT64_MAX,
                      .limits = {CADRE_UNLIMITED, CADRE_UNLIMITED, CADRE_UNLIMITED}));
    CHECK_OK(t.status, &t.err);
    REFUSED(cadre_run_next(t.run, NULL, &why));
    REFUSED(cadre_run_frames(t.run, NULL, NULL, &why));
    team_case_close(&t);
}

static void test_doors__a_team_is_not_sealed_with_nonsense(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    team_case_open(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .timeout_ms = -1, .max_turns = -9,
                                         .max_bad_calls = -2));
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk", .timeout_ms = -1,
                                           .members = CADRE_NAMES("solo")));
    CHECK_STATUS(cadre_team_seal(t.team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(t.team, &n);
    if (CHECK_INT(n, 4)) {
        CHECK_CONTAINS(problems[0], "'solo': timeout_ms: expected at least 1, or 0");
        CHECK_CONTAINS(problems[1], "max_turns");
        CHECK_CONTAINS(problems[1], "-9");
        CHECK_CONTAINS(problems[2], "max_bad_calls");
        CHECK_CONTAINS(problems[3], "'desk': timeout_ms: expected at least 1, or 0");
    }
    team_case_close(&t);
}

// --- Inside a frame ---

static void check_call(cadre_frame *frame, const cadre_call *call, const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_outcome outcome;
    CHECK_STATUS(cadre_frame_call(frame, call, &outcome, &err), CADRE_EINVAL, &err);
    CHECK_TEXT(err.text, text);
}

static void check_calls(cadre_frame *frame)
{
    const cadre_agent *bob = cadre_frame_find(frame, "bob");
    const cadre_agent *const roster[] = {bob};
    cadre_scope scope = CADRE_SCOPE(.roster = {roster, 1}, .limits = {.repeat = -4});
    check_call(frame, CADRE_CALL(.agent = bob, .timeout_ms = -1),
               "'lead': cadre_call.timeout_ms is -1; it must be at least 1, or 0 for "
               "none");
    check_call(frame, CADRE_CALL(.agent = bob, .input = "a\xC3"),
               "'lead': cadre_call.input is not UTF-8: byte 0xC3 at offset 1");
    check_call(frame, CADRE_CALL(.agent = bob, .key = "\x80"),
               "'lead': cadre_call.key is not UTF-8: byte 0x80 at offset 0");
    check_call(frame, CADRE_CALL(.agent = bob, .history = (cadre_history)9),
               "'lead': cadre_call.history is 9, which is no cadre_history");
    check_call(frame, CADRE_CALL(.agent = bob, .flags = 12),
               "'lead': cadre_call.flags is 0xc; only CADRE_CALL_QUIET, "
               "CADRE_CALL_ONCE and CADRE_CALL_FINAL are known");
    check_call(frame, CADRE_CALL(.agent = bob, .scope = &scope),
               "'lead': cadre_scope.limits.repeat is -4; it must be at least 1, 0 for "
               "the default, or CADRE_UNLIMITED");
    scope = (cadre_scope)CADRE_SCOPE(.limits = {.node_timeout_ms = -7});
    check_call(frame, CADRE_CALL(.agent = bob, .scope = &scope),
               "'lead': cadre_scope.limits.node_timeout_ms is -7; it must be at least "
               "1, or 0 for none");
    scope = (cadre_scope)CADRE_SCOPE(.roster = {NULL, 2});
    check_call(frame, CADRE_CALL(.agent = bob, .scope = &scope),
               "'lead': cadre_scope.roster is NULL, not 2 items");
    REFUSED(cadre_frame_batch(frame, CADRE_BATCH(.n_calls = 2), NULL, &why));
}

static json_t *never_run(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    CU_FAIL("a step that was refused ran");
    return NULL;
}

static cadre_status try_doors(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_answer answer = {NULL, CADRE_FINISH_NONE};
    cadre_round round;
    check_calls(frame);
    REFUSED(cadre_frame_call(frame, NULL, NULL, &why));
    REFUSED(cadre_frame_batch(frame, NULL, NULL, &why));
    REFUSED(cadre_frame_step(frame, NULL, NULL, &why));
    REFUSED(cadre_frame_step(frame, CADRE_STEP(.name = "\xFE", .run = never_run), NULL,
                             &why));
    REFUSED(cadre_frame_now(frame, NULL, &why));
    REFUSED(cadre_frame_random(frame, NULL, &why));
    REFUSED(cadre_frame_set_output(frame, NULL, &why));
    REFUSED(cadre_frame_messages(frame, NULL, NULL, &why));
    REFUSED(cadre_frame_ask_model(frame, NULL, &answer, &why));
    REFUSED(cadre_frame_run_tools(frame, NULL, &round, &why));
    REFUSED(cadre_frame_run_tools(frame, &answer, NULL, &why));
    REFUSED(cadre_frame_take_answer(frame, NULL, &why));
    REFUSED(cadre_frame_take_answer(frame, &answer, &why));
    REFUSED(cadre_frame_correct(frame, NULL, &why));
    REFUSED(cadre_frame_correct(frame, "\xFE", &why));
    cadre_frame_emit(frame, NULL, 3);
    cadre_frame_emit(frame, "", 0);
    CHECK(cadre_frame_find(frame, NULL) == NULL);
    CHECK(cadre_frame_printf(frame, NULL) == NULL);
    CHECK(cadre_frame_last_speaker(frame, (cadre_agents){NULL, 3}) == NULL);
    return cadre_frame_set_output(frame, "still here", err);
}

static void test_doors__a_frame_survives_every_wrong_argument(void)
{
    team_case_open(&t);
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "lead", .run = try_doors,
                                                   .members = CADRE_NAMES("bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "still here");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_FRAME_START), 1);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TEXT_DELTA), 0);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_doors__runs_and_runtimes_take_null),
    CHECK_TEST(test_doors__teams_and_agents_take_null),
    CHECK_TEST(test_doors__operations_of_a_frame_take_null),
    CHECK_TEST(test_doors__questions_to_no_frame_have_an_answer),
    CHECK_TEST(test_doors__extensions_take_null),
    CHECK_TEST(test_doors__scanners_and_errors_take_null),
    CHECK_TEST(test_doors__a_run_is_not_started_with_nonsense),
    CHECK_TEST(test_doors__a_team_is_not_sealed_with_nonsense),
    CHECK_TEST(test_doors__a_frame_survives_every_wrong_argument),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/doors", tests);
}
