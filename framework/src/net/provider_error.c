// What providers say when they fail, in all the forms that they have.
#include "cadre/ext/provider_error.h"

#include "net/retry_after.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODE 512
#define MAX_TEXT 1024
#define SHOWN_BYTES 200 // of what is not JSON

// Found anywhere in an error: {"error": {"message", "type", "code"}}, the same without
// "error" (vLLM), {"error": "text"} (Ollama), {"detail": "text"} (FastAPI). Beside the
// message stand "details", a list (Gemini), and "metadata" (OpenRouter).
typedef struct failure {
    char code[MAX_CODE]; // type, code and what details name, one after the other
    char message[MAX_TEXT];
    char raw[MAX_TEXT]; // what stands behind it
    int http_status;
    int64_t retry_after_ms; // 0: it does not say
} failure;

static void add_code(failure *out, cadre_scan_text text)
{
    size_t used = strlen(out->code);
    if (used > 0 && used + 1 < sizeof(out->code))
        out->code[used++] = ' ';
    cadre_scan_copy(text, out->code + used, sizeof(out->code) - used);
}

// Of an answer of status 200 a number is the status that it should have had.
static void add_number(failure *out, int64_t code)
{
    if (out->http_status < 300 && code >= 400 && code < 600)
        out->http_status = (int)code;
}

static void read_code(cadre_scan *scan, failure *out)
{
    cadre_scan_text text;
    int64_t number;
    if (cadre_scan_peek(scan) == CADRE_SCAN_NUMBER) {
        if (cadre_scan_integer(scan, &number))
            add_number(out, number);
        return;
    }
    if (!cadre_scan_string(scan, &text))
        return;
    add_code(out, text);
    char digits[8];
    cadre_scan_copy(text, digits, sizeof(digits));
    add_number(out, strtol(digits, NULL, 10));
}

static void read_message(cadre_scan *scan, failure *out)
{
    cadre_scan_text text;
    bool is_text = cadre_scan_peek(scan) == CADRE_SCAN_STRING;
    bool has_text =
        is_text ? cadre_scan_string(scan, &text) : cadre_scan_raw(scan, &text);
    if (has_text && out->message[0] == '\0' && !cadre_scan_is(text, "null"))
        cadre_scan_copy(text, out->message, sizeof(out->message));
}

// "17s" or "0.5s", as google.protobuf.Duration is written.
static void read_delay(cadre_scan *scan, failure *out)
{
    cadre_scan_text text;
    char digits[16], *end = digits;
    if (!cadre_scan_string(scan, &text))
        return;
    cadre_scan_copy(text, digits, sizeof(digits));
    int64_t ms = strtol(digits, &end, 10) * 1000;
    if (end == digits || ms < 0)
        return;
    if (*end == '.') {
        int weight_ms = 100;
        for (end++; *end >= '0' && *end <= '9'; end++, weight_ms /= 10)
            ms += (long)(*end - '0') * weight_ms;
    }
    if (*end == 's')
        out->retry_after_ms = ms < CDR_RETRY_AFTER_MAX_MS ? ms : CDR_RETRY_AFTER_MAX_MS;
}

static void read_details(cadre_scan *scan, failure *out, int nested);

static void read_detail_field(cadre_scan *scan, cadre_scan_text key, failure *out,
                              int nested)
{
    if (cadre_scan_is(key, "retryDelay"))
        read_delay(scan, out);
    else if (cadre_scan_is(key, "quotaId") || cadre_scan_is(key, "reason"))
        read_code(scan, out);
    else if (cadre_scan_is(key, "violations") && nested == 0)
        read_details(scan, out, 1);
    else
        cadre_scan_skip(scan);
}

// Gemini: [{"reason"}, {"violations": [{"quotaId"}, ...]}, {"retryDelay"}, ...]
static void read_details(cadre_scan *scan, failure *out, int nested)
{
    cadre_scan_text key;
    if (!cadre_scan_array(scan))
        return;
    while (cadre_scan_item(scan)) {
        if (!cadre_scan_object(scan))
            continue;
        while (cadre_scan_key(scan, &key))
            read_detail_field(scan, key, out, nested);
    }
}

// OpenRouter: the message is its own, "raw" is what the server behind it said.
static void read_metadata(cadre_scan *scan, failure *out)
{
    cadre_scan_text key, raw;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (!cadre_scan_is(key, "raw"))
            cadre_scan_skip(scan);
        else if (cadre_scan_string(scan, &raw))
            cadre_scan_copy(raw, out->raw, sizeof(out->raw));
    }
}

static void read_failure(cadre_scan *scan, failure *out, int nested);

