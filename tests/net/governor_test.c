// Governors: who may ask when, in what order, and who shares one.
#include "net/governor.h"

#include "support/check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define START_MS 1000000
#define MAX_TURNS 64

static cdr_clock *mock;
static cdr_governor *governor;

// Some who ask; each counts how often it was woken.
typedef struct asker {
    cdr_turn turn;
    int n_woken;
} asker;

static asker askers[MAX_TURNS];

static void wake(void *ctx)
{
    ((asker *)ctx)->n_woken++;
}

static cdr_governor_name name_of(const char *model)
{
    return (cdr_governor_name){mock, "openai", "https://x/v1", model, "KEY"};
}

// A governor of its own for each test, and askers with these limits.
static void open_case(const char *model, int rpm, int max_concurrency)
{
    mock = cdr_clock_fake_new(START_MS);
    cdr_governors_ref();
    cdr_governor_name name = name_of(model);
    governor = cdr_governor_ref(&name, rpm);
    CHECK(governor != NULL);
    for (size_t i = 0; i < MAX_TURNS; i++)
        askers[i] = (asker){.turn = {.rpm = rpm,
                                     .max_concurrency = max_concurrency,
                                     .wake = wake,
                                     .ctx = &askers[i]}};
}

static void close_case(void)
{
    for (size_t i = 0; i < MAX_TURNS; i++)
        cdr_turn_end(governor, &askers[i].turn);
    cdr_governor_unref(governor);
    cdr_governors_unref();
    cdr_clock_fake_free(mock);
}

static bool take(size_t i)
{
    cdr_turn_delay delay = {CDR_TURN_PAUSE, 0};
    return cdr_turn_take(governor, &askers[i].turn, &delay);
}

static void end(size_t i)
{
    cdr_turn_end(governor, &askers[i].turn);
}

// It has to wait, for this, from now on for so long (-1: until it is woken).
static void check_waits(size_t i, cdr_turn_wait why, int64_t wait_ms)
{
    cdr_turn_delay delay = {CDR_TURN_PAUSE, 0};
    if (!CHECK(!cdr_turn_take(governor, &askers[i].turn, &delay)))
        return;
    CHECK_INT(delay.why, why);
    CHECK_INT(delay.until_ms,
              wait_ms < 0 ? CDR_NEVER : cdr_clock_now_ms(mock) + wait_ms);
}

static void test_governor__rpm_counts_any_sixty_seconds(void)
{
    open_case("rpm", 3, 0);
    CHECK(take(0));
    end(0); // that it has ended does not matter
    cdr_clock_advance(mock, 10000);
    CHECK(take(1));
    CHECK(take(2));
    check_waits(3, CDR_TURN_RPM, 50000);
    cdr_clock_advance(mock, 49999);
    check_waits(3, CDR_TURN_RPM, 1);
    cdr_clock_advance(mock, 1);
    CHECK(take(3));
    check_waits(4, CDR_TURN_RPM, 10000);
    cdr_clock_advance(mock, 10000);
    CHECK(take(4));
    CHECK(take(5));
    check_waits(6, CDR_TURN_RPM, 50000);
    close_case();
}

static void test_governor__first_come_first_served(void)
{
    open_case("line", 0, 1);
    CHECK(take(0));
    for (size_t i = 1; i < 4; i++)
        check_waits(i, CDR_TURN_CONCURRENCY, -1);
    end(0);
    CHECK_INT(askers[1].n_woken, 1);
    check_waits(3, CDR_TURN_CONCURRENCY, -1); // although nobody has a turn
    check_waits(2, CDR_TURN_CONCURRENCY, -1);
    CHECK(take(1));
    CHECK(take(1));                  // it has it still
    CHECK_INT(askers[2].n_woken, 1); // now the first
    CHECK_INT(askers[3].n_woken, 0);
    end(1);
    end(1);
    CHECK(take(2));
    check_waits(3, CDR_TURN_CONCURRENCY, -1);
    close_case();
}

static void test_governor__who_leaves_the_line_lets_the_next_go_on(void)
{
    open_case("leave", 0, 1);
    CHECK(take(0));
    for (size_t i = 1; i < 5; i++)
        check_waits(i, CDR_TURN_CONCURRENCY, -1);
    end(2); // from the middle
    CHECK_INT(askers[3].n_woken, 0);
    end(4); // the last
    end(1); // the first
    CHECK_INT(askers[3].n_woken, 1);
    check_waits(3, CDR_TURN_CONCURRENCY, -1);
    end(0);
    CHECK_INT(askers[3].n_woken, 2);
    CHECK(take(3));
    check_waits(5, CDR_TURN_CONCURRENCY, -1); // the line is sound still
    end(3);
    CHECK(take(5));
    close_case();
}

