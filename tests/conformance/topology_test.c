// What every topology must keep to, alone and as a member of each other; each claim is
// tried on all that are built in and on one from outside. Being cut is in
// topology_cut_test.c.
#include "support/check.h"
#include "support/recorder.h"
#include "support/topology_case.h"

#include "cadre/shape.h"
#include "cadre/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct played {
    test_folder folder;
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_run *run;
    recorder recorder;
    const cadre_result *result;
    const cadre_frame_info *frames;
    size_t n_frames;
    cadre_status status;
    cadre_error err;
} played;

static played p;

// What failed, besides the check: which types they were.
static void name_failure(const topology_case *it, unsigned n_before)
{
    if (CU_get_number_of_failures() > n_before)
        fprintf(stderr, "  of: %s%s%s\n", it->outer, it->inner == NULL ? "" : " over ",
                it->inner == NULL ? "" : it->inner);
}

static bool open_case(const topology_case *it)
{
    memset(&p, 0, sizeof p);
    if (!CHECK(folder_make(&p.folder)) ||
        !CHECK_OK(
            cadre_runtime_open(CADRE_RUNTIME(.offline = true), &p.runtime, &p.err),
            &p.err))
        return false;
    p.team = topology_case_make(it, p.runtime, &p.folder);
    return CHECK_OK(cadre_team_seal(p.team, &p.err), &p.err);
}

static bool start(const cadre_run_config *what)
{
    recorder_fini(&p.recorder);
    cadre_run_free(p.run);
    p.run = NULL;
    cadre_error_clear(&p.err);
    return CHECK_OK(cadre_run_start(p.team, what, &p.run, &p.err), &p.err);
}

static void read_frames(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_run_frames(p.run, &p.frames, &p.n_frames, &err), &err);
}

static void read_to_the_end(void)
{
    recorder_read(&p.recorder, p.run);
    p.status = cadre_run_wait(p.run, &p.result, &p.err);
    read_frames();
}

static void close_case(void)
{
    recorder_fini(&p.recorder);
    cadre_run_free(p.run);
    cadre_team_free(p.team);
    cadre_runtime_close(p.runtime);
    folder_remove(&p.folder);
}

static bool is_agent(const cadre_frame_info *frame, const char *name)
{
    return strcmp(frame->kind, "agent") == 0 && strcmp(frame->name, name) == 0;
}

// --- It completes, and its tree says how ---

// Each member has had a turn, somewhere below the team it is of.
static void check_turns(const topology_case *it)
{
    const char *const *agents = topology_case_agents(it);
    for (; *agents != NULL; agents++) {
        int n = 0;
        for (size_t i = 0; i < p.n_frames; i++)
            n += is_agent(&p.frames[i], *agents);
        if (!CHECK(n > 0))
            fprintf(stderr, "  '%s' had no turn\n", *agents);
    }
    for (size_t i = 0; i < p.n_frames && it->inner != NULL; i++) {
        if (!is_agent(&p.frames[i], "a") && !is_agent(&p.frames[i], "b"))
            continue;
        int above = p.frames[i].parent;
        while (above >= 0 && !is_agent(&p.frames[above], "inner"))
            above = p.frames[above].parent;
        CHECK(above >= 0);
    }
}

// One root, no second; all have ended; each is charged to who is above it.
static void check_tree(const topology_case *it)
{
    int64_t n_models = 0;
    CHECK(p.n_frames > 0 && p.frames[0].parent == -1);
    CHECK(is_agent(&p.frames[0], topology_case_root(it)));
    CHECK_TEXT(p.frames[0].referer, "api");
    for (size_t i = 0; i < p.n_frames; i++) {
        const cadre_frame_info *frame = &p.frames[i];
        CHECK(i == 0 || (frame->parent >= 0 && frame->parent < (int)i));
        CHECK(frame->status >= CADRE_FRAME_COMPLETED);
        n_models += strcmp(frame->kind, "model") == 0;
        if (strcmp(frame->kind, "agent") == 0)
            CHECK_INT(frame->status, CADRE_FRAME_COMPLETED);
    }
    CHECK_INT(p.result->usage.model_calls, n_models);
    CHECK_INT(p.frames[0].usage.model_calls, n_models);
}

// What is proved before a run must hold for it.
static void check_worst_case(void)
{
    cadre_worst_case worst;
    CHECK_OK(cadre_team_worst_case(p.team, &worst, &p.err), &p.err);
    CHECK(worst.model_calls == CADRE_UNLIMITED ||
          worst.model_calls >= p.result->usage.model_calls);
}

