// Files that come with an input: those of --file, and of /file in a conversation.
//
// Thread: one thread.
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "options.h"

#include <cadre/file.h>

#define CLI_FILE_OPTION                                                                \
    {                                                                                  \
        "file", "PATH",                                                                \
            "show the model this file too: a picture, a PDF, sound or text; may be "   \
            "given many times"                                                         \
    }

typedef struct cli_files {
    cadre_file *items; // owned
    char **data;       // owned: what the items point to
    size_t count;
} cli_files;

// Reads one more. NULL, or why it cannot be shown to a model: "is empty".
const char *cli_files_add(cli_files *files, const char *path);

// Reads all that the command line names. CLI_EXIT_OK, or a failure told on stderr. Free
// it in both cases.
int cli_files_read(const cli_arguments *arguments, cli_files *files);
void cli_files_fini(cli_files *files);

#endif
