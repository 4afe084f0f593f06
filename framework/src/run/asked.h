// What was asked: a short form of a model's request, which its frame keeps as its
// input. A recording has it, so that a replay can tell where a team asks otherwise.
//
// Rules:
// 1. {"steps": [before, after], "model", "input", "files", "messages", "system",
//    "tools"}: the model by its name in the team; the last text said to it, a long one
//    by its beginning, its length and a hash; a hash of the images and files that came
//    with that, where some did; how many messages it was shown; a hash of the system
//    text; the names of the tools it was offered. `steps` are those of its script that
//    the agent had used, where it takes them in order.
// 2. It costs what the last text, the system text and the names are long, not what was
//    said before: that is told by the calls before.
//
// Thread: any.
#ifndef CDR_ASKED_H
#define CDR_ASKED_H

#include "cadre/ext/model.h"

#include "base/buf.h"

// Writes the short form, a JSON object, without `steps`.
typedef struct cdr_asked {
    const char *model;
    const cadre_request *request;
    const char *last_input, *last_parts; // see run/view.h
} cdr_asked;
void cdr_asked_write(const cdr_asked *asked, cdr_buf *out);

// Compares a recorded short form (NULL: nothing is known) with one of now. Writes what
// differs first, "the input was \"a\", now it is \"b\"". False: nothing does.
bool cdr_asked_differs(const json_t *recorded, const json_t *now, cdr_buf *out);

#endif
