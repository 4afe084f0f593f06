// The prompt of a frame: what its next model call has in common with the one before.
//
// A conversation grows at its end, and so does what a model is sent of it. While the
// frame's `run` is under way its view, its transcript and the bytes of its last request
// stay, and the next call looks at what is new. So a call costs what was said since the
// last one, however long the history is.
//
// Rules:
// 1. Keeping only saves: the same request comes of an empty prompt.
// 2. A short one is not kept: it costs little to make again, and memory while it waits.
// 3. Bytes are used again only for the same model and the same system text, as far as
//    the turns are the same and the wire format has said that they stand by themselves
//    (cadre_http_keep_turns).
//
// Thread: the frame's strand; the network thread reads the body of an attempt.
#ifndef CDR_PROMPT_H
#define CDR_PROMPT_H

#include "net/http_request.h"
#include "net/transcript.h"
#include "run/view.h"
#include "run/window.h"

typedef struct cdr_prompt {
    cdr_view view;
    cdr_window window; // what is sent of the view
    cdr_transcript transcript;
    cadre_http http;
    const cadre_model *model; // whom the transcript and the bytes are for; NULL: none
    unsigned edition;         // of the window, that they are made of
    char *system;             // that the bytes begin with; NULL: none are kept
} cdr_prompt;

// Gives the frame's prompt, with its view up to date. NULL: no memory.
cdr_prompt *cdr_prompt_open(cadre_frame *frame, cadre_history history,
                            cadre_error *err);

// Writes a request for the prompt's items to prompt->http. Errors: ENOMEM, and what the
// wire format says.
cadre_status cdr_prompt_encode(cdr_prompt *prompt, const cadre_model *model,
                               cadre_request *request, cadre_error *err);

// The call has ended: what is not worth keeping goes.
void cdr_prompt_close(cadre_frame *frame);

void cdr_prompt_free(cdr_prompt *prompt); // NULL ok

#endif
