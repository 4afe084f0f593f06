// The script: answers from a file in place of a model, for work without a network and
// for tests. Steps are used in order per agent; steps with `when` are chosen by the
// last input, any number of times.
//
// Thread: a loaded script never changes; any thread may read it.
#ifndef CADRE_EXT_SCRIPT_H
#define CADRE_EXT_SCRIPT_H

#include "cadre/agent.h"
#include "cadre/message.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_script cadre_script;

// One attempt's step, checked when the script was loaded. Borrowed from the script.
typedef struct cadre_script_step {
    const char *text;         // NULL: none
    const json_t *tool_calls; // [{id, name, arguments: object or string}]; or NULL
    const json_t *handoffs;   // [{to, message}]; or NULL
    const char *ask;          // a question for the tool `ask`; NULL: none
    const char *escalate;     // why the tool `escalate` is called, may be ""; NULL: it
                              // is not
    int64_t delay_ms;
    int chunks;       // the text comes in so many pieces; at least 1
    int error_status; // 0: none; an HTTP status; -1: the connection is refused
    const char *error_message;
    int64_t error_retry_after_ms; // -1: none
    const json_t *usage; // what it has used, by the names of cadre_usage; NULL: nothing
    // What recordings have beside it:
    const char *reasoning;         // NULL: none
    cadre_finish finish;           // LENGTH: cut by its token limit; else NONE
    cadre_error_class error_class; // the failure as it was, and the last one; NONE:
                                   // what error_status says
    bool error_retryable;
    bool is_stopped; // no answer, but the text there was when the call was stopped
    int attempts;    // that were made, of which this is the last one's; at least 1
} cadre_script_step;

// Reads a script file. Errors: EIO, ECONFIG with file:line:column.
CADRE_API cadre_status cadre_script_load(const char *path, cadre_script **out,
                                         cadre_error *err);
CADRE_API void cadre_script_free(cadre_script *script); // NULL ok

// Gives the step for an agent that has used `*used` ordered attempts so far, and counts
// on when it is an ordered one. `last_input` chooses among the steps with `when`, which
// go first. Errors: EINVAL: no step is left, naming the agent and the number used.
CADRE_API cadre_status cadre_script_next(const cadre_script *script, const char *agent,
                                         const char *last_input, int *used,
                                         const cadre_script_step **step,
                                         cadre_error *err);

// How many ordered attempts an agent has in all; 0 for an unknown one.
CADRE_API int cadre_script_length(const cadre_script *script, const char *agent);
CADRE_API bool cadre_script_is_strict(const cadre_script *script);
CADRE_API cadre_names cadre_script_agents(const cadre_script *script);

// The result that stands in for the nth call (from 0) of a tool; the last one serves
// all later calls. NULL: the real tool runs. `is_error`: the result is a failure.
CADRE_API const char *cadre_script_tool_result(const cadre_script *script,
                                               const char *tool, int nth,
                                               bool *is_error);

#ifdef __cplusplus
}
#endif

#endif
