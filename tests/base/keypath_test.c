// Keypaths: as texts, as numbers, and that both say the same.
#include "support/check.h"

#include "base/keypath.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_KEYS = 6
};

typedef struct way {
    uint64_t n_before;
    const char *keys[MAX_KEYS]; // below the root
    const char *text;
} way;

static const way ways[] = {
    {0, {NULL}, "root"},
    {7, {NULL}, "7: root"},
    {0, {"1", NULL}, "1"},
    {0, {"1", "1", "1/0", NULL}, "1 > 1 > 1/0"},
    {4, {"a#1", "transfer", "1", NULL}, "4: a#1 > transfer > 1"},
    {0, {"transfer", "transfer", "transfer", "1", NULL}, "transfer*3 > 1"},
    {0, {"a", "transfer", "a", "transfer", NULL}, "a > transfer > a > transfer"},
    {0,
     {"b > c*2", "50% \x7f", "\xc3\xa9", NULL},
     "b%20%3E%20c%2A2 > 50%25%20%7F > \xc3\xa9"},
    {0, {"12: x", NULL}, "12:%20x"},
};

static cdr_keypath number_of(const way *it)
{
    cdr_keypath path = cdr_keypath_root(it->n_before);
    const char *above = CDR_ROOT_KEY;

    for (size_t i = 0; it->keys[i]; i++) {
        path = cdr_keypath_below(path, above, it->keys[i]);
        above = it->keys[i];
    }
    return path;
}

static void test_keypath__texts_are_read_as_the_numbers_of_their_keys(void)
{
    cdr_arena arena = CDR_ARENA_INIT;

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        const char *text = cdr_keypath_root_text(&arena, ways[i].n_before);
        const char *above = CDR_ROOT_KEY;
        cdr_keypath read = {0, 0};
        for (size_t k = 0; ways[i].keys[k]; k++) {
            text = cdr_keypath_join(&arena, text, above, ways[i].keys[k]);
            above = ways[i].keys[k];
        }
        CHECK_TEXT(text, ways[i].text);
        CHECK(cdr_keypath_parse(text, &read));
        CHECK_INT(cdr_keypath_compare(read, number_of(&ways[i])), 0);
    }
    cdr_arena_fini(&arena);
}

static void test_keypath__no_two_ways_are_one(void)
{
    static const size_t n = sizeof(ways) / sizeof(ways[0]);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            CHECK((cdr_keypath_compare(number_of(&ways[i]), number_of(&ways[k])) ==
                   0) == (i == k));
}

static void test_keypath__a_long_chain_has_a_short_text(void)
{
    cdr_arena arena = CDR_ARENA_INIT;
    const char *text = cdr_keypath_root_text(&arena, 0);
    const char *above = CDR_ROOT_KEY;
    cdr_keypath path = cdr_keypath_root(0), read = {0, 0};

    for (int i = 0; i < 10000; i++) {
        path = cdr_keypath_below(path, above, "transfer");
        text = cdr_keypath_join(&arena, text, above, "transfer");
        above = "transfer";
    }
    CHECK_TEXT(text, "transfer*10000");
    CHECK(cdr_keypath_parse(text, &read));
    CHECK_INT(cdr_keypath_compare(read, path), 0);
    cdr_arena_fini(&arena);
}

static void test_keypath__refuses_what_is_none(void)
{
    static const char *const texts[] = {
        "",     " ",  "a >", "a > ", "> a",  "a b", "a*",  "a*0",    "a*x",
        "a*2b", "a%", "a%4", "a%00", "a%zz", "a>b", "3: ", "a  > b", "a*1234567890"};
    cdr_keypath read = {1, 2};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!CHECK(!cdr_keypath_parse(texts[i], &read)))
            printf("  '%s'\n", texts[i]);
    CHECK(read.a == 1 && read.b == 2);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_keypath__texts_are_read_as_the_numbers_of_their_keys),
    CHECK_TEST(test_keypath__no_two_ways_are_one),
    CHECK_TEST(test_keypath__a_long_chain_has_a_short_text),
    CHECK_TEST(test_keypath__refuses_what_is_none),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/keypath", tests);
}
