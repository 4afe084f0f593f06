// One line from a terminal, with editing and history (libedit).
//
// The terminal is changed while a line is read and never else: it is as it was whenever
// a function here has returned, and while the program is suspended by Ctrl-Z.
// Thread: one thread.
#ifndef CLI_LINE_EDITOR_H
#define CLI_LINE_EDITOR_H

#include "stdin_watch.h"

#include <stddef.h>

typedef struct cli_line_editor cli_line_editor;

// Edits on stderr. The watch must outlive it. NULL: the terminal cannot do it, or no
// memory; lines can be read without.
cli_line_editor *cli_line_editor_new(cli_stdin_watch *watch);
void cli_line_editor_free(cli_line_editor *editor); // NULL ok

// Adds a line to those that can be had again; the oldest of more than `CLI_HISTORY_MAX`
// go.
#define CLI_HISTORY_MAX 1000
void cli_line_editor_remember(cli_line_editor *editor, const char *line);

// Reads a line, without its end; malloc. NULL: why stands in `wake`, and CLI_WAKE_INPUT
// is Ctrl-D on an empty line, or the end of stdin.
char *cli_line_editor_read(cli_line_editor *editor, const char *prompt, cli_wake *wake);

// The library's name and the version of its interface: "libedit 2.11".
const char *cli_line_editor_version(void);

#endif
