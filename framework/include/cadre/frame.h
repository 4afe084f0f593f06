// Frames: one call in the stack tree, and what an agent's `run` does with its own.
//
// `run` IS EXECUTED AGAIN FROM ITS TOP when a run is resumed after a crash or a pause:
// calls and steps answer from the record, so everything else in it must be pure. Time,
// chance, files and the network go through cadre_frame_now, _random and _step.
//
// One status channel: CADRE_OK, or what to return. A failed child gives CADRE_EFAILED
// with its outcome filled in; who wants to survive it tests for that and goes on.
// EABORTED, ETIMEOUT, EPARKED, EDIVERGED and ESTORE are sticky: every later call of the
// frame returns them. What operations hand out lives until `run` returns.
//
// Thread: a frame is used by the thread its `run` was called on; cadre_frame_is_stopped
// and cadre_frame_cancel_fd by any.
#ifndef CADRE_FRAME_H
#define CADRE_FRAME_H

#include "cadre/call.h"

#ifdef __cplusplus
extern "C" {
#endif

// Same conversation, blocks: "your turn, then back to me". `out` may be NULL. The
// caller's own answer becomes that of its last delegate unless it sets another.
CADRE_API cadre_status cadre_frame_delegate(cadre_frame *frame, const cadre_call *call,
                                            cadre_outcome *out, cadre_error *err);

// A conversation of its own, blocks: "work this out for me".
CADRE_API cadre_status cadre_frame_call(cadre_frame *frame, const cadre_call *call,
                                        cadre_outcome *out, cadre_error *err);

// Several at once, a fork for each; `out` has one outcome for each call. CADRE_EFAILED
// when at least one failed. An invalid call keeps its place and its error. `out` may be
// NULL.
CADRE_API cadre_status cadre_frame_batch(cadre_frame *frame, const cadre_batch *batch,
                                         cadre_outcome *out, cadre_error *err);

// "On your own, report later": starts a run of its own, in the background, that reports
// to this frame's conversation when it has ended; `trace` (NULL: not wanted) is its
// trace id. The callee gets the call's input, and of the call timeout_ms counts. What
// the frame started before a crash is found again. Errors: the sticky ones; as of
// cadre_run_start.
CADRE_API cadre_status cadre_frame_spawn(cadre_frame *frame, const cadre_call *call,
                                         const char **trace, cadre_error *err);

// "You answer from here", when `run` has returned. Only along the edges of the scope
// this frame was called with. Errors: EREFUSED with the reason; EINVAL without a scope.
CADRE_API cadre_status cadre_frame_transfer(cadre_frame *frame, const cadre_call *call,
                                            cadre_error *err);

// Runs a step and records its value; `out` gets a new reference.
CADRE_API cadre_status cadre_frame_step(cadre_frame *frame, const cadre_step *step,
                                        json_t **out, cadre_error *err);

// Wall time in milliseconds since 1970, and 64 random bits; recorded.
CADRE_API cadre_status cadre_frame_now(cadre_frame *frame, int64_t *wall_ms,
                                       cadre_error *err);
CADRE_API cadre_status cadre_frame_random(cadre_frame *frame, uint64_t *bits,
                                          cadre_error *err);

// Asks a person and gives the answer (new reference; what JSON they gave, mostly a
// text). `question`: a text, or an object with "question", a text, and optionally
// "choices", a list of texts that the answer must be one of; what else stands in it is
// shown with it. `key` NULL: "ask#<nth>". Blocks while others of the run go on; when
// nothing can but by an answer, the run parks. Errors: EPARKED: return it, and `run` is
// called again when the answer is there.
CADRE_API cadre_status cadre_frame_ask(cadre_frame *frame, const char *key,
                                       const json_t *question, json_t **answer,
                                       cadre_error *err);

// Sets the answer and says it in the conversation, as this agent's text.
CADRE_API cadre_status cadre_frame_set_output(cadre_frame *frame, const char *text,
                                              cadre_error *err);

// Shows a piece of text, whole characters of UTF-8, to who watches the run. Of an
// agent: of the message that its next cadre_frame_set_output ends, whose text is what
// counts; void when none follows. Of a tool or a step: progress.
CADRE_API void cadre_frame_emit(cadre_frame *frame, const char *text, size_t len);

// The input as text (JSON input as its text); "" when there is none.
CADRE_API const char *cadre_frame_input(const cadre_frame *frame);
CADRE_API const json_t *cadre_frame_input_json(const cadre_frame *frame); // or NULL

CADRE_API const cadre_agent *cadre_frame_agent(const cadre_frame *frame);
CADRE_API cadre_agents cadre_frame_members(const cadre_frame *frame);

// Looks in the roster the frame was called with, then in the members. NULL: not there.
CADRE_API const cadre_agent *cadre_frame_find(const cadre_frame *frame,
                                              const char *name);

// Messages of the frame's conversation up to now, newest last, in the frame's arena.
CADRE_API cadre_status cadre_frame_messages(cadre_frame *frame,
                                            const cadre_message *const **messages,
                                            size_t *n_messages, cadre_error *err);

// Which of `roster` had spoken last in this conversation when the frame was entered,
// itself or by a member of it; NULL: none of them.
CADRE_API const cadre_agent *cadre_frame_last_speaker(cadre_frame *frame,
                                                      cadre_agents roster);

CADRE_API const char *cadre_frame_id(cadre_frame *frame);
CADRE_API const char *cadre_frame_path(cadre_frame *frame); // "desk -> triage"

// Must this frame stop (a mark, its time)? Long work of one's own asks now and then.
CADRE_API bool cadre_frame_is_stopped(cadre_frame *frame);

// A descriptor that becomes readable when the frame must stop; for poll. Owned by the
// frame. -1: none left. A timeout does not make it readable: see _remaining_ms.
CADRE_API int cadre_frame_cancel_fd(cadre_frame *frame);
CADRE_API int64_t cadre_frame_remaining_ms(cadre_frame *frame); // INT64_MAX: no limit

// Waits so long, or until the frame must stop. Errors: EABORTED, ETIMEOUT.
CADRE_API cadre_status cadre_frame_sleep(cadre_frame *frame, int64_t ms,
                                         cadre_error *err);

// Memory that lives until `run` returns. NULL: none left.
CADRE_API void *cadre_frame_alloc(cadre_frame *frame, size_t size);
CADRE_API const char *cadre_frame_printf(cadre_frame *frame, const char *format, ...)
    CADRE_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif

#endif
