// Answers while they are gathered: text in any cuts, calls, and the rules that settle.
#include "net/answer.h"

#include "base/utf8.h"
#include "support/check.h"

#include <string.h>

static void add_text(cadre_sink *sink, const char *text)
{
    cadre_sink_text(sink, text, strlen(text));
}

static size_t add_call(cadre_sink *sink, const char *id, const char *name,
                       const char *arguments)
{
    size_t call = cadre_sink_add_call(sink);
    cadre_sink_call_id(sink, call, id, strlen(id));
    cadre_sink_call_name(sink, call, name, strlen(name));
    cadre_sink_call_arguments(sink, call, arguments, strlen(arguments));
    return call;
}

static cadre_error_class settle_class(cadre_sink *sink, bool *retryable)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cdr_answer_settle(sink, &err);
    CHECK_STATUS(status, err.status, NULL);
    *retryable = err.retryable;
    return err.error_class;
}

static void test_answer__text_with_a_finish_is_whole(void)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_answer_init(&sink);
    add_text(&sink, "Hel");
    add_text(&sink, "lo");
    cadre_sink_reasoning(&sink, "Hm.", 3);
    cadre_sink_finish(&sink, CADRE_FINISH_STOP);
    CHECK_OK(cdr_answer_settle(&sink, &err), &err);
    CHECK_TEXT(cdr_buf_text(&sink.text), "Hello");
    CHECK_TEXT(cdr_buf_text(&sink.reasoning), "Hm.");
    CHECK_INT(sink.finish, CADRE_FINISH_STOP);
    cdr_answer_fini(&sink);
}

static void test_answer__without_a_finish_is_truncated_whatever_came(void)
{
    cadre_sink sink;
    bool retryable;
    cdr_answer_init(&sink);
    add_text(&sink, "half");
    add_call(&sink, "a", "f", "{}");
    cadre_sink_end(&sink);
    CHECK_INT(settle_class(&sink, &retryable), CADRE_CLASS_TRUNCATED);
    CHECK(retryable);
    cdr_answer_fini(&sink);
}

static void test_answer__nothing_said_is_empty(void)
{
    static const char *const texts[] = {"", " \n\t\r", "\u00a0\u3000"};
    for (size_t i = 0; i < 3; i++) {
        cadre_sink sink;
        bool retryable;
        cdr_answer_init(&sink);
        add_text(&sink, texts[i]);
        cadre_sink_finish(&sink, CADRE_FINISH_STOP);
        CHECK_INT(settle_class(&sink, &retryable), CADRE_CLASS_EMPTY_RESPONSE);
        CHECK(retryable);
        cdr_answer_fini(&sink);
    }
}

static void test_answer__thoughts_alone_are_only_the_start_of_one(void)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    bool retryable;
    cdr_answer_init(&sink);
    cadre_sink_reasoning(&sink, "hm", 2);
    cadre_sink_finish(&sink, CADRE_FINISH_STOP);
    CHECK_INT(settle_class(&sink, &retryable), CADRE_CLASS_EMPTY_RESPONSE);
    CHECK(retryable);
    cdr_answer_fini(&sink);
    cdr_answer_init(&sink);
    cadre_sink_reasoning(&sink, "hm", 2);
    cadre_sink_finish(&sink, CADRE_FINISH_LENGTH);
    CHECK_OK(cdr_answer_settle(&sink, &err), &err);
    CHECK_INT(sink.finish, CADRE_FINISH_LENGTH);
    cdr_answer_fini(&sink);
}

static void test_answer__content_filter_is_an_error_even_with_calls(void)
{
    cadre_sink sink;
    bool retryable;
    cdr_answer_init(&sink);
    add_call(&sink, "a", "f", "{}");
    cadre_sink_finish(&sink, CADRE_FINISH_CONTENT_FILTER);
    CHECK_INT(settle_class(&sink, &retryable), CADRE_CLASS_CONTENT_FILTER);
    CHECK(!retryable);
    cdr_answer_fini(&sink);
}

