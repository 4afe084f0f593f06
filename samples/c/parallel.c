// Three models are asked at once, and the first answer counts: the others are stopped.
// Who did what is read from the tree when it is over.
//
// The argument is a script of answers; without one the models are asked.
//
//   $ ./parallel samples/c/scripts/parallel.yaml
//   first: Vienna
//   near failed
//   quick completed
//   thorough aborted
#include <cadre/cadre.h>

#include <stdio.h>
#include <string.h>

static void show(cadre_run *run, const cadre_result *answer)
{
    const cadre_frame_info *frames = NULL;
    size_t n_frames = 0;
    printf("%s: %s\n", answer->agent, answer->text);
    cadre_run_frames(run, &frames, &n_frames, NULL);
    for (size_t i = 0; i < n_frames; i++)
        if (strcmp(frames[i].kind, "agent") == 0 && frames[i].parent == 0)
            printf("%s %s\n", frames[i].name,
                   cadre_frame_status_name(frames[i].status));
}

int main(int argc, char **argv)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *answer = NULL;
    cadre_runtime_open(CADRE_RUNTIME(.script = argc > 1 ? argv[1] : NULL), &runtime,
                       &err);
    cadre_team *team = cadre_team_new(runtime, "three-sources");
    static const char *const names[] = {"near", "quick", "thorough"};
    for (int i = 0; i < 3; i++)
        cadre_team_add_llm(team,
                           CADRE_LLM(.name = names[i], .model = "openai/gpt-5-mini",
                                     .instructions = "Answer in one word."));
    cadre_team_add_topology(
        team, "parallel",
        CADRE_TOPOLOGY(.name = "first",
                       .members = CADRE_NAMES("near", "quick", "thorough"),
                       .options = "{\"wait\": \"any\"}"));
    if (cadre_run_start(team, CADRE_RUN(.input = "What is the capital of Austria?"),
                        &run, &err) == CADRE_OK &&
        cadre_run_wait(run, &answer, &err) == CADRE_OK)
        show(run, answer);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
