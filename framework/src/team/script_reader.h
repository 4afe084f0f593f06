// Reading a script file: what script_read.c and script_recording.c share.
//
// Thread: one at a time.
#ifndef CDR_SCRIPT_READER_H
#define CDR_SCRIPT_READER_H

#include "team/script.h"

typedef struct cdr_script_reader {
    cadre_script *script;
    cdr_document *document;
    cdr_problems *problems;
    const char *file; // lives as long as the problems
    json_t *flawed;   // "agents.triage[0]" and the like: told already; owned
} cdr_script_reader;

static inline void cdr_script_no_memory(cdr_script_reader *reader)
{
    reader->problems->no_memory = true;
}

static inline cdr_at cdr_script_at(const cdr_script_reader *reader, cdr_place place,
                                   const char *path)
{
    return (cdr_at){reader->file, place.line, place.column, path};
}

// Adds what a recording has for one call; the caller fills the rest in. `source` has
// `at`; `kind`, `name`, `nth`, `at` and `source` of `what` count. NULL: told.
// Borrowed until the next one is added.
cdr_recorded *cdr_script_add_recorded(cdr_script_reader *reader,
                                      const cdr_recorded *what);

// Reads the sections that only recordings have, then puts all of it in order: steps and
// results must have been added.
void cdr_script_read_recording(cdr_script_reader *reader);

#endif
