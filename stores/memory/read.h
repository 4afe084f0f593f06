// Reading: the queries of ext/store.h, on a picture taken under the locks and given to
// the reader without any.
//
// Thread: any.
#ifndef CDR_MEMORY_READ_H
#define CDR_MEMORY_READ_H

#include "shelf.h"

// Errors: ESTORE (no memory), and what the reader returns.
cadre_status cdr_memory_read(cdr_memory_store *store, const cadre_query *query,
                             const cadre_store_reader *reader, cadre_error *err);

#endif
