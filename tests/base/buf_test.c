// Buffers: always terminated, never quadratic, one check at the end.
#include "support/check.h"

#include "base/buf.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void test_buf__is_empty_text_before_the_first_append(void)
{
    cdr_buf buf = CDR_BUF_INIT;
    CHECK_TEXT(cdr_buf_text(&buf), "");
    cdr_buf_append(&buf, NULL, 0);
    cdr_buf_append_text(&buf, "");
    CHECK_TEXT(cdr_buf_text(&buf), "");
    CHECK_INT(buf.len, 0);
    cdr_buf_fini(&buf);
    cdr_buf_fini(&buf);
}

static void test_buf__appends_bytes_text_and_formats(void)
{
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append(&buf, "a\0b", 3);
    cdr_buf_append_text(&buf, "-text-");
    cdr_buf_printf(&buf, "%d/%s", 7, "x");
    CHECK_BYTES(buf.data, buf.len, "a\0b-text-7/x", 12);
    CHECK_INT(buf.data[buf.len], 0);
    CHECK(!buf.failed);
    cdr_buf_fini(&buf);
}

static void test_buf__printf_grows_at_every_length(void)
{
    // Around the first capacity, where the first try just fits or just does not.
    for (int width = 250; width < 262; width++) {
        cdr_buf buf = CDR_BUF_INIT;
        cdr_buf_append_text(&buf, "ab");
        cdr_buf_printf(&buf, "%*d", width, 5);
        CHECK_INT(buf.len, width + 2);
        CHECK_INT(strlen(cdr_buf_text(&buf)), width + 2);
        CHECK_INT(buf.data[buf.len - 1], '5');
        cdr_buf_fini(&buf);
    }
}

static void test_buf__a_million_appends_reallocate_few_times(void)
{
    cdr_buf buf = CDR_BUF_INIT;
    int n_moves = 0;
    size_t capacity = 0;
    for (int i = 0; i < 1000000; i++) {
        cdr_buf_append(&buf, "xyz", 3);
        n_moves += buf.capacity != capacity;
        capacity = buf.capacity;
    }
    CHECK_INT(buf.len, 3000000);
    CHECK(n_moves < 20);
    cdr_buf_fini(&buf);
}

static void test_buf__clear_keeps_the_storage(void)
{
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append_text(&buf, "first");
    const char *data = buf.data;
    cdr_buf_clear(&buf);
    CHECK_TEXT(cdr_buf_text(&buf), "");
    cdr_buf_append_text(&buf, "second");
    CHECK(buf.data == data);
    CHECK_TEXT(cdr_buf_text(&buf), "second");
    cdr_buf_fini(&buf);
}

static void test_buf__take_hands_the_bytes_over(void)
{
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append_text(&buf, "mine");
    char *taken = cdr_buf_take(&buf);
    CHECK_TEXT(taken, "mine");
    free(taken);
    CHECK_TEXT(cdr_buf_text(&buf), "");
    taken = cdr_buf_take(&buf);
    CHECK_TEXT(taken, "");
    free(taken);
}

static void test_buf__remembers_that_it_failed(void)
{
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append_text(&buf, "kept");
    CHECK(!cdr_buf_reserve(&buf, SIZE_MAX - 2));
    CHECK(buf.failed);
    cdr_buf_append_text(&buf, "not added");
    cdr_buf_printf(&buf, "%d", 1);
    cdr_buf_append_json_string(&buf, "x", 1);
    CHECK_TEXT(cdr_buf_text(&buf), "kept");
    CHECK(cdr_buf_take(&buf) == NULL);
    CHECK(!buf.failed);
}

static void test_buf__reserve_leaves_room_for_the_nul(void)
{
    cdr_buf buf = CDR_BUF_INIT;
    CHECK(cdr_buf_reserve(&buf, 1000));
    const char *data = buf.data;
    for (int i = 0; i < 1000; i++)
        cdr_buf_append(&buf, "x", 1);
    CHECK(buf.data == data);
    CHECK_INT(strlen(cdr_buf_text(&buf)), 1000);
    cdr_buf_fini(&buf);
}

static void test_buf__json_string_is_what_jansson_writes(void)
{
    char all[3 * 0x80];
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (char)(i / 3 ? i / 3 : 1); // each ASCII character three times
    static const char utf8[] = "na\xc3\xafve \xf0\x9f\x99\x82 \xe2\x80\xa8 \"q\" \\ /";
    const struct {
        const char *text;
        size_t len;
    } cases[] = {{"", 0}, {"plain", 5}, {all, sizeof(all)}, {utf8, sizeof(utf8) - 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cdr_buf buf = CDR_BUF_INIT;
        cdr_buf_append_json_string(&buf, cases[i].text, cases[i].len);
        json_t *value = json_stringn(cases[i].text, cases[i].len);
        char *expected = json_dumps(value, JSON_ENCODE_ANY);
        CHECK_TEXT(cdr_buf_text(&buf), expected);
        free(expected);
        json_decref(value);
        cdr_buf_fini(&buf);
    }
}

static void test_buf__json_string_escapes_nul(void)
{
    cdr_buf buf = CDR_BUF_INIT;
    cdr_buf_append_json_string(&buf, "a\0b", 3);
    CHECK_TEXT(cdr_buf_text(&buf), "\"a\\u0000b\"");
    cdr_buf_fini(&buf);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_buf__is_empty_text_before_the_first_append),
    CHECK_TEST(test_buf__appends_bytes_text_and_formats),
    CHECK_TEST(test_buf__printf_grows_at_every_length),
    CHECK_TEST(test_buf__a_million_appends_reallocate_few_times),
    CHECK_TEST(test_buf__clear_keeps_the_storage),
    CHECK_TEST(test_buf__take_hands_the_bytes_over),
    CHECK_TEST(test_buf__remembers_that_it_failed),
    CHECK_TEST(test_buf__reserve_leaves_room_for_the_nul),
    CHECK_TEST(test_buf__json_string_is_what_jansson_writes),
    CHECK_TEST(test_buf__json_string_escapes_nul),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/buf", tests);
}