static void test_governor__at_most_so_many_at_a_time(void)
{
    open_case("eight", 0, 8);
    for (size_t i = 0; i < 8; i++)
        CHECK(take(i));
    for (size_t i = 8; i < 20; i++)
        check_waits(i, CDR_TURN_CONCURRENCY, -1);
    for (size_t i = 8; i < 20; i++) {
        end(i - 8);
        CHECK_INT(askers[i].n_woken > 0, true);
        CHECK(take(i));
        if (i + 1 < 20)
            check_waits(i + 1, CDR_TURN_CONCURRENCY, -1);
    }
    close_case();
}

static void test_governor__who_has_no_limit_counts_and_does_not_wait(void)
{
    open_case("mixed", 2, 2);
    askers[0].turn.rpm = askers[0].turn.max_concurrency = 0;
    askers[1].turn = askers[0].turn;
    askers[1].turn.ctx = &askers[1];
    CHECK(take(0));
    CHECK(take(2));
    check_waits(3, CDR_TURN_CONCURRENCY, -1);
    CHECK(take(1)); // past the line
    end(0);
    end(1);
    end(2);
    check_waits(3, CDR_TURN_RPM, 60000);
    close_case();
}

static void test_governor__a_pause_keeps_everybody_and_never_gets_shorter(void)
{
    open_case("pause", 5, 0);
    askers[0].turn.rpm = 0;
    cdr_governor_pause(governor, 5000);
    cdr_governor_pause(governor, 3000);
    check_waits(0, CDR_TURN_PAUSE, 5000);
    check_waits(1, CDR_TURN_PAUSE, 5000);
    check_waits(2, CDR_TURN_PAUSE, -1); // behind
    cdr_clock_advance(mock, 4999);
    check_waits(0, CDR_TURN_PAUSE, 1);
    cdr_clock_advance(mock, 1);
    CHECK(take(0));
    CHECK(take(1));
    CHECK(take(2));
    close_case();
}

static void test_governor__a_cool_down_is_told_and_ends(void)
{
    cadre_error_class why = CADRE_CLASS_NONE;
    open_case("cool", 0, 0);
    CHECK_INT(cdr_governor_cools_ms(governor, &why), 0);
    cdr_governor_cool(governor, 60000, CADRE_CLASS_OVERLOADED);
    CHECK(take(0)); // it keeps nobody
    cdr_clock_advance(mock, 20000);
    CHECK_INT(cdr_governor_cools_ms(governor, &why), 40000);
    CHECK_INT(why, CADRE_CLASS_OVERLOADED);
    cdr_clock_advance(mock, 40000);
    CHECK_INT(cdr_governor_cools_ms(governor, &why), 0);
    cdr_governor_cool(governor, 60000, CADRE_CLASS_OVERLOADED);
    cdr_governor_cool(governor, 0, CADRE_CLASS_NONE);
    CHECK_INT(cdr_governor_cools_ms(governor, &why), 0);
    close_case();
}

static void test_governor__is_shared_by_who_asks_the_same(void)
{
    open_case("same", 0, 0);
    cdr_governor_name name = name_of("same");
    cdr_governor *again = cdr_governor_ref(&name, 7);
    CHECK(again == governor);
    cdr_governor_unref(again);
    for (int i = 0; i < 5; i++) {
        cdr_governor_name other = name_of("same");
        const char **const parts[] = {&other.provider, &other.base_url, &other.model,
                                      &other.api_key_env};
        cdr_clock *clock = cdr_clock_fake_new(0);
        if (i < 4)
            *parts[i] = "other";
        else
            other.clock = clock;
        cdr_governor *else_one = cdr_governor_ref(&other, 0);
        CHECK(else_one != NULL && else_one != governor);
        cdr_governor_unref(else_one);
        cdr_clock_fake_free(clock);
    }
    close_case();
}

static void test_governor__what_was_begun_counts_for_a_higher_limit_too(void)
{
    open_case("grows", 2, 0);
    CHECK(take(0));
    cdr_clock_advance(mock, 1000);
    CHECK(take(1));
    cdr_governor_name name = name_of("grows");
    cdr_governor *wider = cdr_governor_ref(&name, 4);
    for (size_t i = 2; i < 5; i++)
        askers[i].turn.rpm = 4;
    CHECK(take(2));
    CHECK(take(3));
    check_waits(4, CDR_TURN_RPM, 59000);
    check_waits(5, CDR_TURN_RPM, -1); // behind it
    cdr_governor_unref(wider);
    close_case();
}

