// Files of a user's message, as they are kept with it; see cadre/file.h.
//
// Thread: any.
#ifndef CDR_PARTS_H
#define CDR_PARTS_H

#include "cadre/file.h"

// Makes the list that cadre_message.parts is; free() it, "" for no files. Errors:
// EINVAL (too large; of no kind that models take; data and url, or neither), ENOMEM.
cadre_status cdr_parts_make(const cadre_file *files, size_t n_files, char **out,
                            cadre_error *err);

#endif
