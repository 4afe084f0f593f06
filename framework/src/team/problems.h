// The mistakes of a team: gathered while it is read and sealed, told all at once.
//
// They are told in the order of the file, those of one file together; those without a
// place keep the order in which they were found. A mistake is told once.
//
// Thread: one at a time.
#ifndef CDR_PROBLEMS_H
#define CDR_PROBLEMS_H

#include "cadre/agent.h"

#include "base/arena.h"

// Where something was written.
typedef struct cdr_at {
    const char *file; // NULL: in C. Compared by identity.
    int line, column; // 0: unknown
    const char *path; // "agents.triage.handoffs[1]"; "" or NULL: nothing to say
} cdr_at;

typedef struct cdr_problem {
    const char *text; // "team.yaml:12:7: agents.triage.handoffs[1]: unknown agent ..."
    const char *file;
    int line, column;
    size_t order; // in which it was found
    size_t group; // of its file: where that was first found
} cdr_problem;

typedef struct cdr_problems {
    cdr_arena *arena; // holds the texts
    cdr_problem *items;
    size_t count;
    bool no_memory;     // at least one is lost
    bool is_unreadable; // a file is not there, or cannot be read
    int n_suggestions;  // made so far; they are dear, so only the first get one
} cdr_problems;

void cdr_problems_add(cdr_problems *problems, const cdr_at *at, const char *format, ...)
    CADRE_PRINTF(3, 4);
void cdr_problems_vadd(cdr_problems *problems, const cdr_at *at, const char *format,
                       va_list args) CADRE_PRINTF(3, 0);

// Adds `unknown <what> '<name>'; did you mean 'x'? (<what>s: x, y)`.
void cdr_problems_add_unknown(cdr_problems *problems, const cdr_at *at,
                              const char *what, const char *name, cadre_names known);

// Sorts and drops repetitions.
void cdr_problems_sort(cdr_problems *problems);

// Reports the first: ECONFIG, ENOMEM when memory ran out; CADRE_OK when there is none.
cadre_status cdr_problems_status(const cdr_problems *problems, cadre_error *err);

#endif
