// A region: memory of one trace, given out in order and given back from its end or
// whole.
//
// A copy of the struct is a mark: cdr_memory_region_rewind to it frees what came later.
// Thread: one at a time.
#ifndef CDR_MEMORY_REGION_H
#define CDR_MEMORY_REGION_H

#include <stddef.h>

typedef struct cdr_memory_block cdr_memory_block;

typedef struct cdr_memory_region {
    cdr_memory_block *newest; // NULL while empty
    char *next;
    size_t left;
    size_t size; // of all blocks
} cdr_memory_region;

// Returns memory that is not zeroed, aligned for pointers and 64-bit numbers. NULL:
// there is none.
void *cdr_memory_region_alloc(cdr_memory_region *region, size_t size);
void cdr_memory_region_rewind(cdr_memory_region *region, const cdr_memory_region *mark);
void cdr_memory_region_fini(cdr_memory_region *region);

#endif
