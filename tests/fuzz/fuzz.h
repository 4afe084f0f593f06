// Fuzz targets: functions that take bytes of any kind and end the program when what
// comes of them is wrong.
//
// A target is a file NAME_fuzz.c with one fuzz_one. Its stored inputs, corpus/NAME, are
// the test fuzz.NAME of every build (replay.c); the preset `fuzz` links it with
// libFuzzer instead, which makes more of them (scripts/fuzz). An input that found a
// mistake is stored under a name that says which.
//
// Rules:
// 1. The same bytes do the same each time: what is drawn is drawn from the bytes.
// 2. Where a mistake shows by a wrong answer and not by a crash, there is a second way
// to
//    the same answer, or a rule that all answers keep.
// 3. Nothing is left behind in a file or a variable that another input could see.
//
// Thread: one at a time.
#ifndef FUZZ_H
#define FUZZ_H

#include "support/dice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The target.
void fuzz_one(const uint8_t *data, size_t len);

// What the fuzzer and replay.c call.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

// The condition holds, or the program ends with what did not.
#define FUZZ_CHECK(condition)                                                          \
    do {                                                                               \
        if (!(condition))                                                              \
            fuzz_fail(__FILE__, __LINE__, #condition);                                 \
    } while (0)

_Noreturn void fuzz_fail(const char *file, int line, const char *what);

// Both texts are equal, or the program ends with both.
#define FUZZ_CHECK_TEXT(actual, expected)                                              \
    fuzz_check_text(__FILE__, __LINE__, (actual), (expected))

void fuzz_check_text(const char *file, int line, const char *actual,
                     const char *expected);

// A copy of exactly these bytes and a NUL, on the heap, so that reading beyond is
// noticed. free() it.
char *fuzz_copy(const void *data, size_t len);

// Dice that fall as the bytes say.
dice fuzz_dice(const uint8_t *data, size_t len);

// The memory, or the program ends.
void *fuzz_must(void *memory);

#endif
