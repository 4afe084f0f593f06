// A run that is cut where its tool wants it: a runtime over a mortal store, with a
// script of one agent, `clerk`, who calls the tool `act` and then says "Done.".
//
// Thread: the test's.
#ifndef CUT_CASE_H
#define CUT_CASE_H

#include "support/check.h"
#include "support/folder.h"
#include "support/mortal_store.h"

#include "cadre/cadre.h"

typedef struct cut_case {
    cadre_runtime *runtime;
    test_folder folder;
    cadre_team *team; // the test's to make
    char trace[64];   // of the run that was cut
    cadre_error err;
} cut_case;

// Opens the runtime with a fresh store of that type. False: the test has failed.
bool cut_case_open(cut_case *f, const char *type);
void cut_case_close(cut_case *f);

// Runs the team until somebody calls mortal_store_die; then the store is well again.
void cut_case_run(cut_case *f, const cadre_run_config *config);

#endif
