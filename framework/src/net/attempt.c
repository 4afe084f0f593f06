// One attempt of a model call over the network.
//
// What the body is, is decided once, by status, content type and its first bytes from
// one that is no blank (so by the bytes, not by how they were cut):
//   error     status from 300: gathered, then given to the format's `body`
//   events    an event stream, also under another type
//   json      a whole answer, gathered: servers that ignore `stream`, and errors under
//             the type of a stream
//   rejected  neither, or a page under the type of a stream: gathered as far as it is
//             quoted
//
// Invariants:
// 1. `failure` holds the first failure and nothing is fed to the format after it.
// 2. Once a finish reason was seen, no trouble of the connection can spoil the answer.
// 3. Only the network thread touches an attempt between start and on_done; cancel and
//    resume go to the transfer, which takes them from any thread.
#include "net/attempt.h"

#include "net/sse.h"
#include "base/url_text.h"
#include "base/utf8.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_BODY_BYTES ((size_t)64 * 1024 * 1024) // of a JSON answer
#define MAX_ERROR_BYTES ((size_t)64 * 1024)       // of an error's body that are read
#define QUOTED_CHARACTERS 200
#define TYPE_SIZE 96
#define DECISIVE_BYTES 6 // the longest beginning that is looked for

typedef enum body_kind {
    BODY_UNKNOWN,
    BODY_ERROR,
    BODY_EVENTS,
    BODY_JSON,
    BODY_REJECTED
} body_kind;

struct cdr_attempt {
    cdr_attempt_config config;
    cdr_transfer *transfer;
    void *reader; // the format's memory
    body_kind kind;
    int status; // 0: no head came
    char content_type[TYPE_SIZE];
    int64_t retry_after_ms;
    bool refuses_retry;
    cdr_sse sse;
    cdr_buf body;
    cdr_secrets secrets;  // of the request; nothing that comes back shows them
    cadre_error *failure; // the caller's
    max_align_t memory[]; // of the reader
};

static void gather(cdr_attempt *attempt, const char *data, size_t len, size_t max)
{
    size_t room = max - attempt->body.len;
    cdr_buf_append(&attempt->body, data, len < room ? len : room);
    if (attempt->body.failed)
        cadre_fail(attempt->failure, CADRE_ENOMEM, "no memory for a model's answer");
}

static bool is_type(const char *content_type, const char *type)
{
    size_t len = strlen(type);
    return strncasecmp(content_type, type, len) == 0 &&
           (content_type[len] == '\0' || strchr("; \t", content_type[len]));
}

static bool is_json_type(const char *content_type)
{
    size_t len = strcspn(content_type, "; \t");
    return is_type(content_type, "application/json") ||
           is_type(content_type, "text/json") ||
           (len > 5 && strncasecmp(content_type + len - 5, "+json", 5) == 0);
}

