// Plain scalars: which JSON value each becomes.
#include "support/check.h"

#include "team/yaml_scalar.h"

#include <stdlib.h>
#include <string.h>

typedef struct reading {
    const char *text;
    const char *json;
} reading;

static void check_readings(const reading *cases, size_t n_cases)
{
    for (size_t i = 0; i < n_cases; i++) {
        json_t *value = cdr_yaml_scalar_read(cases[i].text, strlen(cases[i].text));
        char *json = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        CHECK_TEXT(json, cases[i].json);
        free(json);
        json_decref(value);
    }
}

static void test_yaml_scalar__knows_null_and_booleans_in_one_spelling(void)
{
    static const reading cases[] = {
        {"", "null"},           {"~", "null"},          {"null", "null"},
        {"true", "true"},       {"false", "false"},     {"Null", "\"Null\""},
        {"True", "\"True\""},   {"FALSE", "\"FALSE\""}, {"yes", "\"yes\""},
        {"no", "\"no\""},       {"on", "\"on\""},       {"y", "\"y\""},
        {"nulls", "\"nulls\""},
    };
    check_readings(cases, sizeof cases / sizeof cases[0]);
}

static void test_yaml_scalar__reads_integers_that_fit(void)
{
    static const reading cases[] = {
        {"0", "0"},
        {"-0", "0"},
        {"+5", "5"},
        {"-17", "-17"},
        {"0x1F", "31"},
        {"0xff", "255"},
        {"0o17", "15"},
        {"4294967297", "4294967297"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"0x7FFFFFFFFFFFFFFF", "9223372036854775807"},
    };
    check_readings(cases, sizeof cases / sizeof cases[0]);
}

static void test_yaml_scalar__reads_reals_that_fit(void)
{
    static const reading cases[] = {
        {"1.10", "1.1"},        {"-3.7", "-3.7"}, {".5", "0.5"},        {"5.", "5.0"},
        {"1e3", "1000.0"},      {"1E-2", "0.01"}, {"+1.5e+2", "150.0"}, {"0.0", "0.0"},
        {"1.7e308", "1.7e308"}, {"0e0", "0.0"},
    };
    check_readings(cases, sizeof cases / sizeof cases[0]);
}

static void test_yaml_scalar__keeps_all_else_as_text(void)
{
    static const reading cases[] = {
        {"0755", "\"0755\""},
        {"-012", "\"-012\""},
        {"00.5", "\"00.5\""},
        {"9223372036854775808", "\"9223372036854775808\""},
        {"-9223372036854775809", "\"-9223372036854775809\""},
        {"18446744073709551616", "\"18446744073709551616\""},
        {"0xFFFFFFFFFFFFFFFF", "\"0xFFFFFFFFFFFFFFFF\""},
        {"1e999", "\"1e999\""},
        {"-1e999", "\"-1e999\""},
        {"1e99999999999999999999", "\"1e99999999999999999999\""},
        {".inf", "\".inf\""},
        {".nan", "\".nan\""},
        {"inf", "\"inf\""},
        {"nan", "\"nan\""},
        {"1_000", "\"1_000\""},
        {"12:30", "\"12:30\""},
        {"2024-01-01", "\"2024-01-01\""},
        {"0x", "\"0x\""},
        {"0o8", "\"0o8\""},
        {"0b11", "\"0b11\""},
        {"-0x1F", "\"-0x1F\""},
        {"-", "\"-\""},
        {".", "\".\""},
        {"e3", "\"e3\""},
        {"1e", "\"1e\""},
        {"1.2.3", "\"1.2.3\""},
        {"1 2", "\"1 2\""},
        {"10s", "\"10s\""},
    };
    check_readings(cases, sizeof cases / sizeof cases[0]);
}

static void test_yaml_scalar__keeps_overlong_numbers_as_text(void)
{
    char text[4000];
    memset(text, '9', sizeof text);
    text[sizeof text - 1] = '\0';
    json_t *value = cdr_yaml_scalar_read(text, sizeof text - 1);
    CHECK_TEXT(json_string_value(value), text);
    json_decref(value);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_yaml_scalar__knows_null_and_booleans_in_one_spelling),
        CHECK_TEST(test_yaml_scalar__reads_integers_that_fit),
        CHECK_TEST(test_yaml_scalar__reads_reals_that_fit),
        CHECK_TEST(test_yaml_scalar__keeps_all_else_as_text),
        CHECK_TEST(test_yaml_scalar__keeps_overlong_numbers_as_text),
        CU_TEST_INFO_NULL,
    };
    return check_main("team/yaml_scalar", tests);
}
