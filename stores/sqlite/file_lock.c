// See file_lock.h. Byte 0 of the file is the lock, byte 1 the turn: who has the turn is
// the next to get the lock. Byte 2 is shared by all who have the database open. OFD
// locks belong to the open file, not to the process, and go when it dies.
#include "file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 5000000000

enum {
    LOCK_BYTE = 0,
    TURN_BYTE = 1,
    OPEN_BYTE = 2
};

cadre_status cdr_sqlite_file_lock_open(cdr_sqlite_file_lock *lock, const char *path,
                                       cadre_error *err)
{
    char name[4096];
    *lock = (cdr_sqlite_file_lock){.fd = -1, .path = path};
    int len = snprintf(name, sizeof(name), "%s.lock", path);
    if (len < 0 || (size_t)len >= sizeof(name))
        return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': %.200s: too long a path",
                          path);
    lock->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock->fd < 0)
        return cadre_fail(err, CADRE_ESTORE,
                          "store 'sqlite': %.200s.lock: cannot be opened: %s", path,
                          strerrordesc_np(errno));
    return CADRE_OK;
}

void cdr_sqlite_file_lock_close(cdr_sqlite_file_lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}

static bool set(int fd, short type, off_t byte)
{
    struct flock wanted = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int rc;
    do {
        rc = fcntl(fd, F_OFD_SETLK, &wanted);
    } while (rc != 0 && errno == EINTR);
    return rc == 0;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Asks again and again: a wait in the kernel could not be given up when the process
// that has the lock is stopped. Who asks has the turn, so it is not overtaken.
static cadre_status take_byte(cdr_sqlite_file_lock *lock, off_t byte, int64_t *until,
                              cadre_error *err)
{
    const struct timespec pause = {.tv_nsec = 200000};
    while (!set(lock->fd, F_WRLCK, byte)) {
        if (errno != EAGAIN && errno != EACCES)
            return cadre_fail(err, CADRE_ESTORE,
                              "store 'sqlite': %.200s.lock: cannot be locked: %s",
                              lock->path, strerrordesc_np(errno));
        if (*until == 0)
            *until = now_ns() + PATIENCE_NS;
        if (now_ns() >= *until)
            return cadre_fail(err, CADRE_ESTORE,
                              "store 'sqlite': %.200s: another process has been "
                              "writing for 5 s; is it stopped?",
                              lock->path);
        ppoll(NULL, 0, &pause, NULL);
    }
    return CADRE_OK;
}

cadre_status cdr_sqlite_file_lock_take(cdr_sqlite_file_lock *lock, cadre_error *err)
{
    int64_t until = 0;
    cadre_status status = take_byte(lock, TURN_BYTE, &until, err);
    if (status != CADRE_OK)
        return status;
    status = take_byte(lock, LOCK_BYTE, &until, err);
    set(lock->fd, F_UNLCK, TURN_BYTE);
    return status;
}

bool cdr_sqlite_file_lock_enter(cdr_sqlite_file_lock *lock)
{
    bool is_alone = set(lock->fd, F_WRLCK, OPEN_BYTE);
    set(lock->fd, F_RDLCK, OPEN_BYTE);
    return is_alone;
}

void cdr_sqlite_file_lock_release(cdr_sqlite_file_lock *lock)
{
    set(lock->fd, F_UNLCK, LOCK_BYTE);
}
