// An arena: a list of blocks, of which only the newest is filled.
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN ((size_t)224)
#define BLOCK_MAX ((size_t)64 * 1024)
#define ALIGNMENT alignof(max_align_t)

struct cdr_arena_block {
    cdr_arena_block *older;
    size_t size; // of `data`
    alignas(max_align_t) char data[];
};

void cdr_arena_fini(cdr_arena *arena)
{
    cdr_arena_block *block = arena->head;
    while (block) {
        cdr_arena_block *older = block->older;
        free(block);
        block = older;
    }
    *arena = (cdr_arena)CDR_ARENA_INIT;
}

static cdr_arena_block *block_new(size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(cdr_arena_block))
        return NULL;
    cdr_arena_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    block->older = NULL;
    block->size = size;
    return block;
}

// Large requests go behind the newest block, so that its rest is still used.
static char *take_large(cdr_arena *arena, size_t size)
{
    cdr_arena_block *block = block_new(size);
    if (!block)
        return NULL;
    if (arena->head) {
        block->older = arena->head->older;
        arena->head->older = block;
    } else {
        arena->head = block;
    }
    return block->data;
}

static bool add_block(cdr_arena *arena, size_t size)
{
    bool is_first = !arena->head || arena->head->size > BLOCK_MAX;
    size_t block_size = is_first ? BLOCK_MIN : arena->head->size * 2;
    while (block_size < size)
        block_size *= 2;
    if (block_size > BLOCK_MAX)
        block_size = BLOCK_MAX;
    cdr_arena_block *block = block_new(block_size);
    if (!block)
        return false;
    block->older = arena->head;
    arena->head = block;
    arena->next = block->data;
    arena->left = block_size;
    return true;
}

// Returns `size` bytes (at least 1) that are not zeroed.
static char *take(cdr_arena *arena, size_t size, size_t alignment)
{
    if (size > BLOCK_MAX)
        return take_large(arena, size);
    size_t gap = -(uintptr_t)arena->next & (alignment - 1);
    if (gap + size > arena->left) {
        if (!add_block(arena, size))
            return NULL;
        gap = 0;
    }
    char *data = arena->next + gap;
    arena->next = data + size;
    arena->left -= gap + size;
    return data;
}

void *cdr_arena_alloc(cdr_arena *arena, size_t size)
{
    size_t taken = size ? size : 1;
    char *data = take(arena, taken, ALIGNMENT);
    return data ? memset(data, 0, taken) : NULL;
}

void *cdr_arena_grow(cdr_arena *arena, void *items, size_t count, size_t item_size)
{
    bool is_full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
    if (!is_full)
        return items;
    size_t capacity = count == 0 ? 4 : count * 2;
    size_t size = 0;
    if (__builtin_mul_overflow(capacity, item_size, &size))
        return NULL;
    void *grown = cdr_arena_alloc(arena, size);
    if (grown && count > 0)
        memcpy(grown, items, count * item_size);
    return grown;
}

char *cdr_arena_copy(cdr_arena *arena, const char *data, size_t len)
{
    if (len == SIZE_MAX)
        return NULL;
    char *copy = take(arena, len + 1, 1);
    if (!copy)
        return NULL;
    if (len > 0)
        memcpy(copy, data, len);
    copy[len] = '\0';
    return copy;
}

char *cdr_arena_text(cdr_arena *arena, const char *text)
{
    return text ? cdr_arena_copy(arena, text, strlen(text)) : NULL;
}

char *cdr_arena_vprintf(cdr_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    char *text = NULL;
    int n = vsnprintf(arena->next, arena->left, format, args);
    if (n >= 0) {
        bool is_written = (size_t)n < arena->left;
        text = take(arena, (size_t)n + 1, 1);
        if (text && !is_written)
            (void)vsnprintf(text, (size_t)n + 1, format, again);
    }
    va_end(again);
    return text;
}

char *cdr_arena_printf(cdr_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = cdr_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
