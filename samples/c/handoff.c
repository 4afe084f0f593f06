// The customer desk of samples/customer-desk, composed in C; its tool is a C function.
// The argument is a script of answers; without one the models are asked.
//
//   $ ./handoff samples/c/scripts/handoff.yaml
//   after_sales: Order 1042 was delivered on Monday. Your return label is on its way.
#include <cadre/cadre.h>

#include <stdio.h>
#include <string.h>

static cadre_status look_up(void *ctx, cadre_frame *frame, const json_t *arguments,
                            cadre_error *err)
{
    const char *order = json_string_value(json_object_get(arguments, "order"));
    (void)ctx;
    if (strcmp(order, "1042") != 0) // the model reads this
        return cadre_fail(err, CADRE_EFAILED, "there is no order '%s'", order);
    return cadre_frame_set_output(frame, "delivered on Monday", err);
}

static const char parameters[] =
    "{\"type\": \"object\", \"required\": [\"order\"],"
    " \"properties\": {\"order\": {\"type\": \"string\"}}}";

int main(int argc, char **argv)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *answer = NULL;
    cadre_runtime_open(CADRE_RUNTIME(.script = argc > 1 ? argv[1] : NULL), &runtime,
                       &err);
    cadre_team *team = cadre_team_new(runtime, "customer-desk");
    cadre_team_add_tool(team, CADRE_TOOL(.name = "order_status", .run = look_up,
                                         .description = "Looks up an order",
                                         .parameters = parameters));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "pre_sales", .model = "openai/gpt-5-mini",
                                 .description = "First contact",
                                 .instructions = "Answer, or hand over.",
                                 .handoffs = CADRE_NAMES("after_sales")));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "after_sales", .model = "openai/gpt-5-mini",
                                 .description = "Orders and returns",
                                 .instructions = "Settle it.",
                                 .tools = CADRE_NAMES("order_status")));
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .entry = "pre_sales",
                       .members = CADRE_NAMES("pre_sales", "after_sales")));
    if (cadre_run_start(team, CADRE_RUN(.input = "I want to return order 1042"), &run,
                        &err) == CADRE_OK &&
        cadre_run_wait(run, &answer, &err) == CADRE_OK)
        printf("%s: %s\n", answer->agent, answer->text);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
