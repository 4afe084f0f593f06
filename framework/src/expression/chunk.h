// Scripts that define functions, as files of hooks do: which ones, and names in them
// that nothing has. Found by a look at the words; nothing runs.
//
// Thread: any.
#ifndef CDR_CHUNK_H
#define CDR_CHUNK_H

#include "expression/names.h"

// Looks at a script whose syntax is right. `*functions` gets an object (new reference):
// the names of the functions that it defines outside of all others; true, or false for
// a local one, which its caller cannot see. Errors: CADRE_EINVAL for a name that is
// neither given, nor of the library, nor made anywhere in the script, with its line;
// CADRE_ENOMEM.
cadre_status cdr_chunk_read(const cdr_script *script, const cdr_sandbox_names *names,
                            json_t **functions, cadre_error *err);

#endif