static void test_answer__calls_decide_over_stop_and_their_absence_too(void)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_answer_init(&sink);
    add_call(&sink, "a", "f", "{}");
    cadre_sink_finish(&sink, CADRE_FINISH_STOP);
    CHECK_OK(cdr_answer_settle(&sink, &err), &err);
    CHECK_INT(sink.finish, CADRE_FINISH_TOOL_CALLS);
    cdr_answer_clear(&sink);
    add_text(&sink, "no call came");
    cadre_sink_finish(&sink, CADRE_FINISH_TOOL_CALLS);
    CHECK_OK(cdr_answer_settle(&sink, &err), &err);
    CHECK_INT(sink.finish, CADRE_FINISH_STOP);
    cdr_answer_fini(&sink);
}

static void test_answer__length_drops_calls_that_may_be_cut(void)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    bool retryable;
    cdr_answer_init(&sink);
    add_text(&sink, "text");
    add_call(&sink, "a", "f", "{\"x\":");
    cadre_sink_finish(&sink, CADRE_FINISH_LENGTH);
    CHECK_OK(cdr_answer_settle(&sink, &err), &err);
    CHECK_INT(sink.n_calls, 0);
    CHECK_INT(sink.finish, CADRE_FINISH_LENGTH);
    cdr_answer_clear(&sink);
    add_call(&sink, "a", "f", "{\"x\":");
    cadre_sink_finish(&sink, CADRE_FINISH_LENGTH);
    CHECK_INT(settle_class(&sink, &retryable), CADRE_CLASS_EMPTY_RESPONSE);
    CHECK(!retryable);
    cdr_answer_fini(&sink);
}

static void test_answer__call_without_a_name_is_a_bad_response(void)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_answer_init(&sink);
    add_call(&sink, "a", "f", "{}");
    add_call(&sink, "b", "", "{}");
    cadre_sink_finish(&sink, CADRE_FINISH_TOOL_CALLS);
    CHECK_STATUS(cdr_answer_settle(&sink, &err), CADRE_EIO, &err);
    CHECK_INT(err.error_class, CADRE_CLASS_BAD_RESPONSE);
    CHECK_CONTAINS(err.text, "tool call 2");
    cdr_answer_fini(&sink);
}

static void test_answer__ids_become_unique_and_stay_where_they_can(void)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_answer_init(&sink);
    add_call(&sink, "", "f", "");
    add_call(&sink, "x", "g", " \n");
    add_call(&sink, "x", "h", "{\"a\":1}");
    add_call(&sink, "call00001", "i", "{}");
    cadre_sink_finish(&sink, CADRE_FINISH_TOOL_CALLS);
    CHECK_OK(cdr_answer_settle(&sink, &err), &err);
    CHECK_TEXT(cadre_sink_get_call_id(&sink, 1), "x");
    CHECK_TEXT(cadre_sink_get_call_id(&sink, 3), "call00001");
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(cadre_sink_get_call_id(&sink, i),
                         cadre_sink_get_call_id(&sink, j)) != 0);
    // Nine characters: what the strictest provider takes.
    CHECK_INT(strlen(cadre_sink_get_call_id(&sink, 0)), 9);
    CHECK_TEXT(cdr_buf_text(&sink.calls[0].arguments), "{}");
    CHECK_TEXT(cdr_buf_text(&sink.calls[1].arguments), "{}");
    CHECK_TEXT(cdr_buf_text(&sink.calls[2].arguments), "{\"a\":1}");
    cdr_answer_fini(&sink);
}

