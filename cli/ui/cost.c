// See cost.h.
#include "cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MICROS 1000000

void cli_cost_format(int64_t usd_micros, char *buf, size_t size_bytes)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "$%" PRId64 ".%06" PRId64,
                       usd_micros / MICROS, usd_micros % MICROS);

    for (int n_zeros = 0; n_zeros < 4 && text[len - 1] == '0'; n_zeros++)
        text[--len] = '\0';
    snprintf(buf, size_bytes, "%s", text);
}

json_t *cli_cost_json(int64_t usd_micros, int64_t unpriced_calls)
{
    return unpriced_calls > 0 ? json_null() : json_real((double)usd_micros / MICROS);
}
