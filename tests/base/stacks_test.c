// Stacks: apart from each other, used again, and given back to the system in slabs.
#include "base/stacks.h"

#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SIZE = 64 * 1024,
    SLAB = 16, // how many lie side by side
    KEPT = 64  // not in use, that hold memory whatever is in use
};

static cdr_stack *take_or_abort(cdr_stacks *stacks)
{
    cdr_stack *stack = cdr_stacks_take(stacks);
    if (!stack)
        abort();
    return stack;
}

static char *top_of(const cdr_stacks *stacks, const cdr_stack *stack)
{
    return (char *)stack->bottom + stacks->stack_size;
}

// Is the page where a thread begins to write in memory?
static bool is_present(const cdr_stacks *stacks, const cdr_stack *stack)
{
    unsigned char present = 0;
    char *page = top_of(stacks, stack) - stacks->guard_size;
    return mincore(page, 1, &present) == 0 && (present & 1);
}

static bool is_mapped(void *bottom)
{
    unsigned char present = 0;
    return mincore(bottom, 1, &present) == 0 || errno != ENOMEM;
}

static void test_stacks__are_whole_and_apart(void)
{
    enum {
        N = 3 * SLAB
    };
    cdr_stacks stacks;
    cdr_stack *taken[N];
    cdr_stacks_init(&stacks, SIZE - 100);
    CHECK_INT(stacks.stack_size, SIZE);
    for (int i = 0; i < N; i++) {
        taken[i] = take_or_abort(&stacks);
        memset(taken[i]->bottom, i, stacks.stack_size);
    }
    for (int i = 0; i < N; i++) {
        CHECK_INT(*(char *)taken[i]->bottom, i);
        CHECK_INT(top_of(&stacks, taken[i])[-1], i);
        cdr_stacks_give(&stacks, taken[i]);
    }
    cdr_stacks_fini(&stacks);
}

static void test_stacks__one_that_overflows_ends_the_program(void)
{
    cdr_stacks stacks;
    cdr_stacks_init(&stacks, SIZE);
    cdr_stack *stack = take_or_abort(&stacks);
    int pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        ((volatile char *)stack->bottom)[-1] = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    cdr_stacks_give(&stacks, stack);
    cdr_stacks_fini(&stacks);
}

static void test_stacks__the_last_given_is_the_next_taken(void)
{
    cdr_stacks stacks;
    cdr_stacks_init(&stacks, SIZE);
    cdr_stack *first = take_or_abort(&stacks);
    cdr_stack *second = take_or_abort(&stacks);
    cdr_stacks_give(&stacks, second);
    CHECK(take_or_abort(&stacks) == second);
    cdr_stacks_give(&stacks, first);
    cdr_stacks_give(&stacks, second);
    cdr_stacks_fini(&stacks);
}

static void test_stacks__half_of_those_not_used_hold_no_memory(void)
{
    enum {
        N_SLABS = 20,
        N = N_SLABS * SLAB
    };
    cdr_stacks stacks;
    cdr_stack *taken[N];
    cdr_stacks_init(&stacks, SIZE);
    for (int i = 0; i < N; i++) {
        taken[i] = take_or_abort(&stacks);
        top_of(&stacks, taken[i])[-1] = 1;
    }
    for (int i = 0; i < N; i++)
        if (i % SLAB != 0) // one of each slab stays
            cdr_stacks_give(&stacks, taken[i]);
    int n_present = 0;
    for (int i = 0; i < N; i++)
        n_present += is_present(&stacks, taken[i]);
    CHECK(n_present <= N_SLABS + (N + KEPT) / 2 + 1);
    CHECK(n_present >= N_SLABS);
    for (int i = 0; i < N; i += SLAB)
        cdr_stacks_give(&stacks, taken[i]);
    cdr_stacks_fini(&stacks);
}

static void test_stacks__a_slab_without_one_in_use_is_unmapped(void)
{
    cdr_stacks stacks;
    cdr_stack *taken[SLAB];
    void *bottoms[SLAB];
    cdr_stacks_init(&stacks, SIZE);
    for (int i = 0; i < SLAB; i++) {
        taken[i] = take_or_abort(&stacks);
        bottoms[i] = taken[i]->bottom;
    }
    for (int i = 0; i < SLAB; i++) {
        CHECK(is_mapped(bottoms[i]));
        cdr_stacks_give(&stacks, taken[i]);
    }
    for (int i = 0; i < SLAB; i++)
        CHECK(!is_mapped(bottoms[i]));
    cdr_stacks_fini(&stacks);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_stacks__are_whole_and_apart),
    CHECK_TEST(test_stacks__one_that_overflows_ends_the_program),
    CHECK_TEST(test_stacks__the_last_given_is_the_next_taken),
    CHECK_TEST(test_stacks__half_of_those_not_used_hold_no_memory),
    CHECK_TEST(test_stacks__a_slab_without_one_in_use_is_unmapped),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/stacks", tests);
}
