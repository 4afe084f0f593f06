// A command of the program. One command is one file, cli/NAME.c, with one entry,
// `const cadre_command cadre_command_NAME`; the build makes the table of all from the
// names of the files. Its options are data: parsing and help read the same table.
//
// What the files of the program share is called cli_...; the program uses nothing of
// the library but its public headers.
//
// Thread: const data; `run` is called once, on the main thread.
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

// What the program exits with; stable, scripts read it.
typedef enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1,  // the run failed, or stdout cannot be written
    CLI_EXIT_USAGE = 2,   // the command line or the team file
    CLI_EXIT_WAITS = 3,   // the run waits for an answer
    CLI_EXIT_ABORTED = 4, // aborted, timed out, or nobody reads stdout any more
    CLI_EXIT_STORE = 5,   // the store or a lease refused
    CLI_EXIT_LIMIT = 6    // ended by a limit, with an answer
} cli_exit;

typedef struct cli_arguments cli_arguments; // ui/options.h

typedef struct cli_option {
    const char *name;    // "json" is written --json
    const char *value;   // what stands for its value in help; NULL: a flag
    const char *summary; // one line
} cli_option;

typedef struct cadre_command {
    const char *name;
    const char *summary;   // one line for `cadre help`
    const char *arguments; // "TEAM [INPUT]"; "" when it takes none
    size_t min_arguments;  // of those that are no options
    size_t max_arguments;
    const cli_option *options; // --help is everybody's and not listed
    size_t n_options;
    const char *details;                        // paragraphs for --help; NULL: none
    int (*run)(const cli_arguments *arguments); // returns a cli_exit
} cadre_command;

// All commands, sorted by name, NULL at the end. Generated.
extern const cadre_command *const cadre_commands[];

#endif
