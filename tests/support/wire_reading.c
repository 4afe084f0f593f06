// See wire_reading.h.
#include "support/wire_reading.h"

#include "net/sse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
    if (!memory) {
        (void)fputs("no memory for the reading of an answer\n", stderr);
        abort();
    }
    return memory;
}

void wire_reading_init(wire_reading *reading, const cadre_model_ops *ops, void *state)
{
    *reading = (wire_reading){.ops = ops, .state = state, .outcome = CDR_BUF_INIT};
    reading->reader = must(calloc(1, ops->reader_size + 1));
    cdr_answer_init(&reading->sink);
}

void wire_reading_fini(wire_reading *reading)
{
    cdr_answer_fini(&reading->sink);
    cdr_buf_fini(&reading->outcome);
    free(reading->reader);
}

static void append_name(cdr_buf *stream, const char *event, size_t len)
{
    json_t *json = json_loadb(event, len, 0, NULL);
    const char *type = json_string_value(json_object_get(json, "type"));
    if (type)
        cdr_buf_printf(stream, "event: %s\n", type);
    json_decref(json);
}

char *wire_stream_of(const char *events, bool names_events)
{
    cdr_buf stream = CDR_BUF_INIT;
    while (*events) {
        size_t len = strcspn(events, "\n");
        if (names_events)
            append_name(&stream, events, len);
        cdr_buf_printf(&stream, "data: %.*s\n\n", (int)len, events);
        events += len + (events[len] == '\n');
    }
    return must(cdr_buf_take(&stream));
}

static void begin(wire_reading *reading)
{
    cdr_answer_clear(&reading->sink);
    cadre_error_clear(&reading->err);
    cdr_buf_clear(&reading->outcome);
    memset(reading->reader, 0, reading->ops->reader_size);
}

void wire_outcome(const cadre_sink *sink, const cadre_error *err, bool hides_ids,
                  cdr_buf *out)
{
    if (err->status != CADRE_OK) {
        cdr_buf_printf(out, "%s|%d", cadre_error_class_name(err->error_class),
                       err->retryable);
        return;
    }
    cdr_buf_printf(out, "%s|%s|%s|", cdr_buf_text(&sink->text),
                   cdr_buf_text(&sink->reasoning), cadre_finish_name(sink->finish));
    for (size_t i = 0; i < sink->n_calls; i++)
        cdr_buf_printf(out, "%s %s %s;",
                       hides_ids ? "*" : cdr_buf_text(&sink->calls[i].id),
                       cdr_buf_text(&sink->calls[i].name),
                       cdr_buf_text(&sink->calls[i].arguments));
}

static const char *describe(wire_reading *reading, bool hides_ids)
{
    wire_outcome(&reading->sink, &reading->err, hides_ids, &reading->outcome);
    return cdr_buf_text(&reading->outcome);
}

static cadre_status on_event(void *ctx, const cadre_sse_event *event, cadre_error *err)
{
    wire_reading *to = ctx;
    return to->ops->event(to->state, to->reader, event, &to->sink, err);
}

const char *wire_reading_stream(wire_reading *reading, const char *stream, size_t first,
                                size_t size, bool hides_ids)
{
    cdr_sse sse;
    cadre_status status = CADRE_OK;
    size_t len = strlen(stream);
    size_t next = first;
    begin(reading);
    cdr_sse_init(&sse, 0);
    for (size_t at = 0; at < len && status == CADRE_OK && !reading->sink.ended;) {
        size_t n = next < len - at ? next : len - at;
        // On the heap, so that reading beyond a piece is noticed.
        char *piece = must(malloc(n));
        memcpy(piece, stream + at, n);
        status = cdr_sse_feed(&sse, piece, n, on_event, reading, &reading->err);
        free(piece);
        at += n;
        next = size;
    }
    if (status == CADRE_OK)
        status = cdr_sse_end(&sse, on_event, reading, &reading->err);
    if (status == CADRE_OK)
        (void)cdr_answer_settle(&reading->sink, &reading->err);
    cdr_sse_fini(&sse);
    return describe(reading, hides_ids);
}

const char *wire_reading_items(const wire_reading *reading)
{
    return cdr_buf_text(&reading->sink.items);
}

const char *wire_reading_body(wire_reading *reading, int http_status, const char *body,
                              bool hides_ids)
{
    size_t len = strlen(body);
    char *exact = must(malloc(len + 1));
    memcpy(exact, body, len + 1);
    begin(reading);
    if (reading->ops->body(reading->state,
                           &(const cadre_http_body){http_status, exact, len},
                           &reading->sink, &reading->err) == CADRE_OK)
        (void)cdr_answer_settle(&reading->sink, &reading->err);
    free(exact);
    return describe(reading, hides_ids);
}