static void check_completes(const topology_case *it)
{
    unsigned n_before = CU_get_number_of_failures();
    if (open_case(it) && start(CADRE_RUN(.input = "Go."))) {
        read_to_the_end();
        CHECK_OK(p.status, &p.err);
        CHECK(p.result->text[0] != '\0');
        CHECK(p.result->agent[0] != '\0');
        CHECK_TEXT(p.frames[0].output, p.result->text);
        check_tree(it);
        check_turns(it);
        check_worst_case();
    }
    close_case();
    name_failure(it, n_before);
}

static void test_topology__completes_and_its_tree_says_how(void)
{
    topology_case_each(check_completes);
}

static void test_topology__completes_as_a_member_of_each(void)
{
    topology_case_each_pair(check_completes);
}

// Its answer is kept where its `output_key` says.
static void check_output_key(const topology_case *it)
{
    unsigned n_before = CU_get_number_of_failures();
    if (open_case(it) && start(CADRE_RUN(.input = "Go."))) {
        read_to_the_end();
        json_t *delta = json_loads(p.frames[0].delta, 0, NULL);
        CHECK_TEXT(json_string_value(json_object_get(delta, topology_case_root(it))),
                   p.result->text);
        json_decref(delta);
    }
    close_case();
    name_failure(it, n_before);
}

static void test_topology__keeps_its_answer_under_its_output_key(void)
{
    topology_case_each(check_output_key);
    topology_case_each_pair(check_output_key);
}

// --- The conversation ---

// A fork works in a conversation of its own; that of the session goes on.
static void check_session(const topology_case *it)
{
    unsigned n_before = CU_get_number_of_failures();
    char conversation[64] = "";
    for (int turn = 0; turn < 2; turn++) {
        if ((turn == 0 && !open_case(it)) ||
            !start(CADRE_RUN(.input = "Go.", .session = "s")))
            break;
        read_to_the_end();
        CHECK_OK(p.status, &p.err);
        CHECK(p.result->text[0] != '\0');
        if (turn == 0)
            (void)snprintf(conversation, sizeof conversation, "%s",
                           p.frames[0].conversation_id);
        CHECK_TEXT(p.frames[0].conversation_id, conversation);
        for (size_t i = 0; i < p.n_frames; i++)
            CHECK(strcmp(p.frames[i].referer, "agent_fork") != 0 ||
                  strcmp(p.frames[i].conversation_id, conversation) != 0);
    }
    close_case();
    name_failure(it, n_before);
}

static void test_topology__forks_stay_out_of_the_conversation_of_a_session(void)
{
    topology_case_each(check_session);
    topology_case_each_pair(check_session);
}

// --- Failing ---

// Whatever becomes of it, all is ended, and a failure says whose it was.
static void check_failure(const topology_case *it)
{
    topology_case failing = *it;
    unsigned n_before = CU_get_number_of_failures();
    failing.b = "{error: {status: 400, message: no such thing}, times: 90}";
    if (open_case(&failing) && start(CADRE_RUN(.input = "Go."))) {
        read_to_the_end();
        for (size_t i = 0; i < p.n_frames; i++)
            CHECK(p.frames[i].status >= CADRE_FRAME_COMPLETED);
        if (p.status != CADRE_OK) {
            CHECK_STATUS(p.status, CADRE_EFAILED, &p.err);
            CHECK_CONTAINS(p.err.text, "no such thing");
            CHECK_INT(p.result->error.error_class, CADRE_CLASS_INVALID_REQUEST);
            CHECK_INT(p.frames[0].status, CADRE_FRAME_FAILED);
            CHECK_TEXT(p.result->text, "");
        }
    }
    close_case();
    name_failure(it, n_before);
}

static void test_topology__a_members_failure_leaves_nothing_open(void)
{
    topology_case_each(check_failure);
    topology_case_each_pair(check_failure);
}

// --- Stopping ---

static bool read_until_start_of(const char *agent)
{
    const cadre_event *event = NULL;
    for (;;) {
        if (!CHECK_OK(cadre_run_next(p.run, &event, &p.err), &p.err))
            return false;
        recorder_add(&p.recorder, event);
        if (event->type == CADRE_EVENT_FRAME_START && strcmp(event->agent, agent) == 0)
            return true;
    }
}

// b would take an hour.
static void check_abort(const topology_case *it)
{
    topology_case slow = *it;
    unsigned n_before = CU_get_number_of_failures();
    slow.b = "{text: never, delay: 1h, times: 90}";
    if (open_case(&slow) && start(CADRE_RUN(.input = "Go.")) &&
        read_until_start_of("b")) {
        cadre_run_cancel(p.run, "enough");
        read_to_the_end();
        CHECK_STATUS(p.status, CADRE_EABORTED, &p.err);
        CHECK_INT(p.frames[0].status, CADRE_FRAME_ABORTED);
        CHECK_TEXT(p.frames[0].abort_reason, "request");
        for (size_t i = 0; i < p.n_frames; i++) {
            CHECK(p.frames[i].status >= CADRE_FRAME_COMPLETED);
            if (is_agent(&p.frames[i], "b"))
                CHECK_INT(p.frames[i].status, CADRE_FRAME_ABORTED);
        }
    }
    close_case();
    name_failure(it, n_before);
}

