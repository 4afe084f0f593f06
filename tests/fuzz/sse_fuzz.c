// Event streams: the same bytes are the same events, however they are cut.
#include "fuzz/fuzz.h"

#include "net/sse.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_EVENT 64

// One reading of a stream: what was told, as a text.
typedef struct reading {
    cdr_buf told;
    int n_wanted; // events before the reader has enough
} reading;

static cadre_status on_event(void *ctx, const cadre_sse_event *event, cadre_error *err)
{
    reading *to = ctx;
    (void)err;
    FUZZ_CHECK(event->data[event->len] == '\0');
    cdr_buf_printf(&to->told, "event '%s' %zu: ", event->type, event->len);
    cdr_buf_append_json_string(&to->told, event->data, event->len);
    cdr_buf_append_text(&to->told, "\n");
    return --to->n_wanted == 0 ? CADRE_DONE : CADRE_OK;
}

// Where the next cut is: after one byte, a few, or nowhere.
typedef enum cutting {
    CUT_NOWHERE,
    CUT_EVERYWHERE,
    CUT_BY_DICE
} cutting;

static size_t next_size(cutting cuts, dice *d, size_t left)
{
    size_t size = left;
    if (cuts == CUT_EVERYWHERE)
        size = 1;
    if (cuts == CUT_BY_DICE)
        size = (size_t)dice_throw(d, dice_percent(d, 50) ? 4 : 64) + 1;
    return size < left ? size : left;
}

typedef struct stream {
    const uint8_t *data;
    size_t len;
    size_t max_event_bytes;
    int n_wanted;
} stream;

static char *read_stream(const stream *from, cutting cuts)
{
    reading to = {CDR_BUF_INIT, from->n_wanted};
    cadre_error err = CADRE_ERROR_INIT;
    dice d = fuzz_dice(from->data, from->len);
    cdr_sse sse;
    cdr_sse_init(&sse, from->max_event_bytes);
    cadre_status status = CADRE_OK;
    for (size_t at = 0; at < from->len && status == CADRE_OK;) {
        size_t size = next_size(cuts, &d, from->len - at);
        char *piece = fuzz_copy(from->data + at, size);
        status = cdr_sse_feed(&sse, piece, size, on_event, &to, &err);
        free(piece);
        at += size;
    }
    if (status == CADRE_OK)
        status = cdr_sse_end(&sse, on_event, &to, &err);
    cdr_buf_printf(&to.told, "%s: %s\n", cadre_status_name(status), err.text);
    cdr_sse_fini(&sse);
    return fuzz_must(cdr_buf_take(&to.told));
}

static void compare(const stream *from)
{
    char *whole = read_stream(from, CUT_NOWHERE);
    char *by_byte = read_stream(from, CUT_EVERYWHERE);
    char *by_dice = read_stream(from, CUT_BY_DICE);
    FUZZ_CHECK_TEXT(by_byte, whole);
    FUZZ_CHECK_TEXT(by_dice, whole);
    free(whole);
    free(by_byte);
    free(by_dice);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    stream all = {.data = data, .len = len};
    stream small = {.data = data, .len = len, .max_event_bytes = SMALL_EVENT};
    stream first = {.data = data, .len = len, .n_wanted = 2};
    compare(&all);
    compare(&small);
    compare(&first);
}
