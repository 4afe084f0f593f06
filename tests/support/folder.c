// A temporary folder for one test.
#include "support/folder.h"

#include "support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool folder_make(test_folder *folder)
{
    snprintf(folder->path, sizeof(folder->path), "/tmp/cadre-test-XXXXXX");
    bool is_made = mkdtemp(folder->path) != NULL;
    if (!is_made)
        folder->path[0] = '\0';
    return is_made;
}

bool folder_write(const test_folder *folder, const char *name, const char *text,
                  char path[FOLDER_PATH_SIZE])
{
    snprintf(path, FOLDER_PATH_SIZE, "%s/%s", folder->path, name);
    FILE *file = fopen(path, "we");
    if (!CHECK(file != NULL))
        return false;
    bool is_written = fputs(text, file) >= 0;
    return CHECK(fclose(file) == 0 && is_written);
}

void folder_remove(test_folder *folder)
{
    DIR *dir = *folder->path ? opendir(folder->path) : NULL;
    if (!dir)
        return;
    // A test has one thread here. NOLINTNEXTLINE(concurrency-mt-unsafe)
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char path[sizeof(folder->path) + sizeof(entry->d_name) + 1];
        snprintf(path, sizeof(path), "%s/%s", folder->path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(path);
    }
    closedir(dir);
    rmdir(folder->path);
    folder->path[0] = '\0';
}
