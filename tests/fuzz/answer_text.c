// See answer_text.h.
#include "fuzz/answer_text.h"

#include "base/utf8.h"
#include "fuzz/fuzz.h"

#include <string.h>

static bool is_text(const cdr_buf *buf)
{
    return cdr_utf8_prefix(cdr_buf_text(buf), buf->len) == buf->len;
}

static void check_calls(const cadre_sink *sink)
{
    for (size_t i = 0; i < sink->n_calls; i++) {
        const cdr_answer_call *call = &sink->calls[i];
        FUZZ_CHECK(call->id.len > 0 && is_text(&call->id));
        FUZZ_CHECK(call->name.len > 0 && is_text(&call->name));
        FUZZ_CHECK(call->arguments.len > 0 && is_text(&call->arguments));
        for (size_t other = 0; other < i; other++)
            FUZZ_CHECK(strcmp(sink->calls[other].id.data, call->id.data) != 0);
    }
}

static void check_count(int64_t n_tokens)
{
    FUZZ_CHECK(n_tokens >= 0 && n_tokens <= INT64_C(1000000000000));
}

// What the model alone can read comes back as a list in which each has its place.
static void check_items(const cadre_sink *sink)
{
    if (sink->items.len == 0)
        return;
    size_t i = 0;
    json_t *items = json_loadb(sink->items.data, sink->items.len, 0, NULL);
    const json_t *entry = NULL;
    FUZZ_CHECK(json_array_size(items) > 0);
    json_array_foreach(items, i, entry)
    {
        FUZZ_CHECK(json_is_integer(json_object_get(entry, "place")));
        FUZZ_CHECK(json_object_get(entry, "item") != NULL);
    }
    json_decref(items);
}

static void check_answer(const cadre_sink *sink)
{
    bool has_calls = sink->n_calls > 0;
    FUZZ_CHECK(sink->finish == CADRE_FINISH_LENGTH
                   ? !has_calls
                   : sink->finish ==
                         (has_calls ? CADRE_FINISH_TOOL_CALLS : CADRE_FINISH_STOP));
    FUZZ_CHECK(has_calls || sink->text.len > 0 || sink->reasoning.len > 0);
    check_calls(sink);
    check_items(sink);
    check_count(sink->usage.input_tokens);
    check_count(sink->usage.output_tokens);
    check_count(sink->usage.cached_input_tokens);
    check_count(sink->usage.reasoning_tokens);
}

void answer_check(const cadre_sink *sink, const cadre_error *err)
{
    FUZZ_CHECK(!sink->failed);
    FUZZ_CHECK(is_text(&sink->text) && is_text(&sink->reasoning));
    if (err->status == CADRE_OK) {
        check_answer(sink);
        return;
    }
    FUZZ_CHECK(err->text[0] != '\0');
    FUZZ_CHECK(cadre_error_class_name(err->error_class) != NULL);
    FUZZ_CHECK(cdr_utf8_prefix(err->text, strlen(err->text)) == strlen(err->text));
}

static void add(cdr_buf *to, const char *what, const cdr_buf *value)
{
    cdr_buf_append_text(to, what);
    cdr_buf_append_json_string(to, cdr_buf_text(value), value->len);
    cdr_buf_append_text(to, "\n");
}

char *answer_text(const cadre_sink *sink, const cadre_error *err)
{
    cdr_buf to = CDR_BUF_INIT;
    const char *class_name = cadre_error_class_name(err->error_class);
    cdr_buf_printf(&to, "%s %s %d %s\n", cadre_status_name(err->status),
                   class_name ? class_name : "", err->retryable, err->text);
    cdr_buf_printf(&to, "finish %s, ended %d\n", cadre_finish_name(sink->finish),
                   sink->ended);
    cdr_buf_printf(&to, "usage %lld %lld %lld %lld\n",
                   (long long)sink->usage.input_tokens,
                   (long long)sink->usage.output_tokens,
                   (long long)sink->usage.cached_input_tokens,
                   (long long)sink->usage.reasoning_tokens);
    add(&to, "text ", &sink->text);
    add(&to, "reasoning ", &sink->reasoning);
    add(&to, "items ", &sink->items);
    for (size_t i = 0; i < sink->n_calls; i++) {
        add(&to, "call ", &sink->calls[i].id);
        add(&to, "  name ", &sink->calls[i].name);
        add(&to, "  arguments ", &sink->calls[i].arguments);
    }
    return fuzz_must(cdr_buf_take(&to));
}
