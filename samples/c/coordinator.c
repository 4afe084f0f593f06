// A coordinator: the lead's model calls the other members as tools. Both are called in
// one answer, so they work at the same time; what they say comes back in that order.
//
// The argument is a script of answers; without one the models are asked.
//
//   $ ./coordinator samples/c/scripts/coordinator.yaml
//   lead: Go on Saturday: it is dry, and the early train has seats.
#include <cadre/cadre.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *answer = NULL;
    cadre_runtime_open(CADRE_RUNTIME(.script = argc > 1 ? argv[1] : NULL), &runtime,
                       &err);
    cadre_team *team = cadre_team_new(runtime, "trip");
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "lead", .model = "openai/gpt-5-mini",
                        .instructions = "Plan the trip. Ask both others, then decide "
                                        "in one sentence."));
    cadre_team_add_llm(team, CADRE_LLM(.name = "weather", .model = "openai/gpt-5-mini",
                                       .description = "Knows the weather of a place",
                                       .instructions = "Answer in one sentence."));
    cadre_team_add_llm(team, CADRE_LLM(.name = "trains", .model = "openai/gpt-5-mini",
                                       .description = "Knows trains and free seats",
                                       .instructions = "Answer in one sentence."));
    cadre_team_add_topology(
        team, "coordinator",
        CADRE_TOPOLOGY(.name = "trip", .entry = "lead",
                       .members = CADRE_NAMES("lead", "weather", "trains")));
    if (cadre_run_start(team, CADRE_RUN(.input = "To Hallstatt at the weekend?"), &run,
                        &err) == CADRE_OK &&
        cadre_run_wait(run, &answer, &err) == CADRE_OK)
        printf("%s: %s\n", answer->agent, answer->text);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
