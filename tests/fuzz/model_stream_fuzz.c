// Streams of model answers, in every wire format: the same bytes are the same answer,
// however they are cut, an answer that counts keeps the rules of net/answer.h, and the
// key is in none.
#include "fuzz/fuzz.h"

#include "fuzz/answer_text.h"
#include "net/sse.h"
#include "support/model_call.h"
#include "team/kinds.h"

#include <stdlib.h>
#include <string.h>

#define KEY "sk-0123456789"

typedef struct reading {
    const cadre_model_ops *ops;
    const void *state;
    void *reader;
    cadre_sink sink;
    cdr_buf shown; // all deltas
    cadre_error err;
} reading;

static void show(void *ctx, bool is_reasoning, const char *text, size_t len)
{
    reading *to = ctx;
    FUZZ_CHECK(len > 0);
    if (!is_reasoning)
        cdr_buf_append(&to->shown, text, len);
}

static cadre_status on_event(void *ctx, const cadre_sse_event *event, cadre_error *err)
{
    reading *to = ctx;
    // On the heap, so that reading beyond its end is noticed.
    char *data = fuzz_copy(event->data, event->len);
    cadre_status status = to->ops->event(
        to->state, to->reader, &(const cadre_sse_event){event->type, data, event->len},
        &to->sink, err);
    free(data);
    FUZZ_CHECK(status == err->status);
    return status == CADRE_OK && to->sink.ended ? CADRE_DONE : status;
}

static void feed(reading *to, const uint8_t *data, size_t len, bool is_cut)
{
    cdr_sse sse;
    dice d = fuzz_dice(data, len);
    cdr_sse_init(&sse, 0);
    cadre_status status = CADRE_OK;
    for (size_t at = 0; at < len && status == CADRE_OK;) {
        size_t size = is_cut ? (size_t)dice_throw(&d, 40) + 1 : len;
        size = size < len - at ? size : len - at;
        status =
            cdr_sse_feed(&sse, (const char *)data + at, size, on_event, to, &to->err);
        at += size;
    }
    if (status == CADRE_OK)
        status = cdr_sse_end(&sse, on_event, to, &to->err);
    cdr_sse_fini(&sse);
}

// Reads the stream as an attempt does. Returns what came of it; free() it.
static char *read_answer(const cadre_model_ops *ops, const void *state,
                         const uint8_t *data, size_t len, bool is_cut)
{
    reading to = {.ops = ops, .state = state, .shown = CDR_BUF_INIT};
    cdr_answer_init(&to.sink);
    const cdr_secrets secrets = {.items = {{KEY, strlen(KEY)}}, .count = 1};
    to.sink.secrets = &secrets;
    to.sink.on_delta = show;
    to.sink.ctx = &to;
    to.reader = fuzz_must(calloc(1, ops->reader_size + 1));
    feed(&to, data, len, is_cut);
    if (to.err.status == CADRE_OK)
        (void)cdr_answer_settle(&to.sink, &to.err);
    answer_check(&to.sink, &to.err);
    FUZZ_CHECK_TEXT(cdr_buf_text(&to.shown), cdr_buf_text(&to.sink.text));
    cdr_secrets_cover(&secrets, to.err.text);
    char *text = answer_text(&to.sink, &to.err);
    FUZZ_CHECK(to.err.status != CADRE_OK || strstr(text, KEY) == NULL);
    cdr_buf_fini(&to.shown);
    cdr_answer_fini(&to.sink);
    free(to.reader);
    return text;
}

void fuzz_one(const uint8_t *data, size_t len)
{
    for (size_t i = 0; cdr_kinds_models[i]; i++) {
        const cadre_model_ops *ops = cdr_kinds_models[i];
        cadre_error err = CADRE_ERROR_INIT;
        if (!ops->encode)
            continue;
        void *state = model_open(ops, "http://127.0.0.1:1/v1", NULL, &err);
        char *whole = read_answer(ops, fuzz_must(state), data, len, false);
        char *cut = read_answer(ops, state, data, len, true);
        FUZZ_CHECK_TEXT(cut, whole);
        free(whole);
        free(cut);
        model_close(ops, state);
    }
}
