// Requests: whatever the history is, each wire format makes one JSON object of it, the
// same with and without caches, and the key is in no body and no URL.
#include "fuzz/fuzz.h"

#include "support/model_call.h"
#include "support/random_history.h"
#include "support/request_rules.h"
#include "team/kinds.h"

#include <stdlib.h>
#include <string.h>

// Encodes. Returns the body; free() it.
static char *encode(const cadre_model_ops *ops, const void *state,
                    const random_history *history)
{
    cadre_http http;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_http_init(&http);
    cadre_status status = model_encode(ops, state, &history->request, &http, &err);
    FUZZ_CHECK_TEXT(err.text, "");
    FUZZ_CHECK(status == CADRE_OK && !http.failed);
    FUZZ_CHECK(strstr(http.url, RANDOM_HISTORY_KEY) == NULL);
    char *body = fuzz_copy(cdr_buf_text(&http.body), http.body.len);
    FUZZ_CHECK(strlen(body) == http.body.len);
    FUZZ_CHECK(strstr(body, RANDOM_HISTORY_KEY) == NULL);
    FUZZ_CHECK(strstr(body, RANDOM_HISTORY_FOREIGN) == NULL);
    cdr_http_fini(&http);
    return body;
}

static void check_format(const cadre_model_ops *ops, const uint8_t *data, size_t len)
{
    random_history history;
    cadre_error err = CADRE_ERROR_INIT;
    random_history_init(&history, ops->provider, data, len);
    void *state = fuzz_must(model_open(ops, "http://127.0.0.1:1/v1", NULL, &err));
    char *plain = encode(ops, state, &history);
    random_history_use_caches(&history);
    char *filled = encode(ops, state, &history);
    char *cached = encode(ops, state, &history);
    FUZZ_CHECK_TEXT(filled, plain);
    FUZZ_CHECK_TEXT(cached, plain);
    FUZZ_CHECK(request_rules_check(ops->provider, plain));
    free(plain);
    free(filled);
    free(cached);
    model_close(ops, state);
    random_history_fini(&history);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    for (size_t i = 0; cdr_kinds_models[i]; i++)
        if (cdr_kinds_models[i]->encode)
            check_format(cdr_kinds_models[i], data, len);
}
