// Hooks: functions around what an agent does. One keeps a tool from being used beyond a
// limit, whatever the model says, and one signs each answer.
//
// The argument is a script of answers; without one the models are asked.
//
//   $ ./hooks samples/c/scripts/hooks.yaml
//   refunded 40 euros
//   clerk: You get 40 euros now; the rest needs a colleague. -- Lamplight Books
#include <cadre/cadre.h>

#include <stdio.h>

static cadre_status refund(void *ctx, cadre_frame *frame, const json_t *arguments,
                           cadre_error *err)
{
    json_int_t euros = json_integer_value(json_object_get(arguments, "euros"));
    (void)ctx;
    printf("refunded %d euros\n", (int)euros);
    return cadre_frame_set_output(frame, "done", err);
}

// What is blocked is a result that the model reads.
static cadre_status check_refund(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                                 cadre_error *err)
{
    const json_int_t *limit = ctx;
    (void)frame;
    if (json_integer_value(json_object_get(call->arguments, "euros")) <= *limit)
        return CADRE_OK;
    return cadre_tool_hook_block(call, "more than 100 euros need a colleague", err);
}

static cadre_status sign(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                         cadre_error *err)
{
    (void)ctx;
    if (call->n_tool_calls > 0)
        return CADRE_OK;
    const char *text = cadre_frame_printf(frame, "%s -- Lamplight Books", call->text);
    return cadre_model_hook_answer(call, text, err);
}

static const char parameters[] =
    "{\"type\": \"object\", \"required\": [\"euros\"],"
    " \"properties\": {\"euros\": {\"type\": \"integer\", \"minimum\": 1}}}";

int main(int argc, char **argv)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *answer = NULL;
    cadre_runtime_open(CADRE_RUNTIME(.script = argc > 1 ? argv[1] : NULL), &runtime,
                       &err);
    json_int_t limit = 100;
    cadre_team *team = cadre_team_new(runtime, "refunds");
    cadre_team_add_tool(team, CADRE_TOOL(.name = "refund", .run = refund,
                                         .description = "Pays money back",
                                         .parameters = parameters));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "clerk", .model = "openai/gpt-5-mini",
                        .instructions = "Settle refunds. Say what you did.",
                        .tools = CADRE_NAMES("refund"),
                        .hooks = CADRE_HOOKS(.ctx = &limit, .before_tool = check_refund,
                                             .after_model = sign)));
    if (cadre_run_start(team, CADRE_RUN(.input = "I want my 240 euros back."), &run,
                        &err) == CADRE_OK &&
        cadre_run_wait(run, &answer, &err) == CADRE_OK)
        printf("%s: %s\n", answer->agent, answer->text);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
