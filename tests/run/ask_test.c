// Questions to people: a run parks when nothing else can go on, is answered, and goes
// on; and what others do to it from outside.
#include "support/check.h"
#include "support/team_case.h"

#include "cadre/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static team_case t;
static char trace[64];

// --- Agents ---

static cadre_status ask_one(cadre_frame *frame, const char *question, cadre_error *err)
{
    json_t *answer = NULL;
    json_t *text = json_string(question);
    cadre_status status = cadre_frame_ask(frame, NULL, text, &answer, err);
    json_decref(text);
    if (status != CADRE_OK)
        return status;
    const char *said =
        cadre_frame_printf(frame, "%s %s", question, json_string_value(answer));
    json_decref(answer);
    return cadre_frame_set_output(frame, said, err);
}

static cadre_status ask_colour(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return ask_one(frame, "colour?", err);
}

static cadre_status ask_size(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return ask_one(frame, "size?", err);
}

static cadre_status ask_choice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *answer = NULL;
    json_t *question = json_pack("{s:s,s:[s,s],s:i}", "question", "go on?", "choices",
                                 "yes", "no", "amount", 7);
    (void)ctx;
    cadre_status status = cadre_frame_ask(frame, "go", question, &answer, err);
    json_decref(question);
    if (status == CADRE_OK)
        status = cadre_frame_set_output(frame, json_string_value(answer), err);
    json_decref(answer);
    return status;
}

static int n_leads;

// Both branches ask at once; what they gave is put together.
static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    n_leads++;
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "colour")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "size"))};
    cadre_outcome out[2];
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), out, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "%s, %s", out[0].text, out[1].text), err);
}

// Makes nothing of what it is told.
static cadre_status stubborn(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_error ignored = CADRE_ERROR_INIT;
    (void)ctx;
    cadre_frame_call(frame, CADRE_CALL(.agent = cadre_frame_find(frame, "colour")),
                     NULL, &ignored);
    return cadre_frame_set_output(frame, "anyway", err);
}

static cadre_status lie(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return CADRE_EPARKED;
}

static void open_all(const char *root)
{
    team_case_open(&t);
    n_leads = 0;
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "colour", .run = ask_colour));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "size", .run = ask_size));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "choice", .run = ask_choice));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = lead,
                                           .members = CADRE_NAMES("colour", "size")));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "stubborn", .run = stubborn,
                                                   .members = CADRE_NAMES("colour")));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "liar", .run = lie));
    cadre_team_set_root(t.team, root);
}

// Runs until it parks. False: it did not.
static bool park(void)
{
    team_case_run(&t, "go");
    snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(t.run));
    return CHECK_STATUS(t.status, CADRE_EPARKED, &t.err) &&
           CHECK_INT(t.result->status, CADRE_FRAME_WAITING);
}

static void answer(const char *question, const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_string(text);
    CHECK_OK(cadre_trace_answer(t.runtime, trace, question, value, &err), &err);
    json_decref(value);
}

static void check_refused_answer(const char *question, const char *text,
                                 cadre_status expected, const char *part)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_string(text);
    CHECK_STATUS(cadre_trace_answer(t.runtime, trace, question, value, &err), expected,
                 &err);
    CHECK_CONTAINS(err.text, part);
    json_decref(value);
}

static void resume(void)
{
    cadre_run *run = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cadre_run_resume(t.team, trace, NULL, &run, &err), &err))
        return;
    cadre_run_free(t.run);
    recorder_fini(&t.recorder);
    t.run = run;
    t.err = (cadre_error)CADRE_ERROR_INIT;
    team_case_finish(&t);
}

