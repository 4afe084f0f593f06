#include "support/scripted_case.h"

#include <string.h>

bool scripted_case_open(scripted_case *c, const char *team, const char *script)
{
    char script_path[FOLDER_PATH_SIZE], team_path[FOLDER_PATH_SIZE];
    memset(c, 0, sizeof *c);
    if (!CHECK(folder_make(&c->folder)) ||
        !CHECK(folder_write(&c->folder, "script.yaml", script, script_path)) ||
        !CHECK(folder_write(&c->folder, "team.yaml", team, team_path)))
        return false;
    if (!CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.script = script_path), &c->runtime,
                                     &c->err),
                  &c->err))
        return false;
    return CHECK_OK(cadre_team_load(c->runtime, team_path, &c->team, &c->err), &c->err);
}

void scripted_case_close(scripted_case *c)
{
    cadre_run_free(c->run);
    cadre_team_free(c->team);
    cadre_runtime_close(c->runtime);
    folder_remove(&c->folder);
}

void scripted_case_run(scripted_case *c, const cadre_run_config *config)
{
    static const cadre_result none = {.trace_id = "", .agent = "", .text = ""};
    cadre_run_free(c->run);
    c->run = NULL;
    c->result = &none;
    cadre_error_clear(&c->err);
    c->status = cadre_run_start(c->team, config, &c->run, &c->err);
    if (c->status == CADRE_OK)
        c->status = cadre_run_wait(c->run, &c->result, &c->err);
}

const cadre_frame_info *scripted_case_frame(scripted_case *c, const char *kind,
                                            const char *name, int nth)
{
    const cadre_frame_info *frames = NULL;
    size_t n_frames = 0;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cadre_run_frames(c->run, &frames, &n_frames, &err), &err))
        return NULL;
    for (size_t i = 0; i < n_frames; i++)
        if (strcmp(frames[i].kind, kind) == 0 && strcmp(frames[i].name, name) == 0 &&
            nth-- == 0)
            return &frames[i];
    return NULL;
}

void scripted_case_check_refused(const char *text, const char *problem)
{
    char path[FOLDER_PATH_SIZE];
    test_folder folder;
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    size_t n_problems = 0;
    if (!CHECK(folder_make(&folder)) ||
        !CHECK(folder_write(&folder, "team.yaml", text, path)))
        return;
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    CHECK_INT(cadre_team_load(runtime, path, &team, &err), CADRE_ECONFIG);
    const char *const *problems = cadre_team_problems(team, &n_problems);
    if (CHECK(n_problems > 0))
        CHECK_CONTAINS(problems[0], problem);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    folder_remove(&folder);
}
