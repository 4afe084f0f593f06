// See pot.h.
#include "tree/pot.h"

#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// --- Amounts ---

static int64_t sum(int64_t a, int64_t b)
{
    int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

static void add(cdr_amount *to, cdr_amount more)
{
    to->tokens = sum(to->tokens, more.tokens);
    to->usd_micros = sum(to->usd_micros, more.usd_micros);
}

static void subtract(cdr_amount *from, cdr_amount less)
{
    from->tokens -= less.tokens;
    from->usd_micros -= less.usd_micros;
}

// `max` 0: there is no limit. What takes nothing always fits.
static bool is_over(int64_t max, int64_t used, int64_t more)
{
    return max > 0 && more > 0 && sum(used, more) > max;
}

static bool has_no_room(const cdr_pot *pot, cdr_amount used, cdr_amount more)
{
    return is_over(pot->max.max_tokens, used.tokens, more.tokens) ||
           is_over(pot->max.max_cost_usd_micros, used.usd_micros, more.usd_micros);
}

// --- Opening ---

static bool is_empty(const cadre_budget *budget)
{
    return budget == NULL || (budget->max_cost_usd_micros == 0 &&
                              budget->max_tokens == 0 && budget->max_time_ms == 0);
}

static bool open_pot(cadre_frame *frame, cdr_pot_kind kind, const cadre_budget *max,
                     const cdr_amount *used)
{
    if (is_empty(max))
        return true;
    cdr_pot *pot = calloc(1, sizeof *pot);
    if (pot == NULL)
        return false;
    pot->up = frame->pot;
    pot->owner = frame;
    pot->kind = kind;
    pot->max = *max;
    pot->end = &pot->first;
    if (used != NULL)
        pot->used = *used;
    frame->pot = pot;
    frame->n_pots++;
    return true;
}

static bool is_own(const cdr_pot *pot, const cadre_frame *frame)
{
    return pot != NULL && pot->owner == frame;
}

// Those around what a frame hands over to: all but its agent's own.
static cdr_pot *around_target(const cadre_frame *frame)
{
    return is_own(frame->pot, frame) && frame->pot->kind == CDR_POT_AGENT
               ? frame->pot->up
               : frame->pot;
}

// What is recorded of the frame, without what it handed over to. Unchecked, as those
// that call it are.
static cdr_amount recorded_own_locked(cadre_frame *frame) CDR_NO_THREAD_SAFETY
{
    const cadre_frame *target = cdr_frame_child_locked(frame, "transfer");
    cdr_amount own = frame->spent->amount;
    if (target != NULL && target->spent != NULL)
        subtract(&own, target->spent->amount);
    return own;
}

bool cdr_pots_open_locked(cadre_frame *frame, const cadre_budget *given,
                          const cdr_amount *given_used)
{
    cadre_frame *parent = frame->parent;
    const cdr_spent *spent = frame->spent;
    cdr_amount of_call = given_used == NULL ? (cdr_amount){0, 0} : *given_used;
    frame->pot = parent == NULL       ? NULL
                 : frame->is_transfer ? around_target(parent)
                                      : parent->pot;
    if (frame->kind != CDR_FRAME_AGENT)
        return true;
    if (spent != NULL)
        add(&of_call, spent->amount);
    if (parent == NULL &&
        !open_pot(frame, CDR_POT_TEAM, &frame->tree->team->budget, &of_call))
        return false;
    if (!open_pot(frame, parent == NULL ? CDR_POT_RUN : CDR_POT_CALL, given, &of_call))
        return false;
    if (is_empty(&frame->agent->budget))
        return true;
    cdr_amount own = {0, 0};
    if (spent != NULL)
        own = recorded_own_locked(frame);
    return open_pot(frame, CDR_POT_AGENT, &frame->agent->budget, &own);
}

void cdr_pots_free(cadre_frame *frame)
{
    // Those of others may be gone.
    for (; frame->n_pots > 0; frame->n_pots--) {
        cdr_pot *pot = frame->pot;
        assert(pot->first == NULL);
        frame->pot = pot->up;
        cdr_failure_unref(pot->refusal);
        free(pot);
    }
}

cdr_amount cdr_pot_of_call_used(const cadre_frame *frame)
{
    for (const cdr_pot *pot = frame->pot; is_own(pot, frame); pot = pot->up)
        if (pot->kind == CDR_POT_CALL)
            return pot->used;
    return (cdr_amount){0, 0};
}

void cdr_pots_limit_time_locked(cadre_frame *frame, bool has_handed_over)
{
    int64_t before_ms = frame->spent == NULL ? 0 : frame->spent->work_ms;
    frame->is_budget_time = false;
    for (const cdr_pot *pot = frame->pot; is_own(pot, frame); pot = pot->up) {
        int64_t max_ms = pot->max.max_time_ms;
        if (max_ms == 0 || (has_handed_over && pot->kind == CDR_POT_AGENT))
            continue;
        int64_t left_ms = max_ms > before_ms ? max_ms - before_ms : 0;
        int64_t deadline_ms = cdr_deadline_ms(frame->started_ns, left_ms);
        if (deadline_ms > frame->deadline_ms)
            continue;
        frame->deadline_ms = deadline_ms;
        frame->is_budget_time = true;
    }
}

bool cdr_pot_counts_money(const cdr_pot *pot)
{
    while (pot != NULL && pot->max.max_cost_usd_micros == 0)
        pot = pot->up;
    return pot != NULL;
}

// --- Claiming ---

static void wait_at(cdr_claim *claim, cdr_pot *pot)
{
    claim->state = CDR_CLAIM_WAITS;
    claim->at = pot;
    claim->next = NULL;
    claim->link = pot->end;
    *pot->end = claim;
    pot->end = &claim->next;
}

static void leave_line(cdr_claim *claim)
{
    *claim->link = claim->next;
    if (claim->next != NULL)
        claim->next->link = claim->link;
    else
        claim->at->end = claim->link;
}

// Where it must wait: NULL, nowhere. Whose turn it is does not wait for itself.
static cdr_pot *busy_pot(const cdr_claim *claim)
{
    for (cdr_pot *pot = claim->pot; pot != NULL; pot = pot->up) {
        cdr_amount taken = pot->used;
        add(&taken, pot->claimed);
        bool is_in_line = pot->first != NULL && pot->first != claim;
        if (is_in_line || (pot->n_claims > 0 && has_no_room(pot, taken, claim->most)))
            return pot;
    }
    return NULL;
}

static cdr_pot *spent_pot(const cdr_claim *claim)
{
    for (cdr_pot *pot = claim->pot; pot != NULL; pot = pot->up)
        if (has_no_room(pot, pot->used, claim->least))
            return pot;
    return NULL;
}

static void grant(cdr_claim *claim)
{
    claim->state = CDR_CLAIM_GRANTED;
    for (cdr_pot *pot = claim->pot; pot != NULL; pot = pot->up) {
        add(&pot->claimed, claim->most);
        pot->n_claims++;
    }
}

static void refuse(cdr_claim *claim, cdr_pot *pot)
{
    claim->state = CDR_CLAIM_REFUSED;
    claim->at = pot;
}

// Looks at the one at the head of a pot's line. False: it stays there.
static bool serve_first(cdr_pot *pot)
{
    cdr_claim *claim = pot->first;
    cdr_pot *spent = spent_pot(claim);
    cdr_pot *busy = spent == NULL ? busy_pot(claim) : NULL;
    if (busy == pot)
        return false;
    leave_line(claim);
    if (busy != NULL) {
        wait_at(claim, busy);
        return true;
    }
    if (spent != NULL)
        refuse(claim, spent);
    else
        grant(claim);
    cdr_strand_wake(claim->strand);
    return true;
}

static void serve(cdr_pot *innermost)
{
    for (cdr_pot *pot = innermost; pot != NULL; pot = pot->up)
        while (pot->first != NULL && serve_first(pot))
            ;
}

void cdr_claim_locked(cdr_claim *claim)
{
    cdr_pot *pot = spent_pot(claim);
    if (pot != NULL) {
        refuse(claim, pot);
        return;
    }
    pot = busy_pot(claim);
    if (pot != NULL)
        wait_at(claim, pot);
    else
        grant(claim);
}

void cdr_claim_leave_locked(cdr_claim *claim)
{
    assert(claim->state == CDR_CLAIM_WAITS);
    leave_line(claim);
    claim->state = CDR_CLAIM_NONE;
    serve(claim->at); // it may have been in the way
}

void cdr_pot_pay_locked(cdr_pot *innermost, cdr_amount used)
{
    for (cdr_pot *pot = innermost; pot != NULL; pot = pot->up)
        add(&pot->used, used);
}

void cdr_claim_pay_locked(cdr_claim *claim, cdr_amount used)
{
    assert(claim->state == CDR_CLAIM_GRANTED);
    claim->state = CDR_CLAIM_NONE;
    for (cdr_pot *pot = claim->pot; pot != NULL; pot = pot->up) {
        subtract(&pot->claimed, claim->most);
        pot->n_claims--;
        add(&pot->used, used);
    }
    serve(claim->pot);
}

// --- Splitting off ---

// What is left of one that has a limit.
static int64_t room_of(int64_t max, int64_t used, int64_t claimed)
{
    int64_t taken = sum(used, claimed);
    return max == 0 ? INT64_MAX : max > taken ? max - taken : 0;
}

// Who says nothing leaves as much as it takes; where there is no limit there is none.
static int64_t share_of(int64_t room, int64_t asked)
{
    return asked > 0 || room == INT64_MAX ? asked : room / 2;
}

static cdr_amount amount_of(const cadre_budget *budget)
{
    return (cdr_amount){budget->max_tokens, budget->max_cost_usd_micros};
}

const cdr_pot *cdr_pot_split_locked(cdr_pot *innermost, const cadre_budget *asked,
                                    cadre_budget *out)
{
    int64_t tokens = INT64_MAX, money = INT64_MAX;
    *out = *asked;
    for (const cdr_pot *pot = innermost; pot != NULL; pot = pot->up) {
        int64_t of_tokens =
            room_of(pot->max.max_tokens, pot->used.tokens, pot->claimed.tokens);
        int64_t of_money = room_of(pot->max.max_cost_usd_micros, pot->used.usd_micros,
                                   pot->claimed.usd_micros);
        if (of_tokens < 2 || of_money < 2 || asked->max_tokens > of_tokens ||
            asked->max_cost_usd_micros > of_money)
            return pot;
        tokens = of_tokens < tokens ? of_tokens : tokens;
        money = of_money < money ? of_money : money;
    }
    out->max_tokens = share_of(tokens, asked->max_tokens);
    out->max_cost_usd_micros = share_of(money, asked->max_cost_usd_micros);
    cdr_pot_pay_locked(innermost, amount_of(out));
    return NULL;
}

void cdr_pot_give_back_locked(cdr_pot *innermost, const cadre_budget *split)
{
    for (cdr_pot *pot = innermost; pot != NULL; pot = pot->up)
        subtract(&pot->used, amount_of(split));
    serve(innermost);
}

// --- Saying ---

enum {
    MAX_PLACE = 96
};

static const char *place_of(const cdr_pot *pot, char place[MAX_PLACE])
{
    static const char *const places[] = {"budget", "the run's budget",
                                         "the call's budget"};
    if (pot->kind != CDR_POT_AGENT)
        return places[pot->kind];
    (void)snprintf(place, MAX_PLACE, "agents.%s.budget", pot->owner->agent->info.name);
    return place;
}

static cadre_status fail_claim(const cdr_claim *claim, const cadre_frame *frame,
                               cadre_error *err)
{
    char place[MAX_PLACE];
    char max[CDR_DOLLARS_TEXT_SIZE], used[CDR_DOLLARS_TEXT_SIZE],
        least[CDR_DOLLARS_TEXT_SIZE];
    const cdr_pot *pot = claim->at;
    if (is_over(pot->max.max_tokens, pot->used.tokens, claim->least.tokens))
        return cadre_fail_class(
            err, CADRE_ELIMIT, CADRE_CLASS_BUDGET, false,
            "agent '%s': %s.max_tokens of %" PRId64 " is used up: %" PRId64
            " are used, and the next call takes %" PRId64 " or more",
            frame->agent->info.name, place_of(pot, place), pot->max.max_tokens,
            pot->used.tokens, claim->least.tokens);
    return cadre_fail_class(err, CADRE_ELIMIT, CADRE_CLASS_BUDGET, false,
                            "agent '%s': %s.max_cost of %s is used up: %s is used, and "
                            "the next call costs %s or more",
                            frame->agent->info.name, place_of(pot, place),
                            cdr_dollars_text(pot->max.max_cost_usd_micros, max),
                            cdr_dollars_text(pot->used.usd_micros, used),
                            cdr_dollars_text(claim->least.usd_micros, least));
}

cadre_status cdr_claim_fail_locked(const cdr_claim *claim, const cadre_frame *frame,
                                   cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_error why = CADRE_ERROR_INIT;
    fail_claim(claim, frame, &why);
    cadre_id_text(cdr_frame_nearest_agent(frame)->id, id);
    if (claim->at->refusal == NULL)
        claim->at->refusal = cdr_failure_new(&why, frame->agent->info.name, id);
    return cadre_fail_class(err, why.status, why.error_class, why.retryable, "%s",
                            why.text);
}

cadre_status cdr_pot_fail_split(const cdr_pot *pot, const cadre_frame *frame,
                                cadre_error *err)
{
    char place[MAX_PLACE];
    return cadre_fail_class(err, CADRE_ELIMIT, CADRE_CLASS_BUDGET, false,
                            "agent '%s': %s has not so much left for a run in the "
                            "background",
                            frame->agent->info.name, place_of(pot, place));
}

cdr_failure *cdr_pots_refusal_locked(const cadre_frame *frame, bool is_own_only)
{
    const cdr_pot *pot = frame->pot;
    while (pot != NULL && pot->refusal == NULL && (!is_own_only || is_own(pot, frame)))
        pot = pot->up;
    if (pot == NULL || (is_own_only && !is_own(pot, frame)))
        return NULL;
    return pot->refusal;
}

// Of several the shortest time was up.
cadre_status cdr_pots_fail_time(const cadre_frame *late, cadre_error *err)
{
    char place[MAX_PLACE];
    char time[CDR_DURATION_TEXT_SIZE];
    const cdr_pot *shortest = NULL;
    for (const cdr_pot *pot = late->pot; is_own(pot, late); pot = pot->up)
        if (pot->max.max_time_ms > 0 &&
            (shortest == NULL || pot->max.max_time_ms < shortest->max.max_time_ms))
            shortest = pot;
    assert(shortest != NULL);
    return cadre_fail_class(err, CADRE_ETIMEOUT, CADRE_CLASS_BUDGET, false,
                            "agent '%s': %s.max_time of %s is used up", late->name,
                            place_of(shortest, place),
                            cdr_duration_text(shortest->max.max_time_ms, time));
}
