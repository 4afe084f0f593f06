// See duration.h.
#include "duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

bool cli_duration_parse(const char *text, int64_t *ms)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    int64_t number = 0;
    size_t n_digits = strspn(text, "0123456789");

    if (n_digits == 0 || n_digits > 12) // far over a thousand years in any unit
        return false;
    for (size_t i = 0; i < n_digits; i++)
        number = number * 10 + (text[i] - '0');
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text + n_digits, units[i].unit) == 0) {
            *ms = number * units[i].ms;
            return true;
        }
    }
    return false;
}

void cli_duration_format(int64_t ms, char *buf, size_t size_bytes)
{
    if (ms < 0)
        snprintf(buf, size_bytes, "%s", "");
    else if (ms < 1000)
        snprintf(buf, size_bytes, "%" PRId64 " ms", ms);
    else if (ms < 60000)
        snprintf(buf, size_bytes, "%" PRId64 ".%" PRId64 " s", ms / 1000,
                 ms % 1000 / 100);
    else if (ms < 3600000)
        snprintf(buf, size_bytes, "%" PRId64 " m %02" PRId64 " s", ms / 60000,
                 ms / 1000 % 60);
    else
        snprintf(buf, size_bytes, "%" PRId64 " h %02" PRId64 " m", ms / 3600000,
                 ms / 60000 % 60);
}

int64_t cli_duration_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
