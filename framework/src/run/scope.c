// See scope.h.
#include "run/scope.h"

#include "base/brief.h"
#include "run/arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cdr_seen {
    size_t record; // its number + 1; 0: free
    int count;
};

static int limit_or(int given, int standard)
{
    return given == 0 ? standard : given;
}

cadre_status cdr_scope_check(const cadre_scope *scope, const cadre_frame *frame,
                             cadre_error *err)
{
    const cadre_transfer_limits *limits = &scope->limits;
    const struct {
        const char *name;
        int value;
    } checked[] = {
        {"cadre_scope.limits.max_handoffs", limits->max_handoffs},
        {"cadre_scope.limits.window", limits->window},
        {"cadre_scope.limits.min_unique", limits->min_unique},
        {"cadre_scope.limits.repeat", limits->repeat},
    };
    if (scope->struct_size < sizeof(cadre_scope))
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': a transfer scope was made without CADRE_SCOPE",
                          frame->name);
    cadre_status status =
        cdr_check_array((cdr_argument){frame->name, "cadre_scope.roster"},
                        scope->roster.items, scope->roster.count, err);
    for (size_t i = 0; i < sizeof checked / sizeof checked[0] && status == CADRE_OK;
         i++)
        status = cdr_check_limit((cdr_argument){frame->name, checked[i].name},
                                 checked[i].value, err);
    if (status != CADRE_OK)
        return status;
    return cdr_check_time(
        (cdr_argument){frame->name, "cadre_scope.limits.node_timeout_ms"},
        limits->node_timeout_ms, err);
}

cdr_scope_state *cdr_scope_new(const cadre_scope *scope, const cadre_team *team,
                               cadre_error *err)
{
    cdr_scope_state *state = calloc(1, sizeof *state);
    int *in_window = calloc(team->n_agents + 1, sizeof *in_window);
    if (state == NULL || in_window == NULL) {
        free(state);
        free(in_window);
        cadre_fail(err, CADRE_ENOMEM, "no memory for a transfer scope");
        return NULL;
    }
    int members = scope->roster.count < 3 ? (int)scope->roster.count : 3;
    state->scope = scope;
    state->in_window = in_window;
    state->limits = scope->limits;
    state->limits.max_handoffs = limit_or(scope->limits.max_handoffs, 20);
    state->limits.window = limit_or(scope->limits.window, 8);
    state->limits.min_unique = limit_or(scope->limits.min_unique, members);
    state->limits.repeat = limit_or(scope->limits.repeat, 3);
    return state;
}

void cdr_scope_free(cdr_scope_state *state)
{
    if (state == NULL)
        return;
    for (size_t i = 0; i < state->n_records; i++)
        free((void *)(uintptr_t)state->records[i].message);
    free(state->records);
    free(state->seen);
    free(state->in_window);
    free(state);
}

cadre_edge cdr_scope_edge(const cdr_scope_state *state, const cadre_agent *from,
                          const cadre_agent *to)
{
    const cadre_scope *scope = state->scope;
    if (from == to)
        return (cadre_edge){false, CADRE_HISTORY_DEFAULT};
    if (scope->edge == NULL)
        return (cadre_edge){true, CADRE_HISTORY_DEFAULT};
    return scope->edge(scope->edge_ctx, from, to);
}

// --- Names as models write them ---

static bool is_ornament(char c)
{
    return isspace((unsigned char)c) || c == '"' || c == '\'' || c == '`';
}

// The same letter, where models write names with blanks, dashes and capitals.
static bool is_same_letter(char written, char c)
{
    if (written == ' ' || written == '-')
        return c == '_';
    return tolower((unsigned char)written) == c;
}

static bool means(const char *written, const char *name)
{
    size_t len = strlen(written);
    while (is_ornament(written[0])) {
        written++;
        len--;
    }
    while (len > 0 && is_ornament(written[len - 1]))
        len--;
    size_t i = 0;
    while (i < len && name[i] != '\0' && is_same_letter(written[i], name[i]))
        i++;
    return i == len && name[i] == '\0';
}

const cadre_agent *cdr_scope_find(const cdr_scope_state *state, const char *name)
{
    cadre_agents roster = state->scope->roster;
    for (size_t i = 0; i < roster.count; i++)
        if (means(name, roster.items[i]->info.name))
            return roster.items[i];
    return NULL;
}

bool cdr_scope_has(const cdr_scope_state *state, const cadre_agent *agent)
{
    cadre_agents roster = state->scope->roster;
    for (size_t i = 0; i < roster.count; i++)
        if (roster.items[i] == agent)
            return true;
    return false;
}

