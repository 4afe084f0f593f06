// What others wrote to traces, as copies: live frames that are marked, and inboxes.
//
// Thread: any; takes the locks of the shelves, one after the other, and lets them go
// before the reader is called.
#ifndef CDR_MEMORY_POSTED_H
#define CDR_MEMORY_POSTED_H

#include "shelf.h"

// See CADRE_QUERY_POSTED. Of a frame only id, trace and mark are given. Errors: ESTORE
// (no memory), and what the reader returns.
cadre_status cdr_memory_posted_read(cdr_memory_store *store,
                                    const cadre_store_reader *reader, cadre_error *err);

#endif