static void test_topology__an_abort_in_the_middle_ends_every_frame(void)
{
    topology_case_each(check_abort);
    topology_case_each_pair(check_abort);
}

// --- Waiting for a person ---

static void go_on(void)
{
    cadre_run *next = NULL;
    json_t *answer = json_string("Fine.");
    CHECK_OK(
        cadre_trace_answer(p.runtime, cadre_run_trace_id(p.run), NULL, answer, &p.err),
        &p.err);
    json_decref(answer);
    CHECK_OK(cadre_run_resume(p.team, cadre_run_trace_id(p.run), NULL, &next, &p.err),
             &p.err);
    recorder_fini(&p.recorder);
    cadre_run_free(p.run);
    p.run = next;
    if (next != NULL)
        read_to_the_end();
}

static void check_person(const topology_case *it)
{
    topology_case asking = *it;
    unsigned n_before = CU_get_number_of_failures();
    asking.b = "{ask: Well?}, {text: B, times: 90}";
    if (open_case(&asking) && start(CADRE_RUN(.input = "Go."))) {
        read_to_the_end();
        CHECK_STATUS(p.status, CADRE_EPARKED, &p.err);
        CHECK_INT(p.frames[0].status, CADRE_FRAME_WAITING);
        cadre_error_clear(&p.err);
        go_on();
        CHECK_OK(p.status, &p.err);
        if (CHECK(p.run != NULL)) {
            check_tree(it);
            check_turns(it);
        }
    }
    close_case();
    name_failure(it, n_before);
}

static void test_topology__parks_for_a_person_and_goes_on(void)
{
    topology_case_each(check_person);
    topology_case_each_pair(check_person);
}

// --- Before it runs ---

// A type that tells its shape tells of all its members, and of a way in and out.
static void check_shape(const topology_case *it)
{
    unsigned n_before = CU_get_number_of_failures();
    cadre_shape *shape = NULL;
    if (open_case(it) &&
        CHECK_OK(cadre_shape_new(cadre_team_root(p.team), &shape, &p.err), &p.err)) {
        const cadre_shape_info *info = cadre_shape_get_info(shape);
        int n_entries = 0;
        int n_ends = 0;
        CHECK_INT(info->n_nodes, 2);
        for (size_t i = 0; i < info->n_nodes; i++) {
            n_entries += info->nodes[i].is_entry;
            n_ends += info->nodes[i].is_end;
            CHECK(info->nodes[i].is_reached);
        }
        CHECK_INT(info->is_known, strcmp(it->outer, "debate") != 0);
        CHECK(!info->is_known || (n_entries > 0 && n_ends > 0));
    }
    cadre_shape_free(shape);
    close_case();
    name_failure(it, n_before);
}

static void test_topology__tells_its_shape(void)
{
    topology_case_each(check_shape);
}

static void test_topology__has_a_line_for_people_and_a_schema_that_reads(void)
{
    cadre_kind_info info;
    for (size_t i = 0; cadre_kind_at(CADRE_KIND_TOPOLOGY, i, &info); i++) {
        json_t *schema = info.options_schema == NULL
                             ? json_object()
                             : json_loads(info.options_schema, 0, NULL);
        CHECK(info.summary != NULL && info.summary[0] != '\0');
        CHECK(info.summary != NULL && strchr(info.summary, '\n') == NULL);
        CHECK(json_is_object(schema));
        json_decref(schema);
    }
    CHECK(topology_case_type(6) != NULL); // all seven were found
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_topology__completes_and_its_tree_says_how),
    CHECK_TEST(test_topology__completes_as_a_member_of_each),
    CHECK_TEST(test_topology__keeps_its_answer_under_its_output_key),
    CHECK_TEST(test_topology__forks_stay_out_of_the_conversation_of_a_session),
    CHECK_TEST(test_topology__a_members_failure_leaves_nothing_open),
    CHECK_TEST(test_topology__an_abort_in_the_middle_ends_every_frame),
    CHECK_TEST(test_topology__parks_for_a_person_and_goes_on),
    CHECK_TEST(test_topology__tells_its_shape),
    CHECK_TEST(test_topology__has_a_line_for_people_and_a_schema_that_reads),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("conformance/topology", tests);
}
