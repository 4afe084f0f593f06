// Server-sent events: framing, and that no cut of the bytes changes the events.
#include "net/sse.h"

#include "support/case_files.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// The events of a stream, one line each: "type|data\n", in order.
typedef struct seen {
    cdr_buf text;
    int n;
    int fail_at; // the callback fails at this event; 0: never
} seen;

static cadre_status note(void *ctx, const cadre_sse_event *event, cadre_error *err)
{
    seen *all = ctx;
    cdr_buf_append_text(&all->text, event->type);
    cdr_buf_append(&all->text, "|", 1);
    cdr_buf_append(&all->text, event->data, event->len);
    cdr_buf_append(&all->text, "\n", 1);
    CHECK(event->data[event->len] == '\0');
    if (++all->n == all->fail_at)
        return cadre_fail(err, CADRE_EABORTED, "enough");
    return CADRE_OK;
}

// Sizes of pieces; the last repeats.
typedef struct cuts {
    const size_t *sizes;
    size_t n;
} cuts;

// Feeds `len` bytes in pieces.
static cadre_status feed(seen *all, const char *data, size_t len, cuts to,
                         cadre_error *err)
{
    cdr_sse sse;
    cdr_sse_init(&sse, 0);
    cadre_status status = CADRE_OK;
    size_t at = 0;
    for (size_t i = 0; at < len && status == CADRE_OK; i++) {
        size_t size = to.sizes[i < to.n ? i : to.n - 1];
        size = size < len - at ? size : len - at;
        // A copy of exactly this size, so that a sanitizer sees a read beyond it.
        char *piece = malloc(size > 0 ? size : 1);
        memcpy(piece, data + at, size);
        status = cdr_sse_feed(&sse, piece, size, note, all, err);
        free(piece);
        at += size;
    }
    if (status == CADRE_OK)
        status = cdr_sse_end(&sse, note, all, err);
    cdr_sse_fini(&sse);
    return status;
}

static void check_events(const char *data, size_t len, const size_t *sizes,
                         size_t n_sizes, const char *expected)
{
    seen all = {CDR_BUF_INIT, 0, 0};
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(feed(&all, data, len, (cuts){sizes, n_sizes}, &err), &err);
    CHECK_TEXT(cdr_buf_text(&all.text), expected);
    cdr_buf_fini(&all.text);
}

// Whole, byte by byte, and cut in two at every position.
static void check_all_cuts(const char *data, size_t len, const char *expected)
{
    const size_t whole = len > 0 ? len : 1;
    const size_t one = 1;
    check_events(data, len, &whole, 1, expected);
    check_events(data, len, &one, 1, expected);
    size_t step = len > 4096 ? len / 64 : 1;
    for (size_t cut = 1; cut < len; cut += step) {
        const size_t two[] = {cut, len};
        check_events(data, len, two, 2, expected);
    }
}

#define CHECK_STREAM(stream, expected)                                                 \
    check_all_cuts(stream, sizeof(stream) - 1, expected)

static void test_sse__joins_data_lines_by_a_line_feed(void)
{
    CHECK_STREAM("data: a\ndata: b\ndata\n\ndata: c\n\n", "|a\nb\n\n|c\n");
}

static void test_sse__takes_all_three_line_ends(void)
{
    CHECK_STREAM("data: a\r\rdata: b\n\ndata: c\r\n\r\n", "|a\n|b\n|c\n");
    CHECK_STREAM("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", "|a\nb\n|c\n");
    CHECK_STREAM("data: a\n\r\n\rdata: b\r\r\n", "|a\n|b\n");
}

static void test_sse__a_whole_object_is_an_event_without_its_blank_line(void)
{
    CHECK_STREAM("data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n\n",
                 "|{\"a\":1}\n|{\"b\":2}\n|[DONE]\n");
    CHECK_STREAM("event: x\ndata: {}\nevent: y\ndata: {}\n\n", "x|{}\ny|{}\n");
    CHECK_STREAM("data: {}\nevent: x\n\n", "x|{}\n"); // the standard's order is free
    CHECK_STREAM("data: {}\nerror: {}\n\n", "|{}\nerror|{}\n");
    // One object in many lines, and lines that are none.
    CHECK_STREAM("data: {\ndata: \"a\":\ndata: {}\ndata: }\n\n", "|{\n\"a\":\n{}\n}\n");
    CHECK_STREAM("data: [1]\ndata: {}\n\n", "|[1]\n{}\n");
}

