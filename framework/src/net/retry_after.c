// How long a server asks to wait.
#include "net/retry_after.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int64_t clamp_ms(int64_t ms)
{
    if (ms < 0)
        return 0;
    return ms < CDR_RETRY_AFTER_MAX_MS ? ms : CDR_RETRY_AFTER_MAX_MS;
}

// A decimal number of units of `unit_ms` each; -1 when the text is none.
static int64_t parse_count(const char *text, int64_t unit_ms)
{
    const char *at = text + strspn(text, " \t");
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if (!is_digit(*at))
        return -1;
    int64_t ms = 0;
    for (; is_digit(*at); at++)
        ms = clamp_ms(ms * 10 + (*at - '0') * unit_ms);
    int64_t weight_ms = unit_ms;
    if (*at == '.') {
        for (at++; is_digit(*at); at++) {
            weight_ms /= 10;
            ms += (*at - '0') * weight_ms;
        }
    }
    at += strspn(at, " \t");
    if (*at != '\0')
        return -1;
    return negative ? 0 : clamp_ms(ms);
}

static const char *skip(const char *at, const char *blanks)
{
    return at + strspn(at, blanks);
}

// 0: it is none.
static int64_t unit_ms_of(const char *word, size_t len)
{
    static const struct {
        const char *word;
        int64_t ms;
    } units[] = {
        {"ms", 1},         {"s", 1000},    {"sec", 1000},
        {"second", 1000},  {"m", 60000},   {"min", 60000},
        {"minute", 60000}, {"h", 3600000}, {"hour", 3600000},
    };
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t n = strlen(units[i].word);
        bool is_plural = len == n + 1 && n > 2 && word[n] == 's';
        if ((len == n || is_plural) && strncasecmp(word, units[i].word, n) == 0)
            return units[i].ms;
    }
    return 0;
}

// Takes a decimal number; its value in thousandths.
static int64_t take_thousandths(const char **at)
{
    const int64_t most = INT64_C(100000000000); // of any unit more than is clamped to
    int64_t value = 0;
    for (; is_digit(**at); ++*at)
        value = value < most ? value * 10 + (**at - '0') * INT64_C(1000) : most;
    if (**at == '.' && is_digit((*at)[1]))
        for (int64_t weight = 100; is_digit(*++*at); weight /= 10)
            value += (**at - '0') * weight;
    return value;
}

int64_t cdr_duration_parse(const char *text)
{
    int64_t total_ms = -1;
    for (const char *at = skip(text, " "); is_digit(*at); at = skip(at, " ")) {
        int64_t thousandths = take_thousandths(&at);
        const char *unit = skip(at, " ");
        for (at = unit; isalpha((unsigned char)*at);)
            at++;
        int64_t unit_ms = unit_ms_of(unit, (size_t)(at - unit));
        if (unit_ms == 0)
            break;
        total_ms =
            clamp_ms((total_ms < 0 ? 0 : total_ms) + thousandths * unit_ms / 1000);
    }
    return total_ms;
}

static bool read_number(const char **at, size_t max_digits, int *out)
{
    size_t n = 0;
    int value = 0;
    while (n < max_digits && is_digit((*at)[n]))
        value = value * 10 + ((*at)[n++] - '0');
    if (n == 0 || is_digit((*at)[n]))
        return false;
    *at += n;
    *out = value;
    return true;
}

static bool read_month(const char **at, int *out)
{
    static const char names[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    for (int i = 0; i < 12; i++) {
        if (strncasecmp(*at, names[i], 3) == 0) {
            *out = i;
            *at += 3;
            return true;
        }
    }
    return false;
}

static bool read_year(const char **at, int *out)
{
    const char *start = *at;
    int year = 0;
    if (!read_number(at, 4, &year))
        return false;
    if (*at - start == 2)
        year += year < 70 ? 2000 : 1900;
    *out = year - 1900;
    return true;
}

static bool read_time(const char **at, struct tm *out)
{
    if (!read_number(at, 2, &out->tm_hour) || *(*at)++ != ':' ||
        !read_number(at, 2, &out->tm_min) || *(*at)++ != ':' ||
        !read_number(at, 2, &out->tm_sec))
        return false;
    return out->tm_hour < 24 && out->tm_min < 60 && out->tm_sec <= 60;
}

// "06 Nov 1994 08:49:37 GMT" or "06-Nov-94 08:49:37 GMT"
static bool read_day_first(const char *at, struct tm *out)
{
    if (!read_number(&at, 2, &out->tm_mday))
        return false;
    at = skip(at, " -");
    if (!read_month(&at, &out->tm_mon))
        return false;
    at = skip(at, " -");
    if (!read_year(&at, &out->tm_year))
        return false;
    at = skip(at, " ");
    if (!read_time(&at, out))
        return false;
    at = skip(at, " ");
    return *at == '\0' || strcasecmp(at, "GMT") == 0 || strcasecmp(at, "UTC") == 0;
}

// "Nov  6 08:49:37 1994", as asctime writes it
static bool read_month_first(const char *at, struct tm *out)
{
    if (!read_month(&at, &out->tm_mon))
        return false;
    at = skip(at, " ");
    if (!read_number(&at, 2, &out->tm_mday))
        return false;
    at = skip(at, " ");
    if (!read_time(&at, out))
        return false;
    at = skip(at, " ");
    return read_year(&at, &out->tm_year) && *at == '\0';
}

int64_t cdr_http_date_parse(const char *text)
{
    const char *at = skip(text, " \t");
    const char *weekday = at;
    while (isalpha((unsigned char)*at))
        at++;
    if (at - weekday < 3)
        return -1;
    at = skip(at, ", ");
    struct tm date = {0};
    bool ok = is_digit(*at) ? read_day_first(at, &date) : read_month_first(at, &date);
    if (!ok || date.tm_mday < 1 || date.tm_mday > 31)
        return -1;
    int64_t seconds = (int64_t)timegm(&date);
    return seconds > 0 ? seconds : 0;
}

int64_t cdr_retry_after_parse(const char *value, int64_t now_s)
{
    int64_t ms = parse_count(value, 1000);
    if (ms >= 0)
        return ms;
    int64_t date_s = cdr_http_date_parse(value);
    if (date_s < 0)
        return -1;
    return clamp_ms((date_s - now_s) * 1000);
}

int64_t cdr_retry_after_parse_ms(const char *value)
{
    return parse_count(value, 1);
}
