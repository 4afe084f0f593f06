// Chat completions: where servers put their counts of tokens.
#include "net/answer.h"

#include "support/check.h"
#include "support/model_call.h"

#include <stdlib.h>
#include <string.h>

static void test_openai_answer__counts_tokens_wherever_they_stand(void)
{
    static const char *const events[] = {
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4,"
        "\"prompt_tokens_details\":{\"cached_tokens\":3},"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}",
        "{\"usage\":{\"prompt_cache_hit_tokens\":3,\"prompt_tokens\":10.0,"
        "\"completion_tokens\":4,\"completion_tokens_details\":{\"x\":null,"
        "\"reasoning_tokens\":2},\"total_tokens\":14}}",
        "{\"x_groq\":{\"id\":\"r\",\"usage\":{\"prompt_tokens\":10,"
        "\"completion_tokens\":4,\"completion_tokens_details\":{\"reasoning_tokens\":2}"
        ","
        "\"prompt_tokens_details\":{\"cached_tokens\":3}}}}",
        "{\"choices\":[{\"index\":0,\"usage\":{\"prompt_tokens\":10,"
        "\"completion_tokens\":4,\"cached_tokens\":3,"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2}},\"delta\":{}}]}",
        "{\"usage\":{\"input_tokens\":10,\"output_tokens\":4,\"cached_tokens\":3,"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}",
        // xAI counts reasoning in the total only, some gateways cached input.
        "{\"usage\":{\"total_tokens\":14,\"prompt_tokens\":10,\"completion_tokens\":2,"
        "\"cached_tokens\":3,\"completion_tokens_details\":{\"reasoning_tokens\":2}}}",
        "{\"usage\":{\"total_tokens\":17,\"prompt_tokens\":10,\"completion_tokens\":4,"
        "\"cached_tokens\":3,\"completion_tokens_details\":{\"reasoning_tokens\":2}}}",
    };
    static const char nothing[] =
        "{\"choices\":[{\"usage\":null}],\"usage\":{},\"x_groq\":{\"usage\":{}}}";
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai");
    void *state = model_open(ops, "http://h", NULL, &err);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        cadre_sink sink;
        cdr_answer_init(&sink);
        void *reader = calloc(1, ops->reader_size);
        CHECK_OK(ops->event(state, reader,
                            &(const cadre_sse_event){"", events[i], strlen(events[i])},
                            &sink, &err),
                 &err);
        CHECK_OK(ops->event(state, reader,
                            &(const cadre_sse_event){"", nothing, strlen(nothing)},
                            &sink, &err),
                 &err);
        CHECK_INT(sink.usage.input_tokens, 10);
        CHECK_INT(sink.usage.output_tokens, 4);
        CHECK_INT(sink.usage.cached_input_tokens, 3);
        CHECK_INT(sink.usage.reasoning_tokens, 2);
        free(reader);
        cdr_answer_fini(&sink);
    }
    model_close(ops, state);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_openai_answer__counts_tokens_wherever_they_stand),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("models/openai_answer", tests);
}
