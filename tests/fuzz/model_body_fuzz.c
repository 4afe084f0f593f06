// Whole bodies, in every wire format: a status from 400 always fails with a class and a
// text, and an answer in one piece keeps the rules of net/answer.h.
#include "fuzz/fuzz.h"

#include "fuzz/answer_text.h"
#include "support/model_call.h"
#include "team/kinds.h"

#include <stdlib.h>

static void read_body(const cadre_model_ops *ops, const void *state, int http_status,
                      const char *data, size_t len)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_answer_init(&sink);
    cadre_status status =
        ops->body(state, &(const cadre_http_body){http_status, data, len}, &sink, &err);
    FUZZ_CHECK(status == err.status);
    FUZZ_CHECK(http_status < 300 || status != CADRE_OK);
    if (status == CADRE_OK)
        (void)cdr_answer_settle(&sink, &err);
    answer_check(&sink, &err);
    cdr_answer_fini(&sink);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    static const int statuses[] = {200, 301, 400, 401, 429, 503};
    char *body = fuzz_copy(data, len);
    for (size_t i = 0; cdr_kinds_models[i]; i++) {
        const cadre_model_ops *ops = cdr_kinds_models[i];
        cadre_error err = CADRE_ERROR_INIT;
        if (!ops->encode)
            continue;
        void *state = model_open(ops, "http://127.0.0.1:1/v1", NULL, &err);
        for (size_t s = 0; s < sizeof statuses / sizeof statuses[0]; s++)
            read_body(ops, fuzz_must(state), statuses[s], body, len);
        model_close(ops, state);
    }
    free(body);
}