static void test_sse__drops_at_most_one_blank(void)
{
    CHECK_STREAM("data:a\n\ndata:  b\n\ndata: \n\n", "|a\n| b\n|\n");
}

static void test_sse__ignores_comments_and_other_fields(void)
{
    CHECK_STREAM(":\n\n: ping\n\nid: 1\nretry: 5\nfoo\ndatax: no\ndata: a\n\n", "|a\n");
}

static void test_sse__names_the_type_of_one_event_only(void)
{
    CHECK_STREAM("event: ping\ndata: a\n\ndata: b\n\nevent: x\n\ndata: c\n\n",
                 "ping|a\n|b\n|c\n");
    CHECK_STREAM("event: x\nevent: y\ndata: a\n\n", "y|a\n");
}

static void test_sse__takes_a_field_named_error_for_an_error_event(void)
{
    CHECK_STREAM("data: a\n\nerror: {\"code\":400}\n\ndata: b\n\n",
                 "|a\nerror|{\"code\":400}\n|b\n");
    CHECK_STREAM("error:{\"code\":400}", "error|{\"code\":400}\n");
    CHECK_STREAM("errors: 1\n\n", "");
}

static void test_sse__drops_a_bom_at_the_start_only(void)
{
    CHECK_STREAM("\xEF\xBB\xBF"
                 "data: a\n\n",
                 "|a\n");
    CHECK_STREAM("data: a\n\n\xEF\xBB\xBF"
                 "data: b\n\n",
                 "|a\n");
}

static void test_sse__keeps_what_only_unicode_calls_a_line_end(void)
{
    CHECK_STREAM("data: a\xE2\x80\xA8"
                 "b\xC2\x85"
                 "c\v\f\n\n",
                 "|a\xE2\x80\xA8"
                 "b\xC2\x85"
                 "c\v\f\n");
}

static void test_sse__dispatches_a_last_event_without_its_blank_line(void)
{
    CHECK_STREAM("data: a\n\ndata: b", "|a\n|b\n");
    CHECK_STREAM("data: a\r", "|a\n");
    CHECK_STREAM("event: x\n", "");
    CHECK_STREAM("", "");
}

static void test_sse__passes_a_nul_on(void)
{
    static const char stream[] = "data: a\0b\n\n";
    seen all = {CDR_BUF_INIT, 0, 0};
    cadre_error err = CADRE_ERROR_INIT;
    const size_t one = 1;
    CHECK_OK(feed(&all, stream, sizeof stream - 1, (cuts){&one, 1}, &err), &err);
    CHECK_BYTES(cdr_buf_text(&all.text), all.text.len, "|a\0b\n", 5);
    cdr_buf_fini(&all.text);
}

static void test_sse__stops_where_the_callback_fails(void)
{
    static const char stream[] = "data: a\n\ndata: b\n\ndata: c\n\n";
    const size_t whole = sizeof stream - 1;
    seen all = {CDR_BUF_INIT, 0, 2};
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(feed(&all, stream, whole, (cuts){&whole, 1}, &err), CADRE_EABORTED,
                 &err);
    CHECK_INT(all.n, 2);
    cdr_buf_fini(&all.text);
}

// Feeds "data: AAA..." of `len` bytes of line in pieces; the status tells if it fits.
static cadre_status feed_line(size_t max, size_t len, size_t piece, cadre_error *err)
{
    cdr_buf line = CDR_BUF_INIT;
    cdr_buf_append_text(&line, "data: ");
    CHECK(cdr_buf_reserve(&line, len));
    while (line.len < len)
        cdr_buf_append(&line, "A", 1);
    cdr_buf_append_text(&line, "\n\n");
    cdr_sse sse;
    cdr_sse_init(&sse, max);
    seen all = {CDR_BUF_INIT, 0, 0};
    cadre_status status = CADRE_OK;
    for (size_t at = 0; at < len + 2 && status == CADRE_OK; at += piece) {
        size_t size = piece < len + 2 - at ? piece : len + 2 - at;
        status = cdr_sse_feed(&sse, line.data + at, size, note, &all, err);
    }
    CHECK_INT(all.n, status == CADRE_OK ? 1 : 0);
    CHECK(status != CADRE_OK || all.text.len == len - 6 + 2);
    cdr_buf_fini(&all.text);
    cdr_sse_fini(&sse);
    cdr_buf_fini(&line);
    return status;
}

