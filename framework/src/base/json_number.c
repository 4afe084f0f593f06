// See json_number.h.
#include "base/json_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int sign(bool is_below, bool is_above)
{
    return is_below ? -1 : is_above;
}

// Compares exactly: a double cannot hold every 64-bit integer.
static int compare_to_double(json_int_t integer, double number)
{
    if (number >= 0x1p63)
        return -1;
    if (number < -0x1p63)
        return 1;
    json_int_t whole = (json_int_t)number;
    if (integer != whole)
        return sign(integer<whole, integer> whole);
    double fraction = number - (double)whole;
    return sign(fraction > 0, fraction < 0);
}

int cdr_json_number_compare(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b))
        return sign(json_integer_value(a) < json_integer_value(b),
                    json_integer_value(a) > json_integer_value(b));
    if (json_is_integer(a))
        return compare_to_double(json_integer_value(a), json_real_value(b));
    if (json_is_integer(b))
        return -compare_to_double(json_integer_value(b), json_real_value(a));
    return sign(json_real_value(a) < json_real_value(b),
                json_real_value(a) > json_real_value(b));
}

bool cdr_json_is_integral(const json_t *value)
{
    double number = json_real_value(value);
    return json_is_integer(value) || (json_is_real(value) && floor(number) == number);
}

bool cdr_json_count(const json_t *value, int64_t *out)
{
    if (!value || !cdr_json_is_integral(value) || json_number_value(value) < 0)
        return false;
    if (json_is_integer(value))
        *out = json_integer_value(value);
    else
        *out = json_real_value(value) >= 0x1p63 ? INT64_MAX
                                                : (int64_t)json_real_value(value);
    return true;
}

// --- Multiples ---

// digits * 10^exponent. Digits of a double are at most 17, so below 2^57.
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

__extension__ typedef unsigned __int128 wide;

// The shortest decimal that reads back as the double: what was written, if that had at
// most 15 digits. The sign is left out.
static decimal decimal_of_double(double number)
{
    char text[40];
    for (int precision = 14; precision <= 16; precision++) {
        (void)snprintf(text, sizeof(text), "%.*e", precision, fabs(number));
        if (strtod(text, NULL) == fabs(number))
            break;
    }
    decimal value = {0, 0};
    const char *at = text;
    bool is_fraction = false;
    for (; *at && *at != 'e'; at++) {
        if (*at < '0' || *at > '9') { // the decimal point, whatever the locale's is
            is_fraction = true;
            continue;
        }
        value.digits = value.digits * 10 + (uint64_t)(*at - '0');
        value.exponent -= is_fraction;
    }
    if (*at == 'e')
        value.exponent += (int)strtol(at + 1, NULL, 10);
    return value;
}

static decimal decimal_of(const json_t *number)
{
    if (json_is_real(number))
        return decimal_of_double(json_real_value(number));
    json_int_t integer = json_integer_value(number);
    uint64_t digits = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    return (decimal){digits, 0};
}

// digits * 10^power modulo `divisor`.
static uint64_t shifted_modulo(uint64_t digits, int power, uint64_t divisor)
{
    wide rest = digits % divisor;
    wide base = 10 % divisor;
    for (; power > 0; power /= 2) {
        if (power % 2 == 1)
            rest = rest * base % divisor;
        base = base * base % divisor;
    }
    return (uint64_t)rest;
}

bool cdr_json_is_multiple(const json_t *value, const json_t *divisor)
{
    decimal number = decimal_of(value);
    decimal unit = decimal_of(divisor);
    if (number.digits == 0 || unit.digits == 0) // 0 is refused where schemas are read
        return number.digits == 0;
    int power = number.exponent - unit.exponent;
    if (power >= 0)
        return shifted_modulo(number.digits, power, unit.digits) == 0;
    // Now the unit has to be shifted; 10^19 is above any digits there are.
    wide shifted = unit.digits;
    for (; power < 0 && shifted <= UINT64_MAX; power++)
        shifted *= 10;
    return power == 0 && number.digits % shifted == 0;
}
