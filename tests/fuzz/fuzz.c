// See fuzz.h.
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_fail(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

void fuzz_check_text(const char *file, int line, const char *actual,
                     const char *expected)
{
    if (strcmp(actual, expected) == 0)
        return;
    (void)fprintf(stderr, "--- one way\n%s\n--- the other\n%s\n", actual, expected);
    fuzz_fail(file, line, "both texts are equal");
}

void *fuzz_must(void *memory)
{
    if (!memory)
        fuzz_fail(__FILE__, __LINE__, "there is memory");
    return memory;
}

char *fuzz_copy(const void *data, size_t len)
{
    char *copy = fuzz_must(malloc(len + 1));
    if (len > 0)
        memcpy(copy, data, len);
    copy[len] = '\0';
    return copy;
}

// FNV-1a.
dice fuzz_dice(const uint8_t *data, size_t len)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    return dice_of(hash, "fuzz");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    fuzz_one(data, len);
    return 0;
}
