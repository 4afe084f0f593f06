// See batch_case.h.
#include "support/batch_case.h"

#include "cadre/state.h"
#include "cadre/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

gate batch_deaf = GATE_INIT;
gate batch_left = GATE_INIT;
gate batch_sleeps = GATE_INIT;
gate batch_quick = GATE_INIT;
atomic_int batch_deaf_status;

// --- Gates ---

void gate_pass(gate *g)
{
    pthread_mutex_lock(&g->mu);
    g->n_in++;
    pthread_cond_broadcast(&g->changed);
    while (!g->is_open)
        pthread_cond_wait(&g->changed, &g->mu);
    pthread_mutex_unlock(&g->mu);
}

bool gate_await(gate *g, int n)
{
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&g->mu);
    while (g->n_in < n && waited == 0)
        waited = pthread_cond_clockwait(&g->changed, &g->mu, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&g->mu);
    return waited == 0;
}

void gate_open(gate *g)
{
    pthread_mutex_lock(&g->mu);
    g->is_open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->mu);
}

void gate_reset(gate *g)
{
    pthread_mutex_lock(&g->mu);
    g->is_open = false;
    g->n_in = 0;
    pthread_mutex_unlock(&g->mu);
}

// --- Members ---

static cadre_status run_quick(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    gate_pass(&batch_quick);
    return cadre_frame_set_output(frame, "quick", err);
}

static cadre_status run_fails(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    gate_pass(&batch_quick);
    return cadre_fail(err, CADRE_EFAILED, "it failed");
}

static json_t *give_true(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return json_true();
}

// All of it is refused, or comes to nothing, once the frame was given up.
static cadre_status run_deaf(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *value = json_string("late");
    cadre_error own = CADRE_ERROR_INIT;
    (void)ctx;
    cadre_frame_set_state(frame, "deaf", value, NULL);
    gate_pass(&batch_deaf);
    json_decref(json_incref(json_object_get(cadre_frame_state(frame), "deaf")));
    cadre_frame_set_state(frame, "late", value, NULL);
    cadre_frame_emit(frame, "late", 4);
    cadre_frame_set_output(frame, "late", NULL);
    cadre_frame_step(frame, CADRE_STEP(.name = "late", .run = give_true), NULL, NULL);
    cadre_frame_ask(frame, "late", value, NULL, NULL);
    cadre_frame_path(frame);
    atomic_store(
        &batch_deaf_status,
        cadre_frame_call(frame,
                         CADRE_CALL(.agent = cadre_frame_agent(frame), .input = "late"),
                         NULL, &own));
    gate_pass(&batch_left);
    json_decref(value);
    (void)err;
    return CADRE_OK;
}

static cadre_status run_deaf_tool(void *ctx, cadre_frame *frame,
                                  const json_t *arguments, cadre_error *err)
{
    (void)arguments;
    return run_deaf(ctx, frame, err);
}

static cadre_status run_sleeper(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    gate_pass(&batch_sleeps);
    return cadre_frame_sleep(frame, INT64_MAX, err);
}

cadre_status batch_ask(cadre_frame *frame, const char *question, cadre_error *err)
{
    json_t *answer = NULL;
    json_t *text = json_string(question);
    cadre_status status = cadre_frame_ask(frame, NULL, text, &answer, err);
    json_decref(text);
    if (status == CADRE_OK)
        status = cadre_frame_set_output(frame, json_string_value(answer), err);
    json_decref(answer);
    return status;
}

static cadre_status run_asker(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return batch_ask(frame, "which?", err);
}

enum {
    MAX_MEMBERS = 16
};

static struct {
    batch_work work;
    const char *names[MAX_MEMBERS];
    size_t n_names;
    bool is_whole;
} lead;

static const cadre_names base = {
    (const char *const[]){"quick", "fails", "deaf", "sleeper", "asker", "alice", "bob"},
    7};

static void add_function(team_case *t, const char *name, batch_work run)
{
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = name, .run = run));
}

