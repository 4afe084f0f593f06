// A topology from outside the tree: two members answer each other for some rounds, the
// third decides. Needs the installed headers only.
//
// The argument is a script of answers; without one the models are asked.
//
//   $ ./debate samples/c/scripts/debate.yaml
//   judge: Trains: the numbers for short trips outweigh the hour that is lost.
#include <cadre/cadre.h>
#include <cadre/ext/agent.h>

#include <stdio.h>

typedef struct debate {
    int rounds;
} debate;

static cadre_status debate_init(void *state, const cadre_agent_config *config,
                                cadre_error *err)
{
    debate *self = state;
    self->rounds = (int)json_integer_value(json_object_get(config->options, "rounds"));
    if (config->members.count == 3)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL, "agent '%s': a debate has 3 members, not %zu",
                      config->info.name, config->members.count);
}

static cadre_status debate_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const debate *self = state;
    const cadre_agent *const *who = cadre_frame_members(frame).items;
    const char *topic = cadre_frame_input(frame);
    cadre_outcome said[2] = {{.text = topic}, {.text = topic}};

    for (int round = 0; round < self->rounds; round++) {
        const cadre_call *const calls[] = {
            CADRE_CALL(.agent = who[0], .input = said[1].text),
            CADRE_CALL(.agent = who[1], .input = said[0].text)};
        cadre_status status = cadre_frame_batch(
            frame, CADRE_BATCH(.calls = calls, .n_calls = 2), said, err);
        if (status != CADRE_OK)
            return status; // failed, or stopped: pass it on
    }
    const char *brief = cadre_frame_printf(frame, "%s\n\nA: %s\n\nB: %s\n\nDecide.",
                                           topic, said[0].text, said[1].text);
    return cadre_frame_delegate(frame, CADRE_CALL(.agent = who[2], .input = brief),
                                NULL, err);
}

static const cadre_agent_ops debate_ops = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "debate",
    .summary = "two members answer each other, the third decides",
    .options_schema = "{\"rounds\": {\"type\": \"integer\", \"minimum\": 1,"
                      " \"maximum\": 100, \"default\": 2}}",
    .state_size = sizeof(debate),
    .init = debate_init,
    .run = debate_run,
};

int main(int argc, char **argv)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *answer = NULL;
    cadre_runtime_open(CADRE_RUNTIME(.script = argc > 1 ? argv[1] : NULL), &runtime,
                       &err);
    cadre_runtime_register(runtime, &debate_ops, &err);
    cadre_team *team = cadre_team_new(runtime, "debating-club");
    static const char *const names[] = {"trains", "planes", "judge"};
    for (int i = 0; i < 3; i++)
        cadre_team_add_llm(team,
                           CADRE_LLM(.name = names[i], .model = "openai/gpt-5-mini",
                                     .instructions = "Argue in one sentence."));
    cadre_team_add_topology(
        team, "debate",
        CADRE_TOPOLOGY(.name = "club",
                       .members = CADRE_NAMES("trains", "planes", "judge"),
                       .options = "{\"rounds\": 2}"));
    if (cadre_run_start(team, CADRE_RUN(.input = "How to get from Vienna to Graz?"),
                        &run, &err) == CADRE_OK &&
        cadre_run_wait(run, &answer, &err) == CADRE_OK)
        printf("%s: %s\n", answer->agent, answer->text);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
