// See files.h.
#include "files.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

// What is no ordinary file has no size that is known before it is read. To open a pipe
// must not wait for who writes to it.
static const char *open_file(const char *path, FILE **stream, size_t *size)
{
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *stream = file < 0 ? NULL : fdopen(file, "rb");
    if (!*stream && file >= 0)
        close(file);
    if (!*stream || fstat(file, &found) != 0)
        return strerrordesc_np(errno);
    if (!S_ISREG(found.st_mode))
        return "is no ordinary file";
    if (found.st_size == 0)
        return "is empty";
    if ((size_t)found.st_size > CADRE_FILE_MAX_BYTES)
        return "is larger than 20 MiB";
    *size = (size_t)found.st_size;
    return NULL;
}

// The file's bytes, then its name. Why it cannot be shown to a model; NULL: it can.
static const char *read_file(const char *path, cadre_file *file, char **out)
{
    const char *name = name_of(path);
    FILE *stream = NULL;
    size_t size = 0;
    const char *why = open_file(path, &stream, &size);
    char *data = why ? NULL : malloc(size + strlen(name) + 1);

    if (!why && !data)
        why = "out of memory";
    if (!why && fread(data, 1, size, stream) != size)
        why = "could not be read to its end";
    if (!why && !cadre_file_media_type(data, size))
        why = "is of no kind that models take (PNG, JPEG, GIF, WebP, PDF, WAV, MP3 or "
              "text in UTF-8)";
    if (stream)
        fclose(stream);
    if (why) {
        free(data);
        return why;
    }
    *out = data;
    *file = (cadre_file){.name = memcpy(data + size, name, strlen(name) + 1),
                         .data = data,
                         .size_bytes = size};
    return NULL;
}

// Room for one more.
static bool grow(cli_files *files)
{
    cadre_file *items = realloc(files->items, (files->count + 1) * sizeof(*items));
    if (items)
        files->items = items;
    char **data = realloc(files->data, (files->count + 1) * sizeof(*data));
    if (data)
        files->data = data;
    return items && data;
}

const char *cli_files_add(cli_files *files, const char *path)
{
    if (!grow(files))
        return "out of memory";
    const char *why =
        read_file(path, &files->items[files->count], &files->data[files->count]);
    if (!why)
        files->count++;
    return why;
}

int cli_files_read(const cli_arguments *arguments, cli_files *files)
{
    *files = (cli_files){.items = NULL};
    for (size_t i = 0; i < arguments->n_given; i++) {
        const cli_given *given = &arguments->given[i];
        if (strcmp(given->option->name, "file") != 0)
            continue;
        const char *why = cli_files_add(files, given->value);
        if (why)
            return cli_report_usage(arguments->command, "option '--file': '%s': %s",
                                    given->value, why);
    }
    return CLI_EXIT_OK;
}

void cli_files_fini(cli_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->data[i]);
    free(files->data);
    free(files->items);
    *files = (cli_files){.items = NULL};
}
