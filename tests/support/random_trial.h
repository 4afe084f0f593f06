// One random team at work: a run of it is begun, cut, stopped, asked and answered, and
// gone on with until it has ended; its record is checked each time it comes to rest.
//
// Thread: one trial at a time; the test's.
#ifndef SUPPORT_RANDOM_TRIAL_H
#define SUPPORT_RANDOM_TRIAL_H

#include "support/folder.h"
#include "support/random_team.h"

#include "base/mutex.h"

typedef enum random_trouble {
    RANDOM_UNDISTURBED, // questions are answered, nothing else
    RANDOM_CUTS,        // it is cut at one commit or two
    RANDOM_ALL
} random_trouble;

typedef struct random_trial {
    random_team *plan;
    random_trouble trouble;
    dice dice; // of what is done to it
    test_folder folder;
    bool is_file;
    bool is_replay; // no tool runs
    cadre_runtime *runtime;
    cadre_team *team;
    // Of the run:
    char trace[64];
    cadre_status status;
    cadre_error err;
    int n_lives, n_cuts, max_cuts;
    bool cuts;       // the last life was to be cut
    bool was_freed;  // in mid-run, so nothing is known of its end
    bool is_limited; // by a limit of the run, so its end is nobody's
} random_trial;

// False: the team cannot be made, and the test has failed.
bool random_trial_open(random_trial *t, random_team *plan, random_trouble trouble);

// The same, undisturbed, with a script that answers in place of the models.
bool random_trial_open_replay(random_trial *t, random_team *plan, const char *script);
void random_trial_close(random_trial *t);

// A run, from its start to its end. `session`: NULL, or its name.
void random_trial_run(random_trial *t, const char *session);

// What is recorded of the last run, without the places of messages. free() it.
char *random_trial_text(const random_trial *t);

// Prints the team and the record of the last run.
void random_trial_print(random_trial *t);

#endif
