// A team file with a script, run in this process: what came of it, and its frames.
//
//     scripted_case c;
//     if (!scripted_case_open(&c, team, script))
//         return;
//     scripted_case_run(&c, CADRE_RUN(.input = "Go."));
//     CHECK_TEXT(c.result->text, "Done.");
//     scripted_case_close(&c);
//
// Thread: the test's.
#ifndef SCRIPTED_CASE_H
#define SCRIPTED_CASE_H

#include "support/check.h"
#include "support/folder.h"

#include "cadre/cadre.h"

typedef struct scripted_case {
    test_folder folder;
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_run *run; // the last one
    const cadre_result *result;
    cadre_status status;
    cadre_error err;
} scripted_case;

// Writes team.yaml and script.yaml and loads the team. False: the test has failed.
bool scripted_case_open(scripted_case *c, const char *team, const char *script);
void scripted_case_close(scripted_case *c);

// Runs to the end: result, status and err.
void scripted_case_run(scripted_case *c, const cadre_run_config *config);

// The nth frame, from 0, of that kind and name, of the last run. NULL: there is none.
const cadre_frame_info *scripted_case_frame(scripted_case *c, const char *kind,
                                            const char *name, int nth);

// Loads a team that is wrong: the first mistake, without the file's name, is that text.
void scripted_case_check_refused(const char *team, const char *problem);

#endif
