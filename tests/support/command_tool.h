// Runs a tool of type command through the whole product: a team file, a scripted model
// that calls it, and a small shell script as the tool.
//
// Each run also checks that no descriptor is left open. Thread: the test's.
#ifndef COMMAND_TOOL_H
#define COMMAND_TOOL_H

#include "support/check.h"
#include "support/folder.h"

#include "cadre/cadre.h"

#define COMMAND_TOOL_MAX_CALLS 50

typedef struct command_tool_setup {
    const char *program;    // the text of ./tool; NULL: there is none
    const char *parameters; // NULL: {type: object}
    const char *options;    // lines of the tool in the team file; NULL: argv: [./tool]
    const char *arguments;  // JSON; NULL: {}
    int n_calls;            // 0: one
    bool is_not_executable;
    const char *cancel_on; // the run is cancelled when progress starts with this
} command_tool_setup;

typedef struct command_tool_ran {
    char folder[FOLDER_PATH_SIZE];
    char *results[COMMAND_TOOL_MAX_CALLS]; // in the order they came
    cadre_result_code codes[COMMAND_TOOL_MAX_CALLS];
    int n_results;
    char progress[8192]; // the pieces, each with a '|' after it
    int64_t stop_ms;     // from the cancel to the end
    int64_t duration_ms;
} command_tool_ran;

// Runs the tool once for each call. True: it ran, there is a result for each call, and
// command_tool_fini is to be called. False: `err` has why the team could not be used.
bool command_tool_try(const command_tool_setup *setup, command_tool_ran *ran,
                      cadre_error *err);

// The same where the team must be good.
bool command_tool_run(const command_tool_setup *setup, command_tool_ran *ran);
void command_tool_fini(command_tool_ran *ran);

// Runs a tool to its one result, and checks that.
void command_tool_check(const command_tool_setup *setup, cadre_result_code code,
                        const char *result);

// This process has no child, not even a zombie.
void command_tool_check_no_child(void);

// Becomes the parent of what tools leave behind, so that its end can be awaited. False:
// the system cannot.
bool command_tool_adopt_orphans(void);

// Waits for all that tools left, each of which must have been killed: it would sleep
// for longer than a test may take.
void command_tool_await_orphans(void);

#endif