// The question that an agent waits with.
static const char *question_of(const char *agent)
{
    static char id[64];
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    id[0] = '\0';
    CHECK_OK(cadre_run_frames(t.run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        if (strcmp(frames[i].kind, "ask") == 0 &&
            frames[i].status == CADRE_FRAME_WAITING &&
            strcmp(frames[frames[i].parent].name, agent) == 0)
            snprintf(id, sizeof id, "%s", frames[i].id);
    CHECK(id[0] != '\0');
    return id;
}

// All these lines are there and no others; those of branches come in any order.
static void check_frames(const char *expected)
{
    char *frames = team_case_frames(&t);
    char *lines = strdup(expected);
    char *rest = NULL;
    CHECK_INT(strlen(frames), strlen(expected));
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        CHECK_CONTAINS(frames, line);
    free(lines);
    free(frames);
}

// --- Tests ---

static void test_ask__parks_a_run_of_one_and_goes_on_with_the_answer(void)
{
    open_all("colour");
    if (park()) {
        CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_INTERRUPT),
                   "colour: colour? \n");
        CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_STREAM_END),
                       "waiting none");
        check_frames("agent colour root waiting none\n"
                     "  ask ask ask#1 waiting none\n");
        answer(NULL, "red");
        resume();
        team_case_check_answer(&t, "colour", "colour? red");
        check_frames("agent colour root completed final\n"
                     "  ask ask ask#1 completed final\n");
    }
    team_case_close(&t);
}

static void test_ask__takes_answers_of_branches_in_any_order(void)
{
    for (int first = 0; first < 2; first++) {
        open_all("lead");
        if (park()) {
            answer(question_of(first == 0 ? "size" : "colour"),
                   first == 0 ? "large" : "red");
            resume(); // the other one is still open
            CHECK_STATUS(t.status, CADRE_EPARKED, &t.err);
            CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_INTERRUPT),
                           first == 0 ? "colour?" : "size?");
            answer(NULL, first == 0 ? "red" : "large");
            resume();
            team_case_check_answer(&t, "lead", "colour? red, size? large");
            CHECK_INT(n_leads, 3);
        }
        team_case_close(&t);
    }
}

static void test_ask__takes_both_answers_at_once(void)
{
    open_all("lead");
    if (park()) {
        char second[64];
        snprintf(second, sizeof second, "%s", question_of("size"));
        check_refused_answer(NULL, "red", CADRE_EINVAL, "waits for 2 answers");
        answer(question_of("colour"), "red");
        answer(second, "large");
        resume();
        team_case_check_answer(&t, "lead", "colour? red, size? large");
    }
    team_case_close(&t);
}

static void test_ask__refuses_what_is_no_answer(void)
{
    open_all("choice");
    if (park()) {
        CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_INTERRUPT),
                   "choice: go on? [\"yes\",\"no\"]\n");
        check_refused_answer(NULL, "perhaps", CADRE_EINVAL, "yes, no");
        check_refused_answer(trace, "yes", CADRE_ENOTFOUND, trace);
        check_refused_answer("!", "yes", CADRE_EINVAL, "not the id");
        answer(NULL, "yes");
        answer(NULL, "yes"); // the same again
        check_refused_answer(NULL, "no", CADRE_EINVAL, "another answer");
        resume();
        team_case_check_answer(&t, "choice", "yes");
        check_refused_answer(NULL, "yes", CADRE_EINVAL, "has ended");
    }
    team_case_close(&t);
}

static void test_ask__parks_though_the_caller_takes_no_notice(void)
{
    open_all("stubborn");
    if (park()) {
        answer(NULL, "red");
        resume();
        team_case_check_answer(&t, "stubborn", "anyway");
    }
    team_case_close(&t);
}

static void test_ask__fails_who_says_it_waits_and_asks_nobody(void)
{
    open_all("liar");
    team_case_run(&t, "go");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "asks nobody");
    team_case_close(&t);
}

