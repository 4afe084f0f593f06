// Durations and sizes: what is read, what is refused, and with which advice.
#include "support/check.h"

#include "base/units.h"

#include <math.h>

typedef cadre_status (*parse_function)(const char *text, int64_t *out,
                                       cadre_error *err);

typedef struct accepted {
    const char *text;
    int64_t value;
} accepted;

typedef struct refused {
    const char *text;
    const char *part; // of the message
} refused;

static void check_accepted(parse_function parse, const accepted *cases, size_t n_cases)
{
    for (size_t i = 0; i < n_cases; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        int64_t value = -7;
        CHECK_OK(parse(cases[i].text, &value, &err), &err);
        CHECK_INT(value, cases[i].value);
    }
}

static void check_refused(parse_function parse, const refused *cases, size_t n_cases)
{
    for (size_t i = 0; i < n_cases; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        int64_t value = -7;
        CHECK_STATUS(parse(cases[i].text, &value, &err), CADRE_EINVAL, &err);
        CHECK_CONTAINS(err.text, cases[i].part);
        CHECK_INT(value, -7);
    }
}

static void test_units__reads_durations(void)
{
    static const accepted cases[] = {
        {"250ms", 250},
        {"0s", 0},
        {"10s", 10000},
        {"5m", 300000},
        {"2h", 7200000},
        {"0010s", 10000},
        {"9223372036854775807ms", INT64_MAX},
        {"2562047788015h", 9223372036854000000},
    };
    check_accepted(cdr_parse_duration_ms, cases, sizeof cases / sizeof cases[0]);
}

static void test_units__refuses_durations_that_are_none(void)
{
    static const refused cases[] = {
        {"10",
         "expected a duration such as 250ms, 10s, 5m or 2h, got '10'; add a unit, "
         "such as '10s'"},
        {"", "got ''"},
        {"s", "got 's'"},
        {"-5s", "got '-5s'"},
        {"+5s", "got '+5s'"},
        {" 5s", "got ' 5s'"},
        {"5 s", "a whole number and a unit"},
        {"5s ", "a whole number and a unit"},
        {"1.5s", "a whole number and a unit"},
        {"5S", "a whole number and a unit"},
        {"1h30m", "a whole number and a unit"},
        {"5d", "a whole number and a unit"},
        {"9223372036854775808ms", "too large"},
        {"9223372036854775807s", "too large"},
        {"2562047788016h", "too large"},
        {"99999999999999999999999999999h", "too large"},
    };
    check_refused(cdr_parse_duration_ms, cases, sizeof cases / sizeof cases[0]);
}

static void test_units__reads_sizes(void)
{
    static const accepted cases[] = {
        {"0B", 0},
        {"512B", 512},
        {"64KiB", 65536},
        {"1MiB", 1048576},
        {"2GiB", 2147483648},
        {"8589934591GiB", INT64_MAX - 1073741823},
    };
    check_accepted(cdr_parse_size, cases, sizeof cases / sizeof cases[0]);
}

static void test_units__refuses_sizes_that_are_none(void)
{
    static const refused cases[] = {
        {"64", "got '64'; add a unit, such as '64KiB'"},
        {"64KB", "expected a size such as 512B, 64KiB, 1MiB or 2GiB, got '64KB'"},
        {"64kib", "a whole number and a unit"},
        {"1.5MiB", "a whole number and a unit"},
        {"-1B", "got '-1B'"},
        {"8589934592GiB", "too large"},
    };
    check_refused(cdr_parse_size, cases, sizeof cases / sizeof cases[0]);
}

static void test_units__writes_durations_as_they_are_read(void)
{
    static const accepted cases[] = {
        {"0ms", 0},      {"1ms", 1},        {"2500ms", 2500},
        {"2s", 2000},    {"90s", 90000},    {"5m", 300000},
        {"1h", 3600000}, {"24h", 86400000}, {"9223372036854775807ms", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CDR_DURATION_TEXT_SIZE];
        CHECK_TEXT(cdr_duration_text(cases[i].value, text), cases[i].text);
    }
}

static void test_units__what_was_measured_is_written_without_its_odds(void)
{
    static const accepted cases[] = {
        {"0ms", 0},    {"9999ms", 9999}, {"10s", 10999},  {"59s", 59955},
        {"1m", 60001}, {"599s", 599999}, {"10m", 659999}, {"1h", 3600001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CDR_DURATION_TEXT_SIZE];
        CHECK_TEXT(cdr_duration_about(cases[i].value, text), cases[i].text);
    }
}

static void test_units__dollars_are_whole_millionths(void)
{
    static const struct {
        double dollars;
        int64_t micros;
        const char *text;
    } cases[] = {
        {0, 0, "$0.00"},
        {0.1, 100000, "$0.10"},
        {0.025, 25000, "$0.025"},
        {0.000001, 1, "$0.000001"},
        {2, 2000000, "$2.00"},
        {1234.5, 1234500000, "$1234.50"},
        {999999.999999, 999999999999, "$999999.999999"},
        {1e9, INT64_C(1000000000000000), "$1000000000.00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CDR_DOLLARS_TEXT_SIZE];
        cadre_error err = CADRE_ERROR_INIT;
        int64_t micros = -7;
        CHECK_OK(cdr_dollars_micros(cases[i].dollars, &micros, &err), &err);
        CHECK_INT(micros, cases[i].micros);
        CHECK_TEXT(cdr_dollars_text(micros, text), cases[i].text);
    }
}

static void test_units__refuses_dollars_that_are_none(void)
{
    static const struct {
        double dollars;
        const char *part;
    } cases[] = {
        {0.1234567, "six decimals at most, got 0.1234567"},
        {0.0000001, "six decimals at most, got 1e-07"},
        {-0.01, "dollars from 0 to 1000000000, got -0.01"},
        {1e10, "got 10000000000"},
        {(double)NAN, "got nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        int64_t micros = -7;
        CHECK_STATUS(cdr_dollars_micros(cases[i].dollars, &micros, &err), CADRE_EINVAL,
                     &err);
        CHECK_CONTAINS(err.text, cases[i].part);
        CHECK_INT(micros, -7);
    }
}

static void test_units__know_a_zero(void)
{
    static const char *const zeros[] = {"0", "000", "0s", "00ms", "0KiB"};
    static const char *const others[] = {"", "s", "10s", "01", "0.5s", "0 s", "0x"};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
        CHECK(cdr_is_zero_quantity(zeros[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(!cdr_is_zero_quantity(others[i]));
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_units__reads_durations),
        CHECK_TEST(test_units__refuses_durations_that_are_none),
        CHECK_TEST(test_units__writes_durations_as_they_are_read),
        CHECK_TEST(test_units__what_was_measured_is_written_without_its_odds),
        CHECK_TEST(test_units__reads_sizes),
        CHECK_TEST(test_units__refuses_sizes_that_are_none),
        CHECK_TEST(test_units__dollars_are_whole_millionths),
        CHECK_TEST(test_units__refuses_dollars_that_are_none),
        CHECK_TEST(test_units__know_a_zero),
        CU_TEST_INFO_NULL,
    };
    return check_main("base/units", tests);
}
