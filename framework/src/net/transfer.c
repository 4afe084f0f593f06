// One HTTP transfer: its copy of the request, its deadlines, and the flow of its body.
//
// Invariants:
// 1. Of a response's bytes each is handed over once: what the handler has not taken
//    because it is paused, libcurl keeps and hands over again after the resume.
// 2. Deadlines are plain numbers; only the earliest stands in the heap, perhaps too
//    early, never too late. So a chunk costs one store.
#include "net/transfer.h"

#include "base/mutex.h"
#include "base/url_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONNECT_TIMEOUT_MS 30000
#define LINGER_MS 2000
#define DRAIN_MS 100 // the end of a chunked body comes with the marker, or at once

// The caller's URL in its parts; all borrowed.
typedef struct url_parts {
    bool is_https;
    const char *authority; // without user and password
    size_t authority_len;
    size_t host_len; // of the authority, with the brackets of IPv6
} url_parts;

static bool split_url(const char *url, url_parts *out)
{
    const char *at = NULL;
    if (strncasecmp(url, "http://", 7) == 0)
        at = url + 7;
    else if (strncasecmp(url, "https://", 8) == 0)
        at = url + 8;
    else
        return false;
    out->is_https = at == url + 8;
    const char *end = at + strcspn(at, "/?#");
    const char *user_end = memrchr(at, '@', (size_t)(end - at));
    out->authority = user_end ? user_end + 1 : at;
    out->authority_len = (size_t)(end - out->authority);
    const char *bracket = out->authority_len > 0 && out->authority[0] == '['
                              ? memchr(out->authority, ']', out->authority_len)
                              : NULL;
    const char *from = bracket ? bracket : out->authority;
    const char *colon = memchr(from, ':', (size_t)(end - from));
    out->host_len = (size_t)((colon ? colon : end) - out->authority);
    return out->host_len > 0;
}

// Does the URL name this machine? Then no proxy may stand between.
static bool is_loopback(const url_parts *parts)
{
    const char *host = parts->authority;
    size_t len = parts->host_len;
    if (len == 5 && memcmp(host, "[::1]", 5) == 0)
        return true;
    if (len >= 9 && strncasecmp(host + len - 9, "localhost", 9) == 0)
        return len == 9 || host[len - 10] == '.';
    return len > 4 && memcmp(host, "127.", 4) == 0 &&
           strspn(host, "0123456789.") >= len;
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

static cadre_status check_header(const cdr_http_header *header, cadre_error *err)
{
    const char *name = header->name;
    if (!name || !header->value || *name == '\0')
        return cadre_fail(err, CADRE_EINVAL, "HTTP header without a name or a value");
    if (has_control(name) || strpbrk(name, ": "))
        return cadre_fail(err, CADRE_EINVAL,
                          "HTTP header with a blank, a colon or a control character "
                          "in its name");
    // The value may be a secret; it is not quoted.
    if (strpbrk(header->value, "\r\n"))
        return cadre_fail(err, CADRE_EINVAL,
                          "HTTP header '%s': its value has a line end in it", name);
    return CADRE_OK;
}

static cadre_status check(const cdr_http_request *request, url_parts *parts,
                          cadre_error *err)
{
    char shown[CDR_URL_TEXT_SIZE];
    if (!request->url || !split_url(request->url, parts))
        return cadre_fail(err, CADRE_EINVAL,
                          "URL '%s' is not of the form http://host/ or https://host/",
                          cdr_url_text(shown, request->url ? request->url : ""));
    if (has_control(request->url))
        return cadre_fail(err, CADRE_EINVAL,
                          "URL of host '%.*s' has a control character in it",
                          (int)parts->host_len, parts->authority);
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < request->n_headers && status == CADRE_OK; i++)
        status = check_header(&request->headers[i], err);
    return status;
}

static char *put_text(char **at, const char *text, size_t len)
{
    char *start = *at;
    memcpy(start, text, len);
    start[len] = '\0';
    *at = start + len + 1;
    return start;
}

// Copies a text; gives where the next part goes, over its NUL.
static char *put_part(char *to, const char *text)
{
    size_t len = strlen(text);
    memcpy(to, text, len + 1);
    return to + len;
}

// "Name: value"; libcurl reads "Name:" as "leave it out" and "Name;" as an empty one.
static char *put_header(char **at, const cdr_http_header *header)
{
    char *start = *at;
    const char *mark = header->value[0] == '\0' ? ";" : ": ";
    *at = put_part(put_part(start, header->name), mark);
    put_text(at, header->value, strlen(header->value));
    return start;
}

// One block: the transfer, its header list, its texts.
static cdr_transfer *copy_request(const cdr_http_request *request,
                                  const url_parts *parts)
{
    static const char expect[] = "Expect:"; // else big bodies wait for a 100
    size_t n_lines = request->n_headers + 1;
    size_t url_len = strlen(request->url);
    size_t size = sizeof(cdr_transfer) + n_lines * sizeof(struct curl_slist) + url_len +
                  1 + parts->authority_len + 1 + sizeof expect;
    for (size_t i = 0; i < request->n_headers; i++)
        size +=
            strlen(request->headers[i].name) + strlen(request->headers[i].value) + 3;
    cdr_transfer *transfer = malloc(size);
    if (!transfer)
        return NULL;
    memset(transfer, 0, sizeof *transfer);
    struct curl_slist *lines = (struct curl_slist *)(transfer + 1);
    char *at = (char *)(lines + n_lines);
    transfer->url = put_text(&at, request->url, url_len);
    transfer->authority = put_text(&at, parts->authority, parts->authority_len);
    for (size_t i = 0; i < n_lines; i++) {
        lines[i].data = i < request->n_headers
                            ? put_header(&at, &request->headers[i])
                            : put_text(&at, expect, sizeof expect - 1);
        lines[i].next = i + 1 < n_lines ? &lines[i + 1] : NULL;
    }
    transfer->headers = lines;
    return transfer;
}

