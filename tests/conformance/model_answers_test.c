// What answers must come to, for every wire format in its own bytes: whole, and cut in
// whatever way. A new format needs a table of bytes (support/wire_table.h) and no edit
// here.
#include "support/check.h"
#include "support/model_call.h"
#include "support/wire_reading.h"
#include "support/wire_table.h"
#include "team/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CALLS 128 // of one answer

typedef struct format {
    const wire_table *table;
    wire_reading reading;
} format;

static void for_each_format(void (*check)(format *of))
{
    int n = 0;
    for (size_t i = 0; cdr_kinds_models[i]; i++) {
        const cadre_model_ops *ops = cdr_kinds_models[i];
        cadre_error err = CADRE_ERROR_INIT;
        format of = {.table = wire_table_find(ops->provider)};
        if (!ops->encode || !CHECK(of.table != NULL))
            continue;
        n++;
        void *state = model_open(ops, "http://127.0.0.1:1/v1", NULL, &err);
        if (CHECK_OK(err.status, &err)) {
            wire_reading_init(&of.reading, ops, state);
            check(&of);
            wire_reading_fini(&of.reading);
        }
        model_close(ops, state);
    }
    CHECK(n > 0);
}

// Byte by byte, and in two at every place.
static void check_cuts(format *of, const char *stream, const char *outcome)
{
    bool hides_ids = strchr(outcome, '*') != NULL;
    size_t len = strlen(stream);
    wire_reading *reading = &of->reading;
    CHECK_TEXT(wire_reading_stream(reading, stream, 1, 1, hides_ids), outcome);
    for (size_t at = 1; at < len; at++)
        if (!CHECK_TEXT(wire_reading_stream(reading, stream, at, len, hides_ids),
                        outcome)) {
            (void)printf("\n  cut at byte %zu\n", at);
            return;
        }
}

static void check_stream(format *of, const char *events, const char *outcome,
                         const char *items)
{
    bool hides_ids = strchr(outcome, '*') != NULL;
    char *stream = wire_stream_of(events, of->table->names_events);
    size_t len = strlen(stream);
    if (!CHECK_TEXT(wire_reading_stream(&of->reading, stream, len, len, hides_ids),
                    outcome))
        (void)printf("\n  error: %s\n", of->reading.err.text);
    else if (items)
        CHECK_TEXT(wire_reading_items(&of->reading), items);
    check_cuts(of, stream, outcome);
    if (items)
        CHECK_TEXT(wire_reading_items(&of->reading), items);
    free(stream);
}

static void check_claims(format *of)
{
    for (size_t i = 0; i < WIRE_CLAIMS; i++) {
        const char *bytes = of->table->claims[i];
        const char *outcome = wire_claims[i].outcome;
        unsigned n_failures = CU_get_number_of_failures();
        if (!CHECK(bytes != NULL && outcome != NULL))
            continue;
        if (wire_claims[i].body_status > 0)
            CHECK_TEXT(wire_reading_body(&of->reading, wire_claims[i].body_status,
                                         bytes, false),
                       outcome);
        else
            check_stream(of, bytes, outcome, NULL);
        if (CU_get_number_of_failures() > n_failures)
            (void)printf("\n  in claim %zu of %s\n", i, of->table->provider);
    }
}

static void test_model_answers__every_format_says_the_same(void)
{
    for_each_format(check_claims);
}

static void check_rows(format *of)
{
    CHECK(of->table->n_rows > 0);
    for (size_t i = 0; i < of->table->n_rows; i++) {
        const wire_row *row = &of->table->rows[i];
        unsigned n_failures = CU_get_number_of_failures();
        check_stream(of, row->events, row->outcome, row->items);
        if (CU_get_number_of_failures() > n_failures)
            (void)printf("\n  in row of %s: %s\n", of->table->provider, row->what);
    }
}

static void test_model_answers__each_format_reads_what_its_servers_send(void)
{
    for_each_format(check_rows);
}

static void check_usage(format *of, const wire_usage *wanted)
{
    char *stream = wire_stream_of(wanted->events, of->table->names_events);
    unsigned n_failures = CU_get_number_of_failures();
    for (size_t size = 1; size <= strlen(stream); size += strlen(stream) - 1) {
        (void)wire_reading_stream(&of->reading, stream, size, size, false);
        const cadre_usage *usage = &of->reading.sink.usage;
        CHECK_INT(usage->input_tokens, wanted->input);
        CHECK_INT(usage->cached_input_tokens, wanted->cached);
        if (wanted->written >= 0)
            CHECK_INT(of->reading.sink.n_cache_written, wanted->written);
        CHECK_INT(usage->output_tokens, wanted->output);
        CHECK_INT(usage->reasoning_tokens, wanted->reasoning);
    }
    if (CU_get_number_of_failures() > n_failures)
        (void)printf("\n  in usage of %s: %s\n", of->table->provider, wanted->what);
    free(stream);
}

static void check_usages(format *of)
{
    const wire_usage same = {
        "the claim", of->table->claims[WIRE_USAGE], 10, 3, -1, 4, 2};
    check_usage(of, &same);
    for (size_t i = 0; i < of->table->n_usages; i++)
        check_usage(of, &of->table->usages[i]);
}

static void test_model_answers__tokens_are_counted(void)
{
    for_each_format(check_usages);
}

// The events of one call, with `@` as its number, once for each of `n` calls.
static char *make_calls(const char *one, size_t n)
{
    cdr_buf events = CDR_BUF_INIT;
    for (size_t i = 0; i < n; i++)
        for (const char *at = one; *at; at++) {
            if (*at == '@')
                cdr_buf_printf(&events, "%zu", i);
            else
                cdr_buf_append(&events, at, 1);
        }
    return cdr_buf_take(&events);
}

static void check_limit(format *of)
{
    char *events = make_calls(of->table->nth_call, MAX_CALLS + 1);
    char *stream = wire_stream_of(events, of->table->names_events);
    size_t len = strlen(stream);
    CHECK_TEXT(wire_reading_stream(&of->reading, stream, len, len, true),
               "bad_response|0");
    CHECK_CONTAINS(of->reading.err.text, "128");
    CHECK_INT(of->reading.sink.n_calls, MAX_CALLS);
    free(stream);
    free(events);
}

static void test_model_answers__the_calls_of_an_answer_are_limited(void)
{
    for_each_format(check_limit);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_model_answers__every_format_says_the_same),
    CHECK_TEST(test_model_answers__each_format_reads_what_its_servers_send),
    CHECK_TEST(test_model_answers__tokens_are_counted),
    CHECK_TEST(test_model_answers__the_calls_of_an_answer_are_limited),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("conformance/model_answers", tests);
}
