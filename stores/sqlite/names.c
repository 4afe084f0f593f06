// See names.h.
#include "names.h"

#include <string.h>

static const char *status_name(int i)
{
    return cadre_frame_status_name((cadre_frame_status)i);
}

static const char *stop_name(int i)
{
    return cadre_stop_reason_name((cadre_stop_reason)i);
}

static const char *role_name(int i)
{
    return cadre_role_name((cadre_role)i);
}

static const char *code_name(int i)
{
    return cadre_result_code_name((cadre_result_code)i);
}

// The framework has as many words as it has: the first that is none ends the search.
static int find(const char *(*name_of)(int), const char *name)
{
    for (int i = 0;; i++) {
        const char *word = name_of(i);
        if (!word || strcmp(word, "unknown") == 0)
            return 0;
        if (strcmp(word, name) == 0)
            return i;
    }
}

cadre_frame_status cdr_sqlite_frame_status(const char *name)
{
    return (cadre_frame_status)find(status_name, name);
}

cadre_stop_reason cdr_sqlite_stop_reason(const char *name)
{
    return (cadre_stop_reason)find(stop_name, name);
}

cadre_role cdr_sqlite_role(const char *name)
{
    return (cadre_role)find(role_name, name);
}

cadre_result_code cdr_sqlite_result_code(const char *name)
{
    return (cadre_result_code)find(code_name, name);
}