static void test_answer__first_id_and_name_stay_and_arguments_grow(void)
{
    cadre_sink sink;
    cdr_answer_init(&sink);
    size_t call = add_call(&sink, "", "", "{\"a\"");
    cadre_sink_call_id(&sink, call, "t1", 2);
    cadre_sink_call_id(&sink, call, "t2", 2);
    cadre_sink_call_name(&sink, call, "f", 1);
    cadre_sink_call_name(&sink, call, "g", 1);
    cadre_sink_call_arguments(&sink, call, ":1}", 3);
    CHECK_TEXT(cadre_sink_get_call_id(&sink, call), "t1");
    CHECK_TEXT(cdr_buf_text(&sink.calls[call].name), "f");
    CHECK_TEXT(cdr_buf_text(&sink.calls[call].arguments), "{\"a\":1}");
    CHECK_TEXT(cadre_sink_get_call_id(&sink, 7), "");
    cadre_sink_call_id(&sink, 7, "x", 1);
    cdr_answer_fini(&sink);
}

static void test_answer__keeps_many_calls(void)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_answer_init(&sink);
    for (int round = 0; round < 2; round++) {
        cdr_answer_clear(&sink);
        for (size_t i = 0; i < 100; i++)
            CHECK_INT(add_call(&sink, "", "f", "{}"), i);
        cadre_sink_finish(&sink, CADRE_FINISH_STOP);
        CHECK_OK(cdr_answer_settle(&sink, &err), &err);
        CHECK_INT(cadre_sink_call_count(&sink), 100);
    }
    cdr_answer_fini(&sink);
}

// What on_delta was shown.
static void on_delta(void *ctx, bool is_reasoning, const char *text, size_t len)
{
    CHECK(!is_reasoning);
    CHECK_INT(cdr_utf8_prefix(text, len), len);
    cdr_buf_append(ctx, text, len);
}

