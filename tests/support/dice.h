// Dice that fall the same way each time: a number is made from a seed and a text, such
// as the way to a frame, so what is drawn depends on no other draw and on no thread.
//
// Thread: plain data.
#ifndef SUPPORT_DICE_H
#define SUPPORT_DICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dice {
    uint64_t state;
} dice;

dice dice_of(uint64_t seed, const char *text);

// 0 to sides - 1; of no sides 0.
int dice_throw(dice *d, int sides);
bool dice_percent(dice *d, int percent);

#endif
