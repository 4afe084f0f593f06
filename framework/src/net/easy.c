// An easy handle of libcurl, kept from transfer to transfer.
#include "net/easy.h"

#include "net/curl_versions.h"
#include "net/loop.h"

#include "base/clock.h"

#include <stdlib.h>

static size_t on_header(char *line, size_t size, size_t n, void *ctx)
{
    cdr_easy *easy = ctx;
    cdr_transfer *transfer = easy->transfer;
    switch (cdr_head_reader_feed(&easy->head, line, size * n)) {
    case CDR_HEAD_MORE:
        break;
    case CDR_HEAD_WHOLE: {
        cdr_http_head head;
        cdr_head_reader_get(&easy->head, cdr_clock_wall_ms(cdr_clock_real()), &head);
        transfer->handler.head(transfer->ctx, &head);
        break;
    }
    case CDR_HEAD_ENOMEM:
        transfer->stop = CDR_STOP_ENOMEM;
        return 0;
    }
    return size * n;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
    cdr_easy *easy = ctx;
    cdr_transfer *transfer = easy->transfer;
    if (size * n == 0)
        return 0;
    size_t taken = cdr_transfer_take(transfer, data, size * n, transfer->loop->now_ms);
    cdr_loop_set_timer(transfer->loop, transfer);
    return taken;
}

// libcurl has a connection, new or kept, and is about to send the request.
static int on_connected(void *ctx, char *remote_ip, char *local_ip, int remote_port,
                        int local_port)
{
    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    cdr_easy *easy = ctx;
    easy->transfer->was_sent = true;
    return CURL_PREREQFUNC_OK;
}

// libcurl 7.88 keeps the parsed CA bundle only when no CA folder is set, and Debian's
// has one by default: then each connection parses the bundle anew, 50 ms of CPU and
// 900 KiB.
static bool set_ca(CURL *handle, const char *ca_file)
{
    CURLcode code = CURLE_OK;
    if (ca_file)
        code = curl_easy_setopt(handle, CURLOPT_CAINFO, ca_file);
    if (ca_file || cdr_curl_has_ca_file(handle))
        (void)curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
    return code == CURLE_OK;
}

// Pieces of an answer are a few hundred bytes; curl's own 16 KiB for each transfer
// would be a third of what a waiting run costs.
#define RECEIVE_BYTES 2048L

static bool set_constants(cdr_easy *easy, cdr_loop *loop)
{
    CURL *handle = easy->handle;
    (void)curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
    (void)curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
    // Compressed pieces wait for one another, so none are asked for; but what a gateway
    // compresses all the same is read.
    (void)curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "identity");
    (void)curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void)curl_easy_setopt(handle, CURLOPT_PRIVATE, easy);
    (void)curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, easy->error);
    (void)curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(handle, CURLOPT_HEADERDATA, easy);
    (void)curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(handle, CURLOPT_WRITEDATA, easy);
    (void)curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, on_connected);
    (void)curl_easy_setopt(handle, CURLOPT_PREREQDATA, easy);
    (void)curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, cdr_loop_open_socket);
    (void)curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, loop);
    (void)curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, cdr_loop_close_socket);
    (void)curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, loop);
    cdr_curl_allow_http_only(handle);
    cdr_curl_leave_resolver(handle);
    return set_ca(handle, loop->ca_file);
}

// HTTP/2 only over TLS: libcurl 7.88 breaks it in the clear, and waiting for another
// transfer's connection would there mean waiting for its answer.
static void set_version(cdr_easy *easy, bool is_https)
{
    long version = is_https ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
    (void)curl_easy_setopt(easy->handle, CURLOPT_HTTP_VERSION, version);
    (void)curl_easy_setopt(easy->handle, CURLOPT_PIPEWAIT, is_https ? 1L : 0L);
    easy->for_https = is_https;
}

// The environment names the proxy, but none is used to reach this machine itself.
static bool set_proxy(cdr_easy *easy, bool is_loopback)
{
    easy->for_loopback = is_loopback;
    return curl_easy_setopt(easy->handle, CURLOPT_PROXY, is_loopback ? "" : NULL) ==
           CURLE_OK;
}

cdr_easy *cdr_easy_new(cdr_loop *loop)
{
    cdr_easy *easy = calloc(1, sizeof *easy);
    if (!easy)
        return NULL;
    cdr_head_reader_init(&easy->head);
    easy->handle = curl_easy_init();
    if (!easy->handle || !set_constants(easy, loop) || !set_proxy(easy, false)) {
        cdr_easy_free(easy);
        return NULL;
    }
    set_version(easy, false);
    return easy;
}

void cdr_easy_free(cdr_easy *easy)
{
    if (!easy)
        return;
    curl_easy_cleanup(easy->handle);
    cdr_head_reader_fini(&easy->head);
    free(easy);
}

bool cdr_easy_prepare(cdr_easy *easy, cdr_transfer *transfer)
{
    CURL *handle = easy->handle;
    easy->transfer = transfer;
    easy->error[0] = '\0';
    cdr_head_reader_reset(&easy->head);
    if (easy->for_https != transfer->is_https)
        set_version(easy, transfer->is_https);
    if (easy->for_loopback != transfer->is_loopback &&
        !set_proxy(easy, transfer->is_loopback))
        return false;
    (void)curl_easy_setopt(handle, CURLOPT_HTTPHEADER, transfer->headers);
    (void)curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)transfer->connect_timeout_ms);
    (void)curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                           (curl_off_t)transfer->body_len);
    (void)curl_easy_setopt(handle, CURLOPT_POSTFIELDS, transfer->body);
    if (!transfer->body)
        (void)curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
    return curl_easy_setopt(handle, CURLOPT_URL, transfer->url) == CURLE_OK;
}

void cdr_easy_release(cdr_easy *easy)
{
    (void)curl_easy_setopt(easy->handle, CURLOPT_HTTPHEADER, NULL);
    (void)curl_easy_setopt(easy->handle, CURLOPT_POSTFIELDS, NULL);
    easy->transfer = NULL;
}
