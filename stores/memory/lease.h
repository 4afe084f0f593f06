// Leases: who writes a trace.
//
// Thread: any.
#ifndef CDR_MEMORY_LEASE_H
#define CDR_MEMORY_LEASE_H

#include "shelf.h"

// As the op of ext/store.h. Errors: EBUSY, ENOTFOUND, EINVAL, ESTORE.
cadre_status cdr_memory_lease(cdr_memory_store *store, const cadre_lease *wanted,
                              int64_t *epoch, cadre_error *err);

#endif
