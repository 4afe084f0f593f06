// Hooks in the lives of a run: teams that have some, and the kill matrix for them. A
// cut may repeat more of what hooks do than kill_matrix.h allows, and runs may fail.
//
// Thread: as lives.
#ifndef HOOK_LIVES_H
#define HOOK_LIVES_H

#include "support/lives.h"
#include "support/recorded.h"

enum {
    HOOK_LIVES_MAX_COMMITS = 60 // no run of them has more
};

// What a hook does: a step that counts in lives_count.
cadre_status hook_lives_step(cadre_frame *frame, cadre_error *err);

// A step, then the result "RESULT of WHAT", with the argument `what`; "?": it has none.
cadre_status hook_lives_after_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                                   cadre_error *err);

// An empty team with a script. NULL: the test has failed.
cadre_team *hook_lives_team(cadre_runtime *runtime, const test_folder *folder,
                            const char *script);

// A clerk with these hooks who calls the tool `charge`, which counts as unsafe.
cadre_team *hook_lives_clerk(cadre_runtime *runtime, const test_folder *folder,
                             const cadre_hooks *hooks);

// What the runs are started with.
const cadre_run_config *hook_lives_request(void);

// The answer of the last life, or why it failed.
const char *hook_lives_said(const lives *l);

// Cuts a run before and after each commit, and goes on: it must leave what an
// undisturbed one does. `pairs`: also cut twice, each so many-th place; 0: not.
void hook_lives_matrix(lives_team make, const char *type, int pairs);

#endif