static const struct {
    const char *bytes;
    size_t len;
    const char *text;
} dirty[] = {
#define ROW(bytes, text)                                                               \
    {                                                                                  \
        bytes, sizeof(bytes) - 1, text                                                 \
    }
    ROW("na\xC3\xAFve \xE5\x8C\x97\xE4\xBA\xAC \xF0\x9F\x99\x82 and ASCII behind it",
        "na\xC3\xAFve \xE5\x8C\x97\xE4\xBA\xAC \xF0\x9F\x99\x82 and ASCII behind it"),
    ROW("a\xFFz", "a\xEF\xBF\xBDz"),
    ROW("\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"),
    ROW("\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"),                 // a long form of /
    ROW("\xE2\x82 x", "\xEF\xBF\xBD x"),                         // cut, then goes on
    ROW("\xE2\xE2\x82\xAC", "\xEF\xBF\xBD\xE2\x82\xAC"),         // cut by another
    ROW("\xF0\x9F\x99", "\xEF\xBF\xBD"),                         // cut by the end
    ROW("\xED\xA0\xBD", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"), // a surrogate
    ROW("\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"),
    ROW("a\0z", "a\xEF\xBF\xBDz"),
    ROW("12345678\0abcdefgh\xC3", "12345678\xEF\xBF\xBD"
                                  "abcdefgh\xEF\xBF\xBD"),
#undef ROW
};

static void check_cut(size_t row, size_t first, size_t second)
{
    cadre_sink sink;
    cdr_buf shown = CDR_BUF_INIT;
    cdr_answer_init(&sink);
    sink.on_delta = on_delta;
    sink.ctx = &shown;
    cadre_sink_text(&sink, dirty[row].bytes, first);
    cadre_sink_text(&sink, dirty[row].bytes + first, second - first);
    cadre_sink_text(&sink, dirty[row].bytes + second, dirty[row].len - second);
    cadre_sink_finish(&sink, CADRE_FINISH_STOP);
    CHECK_OK(cdr_answer_settle(&sink, NULL), NULL);
    CHECK_TEXT(cdr_buf_text(&sink.text), dirty[row].text);
    CHECK_TEXT(cdr_buf_text(&shown), dirty[row].text);
    cdr_buf_fini(&shown);
    cdr_answer_fini(&sink);
}

static void test_answer__bad_bytes_become_replacements_however_cut(void)
{
    for (size_t row = 0; row < sizeof(dirty) / sizeof(dirty[0]); row++)
        for (size_t first = 0; first <= dirty[row].len; first++)
            for (size_t second = first; second <= dirty[row].len; second++)
                check_cut(row, first, second);
}

static void test_answer__calls_are_cleaned_too(void)
{
    cadre_sink sink;
    cdr_answer_init(&sink);
    size_t call = add_call(&sink, "i\xFF", "n\xC3", "{\"a\":\"\xE5\x8C");
    cadre_sink_call_arguments(&sink, call, "\x97\xFE\"}", 4);
    cadre_sink_finish(&sink, CADRE_FINISH_STOP);
    CHECK_OK(cdr_answer_settle(&sink, NULL), NULL);
    CHECK_TEXT(cdr_buf_text(&sink.calls[0].id), "i\xEF\xBF\xBD");
    CHECK_TEXT(cdr_buf_text(&sink.calls[0].name), "n\xEF\xBF\xBD");
    CHECK_TEXT(cdr_buf_text(&sink.calls[0].arguments),
               "{\"a\":\"\xE5\x8C\x97\xEF\xBF\xBD\"}");
    cdr_answer_fini(&sink);
}

static void test_answer__clear_leaves_nothing_of_an_attempt(void)
{
    cadre_sink sink;
    bool retryable;
    cadre_usage usage = {.input_tokens = 3};
    cdr_answer_init(&sink);
    add_text(&sink, "x\xE5");
    cadre_sink_reasoning(&sink, "\xE5", 1);
    add_call(&sink, "a", "f", "{}");
    cadre_sink_usage(&sink, &usage);
    cadre_sink_finish(&sink, CADRE_FINISH_STOP);
    cadre_sink_end(&sink);
    cdr_answer_clear(&sink);
    CHECK_INT(sink.usage.input_tokens, 0);
    CHECK_INT(sink.finish, CADRE_FINISH_NONE);
    CHECK(!sink.ended);
    cadre_sink_finish(&sink, CADRE_FINISH_STOP);
    CHECK_INT(settle_class(&sink, &retryable), CADRE_CLASS_EMPTY_RESPONSE);
    cdr_answer_fini(&sink);
}

// Servers have sent -1; sums over a whole run must not overflow either.
static void test_answer__token_counts_are_kept_plausible(void)
{
    const cadre_usage usage = {.input_tokens = -1,
                               .output_tokens = INT64_MAX,
                               .cached_input_tokens = INT64_MIN,
                               .reasoning_tokens = 7};
    cadre_sink sink;
    cdr_answer_init(&sink);
    cadre_sink_usage(&sink, &usage);
    CHECK_INT(sink.usage.input_tokens, 0);
    CHECK_INT(sink.usage.output_tokens, 1000000000000);
    CHECK_INT(sink.usage.cached_input_tokens, 0);
    CHECK_INT(sink.usage.reasoning_tokens, 7);
    cdr_answer_fini(&sink);
}

typedef struct shown_pieces {
    char text[128];
    size_t len;
} shown_pieces;

static void note_piece(void *ctx, bool is_reasoning, const char *text, size_t len)
{
    shown_pieces *shown = ctx;
    if (is_reasoning || shown->len + len >= sizeof shown->text)
        return;
    memcpy(shown->text + shown->len, text, len);
    shown->len += len;
    shown->text[shown->len] = '\0';
}

static void check_covered(const char *said, size_t cut, const char *expected)
{
    static const cdr_secrets secrets = {.items = {{"sk-12345678", 11}}, .count = 1};
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    shown_pieces shown = {.len = 0};
    cdr_answer_init(&sink);
    sink.secrets = &secrets;
    sink.on_delta = note_piece;
    sink.ctx = &shown;
    cadre_sink_text(&sink, said, cut);
    CHECK(strstr(shown.text, "sk-1234567") == NULL);
    cadre_sink_text(&sink, said + cut, strlen(said) - cut);
    cadre_sink_reasoning(&sink, "sk-12345678", 11);
    add_call(&sink, "sk-12345678", "f", "{\"key\":\"sk-12345678\"}");
    cadre_sink_finish(&sink, CADRE_FINISH_TOOL_CALLS);
    CHECK_OK(cdr_answer_settle(&sink, &err), &err);
    CHECK_TEXT(cdr_buf_text(&sink.text), expected);
    CHECK_TEXT(shown.text, expected);
    CHECK_TEXT(cdr_buf_text(&sink.reasoning), "***********");
    CHECK_TEXT(cdr_buf_text(&sink.calls[0].id), "***********");
    CHECK_TEXT(cdr_buf_text(&sink.calls[0].arguments), "{\"key\":\"***********\"}");
    cdr_answer_fini(&sink);
}

static void test_answer__never_holds_a_secret_of_the_request_however_cut(void)
{
    static const char *const rows[][2] = {
        {"key sk-12345678, sk-1234 and s", "key ***********, sk-1234 and s"},
        {"sk-sk-12345678sk-12345678", "sk-**********************"},
        {"no k\xC3\xA9y, just tasks", "no k\xC3\xA9y, just tasks"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t cut = 0; cut <= strlen(rows[i][0]); cut++)
            check_covered(rows[i][0], cut, rows[i][1]);
}

// What only the model can read too; text that is held back counts for its place.
static void test_answer__never_keeps_a_secret_in_an_item(void)
{
    static const cdr_secrets secrets = {.items = {{"sk-12345678", 11}}, .count = 1};
    static const char item[] = "{\"seal\":\"sk-12345678\"}";
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_answer_init(&sink);
    sink.secrets = &secrets;
    cadre_sink_item(&sink, item, strlen(item));
    add_text(&sink, "sk-1");
    cadre_sink_item(&sink, "{\"bad\":", 7);
    cadre_sink_item(&sink, item, strlen(item));
    cadre_sink_finish(&sink, CADRE_FINISH_STOP);
    CHECK_OK(cdr_answer_settle(&sink, &err), &err);
    CHECK_TEXT(cdr_buf_text(&sink.text), "sk-1");
    CHECK_TEXT(cdr_buf_text(&sink.items),
               "[{\"place\":0,\"item\":{\"seal\":\"***********\"}},"
               "{\"place\":1,\"at\":4,\"item\":{\"seal\":\"***********\"}}]");
    cdr_answer_fini(&sink);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_answer__never_keeps_a_secret_in_an_item),
    CHECK_TEST(test_answer__never_holds_a_secret_of_the_request_however_cut),
    CHECK_TEST(test_answer__text_with_a_finish_is_whole),
    CHECK_TEST(test_answer__without_a_finish_is_truncated_whatever_came),
    CHECK_TEST(test_answer__nothing_said_is_empty),
    CHECK_TEST(test_answer__thoughts_alone_are_only_the_start_of_one),
    CHECK_TEST(test_answer__content_filter_is_an_error_even_with_calls),
    CHECK_TEST(test_answer__calls_decide_over_stop_and_their_absence_too),
    CHECK_TEST(test_answer__length_drops_calls_that_may_be_cut),
    CHECK_TEST(test_answer__call_without_a_name_is_a_bad_response),
    CHECK_TEST(test_answer__ids_become_unique_and_stay_where_they_can),
    CHECK_TEST(test_answer__first_id_and_name_stay_and_arguments_grow),
    CHECK_TEST(test_answer__keeps_many_calls),
    CHECK_TEST(test_answer__bad_bytes_become_replacements_however_cut),
    CHECK_TEST(test_answer__calls_are_cleaned_too),
    CHECK_TEST(test_answer__clear_leaves_nothing_of_an_attempt),
    CHECK_TEST(test_answer__token_counts_are_kept_plausible),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("net/answer", tests);
}
