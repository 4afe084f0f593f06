// How a transfer ended: libcurl's codes and our own reasons in the product's terms,
// with one line for people.
#include "net/transfer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static cdr_transfer_result result_of_stop(cdr_transfer_stop stop)
{
    switch (stop) {
    case CDR_STOP_HANDLER:
    case CDR_STOP_LINGERED:
        return CDR_TRANSFER_STOPPED;
    case CDR_STOP_CANCEL:
        return CDR_TRANSFER_CANCELLED;
    case CDR_STOP_CONNECT_TIMEOUT:
    case CDR_STOP_TIMEOUT:
        return CDR_TRANSFER_TIMEOUT;
    case CDR_STOP_IDLE:
        return CDR_TRANSFER_IDLE_TIMEOUT;
    case CDR_STOP_NONE:
    case CDR_STOP_ENOMEM:
        break;
    }
    return CDR_TRANSFER_FAILED;
}

static void say_stop(const cdr_transfer *transfer, char *out, size_t size)
{
    const char *at = transfer->authority;
    switch (transfer->stop) {
    case CDR_STOP_CANCEL:
        (void)snprintf(out, size, "cancelled: %s", at);
        break;
    case CDR_STOP_CONNECT_TIMEOUT:
        (void)snprintf(out, size, "no connection within %d ms: %s",
                       transfer->connect_timeout_ms, at);
        break;
    case CDR_STOP_TIMEOUT:
        (void)snprintf(out, size, "the answer was not whole within %d ms: %s",
                       transfer->timeout_ms, at);
        break;
    case CDR_STOP_IDLE:
        (void)snprintf(out, size, "no byte came for %d ms: %s",
                       transfer->idle_timeout_ms, at);
        break;
    case CDR_STOP_ENOMEM:
        (void)snprintf(out, size, "no memory for a transfer: %s", at);
        break;
    case CDR_STOP_NONE:
    case CDR_STOP_HANDLER:
    case CDR_STOP_LINGERED:
        out[0] = '\0';
        break;
    }
}

static bool is_our_fault(CURLcode code)
{
    switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
    case CURLE_NOT_BUILT_IN:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_UNKNOWN_OPTION:
        return true;
    default:
        return false;
    }
}

// What is wrong with a certificate, theirs or our list of whom to trust, is wrong the
// next time, too.
static bool is_of_certificates(CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
           code == CURLE_SSL_ISSUER_ERROR || code == CURLE_SSL_CERTPROBLEM;
}

// A proxy that says 407 or 403 says it again; one that says 502 or 503 may not.
static bool is_refused_by_proxy(const cdr_transfer_outcome *outcome)
{
    return outcome->proxy_status >= 400 && outcome->proxy_status < 500 &&
           outcome->proxy_status != 408 && outcome->proxy_status != 429;
}

// libcurl takes a connection that closes inside the head for a whole answer.
static bool is_cut_head(const cdr_transfer_outcome *outcome)
{
    return outcome->code == CURLE_OK && outcome->status == 0;
}

static cdr_transfer_result result_of_code(const cdr_transfer *transfer,
                                          const cdr_transfer_outcome *outcome)
{
    CURLcode code = outcome->code;
    if (is_cut_head(outcome))
        return CDR_TRANSFER_CUT;
    if (code == CURLE_OK)
        return CDR_TRANSFER_OK;
    if (is_our_fault(code) || is_of_certificates(code) || is_refused_by_proxy(outcome))
        return CDR_TRANSFER_FAILED;
    // Of a server that speaks no HTTP, or of a scheme that libcurl was built without.
    if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY)
        return CDR_TRANSFER_FAILED;
    if (code == CURLE_OPERATION_TIMEDOUT)
        return CDR_TRANSFER_TIMEOUT; // connecting: the only timer libcurl has of us
    // A connection that was kept from before can break while the request goes out;
    // then libcurl connects anew, and that may be refused.
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST)
        return CDR_TRANSFER_UNREACHABLE;
    return transfer->was_sent ? CDR_TRANSFER_CUT : CDR_TRANSFER_UNREACHABLE;
}

// strerror's text with a small first letter, as it stands inside a line.
static void say_errno(long number, const char *at, char *out, size_t size)
{
    char text[128];
    const char *found = strerror_r((int)number, text, sizeof text);
    (void)snprintf(out, size, "%c%s: %s", tolower((unsigned char)found[0]),
                   found[0] != '\0' ? found + 1 : "", at);
}

// libcurl names who could not be reached; when that is not the host of the URL, it is
// the proxy that the environment names.
static void say_proxy(const cdr_transfer *transfer, const char *text, char *out,
                      size_t size)
{
    size_t used = strlen(out);
    char host[256];
    (void)snprintf(host, sizeof host, "%.*s", (int)strcspn(transfer->authority, ":"),
                   transfer->authority);
    if (!transfer->is_loopback && text[0] != '\0' && transfer->authority[0] != '[' &&
        strcasestr(text, host) == NULL)
        (void)snprintf(out + used, size - used, " (by a proxy: %s)", text);
}

static void say_code(const cdr_transfer *transfer, const cdr_transfer_outcome *outcome,
                     char *out, size_t size)
{
    const char *at = transfer->authority;
    const char *text =
        outcome->text[0] != '\0' ? outcome->text : curl_easy_strerror(outcome->code);
    switch (outcome->code) {
    case CURLE_OK:
        out[0] = '\0';
        if (is_cut_head(outcome))
            (void)snprintf(out, size, "the connection was closed inside the head: %s",
                           at);
        break;
    case CURLE_COULDNT_CONNECT:
        if (outcome->os_errno != 0)
            say_errno(outcome->os_errno, at, out, size);
        else
            (void)snprintf(out, size, "%s: %s", text, at);
        say_proxy(transfer, outcome->text, out, size);
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
        (void)snprintf(out, size, "host not found: %s", at);
        break;
    case CURLE_OPERATION_TIMEDOUT:
        (void)snprintf(out, size, "no connection within %d ms: %s",
                       transfer->connect_timeout_ms, at);
        break;
    case CURLE_GOT_NOTHING:
        (void)snprintf(out, size,
                       "the server closed the connection without an answer: %s", at);
        break;
    case CURLE_PARTIAL_FILE:
        (void)snprintf(out, size, "the answer was cut short (%s): %s", text, at);
        break;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        (void)snprintf(out, size, "the answer is not HTTP (%s): %s", text, at);
        break;
    default:
        (void)snprintf(out, size, "%s: %s", text, at);
        break;
    }
}

void cdr_transfer_conclude(const cdr_transfer *transfer,
                           const cdr_transfer_outcome *outcome,
                           char message[CDR_END_MESSAGE_BYTES], cdr_transfer_end *out)
{
    if (transfer->stop != CDR_STOP_NONE) {
        out->result = result_of_stop(transfer->stop);
        say_stop(transfer, message, CDR_END_MESSAGE_BYTES);
    } else {
        out->result = result_of_code(transfer, outcome);
        say_code(transfer, outcome, message, CDR_END_MESSAGE_BYTES);
    }
    out->status = outcome->status;
    out->message = message;
    out->bytes = transfer->bytes;
}
