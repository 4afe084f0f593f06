// The case folders: shared fixtures, a folder a case (tests/cases, or the folder that
// the variable CADRE_CASES names).
//
// Running out of memory ends the program. Thread: any.
#ifndef SUPPORT_CASE_FILES_H
#define SUPPORT_CASE_FILES_H

#include <stddef.h>

#define CASE_PATH_BYTES 1024

// Writes the path of a case's folder ("w01-crlf-split") to `out`. Returns `out`.
const char *case_folder(const char *name, char out[CASE_PATH_BYTES]);

// Calls `check` for each case folder, in the order of their names. Returns how many.
int case_files_each(void (*check)(void *ctx, const char *folder), void *ctx);

// Reads a file of a folder; a NUL follows its bytes. `len` may be NULL. Returns NULL
// when there is no such file; free() it.
char *case_file_read(const char *folder, const char *name, size_t *len);

// Reads the sizes in chunks.txt. Returns their number, 0 when there are none.
size_t case_chunks_read(const char *folder, size_t *sizes, size_t max);

#endif
