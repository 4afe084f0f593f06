// What a model costs, and what a call of it has cost.
//
// Rules:
// 1. Money is counted in whole millionths of a dollar, from the price on. A dollar for
//    a million tokens is a millionth for one, so a product of tokens and price is
//    exact.
// 2. An attempt is charged by itself: its products are added up and rounded once, half
//    up. Sums of that are exact. What is too large stays at the largest number.
// 3. Cached tokens, and those that were written to a cache, are part of the input,
//    reasoning is part of the output; more of the former than the input has count as
//    all of it.
//
// Thread: any.
#ifndef CDR_PRICE_H
#define CDR_PRICE_H

#include "cadre/message.h"

// Millionths of a dollar for a million tokens.
typedef struct cdr_price {
    int64_t input, output, cached_input, cache_write;
    bool is_known; // else its calls are counted as unpriced
} cdr_price;

// What these tokens cost, in millionths of a dollar; 0 when no price is known.
// `n_written`: how many of the input the provider put into its cache.
int64_t cdr_price_of(const cdr_price *price, const cadre_usage *usage,
                     int64_t n_written);

#endif
