// See schema.h.
//
// Rules:
// 1. A file is refused before anything is written to it: by its first bytes, read
//    through SQLite's own file layer. (To open and close the file by ourselves would
//    drop the locks SQLite has on it in this process.)
// 2. Every change of the schema is a step, one transaction with its user_version. A
//    step that has been released never changes.
// 3. The first step is done with a rollback journal, before the file is switched to
//    WAL: so application_id stands in the file from the start.
#include "schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x43414452 // "CADR"
#define HEADER_SIZE 100
#define VERSION_AT 60
#define APPLICATION_AT 68

static const char tables_1[] =
    "CREATE TABLE conversations ("
    " id TEXT NOT NULL PRIMARY KEY,"
    " session TEXT UNIQUE,"
    " owner_conversation_id TEXT REFERENCES conversations (id),"
    " owner_frame_id TEXT REFERENCES frames (id),"
    " base_id TEXT REFERENCES conversations (id),"
    " base_position INTEGER,"
    " created_at INTEGER NOT NULL,"
    " CHECK ((owner_conversation_id IS NULL) = (owner_frame_id IS NULL))"
    ") STRICT;"

    "CREATE TABLE traces ("
    " id TEXT NOT NULL PRIMARY KEY,"
    " spawned_by TEXT REFERENCES frames (id),"
    " team TEXT NOT NULL,"
    " shape_digest TEXT NOT NULL,"
    " text_digest TEXT NOT NULL,"
    " options TEXT NOT NULL,"
    " last_seq INTEGER NOT NULL,"
    " lease_owner TEXT NOT NULL,"
    " lease_epoch INTEGER NOT NULL,"
    " lease_expires_at INTEGER NOT NULL,"
    " created_at INTEGER NOT NULL"
    ") STRICT;"

    "CREATE TABLE frames ("
    " id TEXT NOT NULL PRIMARY KEY,"
    " trace_id TEXT NOT NULL REFERENCES traces (id),"
    " parent_id TEXT REFERENCES frames (id),"
    " is_root INTEGER NOT NULL CHECK (is_root = (parent_id IS NULL)),"
    " conversation_id TEXT REFERENCES conversations (id),"
    " key TEXT NOT NULL,"
    " kind TEXT NOT NULL,"
    " name TEXT NOT NULL,"
    " referer TEXT NOT NULL,"
    " input TEXT NOT NULL,"
    " depth INTEGER NOT NULL,"
    " status TEXT NOT NULL CHECK (iif(completed_at IS NULL,"
    "  status IN ('pending', 'running', 'waiting'),"
    "  status IN ('completed', 'failed', 'timeout', 'aborted'))),"
    " attempts INTEGER NOT NULL,"
    " restarts INTEGER NOT NULL,"
    " replay_safe INTEGER NOT NULL,"
    " abort_reason TEXT CHECK (abort_reason <> ''),"
    " output TEXT,"
    " stop_reason TEXT,"
    " error TEXT,"
    " error_class TEXT,"
    " error_retryable INTEGER,"
    " own_model_calls INTEGER, own_tool_calls INTEGER,"
    " own_input_tokens INTEGER, own_output_tokens INTEGER,"
    " own_cached_input_tokens INTEGER, own_reasoning_tokens INTEGER,"
    " model_calls INTEGER, tool_calls INTEGER,"
    " input_tokens INTEGER, output_tokens INTEGER,"
    " cached_input_tokens INTEGER, reasoning_tokens INTEGER,"
    " start_seq INTEGER NOT NULL,"
    " end_seq INTEGER,"
    " created_at INTEGER NOT NULL,"
    " completed_at INTEGER,"
    " duration_ms INTEGER,"
    " UNIQUE (parent_id, key)"
    ") STRICT;"

    "CREATE TABLE messages ("
    " id TEXT NOT NULL PRIMARY KEY,"
    " conversation_id TEXT NOT NULL REFERENCES conversations (id),"
    " frame_id TEXT REFERENCES frames (id),"
    " position INTEGER CHECK (position >= 0),"
    " seq INTEGER NOT NULL,"
    " role TEXT NOT NULL,"
    " agent TEXT NOT NULL,"
    " recipient TEXT NOT NULL,"
    " content TEXT NOT NULL,"
    " reasoning TEXT NOT NULL,"
    " tool_calls TEXT,"
    " call_id TEXT NOT NULL,"
    " tool_name TEXT NOT NULL,"
    " result_code TEXT,"
    " is_input INTEGER NOT NULL,"
    " request_id TEXT,"
    " request_hash TEXT,"
    " created_at INTEGER NOT NULL,"
    " UNIQUE (conversation_id, position)"
    ") STRICT;";

