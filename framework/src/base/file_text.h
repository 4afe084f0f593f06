// The bytes of a file that a person wrote, read at once.
//
// Thread: any.
#ifndef CDR_FILE_TEXT_H
#define CDR_FILE_TEXT_H

#include "cadre/error.h"

// Reads at most `max` bytes, from a pipe too; a NUL that `*len` does not count follows
// them. The caller frees `*out`. Errors: EIO of class config, "cannot read 'PATH':
// WHY"; ENOMEM.
cadre_status cdr_file_text_read(const char *path, size_t max, char **out, size_t *len,
                                cadre_error *err);

#endif
