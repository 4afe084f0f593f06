// Durations and sizes: a whole number and a unit. Dollars: a number.
#include "base/units.h"

#include "base/brief.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct unit {
    const char *name;
    int64_t factor;
} unit;

// One kind of quantity.
typedef struct quantity {
    const char *expected;
    const char *alone; // the unit to suggest for a number alone
    unit units[5];     // the last has no name
} quantity;

static const quantity duration_kind = {
    "a duration such as 250ms, 10s, 5m or 2h",
    "s",
    {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {NULL, 0}},
};

static const quantity size_kind = {
    "a size such as 512B, 64KiB, 1MiB or 2GiB",
    "KiB",
    {{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {NULL, 0}},
};

static const unit *find_unit(const quantity *kind, const char *name)
{
    for (const unit *known = kind->units; known->name; known++) {
        if (strcmp(known->name, name) == 0)
            return known;
    }
    return NULL;
}

// Reads digits. False: the number is above INT64_MAX.
static bool read_digits(const char *text, size_t len, int64_t *number)
{
    int64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[i] - '0', &value))
            return false;
    }
    *number = value;
    return true;
}

static cadre_status parse(const quantity *kind, const char *text, int64_t *out,
                          cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_brief_text(brief, text, '\'');
    size_t n_digits = strspn(text, "0123456789");
    const char *rest = text + n_digits;
    if (n_digits == 0)
        return cadre_fail(err, CADRE_EINVAL, "expected %s, got %s", kind->expected,
                          brief);
    if (!*rest)
        return cadre_fail(err, CADRE_EINVAL,
                          "expected %s, got %s; add a unit, such as '%.20s%s'",
                          kind->expected, brief, text, kind->alone);
    const unit *counted = find_unit(kind, rest);
    if (!counted)
        return cadre_fail(err, CADRE_EINVAL,
                          "expected %s, got %s (a whole number and a unit)",
                          kind->expected, brief);
    int64_t number = 0;
    if (!read_digits(text, n_digits, &number) ||
        __builtin_mul_overflow(number, counted->factor, &number))
        return cadre_fail(err, CADRE_EINVAL, "expected %s, got %s, which is too large",
                          kind->expected, brief);
    *out = number;
    return CADRE_OK;
}

cadre_status cdr_parse_duration_ms(const char *text, int64_t *out, cadre_error *err)
{
    return parse(&duration_kind, text, out, err);
}

bool cdr_is_zero_quantity(const char *text)
{
    const char *rest = text + strspn(text, "0");
    return rest != text && (*rest == '\0' || find_unit(&duration_kind, rest) != NULL ||
                            find_unit(&size_kind, rest) != NULL);
}

const char *cdr_duration_text(int64_t ms, char text[CDR_DURATION_TEXT_SIZE])
{
    const unit *best = &duration_kind.units[0];
    for (const unit *larger = best + 1; larger->name && ms != 0; larger++)
        if (ms % larger->factor == 0)
            best = larger;
    (void)snprintf(text, CDR_DURATION_TEXT_SIZE, "%" PRId64 "%s", ms / best->factor,
                   best->name);
    return text;
}

const char *cdr_duration_about(int64_t ms, char text[CDR_DURATION_TEXT_SIZE])
{
    int64_t grain = ms < 10000 ? 1 : ms < 600000 ? 1000 : 60000;
    return cdr_duration_text(ms - ms % grain, text);
}

cadre_status cdr_parse_size(const char *text, int64_t *out, cadre_error *err)
{
    return parse(&size_kind, text, out, err);
}

#define MAX_DOLLARS 1e9
#define MICROS 1000000

// A double is no decimal fraction: 0.1 is told from 0.1000001, not from what differs in
// its last bits.
cadre_status cdr_dollars_micros(double dollars, int64_t *out, cadre_error *err)
{
    if (!(dollars >= 0 && dollars <= MAX_DOLLARS))
        return cadre_fail(err, CADRE_EINVAL,
                          "expected dollars from 0 to 1000000000, got %.15g", dollars);
    double micros = round(dollars * MICROS);
    if (fabs(dollars * MICROS - micros) > 0.001)
        return cadre_fail(err, CADRE_EINVAL,
                          "expected dollars with six decimals at most, got %.15g",
                          dollars);
    *out = (int64_t)micros;
    return CADRE_OK;
}

const char *cdr_dollars_text(int64_t micros, char text[CDR_DOLLARS_TEXT_SIZE])
{
    int len = snprintf(text, CDR_DOLLARS_TEXT_SIZE, "$%" PRId64 ".%06" PRId64,
                       micros / MICROS, micros % MICROS);
    for (int n_zeros = 0; n_zeros < 4 && text[len - 1] == '0'; n_zeros++)
        text[--len] = '\0';
    return text;
}