static const char indexes_1[] =
    "CREATE INDEX conversations_owned ON conversations (owner_frame_id)"
    " WHERE owner_frame_id IS NOT NULL;"
    "CREATE INDEX traces_spawned ON traces (spawned_by) WHERE spawned_by IS NOT NULL;"
    "CREATE INDEX frames_live ON frames (trace_id, parent_id)"
    " WHERE completed_at IS NULL;"
    "CREATE UNIQUE INDEX frames_root ON frames (trace_id) WHERE is_root = 1;"
    "CREATE UNIQUE INDEX frames_live_root ON frames (conversation_id)"
    " WHERE is_root = 1 AND completed_at IS NULL;"
    "CREATE UNIQUE INDEX messages_request ON messages (conversation_id, request_id)"
    " WHERE request_id IS NOT NULL;";

// The net below: no statement of ours runs into it, whoever else writes does.
static const char triggers_1[] =
    "CREATE TRIGGER frames_born BEFORE INSERT ON frames"
    " WHEN EXISTS (SELECT 1 FROM frames WHERE id = NEW.parent_id"
    "  AND (completed_at IS NOT NULL OR abort_reason IS NOT NULL"
    "   OR trace_id <> NEW.trace_id))"
    " BEGIN SELECT RAISE (ABORT, 'no birth under an ended or marked frame,"
    " or one of another trace'); END;"
    "CREATE TRIGGER frames_final BEFORE UPDATE ON frames"
    " WHEN OLD.completed_at IS NOT NULL"
    " BEGIN SELECT RAISE (ABORT, 'an ended frame is final'); END;"
    "CREATE TRIGGER frames_fixed BEFORE UPDATE OF"
    " id, trace_id, parent_id, is_root, conversation_id, key, kind, name ON frames"
    " BEGIN SELECT RAISE (ABORT, 'what a frame is never changes'); END;"
    "CREATE TRIGGER frames_marked BEFORE UPDATE OF abort_reason ON frames"
    " WHEN OLD.abort_reason IS NOT NULL"
    " BEGIN SELECT RAISE (ABORT, 'the first mark stays'); END;"
    "CREATE TRIGGER frames_ended BEFORE UPDATE OF completed_at ON frames"
    " WHEN EXISTS (SELECT 1 FROM frames AS child WHERE child.trace_id = NEW.trace_id"
    "  AND child.parent_id = NEW.id AND child.completed_at IS NULL)"
    " BEGIN SELECT RAISE (ABORT, 'no frame ends before its children'); END;"
    "CREATE TRIGGER conversations_fixed BEFORE UPDATE ON conversations"
    " BEGIN SELECT RAISE (ABORT, 'a conversation never changes'); END;"
    "CREATE TRIGGER messages_final BEFORE UPDATE ON messages"
    " WHEN OLD.position IS NOT NULL"
    " BEGIN SELECT RAISE (ABORT, 'a placed message is final'); END;"
    "CREATE TRIGGER messages_fixed BEFORE UPDATE OF"
    " id, conversation_id, role, agent, recipient, content, reasoning, tool_calls,"
    " request_id, request_hash ON messages"
    " BEGIN SELECT RAISE (ABORT, 'what a message says never changes'); END;";

// In `stack` a frame's parent is the nearest agent above it; `calls` has the models and
// tools with who called them.
static const char views_1[] =
    "CREATE VIEW stack AS SELECT id, trace_id,"
    " (WITH RECURSIVE above (id, kind, parent_id) AS ("
    "   SELECT parent.id, parent.kind, parent.parent_id FROM frames AS parent"
    "    WHERE parent.id = frames.parent_id"
    "   UNION ALL SELECT parent.id, parent.kind, parent.parent_id FROM above"
    "    JOIN frames AS parent ON parent.id = above.parent_id"
    "    WHERE above.kind <> 'agent')"
    "  SELECT id FROM above WHERE kind = 'agent') AS parent_id,"
    " key, name AS agent, referer, depth, conversation_id, status, stop_reason,"
    " abort_reason, error, input, output, model_calls, tool_calls, input_tokens,"
    " output_tokens, created_at, completed_at, duration_ms"
    " FROM frames WHERE kind = 'agent';"

    "CREATE VIEW calls AS SELECT call.id, call.trace_id,"
    " owner.conversation_id AS owner_conversation_id, call.parent_id AS owner_frame_id,"
    " owner.name AS owner, call.key, call.kind, call.name, call.status,"
    " call.stop_reason, call.abort_reason, call.error, call.attempts, call.restarts,"
    " call.input, call.output, call.own_input_tokens AS input_tokens,"
    " call.own_output_tokens AS output_tokens, call.start_seq, call.end_seq,"
    " call.created_at, call.completed_at, call.duration_ms"
    " FROM frames AS call LEFT JOIN frames AS owner ON owner.id = call.parent_id"
    " WHERE call.kind <> 'agent';";

