// Structs that callers fill and that may grow: an older caller's is shorter.
//
// Thread: any.
#ifndef CDR_SIZED_H
#define CDR_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Copies what the caller's struct has over zeros; `given` starts with its struct_size.
// False: that is not set.
static inline bool cdr_sized_copy(void *own, size_t own_size, const void *given)
{
    size_t given_size = 0;
    memcpy(&given_size, given, sizeof(given_size));
    if (given_size < sizeof(size_t))
        return false;
    memset(own, 0, own_size);
    memcpy(own, given, given_size < own_size ? given_size : own_size);
    return true;
}

#endif
