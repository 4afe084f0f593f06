// A cycle that a function of the program ends: an editor and a writer take turns until
// the text is short enough. No model is needed to count.
//
// The argument is a script of answers; without one the models are asked.
//
//   $ ./cycle samples/c/scripts/cycle.yaml
//   writer: Rain from noon. Take an umbrella.
#include <cadre/cadre.h>

#include <stdio.h>
#include <string.h>

// Called after each round. Pure: when a cut run goes on it is asked again.
static json_t *is_short(void *ctx, const cadre_predicate_values *values,
                        cadre_error *err)
{
    const int *limit = ctx;
    (void)err;
    return json_boolean(strlen(values->last_response) <= (size_t)*limit);
}

int main(int argc, char **argv)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *answer = NULL;
    cadre_runtime_open(CADRE_RUNTIME(.script = argc > 1 ? argv[1] : NULL), &runtime,
                       &err);
    int limit = 40;
    cadre_team *team = cadre_team_new(runtime, "short-text");
    cadre_team_add_llm(team, CADRE_LLM(.name = "editor", .model = "openai/gpt-5-mini",
                                       .instructions =
                                           "Name one thing that the last text can do "
                                           "without."));
    cadre_team_add_llm(team, CADRE_LLM(.name = "writer", .model = "openai/gpt-5-mini",
                                       .instructions =
                                           "Write the text again as the editor says. "
                                           "Answer with the text only."));
    cadre_team_add_predicate(team, "is_short", is_short, &limit);
    cadre_team_add_topology(
        team, "cycle",
        CADRE_TOPOLOGY(.name = "shorter", .members = CADRE_NAMES("editor", "writer"),
                       .options = "{\"until\": {\"call\": \"is_short\"},"
                                  " \"max_iterations\": 5}"));
    if (cadre_run_start(team,
                        CADRE_RUN(.input = "It is going to rain in the afternoon, so "
                                           "umbrellas are a good idea."),
                        &run, &err) == CADRE_OK &&
        cadre_run_wait(run, &answer, &err) == CADRE_OK)
        printf("%s: %s\n", answer->agent, answer->text);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
