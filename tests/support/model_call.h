// A model of a wire format, and calls of it that a test waits for.
//
// Running out of memory ends the program.
// Thread: model_call_cancel and _resume: any; the rest: one.
#ifndef SUPPORT_MODEL_CALL_H
#define SUPPORT_MODEL_CALL_H

#include "net/attempt.h"

// Finds the wire format of a provider; NULL: there is none.
const cadre_model_ops *model_ops_find(const char *provider);

// Makes an instance, as the loader does: model "m" of that name, key variable TEST_KEY.
// `options` is JSON or NULL. NULL with `err` filled: init refused.
void *model_open(const cadre_model_ops *ops, const char *base_url, const char *options,
                 cadre_error *err);
void model_close(const cadre_model_ops *ops, void *state);

// Encodes a request as the framework does: its items as a transcript first.
cadre_status model_encode(const cadre_model_ops *ops, const void *state,
                          const cadre_request *request, cadre_http *http,
                          cadre_error *err);

typedef struct model_call model_call;

typedef struct model_call_config {
    const cadre_model_ops *ops;
    const void *state;
    const cadre_request *request;
    int64_t timeout_ms, idle_timeout_ms;
    bool pauses; // says that it is full after every delivery
} model_call_config;

// Encodes and starts. NULL with `err` filled: it could not be started.
model_call *model_call_start(cdr_network *network, const model_call_config *config,
                             cadre_error *err);
void model_call_cancel(model_call *call);

// Waits until the call has said that it is full / has shown that many bytes of text.
// False after 10 s.
bool model_call_await_full(model_call *call);
bool model_call_await_text(model_call *call, size_t len);

// Reads on, and says no more that it is full.
void model_call_resume(model_call *call);

// Waits for the end. The answer stands in model_call_sink.
cadre_status model_call_finish(model_call *call, cadre_error *err);
const cadre_sink *model_call_sink(const model_call *call);
void model_call_free(model_call *call); // NULL ok

#endif
