// See price.h.
#include "team/price.h"

#define PER_MICRO INT64_C(1000000) // of what a token costs, in 10^-12 dollars

static int64_t product(int64_t tokens, int64_t price)
{
    int64_t value = 0;
    return __builtin_mul_overflow(tokens, price, &value) ? INT64_MAX : value;
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t value = 0;
    return __builtin_add_overflow(a, b, &value) ? INT64_MAX : value;
}

// Whole millionths apart from the rest: a product of what is below a million of both
// stays far below the largest number.
static int64_t whole(int64_t tokens, int64_t price)
{
    return sum(product(tokens, price / PER_MICRO),
               product(tokens / PER_MICRO, price % PER_MICRO));
}

static int64_t rest(int64_t tokens, int64_t price)
{
    return tokens % PER_MICRO * (price % PER_MICRO);
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t cdr_price_of(const cdr_price *price, const cadre_usage *usage,
                     int64_t n_written)
{
    if (!price->is_known)
        return 0;
    int64_t cached = lesser(usage->cached_input_tokens, usage->input_tokens);
    int64_t written = lesser(n_written, usage->input_tokens - cached);
    const struct {
        int64_t tokens, price;
    } parts[] = {
        {usage->input_tokens - cached - written, price->input},
        {cached, price->cached_input},
        {written, price->cache_write},
        {usage->output_tokens, price->output},
    };
    int64_t rests = 0;
    int64_t wholes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        rests += rest(parts[i].tokens, parts[i].price);
        wholes = sum(wholes, whole(parts[i].tokens, parts[i].price));
    }
    return sum(wholes, (rests + PER_MICRO / 2) / PER_MICRO);
}
