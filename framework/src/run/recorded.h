// A replay's calls: what the recording has for each, and where the team does otherwise
// than when it was recorded.
//
// Rules:
// 1. A call is known by its keypath, so it gets its own answer whatever runs beside it.
// 2. A strict recording compares what is asked with what was: the first difference is
//    an error that names agent, step and both, and ends the run.
// 3. An answer that came behind the end of other frames waits for these, so that what
//    depends on it (who wins, the order of results) is as it was.
// 4. What was stopped is stopped at the same place: for the reason it was, or, where
//    another branch won, when that does.
//
// Thread: on the strand of the call.
#ifndef CDR_RUN_RECORDED_H
#define CDR_RUN_RECORDED_H

#include "base/brief.h"
#include "run/model_call.h"
#include "run/tool_hook.h"

enum {
    CDR_RECORDED_WHO_SIZE = 3 * CDR_BRIEF_SIZE
};

// Writes "agent 'writer' step 2 (at '1 > 2')" and returns it.
const char *cdr_recorded_who(const cdr_recorded *recorded,
                             char who[CDR_RECORDED_WHO_SIZE]);

// What others said to the agent before it asks with this key is in its inbox again.
void cdr_recorded_post_locked(cadre_frame *agent, const char *key);

// Finds the step of the agent's model call of that key: in call->recorded, NULL when
// this is no replay, or one of a script that has other steps too. `asked` is the short
// form of the request. Errors: EDIVERGED (a difference); the sticky ones, where it was
// stopped.
cadre_status cdr_recorded_step(cdr_model_call *call, const char *key, const char *asked,
                               cadre_error *err);

// The result of a tool call; raw->text stays NULL when it is really run. Errors: EINVAL
// (a difference); the sticky ones, where it was stopped.
cadre_status cdr_recorded_result(cdr_tool_entry *entry, cdr_tool_raw *raw,
                                 cadre_error *err);

// Of a frame whose `run` has come to `status`: gives what it ends with. One that had
// not come so far when it was stopped is stopped here.
cadre_status cdr_recorded_end(cadre_frame *frame, cadre_status status,
                              cadre_error *err);

// A person's answer to the question of this frame. Caller's reference; NULL: there is
// none. Errors as above.
cadre_status cdr_recorded_answer(cadre_frame *frame, const cadre_frame *question,
                                 json_t **answer, cadre_error *err);

// The value of a step, and its failure. NULL, CADRE_OK: it is really run.
cadre_status cdr_recorded_value(cadre_frame *step, json_t **value, cadre_error *err);

// Waits for what came before the call, or for its stop. The frame has its work.
cadre_status cdr_recorded_await(cadre_frame *frame, const cdr_recorded *recorded,
                                cadre_error *err);

#endif