// For who looks at what others wrote, again and again.
static const char indexes_2[] =
    "CREATE INDEX frames_marked ON frames (trace_id)"
    " WHERE abort_reason IS NOT NULL AND completed_at IS NULL;"
    "CREATE INDEX messages_inbox ON messages (position)"
    " WHERE position IS NULL;";

// What a frame added to the state of its run.
static const char tables_3[] = "ALTER TABLE frames ADD COLUMN delta TEXT;";

// Who answered, what it alone can read, what came with a text; what calls cost. The
// trigger is that of the first step with the new columns.
static const char tables_4[] =
    "ALTER TABLE messages ADD COLUMN model TEXT;"
    "ALTER TABLE messages ADD COLUMN mark TEXT CHECK (mark <> '');"
    "ALTER TABLE messages ADD COLUMN parts TEXT;"
    "ALTER TABLE messages ADD COLUMN items TEXT;"
    "ALTER TABLE frames ADD COLUMN own_cost_usd_micros INTEGER;"
    "ALTER TABLE frames ADD COLUMN own_unpriced_calls INTEGER;"
    "ALTER TABLE frames ADD COLUMN cost_usd_micros INTEGER;"
    "ALTER TABLE frames ADD COLUMN unpriced_calls INTEGER;";

static const char triggers_4[] =
    "DROP TRIGGER messages_fixed;"
    "CREATE TRIGGER messages_fixed BEFORE UPDATE OF"
    " id, conversation_id, role, agent, recipient, content, reasoning, tool_calls,"
    " request_id, request_hash, model, mark, parts, items ON messages"
    " BEGIN SELECT RAISE (ABORT, 'what a message says never changes'); END;";

enum {
    PARTS = 4
};

static const char *const steps[][PARTS] = {
    {tables_1, indexes_1, triggers_1, views_1},
    {indexes_2},
    {tables_3},
    {tables_4, triggers_4},
};

enum {
    VERSION = sizeof(steps) / sizeof(steps[0])
};

static cadre_status fail(const char *path, const char *what, cadre_error *err)
{
    return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': %.200s: %s", path, what);
}

static cadre_status refuse_ids(const char *path, int64_t application, int64_t version,
                               cadre_error *err)
{
    if (application != APPLICATION_ID)
        return cadre_fail(err, CADRE_ESTORE,
                          "store 'sqlite': %.200s: is a database of another program "
                          "(application_id %lld); name another file",
                          path, (long long)application);
    if (version > VERSION)
        return cadre_fail(err, CADRE_ESTORE,
                          "store 'sqlite': %.200s: was written by a newer cadre "
                          "(schema %lld, this one knows up to %d); update cadre or "
                          "name another file",
                          path, (long long)version, (int)VERSION);
    return CADRE_OK;
}

static int64_t number_at(const unsigned char *header, int at)
{
    const unsigned char *from = header + at;
    return (int64_t)from[0] << 24 | (int64_t)from[1] << 16 | (int64_t)from[2] << 8 |
           (int64_t)from[3];
}

// A journal beside it: its first step was cut, and the file is what SQLite makes of
// both. Migrating looks at the ids again.
static bool has_journal(const char *path)
{
    char journal[4096];
    int len = snprintf(journal, sizeof(journal), "%s-journal", path);
    return len > 0 && (size_t)len < sizeof(journal) && access(journal, F_OK) == 0;
}

static cadre_status check_header(sqlite3 *db, const char *path, cadre_error *err)
{
    unsigned char header[HEADER_SIZE] = {0};
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc != SQLITE_OK || !file || !file->pMethods ||
        file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return fail(path, "cannot be read", err);
    if (size == 0)
        return CADRE_OK;
    if (size >= HEADER_SIZE &&
        file->pMethods->xRead(file, header, HEADER_SIZE, 0) != SQLITE_OK)
        return fail(path, "cannot be read", err);
    if (memcmp(header, "SQLite format 3", sizeof("SQLite format 3")) != 0)
        return fail(path, "is not a database; name another file", err);
    if (has_journal(path))
        return CADRE_OK;
    return refuse_ids(path, number_at(header, APPLICATION_AT),
                      number_at(header, VERSION_AT), err);
}

// SQLite would take a device, and files would be made beside it.
static cadre_status check_kind(const char *path, mode_t mode, cadre_error *err)
{
    char why[120];
    if (S_ISDIR(mode))
        return fail(path, "is a folder; name a file in it", err);
    if (!S_ISREG(mode))
        return fail(path, "is no ordinary file; name another one", err);
    if (access(path, R_OK) == 0)
        return CADRE_OK;
    snprintf(why, sizeof(why), "cannot be read: %s", strerrordesc_np(errno));
    return fail(path, why, err);
}