// Lists the names `from` may hand over to, as many as fit: "billing, refunds, ...".
static void list_targets(const cdr_scope_state *state, const cadre_agent *from,
                         char *text, size_t size)
{
    cadre_agents roster = state->scope->roster;
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < roster.count; i++) {
        const char *name = roster.items[i]->info.name;
        if (!cdr_scope_edge(state, from, roster.items[i]).allowed)
            continue;
        bool fits = len + strlen(name) + sizeof ", , ..." < size;
        len += (size_t)snprintf(text + len, size - len, "%s%s", len == 0 ? "" : ", ",
                                fits ? name : "...");
        if (!fits)
            return;
    }
}

// --- Counting ---

static uint64_t hash_transfer(const cadre_transfer_record *record)
{
    uint64_t hash = (uint64_t)record->from->index * 0x9E3779B97F4A7C15u;
    hash ^= (uint64_t)record->to->index * 0xC2B2AE3D27D4EB4Fu;
    for (const char *c = record->message; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    return hash ^ (hash >> 29);
}

static bool same_transfer(const cadre_transfer_record *a,
                          const cadre_transfer_record *b)
{
    return a->from == b->from && a->to == b->to && strcmp(a->message, b->message) == 0;
}

static struct cdr_seen *seen_slot(const cdr_scope_state *state,
                                  const cadre_transfer_record *record)
{
    size_t mask = state->seen_capacity - 1;
    size_t at = (size_t)hash_transfer(record) & mask;
    while (state->seen[at].record != 0 &&
           !same_transfer(&state->records[state->seen[at].record - 1], record))
        at = (at + 1) & mask;
    return &state->seen[at];
}

static bool grow_seen(cdr_scope_state *state)
{
    struct cdr_seen *old = state->seen;
    size_t n_old = state->seen_capacity;
    size_t capacity = n_old == 0 ? 32 : n_old * 2;
    struct cdr_seen *grown = calloc(capacity, sizeof *grown);
    if (grown == NULL)
        return false;
    state->seen = grown;
    state->seen_capacity = capacity;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].record != 0)
            *seen_slot(state, &state->records[old[i].record - 1]) = old[i];
    free(old);
    return true;
}

static bool grow_records(cdr_scope_state *state)
{
    if (state->n_records < state->capacity)
        return true;
    size_t capacity = state->capacity == 0 ? 16 : state->capacity * 2;
    void *grown = realloc(state->records, capacity * sizeof *state->records);
    if (grown == NULL)
        return false;
    state->records = grown;
    state->capacity = capacity;
    return true;
}

static void slide_window(cdr_scope_state *state)
{
    size_t n = state->n_records;
    size_t window = (size_t)state->limits.window;
    if (state->in_window[state->records[n - 1].to->index]++ == 0)
        state->unique++;
    if (n > window && --state->in_window[state->records[n - 1 - window].to->index] == 0)
        state->unique--;
}

// Adds the transfer that is asked for. `repeats`: how often it was, with this time.
static bool count_transfer(cdr_scope_state *state, const cadre_transfer_record *next,
                           int *repeats)
{
    if (!grow_records(state))
        return false;
    if (2 * (state->n_seen + 1) > state->seen_capacity && !grow_seen(state))
        return false;
    char *message = strdup(next->message);
    if (message == NULL)
        return false;
    state->records[state->n_records] = *next;
    state->records[state->n_records].message = message;
    state->n_records++;
    struct cdr_seen *slot = seen_slot(state, next);
    if (slot->record == 0) {
        slot->record = state->n_records;
        state->n_seen++;
    }
    *repeats = ++slot->count;
    if (state->limits.window != CADRE_UNLIMITED)
        slide_window(state);
    return true;
}

// --- The standard controller ---