cadre_status cdr_transfer_new(const cdr_http_request *request, cdr_transfer **out,
                              cadre_error *err)
{
    url_parts parts = {0};
    cadre_status status = check(request, &parts, err);
    if (status != CADRE_OK)
        return status;
    assert(parts.authority);
    cdr_transfer *transfer = copy_request(request, &parts);
    if (!transfer)
        return cadre_fail(err, CADRE_ENOMEM, "HTTP request: no memory");
    transfer->body = request->body;
    transfer->body_len = request->body_len;
    transfer->is_https = parts.is_https;
    transfer->is_loopback = is_loopback(&parts);
    transfer->connect_timeout_ms = request->connect_timeout_ms > 0
                                       ? request->connect_timeout_ms
                                       : CONNECT_TIMEOUT_MS;
    transfer->idle_timeout_ms = request->idle_timeout_ms;
    transfer->timeout_ms = request->timeout_ms;
    transfer->linger_ms = request->linger_ms > 0 ? request->linger_ms : LINGER_MS;
    atomic_init(&transfer->cancelled, false);
    *out = transfer;
    return CADRE_OK;
}

// When `wait_ms` from a time on have surely passed: times are cut off to whole
// milliseconds, so one more.
static int64_t after(int64_t time_ms, int wait_ms)
{
    return time_ms + wait_ms + 1;
}

static int64_t idle_due_ms(const cdr_transfer *transfer)
{
    bool counts = transfer->idle_timeout_ms > 0 && transfer->bytes > 0;
    return counts ? after(transfer->last_byte_ms, transfer->idle_timeout_ms)
                  : CDR_NEVER;
}

static int64_t total_due_ms(const cdr_transfer *transfer)
{
    bool counts = transfer->timeout_ms > 0;
    return counts ? after(transfer->started_ms, transfer->timeout_ms) : CDR_NEVER;
}

// libcurl counts this one too, but not for a transfer that waits for another's
// handshake to learn whether the two may share a connection.
static int64_t connect_due_ms(const cdr_transfer *transfer)
{
    return transfer->was_sent
               ? CDR_NEVER
               : after(transfer->started_ms, transfer->connect_timeout_ms);
}

static int64_t linger_due_ms(const cdr_transfer *transfer)
{
    return transfer->linger_due_ms > 0 ? transfer->linger_due_ms : CDR_NEVER;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t cdr_transfer_due_ms(const cdr_transfer *transfer)
{
    return earlier(earlier(idle_due_ms(transfer), total_due_ms(transfer)),
                   earlier(connect_due_ms(transfer), linger_due_ms(transfer)));
}

cdr_transfer_stop cdr_transfer_overdue(const cdr_transfer *transfer, int64_t now_ms)
{
    if (linger_due_ms(transfer) <= now_ms)
        return CDR_STOP_LINGERED;
    if (connect_due_ms(transfer) <= now_ms)
        return CDR_STOP_CONNECT_TIMEOUT;
    if (total_due_ms(transfer) <= now_ms)
        return CDR_STOP_TIMEOUT;
    if (idle_due_ms(transfer) <= now_ms)
        return CDR_STOP_IDLE;
    return CDR_STOP_NONE;
}

// Shortens the lingering, never lengthens it.
static void linger_until(cdr_transfer *transfer, int64_t due_ms)
{
    if (transfer->linger_due_ms == 0 || due_ms < transfer->linger_due_ms)
        transfer->linger_due_ms = due_ms;
}

size_t cdr_transfer_take(cdr_transfer *transfer, char *data, size_t len, int64_t now_ms)
{
    if (atomic_load_explicit(&transfer->cancelled, memory_order_relaxed)) {
        transfer->stop = CDR_STOP_CANCEL; // the command to remove it is on its way
        return 0;
    }
    if (transfer->paused_ms != 0)
        return CURL_WRITEFUNC_PAUSE;
    transfer->last_byte_ms = now_ms;
    transfer->bytes += (int64_t)len;
    switch (transfer->handler.data(transfer->ctx, data, len)) {
    case CDR_FLOW_PAUSE:
        // These bytes are taken; libcurl hears of it with the next ones.
        transfer->linger_due_ms = 0;
        transfer->paused_ms = now_ms;
        break;
    case CDR_FLOW_GO:
        transfer->linger_due_ms = 0;
        break;
    case CDR_FLOW_LINGER_ANEW:
        transfer->linger_due_ms = after(now_ms, transfer->linger_ms);
        break;
    case CDR_FLOW_LINGER:
        if (transfer->linger_due_ms == 0)
            transfer->linger_due_ms = after(now_ms, transfer->linger_ms);
        break;
    case CDR_FLOW_DRAIN:
        linger_until(transfer, after(now_ms, DRAIN_MS));
        break;
    case CDR_FLOW_STOP:
        transfer->stop = CDR_STOP_HANDLER;
        return 0;
    }
    return len;
}
