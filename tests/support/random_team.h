// A random team from one seed: a tree of all topologies over llm agents and functions,
// with tools, options, times and state of all kinds.
//
// A calm team has nothing whose end depends on who is faster, or on what was in flight
// at a cut: no any or race, no times, no tool that may not run again. So what is
// recorded of it in the end is the same, whatever was cut.
//
// Thread: plain data.
#ifndef SUPPORT_RANDOM_TEAM_H
#define SUPPORT_RANDOM_TEAM_H

#include "support/dice.h"

#include "cadre/cadre.h"

enum {
    RANDOM_MAX_AGENTS = 16,
    RANDOM_MAX_MEMBERS = 6
};

typedef struct random_agent {
    char name[24];
    const char *type; // "llm", "function" or a topology
    const char *output_key;
    char own_key[32]; // what that points to, where nobody else has the key
    char *options;    // of a topology; free() it
    int members[RANDOM_MAX_MEMBERS];
    int n_members;
    int handoffs[RANDOM_MAX_MEMBERS];
    int n_handoffs;
    int peers[RANDOM_MAX_MEMBERS]; // whom it could hand over to
    int n_peers;
    const char *tools[4];
    int n_tools;
    int fallback;  // -1: none
    int max_turns; // 0: the default
    int attempts;
    int64_t timeout_ms;
    bool is_quiet, is_shared; // is_shared: it is a member more than once
} random_agent;

typedef struct random_team {
    uint64_t seed;
    bool is_calm;
    bool has_quiet; // agents or calls
    bool has_hooks;
    random_agent agents[RANDOM_MAX_AGENTS]; // the first is the root
    int n_agents;
} random_team;

void random_team_init(random_team *plan, uint64_t seed, bool is_calm);
void random_team_fini(random_team *plan);

// What the team looks like, for who reads of a failure. free() it.
char *random_team_text(const random_team *plan);

// The index of that agent; -1: there is none.
int random_team_find(const random_team *plan, const char *name);

#endif
