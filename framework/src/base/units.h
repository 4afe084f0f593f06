// Durations and sizes as people write them: `250ms 10s 5m 2h`, `512B 64KiB 1MiB 2GiB`.
//
// A whole number and a unit, nothing between, no sign, no fraction. A number alone is
// refused, with advice, since nobody can see what it counts. Dollars are a number with
// six decimals at most, and are counted in millionths from there on: sums are exact.
// Thread: any.
#ifndef CDR_UNITS_H
#define CDR_UNITS_H

#include "cadre/error.h"

#include <stdbool.h>
#include <stdint.h>

// Reads a duration. `0s` is 0: whether that is allowed is the caller's rule. `out`
// is untouched on failure. Errors: EINVAL (says what was expected and what came).
cadre_status cdr_parse_duration_ms(const char *text, int64_t *out, cadre_error *err);

// Is it 0, with one of their units or none? Where 0 is refused a unit is no advice.
bool cdr_is_zero_quantity(const char *text);

#define CDR_DURATION_TEXT_SIZE 24

// Writes a duration as it is read, in the largest unit that it is a whole number of.
// Returns `text`.
const char *cdr_duration_text(int64_t ms, char text[CDR_DURATION_TEXT_SIZE]);

// The same of a time that nobody wrote, rounded down to what people care about: seconds
// from ten seconds on, minutes from ten minutes on.
const char *cdr_duration_about(int64_t ms, char text[CDR_DURATION_TEXT_SIZE]);

// Reads a size in bytes. Errors: as above.
cadre_status cdr_parse_size(const char *text, int64_t *out, cadre_error *err);

// Gives an amount of dollars in millionths. Errors: EINVAL (it has a seventh decimal,
// is below 0, or above a thousand million).
cadre_status cdr_dollars_micros(double dollars, int64_t *out, cadre_error *err);

#define CDR_DOLLARS_TEXT_SIZE 32

// Writes "$0.50" or "$0.000125": all decimals that say something, two at least. Returns
// `text`.
const char *cdr_dollars_text(int64_t micros, char text[CDR_DOLLARS_TEXT_SIZE]);

#endif
