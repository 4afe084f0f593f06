// A chain: the members answer one after the other in one conversation. Events are read
// while it runs, so each answer is shown as soon as it is there.
//
// The argument is a script of answers; without one the models are asked.
//
//   $ ./chain samples/c/scripts/chain.yaml
//   translator: The meeting is moved to Thursday, 10 o'clock, room 4.
//   shortener: Meeting: Thursday, 10:00, room 4.
#include <cadre/cadre.h>

#include <stdio.h>

static void show(const char *agent, const cadre_message *message)
{
    if (message->role == CADRE_ROLE_ASSISTANT)
        printf("%s: %s\n", agent, message->text);
}

int main(int argc, char **argv)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *answer = NULL;
    cadre_runtime_open(CADRE_RUNTIME(.script = argc > 1 ? argv[1] : NULL), &runtime,
                       &err);
    const cadre_event *event = NULL;
    cadre_team *team = cadre_team_new(runtime, "note");
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "translator", .model = "openai/gpt-5-mini",
                        .instructions = "Translate the user's text into English."));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "shortener", .model = "openai/gpt-5-mini",
                        .instructions = "Shorten the translation to one line."));
    cadre_team_add_topology(
        team, "chain",
        CADRE_TOPOLOGY(.name = "note",
                       .members = CADRE_NAMES("translator", "shortener")));
    if (cadre_run_start(team,
                        CADRE_RUN(.input = "Die Sitzung wird auf Donnerstag verlegt, "
                                           "10 Uhr, Raum 4."),
                        &run, &err) == CADRE_OK) {
        while (cadre_run_next(run, &event, &err) == CADRE_OK)
            if (event->type == CADRE_EVENT_MESSAGE_END)
                show(event->agent, event->u.message_end.message);
        cadre_run_wait(run, &answer, &err); // how it ended
    }
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : (fprintf(stderr, "%s\n", err.text), 1);
}
