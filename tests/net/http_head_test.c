// The head of a response: only the final block counts.
#include "net/http_head.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

#define WALL_MS ((int64_t)784111777 * 1000) // Sun, 06 Nov 1994 08:49:37 GMT

// Feeds a text line by line. Returns how many final blocks it had.
static int feed(cdr_head_reader *reader, const char *text)
{
    int n = 0;
    while (*text != '\0') {
        const char *end = strchr(text, '\n') + 1;
        n += cdr_head_reader_feed(reader, text, (size_t)(end - text)) == CDR_HEAD_WHOLE;
        text = end;
    }
    return n;
}

static void check_head(const char *text, int status, const char *content_type,
                       int64_t retry_after_ms)
{
    cdr_head_reader reader;
    cdr_http_head head;
    cdr_head_reader_init(&reader);
    CHECK_INT(feed(&reader, text), 1);
    cdr_head_reader_get(&reader, WALL_MS, &head);
    CHECK_INT(head.status, status);
    CHECK_TEXT(head.content_type, content_type);
    CHECK_INT(head.retry_after_ms, retry_after_ms);
    cdr_head_reader_fini(&reader);
}

static void test_head__reads_what_is_wanted(void)
{
    check_head("HTTP/1.1 200 OK\r\nCONTENT-TYPE: \t application/json; x=y \r\n\r\n",
               200, "application/json; x=y", -1);
    check_head("HTTP/2 529\r\nretry-after: 3\r\n\r\n", 529, "", 3000);
    check_head("HTTP/1.1 200\nContent-Type:a\n\n", 200, "a", -1);
    check_head("HTTP/1.1 200 OK\r\nno colon\r\nContent-Types: b\r\n: c\r\n\r\n", 200,
               "", -1);
}

static void test_head__forgets_earlier_blocks(void)
{
    check_head("HTTP/1.1 100 Continue\r\n\r\n"
               "HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\n"
               "Retry-After: 99\r\nretry-after-ms: 9\r\n\r\n"
               "HTTP/1.1 200 OK\r\n\r\n",
               200, "", -1);
}

static void check_refusal(const char *value, bool refuses_retry)
{
    cdr_head_reader reader;
    cdr_http_head head;
    char text[128];
    snprintf(text, sizeof text, "HTTP/2 529\r\nX-Should-Retry:%s\r\n\r\n", value);
    cdr_head_reader_init(&reader);
    CHECK_INT(feed(&reader, text), 1);
    cdr_head_reader_get(&reader, WALL_MS, &head);
    CHECK_INT(head.refuses_retry, refuses_retry);
    cdr_head_reader_fini(&reader);
}

static void test_head__a_server_may_refuse_to_be_asked_again(void)
{
    check_refusal(" false", true);
    check_refusal("False ", true);
    check_refusal(" true", false);
    check_refusal("", false);
    check_refusal(" falsehood", false);
}

static void test_head__ignores_trailers(void)
{
    check_head("HTTP/1.1 200 OK\r\nContent-Type: a\r\n\r\nContent-Type: b\r\n"
               "Retry-After: 1\r\n\r\n",
               200, "a", -1);
}

static void test_head__prefers_milliseconds_where_they_can_be_read(void)
{
    check_head("HTTP/1.1 429 X\r\nretry-after-ms: 250\r\nRetry-After: 1\r\n\r\n", 429,
               "", 250);
    check_head("HTTP/1.1 429 X\r\nretry-after-ms: soon\r\nRetry-After: 1\r\n\r\n", 429,
               "", 1000);
    check_head("HTTP/1.1 429 X\r\nRetry-After: soon\r\n\r\n", 429, "", -1);
}

static void test_head__counts_a_date_from_the_servers_own_time(void)
{
    check_head("HTTP/1.1 503 X\r\nRetry-After: Sun, 06 Nov 1994 08:49:47 GMT\r\n\r\n",
               503, "", 10000);
    check_head("HTTP/1.1 503 X\r\nDate: Sun, 06 Nov 1994 09:00:00 GMT\r\n"
               "Retry-After: Sun, 06 Nov 1994 09:00:02 GMT\r\n\r\n",
               503, "", 2000);
    check_head("HTTP/1.1 503 X\r\nDate: Sun, 06 Nov 1994 09:00:00 GMT\r\n"
               "Retry-After: Sun, 06 Nov 1994 08:00:00 GMT\r\n\r\n",
               503, "", 0);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_head__reads_what_is_wanted),
        CHECK_TEST(test_head__forgets_earlier_blocks),
        CHECK_TEST(test_head__a_server_may_refuse_to_be_asked_again),
        CHECK_TEST(test_head__ignores_trailers),
        CHECK_TEST(test_head__prefers_milliseconds_where_they_can_be_read),
        CHECK_TEST(test_head__counts_a_date_from_the_servers_own_time),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/http_head", tests);
}