static bool is_event_start(const char *text)
{
    static const char *const starts[] = {
        ":", "data:", "event:", "error:", "id:", "retry:"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(text, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

// `text` has all decisive bytes, or ends with a NUL.
static body_kind kind_of(const cdr_attempt *attempt, const char *text)
{
    const char *type = attempt->content_type;
    bool is_stream_type = is_type(type, "text/event-stream") || type[0] == '\0';
    if (text[0] == '{' || text[0] == '[')
        return BODY_JSON;
    if (is_event_start(text) || (is_stream_type && text[0] != '<'))
        return BODY_EVENTS;
    return is_json_type(type) ? BODY_JSON : BODY_REJECTED;
}

static void on_head(void *ctx, const cdr_http_head *head)
{
    cdr_attempt *attempt = ctx;
    char shown[CDR_URL_TEXT_SIZE];
    attempt->status = head->status;
    attempt->retry_after_ms = head->retry_after_ms;
    attempt->refuses_retry = head->status >= 300 && head->refuses_retry;
    (void)snprintf(attempt->content_type, sizeof(attempt->content_type), "%s",
                   head->content_type);
    if (head->status < 300)
        return;
    attempt->kind = BODY_ERROR;
    if (head->location[0])
        cadre_fail_class(attempt->failure, CADRE_EIO, CADRE_CLASS_INVALID_REQUEST,
                         false,
                         "HTTP %d invalid_request: the server redirects to '%s'; "
                         "redirects are not followed, since the key would go with "
                         "them (check base_url)",
                         head->status, cdr_url_text(shown, head->location));
}

static cadre_status on_event(void *ctx, const cadre_sse_event *event, cadre_error *err)
{
    cdr_attempt *attempt = ctx;
    const cdr_attempt_config *config = &attempt->config;
    cadre_status status =
        config->ops->event(config->state, attempt->reader, event, config->sink, err);
    if (status == CADRE_OK && config->sink->failed)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for the model's answer");
    // Whoever says that nothing follows is taken at his word.
    return status == CADRE_OK && config->sink->ended ? CADRE_DONE : status;
}

static bool has_failed(const cdr_attempt *attempt)
{
    return attempt->failure->status != CADRE_OK;
}

// How much was said of an answer that says it is whole; 0: nothing, or it does not.
static size_t whole_size(const cadre_sink *sink)
{
    return sink->finish != CADRE_FINISH_NONE ? cdr_answer_size(sink) : 0;
}

static cdr_flow feed_events(cdr_attempt *attempt, const char *data, size_t len)
{
    const cdr_attempt_config *config = &attempt->config;
    if (config->sink->ended)
        return CDR_FLOW_DRAIN;
    size_t before = whole_size(config->sink);
    cadre_status status =
        cdr_sse_feed(&attempt->sse, data, len, on_event, attempt, attempt->failure);
    if (status != CADRE_OK && status != CADRE_DONE && !has_failed(attempt))
        cadre_fail(attempt->failure, status, "the format gave up without a word");
    if (has_failed(attempt))
        return CDR_FLOW_STOP;
    if (config->sink->ended)
        return CDR_FLOW_DRAIN;
    // Some servers give a reason with each piece, or one before the first.
    size_t size = whole_size(config->sink);
    if (size > 0)
        return before > 0 && size > before ? CDR_FLOW_LINGER_ANEW : CDR_FLOW_LINGER;
    return config->is_full && config->is_full(config->ctx) ? CDR_FLOW_PAUSE
                                                           : CDR_FLOW_GO;
}

static cdr_flow feed_json(cdr_attempt *attempt, const char *data, size_t len)
{
    if (len > MAX_BODY_BYTES - attempt->body.len)
        cadre_fail_class(attempt->failure, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE, false,
                         "the answer is larger than the limit of %zu bytes",
                         MAX_BODY_BYTES);
    else
        gather(attempt, data, len, MAX_BODY_BYTES);
    return has_failed(attempt) ? CDR_FLOW_STOP : CDR_FLOW_GO;
}

static cdr_flow feed(cdr_attempt *attempt, const char *data, size_t len)
{
    switch (attempt->kind) {
    case BODY_EVENTS:
        return feed_events(attempt, data, len);
    case BODY_JSON:
        return feed_json(attempt, data, len);
    default:
        gather(attempt, data, len, MAX_ERROR_BYTES);
        return attempt->body.len == MAX_ERROR_BYTES || has_failed(attempt)
                   ? CDR_FLOW_STOP
                   : CDR_FLOW_GO;
    }
}

// Decides what the body is by the bytes that were gathered, and feeds them.
static cdr_flow decide(cdr_attempt *attempt)
{
    char start[DECISIVE_BYTES];
    size_t len = attempt->body.len;
    attempt->kind = kind_of(attempt, cdr_buf_text(&attempt->body));
    memcpy(start, cdr_buf_text(&attempt->body), len);
    cdr_buf_fini(&attempt->body); // a stream needs none
    return len > 0 ? feed(attempt, start, len) : CDR_FLOW_GO;
}

// Gathers decisive bytes that come one by one, until they are all there.
static cdr_flow gather_start(cdr_attempt *attempt, const char *data, size_t len)
{
    size_t missing = DECISIVE_BYTES - attempt->body.len;
    size_t n = len < missing ? len : missing;
    gather(attempt, data, n, DECISIVE_BYTES);
    if (has_failed(attempt))
        return CDR_FLOW_STOP;
    if (n < missing)
        return CDR_FLOW_GO;
    cdr_flow flow = decide(attempt);
    return n == len || has_failed(attempt) ? flow : feed(attempt, data + n, len - n);
}

static cdr_flow on_data(void *ctx, const char *data, size_t len)
{
    static const char blanks[4] = {' ', '\t', '\r', '\n'};
    cdr_attempt *attempt = ctx;
    if (attempt->kind == BODY_UNKNOWN && attempt->body.len == 0) {
        // Neither form minds that blanks in front are missing.
        while (len > 0 && memchr(blanks, *data, sizeof blanks)) {
            data++;
            len--;
        }
        if (len >= DECISIVE_BYTES)
            attempt->kind = kind_of(attempt, data);
    }
    if (len == 0)
        return CDR_FLOW_GO;
    return attempt->kind == BODY_UNKNOWN ? gather_start(attempt, data, len)
                                         : feed(attempt, data, len);
}

// How many bytes of UTF-8 text the first characters take.
static size_t count_bytes(const char *text, size_t len, size_t characters)
{
    size_t at = 0;
    for (; characters > 0 && at < len; characters--) {
        size_t n;
        if (cdr_utf8_next(text + at, len - at, &n) == CDR_UTF8_CUT)
            break;
        at += n;
    }
    return at;
}

// Quotes what came in place of an answer: its start, blanks and control bytes in a row
// as one blank.
static void fail_rejected(cdr_attempt *attempt)
{
    char quoted[4 * QUOTED_CHARACTERS + 1];
    const char *text = cdr_buf_text(&attempt->body);
    size_t len = count_bytes(text, attempt->body.len, QUOTED_CHARACTERS);
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c > ' ' && c != 0x7f)
            quoted[used++] = text[i];
        else if (used > 0 && quoted[used - 1] != ' ')
            quoted[used++] = ' ';
    }
    quoted[used] = '\0';
    cadre_fail_class(attempt->failure, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE, false,
                     "the server answered with content type '%s' but with neither "
                     "an event stream nor JSON: \"%s\"%s",
                     attempt->content_type, quoted,
                     len < attempt->body.len ? "..." : "");
}

static void fail_transfer(cdr_attempt *attempt, const cdr_transfer_end *end)
{
    cadre_error_class error_class = CADRE_CLASS_TRUNCATED;
    const char *what = "the answer ended before it was whole";
    bool retryable = true;
    switch (end->result) {
    case CDR_TRANSFER_UNREACHABLE:
        error_class = CADRE_CLASS_CONNECTION;
        what = "no connection";
        break;
    case CDR_TRANSFER_CUT:
        if (attempt->status != 0)
            break;
        error_class = CADRE_CLASS_CONNECTION;
        what = "the connection broke before an answer came";
        break;
    case CDR_TRANSFER_IDLE_TIMEOUT:
    case CDR_TRANSFER_TIMEOUT:
        error_class = CADRE_CLASS_TIMEOUT;
        what = "timeout";
        break;
    case CDR_TRANSFER_FAILED:
        error_class = CADRE_CLASS_CONNECTION;
        what = "the request failed";
        retryable = false;
        break;
    default:
        return; // the body is judged
    }
    cadre_fail_class(attempt->failure, CADRE_EIO, error_class, retryable, "%s: %s",
                     what, end->message);
}

// The last event may lack its blank line. If it is cut itself, it is not an event: the
// answer is judged by what came before.
static void end_events(cdr_attempt *attempt)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_sse_end(&attempt->sse, on_event, attempt, &err);
    if (err.status != CADRE_OK && err.error_class != CADRE_CLASS_BAD_RESPONSE)
        *attempt->failure = err;
}

