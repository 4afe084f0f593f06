// The sessions that runs of this process go on with: one run of each at a time. Two at
// once would both speak after the same last message, and neither would know.
//
// Thread: claims any; the others the one that starts a run.
#ifndef CDR_SESSION_H
#define CDR_SESSION_H

#include "tree/tree.h"

// Takes the session for a run; `name` is borrowed until it is released. Errors: EBUSY:
// another run has it; ENOMEM.
cadre_status cdr_session_claim(cadre_runtime *runtime, const char *name,
                               cadre_error *err);
void cdr_session_release(cadre_runtime *runtime, const char *name);

// A session as it was read.
typedef struct cdr_session_size {
    size_t n_messages;
    bool is_there;
} cdr_session_size;

// Reads what was said in it into an empty conversation, and counts the steps of the
// script that it took. Errors: ESTORE, ENOMEM.
cadre_status cdr_session_read(cdr_tree *tree, const char *name,
                              cdr_conversation *conversation, cdr_session_size *size,
                              cadre_error *err);

// Another process may work in the session, or have made the request `request_id` (NULL:
// none): only the store knows, once the start is in it. A lost store is told by the
// run. Errors: EBUSY.
cadre_status cdr_session_store_start(cdr_tree *tree, const char *name,
                                     const char *request_id,
                                     const cdr_session_size *read, cadre_error *err);

#endif
