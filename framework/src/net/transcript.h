// Making the transcript of a request; see cadre/ext/transcript.h for its rules.
//
// Thread: the frame's strand.
#ifndef CDR_TRANSCRIPT_H
#define CDR_TRANSCRIPT_H

#include "cadre/ext/model.h"

#include "base/arena.h"

typedef struct cdr_transcript {
    cdr_arena arena;
    cadre_turn *turns;
    size_t n_turns;
} cdr_transcript;

// Makes the turns of request->items, in time linear in them. They point into the items,
// which must outlive them. Errors: ENOMEM.
cadre_status cdr_transcript_init(cdr_transcript *transcript,
                                 const cadre_request *request, cadre_error *err);
void cdr_transcript_fini(cdr_transcript *transcript);

#endif
