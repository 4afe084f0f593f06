// Plain scalars as JSON values.
//
// What looks like a number but is not one that every reader agrees on (0755, 1_000,
// 1:30) or that does not fit (1e999, 2^64) stays text: a schema that wants a number
// then shows the text as it was written.
#include "team/yaml_scalar.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// A longer number is out of range or has digits that a double cannot hold.
#define MAX_NUMBER_BYTES 64

static size_t span_digits(const char *text)
{
    return strspn(text, "0123456789");
}

// Reads digits of a base with their sign. False: they do not fit into 64 bits. `out`
// is a new reference, or NULL: no memory; so in all that follows.
static bool read_integer(const char *text, int base, json_t **out)
{
    errno = 0;
    intmax_t number = strtoimax(text, NULL, base);
    if (errno != 0 || number > INT64_MAX || number < INT64_MIN)
        return false;
    *out = json_integer((json_int_t)number);
    return true;
}

// The parts of a decimal number; each is a run of digits, or empty.
typedef struct decimal {
    const char *whole;
    int whole_len;
    const char *fraction;
    int fraction_len;
    const char *exponent; // with its sign
    int exponent_len;
    bool is_negative;
    bool is_real; // has a point or an exponent
} decimal;

static const char *split_exponent(const char *at, decimal *number)
{
    if (*at != 'e' && *at != 'E')
        return at;
    size_t n_sign = at[1] == '-' || at[1] == '+';
    size_t n_digits = span_digits(at + 1 + n_sign);
    if (n_digits == 0)
        return at;
    number->is_real = true;
    number->exponent = at + 1;
    number->exponent_len = (int)(n_sign + n_digits);
    return at + 1 + n_sign + n_digits;
}

// Splits [-+]? ( [0-9]+ ( \. [0-9]* )? | \. [0-9]+ ) ( [eE] [-+]? [0-9]+ )?
// False: the text is no such number.
static bool split(const char *text, decimal *number)
{
    *number = (decimal){.whole = "", .fraction = "", .exponent = ""};
    number->is_negative = *text == '-';
    const char *at = text + (*text == '-' || *text == '+');
    number->whole = at;
    number->whole_len = (int)span_digits(at);
    at += number->whole_len;
    if (*at == '.') {
        number->is_real = true;
        number->fraction = at + 1;
        number->fraction_len = (int)span_digits(at + 1);
        at += 1 + number->fraction_len;
    }
    if (number->whole_len + number->fraction_len == 0)
        return false;
    return *split_exponent(at, number) == '\0';
}

// By jansson, since strtod would read by the locale. False: out of range.
static bool read_real(const decimal *number, json_t **out)
{
    char json[MAX_NUMBER_BYTES + 16];
    bool has_whole = number->whole_len > 0;
    bool has_fraction = number->fraction_len > 0;
    bool has_exponent = number->exponent_len > 0;
    int len = snprintf(
        json, sizeof json, "%s%.*s.%.*se%.*s", number->is_negative ? "-" : "",
        has_whole ? number->whole_len : 1, has_whole ? number->whole : "0",
        has_fraction ? number->fraction_len : 1, has_fraction ? number->fraction : "0",
        has_exponent ? number->exponent_len : 1, has_exponent ? number->exponent : "0");
    assert(len > 0 && (size_t)len < sizeof json);
    json_error_t problem = {0}; // jansson leaves it as it is when memory runs out
    *out = json_loadb(json, (size_t)len, JSON_DECODE_ANY, &problem);
    return *out || json_error_code(&problem) != json_error_numeric_overflow;
}

// False: not a number, or not one that fits.
static bool read_number(const char *text, size_t len, json_t **out)
{
    if (len > MAX_NUMBER_BYTES)
        return false;
    if (strncmp(text, "0x", 2) == 0 && len > 2 &&
        strspn(text + 2, "0123456789abcdefABCDEF") == len - 2)
        return read_integer(text + 2, 16, out);
    if (strncmp(text, "0o", 2) == 0 && len > 2 &&
        strspn(text + 2, "01234567") == len - 2)
        return read_integer(text + 2, 8, out);
    decimal number;
    if (!split(text, &number))
        return false;
    if (number.whole_len > 1 && number.whole[0] == '0')
        return false;
    return number.is_real ? read_real(&number, out) : read_integer(text, 10, out);
}

json_t *cdr_yaml_scalar_read(const char *text, size_t len)
{
    if (len == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)
        return json_null();
    if (strcmp(text, "true") == 0)
        return json_true();
    if (strcmp(text, "false") == 0)
        return json_false();
    json_t *number = NULL;
    return read_number(text, len, &number) ? number : json_stringn(text, len);
}
