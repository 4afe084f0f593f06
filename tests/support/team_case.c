// See team_case.h.
#include "support/team_case.h"

#include "base/buf.h"
#include "team/runtime.h"

#include <stdlib.h>
#include <string.h>

void team_case_open(team_case *t)
{
    cadre_error err = CADRE_ERROR_INIT;
    memset(t, 0, sizeof *t);
    if (cadre_runtime_open(NULL, &t->runtime, &err) != CADRE_OK)
        abort();
    driven_open(t->runtime);
    t->team = cadre_team_new(t->runtime, "team");
}

void team_case_open_fake(team_case *t)
{
    team_case_open(t);
    t->clock = cdr_clock_fake_new(1000000);
    if (t->clock == NULL)
        abort();
    t->runtime->clock = t->clock;
}

static void forget_run(team_case *t)
{
    cadre_run_free(t->run);
    recorder_fini(&t->recorder);
    t->run = NULL;
    t->result = NULL;
    cadre_error_clear(&t->err);
}

void team_case_close(team_case *t)
{
    forget_run(t);
    cadre_team_free(t->team);
    cadre_runtime_close(t->runtime);
    cdr_clock_fake_free(t->clock);
    driven_close();
}

cadre_run *team_case_start(team_case *t, const cadre_run_config *config)
{
    forget_run(t);
    t->status = cadre_run_start(t->team, config, &t->run, &t->err);
    CHECK_OK(t->status, &t->err);
    return t->run;
}

void team_case_finish(team_case *t)
{
    if (t->run == NULL)
        return;
    recorder_read(&t->recorder, t->run);
    t->status = cadre_run_wait(t->run, &t->result, &t->err);
}

void team_case_run_with(team_case *t, const cadre_run_config *config)
{
    if (team_case_start(t, config) != NULL)
        team_case_finish(t);
}

void team_case_run(team_case *t, const char *input)
{
    team_case_run_with(t, CADRE_RUN(.input = input));
}

static int level_of(const cadre_frame_info *frames, size_t i)
{
    int level = 0;
    for (int at = frames[i].parent; at >= 0; at = frames[at].parent)
        level++;
    return level;
}

static int depth_of(const cadre_frame_info *frames, size_t i)
{
    int depth = 0;
    for (int at = frames[i].parent; at >= 0; at = frames[at].parent)
        depth += strcmp(frames[at].kind, "agent") == 0;
    return depth;
}

char *team_case_frames(team_case *t)
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    cdr_buf text = CDR_BUF_INIT;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_run_frames(t->run, &frames, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        const cadre_frame_info *frame = &frames[i];
        CHECK(frame->parent < (int)i);
        CHECK_INT(frame->depth, depth_of(frames, i));
        CHECK_TEXT(frame->parent_id, frame->parent < 0 ? "" : frames[frame->parent].id);
        CHECK_TEXT(frame->trace_id, cadre_run_trace_id(t->run));
        cdr_buf_printf(&text, "%*s%s %s %s %s %s\n", 2 * level_of(frames, i), "",
                       frame->kind, frame->name, frame->key,
                       cadre_frame_status_name(frame->status),
                       cadre_stop_reason_name(frame->stop_reason));
    }
    return cdr_buf_take(&text);
}

static cadre_status add(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err)
{
    adder *self = ctx;
    atomic_fetch_add(&self->n_runs, 1);
    json_int_t sum = json_integer_value(json_object_get(arguments, "a")) +
                     json_integer_value(json_object_get(arguments, "b"));
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "%lld", (long long)sum), err);
}

void team_case_add_adder(team_case *t, adder *counts)
{
    cadre_team_add_tool(
        t->team,
        CADRE_TOOL(.name = "add", .description = "Adds a and b", .run = add,
                   .ctx = counts,
                   .parameters =
                       "{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"properties\":"
                       "{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}}}"));
}

void team_case_add_desk(team_case *t, const char *options, adder *counts)
{
    memset(counts, 0, sizeof *counts);
    team_case_add_adder(t, counts);
    cadre_team_add_topology(
        t->team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .options = options,
                       .members = CADRE_NAMES("alice", "bob", "carol")));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                          .tools = CADRE_NAMES("add"),
                                          .handoffs = CADRE_NAMES("bob", "carol")));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL,
                                          .tools = CADRE_NAMES("add"),
                                          .handoffs = CADRE_NAMES("alice", "carol")));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "carol", .model = DRIVEN_MODEL,
                                          .handoffs = CADRE_NAMES("alice")));
}

void team_case_check_answer(team_case *t, const char *agent, const char *text)
{
    CHECK_OK(t->status, &t->err);
    if (!CHECK(t->result != NULL))
        return;
    CHECK_TEXT(t->result->agent, agent);
    CHECK_TEXT(t->result->text, text);
    CHECK_INT(t->result->stop_reason, CADRE_STOP_FINAL);
}
