// What providers say when they fail, in all the forms that they have.
#include "cadre/ext/provider_error.h"

#include "net/retry_after.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_CODE 512
#define MAX_TEXT 1024
#define SHOWN_BYTES 200 // of what is not JSON
#define HEAD_BYTES 4096 // of it that are looked at

// Found anywhere in an error: {"error": {"message", "type", "code"}}, the same without
// "error" (vLLM), {"error": "text"} (Ollama), {"detail": "text"} (FastAPI), {"errors":
// [...]} (Cloudflare), {"base_resp": {"status_code", "status_msg"}} (MiniMax). Beside
// the message stand "details", a list (Gemini), and "metadata" (OpenRouter).
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
    char duration[32];
    if (!cadre_scan_string(scan, &text))
        return;
    int64_t ms = cdr_duration_parse(cadre_scan_copy(text, duration, sizeof(duration)));
    if (ms >= 0)
        out->retry_after_ms = ms;
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

static bool is_any(cadre_scan_text key, const char *const *words)
{
    for (; *words; words++)
        if (cadre_scan_is(key, *words))
            return true;
    return false;
}

static const char *const message_keys[] = {"message",   "detail",     "msg",
                                           "error_msg", "status_msg", NULL};
static const char *const code_keys[] = {"code",       "type",        "status",
                                        "error_code", "status_code", NULL};
static const char *const inner_keys[] = {"error", "errors", "base_resp", NULL};

static void read_failure(cadre_scan *scan, failure *out, int nested);

static void read_failure_field(cadre_scan *scan, cadre_scan_text key, failure *out,
                               int nested)
{
    if (is_any(key, inner_keys) && nested == 0)
        read_failure(scan, out, 1);
    else if (is_any(key, message_keys))
        read_message(scan, out);
    else if (is_any(key, code_keys))
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

// Finds a word of small letters, whatever its case; NULL: it is not there.
static const char *find(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);
    for (; len >= n; text++, len--)
        if (strncasecmp(text, word, n) == 0)
            return text;
    return NULL;
}

// "Please try again in 1.9s" (OpenAI, Groq), "Please retry after 26 seconds" (Azure)
static int64_t wait_in_words(const char *message)
{
    static const char *const words[] = {"try again in ", "retry after ", "retry in "};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *at = find(message, strlen(message), words[i]);
        int64_t ms = at ? cdr_duration_parse(at + strlen(words[i])) : -1;
        if (ms >= 0)
            return ms;
    }
    return 0;
}

static cadre_status tell(const failure *found, cadre_error *err)
{
    bool is_first = err != NULL && err->status == CADRE_OK;
    cadre_status status =
        cadre_fail_http(err, found->http_status, found->code, found->message);
    if (is_first)
        err->retry_after_ms = found->retry_after_ms > 0 ? found->retry_after_ms
                                                        : wait_in_words(found->message);
    return status;
}

bool cadre_scan_error(cadre_scan *scan, cadre_scan *out)
{
    cadre_scan start = *scan;
    cadre_scan_text text = {"", 0, false};
    cadre_scan_type type = cadre_scan_peek(scan);
    bool says =
        type == CADRE_SCAN_OBJECT || type == CADRE_SCAN_ARRAY ||
        (type == CADRE_SCAN_STRING && cadre_scan_string(scan, &text) && text.len > 0);
    if (type != CADRE_SCAN_STRING)
        cadre_scan_skip(scan);
    if (says)
        *out = start;
    return says;
}

// What makes an object an error.
typedef struct error_signs {
    bool has_message, has_code, has_detail;
} error_signs;

// Does a code, type or status say so? A number but 0 and those of success, or a word.
static bool is_error_code(cadre_scan *scan)
{
    cadre_scan_text text;
    int64_t number;
    if (cadre_scan_peek(scan) == CADRE_SCAN_NUMBER)
        return cadre_scan_integer(scan, &number) && number != 0 &&
               (number < 200 || number >= 300);
    return cadre_scan_string(scan, &text) &&
           (find(text.data, text.len, "error") || find(text.data, text.len, "fail"));
}

static void read_signs(cadre_scan *scan, error_signs *out)
{
    cadre_scan_text key, text;
    cadre_scan inner;
    if (!cadre_scan_object(scan))
        return;
    while (cadre_scan_key(scan, &key)) {
        if (cadre_scan_is(key, "detail") || cadre_scan_is(key, "errors"))
            out->has_detail = cadre_scan_error(scan, &inner) || out->has_detail;
        else if (cadre_scan_is(key, "base_resp"))
            read_signs(scan, out);
        else if (is_any(key, message_keys))
            out->has_message = cadre_scan_string(scan, &text) || out->has_message;
        else if (is_any(key, code_keys) || cadre_scan_is(key, "object"))
            out->has_code = is_error_code(scan) || out->has_code;
        else
            cadre_scan_skip(scan);
    }
}

bool cadre_scan_says_error(const cadre_scan *scan)
{
    cadre_scan at = *scan;
    error_signs signs = {.has_message = false};
    read_signs(&at, &signs);
    return !at.failed && (signs.has_detail || (signs.has_message && signs.has_code));
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

// Behind `data:` of the first event, where a body is a stream of them.
static const char *skip_to_data(const char *data, size_t len)
{
    static const char field[] = "data:";
    size_t n = len < HEAD_BYTES ? len : HEAD_BYTES;
    const char *at = find(data, n, field);
    if (at && at > data && at[-1] != '\n' && at[-1] != '\r')
        return data;
    return at ? at + sizeof(field) - 1 : data;
}

// What stands in no field: the title of a page, else the first bytes.
static void quote(failure *found, const char *data, size_t len)
{
    static const char open[] = "<title>";
    size_t n = len < HEAD_BYTES ? len : HEAD_BYTES;
    const char *title = find(data, n, open);
    const char *end = title ? find(title, (size_t)(data + n - title), "</") : NULL;
    if (end) {
        data = title + sizeof(open) - 1;
        len = (size_t)(end - data);
    }
    (void)snprintf(found->message, sizeof(found->message), "%.*s%s",
                   (int)(len < SHOWN_BYTES ? len : SHOWN_BYTES), data,
                   len > SHOWN_BYTES ? "..." : "");
}

cadre_status cadre_fail_body(cadre_error *err, int http_status, const char *key_env,
                             const char *data, size_t len)
{
    failure found = {.http_status = http_status};
    const char *json = skip_to_data(data, len);
    cadre_scan scan;
    cadre_scan_init(&scan, json, len - (size_t)(json - data));
    cadre_scan_type type = cadre_scan_peek(&scan);
    if (type == CADRE_SCAN_OBJECT || type == CADRE_SCAN_ARRAY)
        read_failure(&scan, &found, 0);
    add_raw(&found);
    if (found.message[0] == '\0')
        quote(&found, data, len);
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
