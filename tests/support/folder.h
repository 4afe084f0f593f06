// A temporary folder with files that a test writes.
//
// Thread: one at a time.
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>

#define FOLDER_PATH_SIZE 256

typedef struct test_folder {
    char path[64]; // "" when it could not be made
} test_folder;

// Makes an empty folder. False: it could not be made.
bool folder_make(test_folder *folder);

// Writes a file of that name and gives its path in `path`. False: the test has failed.
bool folder_write(const test_folder *folder, const char *name, const char *text,
                  char path[FOLDER_PATH_SIZE]);

// Removes the folder and the files in it.
void folder_remove(test_folder *folder);

#endif
