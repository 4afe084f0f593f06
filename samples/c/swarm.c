// A swarm of three: each may hand over to each. The guide takes a question that turns
// out to be the cook's, who sees that it is the gardener's.
//
// The argument is a script of answers; without one the models are asked.
//
//   $ ./swarm samples/c/scripts/swarm.yaml
//   gardener: Basil wilts below 10 degrees. Take it in at night.
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
    cadre_team *team = cadre_team_new(runtime, "kitchen-garden");
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "guide", .model = "openai/gpt-5-mini",
                                 .description = "First contact",
                                 .instructions = "Hand over to who knows the answer."));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "cook", .model = "openai/gpt-5-mini",
                                 .description = "Recipes, and herbs in the kitchen",
                                 .instructions = "Answer in two sentences. Hand over "
                                                 "what is a matter of the garden."));
    cadre_team_add_llm(team, CADRE_LLM(.name = "gardener", .model = "openai/gpt-5-mini",
                                       .description = "Plants, soil and weather",
                                       .instructions = "Answer in two sentences."));
    cadre_team_add_topology(
        team, "swarm",
        CADRE_TOPOLOGY(.name = "helpers", .entry = "guide",
                       .members = CADRE_NAMES("guide", "cook", "gardener"),
                       .options = "{\"max_handoffs\": 5}"));
    if (cadre_run_start(
            team,
            CADRE_RUN(.input = "Why is the basil for my pesto limp each morning?"),
            &run, &err) == CADRE_OK &&
        cadre_run_wait(run, &answer, &err) == CADRE_OK)
        printf("%s: %s\n", answer->agent, answer->text);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