static void test_ask__ends_with_an_abort_from_outside(void)
{
    open_all("lead");
    if (park()) {
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_trace_wait(t.runtime, trace, false, 0, &err), CADRE_EPARKED,
                     &err);
        CHECK_OK(cadre_trace_abort(t.runtime, trace,
                                   CADRE_ABORT(.reason = "not needed"), NULL),
                 NULL);
        check_frames("agent lead root aborted aborted\n"
                     "  agent colour b1/1 aborted aborted\n"
                     "    ask ask ask#1 aborted aborted\n"
                     "  agent size b1/2 aborted aborted\n"
                     "    ask ask ask#1 aborted aborted\n");
        CHECK_OK(cadre_trace_wait(t.runtime, trace, false, 0, NULL), NULL);
        const cadre_frame_info *frames = NULL;
        size_t n = 0;
        CHECK_OK(cadre_run_frames(t.run, &frames, &n, NULL), NULL);
        CHECK_TEXT(frames[0].abort_reason, "request: not needed");
        CHECK_TEXT(frames[0].error.message, "aborted: not needed");
        check_refused_answer(NULL, "red", CADRE_EINVAL, "has ended");
        cadre_run *run = NULL;
        err = (cadre_error)CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_run_resume(t.team, trace, NULL, &run, &err), CADRE_EINVAL,
                     &err);
    }
    team_case_close(&t);
}

// --- While others work ---

typedef struct gate {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    bool is_open;
} gate;

static gate open_gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static json_t *pass_gate(void *ctx, cadre_frame *frame, cadre_error *err)
{
    gate *g = ctx;
    (void)frame;
    (void)err;
    pthread_mutex_lock(&g->mu);
    while (!g->is_open)
        pthread_cond_wait(&g->changed, &g->mu);
    pthread_mutex_unlock(&g->mu);
    return json_true();
}

static void set_gate(bool is_open)
{
    pthread_mutex_lock(&open_gate.mu);
    open_gate.is_open = is_open;
    pthread_cond_broadcast(&open_gate.changed);
    pthread_mutex_unlock(&open_gate.mu);
}

static cadre_status pass(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "gate", .run = pass_gate, .ctx = &open_gate), NULL,
        err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "passed", err) : status;
}

static cadre_status wait_for_size(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "colour")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "pass"))};
    cadre_outcome out[2];
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), out, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "%s, %s", out[0].text, out[1].text), err);
}

static void open_slow(void)
{
    open_all("slow");
    set_gate(false);
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "pass", .run = pass));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "slow", .run = wait_for_size,
                                           .members = CADRE_NAMES("colour", "pass")));
}

// Starts it and reads until the question is there.
static bool start_asking(void)
{
    const cadre_event *event = NULL;
    if (team_case_start(&t, CADRE_RUN(.input = "go")) == NULL)
        return false;
    snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(t.run));
    while (cadre_run_next(t.run, &event, NULL) == CADRE_OK) {
        recorder_add(&t.recorder, event);
        if (event->type == CADRE_EVENT_INTERRUPT)
            return true;
    }
    return CHECK(false);
}

static void test_ask__goes_on_beside_one_who_works(void)
{
    open_slow();
    if (start_asking()) {
        answer(NULL, "red");
        set_gate(true);
        team_case_finish(&t);
        team_case_check_answer(&t, "slow", "colour? red, passed");
        CHECK_INT(t.recorder.n_events > 0, 1);
    }
    team_case_close(&t);
}

static void test_ask__keeps_what_others_finished_when_it_parks(void)
{
    open_slow();
    if (start_asking()) {
        set_gate(true);
        team_case_finish(&t);
        CHECK_STATUS(t.status, CADRE_EPARKED, &t.err);
        check_frames("agent slow root waiting none\n"
                     "  agent colour b1/1 waiting none\n"
                     "    ask ask ask#1 waiting none\n"
                     "  agent pass b1/2 completed final\n"
                     "    tool gate gate#1 completed final\n");
        set_gate(false); // it is not passed again
        answer(NULL, "red");
        resume();
        team_case_check_answer(&t, "slow", "colour? red, passed");
    }
    team_case_close(&t);
}

