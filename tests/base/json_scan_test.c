// The JSON scanner: values of all types, wrong types, mistakes, escapes.
#include "cadre/ext/json_scan.h"

#include "support/check.h"

#include <stdlib.h>

static cadre_scan scan_of(const char *text)
{
    cadre_scan scan;
    cadre_scan_init(&scan, text, strlen(text));
    return scan;
}

static bool is_json(const char *text, size_t len)
{
    cadre_scan scan;
    cadre_scan_init(&scan, text, len);
    cadre_scan_skip(&scan);
    return cadre_scan_is_done(&scan);
}

static void test_json_scan__reads_members_in_any_order(void)
{
    cadre_scan scan = scan_of(" { \"b\" : [1, {\"x\":2}] ,\"a\":\"text\", \"n\":-7 } ");
    cadre_scan_text key, text = {NULL, 0, false};
    int64_t n = 0;
    int members = 0;
    CHECK(cadre_scan_object(&scan));
    while (cadre_scan_key(&scan, &key)) {
        members++;
        if (cadre_scan_is(key, "a"))
            CHECK(cadre_scan_string(&scan, &text));
        else if (cadre_scan_is(key, "n"))
            CHECK(cadre_scan_integer(&scan, &n));
        else
            cadre_scan_skip(&scan);
    }
    CHECK(cadre_scan_is_done(&scan));
    CHECK_INT(members, 3);
    CHECK_BYTES(text.data, text.len, "text", 4);
    CHECK_INT(n, -7);
}

static void test_json_scan__reads_items_of_nested_arrays(void)
{
    cadre_scan scan = scan_of("[[],[1],[2,3],{}]");
    int64_t sum = 0;
    int items = 0;
    CHECK(cadre_scan_array(&scan));
    while (cadre_scan_item(&scan)) {
        items++;
        if (!cadre_scan_array(&scan))
            continue;
        while (cadre_scan_item(&scan)) {
            int64_t value = 0;
            CHECK(cadre_scan_integer(&scan, &value));
            sum += value;
        }
    }
    CHECK(cadre_scan_is_done(&scan));
    CHECK_INT(items, 4);
    CHECK_INT(sum, 6);
}

static void test_json_scan__skips_what_has_another_type(void)
{
    cadre_scan scan = scan_of("[\"a\", {\"x\":[1]}, null, true, 5, \"last\"]");
    cadre_scan_text text = {NULL, 0, false};
    int64_t n = 0;
    CHECK(cadre_scan_array(&scan));
    CHECK(cadre_scan_item(&scan));
    CHECK(!cadre_scan_object(&scan));
    CHECK(cadre_scan_item(&scan));
    CHECK(!cadre_scan_string(&scan, &text));
    CHECK(cadre_scan_item(&scan));
    CHECK(!cadre_scan_array(&scan));
    CHECK(cadre_scan_item(&scan));
    CHECK(!cadre_scan_integer(&scan, &n));
    CHECK(cadre_scan_item(&scan));
    CHECK(!cadre_scan_string(&scan, &text));
    CHECK(cadre_scan_item(&scan));
    CHECK(cadre_scan_string(&scan, &text));
    CHECK(!cadre_scan_item(&scan));
    CHECK(cadre_scan_is_done(&scan));
    CHECK_BYTES(text.data, text.len, "last", 4);
}

