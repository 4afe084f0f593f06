// Server-sent events: bytes in any cuts to whole events.
//
// Invariants:
// 1. A line is looked at only when it is whole: in place when the bytes at hand hold
//    all of it, else gathered in `line`. So no cut can matter.
// 2. Each byte is searched for a line end once and copied at most twice.
// 3. `line` and `data` together never hold more than `max_event_bytes`, except for the
//    moment in which the one moves to the other.
// 4. A data line is looked at as JSON once: when the line behind it has come, to see
//    whether a blank line is missing between the two.
#include "net/sse.h"

#include "cadre/ext/json_scan.h"

#include <string.h>
#include <strings.h>

#define DEFAULT_MAX_EVENT_BYTES ((size_t)16 * 1024 * 1024)

typedef struct sink {
    cdr_sse_on_event on_event;
    void *ctx;
    cadre_error *err;
} sink;

void cdr_sse_init(cdr_sse *sse, size_t max_event_bytes)
{
    *sse = (cdr_sse){.max_event_bytes = max_event_bytes > 0 ? max_event_bytes
                                                            : DEFAULT_MAX_EVENT_BYTES,
                     .line = CDR_BUF_INIT,
                     .data = CDR_BUF_INIT,
                     .type = CDR_BUF_INIT};
}

void cdr_sse_fini(cdr_sse *sse)
{
    cdr_buf_fini(&sse->line);
    cdr_buf_fini(&sse->data);
    cdr_buf_fini(&sse->type);
}

static cadre_status out_of_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "event stream: no memory for an event");
}

// Refuses a line that grows by `len` beyond the limit. Field names count, so that the
// limit falls on the same byte whether the line came in one piece or in many.
static cadre_status check_size(const cdr_sse *sse, size_t len, cadre_error *err)
{
    size_t held = sse->line.len + sse->data.len;
    if (held <= sse->max_event_bytes && len <= sse->max_event_bytes - held)
        return CADRE_OK;
    return cadre_fail_class(err, CADRE_EINVAL, CADRE_CLASS_BAD_RESPONSE, false,
                            "event stream: an event is larger than the limit of %zu "
                            "bytes",
                            sse->max_event_bytes);
}

static cadre_status dispatch(cdr_sse *sse, const sink *to)
{
    cadre_status status = CADRE_OK;
    if (sse->has_data) {
        cadre_sse_event event = {.type = cdr_buf_text(&sse->type),
                                 .data = cdr_buf_text(&sse->data),
                                 .len = sse->data.len};
        status = to->on_event(to->ctx, &event, to->err);
    }
    cdr_buf_clear(&sse->data);
    cdr_buf_clear(&sse->type);
    sse->has_data = false;
    sse->is_joined = false;
    return status;
}

// Some servers leave out the blank line between two events: a line that is a whole JSON
// object is one, and what follows belongs to the next.
static bool ends_event(cdr_sse *sse)
{
    cadre_scan scan;
    if (!sse->has_data || sse->is_joined)
        return false;
    sse->is_joined = true;
    cadre_scan_init(&scan, sse->data.data, sse->data.len);
    if (cadre_scan_peek(&scan) != CADRE_SCAN_OBJECT)
        return false;
    cadre_scan_skip(&scan);
    return cadre_scan_is_done(&scan);
}

static bool is_field(const char *name, size_t name_len, const char *expected)
{
    return name_len == strlen(expected) && memcmp(name, expected, name_len) == 0;
}

static cadre_status add_data(cdr_sse *sse, const char *value, size_t len,
                             cadre_error *err)
{
    if (sse->has_data)
        cdr_buf_append(&sse->data, "\n", 1);
    sse->has_data = true;
    cdr_buf_append(&sse->data, value, len);
    return sse->data.failed ? out_of_memory(err) : CADRE_OK;
}

static cadre_status set_type(cdr_sse *sse, const char *value, size_t len,
                             cadre_error *err)
{
    cdr_buf_clear(&sse->type);
    cdr_buf_append(&sse->type, value, len);
    return sse->type.failed ? out_of_memory(err) : CADRE_OK;
}

static cadre_status take_field(cdr_sse *sse, const char *line, size_t len,
                               const sink *to)
{
    const char *colon = memchr(line, ':', len);
    size_t name_len = colon ? (size_t)(colon - line) : len;
    const char *value = colon ? colon + 1 : line + len;
    size_t value_len = (size_t)(line + len - value);
    if (value_len > 0 && value[0] == ' ') {
        value++;
        value_len--;
    }
    bool is_data = is_field(line, name_len, "data");
    bool is_type = is_field(line, name_len, "event");
    // No field of the standard: older llama.cpp servers tell failures like this.
    bool is_error = is_field(line, name_len, "error");
    cadre_status status = CADRE_OK;
    // A type may come behind the data, but an event has only one.
    if ((is_data || is_error || (is_type && sse->type.len > 0)) && ends_event(sse))
        status = dispatch(sse, to);
    if (status == CADRE_OK && is_type)
        status = set_type(sse, value, value_len, to->err);
    if (status == CADRE_OK && is_error)
        status = set_type(sse, "error", strlen("error"), to->err);
    if (status == CADRE_OK && (is_data || is_error))
        status = add_data(sse, value, value_len, to->err);
    return status;
}