static void read_failure_field(cadre_scan *scan, cadre_scan_text key, failure *out,
                               int nested)
{
    if (cadre_scan_is(key, "error") && nested == 0)
        read_failure(scan, out, 1);
    else if (cadre_scan_is(key, "message") || cadre_scan_is(key, "detail"))
        read_message(scan, out);
    else if (cadre_scan_is(key, "code") || cadre_scan_is(key, "type") ||
             cadre_scan_is(key, "status"))
        read_code(scan, out);
    else if (cadre_scan_is(key, "details"))
        read_details(scan, out, 0);
    else if (cadre_scan_is(key, "metadata"))
        read_metadata(scan, out);
    else
        cadre_scan_skip(scan);
}

static void read_failure(cadre_scan *scan, failure *out, int nested)
{
    cadre_scan_text key;
    if (cadre_scan_peek(scan) == CADRE_SCAN_ARRAY) { // Gemini wraps errors in a list
        cadre_scan_array(scan);
        while (cadre_scan_item(scan)) {
            if (nested < 2)
                read_failure(scan, out, nested);
            else
                cadre_scan_skip(scan);
        }
    } else if (cadre_scan_peek(scan) == CADRE_SCAN_OBJECT) {
        cadre_scan_object(scan);
        while (cadre_scan_key(scan, &key))
            read_failure_field(scan, key, out, nested);
    } else {
        read_message(scan, out);
    }
}

static void add_raw(failure *found)
{
    size_t used = strlen(found->message);
    if (found->raw[0])
        (void)snprintf(found->message + used, sizeof(found->message) - used, "%s%s",
                       used > 0 ? ": " : "", found->raw);
}

static cadre_status tell(const failure *found, cadre_error *err)
{
    bool is_first = err != NULL && err->status == CADRE_OK;
    cadre_status status =
        cadre_fail_http(err, found->http_status, found->code, found->message);
    if (is_first)
        err->retry_after_ms = found->retry_after_ms;
    return status;
}

cadre_status cadre_fail_error(cadre_error *err, int http_status, cadre_scan *scan)
{
    failure found = {.http_status = http_status};
    cadre_scan start = *scan;
    read_failure(scan, &found, 1);
    add_raw(&found);
    cadre_scan_text raw;
    if (found.message[0] == '\0' && cadre_scan_raw(&start, &raw))
        cadre_scan_copy(raw, found.message, sizeof(found.message));
    return tell(&found, err);
}

// A refused key is the mistake most often made; say where it comes from.
static void add_key_hint(const char *key_env, failure *found)
{
    size_t used = strlen(found->message);
    size_t shown = used < SHOWN_BYTES ? used : SHOWN_BYTES;
    if (key_env[0])
        (void)snprintf(found->message + shown, sizeof(found->message) - shown,
                       " (the key is that of %s)", key_env);
    else
        (void)snprintf(found->message + shown, sizeof(found->message) - shown,
                       " (no key was sent: set api_key_env)");
}

cadre_status cadre_fail_body(cadre_error *err, int http_status, const char *key_env,
                             const char *data, size_t len)
{
    failure found = {.http_status = http_status};
    cadre_scan scan;
    cadre_scan_init(&scan, data, len);
    cadre_scan_type type = cadre_scan_peek(&scan);
    if (type == CADRE_SCAN_OBJECT || type == CADRE_SCAN_ARRAY)
        read_failure(&scan, &found, 0);
    add_raw(&found);
    if (found.message[0] == '\0')
        (void)snprintf(found.message, sizeof(found.message), "%.*s%s",
                       (int)(len < SHOWN_BYTES ? len : SHOWN_BYTES), data,
                       len > SHOWN_BYTES ? "..." : "");
    // Gemini says it with a 400.
    if (found.http_status == 401 || strstr(found.message, "API key not valid"))
        add_key_hint(key_env, &found);
    return tell(&found, err);
}

cadre_status cadre_fail_event(cadre_error *err, const char *data, size_t len)
{
    return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE, true,
                            "an event of the answer is not JSON: \"%.*s\"%s",
                            (int)(len < SHOWN_BYTES ? len : SHOWN_BYTES), data,
                            len > SHOWN_BYTES ? "..." : "");
}

cadre_status cadre_fail_answer(cadre_error *err, const char *what,
                               const cadre_scan *scan, const char *data, size_t len)
{
    if (cadre_scan_is_cut(scan))
        return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_TRUNCATED, true,
                                "the answer, one JSON text, ended before it was whole");
    return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_BAD_RESPONSE, false,
                            "the answer is not %s: \"%.*s\"%s", what,
                            (int)(len < SHOWN_BYTES ? len : SHOWN_BYTES), data,
                            len > SHOWN_BYTES ? "..." : "");
}
