// Runs a fuzz target over its stored inputs: replay of FOLDER, or of single files.
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 1024

// Runs one input. The name stands before whatever goes wrong with it.
static bool run_file(const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "rbe");
    if (!file || fstat(fileno(file), &about) != 0) {
        (void)fprintf(stderr, "cannot read %s\n", path);
        exit(EXIT_FAILURE);
    }
    size_t size = (size_t)about.st_size;
    uint8_t *data = fuzz_must(malloc(size + 1));
    size_t len = fread(data, 1, size, file);
    (void)fclose(file);
    // Of exactly its size, so that reading beyond is noticed.
    uint8_t *exact = fuzz_must(malloc(len > 0 ? len : 1));
    memcpy(exact, data, len);
    free(data);
    (void)printf("%s\n", path);
    (void)fflush(stdout);
    (void)LLVMFuzzerTestOneInput(exact, len);
    free(exact);
    return len == size;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int run_folder(const char *folder)
{
    struct dirent **entries = NULL;
    int n_run = 0;
    int n = scandir(folder, &entries, is_input, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_SIZE];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        n_run += run_file(path);
        free(entries[i]);
    }
    free(entries);
    return n_run;
}

int main(int argc, char **argv)
{
    int n_run = 0;
    for (int i = 1; i < argc; i++) {
        struct stat about;
        bool is_folder = stat(argv[i], &about) == 0 && S_ISDIR(about.st_mode);
        n_run += is_folder ? run_folder(argv[i]) : run_file(argv[i]);
    }
    if (n_run > 0)
        return EXIT_SUCCESS;
    (void)fputs("no input was run\n", stderr);
    return EXIT_FAILURE;
}
