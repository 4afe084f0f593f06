// What a run was started with: kept, given back, and gone on with.
#include "support/cut_case.h"

#include "base/json_text.h"
#include "run/run.h"
#include "team/kinds.h"

#include <stdio.h>

// --- A desk whose tool kills its process, once ---

static int n_calls;

static cadre_status kill_once(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    if (n_calls++ == 0)
        mortal_store_die();
    return cadre_frame_set_output(frame, "done", err);
}

typedef struct plan {
    const char *name, *second, *instructions;
    bool is_short, has_no_tool;
} plan;

// NULL stands for "office" and "helper".
#define PLAN(...) (&(const plan){__VA_ARGS__})

static cadre_team *make_team(cadre_runtime *runtime, const plan *p)
{
    cadre_names no_tools = {NULL, 0};
    cadre_names act = CADRE_NAMES("act");
    const char *second = p->second == NULL ? "helper" : p->second;
    cadre_team *team = cadre_team_new(runtime, p->name == NULL ? "office" : p->name);
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.options = p->is_short ? "{\"max_handoffs\": 3}" : NULL,
                       .name = "desk", .members = CADRE_NAMES("clerk", second)));
    cadre_team_add_llm(team, CADRE_LLM(.name = "clerk", .model = "openai/m",
                                       .instructions = p->instructions,
                                       .tools = p->has_no_tool ? no_tools : act));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = second, .model = "openai/m", .tools = act));
    cadre_team_add_tool(
        team, CADRE_TOOL(.name = "act", .run = kill_once, .replay_safe = true));
    return team;
}

static void add_inputs(cadre_team *team)
{
    json_t *schema = cdr_json_parse("{\"type\":\"integer\",\"default\":3}", 30, NULL);
    cadre_error err = CADRE_ERROR_INIT;
    cdr_at at = {0};
    cdr_team_add_input(team, "size", schema, &at);
    json_decref(schema);
    schema = cdr_json_parse("{\"type\":\"string\"}", 17, &err);
    CHECK_OK(err.status, &err);
    cdr_team_add_input(team, "city", schema, &at);
    json_decref(schema);
}

static bool set_up(cut_case *f, const char *type)
{
    n_calls = 0;
    if (!cut_case_open(f, type))
        return false;
    f->team = make_team(f->runtime, PLAN(0));
    return true;
}

static void check_answer(cadre_run *run)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_result *result = NULL;
    CHECK_OK(cadre_run_wait(run, &result, &err), &err);
    CHECK_TEXT(result->text, "Done.");
    CHECK_TEXT(result->agent, "clerk");
}

// --- What is kept ---

static void check_info(const cadre_record_info *info)
{
    json_t *metadata = cdr_json_parse("{\"ticket\":\"a-7\"}", 16, NULL);
    json_t *inputs = cdr_json_parse("{\"city\":\"Rome\",\"size\":3}", 24, NULL);
    CHECK_TEXT(info->session, "s1");
    CHECK(info->offline);
    CHECK(json_equal(info->metadata, metadata));
    CHECK(json_equal(info->inputs, inputs));
    json_decref(metadata);
    json_decref(inputs);
}

static cadre_status see_run(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    (void)err;
    check_info(info);
    ++*(int *)ctx;
    return CADRE_OK;
}

static void check_record(const char *type)
{
    cut_case f;
    int n_seen = 0;
    cadre_record *record = NULL;
    if (!set_up(&f, type))
        return;
    add_inputs(f.team);
    json_t *inputs = json_pack("{s:s}", "city", "Rome");
    json_t *metadata = json_pack("{s:s}", "ticket", "a-7");
    cut_case_run(&f, CADRE_RUN(.input = "Go.", .inputs = inputs, .metadata = metadata,
                               .session = "s1"));
    json_decref(inputs);
    json_decref(metadata);
    CHECK_OK(cadre_record_list(f.runtime, 0, see_run, &n_seen, &f.err), &f.err);
    CHECK_INT(n_seen, 1);
    CHECK_OK(cadre_record_open(f.runtime, f.trace, &record, &f.err), &f.err);
    if (record != NULL)
        check_info(cadre_record_get_info(record));
    cadre_record_close(record);
    cut_case_close(&f);
}

static void test_options__a_record_gives_back_what_was_given(void)
{
    for (size_t i = 0; cdr_kinds_stores[i] != NULL; i++)
        check_record(cdr_kinds_stores[i]->type);
}

