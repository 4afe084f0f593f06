// See lease.h.
#include "lease.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Makes the trace's lease that of `owner`, who is not who has it.
static cadre_status change_owner_locked(cdr_memory_trace *trace, const char *owner,
                                        cadre_error *err)
{
    char *copy = strdup(owner);
    if (!copy)
        return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
    free(trace->lease_owner);
    trace->lease_owner = copy;
    trace->row.lease_epoch++;
    return CADRE_OK;
}

static cadre_status lease_locked(cdr_memory_trace *trace, const cadre_lease *wanted,
                                 cadre_error *err)
{
    cadre_trace_row *row = &trace->row;
    const char *owner = trace->lease_owner;
    int64_t now = now_ms();
    bool is_own = owner && strcmp(owner, wanted->owner) == 0;
    bool is_free = !owner || row->lease_expires_at <= now;
    bool gives_back = wanted->seconds <= 0;
    bool is_gone = owner && wanted->from && strcmp(owner, wanted->from) == 0;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(trace->id, id);
    if (!is_own && wanted->only_renew)
        return cadre_fail(err, CADRE_ELOST, "trace '%s': the lease is not held", id);
    if (!is_own && !is_free && (gives_back || !is_gone)) {
        return cadre_fail(err, CADRE_EBUSY,
                          "trace '%s' is held by '%.100s' for %lld ms more", id, owner,
                          (long long)(row->lease_expires_at - now));
    }
    if (gives_back) {
        if (is_own) {
            free(trace->lease_owner);
            trace->lease_owner = NULL;
            row->lease_expires_at = 0;
        }
        return CADRE_OK;
    }
    cadre_status status =
        is_own ? CADRE_OK : change_owner_locked(trace, wanted->owner, err);
    if (status == CADRE_OK)
        row->lease_expires_at = now + (int64_t)wanted->seconds * 1000;
    return status;
}

cadre_status cdr_memory_lease(cdr_memory_store *store, const cadre_lease *wanted,
                              int64_t *epoch, cadre_error *err)
{
    enum {
        OWNER_MAX = 255
    };
    cdr_memory_trace_shelf *shelf = cdr_memory_shelf_of_trace(store, wanted->trace);
    size_t len = wanted->owner ? strlen(wanted->owner) : 0;
    uint32_t number;
    cadre_status status = CADRE_ENOTFOUND;
    if (len == 0 || len > OWNER_MAX)
        return cadre_fail(err, CADRE_EINVAL,
                          "a lease needs an owner of 1 to %d bytes, not %zu", OWNER_MAX,
                          len);
    pthread_mutex_lock(&shelf->mu);
    cdr_memory_trace *trace =
        cdr_memory_find_trace_locked(shelf, wanted->trace, &number);
    if (trace && trace->is_born) {
        status = lease_locked(trace, wanted, err);
        if (status == CADRE_OK)
            *epoch = trace->row.lease_epoch;
    }
    pthread_mutex_unlock(&shelf->mu);
    if (status != CADRE_ENOTFOUND)
        return status;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(wanted->trace, id);
    return cadre_fail(err, CADRE_ENOTFOUND, "trace '%s' is not in the store", id);
}
