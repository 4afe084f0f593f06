// Reading what a user says, line by line: at a prompt with editing and history where
// stdin and stderr are a terminal, else just as it comes.
//
// A line that ends in a backslash goes on on the next one. Thread: one thread; blocks.
#ifndef CLI_PROMPT_H
#define CLI_PROMPT_H

#include "history.h"

typedef enum cli_said {
    CLI_SAID_TEXT,
    CLI_SAID_NOTHING, // Ctrl-C: what was typed is dropped
    CLI_SAID_BAD,     // no text, or too much of it; told on stderr
    CLI_SAID_END,     // Ctrl-D, or the end of stdin
    CLI_SAID_STOP,    // SIGTERM, SIGHUP; without a terminal SIGINT, too
    CLI_SAID_CLOSED   // nobody reads stdout any more
} cli_said;

typedef struct cli_prompt {
    cli_stdin_watch watch;
    bool is_terminal;
    cli_line_editor *editor; // NULL: none, lines come as the terminal gives them
    cli_history history;
    char *text; // read and not given out yet: `len` bytes
    size_t len, room;
    bool is_skipping; // the line that comes is too long
} cli_prompt;

// False: told on stderr. Close it in both cases.
bool cli_prompt_open(cli_prompt *prompt);
void cli_prompt_close(cli_prompt *prompt);

// Reads a text that has no NUL and is UTF-8; malloc. `sign` is shown where there is a
// terminal. SIGINT and the like are held back between two calls.
cli_said cli_prompt_read(cli_prompt *prompt, const char *sign, char **text);

// Keeps a text for the user to have it again.
void cli_prompt_remember(cli_prompt *prompt, const char *text);

#endif
