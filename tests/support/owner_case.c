#include "support/owner_case.h"

#include "cadre/ext/spawn.h"
#include "cadre/ext/store.h"
#include "team/runtime.h"

#include <stdio.h>

#define MODEL "driven/test"

lives owner_lives;
cadre_run *owner_run;
const cadre_agent *owner_aide;

static owner_tool late_tool; // NULL: the team has none

// Starts the aide by itself.
static cadre_status start(void *ctx, cadre_frame *frame, const json_t *arguments,
                          cadre_error *err)
{
    const char *trace = NULL;
    (void)ctx;
    (void)arguments;
    cadre_status status = cadre_frame_spawn(
        frame, CADRE_CALL(.agent = owner_aide, .input = "Think."), &trace, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, trace, err) : status;
}

static cadre_team *make_team(cadre_runtime *runtime, const test_folder *folder)
{
    (void)folder;
    driven_open(runtime);
    const cadre_names two = CADRE_NAMES("work", "start");
    const cadre_names three = CADRE_NAMES("work", "start", "late");
    cadre_team *team = cadre_team_new(runtime, "owners");
    cadre_team_add_llm(team, CADRE_LLM(.name = "main", .model = MODEL,
                                       .tools = late_tool == NULL ? two : three));
    owner_aide = cadre_team_add_llm(team, CADRE_LLM(.name = "aide", .model = MODEL));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "work", .type = "subagent"));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "start", .run = start));
    if (late_tool != NULL)
        cadre_team_add_tool(team, CADRE_TOOL(.name = "late", .run = late_tool));
    cadre_team_set_root(team, "main");
    return team;
}

bool owner_case_open(const char *type, owner_tool late)
{
    late_tool = late;
    if (!lives_open(&owner_lives, type, make_team))
        return false;
    owner_lives.is_online = true;
    lives_runtime(&owner_lives);
    return true;
}

void owner_case_close(void)
{
    cadre_run_free(owner_run);
    owner_run = NULL;
    lives_close(&owner_lives);
    driven_close();
}

bool owner_case_begin(const char *input)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run_free(owner_run);
    owner_run = NULL;
    if (!CHECK_OK(cadre_run_start(
                      owner_lives.team,
                      CADRE_RUN(.input = input, .session = "s", .no_events = true),
                      &owner_run, &err),
                  &err))
        return false;
    snprintf(owner_lives.trace, sizeof owner_lives.trace, "%s",
             cadre_run_trace_id(owner_run));
    return true;
}

void owner_case_finish(cadre_status expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cadre_run_wait(owner_run, NULL, &err);
    CHECK_STATUS(status, expected, &err);
    err = (cadre_error)CADRE_ERROR_INIT;
    CHECK_OK(
        cadre_trace_wait(owner_lives.runtime, owner_lives.trace, false, 20000, &err),
        &err);
}

void owner_case_check_row(const char *text, const char *part, int n)
{
    if (!CHECK_INT(recorded_count(text, part, NULL), n))
        printf("looked for: %s\n", part);
}

static cadre_status take_child(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    owner_child *child = ctx;
    (void)err;
    cadre_id_text(row->id, child->id);
    child->status = row->status;
    child->count++;
    return CADRE_OK;
}

owner_child owner_case_child(void)
{
    owner_child child = {.count = 0};
    cadre_query query = {.kind = CADRE_QUERY_SPAWNED};
    const cadre_store_reader reader = {.trace = take_child, .ctx = &child};
    CHECK(cadre_id_parse(owner_lives.trace, &query.trace));
    CHECK_OK(owner_lives.runtime->store_ops->read(owner_lives.runtime->store, &query,
                                                  &reader, NULL),
             NULL);
    return child;
}
