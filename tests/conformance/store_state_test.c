// What frames added to the state of their run: kept with their end, and of those that
// handed over before it; each claim is tried on every store.
#include "support/store_case.h"

static void test_store_state__is_kept_with_the_end(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"), fact_frame(3, 1, "b"));
    CHECK_COMMIT(&tested, 1, fact_added(fact_end(2, "x"), "{\"k\":[1]}"),
                 fact_end(3, "y"));
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 running\n2<1 completed = x + {\"k\":[1]}\n"
               "3<1 completed = y\n");
}

static void test_store_state__is_kept_of_a_frame_that_goes_on(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"),
                 fact_added(fact_running(2, 1), "{\"k\":1}"));
    CHECK_TEXT(store_live(&tested, 1), "1<0 running\n2<1 running + {\"k\":1}\n");
    CHECK_COMMIT(&tested, 1, fact_running(2, 2)); // says nothing of it
    CHECK_TEXT(store_live(&tested, 1), "1<0 running\n2<1 running + {\"k\":1}\n");
    CHECK_COMMIT(&tested, 1, fact_added(fact_running(2, 2), "{\"k\":2}"));
    CHECK_TEXT(store_live(&tested, 1), "1<0 running\n2<1 running + {\"k\":2}\n");
}

// What did not complete added nothing.
static void test_store_state__is_what_the_end_says(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"),
                 fact_added(fact_running(2, 1), "{\"k\":1}"));
    CHECK_COMMIT(&tested, 1, fact_end(2, "x"));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 completed = x\n");
    CHECK_COMMIT(&tested, 1, fact_added(fact_end(2, "again"), "{\"k\":3}"));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 completed = x\n");
}

static void test_store_state__is_refused_under_a_mark(void)
{
    store_start(&tested);
    cadre_fact facts[] = {fact_frame(2, 1, "a"), fact_mark(2, "request"),
                          fact_added(fact_running(2, 1), "{\"k\":1}")};
    CHECK_OK(store_commit(&tested, 1, facts, N_OF(facts)), &tested.err);
    CHECK(facts[2].refused);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 running marked request\n");
}

static void test_store_state__is_as_before_a_failed_batch(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"),
                 fact_added(fact_running(2, 1), "{\"k\":1}"));
    CHECK_VIOLATION(&tested, 1, fact_added(fact_running(2, 2), "{\"k\":2}"),
                    fact_added(fact_end(2, "x"), "{\"k\":3}"),
                    fact_frame(1, 0, "root"));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 running + {\"k\":1}\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store_state__is_kept_with_the_end),
    CHECK_TEST(test_store_state__is_kept_of_a_frame_that_goes_on),
    CHECK_TEST(test_store_state__is_what_the_end_says),
    CHECK_TEST(test_store_state__is_refused_under_a_mark),
    CHECK_TEST(test_store_state__is_as_before_a_failed_batch),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return store_case_main("conformance/store_state", tests);
}
