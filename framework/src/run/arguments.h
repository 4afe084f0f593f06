// Arguments at the public doors: what is NULL, out of range or no text is refused with
// its name and value.
//
// Thread: any.
#ifndef CDR_ARGUMENTS_H
#define CDR_ARGUMENTS_H

#include "cadre/agent.h"

#include <stdint.h>

// EINVAL: `function`, of the public interface, was given a NULL it has no use for.
cadre_status cdr_fail_null(cadre_error *err, const char *function);

// What is looked at: "cadre_call.timeout_ms", and in which frame; NULL: in none.
typedef struct cdr_argument {
    const char *frame;
    const char *name;
} cdr_argument;

// May `ms` be a time, of which 0 is none?
cadre_status cdr_check_time(cdr_argument what, int64_t ms, cadre_error *err);

// May all of the budget be limits, of which 0 is none?
cadre_status cdr_check_budget(cdr_argument what, const cadre_budget *budget,
                              cadre_error *err);

// May `limit` be one, of which 0 is the default and CADRE_UNLIMITED is none?
cadre_status cdr_check_limit(cdr_argument what, int limit, cadre_error *err);

// Is the text UTF-8? NULL is.
cadre_status cdr_check_text(cdr_argument what, const char *text, cadre_error *err);

// Is the key the caller's to give? Some are the framework's own. NULL is.
cadre_status cdr_check_key(const char *frame, const char *key, cadre_error *err);

// Does the array of `count` things exist?
cadre_status cdr_check_array(cdr_argument what, const void *items, size_t count,
                             cadre_error *err);

#endif