static cadre_status take_line(cdr_sse *sse, const char *line, size_t len,
                              const sink *to)
{
    if (!sse->started) {
        sse->started = true;
        if (len >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
            line += 3;
            len -= 3;
        }
    }
    if (len == 0)
        return dispatch(sse, to);
    return line[0] == ':' ? CADRE_OK : take_field(sse, line, len, to);
}

// Ends the line whose last bytes are `data`.
static cadre_status end_line(cdr_sse *sse, const char *data, size_t len, const sink *to)
{
    cadre_status status = check_size(sse, len, to->err);
    if (status != CADRE_OK)
        return status;
    if (sse->line.len == 0)
        return take_line(sse, data, len, to);
    cdr_buf_append(&sse->line, data, len);
    if (sse->line.failed)
        return out_of_memory(to->err);
    status = take_line(sse, sse->line.data, sse->line.len, to);
    cdr_buf_clear(&sse->line);
    return status;
}

static cadre_status keep_rest(cdr_sse *sse, const char *data, size_t len,
                              cadre_error *err)
{
    cadre_status status = check_size(sse, len, err);
    if (status == CADRE_OK) {
        cdr_buf_append(&sse->line, data, len);
        status = sse->line.failed ? out_of_memory(err) : CADRE_OK;
    }
    return status;
}

// Finds the first `wanted` byte from `at` on, `end` if there is none. The last answer
// is used while it holds, so that searching for two kinds of line ends stays linear.
static const char *find(const char *last, const char *at, const char *end, int wanted)
{
    if (last && last >= at)
        return last;
    const char *found = memchr(at, wanted, (size_t)(end - at));
    return found ? found : end;
}

cadre_status cdr_sse_feed(cdr_sse *sse, const char *data, size_t len,
                          cdr_sse_on_event on_event, void *ctx, cadre_error *err)
{
    if (len == 0)
        return CADRE_OK;
    const sink to = {on_event, ctx, err};
    const char *at = data;
    const char *end = data + len;
    if (sse->skip_lf && *at == '\n')
        at++;
    sse->skip_lf = false;
    const char *lf = NULL;
    const char *cr = NULL;
    while (at < end) {
        lf = find(lf, at, end, '\n');
        cr = find(cr, at, end, '\r');
        const char *stop = lf < cr ? lf : cr;
        if (stop == end)
            return keep_rest(sse, at, (size_t)(end - at), err);
        cadre_status status = end_line(sse, at, (size_t)(stop - at), &to);
        if (status != CADRE_OK)
            return status;
        at = stop + 1;
        if (stop == cr && at < end && *at == '\n')
            at++;
        else if (stop == cr && at == end)
            sse->skip_lf = true;
    }
    return CADRE_OK;
}

cadre_status cdr_sse_end(cdr_sse *sse, cdr_sse_on_event on_event, void *ctx,
                         cadre_error *err)
{
    const sink to = {on_event, ctx, err};
    if (sse->line.len > 0) {
        cadre_status status = end_line(sse, "", 0, &to);
        if (status != CADRE_OK)
            return status;
    }
    return dispatch(sse, &to);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// What servers send under a name of its own, or as data, so that the connection stays.
static bool is_sign_of_life(const char *text, size_t len)
{
    static const char *const words[] = {"ping", "heartbeat", "keepalive", "keep-alive",
                                        "keep_alive"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i]) == len && strncasecmp(text, words[i], len) == 0)
            return true;
    return false;
}

// A JSON value that can hold nothing.
static bool is_empty_json(const char *data, size_t len)
{
    cadre_scan scan;
    cadre_scan_init(&scan, data, len);
    switch (cadre_scan_peek(&scan)) {
    case CADRE_SCAN_NULL:
    case CADRE_SCAN_BOOLEAN:
    case CADRE_SCAN_NUMBER:
        cadre_scan_skip(&scan);
        break;
    case CADRE_SCAN_ARRAY:
        if (!cadre_scan_array(&scan) || cadre_scan_item(&scan))
            return false;
        break;
    default:
        return false;
    }
    return cadre_scan_is_done(&scan);
}

bool cadre_sse_event_data(const cadre_sse_event *event, const char **data, size_t *len)
{
    static const char field[] = "data:";
    const char *at = event->data, *end = at + event->len;
    while (at < end && is_space(*at))
        at++;
    // A gateway may frame what is framed already.
    if ((size_t)(end - at) >= sizeof(field) - 1 &&
        memcmp(at, field, sizeof(field) - 1) == 0)
        at += sizeof(field) - 1;
    while (at < end && is_space(*at))
        at++;
    while (at < end && is_space(end[-1]))
        end--;
    *data = at;
    *len = (size_t)(end - at);
    if (at == end || *at == ':')
        return false;
    if (*at == '{')
        return true;
    return !is_sign_of_life(event->type, strlen(event->type)) &&
           !is_sign_of_life(at, *len) && !is_empty_json(at, *len);
}

bool cadre_sse_data_is_done(const char *data, size_t len)
{
    static const char done[] = "[DONE]";
    return len == sizeof(done) - 1 && memcmp(data, done, len) == 0;
}