static void judge_body(cdr_attempt *attempt, const cdr_transfer_end *end)
{
    const cdr_attempt_config *config = &attempt->config;
    if (attempt->kind == BODY_UNKNOWN && attempt->status != 0)
        (void)decide(attempt); // a short body, or none
    const char *text = cdr_buf_text(&attempt->body);
    size_t len = attempt->body.len;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { // a byte order mark
        text += 3;
        len -= 3;
    }
    cadre_error *failure = attempt->failure;
    const cadre_http_body body = {attempt->status, text, len};
    if (attempt->kind == BODY_ERROR) {
        config->ops->body(config->state, &body, config->sink, failure);
        if (!has_failed(attempt)) // against the format's contract
            cadre_fail_http(failure, attempt->status, "", text);
        return;
    }
    if (attempt->kind == BODY_EVENTS && end->result <= CDR_TRANSFER_STOPPED)
        end_events(attempt);
    if (attempt->kind == BODY_JSON && end->result <= CDR_TRANSFER_STOPPED)
        config->ops->body(config->state, &body, config->sink, failure);
    if (attempt->kind == BODY_REJECTED)
        fail_rejected(attempt);
    bool is_whole = config->sink->finish != CADRE_FINISH_NONE;
    if (!has_failed(attempt) && !is_whole)
        fail_transfer(attempt, end);
    if (!has_failed(attempt))
        cdr_answer_settle(config->sink, failure);
}

