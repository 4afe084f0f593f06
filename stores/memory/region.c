// See region.h.
#include "region.h"

#include <stdint.h>
#include <stdlib.h>

// A block is as large as all before it together, so that a short run stays small and a
// long one allocates rarely. The largest stays below malloc's threshold for a mapping
// of its own.
#define BLOCK_MIN 1024U
#define BLOCK_MAX 65536U
#define ALIGNMENT 8U

struct cdr_memory_block {
    cdr_memory_block *older;
};

static void *alloc_in_new_block(cdr_memory_region *region, size_t size)
{
    size_t block_size = region->size > BLOCK_MIN ? region->size : BLOCK_MIN;
    if (block_size > BLOCK_MAX)
        block_size = BLOCK_MAX;
    if (size > SIZE_MAX - sizeof(cdr_memory_block))
        return NULL;
    if (block_size < size + sizeof(cdr_memory_block))
        block_size = size + sizeof(cdr_memory_block);
    cdr_memory_block *block = malloc(block_size);
    if (!block)
        return NULL;
    block->older = region->newest;
    char *data = (char *)(block + 1);
    region->newest = block;
    region->next = data + size;
    region->left = block_size - sizeof(*block) - size;
    region->size += block_size;
    return data;
}

void *cdr_memory_region_alloc(cdr_memory_region *region, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > region->left)
        return alloc_in_new_block(region, size);
    char *data = region->next;
    region->next += size;
    region->left -= size;
    return data;
}

void cdr_memory_region_rewind(cdr_memory_region *region, const cdr_memory_region *mark)
{
    while (region->newest != mark->newest) {
        cdr_memory_block *block = region->newest;
        region->newest = block->older;
        free(block);
    }
    *region = *mark;
}

void cdr_memory_region_fini(cdr_memory_region *region)
{
    cdr_memory_region_rewind(region, &(const cdr_memory_region){.newest = NULL});
}
