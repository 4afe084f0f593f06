// See lease.h.
#include "run/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LEASE_SECONDS = 60, // for a holder that cannot be seen from here
    PLACE_SIZE = 110,
    PROCESS_SIZE = PLACE_SIZE + 120
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

typedef struct process {
    bool exists;
    bool is_readable;         // else what follows is not known
    bool is_zombie;           // dead, but its parent has not asked yet
    bool is_halted;           // stopped by a signal
    unsigned long long start; // in ticks since boot
} process;

// Fields 3 (state), 20 (threads) and 22 (start) of its stat. A system may hide those of
// others.
static process look_at(long pid)
{
    char path[64];
    char text[1024];
    process p = {.exists = kill((pid_t)pid, 0) == 0 || errno == EPERM};
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_line(path, text, sizeof text);
    // The name of the program stands in brackets and may hold anything.
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] == '\0')
        return p;
    bool is_zombie = at[2] == 'Z' || at[2] == 'X';
    p.is_halted = at[2] == 'T' || at[2] == 't';
    for (int field = 2; at != NULL && field < 20; field++)
        at = strchr(at + 1, ' ');
    // One whose first thread alone has ended looks like a zombie, and works on.
    p.is_zombie = is_zombie && at != NULL && strtol(at, NULL, 10) <= 1;
    for (int field = 20; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    p.is_readable = at != NULL;
    p.start = at == NULL ? 0 : strtoull(at, NULL, 10);
    return p;
}

static void read_space(const char *path, char *text, size_t size)
{
    ssize_t n = readlink(path, text, size - 1);
    text[n > 0 ? n : 0] = '\0';
}

// Where a pid and a start name a process: boot, pid namespace and time namespace.
static void this_place(char *text, size_t size)
{
    char boot[64];
    char pids[64];
    char times[64];
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    read_space("/proc/self/ns/pid", pids, sizeof pids);
    read_space("/proc/self/ns/time", times, sizeof times);
    snprintf(text, size, "%.40s/%.30s/%.30s", boot, pids, times);
}

// The files of the system are read once for a process, not for each run.
static void this_process(cadre_runtime *runtime, char *text, size_t size)
{
    char place[PLACE_SIZE];
    char host[100];
    long pid = (long)getpid();
    cdr_mutex_lock(&runtime->mu);
    bool is_known = runtime->holder != NULL && runtime->holder_pid == pid;
    if (is_known)
        snprintf(text, size, "%s", runtime->holder);
    cdr_mutex_unlock(&runtime->mu);
    if (is_known)
        return;
    this_place(place, sizeof place);
    read_line("/proc/sys/kernel/hostname", host, sizeof host);
    snprintf(text, size, "%s/%ld/%llu/%.64s", place, pid, look_at(pid).start, host);
    cdr_mutex_lock(&runtime->mu);
    free(runtime->holder);
    runtime->holder = strdup(text);
    runtime->holder_pid = pid;
    cdr_mutex_unlock(&runtime->mu);
}

static void name_holder(cadre_runtime *runtime, cdr_holder_name name)
{
    char place[PROCESS_SIZE];
    char run[CADRE_ID_TEXT_SIZE];
    this_process(runtime, place, sizeof place);
    cadre_id_text(cadre_id_new(), run);
    snprintf(name, sizeof(cdr_holder_name), "%.220s/%s", place, run);
}

typedef enum holder_state {
    HOLDER_ELSEWHERE, // cannot be seen from here
    HOLDER_LIVES,
    HOLDER_DEAD
} holder_state;

static holder_state state_of(const char *holder, long *pid)
{
    char place[PLACE_SIZE];
    char *end = NULL;
    this_place(place, sizeof place);
    size_t len = strlen(place);
    if (strncmp(holder, place, len) != 0 || holder[len] != '/')
        return HOLDER_ELSEWHERE;
    *pid = strtol(holder + len + 1, &end, 10);
    if (*pid <= 0 || *end != '/')
        return HOLDER_ELSEWHERE;
    process p = look_at(*pid);
    bool is_other = p.is_readable && p.start != strtoull(end + 1, NULL, 10);
    if (!p.exists || p.is_zombie || is_other)
        return HOLDER_DEAD;
    // It may never go on; its lease is as good as its time, which it does not renew.
    return p.is_halted ? HOLDER_ELSEWHERE : HOLDER_LIVES;
}