cadre_status cdr_sqlite_schema_check_file(const char *path, bool *exists,
                                          cadre_error *err)
{
    struct stat found;
    *exists = stat(path, &found) == 0;
    if (!*exists)
        return CADRE_OK;
    cadre_status status = check_kind(path, found.st_mode, err);
    if (status != CADRE_OK)
        return status;
    sqlite3 *db = NULL;
    int rc =
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        status = fail(path, "cannot be opened for reading", err);
    else
        status = check_header(db, path, err);
    sqlite3_close(db);
    return status;
}

static cadre_status step(cdr_sqlite_connection *writer, int number, cadre_error *err)
{
    char finish[120];
    snprintf(finish, sizeof(finish),
             "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
             APPLICATION_ID, number);
    cadre_status status = cdr_sqlite_connection_exec(writer, "BEGIN IMMEDIATE", err);
    for (int i = 0; i < PARTS && status == CADRE_OK; i++) {
        const char *part = steps[number - 1][i];
        status = part ? cdr_sqlite_connection_exec(writer, part, err) : CADRE_OK;
    }
    if (status == CADRE_OK)
        status = cdr_sqlite_connection_exec(writer, finish, err);
    if (status != CADRE_OK && !sqlite3_get_autocommit(writer->db))
        cdr_sqlite_connection_exec(writer, "ROLLBACK", NULL);
    return status;
}

cadre_status cdr_sqlite_schema_migrate(cdr_sqlite_connection *writer, cadre_error *err)
{
    int64_t application = 0;
    int64_t version = 0;
    int64_t n_tables = 0;
    cadre_status status = cdr_sqlite_connection_number(writer, "PRAGMA application_id",
                                                       &application, err);
    if (status == CADRE_OK)
        status =
            cdr_sqlite_connection_number(writer, "PRAGMA user_version", &version, err);
    if (status == CADRE_OK)
        status = cdr_sqlite_connection_number(
            writer, "SELECT count(*) FROM sqlite_schema", &n_tables, err);
    bool is_new = application == 0 && version == 0 && n_tables == 0;
    if (status == CADRE_OK && !is_new)
        status = refuse_ids(writer->path, application, version, err);
    for (int i = (int)version; i < VERSION && status == CADRE_OK; i++)
        status = step(writer, i + 1, err);
    return status;
}

// Gives the one text a pragma returns, cut to the size.
static cadre_status ask(const cdr_sqlite_connection *writer, const char *pragma,
                        char *said, size_t size, cadre_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(writer->db, pragma, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    const char *text =
        rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    cadre_status status = CADRE_OK;
    if (text)
        snprintf(said, size, "%s", text);
    else
        status = cdr_sqlite_connection_fail(writer, pragma, err);
    sqlite3_finalize(stmt);
    return status;
}

static cadre_status quick_check(const cdr_sqlite_connection *writer, cadre_error *err)
{
    char said[128];
    cadre_status status =
        ask(writer, "PRAGMA quick_check (1)", said, sizeof(said), err);
    if (status != CADRE_OK || strcmp(said, "ok") == 0)
        return status;
    return cadre_fail(
        err, CADRE_ESTORE,
        "store 'sqlite': %.200s: is damaged (%s); restore a copy, or save "
        "what can be read with `sqlite3 FILE .recover`",
        writer->path, said);
}

cadre_status cdr_sqlite_schema_use_wal(cdr_sqlite_connection *writer, cadre_error *err)
{
    char said[16];
    cadre_status status =
        ask(writer, "PRAGMA journal_mode = WAL", said, sizeof(said), err);
    if (status != CADRE_OK || strcmp(said, "wal") == 0)
        return status;
    return fail(writer->path, "its file system cannot share a WAL; name a local file",
                err);
}

cadre_status cdr_sqlite_schema_check_pages(cdr_sqlite_connection *writer,
                                           bool is_unclean, cadre_error *err)
{
    enum {
        SMALL = 1024 * 1024,      // 3 ms, at every start
        MEDIUM = 64 * 1024 * 1024 // 180 ms, after a crash
    };
    int64_t n_pages = 0;
    int64_t page_size = 0;
    cadre_status status =
        cdr_sqlite_connection_number(writer, "PRAGMA page_count", &n_pages, err);
    if (status == CADRE_OK)
        status =
            cdr_sqlite_connection_number(writer, "PRAGMA page_size", &page_size, err);
    if (status != CADRE_OK || n_pages * page_size > (is_unclean ? MEDIUM : SMALL))
        return status;
    return quick_check(writer, err);
}
