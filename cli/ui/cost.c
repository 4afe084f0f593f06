// See cost.h.
#include "cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MICROS 1000000
#define MAX_DOLLARS 1000000

void cli_cost_format(int64_t usd_micros, char *buf, size_t size_bytes)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "$%" PRId64 ".%06" PRId64,
                       usd_micros / MICROS, usd_micros % MICROS);

    for (int n_zeros = 0; n_zeros < 4 && text[len - 1] == '0'; n_zeros++)
        text[--len] = '\0';
    snprintf(buf, size_bytes, "%s", text);
}

// A digit; -1: another character.
static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : -1;
}

bool cli_cost_parse(const char *text, int64_t *usd_micros)
{
    int64_t dollars = 0, micros = 0;
    int64_t place = MICROS;
    const char *at = text;

    for (; digit(*at) >= 0 && dollars <= MAX_DOLLARS; at++)
        dollars = dollars * 10 + digit(*at);
    if (at == text || dollars > MAX_DOLLARS)
        return false;
    if (*at == '.' && digit(at[1]) >= 0) {
        for (at++; digit(*at) >= 0 && place > 1; at++) {
            place /= 10;
            micros += digit(*at) * place;
        }
    }
    *usd_micros = dollars * MICROS + micros;
    return !*at && *usd_micros > 0 && *usd_micros <= (int64_t)MAX_DOLLARS * MICROS;
}

json_t *cli_cost_json(int64_t usd_micros, int64_t unpriced_calls)
{
    return unpriced_calls > 0 ? json_null() : json_real((double)usd_micros / MICROS);
}
