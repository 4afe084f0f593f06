// The lease of a trace: one process holds a run; a holder that died is taken over.
//
// Who holds is named by host, boot, process and its start, so that a process of the
// same host can tell whether the holder is still there. Thread: any.
#ifndef CDR_LEASE_H
#define CDR_LEASE_H

#include "team/runtime.h"

#define CDR_LEASE_OWNER_SIZE 200

// Writes the name of this process as a holder.
void cdr_lease_owner(cadre_runtime *runtime, char owner[CDR_LEASE_OWNER_SIZE]);

// Takes the lease of a trace, also from a holder of this host that is dead. Errors:
// EBUSY naming the holder, ENOTFOUND, ESTORE.
cadre_status cdr_lease_take(cadre_runtime *runtime, cadre_id trace, int64_t *epoch,
                            cadre_error *err);

// Gives it back when the run has ended; a failure leaves it to its time.
void cdr_lease_give_back(cadre_runtime *runtime, cadre_id trace);

#endif