static void on_done(void *ctx, const cdr_transfer_end *end)
{
    cdr_attempt *attempt = ctx;
    bool is_whole = attempt->config.sink->finish != CADRE_FINISH_NONE;
    if (end->result == CDR_TRANSFER_CANCELLED) {
        cadre_error_clear(attempt->failure);
        cadre_fail(attempt->failure, CADRE_EABORTED, "the model call was aborted");
    } else if (!has_failed(attempt)) {
        if (attempt->status == 0 && !is_whole && end->result <= CDR_TRANSFER_STOPPED)
            cadre_fail_class(attempt->failure, CADRE_EIO, CADRE_CLASS_CONNECTION, true,
                             "the connection closed before an answer came");
        else
            judge_body(attempt, end);
    }
    cdr_secrets_cover(&attempt->secrets, attempt->failure->text);
    attempt->config.sink->secrets = NULL;
    attempt->config.on_done(attempt->config.ctx);
}

static int to_timeout(int64_t ms)
{
    if (ms <= 0)
        return 0;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void attempt_free(cdr_attempt *attempt)
{
    cdr_sse_fini(&attempt->sse);
    cdr_buf_fini(&attempt->body);
    cdr_secrets_fini(&attempt->secrets);
    free(attempt);
}

cadre_status cdr_attempt_start(cdr_network *network, const cdr_attempt_config *config,
                               cdr_attempt **out, cadre_error *err)
{
    static const cdr_transfer_handler handler = {on_head, on_data, on_done};
    assert(config->ops->event && config->ops->body && config->on_done);
    assert(config->failure->status == CADRE_OK);
    const cadre_http *http = config->http;
    cdr_answer_clear(config->sink);
    if (http->failed)
        return cadre_fail(err, CADRE_ENOMEM,
                          "model request: no memory, or more than %d headers",
                          CDR_HTTP_MAX_HEADERS);
    size_t reader_size = config->ops->reader_size;
    cdr_attempt *attempt = calloc(1, sizeof(*attempt) + reader_size);
    if (!attempt)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a model call");
    attempt->config = *config;
    attempt->failure = config->failure;
    attempt->reader = attempt->memory;
    attempt->retry_after_ms = -1;
    cdr_sse_init(&attempt->sse, 0);
    config->sink->secrets = &attempt->secrets;
    cdr_http_request request = {
        .url = http->url ? http->url : "",
        .headers = http->headers,
        .n_headers = http->n_headers,
        .body = cdr_buf_text(&http->body),
        .body_len = http->body.len,
        .idle_timeout_ms = to_timeout(config->idle_timeout_ms),
        .timeout_ms = to_timeout(config->timeout_ms),
    };
    *out = attempt; // callbacks may come before this function has returned
    cadre_status status =
        cdr_secrets_init(&attempt->secrets, http)
            ? cdr_network_start(network, &request, &handler, attempt,
                                &attempt->transfer, err)
            : cadre_fail(err, CADRE_ENOMEM, "no memory for a model call");
    if (status != CADRE_OK) {
        *out = NULL;
        config->sink->secrets = NULL;
        attempt_free(attempt);
    }
    return status;
}

void cdr_attempt_cancel(cdr_attempt *attempt)
{
    cdr_transfer_cancel(attempt->transfer);
}

void cdr_attempt_resume(cdr_attempt *attempt)
{
    cdr_transfer_resume(attempt->transfer);
}

cadre_status cdr_attempt_finish(cdr_attempt *attempt)
{
    cadre_error *failure = attempt->failure;
    cadre_status status = failure->status;
    if (attempt->refuses_retry)
        failure->retryable = false;
    if (attempt->retry_after_ms > failure->retry_after_ms)
        failure->retry_after_ms = attempt->retry_after_ms;
    cdr_transfer_free(attempt->transfer);
    attempt_free(attempt);
    return status;
}
