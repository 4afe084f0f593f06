// The head of a response, from header lines.
#include "net/http_head.h"

#include "net/retry_after.h"

#include <string.h>
#include <strings.h>

typedef struct wanted {
    const char *name;
    size_t offset; // of its buffer in the reader
} wanted;

static const wanted all_wanted[] = {
    {"content-type", offsetof(cdr_head_reader, content_type)},
    {"location", offsetof(cdr_head_reader, location)},
    {"retry-after", offsetof(cdr_head_reader, retry_after)},
    {"retry-after-ms", offsetof(cdr_head_reader, retry_after_ms)},
    {"x-should-retry", offsetof(cdr_head_reader, should_retry)},
    {"date", offsetof(cdr_head_reader, date)},
};

#define N_WANTED (sizeof all_wanted / sizeof all_wanted[0])

static cdr_buf *buf_of(cdr_head_reader *reader, size_t i)
{
    return (cdr_buf *)(void *)((char *)reader + all_wanted[i].offset);
}

void cdr_head_reader_init(cdr_head_reader *reader)
{
    *reader = (cdr_head_reader){.status = 0, .is_final = false};
}

void cdr_head_reader_fini(cdr_head_reader *reader)
{
    for (size_t i = 0; i < N_WANTED; i++)
        cdr_buf_fini(buf_of(reader, i));
}

void cdr_head_reader_reset(cdr_head_reader *reader)
{
    reader->status = 0;
    reader->is_final = false;
    for (size_t i = 0; i < N_WANTED; i++)
        cdr_buf_clear(buf_of(reader, i));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// "HTTP/1.1 200 OK" or "HTTP/2 200"
static void start_block(cdr_head_reader *reader, const char *line, size_t len)
{
    cdr_head_reader_reset(reader);
    const char *blank = memchr(line, ' ', len);
    const char *end = line + len;
    for (const char *at = blank; at && at < end; at++) {
        if (*at >= '0' && *at <= '9' && reader->status < 1000)
            reader->status = reader->status * 10 + (*at - '0');
        else if (reader->status != 0 || !is_blank(*at))
            break;
    }
}

static cdr_head_state take_header(cdr_head_reader *reader, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    if (!colon)
        return CDR_HEAD_MORE;
    size_t name_len = (size_t)(colon - line);
    for (size_t i = 0; i < N_WANTED; i++) {
        const char *name = all_wanted[i].name;
        if (strlen(name) != name_len || strncasecmp(line, name, name_len) != 0)
            continue;
        const char *value = colon + 1;
        const char *end = line + len;
        while (value < end && is_blank(*value))
            value++;
        while (end > value && is_blank(end[-1]))
            end--;
        cdr_buf *buf = buf_of(reader, i);
        cdr_buf_clear(buf);
        cdr_buf_append(buf, value, (size_t)(end - value));
        return buf->failed ? CDR_HEAD_ENOMEM : CDR_HEAD_MORE;
    }
    return CDR_HEAD_MORE;
}

cdr_head_state cdr_head_reader_feed(cdr_head_reader *reader, const char *line,
                                    size_t len)
{
    if (reader->is_final)
        return CDR_HEAD_MORE;
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    if (len == 0) {
        reader->is_final = reader->status >= 200;
        return reader->is_final ? CDR_HEAD_WHOLE : CDR_HEAD_MORE;
    }
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        start_block(reader, line, len);
        return CDR_HEAD_MORE;
    }
    return take_header(reader, line, len);
}

static int64_t retry_after_ms(const cdr_head_reader *reader, int64_t wall_ms)
{
    int64_t ms = -1;
    if (reader->retry_after_ms.len > 0)
        ms = cdr_retry_after_parse_ms(reader->retry_after_ms.data);
    if (ms >= 0 || reader->retry_after.len == 0)
        return ms;
    // The server's own clock made the date; ours may be off.
    int64_t now_s = cdr_http_date_parse(cdr_buf_text(&reader->date));
    return cdr_retry_after_parse(reader->retry_after.data,
                                 now_s >= 0 ? now_s : wall_ms / 1000);
}

void cdr_head_reader_get(const cdr_head_reader *reader, int64_t wall_ms,
                         cdr_http_head *out)
{
    out->status = reader->status;
    out->content_type = cdr_buf_text(&reader->content_type);
    out->retry_after_ms = retry_after_ms(reader, wall_ms);
    out->refuses_retry = strcasecmp(cdr_buf_text(&reader->should_retry), "false") == 0;
    out->location = cdr_buf_text(&reader->location);
}
