// A loopback HTTP server for tests. It answers with raw bytes in awkward cuts.
//
// A test adds scripts; the n-th request (over all connections, in the order their
// headers arrive) is answered by the n-th script, or by the one that `choose` names.
// A script is a list of steps. After its last step the connection reads the next
// request (keep-alive), unless a step closed it. A request without a script gets
// status 500, so that a client that asks too often is noticed. A client that speaks
// TLS is refused by an alert.
//
//     static const http_step half[] = {
//         HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
//         HTTP_HOLD,    // until http_server_release, or the client closes
//         HTTP_CLOSE, HTTP_END};
//     http_server *server = http_server_start(NULL);
//     http_server_add(server, half);
//     ... use http_server_url(server) ...
//     CU_ASSERT_TRUE(http_server_await_held(server, 1));
//     http_server_stop(server);
//
// One thread and one epoll set, so a thousand open streams are no matter. All waits
// give up after 10 s and return false. Running out of memory ends the program.
// Thread: any.
#ifndef SUPPORT_HTTP_SERVER_H
#define SUPPORT_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct http_server http_server;

typedef enum http_step_kind {
    HTTP_STEP_END,       // of the script
    HTTP_STEP_SEND,      // bytes, in writes of the sizes in `chunks`
    HTTP_STEP_HOLD,      // wait for one http_server_release
    HTTP_STEP_CLOSE,     // orderly: FIN, then read until the client closes
    HTTP_STEP_RESET,     // RST (SO_LINGER 0)
    HTTP_STEP_SKIP_BODY, // only as the first: answer without reading the body
    HTTP_STEP_DEAF       // read nothing from here on: the client's sends stall, and
                         // its close may stay unseen
} http_step_kind;

typedef struct http_step {
    http_step_kind kind;
    const char *data;
    size_t len;
    const char *chunks; // "173 2 9": the last size repeats; NULL: one write
} http_step;

#define HTTP_SEND(text)                                                                \
    {                                                                                  \
        HTTP_STEP_SEND, text, sizeof(text) - 1, NULL                                   \
    }
#define HTTP_SEND_CHUNKS(text, chunks)                                                 \
    {                                                                                  \
        HTTP_STEP_SEND, text, sizeof(text) - 1, chunks                                 \
    }
#define HTTP_HOLD                                                                      \
    {                                                                                  \
        HTTP_STEP_HOLD, NULL, 0, NULL                                                  \
    }
#define HTTP_CLOSE                                                                     \
    {                                                                                  \
        HTTP_STEP_CLOSE, NULL, 0, NULL                                                 \
    }
#define HTTP_RESET                                                                     \
    {                                                                                  \
        HTTP_STEP_RESET, NULL, 0, NULL                                                 \
    }
#define HTTP_SKIP_BODY                                                                 \
    {                                                                                  \
        HTTP_STEP_SKIP_BODY, NULL, 0, NULL                                             \
    }
#define HTTP_DEAF                                                                      \
    {                                                                                  \
        HTTP_STEP_DEAF, NULL, 0, NULL                                                  \
    }
#define HTTP_END                                                                       \
    {                                                                                  \
        HTTP_STEP_END, NULL, 0, NULL                                                   \
    }

// A request as it came. Borrowed until http_server_stop.
typedef struct http_request {
    const char *method;
    const char *path;    // with its query
    const char *headers; // the raw lines after the request line
    const char *body;    // NUL-terminated; "" when skipped or not yet whole
    size_t body_len;
    int number;     // counted from 0
    int connection; // counted from 0
    int64_t at_ns;  // monotonic time when its head had come
} http_request;

typedef enum http_server_mode {
    HTTP_SERVER_ANSWER,   // the usual
    HTTP_SERVER_REFUSE,   // the port is taken but connecting to it is refused
    HTTP_SERVER_BLACKHOLE // connecting to it never comes to an end
} http_server_mode;

typedef struct http_server_config {
    http_server_mode mode;
    bool repeat_last; // requests beyond the scripts get the last one again
    int pace_us;      // pause after each write, so that the client sees the cuts

    // Names the script (what http_server_add returned) for a request whose body has
    // come. NULL: by the request's number. Called on the server's thread.
    int (*choose)(void *ctx, const http_request *request);
    void *ctx;
} http_server_config;

// Starts a server on a free port of 127.0.0.1. `config` NULL: all zero.
http_server *http_server_start(const http_server_config *config);

// Closes all connections, joins the thread, frees. NULL ok.
void http_server_stop(http_server *server);

// "http://127.0.0.1:PORT", without a slash at the end. Borrowed until stop.
const char *http_server_url(const http_server *server);

// Adds a script; steps and bytes are copied. Returns its index.
int http_server_add(http_server *server, const http_step *steps);

// Adds a whole answer with Content-Length that keeps the connection. `headers` are
// further lines, each with its CR LF; NULL: none.
int http_server_add_answer(http_server *server, int status, const char *headers,
                           const char *content_type, const char *body);

// Adds status 200, text/event-stream, `body` in chunked coding, one HTTP chunk for
// each write of `chunks` (NULL: one), keeping the connection.
int http_server_add_stream(http_server *server, const char *body, size_t len,
                           const char *chunks);

// Adds the scripts of a case folder: response.http, or response.1.http and on, or
// stream.sse under a plain 200; cut as chunks.txt says; each closes at its end, or
// holds when chunks.txt ends in `hold`. Returns how many were added, 0: no such
// files.
int http_server_add_case(http_server *server, const char *folder);

// Lets one HOLD pass, in the order they were reached; counted, so it may come first.
void http_server_release(http_server *server);

// Lets all HOLDs pass, now and later.
void http_server_release_all(http_server *server);

// Waits until so many connections stand at a HOLD / scripts have run to their end.
bool http_server_await_held(http_server *server, int n);
bool http_server_await_scripts(http_server *server, int n);

// Waits until the client has closed or reset this connection, and gives the
// monotonic time in nanoseconds of that (`at_ns` NULL ok).
bool http_server_await_client_close(http_server *server, int connection,
                                    int64_t *at_ns);

int http_server_request_count(http_server *server);
int http_server_connection_count(http_server *server); // ever accepted
int http_server_played_count(http_server *server);     // scripts run to their end

// Returns the i-th request that came whole, NULL when there is none.
const http_request *http_server_request(http_server *server, int i);

// Copies the value of a header (any case) into `out`, "" when absent. Returns `out`.
const char *http_request_header(const http_request *request, const char *name,
                                char *out, size_t out_size);

#endif
