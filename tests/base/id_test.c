// Ids: unique over threads and forks, one text each.
#include "support/check.h"

#include "cadre/ext/id.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_id__text_has_twelve_digits_a_dash_and_the_counter(void)
{
    static const struct {
        cadre_id id;
        const char *text;
    } cases[] = {
        {{1, 1}, "000000000001-1"},
        {{1, 0}, "000000000001-0"},
        {{0, 1}, "000000000000-1"},
        {{(1ULL << 60) - 1, UINT64_MAX}, "zzzzzzzzzzzz-fzzzzzzzzzzzz"},
        {{31, 32}, "00000000000z-10"},
        {{1ULL << 59, 1023}, "g00000000000-zz"},
        {{0, 0}, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[CADRE_ID_TEXT_SIZE];
        cadre_id_text(cases[i].id, text);
        CHECK_TEXT(text, cases[i].text);
        cadre_id back = {7, 7};
        bool is_id = cases[i].text[0] != '\0';
        CHECK(cadre_id_parse(text, &back) == is_id);
        CHECK(!is_id || cadre_id_equal(back, cases[i].id));
    }
}

static void test_id__parse_refuses_what_is_not_the_text_of_an_id(void)
{
    static const char *const wrong[] = {
        "",
        "-",
        "000000000001",
        "000000000001-",
        "00000000001-1",
        "0000000000001-1",
        "000000000001-01",            // padded: a second text for the same id
        "000000000000-0",             // no id
        "00000000000I-1",             // upper case, and a letter that is left out
        "00000000000l-1",             //
        "00000000000Z-1",             //
        "000000000001-g000000000000", // 65 bits
        "000000000001-10000000000000",
        "000000000001-1 ",
        " 000000000001-1",
        "../../../../etc/passwd",
        "000000000001-1111111111111111111111111111111111111111",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cadre_id id = {7, 8};
        if (!CHECK(!cadre_id_parse(wrong[i], &id)))
            CHECK_TEXT(wrong[i], "refused");
        CHECK(id.prefix == 7 && id.counter == 8);
    }
}

static void test_id__new_ids_count_up_under_one_prefix(void)
{
    cadre_id a = cadre_id_new();
    cadre_id b = cadre_id_new();
    CHECK(a.prefix != 0 && a.prefix < 1ULL << 60);
    CHECK_INT(b.prefix == a.prefix, 1);
    CHECK_INT(b.counter, a.counter + 1);
    CHECK(!cadre_id_equal(a, b));
    CHECK(!cadre_id_is_none(a));
    CHECK(cadre_id_is_none((cadre_id){0, 0}));
}

enum {
    N_THREADS = 8,
    N_EACH = 5000
};

static void *take_ids(void *arg)
{
    uint64_t *counters = arg;
    for (int i = 0; i < N_EACH; i++)
        counters[i] = cadre_id_new().counter;
    return NULL;
}

static int compare_counters(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void test_id__threads_never_get_the_same(void)
{
    uint64_t *counters = calloc((size_t)N_THREADS * N_EACH, sizeof(*counters));
    if (!CHECK(counters != NULL))
        return;
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, take_ids, counters + (ptrdiff_t)i * N_EACH);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    qsort(counters, (size_t)N_THREADS * N_EACH, sizeof(*counters), compare_counters);
    int n_same = 0;
    for (int i = 1; i < N_THREADS * N_EACH; i++)
        n_same += counters[i] == counters[i - 1];
    CHECK_INT(n_same, 0);
    free(counters);
}

static void test_id__a_forked_child_has_a_prefix_of_its_own(void)
{
    cadre_id mine = cadre_id_new();
    int ends[2];
    if (!CHECK(pipe(ends) == 0))
        return;
    pid_t child = fork();
    if (child == 0) {
        cadre_id id = cadre_id_new();
        _exit(write(ends[1], &id, sizeof(id)) == (ssize_t)sizeof(id) ? 0 : 1);
    }
    cadre_id theirs = {0, 0};
    CHECK(read(ends[0], &theirs, sizeof(theirs)) == (ssize_t)sizeof(theirs));
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    close(ends[0]);
    close(ends[1]);
    CHECK(theirs.prefix != mine.prefix);
    CHECK_INT(theirs.counter, 1);
    CHECK(cadre_id_new().prefix == mine.prefix);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_id__text_has_twelve_digits_a_dash_and_the_counter),
    CHECK_TEST(test_id__parse_refuses_what_is_not_the_text_of_an_id),
    CHECK_TEST(test_id__new_ids_count_up_under_one_prefix),
    CHECK_TEST(test_id__threads_never_get_the_same),
    CHECK_TEST(test_id__a_forked_child_has_a_prefix_of_its_own),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/id", tests);
}
