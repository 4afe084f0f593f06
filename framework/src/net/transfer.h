// One HTTP transfer: the caller's request copied, and its progress on the network
// thread. Private to the network.
//
// Two own it: the caller until cdr_transfer_free, the network thread until `done` has
// returned; and the list of commands while it stands there.
//
// Thread: new and free any; the rest as each field says.
#ifndef CDR_TRANSFER_H
#define CDR_TRANSFER_H

#include "net/network.h"
#include "net/timers.h"

#include <curl/curl.h>
#include <stdatomic.h>

struct cdr_network_thread;
struct cdr_loop;
struct cdr_lane;
struct cdr_easy;

// Why the network ended a transfer of itself.
typedef enum cdr_transfer_stop {
    CDR_STOP_NONE, // it did not: libcurl's code tells
    CDR_STOP_HANDLER,
    CDR_STOP_LINGERED,
    CDR_STOP_CANCEL,
    CDR_STOP_CONNECT_TIMEOUT,
    CDR_STOP_TIMEOUT,
    CDR_STOP_IDLE,
    CDR_STOP_ENOMEM
} cdr_transfer_stop;

struct cdr_transfer {
    // Immutable after new.
    cdr_transfer_handler handler;
    void *ctx;
    const char *url;
    const char *authority; // host and port, for messages; never with a password
    struct curl_slist *headers;
    const char *body; // the caller's
    size_t body_len;
    bool is_https;
    bool is_loopback;
    int connect_timeout_ms;
    int idle_timeout_ms;
    int timeout_ms;
    int linger_ms;

    struct cdr_network_thread *thread; // set when it is submitted

    atomic_bool cancelled; // set once, by any thread

    // Guarded by the thread's mu.
    int n_owners;
    cdr_transfer *next_incoming;
    cdr_transfer *next_command;
    bool is_commanded; // stands in the list of commands
    bool wants_resume;

    // Of the network thread.
    struct cdr_loop *loop; // set while it runs
    struct cdr_lane *lane;
    struct cdr_easy *easy;
    cdr_transfer *previous; // of those that run
    cdr_transfer *next;
    cdr_timer timer; // never later than the earliest deadline
    int64_t started_ms;
    int64_t last_byte_ms;
    int64_t linger_due_ms; // 0: does not linger
    int64_t paused_ms;     // since when; 0: not paused
    int64_t bytes;
    bool was_sent; // a connection stood and the request went out
    cdr_transfer_stop stop;
};

// Checks and copies a request. Errors: EINVAL, ENOMEM.
cadre_status cdr_transfer_new(const cdr_http_request *request, cdr_transfer **out,
                              cadre_error *err);

// The earliest of its deadlines; CDR_NEVER: none.
int64_t cdr_transfer_due_ms(const cdr_transfer *transfer);

// Which deadline has passed; CDR_STOP_NONE: none.
cdr_transfer_stop cdr_transfer_overdue(const cdr_transfer *transfer, int64_t now_ms);

// Hands body bytes to the handler, as a CURLOPT_WRITEFUNCTION answers: `len` when they
// were taken, CURL_WRITEFUNC_PAUSE when libcurl shall keep them, 0 to stop.
size_t cdr_transfer_take(cdr_transfer *transfer, char *data, size_t len,
                         int64_t now_ms);

// What is known at the end.
typedef struct cdr_transfer_outcome {
    CURLcode code;     // when the network did not stop it
    long os_errno;     // of connecting; 0: unknown
    long proxy_status; // what a proxy answered to CONNECT; 0: none did
    const char *text;  // libcurl's; "" when it had none
    int status;
} cdr_transfer_outcome;

#define CDR_END_MESSAGE_BYTES 512

// Says how it ended, in the product's terms. `message` holds the end's text.
void cdr_transfer_conclude(const cdr_transfer *transfer,
                           const cdr_transfer_outcome *outcome,
                           char message[CDR_END_MESSAGE_BYTES], cdr_transfer_end *out);

#endif
