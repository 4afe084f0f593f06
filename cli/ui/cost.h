// What calls of models have cost, as people and programs read it.
//
// Thread: any.
#ifndef CLI_COST_H
#define CLI_COST_H

#include <cadre/message.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// Writes "$0.50" or "$0.000125": all decimals that say something, two at least.
void cli_cost_format(int64_t usd_micros, char *buf, size_t size_bytes);

// Reads dollars, "0.5" or "12", up to a million and with six decimals at most. False:
// there are none, or it is 0.
bool cli_cost_parse(const char *text, int64_t *usd_micros);

// Dollars when all calls have a price, else null. New reference; NULL: no memory.
json_t *cli_cost_json(int64_t usd_micros, int64_t unpriced_calls);

#endif
