// Models of a wire format, and calls of them.
#include "support/model_call.h"

#include "net/transcript.h"
#include "team/kinds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_WAIT_S 10

struct model_call {
    cadre_http http;
    cadre_sink sink;
    cadre_error failure;
    cdr_attempt *attempt;
    pthread_mutex_t mu;
    pthread_cond_t changed;
    size_t n_text; // guarded by mu
    bool was_full; // guarded by mu
    bool pauses;   // guarded by mu
    bool is_done;  // guarded by mu
};

static void *must(void *memory)
{
    if (!memory) {
        (void)fputs("no memory for a model call\n", stderr);
        abort();
    }
    return memory;
}

const cadre_model_ops *model_ops_find(const char *provider)
{
    for (size_t i = 0; cdr_kinds_models[i]; i++)
        if (strcmp(cdr_kinds_models[i]->provider, provider) == 0)
            return cdr_kinds_models[i];
    return NULL;
}

void *model_open(const cadre_model_ops *ops, const char *base_url, const char *options,
                 cadre_error *err)
{
    json_t *json = must(json_loads(options ? options : "{}", 0, NULL));
    cadre_model_config config = {
        .struct_size = sizeof(config),
        .name = "m",
        .model = "m",
        .base_url = base_url,
        .api_key_env = "TEST_KEY",
        .options = json,
    };
    void *state = must(calloc(1, ops->state_size + 1));
    cadre_status status = ops->init ? ops->init(state, &config, err) : CADRE_OK;
    json_decref(json);
    if (status == CADRE_OK)
        return state;
    model_close(ops, state);
    return NULL;
}

cadre_status model_encode(const cadre_model_ops *ops, const void *state,
                          const cadre_request *request, cadre_http *http,
                          cadre_error *err)
{
    cdr_transcript transcript = {.n_turns = 0};
    cadre_request shown = *request;
    cadre_status status =
        cdr_transcript_update(&transcript, request, request->n_items, err);
    if (status != CADRE_OK)
        return status;
    shown.turns = transcript.turns;
    shown.n_turns = transcript.n_turns;
    status = ops->encode(state, &shown, http, err);
    cdr_transcript_fini(&transcript);
    return status;
}

void model_close(const cadre_model_ops *ops, void *state)
{
    if (state && ops->fini)
        ops->fini(state);
    free(state);
}

static void on_delta(void *ctx, bool is_reasoning, const char *text, size_t len)
{
    (void)is_reasoning;
    (void)text;
    model_call *call = ctx;
    pthread_mutex_lock(&call->mu);
    call->n_text += len;
    pthread_cond_broadcast(&call->changed);
    pthread_mutex_unlock(&call->mu);
}

static bool is_full(void *ctx)
{
    model_call *call = ctx;
    pthread_mutex_lock(&call->mu);
    bool full = call->pauses;
    call->was_full = call->was_full || full;
    pthread_cond_broadcast(&call->changed);
    pthread_mutex_unlock(&call->mu);
    return full;
}

static void on_done(void *ctx)
{
    model_call *call = ctx;
    pthread_mutex_lock(&call->mu);
    call->is_done = true;
    pthread_cond_broadcast(&call->changed);
    pthread_mutex_unlock(&call->mu);
}

model_call *model_call_start(cdr_network *network, const model_call_config *config,
                             cadre_error *err)
{
    model_call *call = must(calloc(1, sizeof(*call)));
    pthread_mutex_init(&call->mu, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&call->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    cdr_http_init(&call->http);
    cdr_answer_init(&call->sink);
    call->sink.on_delta = on_delta;
    call->sink.ctx = call;
    call->pauses = config->pauses;
    cdr_attempt_config attempt = {
        .ops = config->ops,
        .state = config->state,
        .http = &call->http,
        .sink = &call->sink,
        .failure = &call->failure,
        .timeout_ms = config->timeout_ms,
        .idle_timeout_ms = config->idle_timeout_ms,
        .is_full = is_full,
        .on_done = on_done,
        .ctx = call,
    };
    cadre_status status =
        model_encode(config->ops, config->state, config->request, &call->http, err);
    if (status == CADRE_OK)
        status = cdr_attempt_start(network, &attempt, &call->attempt, err);
    if (status == CADRE_OK)
        return call;
    model_call_free(call);
    return NULL;
}

void model_call_cancel(model_call *call)
{
    cdr_attempt_cancel(call->attempt);
}

// Waits for one of the changes; `done` is what is waited for.
static bool await(model_call *call, bool (*done)(const model_call *, size_t), size_t n)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += MAX_WAIT_S;
    pthread_mutex_lock(&call->mu);
    int rc = 0;
    while (!done(call, n) && rc == 0)
        rc = pthread_cond_timedwait(&call->changed, &call->mu, &until);
    bool is_there = done(call, n);
    pthread_mutex_unlock(&call->mu);
    return is_there;
}

static bool has_been_full(const model_call *call, size_t n)
{
    (void)n;
    return call->was_full;
}

static bool has_text(const model_call *call, size_t n)
{
    return call->n_text >= n;
}

static bool has_ended(const model_call *call, size_t n)
{
    (void)n;
    return call->is_done;
}

bool model_call_await_full(model_call *call)
{
    return await(call, has_been_full, 0);
}

bool model_call_await_text(model_call *call, size_t len)
{
    return await(call, has_text, len);
}

void model_call_resume(model_call *call)
{
    pthread_mutex_lock(&call->mu);
    call->pauses = false;
    pthread_mutex_unlock(&call->mu);
    cdr_attempt_resume(call->attempt);
}

cadre_status model_call_finish(model_call *call, cadre_error *err)
{
    if (!await(call, has_ended, 0)) {
        cdr_attempt_cancel(call->attempt);
        (void)await(call, has_ended, 0);
        (void)fputs("a model call did not end within 10 s\n", stderr);
    }
    cadre_status status = cdr_attempt_finish(call->attempt);
    call->attempt = NULL;
    if (status != CADRE_OK && err != NULL && err->status == CADRE_OK)
        *err = call->failure;
    return status;
}

const cadre_sink *model_call_sink(const model_call *call)
{
    return &call->sink;
}

void model_call_free(model_call *call)
{
    if (!call)
        return;
    cdr_http_fini(&call->http);
    cdr_answer_fini(&call->sink);
    pthread_cond_destroy(&call->changed);
    pthread_mutex_destroy(&call->mu);
    free(call);
}
