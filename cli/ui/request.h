// A run of a team that the command line asks for, new or to be gone on with: what
// `cadre run`, `resume`, `answer` and `chat` share.
//
// Thread: one thread.
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "background.h"
#include "files.h"
#include "options.h"
#include "recording.h"
#include "show_run.h"
#include "store.h"

// Their options, for the beginning of a table; what --all does is the command's.
#define CLI_REQUEST_OPTIONS(all)                                                       \
    {"json", NULL, "print one JSON object: answer, usage, frames"},                    \
        {"events", NULL, "print what happens as JSON, one object a line"},             \
        {"all", NULL, all}, CLI_REQUEST_ANSWER_OPTIONS

// Those of a command that shows answers in no other form.
#define CLI_REQUEST_ANSWER_OPTIONS                                                     \
    {"offline", NULL, "take all answers from the team's script, ask no model"},        \
        {"script", "FILE", "take the answers from this script; implies --offline"},    \
        CLI_RECORDING_OPTIONS,                                                         \
        {"set", "NAME=VALUE", "set an input of the team; may be given many times"},    \
        {"timeout", "TIME", "end the run after so long: 250ms, 10s, 5m, 2h"},          \
        {"max-cost", "DOLLARS", "make no call when it has cost so much: 0.50"},        \
        {"store", "URL", "where runs are recorded: " CLI_STORE_OPTION},                \
        {"plain", NULL, "no colours and no live tree on a terminal"},                  \
    {                                                                                  \
        "quiet", NULL, "print nothing on stderr but failures and questions"            \
    }

typedef struct cli_request {
    const char *team_path;    // NULL: the record of the run says where
    const char *trace;        // to go on with; NULL: a new run
    bool accepts_changes;     // of the team's shape
    const char *session;      // of a new run; NULL: none
    const char *type;         // of the root, instead of its file's; NULL: that
    char *recorded_type;      // owned; what `type` is, if the record says it
    const char *id;           // names a new run's request; NULL: it has no name
    char *input;              // of a new run; owned
    cli_files files;          // that come with it
    json_t *inputs;           // owned; an object
    json_t *metadata;         // owned; that of the run
    bool may_be_held;         // that another program has the run already is fine
    char *resume;             // owned; see cli_show_config
    char *options;            // owned; the same
    bool was_stopped;         // by a signal or by who reads stdout
    int stopped_by;           // the signal; 0: none
    cadre_status not_started; // why there was no run the last time
    int64_t timeout_ms;
    int64_t max_cost_usd_micros; // 0: no more is said than in the team file
    cli_store store;
    cadre_runtime_config runtime;
    cli_show_config show;
    // Owned; what is open:
    cadre_runtime *opened;
    cadre_team *team;
    cadre_run *run;            // the last one; has ended
    cli_background background; // that its runs spawned
    cli_recording recording;
} cli_request;

// Reads the shared options, for a new run or to go on with `trace`. CLI_EXIT_OK, or a
// failure told on stderr. Free it in both cases.
int cli_request_init(cli_request *request, const cli_arguments *arguments,
                     const char *trace, const char *team_path);
void cli_request_fini(cli_request *request);

// Runs it to its end, closes stdout unless it is one of many, and returns what the
// program exits with.
int cli_request_run(cli_request *request);

// The same in two steps, for several runs of one team: opens the store and loads the
// team, then makes one run. A new run's input, or `trace`, are said anew for each.
int cli_request_open(cli_request *request);
int cli_request_run_on(cli_request *request);

// There is no run: tells why, in the form that was asked for, and returns the
// exit status.
int cli_request_report(const cli_request *request, const cadre_error *err,
                       int exit_status);

// Reads an option whose value is a name: it may be left out, but not be empty.
// CLI_EXIT_OK, or a failure told on stderr.
int cli_request_read_name(const cli_arguments *arguments, const char *option,
                          const char **name);

// Reads the option --timeout alone. The same.
int cli_request_read_timeout(const cli_arguments *arguments, int64_t *timeout_ms);

// Reads the options --set alone, into a new object. The same.
int cli_request_read_sets(const cli_arguments *arguments, json_t **inputs);

#endif