static cadre_status see_none(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    (void)err;
    CHECK_TEXT(info->session, "");
    CHECK(info->metadata == NULL);
    CHECK(json_is_object(info->inputs) && json_object_size(info->inputs) == 0);
    ++*(int *)ctx;
    return CADRE_OK;
}

static void test_options__what_was_not_given_is_empty(void)
{
    cut_case f;
    int n_seen = 0;
    if (!set_up(&f, "memory"))
        return;
    cut_case_run(&f, CADRE_RUN(.input = "Go."));
    CHECK_OK(cadre_record_list(f.runtime, 0, see_none, &n_seen, &f.err), &f.err);
    CHECK_INT(n_seen, 1);
    cut_case_close(&f);
}

static void test_options__metadata_is_an_object(void)
{
    cut_case f;
    cadre_run *run = NULL;
    json_t *text = json_string("a-7");
    if (set_up(&f, "memory")) {
        cadre_status status = cadre_run_start(
            f.team, CADRE_RUN(.input = "Go.", .metadata = text), &run, &f.err);
        CHECK_STATUS(status, CADRE_EINVAL, &f.err);
        CHECK_CONTAINS(f.err.text, "metadata");
        cut_case_close(&f);
    }
    json_decref(text);
}

// --- What is gone on with ---

static void test_options__a_resume_has_inputs_and_limits_of_the_start(void)
{
    cut_case f;
    cadre_run *run = NULL;
    if (!set_up(&f, "memory"))
        return;
    add_inputs(f.team);
    json_t *inputs = json_pack("{s:s, s:s}", "city", "Rome", "size", "8");
    cut_case_run(&f, CADRE_RUN(.input = "Go.", .inputs = inputs, .timeout_ms = 50000,
                               .limits = {.max_model_calls = 7,
                                          .max_tool_calls = CADRE_UNLIMITED}));
    json_decref(inputs);
    CHECK_OK(cadre_run_resume(f.team, f.trace, CADRE_RUN(.limits = {.max_depth = 5}),
                              &run, &f.err),
             &f.err);
    if (run != NULL) {
        const cdr_tree *tree = run->tree;
        CHECK_INT(tree->limits.max_model_calls, 7);
        CHECK_INT(tree->limits.max_tool_calls, CADRE_UNLIMITED);
        CHECK_INT(tree->limits.max_depth, 5);
        CHECK_TEXT(json_string_value(json_object_get(tree->inputs, "city")), "Rome");
        CHECK_INT(json_integer_value(json_object_get(tree->inputs, "size")), 8);
        CHECK_INT((tree->root->deadline_ms - tree->root->started_ns / 1000000), 50000);
        check_answer(run);
    }
    cadre_run_free(run);
    cut_case_close(&f);
}

static void test_options__another_input_is_refused_by_name(void)
{
    cut_case f;
    cadre_run *run = NULL;
    json_t *rome = json_pack("{s:s}", "city", "Rome");
    json_t *pisa = json_pack("{s:s}", "city", "Pisa");
    if (set_up(&f, "memory")) {
        add_inputs(f.team);
        cut_case_run(&f, CADRE_RUN(.input = "Go.", .inputs = rome));
        cadre_status status =
            cadre_run_resume(f.team, f.trace, CADRE_RUN(.inputs = pisa), &run, &f.err);
        CHECK_STATUS(status, CADRE_ECONFIG, &f.err);
        CHECK_INT(f.err.error_class, CADRE_CLASS_CONFIG);
        CHECK_CONTAINS(f.err.text, "input 'city' was \"Rome\" when run");
        CHECK_CONTAINS(f.err.text, "\"Pisa\"");
        cadre_error_clear(&f.err);
        CHECK_OK(
            cadre_run_resume(f.team, f.trace, CADRE_RUN(.inputs = rome), &run, &f.err),
            &f.err);
        check_answer(run);
        cadre_run_free(run);
        cut_case_close(&f);
    }
    json_decref(rome);
    json_decref(pisa);
}

// --- Another team ---

static cadre_status resume_with(cut_case *f, const plan *p, bool accepts,
                                cadre_run **run)
{
    cadre_team_free(f->team);
    f->team = make_team(f->runtime, p);
    return cadre_run_resume(f->team, f->trace, CADRE_RUN(.accept_changes = accepts),
                            run, &f->err);
}

