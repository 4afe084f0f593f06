// Texts and failures that several owners share: a frame, its parent's outcome, a fact.
//
// Thread: any: they are immutable after new, and the count is atomic.
#ifndef CDR_TEXT_H
#define CDR_TEXT_H

#include "cadre/event.h"

#include <stdatomic.h>
#include <stddef.h>

typedef struct cdr_text {
    atomic_int refs;
    size_t len;
    char bytes[]; // NUL-terminated
} cdr_text;

cdr_text *cdr_text_new(const char *text, size_t len); // NULL: no memory
cdr_text *cdr_text_ref(cdr_text *text);               // NULL stays NULL
void cdr_text_unref(cdr_text *text);                  // NULL ok
const char *cdr_text_bytes(const cdr_text *text);     // "" for NULL

// Why a frame failed, and where it happened first.
typedef struct cdr_failure {
    atomic_int refs;
    cadre_error_class error_class;
    bool retryable;
    const char *agent; // lives as long as the team
    char frame_id[32];
    char message[]; // one line
} cdr_failure;

cdr_failure *cdr_failure_new(const cadre_error *err, const char *agent,
                             const char *frame_id);
cdr_failure *cdr_failure_ref(cdr_failure *failure);
void cdr_failure_unref(cdr_failure *failure);

// As events and results show it; borrowed. NULL: no error.
cadre_error_info cdr_failure_info(const cdr_failure *failure);

#endif
