// "Did you mean": near names are found, far ones are not guessed.
#include "support/check.h"

#include "base/nearest.h"

#include <string.h>

static const char *const keys[] = {
    "instructions", "model",  "handoffs", "max_iterations",
    "max_turns",    "member", "members",  "Temperature",
};

static const char *near_key(const char *name)
{
    return cdr_nearest(name, keys, sizeof(keys) / sizeof(keys[0]));
}

static void test_nearest__finds_what_was_meant(void)
{
    static const struct {
        const char *wrong;
        const char *meant;
    } cases[] = {
        {"instruction", "instructions"},
        {"instuctoins", "instructions"},
        {"modle", "model"},
        {"MODEL", "model"},
        {"max_iteratoins", "max_iterations"},
        {"memberz", "member"},
        {"temprature", "Temperature"},
        {"max-turns", "max_turns"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_TEXT(near_key(cases[i].wrong), cases[i].meant);
}

static void test_nearest__does_not_guess_what_is_far(void)
{
    CHECK_TEXT(near_key("banana"), NULL);
    CHECK_TEXT(near_key("mxxxl"), NULL); // 3 of 5 differ
    CHECK_TEXT(near_key(""), NULL);
    CHECK_TEXT(cdr_nearest("model", NULL, 0), NULL);
}

static void test_nearest__takes_the_nearest_then_the_first(void)
{
    static const char *const names[] = {"table", "cable", "fable", "fables"};
    CHECK_TEXT(cdr_nearest("gable", names, 4), "table");
    CHECK_TEXT(cdr_nearest("fablez", names, 4), "fable");
    CHECK_TEXT(cdr_nearest("FABLES", names, 4), "fables");
}

static void test_nearest__swap_of_neighbours_is_one_edit(void)
{
    static const char *const names[] = {"ab", "abcd"};
    CHECK_TEXT(cdr_nearest("ba", names, 1), "ab"); // limit 1
    CHECK_TEXT(cdr_nearest("abdc", names + 1, 1), "abcd");
    CHECK_TEXT(cdr_nearest("badc", names + 1, 1), NULL);
}

static void test_nearest__short_names_must_share_something(void)
{
    static const char *const names[] = {"b", "ab"};
    CHECK_TEXT(cdr_nearest("x", names, 2), NULL);
    CHECK_TEXT(cdr_nearest("a", names, 2), "ab");
}

static void test_nearest__counts_characters_not_bytes(void)
{
    static const char *const names[] = {"na\xc3\xafve", "\xe6\xa8\xa1\xe5\x9e\x8b"};
    CHECK_TEXT(cdr_nearest("naive", names, 2), "na\xc3\xafve");
    CHECK_TEXT(cdr_nearest("\xe6\xa8\xa1", names, 2), "\xe6\xa8\xa1\xe5\x9e\x8b");
}

static void test_nearest__limit_is_a_third_of_the_length(void)
{
    static const char *const names[] = {"abcdefghi"};
    CHECK_TEXT(cdr_nearest("xbcxefgxi", names, 1), "abcdefghi");
    CHECK_TEXT(cdr_nearest("xbcxefgxx", names, 1), NULL);
    CHECK_TEXT(cdr_nearest("abcdefghi___", names, 1), "abcdefghi");
    CHECK_TEXT(cdr_nearest("bcdefg", names, 1), NULL); // 3 missing, 2 allowed
}

static void test_nearest__a_name_that_goes_on_is_near(void)
{
    static const char *const names[] = {"api_key_header", "api_key_env", "apj_key"};
    CHECK_TEXT(cdr_nearest("api_key", names, 2), "api_key_env"); // the shortest
    CHECK_TEXT(cdr_nearest("api_key", names, 3), "apj_key");     // a slip is nearer
    CHECK_TEXT(cdr_nearest("API", names, 2), "api_key_env");
    CHECK_TEXT(cdr_nearest("ap", names, 2), NULL);
    CHECK_TEXT(cdr_nearest("key", names, 2), NULL);
}

static void test_nearest__huge_names_cost_nothing(void)
{
    static char huge[1 << 20];
    memset(huge, 'a', sizeof(huge) - 1);
    const char *names[] = {huge, "aaa"};
    CHECK_TEXT(cdr_nearest(huge, names, 2), NULL);
    CHECK_TEXT(cdr_nearest("aab", names, 2), "aaa");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_nearest__finds_what_was_meant),
    CHECK_TEST(test_nearest__does_not_guess_what_is_far),
    CHECK_TEST(test_nearest__takes_the_nearest_then_the_first),
    CHECK_TEST(test_nearest__swap_of_neighbours_is_one_edit),
    CHECK_TEST(test_nearest__short_names_must_share_something),
    CHECK_TEST(test_nearest__counts_characters_not_bytes),
    CHECK_TEST(test_nearest__limit_is_a_third_of_the_length),
    CHECK_TEST(test_nearest__a_name_that_goes_on_is_near),
    CHECK_TEST(test_nearest__huge_names_cost_nothing),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/nearest", tests);
}
