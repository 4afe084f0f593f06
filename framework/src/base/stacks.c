// Stacks for threads, in slabs.
//
// Invariants:
// 1. A slab is in the list `open` exactly while it has both used and free stacks, or is
//    owned by who maps or unmaps it. So no slab without a used stack is kept.
// 2. While more free stacks hold memory than there are used ones, and KEPT more, those
//    that come back give theirs to the system. So after a peak, whatever stays in use,
//    at most half of the stacks and KEPT hold memory for nobody.
// 3. The mutex is never held across a system call.
#include "base/stacks.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD_INSTALL 102 // MADV_GUARD_INSTALL

enum {
    SLAB_STACKS = 16,
    KEPT = 64
};

typedef struct cdr_stack_slab {
    char *memory;
    struct cdr_stack_slab *previous, *next; // in `open`; guarded by mu, as the rest
    cdr_stack *free;
    int n_free;
    cdr_stack stacks[SLAB_STACKS];
} slab;

void cdr_stacks_init(cdr_stacks *stacks, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *stacks =
        (cdr_stacks){.stack_size = (size + page - 1) & ~(page - 1), .guard_size = page};
    cdr_mutex_init(&stacks->mu);
}

void cdr_stacks_fini(cdr_stacks *stacks)
{
    assert(stacks->n_used == 0 && stacks->open == NULL);
    cdr_mutex_fini(&stacks->mu);
}

static size_t slab_size(const cdr_stacks *stacks)
{
    return SLAB_STACKS * (stacks->guard_size + stacks->stack_size);
}

// Who writes to the page gets SIGSEGV. Since Linux 6.13 that takes no mapping of its
// own, of which a process may have 65,530, and each of which makes all work on others
// slower.
static bool make_guard(char *page, size_t size)
{
    return madvise(page, size, GUARD_INSTALL) == 0 ||
           mprotect(page, size, PROT_NONE) == 0;
}

// Makes the slab's stacks out of its memory.
static bool divide(const cdr_stacks *stacks, slab *it)
{
    char *at = it->memory;
    for (int i = 0; i < SLAB_STACKS; i++) {
        if (!make_guard(at, stacks->guard_size))
            return false;
        at += stacks->guard_size;
        it->stacks[i] = (cdr_stack){.bottom = at, .slab = it, .next = it->free};
        it->free = &it->stacks[i];
        at += stacks->stack_size;
    }
    it->n_free = SLAB_STACKS;
    return true;
}

static void unmap_slab(const cdr_stacks *stacks, slab *it)
{
    int rc = munmap(it->memory, slab_size(stacks));
    assert(rc == 0);
    (void)rc;
    free(it);
}

static slab *map_slab(const cdr_stacks *stacks)
{
    slab *it = calloc(1, sizeof(*it));
    if (!it)
        return NULL;
    it->memory = mmap(NULL, slab_size(stacks), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (it->memory == MAP_FAILED) {
        free(it);
        return NULL;
    }
    // The first use of a stack must not bring two megabytes into memory.
    (void)madvise(it->memory, slab_size(stacks), MADV_NOHUGEPAGE);
    if (divide(stacks, it))
        return it;
    unmap_slab(stacks, it);
    return NULL;
}

static void open_locked(cdr_stacks *stacks, slab *it) CDR_REQUIRES(stacks->mu)
{
    it->previous = NULL;
    it->next = stacks->open;
    if (it->next)
        it->next->previous = it;
    stacks->open = it;
}

static void close_locked(cdr_stacks *stacks, slab *it) CDR_REQUIRES(stacks->mu)
{
    if (it->previous)
        it->previous->next = it->next;
    else
        stacks->open = it->next;
    if (it->next)
        it->next->previous = it->previous;
}

static cdr_stack *take_locked(cdr_stacks *stacks) CDR_REQUIRES(stacks->mu)
{
    slab *it = stacks->open;
    if (!it)
        return NULL;
    cdr_stack *stack = it->free;
    it->free = stack->next;
    if (--it->n_free == 0)
        close_locked(stacks, it);
    stacks->n_used++;
    stacks->n_touched -= stack->is_touched;
    stack->is_touched = true;
    return stack;
}

cdr_stack *cdr_stacks_take(cdr_stacks *stacks)
{
    cdr_mutex_lock(&stacks->mu);
    cdr_stack *stack = take_locked(stacks);
    cdr_mutex_unlock(&stacks->mu);
    if (stack)
        return stack;
    slab *fresh = map_slab(stacks);
    if (!fresh)
        return NULL;
    cdr_mutex_lock(&stacks->mu);
    open_locked(stacks, fresh);
    stack = take_locked(stacks);
    cdr_mutex_unlock(&stacks->mu);
    return stack;
}

// Puts it back into its slab. Gives the slab when it is to be unmapped.
static slab *give_locked(cdr_stacks *stacks, cdr_stack *stack) CDR_REQUIRES(stacks->mu)
{
    slab *it = stack->slab;
    stacks->n_used--;
    stacks->n_touched += stack->is_touched;
    stack->next = it->free;
    it->free = stack;
    if (it->n_free++ == 0)
        open_locked(stacks, it);
    if (it->n_free < SLAB_STACKS)
        return NULL;
    close_locked(stacks, it);
    for (int i = 0; i < SLAB_STACKS; i++)
        stacks->n_touched -= it->stacks[i].is_touched;
    return it;
}

void cdr_stacks_give(cdr_stacks *stacks, cdr_stack *stack)
{
    cdr_mutex_lock(&stacks->mu);
    bool must_trim = stacks->n_touched > stacks->n_used + KEPT;
    cdr_mutex_unlock(&stacks->mu);
    if (must_trim) // it is still its owner's: nobody writes to it
        stack->is_touched =
            madvise(stack->bottom, stacks->stack_size, MADV_DONTNEED) != 0;
    cdr_mutex_lock(&stacks->mu);
    slab *unused = give_locked(stacks, stack);
    cdr_mutex_unlock(&stacks->mu);
    if (unused)
        unmap_slab(stacks, unused);
}
