// A script inside.
//
// What has a place (`at`) is of a recording: it serves the one call with that keypath
// and no other, whatever runs at the same time. All else is used in order.
//
// Thread: a loaded script never changes.
#ifndef CDR_SCRIPT_H
#define CDR_SCRIPT_H

#include "cadre/ext/script.h"

#include "base/arena.h"
#include "base/keypath.h"
#include "team/problems.h"
#include "team/yaml.h"

typedef struct cdr_script_entry {
    cadre_script_step step;
    const char *contains, *equals; // of `when`; NULL: not asked for
    int before;                    // ordered attempts before this entry
    int times;                     // attempts it serves; with `when`: any number
} cdr_script_entry;

typedef struct cdr_script_agent {
    const char *name;
    cdr_at at;
    cdr_script_entry *ordered;
    size_t n_ordered;
    cdr_script_entry *chosen; // those with `when`, in file order
    size_t n_chosen;
    int length; // ordered attempts in all
} cdr_script_agent;

// Whom a step hands over to.
typedef struct cdr_script_target {
    const char *name;
    cdr_at at;
} cdr_script_target;

typedef struct cdr_script_result {
    const char *text;
    bool is_error;
} cdr_script_result;

typedef struct cdr_script_tool {
    const char *name;
    cdr_at at;
    cdr_script_result *results;
    size_t n_results;
} cdr_script_tool;

typedef enum cdr_recorded_kind {
    CDR_RECORDED_STEP,   // of a model call
    CDR_RECORDED_RESULT, // of a tool call
    CDR_RECORDED_ANSWER, // of a person
    CDR_RECORDED_VALUE   // of a step, as cadre_frame_step makes them
} cdr_recorded_kind;

// What a recording has for one call.
typedef struct cdr_recorded {
    cdr_recorded_kind kind;
    cdr_keypath keypath;
    size_t number;       // in the order of the file, over all kinds
    const char *name;    // of the agent, the tool or the step; "" of an answer
    const char *at_text; // the keypath as it is written
    int nth;             // of those of that name, from 1
    cdr_at at;
    const json_t *source;   // all of it
    cadre_script_step step; // of a STEP
    const char *text;       // of a RESULT; NULL: the tool runs, or was stopped
    cadre_result_code code; // of a RESULT
    const size_t *after;    // numbers in `awaited`: frames that end before it answers
    size_t n_after;
} cdr_recorded;

// A frame that was stopped, and below it what was not done any more.
typedef struct cdr_recorded_stop {
    cdr_keypath keypath;
    const char *at_text, *reason;
    const size_t *after; // as above, of those it was stopped behind
    size_t n_after;
} cdr_recorded_stop;

// What others said to an agent before a call; several of one call in their order.
typedef struct cdr_recorded_message {
    cdr_keypath keypath;
    size_t number;
    const char *agent, *text;
} cdr_recorded_message;

// Each list is sorted by keypath.
typedef struct cdr_recording {
    cdr_recorded *calls;
    size_t n_calls;
    cdr_recorded_stop *stops;
    size_t n_stops;
    cdr_recorded_message *messages;
    size_t n_messages;
    cdr_keypath *awaited; // each once
    size_t n_awaited;
    const size_t *in_order; // places in `calls`, by number
    bool is_whole;          // of a run, as `recording` says: there are no other calls
} cdr_recording;

struct cadre_script {
    cdr_arena arena;
    const char *file; // its name
    json_t *content;  // what steps point into; owned
    cdr_script_agent *agents;
    size_t n_agents;
    cdr_script_target *targets; // of all steps
    size_t n_targets;
    cdr_script_tool *tools;
    size_t n_tools;
    json_t *agent_index, *tool_index; // name -> position
    const char **names;               // of the agents
    bool is_strict;
    cdr_recording recording;
};

// Does it have places?
static inline bool cdr_script_is_recording(const cadre_script *script)
{
    return script != NULL &&
           (script->recording.n_calls > 0 || script->recording.is_whole);
}

// What a recording has at a keypath; NULL: nothing.
const cdr_recorded *cdr_recording_find(const cdr_recording *recording,
                                       cdr_keypath keypath);
const cdr_recorded_stop *cdr_recording_find_stop(const cdr_recording *recording,
                                                 cdr_keypath keypath);

// The first of the messages there, and how many; and the number of an awaited frame,
// n_awaited: it is none.
const cdr_recorded_message *cdr_recording_messages(const cdr_recording *recording,
                                                   cdr_keypath keypath, size_t *count);
size_t cdr_recording_awaited(const cdr_recording *recording, cdr_keypath keypath);

// Reads a script file with all its mistakes. NULL: it cannot be used; there is at least
// one problem then. `at` is where the file is named, NULL: nowhere. Places live as long
// as the script and `problems`, but for paths and the problems' own files, which are in
// `problems->arena`.
cadre_script *cdr_script_read(const char *path, const cdr_at *at,
                              cdr_problems *problems);

// Fails, naming the place, when an agent has ordered attempts left after `used`.
cadre_status cdr_script_check_left(const cadre_script *script, const char *agent,
                                   int used, cadre_error *err);

#endif
