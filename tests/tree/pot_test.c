// Pots: who may call, who waits, who is refused, and that the sums are right.
#include "tree/pot.h"

#include "support/check.h"

#include <stdlib.h>

static cdr_strand strand;

static cdr_pot pot_of(cdr_pot *up, int64_t max_tokens)
{
    return (cdr_pot){.up = up, .max = {.max_tokens = max_tokens}};
}

// In place: its line points into it.
#define POT(name, around, max_tokens)                                                  \
    cdr_pot name = pot_of(around, max_tokens);                                         \
    (name).end = &(name).first

static cdr_claim claim_of(cdr_pot *pot, int64_t least, int64_t most)
{
    return (cdr_claim){
        .pot = pot, .least = {least, 0}, .most = {most, 0}, .strand = &strand};
}

static cdr_claim_state ask(cdr_claim *claim)
{
    cdr_claim_locked(claim);
    return claim->state;
}

static void pay(cdr_claim *claim, int64_t tokens)
{
    cdr_claim_pay_locked(claim, (cdr_amount){tokens, 0});
}

static void check_pot(const cdr_pot *pot, int64_t used, int64_t claimed)
{
    CHECK_INT(pot->used.tokens, used);
    CHECK_INT(pot->claimed.tokens, claimed);
}

static void test_pot__calls_that_fit_are_made_at_once(void)
{
    POT(pot, NULL, 100);
    cdr_claim a = claim_of(&pot, 1, 40), b = claim_of(&pot, 1, 60);
    CHECK_INT(ask(&a), CDR_CLAIM_GRANTED);
    CHECK_INT(ask(&b), CDR_CLAIM_GRANTED);
    check_pot(&pot, 0, 100);
    pay(&a, 30);
    check_pot(&pot, 30, 60);
    pay(&b, 60);
    check_pot(&pot, 90, 0);
}

static void test_pot__what_does_not_fit_waits_and_is_made_alone(void)
{
    POT(pot, NULL, 100);
    cdr_claim a = claim_of(&pot, 1, 80), b = claim_of(&pot, 1, 500);
    cdr_claim c = claim_of(&pot, 1, 10);
    CHECK_INT(ask(&a), CDR_CLAIM_GRANTED);
    CHECK_INT(ask(&b), CDR_CLAIM_WAITS);
    CHECK_INT(ask(&c), CDR_CLAIM_WAITS); // in line, though it would fit
    pay(&a, 20);
    CHECK_INT(b.state, CDR_CLAIM_GRANTED);
    CHECK_INT(c.state, CDR_CLAIM_WAITS);
    pay(&b, 70);
    CHECK_INT(c.state, CDR_CLAIM_GRANTED);
    pay(&c, 30);
    check_pot(&pot, 120, 0);
}

static void test_pot__refuses_when_the_least_does_not_fit(void)
{
    POT(pot, NULL, 100);
    cdr_claim a = claim_of(&pot, 100, 100), b = claim_of(&pot, 1, 1);
    CHECK_INT(ask(&a), CDR_CLAIM_GRANTED);
    pay(&a, 100);

    CHECK_INT(ask(&b), CDR_CLAIM_REFUSED);
    CHECK(b.at == &pot);
    check_pot(&pot, 100, 0);
}

static void test_pot__those_that_wait_are_refused_when_it_is_used_up(void)
{
    POT(pot, NULL, 100);
    cdr_claim a = claim_of(&pot, 1, 100), b = claim_of(&pot, 1, 10);
    cdr_claim c = claim_of(&pot, 1, 10);
    CHECK_INT(ask(&a), CDR_CLAIM_GRANTED);
    CHECK_INT(ask(&b), CDR_CLAIM_WAITS);
    CHECK_INT(ask(&c), CDR_CLAIM_WAITS);
    pay(&a, 100);
    CHECK_INT(b.state, CDR_CLAIM_REFUSED);
    CHECK_INT(c.state, CDR_CLAIM_REFUSED);
    CHECK(pot.first == NULL);
}

static void test_pot__who_leaves_the_line_is_in_nobodys_way(void)
{
    POT(pot, NULL, 100);
    cdr_claim a = claim_of(&pot, 1, 80), b = claim_of(&pot, 1, 50);
    cdr_claim c = claim_of(&pot, 1, 20), d = claim_of(&pot, 1, 50);
    CHECK_INT(ask(&a), CDR_CLAIM_GRANTED);
    CHECK_INT(ask(&b), CDR_CLAIM_WAITS);
    CHECK_INT(ask(&c), CDR_CLAIM_WAITS);
    CHECK_INT(ask(&d), CDR_CLAIM_WAITS);
    cdr_claim_leave_locked(&d);
    CHECK_INT(c.state, CDR_CLAIM_WAITS);
    cdr_claim_leave_locked(&b);
    CHECK_INT(b.state, CDR_CLAIM_NONE);
    CHECK_INT(c.state, CDR_CLAIM_GRANTED);
    CHECK(pot.first == NULL && pot.end == &pot.first);
    pay(&a, 1);
    pay(&c, 1);
    check_pot(&pot, 2, 0);
}

