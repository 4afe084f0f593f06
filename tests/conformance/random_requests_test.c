// Requests after anything that ever happened: thousands of random histories, and every
// wire format makes one of each that its endpoint takes. A new format is under it
// without an edit here; its own rules belong to support/request_rules.c.
//
// CADRE_TEST_SEED is the first history (1), CADRE_TEST_HISTORIES how many there are.
#include "net/http_request.h"
#include "run/window.h"

#include "support/check.h"
#include "support/model_call.h"
#include "support/random_history.h"
#include "support/request_rules.h"
#include "team/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of each format.
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define N_HISTORIES 10000
#else
#define N_HISTORIES 100000
#endif

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *given = getenv(variable); // NOLINT(concurrency-mt-unsafe)
    return given && given[0] ? strtoull(given, NULL, 10) : otherwise;
}

// `max_tokens`: of what a limit leaves of the history; 0: all of it.
static bool check_history(const cadre_model_ops *ops, const void *state,
                          const random_history *history, int64_t max_tokens)
{
    cadre_http http;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_request request = history->request;
    cdr_window window = {.n_items = 0};
    const cdr_window_view all = {
        .items = request.items, .n_items = request.n_items, .n_said = request.n_items};
    cdr_http_init(&http);
    if (!CHECK(cdr_window_update(&window, &all, max_tokens)))
        return false;
    request.items = window.items;
    request.n_items = window.n_items;
    cadre_status status = model_encode(ops, state, &request, &http, &err);
    bool is_good = CHECK_OK(status, &err) && CHECK(!http.failed) &&
                   CHECK_LACKS(http.url, RANDOM_HISTORY_KEY) &&
                   CHECK_LACKS(cdr_buf_text(&http.body), RANDOM_HISTORY_KEY) &&
                   CHECK_LACKS(cdr_buf_text(&http.body), RANDOM_HISTORY_FOREIGN) &&
                   request_rules_check(ops->provider, cdr_buf_text(&http.body));
    cdr_http_fini(&http);
    cdr_window_fini(&window);
    return is_good;
}

static void check_format(const cadre_model_ops *ops)
{
    cadre_error err = CADRE_ERROR_INIT;
    void *state = model_open(ops, "http://127.0.0.1:1/v1", NULL, &err);
    if (!CHECK_OK(err.status, &err))
        return;
    uint64_t first = number_from("CADRE_TEST_SEED", 1);
    uint64_t n_left = number_from("CADRE_TEST_HISTORIES", N_HISTORIES);
    bool is_good = true;
    for (uint64_t seed = first; is_good && n_left > 0; seed++, n_left--) {
        random_history history;
        random_history_init_seed(&history, ops->provider, seed);
        if (seed % 2 == 0)
            random_history_use_caches(&history);
        int64_t max_tokens = seed % 3 == 0 ? 1 + (int64_t)(seed % 200) : 0;
        is_good = check_history(ops, state, &history, max_tokens);
        if (!is_good)
            (void)printf("\n  format %s: CADRE_TEST_SEED=%llu CADRE_TEST_HISTORIES=1\n",
                         ops->provider, (unsigned long long)seed);
        random_history_fini(&history);
    }
    model_close(ops, state);
}

static void test_random_requests__every_history_can_be_sent(void)
{
    int n_formats = 0;
    for (size_t i = 0; cdr_kinds_models[i]; i++) {
        if (!cdr_kinds_models[i]->encode)
            continue;
        check_format(cdr_kinds_models[i]);
        n_formats++;
    }
    CHECK(n_formats > 0);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_random_requests__every_history_can_be_sent),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("conformance/random_requests", tests);
}
