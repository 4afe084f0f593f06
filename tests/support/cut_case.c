#include "support/cut_case.h"

#include <stdio.h>
#include <string.h>

static const char script_text[] = "agents:\n"
                                  "  clerk:\n"
                                  "    - {tool_calls: [{name: act, arguments: {}}]}\n"
                                  "    - {text: Done.}\n";

bool cut_case_open(cut_case *f, const char *type)
{
    char script[FOLDER_PATH_SIZE];
    char url[FOLDER_PATH_SIZE] = "memory";
    memset(f, 0, sizeof *f);
    if (!CHECK(folder_make(&f->folder)) ||
        !CHECK(folder_write(&f->folder, "script.yaml", script_text, script)))
        return false;
    if (strcmp(type, "memory") != 0)
        snprintf(url, sizeof url, "%s:%s/runs.db", type, f->folder.path);
    if (!CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = url, .script = script),
                                     &f->runtime, &f->err),
                  &f->err))
        return false;
    mortal_store_wrap(f->runtime);
    return true;
}

void cut_case_close(cut_case *f)
{
    cadre_team_free(f->team);
    cadre_runtime_close(f->runtime);
    folder_remove(&f->folder);
}

void cut_case_run(cut_case *f, const cadre_run_config *config)
{
    cadre_run *run = NULL;
    if (!CHECK_OK(cadre_run_start(f->team, config, &run, &f->err), &f->err))
        return;
    CHECK_INT(cadre_run_wait(run, NULL, NULL), CADRE_ESTORE);
    snprintf(f->trace, sizeof f->trace, "%s", cadre_run_trace_id(run));
    cadre_run_free(run);
    mortal_store_cut((store_cut){0});
}