static bool hits_rule(const cdr_scope_state *state, const cadre_transfer_record *next,
                      int repeats, cadre_decision *decision)
{
    const cadre_transfer_limits *limits = &state->limits;
    size_t asked = state->n_records;
    if (limits->max_handoffs != CADRE_UNLIMITED &&
        asked > (size_t)limits->max_handoffs) {
        decision->stop_reason = CADRE_STOP_MAX_HANDOFFS;
        snprintf(decision->reason, sizeof decision->reason,
                 "the limit of %d handoffs (max_handoffs) is reached",
                 limits->max_handoffs);
        return true;
    }
    decision->stop_reason = CADRE_STOP_LOOP;
    if (limits->repeat != CADRE_UNLIMITED && repeats >= limits->repeat) {
        snprintf(decision->reason, sizeof decision->reason,
                 "'%s' asked %d times for '%s' with the same message (repeat)",
                 next->from->info.name, repeats, next->to->info.name);
        return true;
    }
    if (limits->window != CADRE_UNLIMITED && limits->min_unique != CADRE_UNLIMITED &&
        asked >= (size_t)limits->window && state->unique < limits->min_unique) {
        snprintf(decision->reason, sizeof decision->reason,
                 "the last %d handoffs went to only %d agents (window)", limits->window,
                 state->unique);
        return true;
    }
    return false;
}

static void ask_controllers(cdr_scope_state *state, const cadre_transfer_record *next,
                            int repeats, cadre_decision *decision)
{
    const cadre_scope *scope = state->scope;
    decision->verdict = CADRE_VERDICT_ALLOW;
    decision->timeout_ms = state->limits.node_timeout_ms;
    if (hits_rule(state, next, repeats, decision)) {
        decision->verdict =
            state->n_hits++ == 0 ? CADRE_VERDICT_REFUSE : CADRE_VERDICT_STOP;
        return;
    }
    cadre_transfers before = {state->records, state->n_records - 1};
    if (scope->controller != NULL)
        scope->controller(scope->controller_ctx, &before, next, decision);
}

static void conclude(cdr_scope_state *state, const cadre_decision *verdict,
                     cdr_transfer_decision *decision)
{
    const char *to = decision->to->info.name;
    switch (verdict->verdict) {
    case CADRE_VERDICT_ALLOW:
        decision->kind = CDR_TRANSFER_DONE;
        decision->timeout_ms = verdict->timeout_ms;
        state->records[state->n_records - 1].done = true;
        snprintf(decision->text, sizeof decision->text,
                 "Handed over to %s, who answers from here.", to);
        return;
    case CADRE_VERDICT_REFUSE:
        decision->kind = CDR_TRANSFER_REFUSED;
        snprintf(decision->text, sizeof decision->text,
                 "Not handed over to %s: %s. Answer yourself, or finish differently.",
                 to, verdict->reason);
        return;
    case CADRE_VERDICT_STOP:
        decision->kind = CDR_TRANSFER_STOP;
        decision->stop_reason = verdict->stop_reason == CADRE_STOP_NONE
                                    ? CADRE_STOP_LOOP
                                    : verdict->stop_reason;
        snprintf(decision->text, sizeof decision->text, "%s", verdict->reason);
        return;
    }
}

static void explain_no_edge(const cdr_scope_state *state, const cadre_agent *from,
                            const char *target, cdr_transfer_decision *decision)
{
    char targets[CDR_DECISION_SIZE - 160];
    char brief[CDR_BRIEF_SIZE];
    list_targets(state, from, targets, sizeof targets);
    const char *others = targets[0] == '\0' ? "none" : targets;
    if (decision->kind == CDR_TRANSFER_SELF)
        snprintf(decision->text, sizeof decision->text,
                 "You are %s already; answer yourself. Other agents: %s.",
                 cdr_brief_text(brief, target, '\''), others);
    else
        snprintf(decision->text, sizeof decision->text,
                 "There is no agent %s to hand over to from here. Agents: %s.",
                 cdr_brief_text(brief, target, '\''), others);
}

cadre_status cdr_scope_decide(cdr_scope_state *state, const cadre_agent *from,
                              const char *target, const char *message,
                              cdr_transfer_decision *decision, cadre_error *err)
{
    memset(decision, 0, sizeof *decision);
    const cadre_agent *to = cdr_scope_find(state, target);
    cadre_edge edge = to == NULL ? (cadre_edge){false, CADRE_HISTORY_DEFAULT}
                                 : cdr_scope_edge(state, from, to);
    decision->to = to;
    decision->history = edge.history;
    if (!edge.allowed) {
        decision->kind = to == from ? CDR_TRANSFER_SELF : CDR_TRANSFER_UNKNOWN;
        explain_no_edge(state, from, target, decision);
        return CADRE_OK;
    }
    cadre_transfer_record next = {from, to, message == NULL ? "" : message, false};
    cadre_decision verdict = {0};
    int repeats = 0;
    if (!count_transfer(state, &next, &repeats))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a transfer");
    ask_controllers(state, &next, repeats, &verdict);
    conclude(state, &verdict, decision);
    return CADRE_OK;
}