void batch_case_fill(team_case *t, batch_work work)
{
    lead.work = work;
    lead.is_whole = false;
    lead.n_names = base.count;
    memcpy(lead.names, base.items, base.count * sizeof *lead.names);
    add_function(t, "quick", run_quick);
    add_function(t, "fails", run_fails);
    add_function(t, "deaf", run_deaf);
    add_function(t, "sleeper", run_sleeper);
    add_function(t, "asker", run_asker);
    cadre_team_add_tool(t->team, CADRE_TOOL(.name = "deaf_tool", .run = run_deaf_tool,
                                            .parameters = "{\"type\": \"object\"}"));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                          .tools = CADRE_NAMES("deaf_tool")));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    gate_reset(&batch_deaf);
    gate_reset(&batch_left);
    gate_open(&batch_left);
    gate_reset(&batch_sleeps);
    gate_open(&batch_sleeps);
    gate_reset(&batch_quick);
    gate_open(&batch_quick);
    atomic_store(&batch_deaf_status, -1);
}

void batch_case_open(team_case *t, batch_work work)
{
    team_case_open(t);
    batch_case_fill(t, work);
}

void batch_case_open_fake(team_case *t, batch_work work)
{
    team_case_open_fake(t);
    batch_case_fill(t, work);
}

void batch_case_add_name(const char *name)
{
    if (lead.n_names == MAX_MEMBERS)
        abort();
    lead.names[lead.n_names++] = name;
}

void batch_case_add_llm(team_case *t, const char *name, const char *model)
{
    bool has_work = strcmp(model, DRIVEN_MODEL) == 0;
    cadre_llm llm = {.struct_size = sizeof llm, .name = name, .model = model};
    const char *const tools[] = {"work"};
    if (has_work)
        llm.tools = (cadre_names){tools, 1};
    cadre_team_add_llm(t->team, &llm);
    batch_case_add_name(name);
}

void batch_case_add(team_case *t, const char *name, batch_work run, void *ctx)
{
    cadre_team_add_function(
        t->team, CADRE_FUNCTION(.name = name, .run = run, .ctx = ctx, .members = base));
    batch_case_add_name(name);
}

bool batch_case_start(team_case *t)
{
    if (!lead.is_whole)
        cadre_team_add_function(t->team,
                                CADRE_FUNCTION(.name = "lead", .run = lead.work,
                                               .members = {lead.names, lead.n_names}));
    if (!lead.is_whole)
        cadre_team_set_root(t->team, "lead");
    lead.is_whole = true;
    return team_case_start(t, CADRE_RUN(.input = "go")) != NULL;
}

void batch_case_run(team_case *t)
{
    if (batch_case_start(t))
        team_case_finish(t);
}

void batch_case_close(team_case *t)
{
    gate_open(&batch_deaf);
    gate_open(&batch_quick);
    team_case_close(t);
}

const cadre_agent *batch_member(cadre_frame *frame, const char *name)
{
    const cadre_agent *found = cadre_frame_find(frame, name);
    CHECK(found != NULL);
    return found;
}

void batch_case_expire(team_case *t)
{
    cdr_clock_await_waiters(t->clock, 1);
    cdr_clock_advance(t->clock, 2000);
}

const char *batch_row(team_case *t, const char *key)
{
    static char row[400];
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(t->run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(frames[i].key, key) != 0)
            continue;
        (void)snprintf(row, sizeof row, "%s %s %s: %s",
                       cadre_frame_status_name(frames[i].status),
                       cadre_stop_reason_name(frames[i].stop_reason),
                       frames[i].abort_reason, frames[i].error.message);
        return row;
    }
    return "there is none";
}

void batch_case_answer(team_case *t, const char *text)
{
    char trace[64];
    cadre_run *run = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_string(text);
    (void)snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(t->run));
    CHECK_OK(cadre_trace_answer(t->runtime, trace, NULL, value, &err), &err);
    json_decref(value);
    if (!CHECK_OK(cadre_run_resume(t->team, trace, NULL, &run, &err), &err))
        return;
    cadre_run_free(t->run);
    recorder_fini(&t->recorder);
    t->run = run;
    t->err = (cadre_error)CADRE_ERROR_INIT;
    team_case_finish(t);
}
