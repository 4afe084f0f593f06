// Retry-After and HTTP dates in all their forms.
#include "net/retry_after.h"

#include "support/check.h"

#define NOW_S 784111777 // Sun, 06 Nov 1994 08:49:37 GMT
#define DAY_MS CDR_RETRY_AFTER_MAX_MS

typedef struct sample {
    const char *text;
    int64_t value;
} sample;

static void test_date__is_read_in_its_three_forms(void)
{
    static const sample samples[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", NOW_S},
        {"Sunday, 06-Nov-94 08:49:37 GMT", NOW_S},
        {"Sun Nov  6 08:49:37 1994", NOW_S},
        {"  Sun, 6 nov 1994 08:49:37 UTC", NOW_S},
        {"Sun, 06 Nov 1994 08:49:37", NOW_S},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Sun, 06 Nov 1497 08:49:37 GMT", 0},
        {"Thu, 29 Feb 2024 23:59:60 GMT", 1709251200},
        {"Wed, 01 Jan 2070 00:00:00 GMT", 3155760000},
        {"Tuesday, 01-Jan-30 00:00:00 GMT", 1893456000},
        {"", -1},
        {"Sun", -1},
        {"Sun, 06 Foo 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 25:49:37 GMT", -1},
        {"Sun, 00 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37 PST", -1},
        {"Sun, 06 Nov 1994 08:49", -1},
        {"Sun, 06 Nov", -1},
        {"Sun Nov  6 08:49:37", -1},
        {"06 Nov 1994 08:49:37 GMT", -1},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        if (!CHECK_INT(cdr_http_date_parse(samples[i].text), samples[i].value))
            CHECK_TEXT(samples[i].text, "(is the one)");
}

static void test_retry_after__is_never_negative_nor_more_than_a_day(void)
{
    static const sample samples[] = {
        {"0", 0},
        {"7", 7000},
        {" 7 ", 7000},
        {"1.5", 1500},
        {"0.0009", 0},
        {"-5", 0},
        {"86400", DAY_MS},
        {"86401", DAY_MS},
        {"99999999999", DAY_MS},
        {"99999999999999999999999999999999999999", DAY_MS},
        {"-99999999999999999999999999999999999999", 0},
        {"Wed, 21 Oct 1992 07:28:00 GMT", 0},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
        {"Sun, 06 Nov 1994 08:50:07 GMT", 30000},
        {"Sun, 06 Nov 2044 08:49:37 GMT", DAY_MS},
        {"", -1},
        {"soon", -1},
        {"7 seconds", -1},
        {"7,8", -1},
        {"-", -1},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        if (!CHECK_INT(cdr_retry_after_parse(samples[i].text, NOW_S), samples[i].value))
            CHECK_TEXT(samples[i].text, "(is the one)");
}

static void test_retry_after_ms__counts_milliseconds(void)
{
    CHECK_INT(cdr_retry_after_parse_ms("250"), 250);
    CHECK_INT(cdr_retry_after_parse_ms("250.75"), 250);
    CHECK_INT(cdr_retry_after_parse_ms("-1"), 0);
    CHECK_INT(cdr_retry_after_parse_ms("99999999999999999999"), DAY_MS);
    CHECK_INT(cdr_retry_after_parse_ms("Sun, 06 Nov 1994 08:49:37 GMT"), -1);
}

static void test_duration__is_read_from_the_start_of_a_text(void)
{
    static const sample samples[] = {
        {"17s", 17000},
        {"0.5s", 500},
        {" 1.0009s.", 1000},
        {"820ms. Visit", 820},
        {"6m0s", 360000},
        {"7m22.56s", 442560},
        {"1h 2 min 3 secs", 3723000},
        {"26 seconds", 26000},
        {"1 SECOND", 1000},
        {"2 hours", 7200000},
        {"99999999999999999999h", DAY_MS},
        {"20h20h", DAY_MS},
        {"90000000ms", DAY_MS},
        {"80000001ms", 80000001},
        {"5s 3 times", 5000},
        {"", -1},
        {"5", -1},
        {"5 ss", -1},
        {"5 sheep", -1},
        {"a minute", -1},
        {"-5s", -1},
        {".5s", -1},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        if (!CHECK_INT(cdr_duration_parse(samples[i].text), samples[i].value))
            CHECK_TEXT(samples[i].text, "(is the one)");
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_date__is_read_in_its_three_forms),
        CHECK_TEST(test_retry_after__is_never_negative_nor_more_than_a_day),
        CHECK_TEST(test_retry_after_ms__counts_milliseconds),
        CHECK_TEST(test_duration__is_read_from_the_start_of_a_text),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/retry_after", tests);
}