static void test_pot__is_paid_by_those_within(void)
{
    POT(outer, NULL, 100);
    POT(left, &outer, 1000);
    POT(right, &outer, 50);
    cdr_claim a = claim_of(&left, 1, 70), b = claim_of(&right, 1, 40);
    cdr_claim c = claim_of(&right, 1, 40);
    CHECK_INT(ask(&a), CDR_CLAIM_GRANTED);
    CHECK_INT(ask(&b), CDR_CLAIM_WAITS); // for the left one
    CHECK(b.at == &outer);
    pay(&a, 60);
    CHECK_INT(b.state, CDR_CLAIM_GRANTED);
    check_pot(&left, 60, 0);
    check_pot(&right, 0, 40);
    check_pot(&outer, 60, 40);
    CHECK_INT(ask(&c), CDR_CLAIM_WAITS);
    CHECK(c.at == &right);
    pay(&b, 45);
    CHECK_INT(c.state, CDR_CLAIM_REFUSED); // 105 of 100
    CHECK(c.at == &outer);
}

// From the line of one pot to that of another that is in the way now.
static void test_pot__who_waits_moves_on_to_the_next_line(void)
{
    POT(outer, NULL, 100);
    POT(inner, &outer, 50);
    cdr_claim a = claim_of(&inner, 1, 50), b = claim_of(&inner, 1, 50);
    cdr_claim c = claim_of(&outer, 1, 50);
    CHECK_INT(ask(&a), CDR_CLAIM_GRANTED);
    CHECK_INT(ask(&b), CDR_CLAIM_WAITS);
    CHECK(b.at == &inner);
    CHECK_INT(ask(&c), CDR_CLAIM_GRANTED);
    pay(&a, 0);
    CHECK_INT(b.state, CDR_CLAIM_GRANTED);
    pay(&b, 20);
    cdr_claim d = claim_of(&inner, 1, 30), e = claim_of(&inner, 1, 40);
    CHECK_INT(ask(&d), CDR_CLAIM_GRANTED);
    CHECK_INT(ask(&e), CDR_CLAIM_WAITS);
    pay(&d, 10);
    CHECK_INT(e.state, CDR_CLAIM_WAITS); // 30 are used, and 50 are claimed
    CHECK(e.at == &outer);
    CHECK(inner.first == NULL);
    pay(&c, 50);
    CHECK_INT(e.state, CDR_CLAIM_GRANTED);
}

static void test_pot__counts_money_apart(void)
{
    POT(pot, NULL, 0);
    pot.max.max_cost_usd_micros = 10;
    cdr_claim a = {
        .pot = &pot, .least = {900, 1}, .most = {9000, 9}, .strand = &strand};
    cdr_claim free_one = {
        .pot = &pot, .least = {900, 0}, .most = {9000, 0}, .strand = &strand};
    CHECK(cdr_pot_counts_money(&pot));
    CHECK_INT(ask(&a), CDR_CLAIM_GRANTED);
    cdr_claim_pay_locked(&a, (cdr_amount){5000, 12});
    CHECK_INT(ask(&free_one), CDR_CLAIM_GRANTED); // what costs nothing always fits
    CHECK_INT(ask(&a), CDR_CLAIM_REFUSED);
}

// A million in one line, each made alone: in no time.
static void test_pot__a_long_line_is_worked_off_in_order(void)
{
    enum {
        N = 1000000
    };
    POT(pot, NULL, N);
    cdr_claim *all = calloc(N, sizeof *all);
    if (!CHECK(all != NULL))
        return;
    for (size_t i = 0; i < N; i++) {
        all[i] = claim_of(&pot, 1, N);
        ask(&all[i]);
    }
    for (size_t i = 0; i < N; i++) {
        if (all[i].state != CDR_CLAIM_GRANTED)
            CHECK_INT(all[i].state, CDR_CLAIM_GRANTED);
        else
            pay(&all[i], 1);
    }
    check_pot(&pot, N, 0);
    free(all);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_pot__calls_that_fit_are_made_at_once),
        CHECK_TEST(test_pot__what_does_not_fit_waits_and_is_made_alone),
        CHECK_TEST(test_pot__refuses_when_the_least_does_not_fit),
        CHECK_TEST(test_pot__those_that_wait_are_refused_when_it_is_used_up),
        CHECK_TEST(test_pot__who_leaves_the_line_is_in_nobodys_way),
        CHECK_TEST(test_pot__is_paid_by_those_within),
        CHECK_TEST(test_pot__who_waits_moves_on_to_the_next_line),
        CHECK_TEST(test_pot__counts_money_apart),
        CHECK_TEST(test_pot__a_long_line_is_worked_off_in_order),
        CU_TEST_INFO_NULL,
    };
    cdr_strand_init(&strand);
    int failed = check_main("tree/pot", tests);
    cdr_strand_fini(&strand);
    return failed;
}
