// See input_file.h.
#include "fuzz/input_file.h"

#include "fuzz/fuzz.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static test_folder folder;

static void remove_folder(void)
{
    folder_remove(&folder);
}

// Anew each time: some file systems flush a file that is cut and written again.
static void write_file(const char *path, const void *data, size_t len)
{
    (void)unlink(path);
    FILE *file = fuzz_must(fopen(path, "we"));
    FUZZ_CHECK(fwrite(data, 1, len, file) == len);
    FUZZ_CHECK(fclose(file) == 0);
}

static void write_text(const char *name, const char *text)
{
    char path[FOLDER_PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/%s", folder.path, name);
    write_file(path, text, strlen(text));
}

// In memory where the system has a place for that: a disk would be most of the work.
static void make_folder(void)
{
    (void)snprintf(folder.path, sizeof folder.path, "/dev/shm/cadre-fuzz-XXXXXX");
    FUZZ_CHECK(mkdtemp(folder.path) != NULL || folder_make(&folder));
    FUZZ_CHECK(atexit(remove_folder) == 0);
    write_text("script.yaml", "agents: {a: [{text: hi}], b: [{handoff: a}]}\n");
    write_text("hooks.lua", "function before_model(call) end\n");
}

const char *input_file_write(const char *name, const uint8_t *data, size_t len)
{
    static char path[FOLDER_PATH_SIZE];
    if (!folder.path[0])
        make_folder();
    (void)snprintf(path, sizeof path, "%s/%s", folder.path, name);
    write_file(path, data, len);
    return path;
}
