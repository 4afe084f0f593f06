// Stacks for threads: mapped and given back several at a time.
//
// A stack that is unmapped by itself stops every processor that runs the program, and
// costs more than all else of a thread's end. So stacks lie side by side in slabs, and
// a slab is unmapped when none of its stacks is in use. Below each lies a guard page.
//
// Thread: any.
#ifndef CDR_STACKS_H
#define CDR_STACKS_H

#include "base/mutex.h"

#include <stddef.h>

typedef struct cdr_stack {
    void *bottom; // immutable; `stack_size` bytes from here on are the thread's
    struct cdr_stack_slab *slab;
    struct cdr_stack *next; // of the slab's free ones; guarded by mu
    bool is_touched;        // it may hold memory; of who has taken it
} cdr_stack;

typedef struct cdr_stacks {
    size_t stack_size, guard_size; // immutable after init
    cdr_mutex mu;
    struct cdr_stack_slab *open; // guarded by mu; slabs with used and free stacks
    size_t n_used;               // guarded by mu
    size_t n_touched;            // guarded by mu; free ones that may hold memory
} cdr_stacks;

// Stacks of at least `size` bytes.
void cdr_stacks_init(cdr_stacks *stacks, size_t size);
void cdr_stacks_fini(cdr_stacks *stacks); // when all are given back

// Gives a stack; NULL: the system has no memory for it.
cdr_stack *cdr_stacks_take(cdr_stacks *stacks);

// Its thread has been joined.
void cdr_stacks_give(cdr_stacks *stacks, cdr_stack *stack);

#endif
