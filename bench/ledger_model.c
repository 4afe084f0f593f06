// See ledger_model.h.
#include "ledger_model.h"

#include "cadre/ext/model.h"

#include <stdio.h>
#include <string.h>

static const ledger_plan *plan;
static int n_asked;

const cadre_run_config ledger_run_config = {
    .struct_size = sizeof(cadre_run_config),
    .input = "Go.",
    .no_events = true,
    .limits = {.max_model_calls = CADRE_UNLIMITED, .max_tool_calls = CADRE_UNLIMITED}};

// 100 bytes, as short answers, arguments and results are.
static const char said[] = "This is what was found out at this place and what may be "
                           "told of it in a few more words than one.";

static cadre_status answer(const void *state, cadre_frame *frame,
                           const cadre_request *request, cadre_sink *sink,
                           cadre_error *err)
{
    static const char arguments[] =
        "{\"what\": \"the next thing that is to be noted\"}";
    (void)state;
    (void)frame;
    (void)err;
    int n = n_asked++;
    if (plan->asked != NULL)
        plan->asked(n);
    if (strcmp(request->agent, "one") == 0 || n >= plan->n_turns) {
        cadre_sink_text(sink, said, sizeof said - 1);
        cadre_sink_finish(sink, CADRE_FINISH_STOP);
        return CADRE_OK;
    }
    size_t call = cadre_sink_add_call(sink);
    cadre_sink_call_name(sink, call, "note", 4);
    cadre_sink_call_arguments(sink, call, arguments, sizeof arguments - 1);
    cadre_sink_finish(sink, CADRE_FINISH_TOOL_CALLS);
    return CADRE_OK;
}

static const cadre_model_ops ledger_model = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "bench",
    .summary = "calls its tool again and again",
    .answer = answer,
};

static cadre_status note(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_set_output(frame, said, err);
}

static cadre_status call_many(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_agent *one = cadre_frame_find(frame, "one");
    (void)ctx;
    for (int i = 0; i < plan->n_turns; i++) {
        cadre_status status = cadre_frame_call(
            frame, CADRE_CALL(.agent = one, .input = "Go on."), NULL, err);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

void ledger_team_open(ledger_team *it, const char *store, const char *root,
                      const ledger_plan *planned)
{
    char url[LEDGER_PATH_SIZE + 32];
    cadre_error err = CADRE_ERROR_INIT;
    plan = planned;
    n_asked = 0;
    snprintf(url, sizeof url, "sqlite:%s", store);
    bench_must(cadre_runtime_open(CADRE_RUNTIME(.store = url), &it->runtime, &err),
               &err);
    bench_must(cadre_runtime_register_model(it->runtime, &ledger_model, &err), &err);
    it->team = cadre_team_new(it->runtime, "bench");
    cadre_team_add_llm(it->team, CADRE_LLM(.name = "turns", .model = "bench/m",
                                           .tools = CADRE_NAMES("note"),
                                           .max_turns = CADRE_UNLIMITED));
    cadre_team_add_llm(it->team, CADRE_LLM(.name = "one", .model = "bench/m"));
    cadre_team_add_function(it->team, CADRE_FUNCTION(.name = "calls", .run = call_many,
                                                     .members = CADRE_NAMES("one")));
    cadre_team_add_tool(it->team, CADRE_TOOL(.name = "note", .run = note,
                                             .parameters = "{\"type\": \"object\"}",
                                             .replay_safe = true));
    cadre_team_set_root(it->team, root);
    bench_must(cadre_team_seal(it->team, &err), &err);
}

void ledger_team_close(ledger_team *it)
{
    cadre_team_free(it->team);
    cadre_runtime_close(it->runtime);
}
