#include "support/sqlite_file.h"

#include "support/check.h"
#include "support/folder.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *sqlite_file_ask(const char *path, const char *sql, char *said, size_t size)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    const char *text = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        text = (const char *)sqlite3_column_text(stmt, 0);
    else if (rc != SQLITE_DONE)
        text = sqlite3_errmsg(db);
    snprintf(said, size, "%s", text ? text : "");
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return said;
}

int sqlite_file_number(const char *path, const char *sql)
{
    char said[256];
    return (int)strtol(sqlite_file_ask(path, sql, said, sizeof(said)), NULL, 10);
}

void sqlite_file_check(const char *path, const char *sql, const char *expected)
{
    char said[256];
    CHECK_TEXT(sqlite_file_ask(path, sql, said, sizeof(said)), expected);
}

size_t sqlite_file_read(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t len = fread(bytes, 1, size, file);
    fclose(file);
    return len;
}

void sqlite_file_write(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL))
        return;
    CHECK_INT(fwrite(bytes, 1, len, file), len);
    CHECK_INT(fclose(file), 0);
}

bool sqlite_file_is_beside(const char *path, const char *suffix)
{
    char name[FOLDER_PATH_SIZE + 16];
    snprintf(name, sizeof(name), "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

int sqlite_file_count_transactions(const char *path)
{
    char name[FOLDER_PATH_SIZE + 8];
    unsigned char head[24];
    int n = 0;
    snprintf(name, sizeof(name), "%s-wal", path);
    FILE *file = fopen(name, "rb");
    if (!file)
        return -1;
    fseek(file, 32, SEEK_SET);
    while (fread(head, 1, sizeof(head), file) == sizeof(head)) {
        n += (head[4] | head[5] | head[6] | head[7]) != 0;
        fseek(file, 4096, SEEK_CUR);
    }
    fclose(file);
    return n;
}
