// What must hold of the record of any run that has ended, or that waits for a person,
// whatever was done to it: the invariants of framework/src/tree/tree.h as rows show
// them, and that the conversations are valid.
//
// Thread: any.
#ifndef SUPPORT_RUN_RULES_H
#define SUPPORT_RUN_RULES_H

#include "support/run_rows.h"

typedef struct run_rules {
    bool is_parked;  // else it has ended
    bool may_be_cut; // the store may have failed since it went to rest
    bool has_quiet;  // some frames may be quiet, so they have no seqs of their own
    bool has_hooks;  // which may give the result of a tool that does not run
    // How often a call's tool began its work; NULL: nobody has counted.
    int (*count)(const char *trace, const char *frame);
    // Is that the name of a tool that counts, and may it run again?
    bool (*is_counted)(const char *tool, bool *is_safe);
    // Is that the name of an agent whose branches compete? NULL: none is.
    bool (*has_winner)(const char *agent);
} run_rules;

// Returns how many rules are broken, each of which is printed and fails the test.
int run_rules_check(run_rows *rows, const char *trace, const run_rules *rules);

#endif