static void test_ask__stops_with_a_part_of_its_run(void)
{
    open_slow();
    if (start_asking()) {
        const cadre_frame_info *frames = NULL;
        size_t n = 0;
        CHECK_OK(cadre_run_frames(t.run, &frames, &n, NULL), NULL);
        char colour[64];
        snprintf(colour, sizeof colour, "%s", frames[1].id);
        CHECK_OK(
            cadre_trace_abort(t.runtime, trace, CADRE_ABORT(.frame = colour), NULL),
            NULL);
        set_gate(true);
        team_case_finish(&t);
        CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
        check_frames("agent slow root failed error\n"
                     "  agent colour b1/1 aborted aborted\n"
                     "    ask ask ask#1 aborted aborted\n"
                     "  agent pass b1/2 completed final\n"
                     "    tool gate gate#1 completed final\n");
    }
    team_case_close(&t);
}

static void test_ask__stops_with_the_whole_run(void)
{
    open_slow();
    if (start_asking()) {
        CHECK_OK(
            cadre_trace_abort(t.runtime, trace, CADRE_ABORT(.reason = "enough"), NULL),
            NULL);
        set_gate(true);
        team_case_finish(&t);
        CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
        CHECK_TEXT(t.err.text, "aborted: enough");
    }
    team_case_close(&t);
}

// --- Deeper ---

static cadre_status wait_for_outer(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "inner")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "pass"))};
    return cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), NULL,
                             err);
}

static cadre_status quick(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_set_output(frame, "quick", err);
}

static cadre_status inner(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = cadre_frame_find(frame, "quick")),
        CADRE_CALL(.agent = cadre_frame_find(frame, "colour"))};
    return cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), NULL,
                             err);
}

// The last branch of the outer batch ends while the other waits in a batch of its own,
// on the strand of the outer one.
static void test_ask__parks_when_batches_nest(void)
{
    open_all("outer");
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "pass", .run = pass));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "quick", .run = quick));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "inner", .run = inner,
                                           .members = CADRE_NAMES("quick", "colour")));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "outer", .run = wait_for_outer,
                                           .members = CADRE_NAMES("inner", "pass")));
    for (int i = 0; i < 50; i++) {
        set_gate(false);
        if (!start_asking())
            break;
        set_gate(true);
        team_case_finish(&t);
        CHECK_STATUS(t.status, CADRE_EPARKED, &t.err);
        CHECK_OK(cadre_trace_abort(t.runtime, trace, NULL, NULL), NULL);
    }
    team_case_close(&t);
}

static json_t *ask_in_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *answer = NULL;
    json_t *question = json_string("really?");
    (void)ctx;
    cadre_frame_ask(frame, NULL, question, &answer, err);
    json_decref(question);
    return answer;
}

static cadre_status step_and_ask(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *value = NULL;
    (void)ctx;
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "sure", .run = ask_in_step), &value, err);
    if (status == CADRE_OK)
        status = cadre_frame_set_output(frame, json_string_value(value), err);
    json_decref(value);
    return status;
}

static void test_ask__parks_in_a_step(void)
{
    open_all("stepper");
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "stepper", .run = step_and_ask));
    if (park()) {
        check_frames("agent stepper root waiting none\n"
                     "  tool sure sure#1 waiting none\n"
                     "    ask ask ask#1 waiting none\n");
        answer(NULL, "yes");
        resume();
        team_case_check_answer(&t, "stepper", "yes");
    }
    team_case_close(&t);
}

static cadre_status ask_with_own_key(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *question = json_string("hm?");
    cadre_status status = cadre_frame_ask(frame, ctx, question, NULL, err);
    json_decref(question);
    return status;
}

static void test_ask__refuses_keys_of_the_framework(void)
{
    static char key[] = "approval";
    open_all("thief");
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "thief", .ctx = key, .run = ask_with_own_key));
    team_case_run(&t, "go");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "the key 'approval' is the framework's own");
    team_case_close(&t);
}

static void test_ask__refuses_an_answer_that_could_not_be_read_back(void)
{
    open_all("colour");
    if (park()) {
        cadre_error err = CADRE_ERROR_INIT;
        json_t *deep = json_array();
        for (int i = 0; i < 200; i++) {
            json_t *outer = json_array();
            json_array_append_new(outer, deep);
            deep = outer;
        }
        CHECK_STATUS(cadre_trace_answer(t.runtime, trace, NULL, deep, &err),
                     CADRE_EINVAL, &err);
        CHECK_CONTAINS(err.text, "128 levels");
        json_decref(deep);
    }
    team_case_close(&t);
}

