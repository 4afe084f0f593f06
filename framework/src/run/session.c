// See session.h.
#include "run/session.h"

#include <search.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

cadre_status cdr_session_claim(cadre_runtime *runtime, const char *name,
                               cadre_error *err)
{
    cdr_mutex_lock(&runtime->mu);
    const char *const *found = tsearch(name, &runtime->sessions, compare);
    bool is_ours = found != NULL && *found == name;
    cdr_mutex_unlock(&runtime->mu);
    if (found == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a session");
    if (!is_ours)
        return cadre_fail(err, CADRE_EBUSY,
                          "session '%s': another run goes on with it; wait for its end",
                          name);
    return CADRE_OK;
}

void cdr_session_release(cadre_runtime *runtime, const char *name)
{
    cdr_mutex_lock(&runtime->mu);
    (void)tdelete(name, &runtime->sessions, compare);
    cdr_mutex_unlock(&runtime->mu);
}
