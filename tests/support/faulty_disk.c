// See faulty_disk.h.
#include "faulty_disk.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct faulty_file {
    sqlite3_file base;  // first: SQLite sees this one
    sqlite3_file *real; // behind it in the same memory
} faulty_file;

static sqlite3_vfs *real_vfs;
static disk_plan planned;
static atomic_int n_calls, n_failed;

void faulty_disk_plan(const disk_plan *plan)
{
    planned = *plan;
    atomic_store(&n_calls, 0);
    atomic_store(&n_failed, 0);
}

int faulty_disk_count(void)
{
    return atomic_load(&n_calls);
}

int faulty_disk_failed(void)
{
    return atomic_load(&n_failed);
}

static bool fails(disk_call call)
{
    if ((planned.calls & call) == 0)
        return false;
    int n = atomic_fetch_add(&n_calls, 1) + 1;
    bool is_now =
        planned.at > 0 && (n == planned.at || (planned.is_lasting && n > planned.at));
    if (is_now)
        atomic_fetch_add(&n_failed, 1);
    return is_now;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((faulty_file *)file)->real;
}

// --- Calls that may fail ---

static int faulty_read(sqlite3_file *file, void *bytes, int n, sqlite3_int64 at)
{
    sqlite3_file *real = real_of(file);
    return fails(DISK_READ) ? SQLITE_IOERR_READ
                            : real->pMethods->xRead(real, bytes, n, at);
}

static int faulty_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
    sqlite3_file *real = real_of(file);
    if (!fails(DISK_WRITE))
        return real->pMethods->xWrite(real, bytes, n, at);
    if (planned.fault == DISK_FAULT_IO)
        return SQLITE_IOERR_WRITE;
    if (planned.fault == DISK_FAULT_SHORT)
        real->pMethods->xWrite(real, bytes, n / 2, at);
    return SQLITE_FULL;
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    sqlite3_file *real = real_of(file);
    return fails(DISK_TRUNCATE) ? SQLITE_IOERR_TRUNCATE
                                : real->pMethods->xTruncate(real, size);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return fails(DISK_SYNC) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int faulty_shm_map(sqlite3_file *file, int page, int size, int extends,
                          void volatile **out)
{
    sqlite3_file *real = real_of(file);
    return fails(DISK_OPEN) ? SQLITE_IOERR_SHMOPEN
                            : real->pMethods->xShmMap(real, page, size, extends, out);
}

// --- Calls that are handed on ---

static int faulty_close(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xClose(real);
}

static int faulty_size(sqlite3_file *file, sqlite3_int64 *size)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xFileSize(real, size);
}

static int faulty_lock(sqlite3_file *file, int level)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xLock(real, level);
}

static int faulty_unlock(sqlite3_file *file, int level)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xUnlock(real, level);
}

static int faulty_check_lock(sqlite3_file *file, int *is_reserved)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xCheckReservedLock(real, is_reserved);
}

static int faulty_control(sqlite3_file *file, int what, void *arg)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xFileControl(real, what, arg);
}

static int faulty_sector(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xSectorSize(real);
}

static int faulty_traits(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xDeviceCharacteristics(real);
}

static int faulty_shm_lock(sqlite3_file *file, int at, int n, int flags)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xShmLock(real, at, n, flags);
}

static void faulty_shm_barrier(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    real->pMethods->xShmBarrier(real);
}

static int faulty_shm_unmap(sqlite3_file *file, int deletes)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods->xShmUnmap(real, deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, // without mapped files
    .xClose = faulty_close,
    .xRead = faulty_read,
    .xWrite = faulty_write,
    .xTruncate = faulty_truncate,
    .xSync = faulty_sync,
    .xFileSize = faulty_size,
    .xLock = faulty_lock,
    .xUnlock = faulty_unlock,
    .xCheckReservedLock = faulty_check_lock,
    .xFileControl = faulty_control,
    .xSectorSize = faulty_sector,
    .xDeviceCharacteristics = faulty_traits,
    .xShmMap = faulty_shm_map,
    .xShmLock = faulty_shm_lock,
    .xShmBarrier = faulty_shm_barrier,
    .xShmUnmap = faulty_shm_unmap,
};

// --- Files ---

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
                       int flags, int *out_flags)
{
    faulty_file *own = (faulty_file *)file;
    (void)vfs;
    own->base.pMethods = NULL; // nothing to close
    own->real = (sqlite3_file *)(own + 1);
    if (fails(DISK_OPEN))
        return SQLITE_CANTOPEN;
    int rc = real_vfs->xOpen(real_vfs, name, own->real, flags, out_flags);
    if (own->real->pMethods != NULL)
        own->base.pMethods = &methods;
    return rc;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int syncs)
{
    (void)vfs;
    (void)syncs;
    return fails(DISK_DELETE) ? SQLITE_IOERR_DELETE
                              : real_vfs->xDelete(real_vfs, name, 0);
}

bool faulty_disk_start(void)
{
    static sqlite3_vfs layer;
    real_vfs = sqlite3_vfs_find(NULL);
    if (real_vfs == NULL)
        return false;
    layer = *real_vfs; // its other calls do not look at who is asked
    layer.zName = "faulty";
    layer.pNext = NULL;
    layer.szOsFile = (int)sizeof(faulty_file) + real_vfs->szOsFile;
    layer.xOpen = faulty_open;
    layer.xDelete = faulty_delete;
    return sqlite3_vfs_register(&layer, 1) == SQLITE_OK;
}
