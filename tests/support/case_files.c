// The case folders of the tests.
#include "support/case_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define READ_BYTES 8192

static const char *case_root(char out[CASE_PATH_BYTES])
{
    const char *root = getenv("CADRE_CASES");
    const char *source = getenv("CADRE_SOURCE_DIR");
    if (root)
        (void)snprintf(out, CASE_PATH_BYTES, "%s", root);
    else
        (void)snprintf(out, CASE_PATH_BYTES, "%s/tests/cases", source ? source : ".");
    return out;
}

const char *case_folder(const char *name, char out[CASE_PATH_BYTES])
{
    char root[CASE_PATH_BYTES];
    int len = snprintf(out, CASE_PATH_BYTES, "%s/%s", case_root(root), name);
    if (len < 0 || len >= CASE_PATH_BYTES) {
        (void)fprintf(stderr, "case folder: the path of %s is too long\n", name);
        abort();
    }
    return out;
}

static int is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && entry->d_type != DT_REG;
}

int case_files_each(void (*check)(void *ctx, const char *folder), void *ctx)
{
    char path[CASE_PATH_BYTES];
    struct dirent **entries = NULL;
    int n = scandir(case_root(path), &entries, is_case, alphasort);
    for (int i = 0; i < n; i++) {
        check(ctx, case_folder(entries[i]->d_name, path));
        free(entries[i]);
    }
    free(entries);
    return n > 0 ? n : 0;
}

char *case_file_read(const char *folder, const char *name, size_t *len)
{
    char path[2 * CASE_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    char *data = NULL;
    size_t n = 0;
    size_t n_read = 0;
    do {
        data = realloc(data, n + READ_BYTES + 1);
        if (!data)
            abort();
        n_read = fread(data + n, 1, READ_BYTES, file);
        n += n_read;
    } while (n_read > 0);
    data[n] = '\0';
    (void)fclose(file);
    if (len)
        *len = n;
    return data;
}

size_t case_chunks_read(const char *folder, size_t *sizes, size_t max)
{
    char *text = case_file_read(folder, "chunks.txt", NULL);
    size_t n = 0;
    char *at = text;
    while (at && n < max) {
        char *end = NULL;
        size_t size = strtoul(at, &end, 10);
        if (end == at)
            break; // the end, or the word "hold"
        sizes[n++] = size;
        at = end;
    }
    free(text);
    return n;
}
