// See dice.h. The steps are those of splitmix64.
#include "support/dice.h"

static uint64_t next(dice *d)
{
    uint64_t z = (d->state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

dice dice_of(uint64_t seed, const char *text)
{
    dice d = {seed};
    for (const char *at = text; *at != '\0'; at++)
        d.state = next(&d) ^ (uint64_t)(unsigned char)*at;
    return d;
}

int dice_throw(dice *d, int sides)
{
    return sides <= 0 ? 0 : (int)(next(d) % (uint64_t)sides);
}

bool dice_percent(dice *d, int percent)
{
    return dice_throw(d, 100) < percent;
}