// On the system's clock, with nobody left in between.
static void test_governor__remembers_while_a_team_is_loaded_again(void)
{
    char model[32];
    cadre_error_class why = CADRE_CLASS_NONE;
    snprintf(model, sizeof model, "again-%d", (int)getpid());
    cdr_governors_ref();
    cdr_governor_name name = {cdr_clock_real(), "openai", "https://x", model, ""};
    cdr_turn turn = {.rpm = 1, .wake = wake, .ctx = &askers[0]};
    cdr_turn_delay delay = {CDR_TURN_PAUSE, 0};
    cdr_governor *first = cdr_governor_ref(&name, 1);
    CHECK(cdr_turn_take(first, &turn, &delay));
    cdr_turn_end(first, &turn);
    cdr_governor_cool(first, 60000, CADRE_CLASS_SERVER);
    cdr_governor_unref(first);
    cdr_governor *second = cdr_governor_ref(&name, 1);
    CHECK(!cdr_turn_take(second, &turn, &delay));
    CHECK_INT(delay.why, CDR_TURN_RPM);
    cdr_turn_end(second, &turn);
    CHECK(cdr_governor_cools_ms(second, &why) > 50000);
    cdr_governor_unref(second);
    cdr_governors_unref();
}

// --- Many threads ---

#define N_THREADS 16
#define N_ROUNDS 200

typedef struct crowd {
    cdr_governor *governor;
    atomic_int n_in, n_most, n_done;
} crowd;

typedef struct sleeper {
    cdr_mutex mu;
    cdr_cond cond;
    bool is_woken;
} sleeper;

static void wake_sleeper(void *ctx)
{
    sleeper *s = ctx;
    cdr_mutex_lock(&s->mu);
    s->is_woken = true;
    cdr_cond_signal(&s->cond);
    cdr_mutex_unlock(&s->mu);
}

static void sleep_until_woken(sleeper *s)
{
    cdr_mutex_lock(&s->mu);
    while (!s->is_woken)
        cdr_cond_wait(&s->cond, &s->mu);
    s->is_woken = false;
    cdr_mutex_unlock(&s->mu);
}

static void *take_turns(void *ctx)
{
    crowd *c = ctx;
    sleeper own = {.is_woken = false};
    cdr_mutex_init(&own.mu);
    cdr_cond_init(&own.cond);
    for (int i = 0; i < N_ROUNDS; i++) {
        cdr_turn turn = {.max_concurrency = 3, .wake = wake_sleeper, .ctx = &own};
        cdr_turn_delay delay;
        while (!cdr_turn_take(c->governor, &turn, &delay))
            sleep_until_woken(&own);
        int n = atomic_fetch_add(&c->n_in, 1) + 1;
        int most = atomic_load(&c->n_most);
        while (n > most && !atomic_compare_exchange_weak(&c->n_most, &most, n))
            continue;
        atomic_fetch_sub(&c->n_in, 1);
        cdr_turn_end(c->governor, &turn);
        atomic_fetch_add(&c->n_done, 1);
    }
    cdr_cond_fini(&own.cond);
    cdr_mutex_fini(&own.mu);
    return NULL;
}

static void test_governor__holds_among_many_threads(void)
{
    pthread_t threads[N_THREADS];
    open_case("crowd", 0, 3);
    crowd c = {.governor = governor};
    for (size_t i = 0; i < N_THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, take_turns, &c), 0);
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&c.n_done), N_THREADS * N_ROUNDS);
    CHECK(atomic_load(&c.n_most) <= 3);
    close_case();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_governor__rpm_counts_any_sixty_seconds),
    CHECK_TEST(test_governor__first_come_first_served),
    CHECK_TEST(test_governor__who_leaves_the_line_lets_the_next_go_on),
    CHECK_TEST(test_governor__at_most_so_many_at_a_time),
    CHECK_TEST(test_governor__who_has_no_limit_counts_and_does_not_wait),
    CHECK_TEST(test_governor__a_pause_keeps_everybody_and_never_gets_shorter),
    CHECK_TEST(test_governor__a_cool_down_is_told_and_ends),
    CHECK_TEST(test_governor__is_shared_by_who_asks_the_same),
    CHECK_TEST(test_governor__what_was_begun_counts_for_a_higher_limit_too),
    CHECK_TEST(test_governor__remembers_while_a_team_is_loaded_again),
    CHECK_TEST(test_governor__holds_among_many_threads),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("net/governor", tests);
}