// --- Time, transfers, sessions ---

static cadre_status hurry(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = cadre_frame_find(frame, "colour"), .timeout_ms = 100),
        CADRE_CALL(.agent = cadre_frame_find(frame, "pass"))};
    cadre_outcome out[2];
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), out, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, out[0].text, err)
                              : status;
}

static void test_ask__takes_nobodys_time(void)
{
    team_case_open_fake(&t);
    set_gate(false);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "colour", .run = ask_colour));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "pass", .run = pass));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "hurried", .run = hurry,
                                           .members = CADRE_NAMES("colour", "pass")));
    cadre_team_set_root(t.team, "hurried");
    if (start_asking()) {
        cdr_clock_advance(t.clock, 5000);
        answer(NULL, "red");
        set_gate(true);
        team_case_finish(&t);
        team_case_check_answer(&t, "hurried", "colour? red");
    }
    team_case_close(&t);
}

static void test_ask__parks_behind_a_transfer_and_in_a_session(void)
{
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "colour")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .handoffs = CADRE_NAMES("colour")));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "colour", .run = ask_colour));
    DRIVEN("alice", "to colour ask them", "say again");
    team_case_run_with(&t, CADRE_RUN(.input = "go", .session = "s"));
    snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(t.run));
    if (CHECK_STATUS(t.status, CADRE_EPARKED, &t.err)) {
        check_frames("agent desk root waiting none\n"
                     "  agent alice alice#1 waiting none\n"
                     "    model driven/test 1 completed final\n"
                     "    tool transfer_to_agent 1/0 completed final\n"
                     "    agent colour transfer waiting none\n"
                     "      ask ask ask#1 waiting none\n");
        cadre_run *other = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_run_start(t.team, CADRE_RUN(.input = "hm", .session = "s"),
                                     &other, &err),
                     CADRE_EBUSY, &err);
        answer(NULL, "red");
        resume();
        team_case_check_answer(&t, "colour", "colour? red");
        CHECK_INT(driven_count("alice"), 1);
        team_case_run_with(&t, CADRE_RUN(.input = "and?", .session = "s"));
        CHECK_STATUS(t.status, CADRE_EPARKED, &t.err); // colour spoke last
    }
    team_case_close(&t);
}

// A turn that asks and hands over: the handover is decided when all is answered,
// however often it goes on before.
static void test_ask__keeps_a_handover_of_the_turn(void)
{
    team_case_open(&t);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "person", .type = "ask"));
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("person"),
                                         .handoffs = CADRE_NAMES("bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    DRIVEN("alice", "call person {\"question\":\"which?\"}\nto bob please",
           "say again");
    DRIVEN("bob", "say here I am");
    if (park()) {
        for (int i = 0; i < 6; i++) {
            resume(); // nobody has answered yet
            CHECK_STATUS(t.status, CADRE_EPARKED, &t.err);
        }
        answer(NULL, "this");
        resume();
        team_case_check_answer(&t, "bob", "here I am");
    }
    team_case_close(&t);
}

// --- Tools that need approval ---

static adder adds;

static cadre_status add(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err)
{
    adder *self = ctx;
    (void)arguments;
    atomic_fetch_add(&self->n_runs, 1);
    return cadre_frame_set_output(frame, "paid", err);
}

static void open_payer(const char *answers)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "pay", .run = add, .ctx = &adds,
                                           .needs_approval = true,
                                           .parameters = "{\"type\": \"object\"}"));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "look", .run = add, .ctx = &adds));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "person", .type = "ask"));
    cadre_team_add_llm(t.team,
                       CADRE_LLM(.name = "payer", .model = DRIVEN_MODEL,
                                 .tools = CADRE_NAMES("pay", "look", "person")));
    if (answers != NULL)
        DRIVEN("payer", answers, "say done");
}

