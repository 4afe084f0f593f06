// A graph with nodes and an edge that are functions of the program: a model writes, one
// function counts the words, another decides whether it must be written again, a last
// one signs it.
//
// The argument is a script of answers; without one the models are asked.
//
//   $ ./graph samples/c/scripts/graph.yaml
//   notice: The lift is out of order until Friday. (Your caretaker)
#include <cadre/cadre.h>

#include <stdio.h>

// Gives on what it got, and keeps how many words that has in the state of the run.
static cadre_status count(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const char *text = cadre_frame_input(frame);
    json_int_t words = text[0] != '\0';
    (void)ctx;
    for (const char *at = text; *at != '\0'; at++)
        words += *at == ' ';
    json_t *value = json_integer(words);
    cadre_status status = cadre_frame_set_state(frame, "words", value, err);
    json_decref(value);
    return status == CADRE_OK ? cadre_frame_set_output(frame, text, err) : status;
}

static cadre_status sign(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const char *text =
        cadre_frame_printf(frame, "%s (Your caretaker)", cadre_frame_input(frame));
    (void)ctx;
    return cadre_frame_set_output(frame, text, err);
}

static json_t *is_long(void *ctx, const cadre_predicate_values *values,
                       cadre_error *err)
{
    (void)ctx;
    (void)err;
    return json_boolean(json_integer_value(json_object_get(values->state, "words")) >
                        10);
}

static const char graph[] =
    "{\"nodes\": {\"write\": {\"agent\": \"writer\", \"input_from_last\": true},"
    " \"count\": {\"agent\": \"count\", \"input_from_last\": true},"
    " \"sign\": {\"agent\": \"sign\", \"input_from_last\": true}},"
    " \"edges\": [{\"from\": \"write\", \"to\": \"count\"},"
    " {\"from\": \"count\", \"to\": \"write\", \"when\": {\"call\": \"is_long\"}},"
    " {\"from\": \"count\", \"to\": \"sign\"}]}";

int main(int argc, char **argv)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *answer = NULL;
    cadre_runtime_open(CADRE_RUNTIME(.script = argc > 1 ? argv[1] : NULL), &runtime,
                       &err);
    cadre_team *team = cadre_team_new(runtime, "notice");
    cadre_team_add_llm(team, CADRE_LLM(.name = "writer", .model = "openai/gpt-5-mini",
                                       .instructions = "Put the text into at most 10 "
                                                       "words."));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "count", .run = count));
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "sign", .run = sign));
    cadre_team_add_predicate(team, "is_long", is_long, NULL);
    cadre_team_add_topology(team, "graph",
                            CADRE_TOPOLOGY(.name = "notice", .options = graph));
    if (cadre_run_start(team, CADRE_RUN(.input = "The lift does not work till Friday."),
                        &run, &err) == CADRE_OK &&
        cadre_run_wait(run, &answer, &err) == CADRE_OK)
        printf("%s: %s\n", answer->agent, answer->text);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
