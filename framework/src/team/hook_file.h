// Files of hooks: Lua that a team file names, read and compiled once, when it is
// loaded.
//
// What the hooks of a file are given and may do is in run/lua_hook.h.
// Thread: loading is one thread's; afterwards any.
#ifndef CDR_HOOK_FILE_H
#define CDR_HOOK_FILE_H

#include "expression/sandbox_pool.h"

#define CDR_N_HOOKS 6
#define CDR_HOOK_FILE_MAX_BYTES ((size_t)1024 * 1024)

// "create", ..., "next": by cdr_hook_place.
extern const char *const cdr_hook_names[CDR_N_HOOKS];

typedef struct cdr_hook_file {
    char *path;  // as it is reached from here
    char *where; // as the team file writes it; for errors
    char *text;
    size_t len;
    json_t *functions; // as cdr_chunk_read gives them; NULL: it cannot be used
    cdr_sandbox_pool pool;
} cdr_hook_file;

// The files of an agent's hooks, or the team's; NULL: no such hook. Borrowed.
typedef struct cdr_hook_set {
    cdr_hook_file *files[CDR_N_HOOKS];
} cdr_hook_set;

// Reads and compiles a file. `*out` is there also when it cannot be used, so that it is
// told once; NULL after ENOMEM. Errors: EIO (it cannot be read), EINVAL (too large, a
// mistake of syntax, an unknown name: "WHERE:N: MESSAGE"), ENOMEM.
cadre_status cdr_hook_file_open(const char *path, const char *where,
                                cdr_hook_file **out, cadre_error *err);
void cdr_hook_file_close(cdr_hook_file *file);

// Does it define that function? Errors: EINVAL, with those that it does define.
cadre_status cdr_hook_file_check(const cdr_hook_file *file, const char *function,
                                 cadre_error *err);

// Is the name in the text, as a word of its own? Who reads it may then be called.
bool cdr_hook_file_mentions(const cdr_hook_file *file, const char *name);

#endif
