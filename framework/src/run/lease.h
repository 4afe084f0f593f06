// The lease of a trace: one run in one process holds it; a holder that died is taken
// over.
//
// A holder is named "boot/pid namespace/time namespace/pid/start/host/run", so that a
// process of the same place can tell whether it is still there; the host is for people.
// Such a holder has its lease for as long as it lives, and in doubt it lives; one from
// elsewhere, and one that was halted by a signal, has it as long as the store says
// (the watch renews it). Thread: any.
#ifndef CDR_LEASE_H
#define CDR_LEASE_H

#include "tree/tree.h"

typedef char cdr_holder_name[256];

// Names this run as the holder of a trace that it is about to make.
cadre_status cdr_lease_hold_new(cdr_tree *tree, cadre_error *err);

// Takes the lease of the tree's trace, also from a holder that is dead or of a run that
// has ended. Errors: EBUSY naming the holder, ENOTFOUND, ESTORE.
cadre_status cdr_lease_take(cdr_tree *tree, cadre_error *err);

// Gives it back; a failure leaves it to its time.
void cdr_lease_give_back(cdr_tree *tree);

// The same for who makes no tree; `name` is filled in.
cadre_status cdr_lease_take_as(cadre_runtime *runtime, cadre_id trace,
                               cdr_holder_name name, int64_t *epoch, cadre_error *err);
void cdr_lease_give_back_as(cadre_runtime *runtime, cadre_id trace, const char *name);

// Does somebody hold it who may be alive?
bool cdr_lease_is_held(const cadre_trace_row *row);

#endif
