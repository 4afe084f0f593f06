// Names in scripts that nothing has: found when a script is made, as far as a look at
// its words can tell, else when they are read.
//
// Thread: any.
#ifndef CDR_NAMES_H
#define CDR_NAMES_H

#include "expression/scan.h"

#define CDR_NAMES_PROBLEM_SIZE 400

// Writes what is wrong: the name, the nearest one, those that there are.
void cdr_names_problem(char out[CDR_NAMES_PROBLEM_SIZE], const char *name,
                       const cdr_sandbox_names *names);

// Is it one of the given names, or of the library?
bool cdr_names_has(const cdr_token *token, const cdr_sandbox_names *names);

// Fails with what is wrong with it, and where it stands. Returns CADRE_EINVAL.
cadre_status cdr_names_refuse(const cdr_script *script, const cdr_token *token,
                              const cdr_sandbox_names *names, cadre_error *err);

// Checks a script whose syntax is right. One that makes names of its own (local,
// function, for, an assignment) is not checked here. Errors: CADRE_EINVAL with
// the line.
cadre_status cdr_names_check(const cdr_script *script, const cdr_sandbox_names *names,
                             cadre_error *err);

// Is the word `return` in the script, outside of texts and comments?
bool cdr_names_has_return(const cdr_script *script);

// Is there nothing but blanks and comments?
bool cdr_names_is_blank(const cdr_script *script);

#endif