static int64_t wall_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool cdr_lease_is_held(const cadre_trace_row *row)
{
    if (row->status >= CADRE_FRAME_COMPLETED || row->lease_owner[0] == '\0')
        return false;
    long pid = 0;
    holder_state state = state_of(row->lease_owner, &pid);
    return state == HOLDER_LIVES ||
           (state == HOLDER_ELSEWHERE && row->lease_expires_at > wall_now_ms());
}

typedef struct lease_reader {
    char holder[PROCESS_SIZE + CADRE_ID_TEXT_SIZE];
    bool is_held;
} lease_reader;

static cadre_status take_row(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    lease_reader *reader = ctx;
    (void)err;
    snprintf(reader->holder, sizeof reader->holder, "%s", row->lease_owner);
    reader->is_held = cdr_lease_is_held(row);
    return CADRE_OK;
}

static cadre_status keep_name(cdr_tree *tree, const cdr_holder_name name,
                              cadre_error *err)
{
    tree->lease_owner = cdr_arena_text(&tree->arena, name);
    return tree->lease_owner == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory")
                                     : CADRE_OK;
}

cadre_status cdr_lease_hold_new(cdr_tree *tree, cadre_error *err)
{
    cdr_holder_name name;
    tree->lease_epoch = 1; // the first commit takes it
    name_holder(tree->runtime, name);
    return keep_name(tree, name, err);
}

static cadre_status fail_held(cadre_id trace, const char *holder, cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(trace, id);
    long pid = 0;
    if (state_of(holder, &pid) == HOLDER_LIVES)
        return cadre_fail_class(err, CADRE_EBUSY, CADRE_CLASS_LEASE, false,
                                "run %s is under way in process %ld", id, pid);
    if (pid > 0)
        return cadre_fail_class(err, CADRE_EBUSY, CADRE_CLASS_LEASE, false,
                                "run %s is held by process %ld, which a signal has "
                                "halted; it can be taken over when its lease of %d s "
                                "is up",
                                id, pid, (int)LEASE_SECONDS);
    return cadre_fail_class(err, CADRE_EBUSY, CADRE_CLASS_LEASE, false,
                            "run %s is held from elsewhere, by '%s'", id, holder);
}

// Between the look and the taking another may be faster. It then has a fresh lease,
// which is taken only from one who was seen dead.
cadre_status cdr_lease_take_as(cadre_runtime *runtime, cadre_id trace,
                               cdr_holder_name name, int64_t *epoch, cadre_error *err)
{
    lease_reader seen = {.is_held = false};
    const cadre_store_ops *store = runtime->store_ops;
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = trace};
    const cadre_store_reader reader = {.trace = take_row, .ctx = &seen};
    name_holder(runtime, name);
    cadre_status status = store->read(runtime->store, &query, &reader, err);
    if (status != CADRE_OK)
        return status;
    if (seen.is_held)
        return fail_held(trace, seen.holder, err);
    const cadre_lease wanted = {
        .trace = trace, .owner = name, .from = seen.holder, .seconds = LEASE_SECONDS};
    cadre_error why = CADRE_ERROR_INIT;
    status = store->lease(runtime->store, &wanted, epoch, &why);
    if (status != CADRE_EBUSY)
        return status == CADRE_OK ? status : cadre_fail(err, status, "%s", why.text);
    // Another was faster: who it is tells as much as at the first look.
    status = store->read(runtime->store, &query, &reader, err);
    return status == CADRE_OK ? fail_held(trace, seen.holder, err) : status;
}

cadre_status cdr_lease_take(cdr_tree *tree, cadre_error *err)
{
    cdr_holder_name name;
    cadre_status status =
        cdr_lease_take_as(tree->runtime, tree->trace, name, &tree->lease_epoch, err);
    return status == CADRE_OK ? keep_name(tree, name, err) : status;
}

void cdr_lease_give_back_as(cadre_runtime *runtime, cadre_id trace, const char *name)
{
    int64_t epoch = 0;
    const cadre_lease none = {.trace = trace, .owner = name, .seconds = 0};
    runtime->store_ops->lease(runtime->store, &none, &epoch, NULL);
}

void cdr_lease_give_back(cdr_tree *tree)
{
    cdr_lease_give_back_as(tree->runtime, tree->trace, tree->lease_owner);
}
