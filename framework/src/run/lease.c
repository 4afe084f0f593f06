// See lease.h.
#include "run/lease.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LEASE_SECONDS = 60
};

// Reads the first line of a file of the system; "?" when it cannot be read.
static void read_line(const char *path, char *text, size_t size)
{
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, size - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (text[0] == '\0')
        snprintf(text, size, "?");
}

// When a process started, in ticks since boot: field 22 of its stat. 0: it is not
// there.
static unsigned long long start_of(long pid)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_line(path, text, sizeof text);
    // The name of the program stands in brackets and may hold anything.
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? 0 : strtoull(at, NULL, 10);
}

static void this_host(char *text, size_t size)
{
    char name[100];
    char boot[64];
    read_line("/proc/sys/kernel/hostname", name, sizeof name);
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    snprintf(text, size, "%.80s/%.40s", name, boot);
}

// The files of the system are read once for a process, not for each run.
void cdr_lease_owner(cadre_runtime *runtime, char owner[CDR_LEASE_OWNER_SIZE])
{
    char host[140];
    long pid = (long)getpid();
    cdr_mutex_lock(&runtime->mu);
    bool is_known = runtime->holder != NULL && runtime->holder_pid == pid;
    if (is_known)
        snprintf(owner, CDR_LEASE_OWNER_SIZE, "%s", runtime->holder);
    cdr_mutex_unlock(&runtime->mu);
    if (is_known)
        return;
    this_host(host, sizeof host);
    snprintf(owner, CDR_LEASE_OWNER_SIZE, "%s/%ld/%llu", host, pid, start_of(pid));
    cdr_mutex_lock(&runtime->mu);
    free(runtime->holder);
    runtime->holder = strdup(owner);
    runtime->holder_pid = pid;
    cdr_mutex_unlock(&runtime->mu);
}

// Is it a process of this host and boot that is no more? When in doubt it lives.
static bool is_dead(const char *owner)
{
    char host[140];
    char *end = NULL;
    this_host(host, sizeof host);
    size_t len = strlen(host);
    if (strncmp(owner, host, len) != 0 || owner[len] != '/')
        return false;
    long pid = strtol(owner + len + 1, &end, 10);
    if (pid <= 0 || *end != '/')
        return false;
    return start_of(pid) != strtoull(end + 1, NULL, 10);
}

static cadre_status take_owner(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    (void)err;
    snprintf(ctx, CDR_LEASE_OWNER_SIZE, "%s", row->lease_owner);
    return CADRE_OK;
}

cadre_status cdr_lease_take(cadre_runtime *runtime, cadre_id trace, int64_t *epoch,
                            cadre_error *err)
{
    char own[CDR_LEASE_OWNER_SIZE];
    char holder[CDR_LEASE_OWNER_SIZE] = "";
    cadre_error busy = CADRE_ERROR_INIT;
    const cadre_store_ops *store = runtime->store_ops;
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = trace};
    const cadre_store_reader reader = {.trace = take_owner, .ctx = holder};
    cdr_lease_owner(runtime, own);
    cadre_lease wanted = {.trace = trace, .owner = own, .seconds = LEASE_SECONDS};
    cadre_status status = store->lease(runtime->store, &wanted, epoch, &busy);
    if (status == CADRE_EBUSY &&
        store->read(runtime->store, &query, &reader, err) == CADRE_OK &&
        is_dead(holder)) {
        cadre_error_clear(&busy);
        wanted.take_over = true;
        status = store->lease(runtime->store, &wanted, epoch, &busy);
    }
    if (status == CADRE_OK)
        return CADRE_OK;
    return cadre_fail_class(err, status, CADRE_CLASS_LEASE, false, "%s", busy.text);
}

void cdr_lease_give_back(cadre_runtime *runtime, cadre_id trace)
{
    char own[CDR_LEASE_OWNER_SIZE];
    int64_t epoch = 0;
    cdr_lease_owner(runtime, own);
    const cadre_lease none = {.trace = trace, .owner = own, .seconds = 0};
    runtime->store_ops->lease(runtime->store, &none, &epoch, NULL);
}
