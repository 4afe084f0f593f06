// The sqlite store: keeps all runs in one file, which several processes may share. The
// tables are a public format: docs/ledger.md.
//
// Invariants:
// 1. One connection writes, the writer's, on its thread or on that of a caller who
// finds
//    it idle (sqlite/writer.c), and only under the lock between processes
//    (sqlite/file_lock.c). Callers are told when it is durable.
// 2. A file that is not ours, newer, damaged or read-only is refused as it is
//    (sqlite/schema.c).
// 3. The rules of ext/store.h are kept by statements that change no row when they may
//    not (sqlite/statements.c); constraints and triggers are the net below them, for
//    whoever else writes.
// 4. Readers have connections of their own, and never checkpoint (sqlite/readers.c).
#include "sqlite/batch.h"
#include "sqlite/readers.h"
#include "sqlite/schema.h"
#include "sqlite/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct sqlite_store {
    char *path; // absolute, without links: so all agree on the names beside it
    bool is_full;
    cdr_sqlite_writer writer;
    cdr_sqlite_readers readers;
} sqlite_store;

// --- Opening ---

static cadre_status take_durability(sqlite_store *store, const char *options,
                                    cadre_error *err)
{
    store->is_full = true;
    if (!options || strcmp(options, "durability=full") == 0)
        return CADRE_OK;
    store->is_full = false;
    if (strcmp(options, "durability=normal") == 0)
        return CADRE_OK;
    return cadre_fail(err, CADRE_ECONFIG,
                      "store 'sqlite': unknown option '%.100s'; known is "
                      "durability=full (the default) or durability=normal",
                      options);
}

// Splits "FILE?durability=..." and copies FILE to `path`.
static cadre_status parse_url(sqlite_store *store, const char *url, char path[PATH_MAX],
                              cadre_error *err)
{
    // Options have no slash, folders may have a question mark.
    const char *name = strrchr(url, '/');
    const char *mark = strchr(name == NULL ? url : name, '?');
    size_t len = mark ? (size_t)(mark - url) : strlen(url);
    if (len == 0 || url[0] == ':')
        return cadre_fail(err, CADRE_ECONFIG,
                          "store 'sqlite:%.100s': needs a file: sqlite:FILE; for a "
                          "store without one take 'memory'",
                          url);
    if (len >= PATH_MAX)
        return cadre_fail(err, CADRE_ECONFIG, "store 'sqlite': too long a path");
    memcpy(path, url, len);
    path[len] = '\0';
    return take_durability(store, mark ? mark + 1 : NULL, err);
}

// Where a path leads that may be a link, to nothing yet. False: it is none.
static bool find_target(const char *path, char target[PATH_MAX])
{
    enum {
        MAX_LINKS = 40 // as the kernel has it
    };
    char text[PATH_MAX];
    snprintf(target, PATH_MAX, "%s", path);
    for (int i = 0; i < MAX_LINKS; i++) {
        ssize_t len = readlink(target, text, sizeof(text) - 1);
        if (len < 0)
            return i > 0;
        text[len] = '\0';
        char *slash = text[0] == '/' ? NULL : strrchr(target, '/');
        size_t kept = slash ? (size_t)(slash - target) + 1 : 0;
        if (kept + (size_t)len >= PATH_MAX)
            return true;
        memcpy(target + kept, text, (size_t)len + 1);
    }
    return true;
}

// Makes an empty file that only its owner can read; SQLite gives those beside it the
// same mode. One that is there keeps its own.
static cadre_status make_file(const char *path, cadre_error *err)
{
    char target[PATH_MAX];
    bool is_link = find_target(path, target);
    int fd = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd); // new: nobody has locks on it that would go with this
        return CADRE_OK;
    }
    if (errno == EEXIST)
        return CADRE_OK;
    return cadre_fail(err, CADRE_ESTORE,
                      "store 'sqlite': %.200s%s%.200s: cannot be made: %s", path,
                      is_link ? ": is a link to " : "", is_link ? target : "",
                      strerrordesc_np(errno));
}

static bool has_wal(const char *path)
{
    char name[PATH_MAX + 8];
    struct stat found;
    snprintf(name, sizeof(name), "%s-wal", path);
    return stat(name, &found) == 0 && found.st_size > 0;
}

static cadre_status fail_read_only(const char *path, cadre_error *err)
{
    return cadre_fail(err, CADRE_ESTORE,
                      "store 'sqlite': %.200s: is read-only; make the file and its "
                      "folder writable, or name another file",
                      path);
}

static cadre_status set_up_writer(sqlite_store *store, bool is_unclean,
                                  cadre_error *err)
{
    cdr_sqlite_connection *writer = &store->writer.connection;
    if (sqlite3_db_readonly(writer->db, "main") == 1)
        return fail_read_only(store->path, err);
    cadre_status status = cdr_sqlite_schema_migrate(writer, err);
    if (status == CADRE_OK)
        status = cdr_sqlite_schema_check_pages(writer, is_unclean, err);
    if (status == CADRE_OK)
        status = cdr_sqlite_schema_use_wal(writer, err);
    if (status == CADRE_OK)
        status =
            cdr_sqlite_connection_exec(writer,
                                       store->is_full ? "PRAGMA synchronous = FULL"
                                                      : "PRAGMA synchronous = NORMAL",
                                       err);
    return status == CADRE_OK ? cdr_sqlite_batch_prepare(writer, err) : status;
}

