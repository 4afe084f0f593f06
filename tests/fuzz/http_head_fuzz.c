// Heads of responses, line by line as libcurl gives them: waits are bounded, whatever a
// server asks for.
#include "fuzz/fuzz.h"

#include "net/http_head.h"
#include "net/retry_after.h"

#include <stdlib.h>
#include <string.h>

#define WALL_MS INT64_C(1796083200000)

static void check_wait(int64_t ms)
{
    FUZZ_CHECK(ms >= -1 && ms <= CDR_RETRY_AFTER_MAX_MS);
}

static void check_head(const cdr_head_reader *reader)
{
    cdr_http_head head;
    cdr_head_reader_get(reader, WALL_MS, &head);
    check_wait(head.retry_after_ms);
    FUZZ_CHECK(head.content_type && head.location);
    FUZZ_CHECK(head.status >= 0 && head.status < 10000);
}

static void read_lines(const uint8_t *data, size_t len)
{
    cdr_head_reader reader;
    bool was_final = false;
    cdr_head_reader_init(&reader);
    while (len > 0) {
        const uint8_t *end = memchr(data, '\n', len);
        size_t size = end ? (size_t)(end - data) + 1 : len;
        char *line = fuzz_must(malloc(size));
        memcpy(line, data, size); // without a NUL
        cdr_head_state state = cdr_head_reader_feed(&reader, line, size);
        free(line);
        FUZZ_CHECK(state != CDR_HEAD_ENOMEM);
        FUZZ_CHECK(state != CDR_HEAD_WHOLE || !was_final);
        was_final = reader.is_final;
        check_head(&reader);
        data += size;
        len -= size;
    }
    cdr_head_reader_fini(&reader);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    char *text = fuzz_copy(data, len);
    read_lines(data, len);
    check_wait(cdr_retry_after_parse(text, WALL_MS / 1000));
    check_wait(cdr_retry_after_parse_ms(text));
    FUZZ_CHECK(cdr_http_date_parse(text) >= -1);
    free(text);
}
