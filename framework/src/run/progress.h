// No progress: a model that makes the same calls, with the same results, again
// and again.
//
// Rules:
// 1. A round is the calls of one answer and their results. It is equal to an earlier
//    one when its calls, in their order, and all results are; blanks in the JSON of
//    arguments and the guard's own notes do not count.
// 2. Equal rounds in a row, or two or three rounds that take turns: the third and the
//    fourth time each such result gets a note; the fifth time and after no tool runs
//    and each result is `blocked`. A changed result starts the count again, and so does
//    another call.
// 3. Not counted, so that they end a count too, are rounds in which all calls were
//    wrong (`max_bad_calls` counts those), which ask for a handover (its limits do), or
//    have a call of a tool that may repeat itself.
// 4. The count is a function of the rounds so far. Those from the record are counted as
//    any, so a run that goes on has the same notes and blocks.
// 5. A round costs the same however many there were.
//
// Thread: the frame's strand; _note any that holds the tree's lock.
#ifndef CDR_PROGRESS_H
#define CDR_PROGRESS_H

#include "run/tool_round.h"

// Compares the calls of a round with the rounds before, before any of them runs: sets
// round->recurs. Without memory nothing is counted.
void cdr_progress_begin(cadre_frame *frame, cdr_round *round);

// What a result that is about to be recorded is given, for the model to read; NULL:
// nothing. `size` bytes in `note`.
enum {
    CDR_PROGRESS_NOTE_SIZE = 128
};
const char *cdr_progress_note(const cdr_round *round, const cdr_tool_entry *entry,
                              cadre_result_code code, const char *text,
                              char note[CDR_PROGRESS_NOTE_SIZE]);

// What the model reads instead of the result of a blocked call. Static storage.
const char *cdr_progress_refusal(void);

// Counts the round, once all its results are there.
void cdr_progress_end(cadre_frame *frame, const cdr_round *round);

#endif
