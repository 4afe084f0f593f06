// The network: its threads run all HTTP transfers for callers that block.
//
// curl_multi_socket_action over epoll. A thread has several multi handles ("lanes"),
// since one is not flat in its number of transfers. There is one thread until that is
// busy most of the time, then one more, up to one for each processor. A transfer stays
// with its thread. Easy handles are kept and reused.
//
// Rules:
// 1. A transfer's handler runs on its network thread, with no lock held, and must
//    neither block nor call back into the network, except cdr_transfer_cancel.
// 2. `done` is called exactly once, last; after it nothing of the transfer is touched.
// 3. Cancel and resume are allowed from any thread until cdr_transfer_free, also
//    after `done`; they never wait. A cancel closes the connection (HTTP/1) or the
//    stream (HTTP/2) and `done` follows with `cancelled`.
// 4. Only the headers of the final response block count; those of 1xx are dropped.
// 5. While a transfer is paused its timers stand still.
// 6. Proxies are those of the environment (http_proxy, no_proxy, ...), but none is used
//    to reach this machine. CURL_CA_BUNDLE, else SSL_CERT_FILE, names the CA bundle.
//
// Thread: cdr_network_start, _cancel, _resume: any.
#ifndef CDR_NETWORK_H
#define CDR_NETWORK_H

#include "cadre/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cdr_network cdr_network;
typedef struct cdr_transfer cdr_transfer;

typedef struct cdr_http_header {
    const char *name;
    const char *value;
} cdr_http_header;

// All pointers are copied or borrowed as said; a time of 0 means none.
typedef struct cdr_http_request {
    const char *url;                // copied
    const cdr_http_header *headers; // copied; CR or LF in one is EINVAL
    size_t n_headers;
    const char *body; // borrowed until `done`; sent with POST; NULL: GET
    size_t body_len;
    int connect_timeout_ms; // 0: 30 s
    int idle_timeout_ms;    // no byte for so long, counted from the first body byte
    int timeout_ms;         // the whole attempt
    int linger_ms;          // after CDR_FLOW_LINGER; 0: 2 s
} cdr_http_request;

typedef struct cdr_http_head {
    int status;               // 200, 429, ...
    const char *content_type; // "" when absent; as sent
    int64_t retry_after_ms;   // -1: none; a date or seconds, never negative else
    bool refuses_retry;       // x-should-retry: false (OpenAI, Anthropic)
    const char *location;     // "" when absent; redirects are not followed
} cdr_http_head;

typedef enum cdr_flow {
    CDR_FLOW_GO,
    CDR_FLOW_PAUSE,  // these bytes were taken; give no more until resume
    CDR_FLOW_LINGER, // the answer is whole; read on for at most linger_ms, then done
    CDR_FLOW_LINGER_ANEW, // the same, counted from now on: it was not whole after all
    CDR_FLOW_DRAIN, // nothing will follow; read on only so that the connection can be
                    // kept, at most 100 ms
    CDR_FLOW_STOP   // enough: close, `done` follows with `stopped`
} cdr_flow;

typedef enum cdr_transfer_result {
    CDR_TRANSFER_OK,          // the response came to its end
    CDR_TRANSFER_STOPPED,     // the handler had enough, or the linger time passed
    CDR_TRANSFER_CANCELLED,   // cdr_transfer_cancel
    CDR_TRANSFER_UNREACHABLE, // no connection: refused, DNS, TLS; nothing was sent
    CDR_TRANSFER_CUT,         // after it stood the connection broke or closed too early
    CDR_TRANSFER_IDLE_TIMEOUT, // no byte for idle_timeout_ms
    CDR_TRANSFER_TIMEOUT,      // the whole attempt, or connecting, took too long
    CDR_TRANSFER_FAILED // no memory, malformed URL, a certificate that is not trusted,
                        // a proxy that refuses, an answer that is not HTTP
} cdr_transfer_result;

typedef struct cdr_transfer_end {
    cdr_transfer_result result;
    int status;          // of the final response block; 0: none came
    const char *message; // one line for people ("connection refused: 127.0.0.1:9")
    int64_t bytes;       // of the body
} cdr_transfer_end;

typedef struct cdr_transfer_handler {
    void (*head)(void *ctx, const cdr_http_head *head); // before the first data
    cdr_flow (*data)(void *ctx, const char *data, size_t len);
    void (*done)(void *ctx, const cdr_transfer_end *end);
} cdr_transfer_handler;

// 0 means the default.
typedef struct cdr_network_limits {
    int max_threads;  // 0: one for each processor; at most 16
    int busy_percent; // 0: 70; who works so much of the time is not given more
} cdr_network_limits;

// Starts the first network thread. Refuses a libcurl whose TLS is not OpenSSL's: the
// others parse the CA bundle for each connection.
cadre_status cdr_network_open(cdr_network **out, cadre_error *err);

// The same with other limits; NULL: all defaults.
cadre_status cdr_network_open_limited(const cdr_network_limits *limits,
                                      cdr_network **out, cadre_error *err);

// Cancels what runs, waits for the threads, frees. NULL ok.
void cdr_network_close(cdr_network *network);

// Returns how many threads it has.
int cdr_network_thread_count(cdr_network *network);

// Starts a transfer. `handler` and `ctx` must live until `done`. Errors: EINVAL (URL
// is not http or https, a header with a line end), ENOMEM; then `done` is not called.
cadre_status cdr_network_start(cdr_network *network, const cdr_http_request *request,
                               const cdr_transfer_handler *handler, void *ctx,
                               cdr_transfer **out, cadre_error *err);

void cdr_transfer_cancel(cdr_transfer *transfer);
void cdr_transfer_resume(cdr_transfer *transfer);

// Gives the transfer back, after `done` (also inside `done` is allowed). NULL ok.
void cdr_transfer_free(cdr_transfer *transfer);

#endif
