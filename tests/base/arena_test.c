// Arenas: aligned, zeroed, and nothing overlaps.
#include "support/check.h"

#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

static void test_arena__allocates_nothing_until_used(void)
{
    cdr_arena arena = CDR_ARENA_INIT;
    CHECK(arena.head == NULL);
    cdr_arena_fini(&arena);
    CHECK(cdr_arena_text(&arena, NULL) == NULL);
    CHECK(arena.head == NULL);
}

static void test_arena__memory_is_aligned_and_zeroed_after_odd_texts(void)
{
    cdr_arena arena = CDR_ARENA_INIT;
    static const char zeros[200] = {0};
    for (size_t size = 0; size < sizeof(zeros); size++) {
        CHECK(cdr_arena_copy(&arena, "odd-length", size % 11) != NULL);
        char *data = cdr_arena_alloc(&arena, size);
        if (!CHECK(data != NULL))
            break;
        CHECK_INT((uintptr_t)data % alignof(max_align_t), 0);
        CHECK_INT(memcmp(data, zeros, size), 0);
        memset(data, 0xa5, size);
    }
    cdr_arena_fini(&arena);
}

// Fills many pieces of all sizes, each with a value of its own, then looks again.
static void test_arena__pieces_do_not_overlap(void)
{
    enum {
        N_PIECES = 3000
    };
    cdr_arena arena = CDR_ARENA_INIT;
    unsigned char *pieces[N_PIECES];
    size_t sizes[N_PIECES];
    for (size_t i = 0; i < N_PIECES; i++) {
        sizes[i] = i % 500 == 499 ? (64U << 10) + i : i * 37 % 900 + 1;
        pieces[i] = cdr_arena_alloc(&arena, sizes[i]);
        if (!CHECK(pieces[i] != NULL)) {
            cdr_arena_fini(&arena);
            return;
        }
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    size_t n_wrong = 0;
    for (size_t i = 0; i < N_PIECES; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            n_wrong += pieces[i][j] != i % 251;
    }
    CHECK_INT(n_wrong, 0);
    cdr_arena_fini(&arena);
}

static void test_arena__large_piece_does_not_waste_the_open_block(void)
{
    cdr_arena arena = CDR_ARENA_INIT;
    const char *before = cdr_arena_copy(&arena, "a", 1);
    CHECK(cdr_arena_alloc(&arena, 1U << 20) != NULL);
    const char *after = cdr_arena_copy(&arena, "b", 1);
    CHECK(after == before + 2);
    cdr_arena_fini(&arena);
}

static void test_arena__large_piece_may_come_first(void)
{
    cdr_arena arena = CDR_ARENA_INIT;
    char *large = cdr_arena_alloc(&arena, 200U << 10);
    CHECK(large != NULL);
    CHECK_TEXT(cdr_arena_text(&arena, "small"), "small");
    CHECK(arena.left > 0 && arena.left < 1U << 10);
    cdr_arena_fini(&arena);
}

static void test_arena__copies_bytes_and_adds_a_nul(void)
{
    cdr_arena arena = CDR_ARENA_INIT;
    const char *copy = cdr_arena_copy(&arena, "a\0bc", 3);
    CHECK_BYTES(copy, 4, "a\0b\0", 4);
    CHECK_TEXT(cdr_arena_copy(&arena, NULL, 0), "");
    CHECK_TEXT(cdr_arena_text(&arena, ""), "");
    cdr_arena_fini(&arena);
}

static void test_arena__formats_at_every_fill_of_a_block(void)
{
    for (int fill = 0; fill < 520; fill += 3) {
        cdr_arena arena = CDR_ARENA_INIT;
        cdr_arena_printf(&arena, "%*s", fill, "");
        const char *text = cdr_arena_printf(&arena, "<%s:%d>", "value", fill);
        char expected[32];
        (void)snprintf(expected, sizeof(expected), "<value:%d>", fill);
        CHECK_TEXT(text, expected);
        cdr_arena_fini(&arena);
    }
}

static void test_arena__formats_text_larger_than_a_block(void)
{
    cdr_arena arena = CDR_ARENA_INIT;
    const char *text = cdr_arena_printf(&arena, "%*d", 100000, 7);
    if (CHECK(text != NULL)) {
        CHECK_INT(strlen(text), 100000);
        CHECK_INT(text[99999], '7');
    }
    CHECK_TEXT(cdr_arena_text(&arena, "next"), "next");
    cdr_arena_fini(&arena);
}

static void test_arena__refuses_what_cannot_be(void)
{
    cdr_arena arena = CDR_ARENA_INIT;
    CHECK(cdr_arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(cdr_arena_alloc(&arena, SIZE_MAX - 40) == NULL);
    CHECK(cdr_arena_copy(&arena, "x", SIZE_MAX) == NULL);
    CHECK_TEXT(cdr_arena_text(&arena, "still works"), "still works");
    cdr_arena_fini(&arena);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_arena__allocates_nothing_until_used),
    CHECK_TEST(test_arena__memory_is_aligned_and_zeroed_after_odd_texts),
    CHECK_TEST(test_arena__pieces_do_not_overlap),
    CHECK_TEST(test_arena__large_piece_does_not_waste_the_open_block),
    CHECK_TEST(test_arena__large_piece_may_come_first),
    CHECK_TEST(test_arena__copies_bytes_and_adds_a_nul),
    CHECK_TEST(test_arena__formats_at_every_fill_of_a_block),
    CHECK_TEST(test_arena__formats_text_larger_than_a_block),
    CHECK_TEST(test_arena__refuses_what_cannot_be),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/arena", tests);
}