static void test_approval__is_asked_before_the_tool_runs(void)
{
    open_payer("call pay {\"euros\":7}");
    if (park()) {
        CHECK_INT(atomic_load(&adds.n_runs), 0);
        CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_INTERRUPT),
                   "payer: May payer call pay? [\"yes\",\"no\"]\n");
        check_frames("agent payer root waiting none\n"
                     "  model driven/test 1 completed final\n"
                     "  tool pay 1/0 pending none\n"
                     "    ask ask approval waiting none\n");
        answer(NULL, "yes");
        resume();
        team_case_check_answer(&t, "payer", "done");
        CHECK_INT(atomic_load(&adds.n_runs), 1);
        CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "payer: pay ok paid\n");
    }
    team_case_close(&t);
}

static void test_approval__that_is_not_given_is_told_to_the_model(void)
{
    open_payer("call pay {\"euros\":7}");
    if (park()) {
        answer(NULL, "no");
        resume();
        team_case_check_answer(&t, "payer", "done");
        CHECK_INT(atomic_load(&adds.n_runs), 0);
        CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "payer: pay blocked Not done: a person did not allow this call.\n");
    }
    team_case_close(&t);
}

static void test_approval__holds_up_no_other_tool_of_the_turn(void)
{
    open_payer(NULL);
    DRIVEN("payer",
           "call pay {\"euros\":7}\ncall look\ncall person {\"question\":\"which?\"}",
           "say done");
    if (park()) {
        CHECK_INT(atomic_load(&adds.n_runs), 1); // look
        check_frames("agent payer root waiting none\n"
                     "  model driven/test 1 completed final\n"
                     "  tool pay 1/0 pending none\n"
                     "  tool look 1/1 completed final\n"
                     "  tool person 1/2 waiting none\n"
                     "    ask ask approval waiting none\n"
                     "    ask ask ask#1 waiting none\n");
        char person[64];
        snprintf(person, sizeof person, "%s", question_of("person"));
        answer(person, "the second");
        resume();
        CHECK_STATUS(t.status, CADRE_EPARKED, &t.err);
        answer(NULL, "yes");
        resume();
        team_case_check_answer(&t, "payer", "done");
        CHECK_INT(atomic_load(&adds.n_runs), 2);
        CHECK_CONTAINS(driven_request("payer", 1), "call00003: the second");
        CHECK_CONTAINS(driven_request("payer", 1), "tool call00001: paid");
        CHECK_LACKS(driven_request("payer", 1), "yes");
    }
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_ask__parks_a_run_of_one_and_goes_on_with_the_answer),
    CHECK_TEST(test_ask__takes_answers_of_branches_in_any_order),
    CHECK_TEST(test_ask__takes_both_answers_at_once),
    CHECK_TEST(test_ask__refuses_what_is_no_answer),
    CHECK_TEST(test_ask__parks_though_the_caller_takes_no_notice),
    CHECK_TEST(test_ask__fails_who_says_it_waits_and_asks_nobody),
    CHECK_TEST(test_ask__ends_with_an_abort_from_outside),
    CHECK_TEST(test_ask__goes_on_beside_one_who_works),
    CHECK_TEST(test_ask__keeps_what_others_finished_when_it_parks),
    CHECK_TEST(test_ask__stops_with_a_part_of_its_run),
    CHECK_TEST(test_ask__stops_with_the_whole_run),
    CHECK_TEST(test_ask__parks_when_batches_nest),
    CHECK_TEST(test_ask__parks_in_a_step),
    CHECK_TEST(test_ask__refuses_keys_of_the_framework),
    CHECK_TEST(test_ask__refuses_an_answer_that_could_not_be_read_back),
    CHECK_TEST(test_ask__takes_nobodys_time),
    CHECK_TEST(test_ask__parks_behind_a_transfer_and_in_a_session),
    CHECK_TEST(test_ask__keeps_a_handover_of_the_turn),
    CHECK_TEST(test_approval__is_asked_before_the_tool_runs),
    CHECK_TEST(test_approval__that_is_not_given_is_told_to_the_model),
    CHECK_TEST(test_approval__holds_up_no_other_tool_of_the_turn),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/ask", tests);
}