static void test_sse__names_the_limit_that_an_event_exceeds(void)
{
    static const size_t pieces[] = {1, 7, 1000, 100000};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(feed_line(1000, 1000, pieces[i], &err), &err);
        CHECK_STATUS(feed_line(1000, 1001, pieces[i], &err), CADRE_EINVAL, &err);
        CHECK_CONTAINS(err.text, "1000 bytes");
        CHECK_INT(err.error_class, CADRE_CLASS_BAD_RESPONSE);
    }
}

static void test_sse__counts_all_data_lines_of_an_event(void)
{
    static const char stream[] = "data: aaaa\ndata: bbbb\n\n";
    cdr_sse sse;
    cadre_error err = CADRE_ERROR_INIT;
    seen all = {CDR_BUF_INIT, 0, 0};
    cdr_sse_init(&sse, 12); // either line fits, both do not
    CHECK_STATUS(cdr_sse_feed(&sse, stream, sizeof stream - 1, note, &all, &err),
                 CADRE_EINVAL, &err);
    CHECK_INT(all.n, 0);
    cdr_sse_fini(&sse);
    cdr_buf_fini(&all.text);
}

static double cpu_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_sse__is_linear_in_a_long_line(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    double start = cpu_s();
    CHECK_OK(feed_line(0, 5000000, 1024, &err), &err);
    CHECK(cpu_s() - start < 1.0); // a rescan of the line would take 12 GB of reading
}

static void test_sse__is_linear_in_lines_of_one_kind(void)
{
    // No LF in 2 MB of CR lines: each line must not be searched to the end for one.
    size_t len = (size_t)2 * 1024 * 1024;
    char *stream = malloc(len);
    memset(stream, '\r', len);
    for (size_t i = 0; i < len; i += 4)
        stream[i] = ':'; // a comment, two blank lines
    double start = cpu_s();
    check_events(stream, len, &len, 1, "");
    CHECK(cpu_s() - start < 1.0);
    free(stream);
}

// Every stream of the case files, in the cuts that README.md there asks for.
static void check_case(void *ctx, const char *folder)
{
    int *n_checked = ctx;
    size_t len = 0;
    char *stream = case_file_read(folder, "stream.sse", &len);
    if (!stream)
        return;
    seen all = {CDR_BUF_INIT, 0, 0};
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(feed(&all, stream, len, (cuts){&len, 1}, &err), &err);
    CHECK(all.n > 0);
    check_all_cuts(stream, len, cdr_buf_text(&all.text));
    size_t sizes[64];
    size_t n_sizes = case_chunks_read(folder, sizes, sizeof sizes / sizeof sizes[0]);
    if (n_sizes > 0)
        check_events(stream, len, sizes, n_sizes, cdr_buf_text(&all.text));
    cdr_buf_fini(&all.text);
    free(stream);
    ++*n_checked;
}

static void test_sse__gives_the_same_events_for_every_cut_of_every_case(void)
{
    int n_checked = 0;
    case_files_each(check_case, &n_checked);
    CHECK(n_checked >= 12);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_sse__joins_data_lines_by_a_line_feed),
        CHECK_TEST(test_sse__takes_all_three_line_ends),
        CHECK_TEST(test_sse__a_whole_object_is_an_event_without_its_blank_line),
        CHECK_TEST(test_sse__drops_at_most_one_blank),
        CHECK_TEST(test_sse__ignores_comments_and_other_fields),
        CHECK_TEST(test_sse__names_the_type_of_one_event_only),
        CHECK_TEST(test_sse__takes_a_field_named_error_for_an_error_event),
        CHECK_TEST(test_sse__drops_a_bom_at_the_start_only),
        CHECK_TEST(test_sse__keeps_what_only_unicode_calls_a_line_end),
        CHECK_TEST(test_sse__dispatches_a_last_event_without_its_blank_line),
        CHECK_TEST(test_sse__passes_a_nul_on),
        CHECK_TEST(test_sse__stops_where_the_callback_fails),
        CHECK_TEST(test_sse__names_the_limit_that_an_event_exceeds),
        CHECK_TEST(test_sse__counts_all_data_lines_of_an_event),
        CHECK_TEST(test_sse__is_linear_in_a_long_line),
        CHECK_TEST(test_sse__is_linear_in_lines_of_one_kind),
        CHECK_TEST(test_sse__gives_the_same_events_for_every_cut_of_every_case),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/sse", tests);
}