static void test_json_scan__accepts_json_and_nothing_else(void)
{
    static const struct {
        const char *text;
        bool is_json;
    } rows[] = {
        {"0", true},
        {"-1.5e+3", true},
        {"\"\"", true},
        {"null", true},
        {"[]", true},
        {" {} ", true},
        {"[1,[2,[]]]", true},
        {"{\"a\":{}}", true},
        {"true", true},
        {"", false},
        {"  ", false},
        {"nul", false},
        {"nulx", false},
        {"-", false},
        {"1.", false},
        {"1e", false},
        {"[1,]", false},
        {"[1 2]", false},
        {"{\"a\"}", false},
        {"{\"a\":}", false},
        {"{a:1}", false},
        {"{\"a\":1,}", false},
        {"[}", false},
        {"{]", false},
        {"\"a", false},
        {"\"a\\", false},
        {"{} x", false},
        {"[1", false},
        {"{\"a\":1", false},
        {"]", false},
        {"tru", false},
        {"{\"a\":[1}", false},
        {",", false},
        {"+1", false},
        {"{\"a\":1 \"b\":2}", false},
        {"{,}", false},
        {"[,1]", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (is_json(rows[i].text, strlen(rows[i].text)) != rows[i].is_json)
            CHECK_TEXT(rows[i].text, rows[i].is_json ? "is JSON" : "is not JSON");
}

static void test_json_scan__tells_cut_text_from_wrong_text(void)
{
    static const char whole[] = "{\"a\":[1,\"x\\n\",{\"b\":null}],\"c\":-2.5e1}";
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        // Each on the heap, so that reading on would be noticed.
        char *part = malloc(len + 1);
        if (!CHECK(part != NULL))
            return;
        memcpy(part, whole, len);
        cadre_scan scan;
        cadre_scan_init(&scan, part, len);
        cadre_scan_skip(&scan);
        CHECK(!cadre_scan_is_done(&scan));
        CHECK(cadre_scan_is_cut(&scan));
        free(part);
    }
    cadre_scan wrong = scan_of("{\"a\":x}");
    cadre_scan_skip(&wrong);
    CHECK(wrong.failed);
    CHECK(!cadre_scan_is_cut(&wrong));
}

static void test_json_scan__ends_every_loop_after_a_mistake(void)
{
    cadre_scan scan = scan_of("{\"a\":[1,x,2],\"b\":1}");
    cadre_scan_text key, text;
    int64_t n;
    int members = 0;
    CHECK(cadre_scan_object(&scan));
    while (cadre_scan_key(&scan, &key)) {
        members++;
        cadre_scan_skip(&scan);
    }
    CHECK_INT(members, 1);
    CHECK(!cadre_scan_item(&scan));
    CHECK(!cadre_scan_string(&scan, &text));
    CHECK(!cadre_scan_integer(&scan, &n));
    CHECK(!cadre_scan_raw(&scan, &text));
    CHECK(!cadre_scan_object(&scan));
    CHECK_INT(cadre_scan_peek(&scan), CADRE_SCAN_NONE);
}

static void test_json_scan__refuses_deep_nesting(void)
{
    char text[2 * (CADRE_SCAN_MAX_DEPTH + 1)];
    for (size_t depth = CADRE_SCAN_MAX_DEPTH; depth <= CADRE_SCAN_MAX_DEPTH + 1;
         depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        CHECK_INT(is_json(text, 2 * depth), depth <= CADRE_SCAN_MAX_DEPTH);
    }
}

static void test_json_scan__knows_objects_and_arrays_at_each_depth(void)
{
    // 100 levels that alternate; closed wrongly at one place it is no JSON.
    static const char open[] = {'[', '{', '"', 'k', '"', ':'};
    static const char close[] = {'}', ']'};
    char text[1024] = "";
    size_t len = 0;
    for (int i = 0; i < 50; i++) {
        memcpy(text + len, open, sizeof(open));
        len += 6;
    }
    text[len++] = '1';
    for (int i = 0; i < 50; i++) {
        memcpy(text + len, close, sizeof(close));
        len += 2;
    }
    CHECK(is_json(text, len));
    text[len - 1] = '}';
    CHECK(!is_json(text, len));
}

static void test_json_scan__cuts_numbers_to_int64(void)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"12", 12},
        {"12.9", 12},
        {"-3.9", -3},
        {"1e3", 1000},
        {"9223372036854775807", INT64_MAX},
        {"99999999999999999999", INT64_MAX},
        {"-99999999999999999999", INT64_MIN},
        {"1e999", INT64_MAX},
        {"-1e30", INT64_MIN},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cadre_scan scan = scan_of(rows[i].text);
        int64_t value = 0;
        CHECK(cadre_scan_integer(&scan, &value));
        CHECK_INT(value, rows[i].value);
    }
}

static void test_json_scan__takes_values_as_written(void)
{
    cadre_scan scan = scan_of("[ {\"a\" : [1, 2]} , \"x\\ny\"]");
    cadre_scan_text raw;
    CHECK(cadre_scan_array(&scan));
    CHECK(cadre_scan_item(&scan));
    CHECK(cadre_scan_raw(&scan, &raw));
    CHECK_BYTES(raw.data, raw.len, "{\"a\" : [1, 2]}", 14);
    CHECK(cadre_scan_item(&scan));
    CHECK(cadre_scan_raw(&scan, &raw));
    CHECK_BYTES(raw.data, raw.len, "\"x\\ny\"", 6);
}