static void check_refused(const plan *p, const char *what)
{
    cut_case f;
    char text[600];
    cadre_run *run = NULL;
    if (!set_up(&f, "memory"))
        return;
    cut_case_run(&f, CADRE_RUN(.input = "Go."));
    CHECK_STATUS(resume_with(&f, p, false, &run), CADRE_ECONFIG, &f.err);
    CHECK_INT(f.err.error_class, CADRE_CLASS_CONFIG);
    snprintf(
        text, sizeof text,
        "run %s was started with another shape of team 'office': %s; resume it "
        "with the team it was started with, or accept the changes (--accept-changes)",
        f.trace, what);
    CHECK_TEXT(f.err.text, text);
    cadre_run_free(run);
    cut_case_close(&f);
}

static void test_options__another_shape_is_refused_by_names(void)
{
    check_refused(PLAN(.second = "other"),
                  "agent 'helper' is gone, 'other' is new, 'desk' has other members or "
                  "options");
    check_refused(PLAN(.has_no_tool = true),
                  "agent 'clerk' has other members, tools, handoffs, fallback or "
                  "output_key");
    check_refused(PLAN(.is_short = true), "agent 'desk' has other members or options");
}

static void test_options__another_team_is_refused(void)
{
    cut_case f;
    cadre_run *run = NULL;
    if (!set_up(&f, "memory"))
        return;
    cut_case_run(&f, CADRE_RUN(.input = "Go."));
    CHECK_STATUS(resume_with(&f, PLAN(.name = "shop"), true, &run), CADRE_ECONFIG,
                 &f.err);
    CHECK_CONTAINS(f.err.text, "is of team 'office', not of 'shop'");
    cut_case_close(&f);
}

static void test_options__changes_can_be_accepted(void)
{
    cut_case f;
    cadre_run *run = NULL;
    if (!set_up(&f, "memory"))
        return;
    cut_case_run(&f, CADRE_RUN(.input = "Go."));
    CHECK_OK(resume_with(&f, PLAN(.second = "other"), true, &run), &f.err);
    check_answer(run);
    cadre_run_free(run);
    cut_case_close(&f);
}

static bool starts_changed(cadre_run *run)
{
    const cadre_event *event = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_run_next(run, &event, &err), &err);
    CHECK_INT(event->type, CADRE_EVENT_STREAM_START);
    return event->u.stream_start.texts_changed;
}

static void test_options__other_texts_are_told_and_taken(void)
{
    for (int changed = 0; changed < 2; changed++) {
        cut_case f;
        cadre_run *run = NULL;
        if (!set_up(&f, "memory"))
            return;
        cut_case_run(&f, CADRE_RUN(.input = "Go."));
        const plan *p = changed ? PLAN(.instructions = "Be kind.") : PLAN(0);
        if (CHECK_OK(resume_with(&f, p, false, &run), &f.err)) {
            CHECK(starts_changed(run) == (changed == 1));
            check_answer(run);
        }
        cadre_run_free(run);
        cut_case_close(&f);
    }
}

// --- The root ---

static void test_options__a_run_of_one_agent_goes_on_with_that(void)
{
    cut_case f;
    cadre_run *run = NULL;
    if (!set_up(&f, "memory"))
        return;
    CHECK_OK(cadre_team_seal(f.team, &f.err), &f.err);
    const cdr_start start = {.team = f.team,
                             .root = cadre_team_find(f.team, "clerk"),
                             .config = CADRE_RUN(.input = "Go.")};
    CHECK_OK(cdr_run_start(&start, &run, &f.err), &f.err);
    CHECK_INT(cadre_run_wait(run, NULL, NULL), CADRE_ESTORE);
    snprintf(f.trace, sizeof f.trace, "%s", cadre_run_trace_id(run));
    cadre_run_free(run);
    run = NULL;
    mortal_store_cut((store_cut){0});
    CHECK_OK(cadre_run_resume(f.team, f.trace, NULL, &run, &f.err), &f.err);
    if (run != NULL) {
        CHECK_TEXT(run->tree->root->name, "clerk");
        check_answer(run);
    }
    cadre_run_free(run);
    cut_case_close(&f);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_options__a_record_gives_back_what_was_given),
    CHECK_TEST(test_options__what_was_not_given_is_empty),
    CHECK_TEST(test_options__metadata_is_an_object),
    CHECK_TEST(test_options__a_resume_has_inputs_and_limits_of_the_start),
    CHECK_TEST(test_options__another_input_is_refused_by_name),
    CHECK_TEST(test_options__another_shape_is_refused_by_names),
    CHECK_TEST(test_options__another_team_is_refused),
    CHECK_TEST(test_options__changes_can_be_accepted),
    CHECK_TEST(test_options__other_texts_are_told_and_taken),
    CHECK_TEST(test_options__a_run_of_one_agent_goes_on_with_that),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/options", tests);
}
