#include "support/ask_case.h"

#include "cadre/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

team_case ask_team;
char ask_trace[64];

cadre_status ask_case_ask(cadre_frame *frame, const char *question, cadre_error *err)
{
    json_t *answer = NULL;
    json_t *text = json_string(question);
    cadre_status status = cadre_frame_ask(frame, NULL, text, &answer, err);
    json_decref(text);
    if (status != CADRE_OK)
        return status;
    const char *said =
        cadre_frame_printf(frame, "%s %s", question, json_string_value(answer));
    json_decref(answer);
    return cadre_frame_set_output(frame, said, err);
}

cadre_status ask_case_colour(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return ask_case_ask(frame, "colour?", err);
}

bool ask_case_park(void)
{
    team_case_run(&ask_team, "go");
    snprintf(ask_trace, sizeof ask_trace, "%s", cadre_run_trace_id(ask_team.run));
    return CHECK_STATUS(ask_team.status, CADRE_EPARKED, &ask_team.err) &&
           CHECK_INT(ask_team.result->status, CADRE_FRAME_WAITING);
}

void ask_case_answer(const char *question, const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_string(text);
    CHECK_OK(cadre_trace_answer(ask_team.runtime, ask_trace, question, value, &err),
             &err);
    json_decref(value);
}

void ask_case_resume(void)
{
    cadre_run *run = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cadre_run_resume(ask_team.team, ask_trace, NULL, &run, &err), &err))
        return;
    cadre_run_free(ask_team.run);
    recorder_fini(&ask_team.recorder);
    ask_team.run = run;
    ask_team.err = (cadre_error)CADRE_ERROR_INIT;
    team_case_finish(&ask_team);
}

const char *ask_case_question(const char *name)
{
    static char id[64];
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    id[0] = '\0';
    CHECK_OK(cadre_run_frames(ask_team.run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        if (strcmp(frames[i].kind, "ask") == 0 &&
            frames[i].status == CADRE_FRAME_WAITING &&
            strcmp(frames[frames[i].parent].name, name) == 0)
            snprintf(id, sizeof id, "%s", frames[i].id);
    CHECK(id[0] != '\0');
    return id;
}

void ask_case_check_frames(const char *expected)
{
    char *frames = team_case_frames(&ask_team);
    char *lines = strdup(expected);
    char *rest = NULL;
    CHECK_INT(strlen(frames), strlen(expected));
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        CHECK_CONTAINS(frames, line);
    free(lines);
    free(frames);
}
