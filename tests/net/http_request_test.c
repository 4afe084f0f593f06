// Requests while they are written, and the cache of their fragments.
#include "net/http_request.h"

#include "support/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define N_THREADS 4
#define N_ROUNDS 200

static const char text_format[] = "text";
static const char other_format[] = "other";

static _Atomic int n_writes;

static void write_text(const cadre_request_item *item, cadre_http *http)
{
    n_writes++;
    cadre_http_append_string(http, item->text);
}

static void write_other(const cadre_request_item *item, cadre_http *http)
{
    n_writes++;
    cadre_http_append(http, "<", 1);
    cadre_http_append_escaped(http, item->text);
    cadre_http_append(http, ">", 1);
}

static void test_http_request__writes_url_headers_and_body(void)
{
    cadre_http http;
    cdr_http_init(&http);
    cadre_http_set_url(&http, "%s/x", "http://a");
    cadre_http_set_url(&http, "%s/chat", "http://b");
    cadre_http_set_header(&http, "Authorization", "Bearer %s", "key");
    cadre_http_append(&http, "{\"a\":", 5);
    cadre_http_append_string(&http, "quote \" and \xC3\xA9\n");
    cadre_http_append(&http, ",\"b\":\"x", 7);
    cadre_http_append_escaped(&http, "\"y\\");
    cadre_http_append_escaped(&http, "");
    cadre_http_append(&http, "\",\"c\":", 6);
    json_t *value = json_pack("{s:f,s:[i,n]}", "f", 0.2, "l", 7);
    cadre_http_append_json(&http, value);
    cadre_http_append(&http, "}", 1);
    CHECK_TEXT(http.url, "http://b/chat");
    CHECK_INT(http.n_headers, 1);
    CHECK_TEXT(http.headers[0].name, "Authorization");
    CHECK_TEXT(http.headers[0].value, "Bearer key");
    CHECK_TEXT(cdr_buf_text(&http.body),
               "{\"a\":\"quote \\\" and \xC3\xA9\\n\",\"b\":\"x\\\"y\\\\\",\"c\":"
               "{\"f\":0.2,\"l\":[7,null]}}");
    CHECK_INT(strlen(cdr_buf_text(&http.body)), http.body.len);
    CHECK(!http.failed);
    json_decref(value);
    cdr_http_fini(&http);
}

static void test_http_request__replaces_bytes_that_are_not_utf8(void)
{
    cadre_http http;
    cdr_http_init(&http);
    cadre_http_append_string(&http, "a\xFF"
                                    "b\xE5\x8C");
    cadre_http_append_escaped(&http, "\xC3");
    CHECK_TEXT(cdr_buf_text(&http.body), "\"a\xEF\xBF\xBD"
                                         "b\xEF\xBF\xBD\"\xEF\xBF\xBD");
    cdr_http_fini(&http);
}

static void test_http_request__refuses_more_headers_than_fit(void)
{
    cadre_http http;
    cdr_http_init(&http);
    for (int i = 0; i < CDR_HTTP_MAX_HEADERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "X-%d", i);
        cadre_http_set_header(&http, name, "%d", i);
    }
    CHECK(!http.failed);
    cadre_http_set_header(&http, "X", "one more");
    CHECK(http.failed);
    CHECK_INT(http.n_headers, CDR_HTTP_MAX_HEADERS);
    cdr_http_fini(&http);
}

// So what a team file says goes before what cadre would send.
static void test_http_request__a_header_is_replaced_by_a_later_one(void)
{
    cadre_http http;
    cdr_http_init(&http);
    cadre_http_set_header(&http, "anthropic-version", "2023-06-01");
    cadre_http_set_header(&http, "Accept", "text/event-stream");
    cadre_http_set_header(&http, "Anthropic-Version", "%s", "2030-01-01");
    CHECK_INT(http.n_headers, 2);
    CHECK_TEXT(http.headers[0].name, "anthropic-version");
    CHECK_TEXT(http.headers[0].value, "2030-01-01");
    CHECK(!http.failed);
    cdr_http_fini(&http);
}

static void test_http_request__makes_a_fragment_once_for_each_format(void)
{
    cdr_fragments cache = {NULL};
    cadre_request_item item = {.text = "a\"b", .cache = &cache};
    n_writes = 0;
    for (int i = 0; i < 3; i++) {
        cadre_http http;
        cdr_http_init(&http);
        item.rendering = CADRE_AS_OWN;
        cadre_http_append_item(&http, &item, text_format, write_text);
        cadre_http_append_item(&http, &item, other_format, write_other);
        item.rendering = CADRE_AS_SPEECH;
        cadre_http_append_item(&http, &item, text_format, write_text);
        CHECK_TEXT(cdr_buf_text(&http.body), "\"a\\\"b\"<a\\\"b>\"a\\\"b\"");
        cdr_http_fini(&http);
    }
    CHECK_INT(n_writes, 3);
    cdr_fragments_fini(&cache);
    CHECK(cache.head == NULL);
}

static void test_http_request__writes_directly_without_a_cache(void)
{
    cadre_request_item item = {.text = "x"};
    cadre_http http;
    cdr_http_init(&http);
    n_writes = 0;
    cadre_http_append_item(&http, &item, text_format, write_text);
    cadre_http_append_item(&http, &item, text_format, write_text);
    CHECK_TEXT(cdr_buf_text(&http.body), "\"x\"\"x\"");
    CHECK_INT(n_writes, 2);
    cdr_http_fini(&http);
}

typedef struct race {
    cdr_fragments *caches;
    pthread_barrier_t *start;
} race;

static void *run_race(void *ctx)
{
    const race *mine = ctx;
    for (int i = 0; i < N_ROUNDS; i++) {
        cadre_request_item item = {.text = "shared", .cache = &mine->caches[i]};
        cadre_http http;
        cdr_http_init(&http);
        pthread_barrier_wait(mine->start);
        cadre_http_append_item(&http, &item, text_format, write_text);
        cadre_http_append_item(&http, &item, other_format, write_other);
        CHECK_TEXT(cdr_buf_text(&http.body), "\"shared\"<shared>");
        cdr_http_fini(&http);
    }
    return NULL;
}

static int count(const cdr_fragments *cache)
{
    int n = 0;
    for (const cdr_fragment *at = cache->head; at; at = at->next)
        n++;
    return n;
}

static void test_http_request__keeps_one_fragment_when_threads_race(void)
{
    static cdr_fragments caches[N_ROUNDS];
    pthread_barrier_t start;
    pthread_t threads[N_THREADS];
    race shared = {caches, &start};
    pthread_barrier_init(&start, NULL, N_THREADS);
    for (int i = 0; i < N_THREADS; i++)
        if (!CHECK_INT(pthread_create(&threads[i], NULL, run_race, &shared), 0))
            return;
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < N_ROUNDS; i++) {
        CHECK_INT(count(&caches[i]), 2);
        cdr_fragments_fini(&caches[i]);
    }
    pthread_barrier_destroy(&start);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_http_request__writes_url_headers_and_body),
    CHECK_TEST(test_http_request__replaces_bytes_that_are_not_utf8),
    CHECK_TEST(test_http_request__refuses_more_headers_than_fit),
    CHECK_TEST(test_http_request__a_header_is_replaced_by_a_later_one),
    CHECK_TEST(test_http_request__makes_a_fragment_once_for_each_format),
    CHECK_TEST(test_http_request__writes_directly_without_a_cache),
    CHECK_TEST(test_http_request__keeps_one_fragment_when_threads_race),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("net/http_request", tests);
}
