// Durations as people write and read them.
//
// Thread: any.
#ifndef CLI_DURATION_H
#define CLI_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Reads `250ms 10s 5m 2h`: a whole number and a unit.
bool cli_duration_parse(const char *text, int64_t *ms);

// Writes "32 ms", "1.2 s", "2 m 05 s", "3 h 07 m"; "" when negative.
void cli_duration_format(int64_t ms, char *buf, size_t size_bytes);

// Milliseconds of a clock that nobody sets.
int64_t cli_duration_clock_ms(void);

#endif
