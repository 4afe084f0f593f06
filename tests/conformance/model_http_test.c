// The same answers over HTTP, for every wire format: what model_answers_test.c reads
// from memory, and connections that end too early.
#include "support/check.h"
#include "support/http_server.h"
#include "support/model_call.h"
#include "support/wire_reading.h"
#include "support/wire_table.h"
#include "team/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                           \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

static void for_each_format(cdr_network *network,
                            void (*check)(cdr_network *network,
                                          const cadre_model_ops *ops,
                                          const wire_table *table))
{
    int n = 0;
    for (size_t i = 0; cdr_kinds_models[i]; i++) {
        const cadre_model_ops *ops = cdr_kinds_models[i];
        const wire_table *table = wire_table_find(ops->provider);
        if (!ops->encode || !CHECK(table != NULL))
            continue;
        n++;
        check(network, ops, table);
    }
    CHECK(n > 0);
}

static void with_network(void (*check)(cdr_network *network, const cadre_model_ops *ops,
                                       const wire_table *table))
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    if (CHECK_OK(cdr_network_open(&network, &err), &err))
        for_each_format(network, check);
    cdr_network_close(network);
}

// Asks the server once and says what came of it.
static void ask(cdr_network *network, const cadre_model_ops *ops,
                const http_server *server, cdr_buf *outcome)
{
    cadre_error err = CADRE_ERROR_INIT;
    void *state = model_open(ops, http_server_url(server), NULL, &err);
    const cadre_request request = {.system = "Be brief.", .api_key = "k", .agent = "a"};
    const model_call_config config = {.ops = ops, .state = state, .request = &request};
    model_call *call = model_call_start(network, &config, &err);
    cdr_buf_clear(outcome);
    if (CHECK(call != NULL)) {
        (void)model_call_finish(call, &err);
        wire_outcome(model_call_sink(call), &err, false, outcome);
    }
    model_call_free(call);
    model_close(ops, state);
}

static void check_claim(cdr_network *network, const cadre_model_ops *ops,
                        const wire_table *table, size_t claim)
{
    http_server *server = http_server_start(NULL);
    int status = wire_claims[claim].body_status;
    char *stream = wire_stream_of(table->claims[claim], table->names_events);
    cdr_buf outcome = CDR_BUF_INIT;
    if (status > 0)
        http_server_add_answer(server, status, NULL, "application/json",
                               table->claims[claim]);
    else
        http_server_add_stream(server, stream, strlen(stream), "1 7 31");
    ask(network, ops, server, &outcome);
    if (!CHECK_TEXT(cdr_buf_text(&outcome), wire_claims[claim].outcome))
        (void)printf("\n  in claim %zu of %s\n", claim, table->provider);
    CHECK_INT(http_server_request_count(server), 1);
    cdr_buf_fini(&outcome);
    free(stream);
    http_server_stop(server);
}

static void check_claims(cdr_network *network, const cadre_model_ops *ops,
                         const wire_table *table)
{
    for (size_t i = 0; i < WIRE_CLAIMS; i++)
        check_claim(network, ops, table, i);
}

static void test_model_http__every_format_says_the_same(void)
{
    with_network(check_claims);
}

static size_t count_events(const char *events)
{
    size_t n = 0;
    for (; *events; events++)
        n += *events == '\n';
    return n;
}

// The first `n` events.
static char *cut_events(const char *events, size_t n)
{
    const char *end = events;
    while (n-- > 0)
        end = strchr(end, '\n') + 1;
    return strndup(events, (size_t)(end - events));
}

// The first events of an answer, in a stream whose connection then ends in good order.
static void ask_cut(cdr_network *network, const cadre_model_ops *ops,
                    const wire_table *table, size_t n_events, cdr_buf *outcome)
{
    http_server *server = http_server_start(NULL);
    char *events = cut_events(table->claims[WIRE_TEXT_AND_CALLS], n_events);
    char *stream = wire_stream_of(events, table->names_events);
    const http_step steps[] = {HTTP_SEND(HEAD),
                               {HTTP_STEP_SEND, stream, strlen(stream), NULL},
                               HTTP_CLOSE,
                               HTTP_END};
    http_server_add(server, steps);
    ask(network, ops, server, outcome);
    free(stream);
    free(events);
    http_server_stop(server);
}

// Up to some event the answer is cut, and from there on it is whole: never is a part of
// it taken for an answer.
static void check_cuts(cdr_network *network, const cadre_model_ops *ops,
                       const wire_table *table)
{
    size_t n = count_events(table->claims[WIRE_TEXT_AND_CALLS]);
    size_t n_cut = 0;
    cdr_buf outcome = CDR_BUF_INIT;
    bool was_whole = false;
    for (size_t i = 0; i <= n; i++) {
        ask_cut(network, ops, table, i, &outcome);
        bool is_cut = strcmp(cdr_buf_text(&outcome), "truncated|1") == 0;
        n_cut += is_cut;
        CHECK(!is_cut || !was_whole);
        was_whole = !is_cut;
        if (!is_cut)
            CHECK_TEXT(cdr_buf_text(&outcome),
                       wire_claims[WIRE_TEXT_AND_CALLS].outcome);
    }
    CHECK(n_cut > 2); // nothing, and what was said and called
    CHECK(was_whole);
    cdr_buf_fini(&outcome);
}

static void test_model_http__an_end_of_the_connection_is_no_end_of_an_answer(void)
{
    with_network(check_cuts);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_model_http__every_format_says_the_same),
    CHECK_TEST(test_model_http__an_end_of_the_connection_is_no_end_of_an_answer),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("conformance/model_http", tests);
}