static void test_json_scan__resolves_escapes(void)
{
    static const struct {
        const char *json, *value;
    } rows[] = {
        {"\"plain\"", "plain"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u4eac\"", "A\xC3\xA9\xE4\xBA\xAC"},
        {"\"\\ud83d\\ude42!\"", "\xF0\x9F\x99\x82!"},
        {"\"\\uD83D\"", "\xEF\xBF\xBD"},
        {"\"\\ud83dx\"", "\xEF\xBF\xBDx"},
        {"\"\\ude42\\ud83d\"", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\"\\ud83d\\n\"", "\xEF\xBF\xBD\n"},
        {"\"\\ud83d\\ud83d\\ude42\"", "\xEF\xBF\xBD\xF0\x9F\x99\x82"},
        {"\"\\ud83d\\u0041\"", "\xEF\xBF\xBD"
                               "A"},
        {"\"\\u0000\"", "\xEF\xBF\xBD"},
        {"\"\\u12\"", "\xEF\xBF\xBD"
                      "12"},
        {"\"\\q\"", "q"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cadre_scan scan = scan_of(rows[i].json);
        cadre_scan_text text;
        char value[64];
        if (CHECK(cadre_scan_string(&scan, &text)))
            CHECK_TEXT(cadre_scan_copy(text, value, sizeof(value)), rows[i].value);
    }
}

static void test_json_scan__unescapes_in_pieces_of_any_size(void)
{
    static const char json[] = "\"a\\n\\ud83d\\ude42bc\\u00e9\\\\defghij\"";
    static const char expected[] = "a\n\xF0\x9F\x99\x82"
                                   "bc\xC3\xA9\\defghij";
    for (size_t size = 4; size < 40; size++) {
        cadre_scan scan = scan_of(json);
        cadre_scan_text rest;
        char all[64];
        char piece[40];
        size_t used = 0;
        size_t n;
        CHECK(cadre_scan_string(&scan, &rest));
        while ((n = cadre_scan_unescape(&rest, piece, size)) > 0) {
            memcpy(all + used, piece, n);
            used += n;
        }
        CHECK_BYTES(all, used, expected, sizeof(expected) - 1);
    }
}

static void test_json_scan__copies_no_more_than_fits(void)
{
    char out[8];
    cadre_scan_text text = {"0123456789", 10, false};
    CHECK_TEXT(cadre_scan_copy(text, out, sizeof(out)), "0123456");
}

// Pieces of a text, and what stands before each, then what it is shortened to.
static void test_json_scan__joins_a_pair_that_pieces_part(void)
{
    static const struct {
        const char *pieces[3], *joined[3];
        uint16_t half; // what stays behind the last
    } rows[] = {
        {{"a\\ud83d", "\\ude42b", NULL}, {"|a", "\xF0\x9F\x99\x82|b", NULL}, 0},
        {{"\\ud83d", "", "\\ude42"}, {"|", "|", "\xF0\x9F\x99\x82|"}, 0},
        {{"\\ud83d", "x", NULL}, {"|", "\xEF\xBF\xBD|x", NULL}, 0},
        {{"\\ud83d", "\\ud83d\\ude42", NULL},
         {"|", "\xEF\xBF\xBD|\\ud83d\\ude42", NULL},
         0},
        {{"\\ud83d", "\\ude42\\uD83E", NULL}, {"|", "\xF0\x9F\x99\x82|", NULL}, 0xD83E},
        {{"\\\\ud83d", "\\ude42", NULL}, {"|\\\\ud83d", "|\\ude42", NULL}, 0},
        {{"\\\\\\ud83d", "\\ude42", NULL}, {"|\\\\", "\xF0\x9F\x99\x82|", NULL}, 0},
        {{"\\ude42", "ud83d", NULL}, {"|\\ude42", "|ud83d", NULL}, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint16_t half = 0;
        for (size_t k = 0; k < 3 && rows[i].pieces[k]; k++) {
            char before[4], got[64];
            const char *data = rows[i].pieces[k];
            cadre_scan_text piece = {data, strlen(data), strchr(data, '\\') != NULL};
            size_t n = cadre_scan_join(&piece, &half, before);
            (void)snprintf(got, sizeof(got), "%.*s|%.*s", (int)n, before,
                           (int)piece.len, piece.data);
            CHECK_TEXT(got, rows[i].joined[k]);
        }
        CHECK_INT(half, rows[i].half);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_json_scan__reads_members_in_any_order),
    CHECK_TEST(test_json_scan__reads_items_of_nested_arrays),
    CHECK_TEST(test_json_scan__skips_what_has_another_type),
    CHECK_TEST(test_json_scan__accepts_json_and_nothing_else),
    CHECK_TEST(test_json_scan__tells_cut_text_from_wrong_text),
    CHECK_TEST(test_json_scan__ends_every_loop_after_a_mistake),
    CHECK_TEST(test_json_scan__refuses_deep_nesting),
    CHECK_TEST(test_json_scan__knows_objects_and_arrays_at_each_depth),
    CHECK_TEST(test_json_scan__cuts_numbers_to_int64),
    CHECK_TEST(test_json_scan__takes_values_as_written),
    CHECK_TEST(test_json_scan__resolves_escapes),
    CHECK_TEST(test_json_scan__unescapes_in_pieces_of_any_size),
    CHECK_TEST(test_json_scan__joins_a_pair_that_pieces_part),
    CHECK_TEST(test_json_scan__copies_no_more_than_fits),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/json_scan", tests);
}
