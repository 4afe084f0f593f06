// One attempt of a model call over the network: an encoded request out, server-sent
// events or a JSON body in, an answer gathered, an error classified.
//
// A content type that is neither is an error that quotes it and the first 200
// characters (no control bytes). After the finish reason reading goes on to the end
// marker, the close, or 2 s. A cut before the finish is `truncated`, retryable; after
// it the answer stands. A key never stands in an error. What the server says of waiting
// is the longer of its head and its body; where its head says not to ask again, no
// failure is retryable.
//
// Thread: start, cancel, resume: any; the sink and the failure belong to the attempt
// until on_done.
#ifndef CDR_ATTEMPT_H
#define CDR_ATTEMPT_H

#include "net/answer.h"
#include "net/http_request.h"

typedef struct cdr_attempt cdr_attempt;

typedef struct cdr_attempt_config {
    const cadre_model_ops *ops;
    const void *state;
    const cadre_http *http; // must live until on_done
    cadre_sink *sink;       // cleared by start
    cadre_error *failure;   // empty; filled before on_done when it fails
    int64_t timeout_ms, idle_timeout_ms;
    // After each delivery: is the consumer's queue full, so that reading must pause?
    // Network thread; must not block. Optional.
    bool (*is_full)(void *ctx);
    // Called once, on the network thread, last; must not block.
    void (*on_done)(void *ctx);
    void *ctx;
} cdr_attempt_config;

// `*out` is set before the first callback, since that may already ask for a resume, and
// NULL after a failure.
cadre_status cdr_attempt_start(cdr_network *network, const cdr_attempt_config *config,
                               cdr_attempt **out, cadre_error *err);
void cdr_attempt_cancel(cdr_attempt *attempt);
void cdr_attempt_resume(cdr_attempt *attempt);

// After on_done: how it ended (CADRE_OK: the sink is settled), and frees the attempt.
// EABORTED when it was cancelled.
cadre_status cdr_attempt_finish(cdr_attempt *attempt);

#endif
