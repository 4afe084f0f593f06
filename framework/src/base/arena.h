// An arena: small allocations that are all freed together.
//
// Allocates nothing until first used. Blocks double from 512 bytes to 64 KiB;
// what is larger gets a block of its own. Returned memory is aligned for any type.
// Thread: one at a time.
#ifndef CDR_ARENA_H
#define CDR_ARENA_H

#include "cadre/error.h"

#include <stddef.h>

typedef struct cdr_arena_block cdr_arena_block;

typedef struct cdr_arena {
    cdr_arena_block *head; // newest; NULL while empty
    char *next;
    size_t left;
} cdr_arena;

#define CDR_ARENA_INIT                                                                 \
    {                                                                                  \
        NULL, NULL, 0                                                                  \
    }

void cdr_arena_fini(cdr_arena *arena); // frees all; the arena is empty again

// Returns zeroed memory, NULL when there is none.
void *cdr_arena_alloc(cdr_arena *arena, size_t size);

// Copies `len` bytes and adds a NUL. NULL: no memory.
char *cdr_arena_copy(cdr_arena *arena, const char *data, size_t len);

// Copies a NUL-terminated text; NULL stays NULL.
char *cdr_arena_text(cdr_arena *arena, const char *text);

// Makes room for one more item in an array that grows in an arena. NULL: no memory, and
// `items` is as it was. Doubles when `count` is a power of two, so `count` must be what
// the array holds.
void *cdr_arena_grow(cdr_arena *arena, void *items, size_t count, size_t item_size);

char *cdr_arena_printf(cdr_arena *arena, const char *format, ...) CADRE_PRINTF(2, 3);
char *cdr_arena_vprintf(cdr_arena *arena, const char *format, va_list args)
    CADRE_PRINTF(2, 0);

#endif