// Opens the writer's connection. The lock between processes is held.
static cadre_status open_writer(sqlite_store *store, cadre_error *err)
{
    cdr_sqlite_connection *writer = &store->writer.connection;
    // A log that nobody has open was left by a crash.
    bool is_unclean =
        cdr_sqlite_file_lock_enter(&store->writer.lock) && has_wal(store->path);
    cadre_status status =
        cdr_sqlite_connection_open(writer, store->path, CDR_SQLITE_WRITER, err);
    if (status != CADRE_OK)
        return status;
    status = cdr_sqlite_place_init(&store->writer.place, store->path, err);
    if (status == CADRE_OK)
        status = set_up_writer(store, is_unclean, err);
    if (status != CADRE_OK)
        cdr_sqlite_connection_close(writer);
    return status;
}

// The connection that closes last puts the WAL into the file and removes it.
static void close_writer(sqlite_store *store)
{
    cdr_sqlite_writer *writer = &store->writer;
    if (cdr_sqlite_file_lock_take(&writer->lock, NULL) == CADRE_OK)
        sqlite3_db_config(writer->connection.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0,
                          NULL);
    cdr_sqlite_connection_close(&writer->connection);
    cdr_sqlite_file_lock_release(&writer->lock);
}

static cadre_status open_under_lock(sqlite_store *store, cadre_error *err)
{
    cdr_sqlite_file_lock *lock = &store->writer.lock;
    cadre_status status = cdr_sqlite_file_lock_take(lock, err);
    if (status != CADRE_OK)
        return status;
    status = open_writer(store, err);
    cdr_sqlite_file_lock_release(lock);
    if (status != CADRE_OK)
        return status;
    status = cdr_sqlite_writer_start(&store->writer, err);
    if (status != CADRE_OK)
        close_writer(store);
    return status;
}

static cadre_status open_store(sqlite_store *store, cadre_error *err)
{
    cdr_sqlite_file_lock *lock = &store->writer.lock;
    cadre_status status = cdr_sqlite_file_lock_open(lock, store->path, err);
    if (status != CADRE_OK)
        return status;
    status = open_under_lock(store, err);
    if (status != CADRE_OK)
        cdr_sqlite_file_lock_close(lock);
    return status;
}

static cadre_status sqlite_init(void *state, const char *url, cadre_error *err)
{
    sqlite_store *store = state;
    char path[PATH_MAX];
    bool exists = false;
    cadre_status status = parse_url(store, url ? url : "", path, err);
    // Before anything is made beside a file that is somebody else's.
    if (status == CADRE_OK)
        status = cdr_sqlite_schema_check_file(path, &exists, err);
    if (status == CADRE_OK && exists && access(path, W_OK) != 0)
        status = fail_read_only(path, err);
    if (status == CADRE_OK && !exists)
        status = make_file(path, err);
    if (status != CADRE_OK)
        return status;
    store->path = realpath(path, NULL);
    if (!store->path)
        return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': %.200s: %s", path,
                          strerrordesc_np(errno));
    status = open_store(store, err);
    if (status != CADRE_OK) {
        free(store->path);
        store->path = NULL;
        return status;
    }
    cdr_sqlite_readers_init(&store->readers, &store->writer.place);
    return CADRE_OK;
}

static void sqlite_fini(void *state)
{
    sqlite_store *store = state;
    if (!store->path)
        return; // it was never opened
    cdr_sqlite_writer_stop(&store->writer);
    cdr_sqlite_readers_fini(&store->readers);
    close_writer(store);
    cdr_sqlite_file_lock_close(&store->writer.lock);
    free(store->path);
}

// --- Ops ---

static cadre_status sqlite_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    sqlite_store *store = state;
    if (commit->n_facts == 0)
        return CADRE_OK;
    return cdr_sqlite_writer_commit(&store->writer, commit, err);
}

static cadre_status sqlite_post(void *state, cadre_fact *facts, size_t n_facts,
                                cadre_error *err)
{
    sqlite_store *store = state;
    if (n_facts == 0)
        return CADRE_OK;
    return cdr_sqlite_writer_post(&store->writer, facts, n_facts, err);
}

static cadre_status sqlite_lease(void *state, const cadre_lease *wanted, int64_t *epoch,
                                 cadre_error *err)
{
    sqlite_store *store = state;
    return cdr_sqlite_writer_lease(&store->writer, wanted, epoch, err);
}

static cadre_status sqlite_read(void *state, const cadre_query *query,
                                const cadre_store_reader *reader, cadre_error *err)
{
    sqlite_store *store = state;
    return cdr_sqlite_readers_read(&store->readers, query, reader, err);
}

static void sqlite_release(void *state, cadre_id trace)
{
    sqlite_store *store = state;
    cdr_sqlite_writer_forget(&store->writer, trace);
}

const cadre_store_ops cadre_store_sqlite = {
    .struct_size = sizeof(cadre_store_ops),
    .type = "sqlite",
    .summary = "keeps runs and sessions in a file, which processes may share",
    .state_size = sizeof(sqlite_store),
    .library = "SQLite",
    .library_version = sqlite3_version,
    .is_shared = true,
    .init = sqlite_init,
    .fini = sqlite_fini,
    .commit = sqlite_commit,
    .post = sqlite_post,
    .lease = sqlite_lease,
    .read = sqlite_read,
    .release = sqlite_release,
};
