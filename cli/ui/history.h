// The lines that were typed before, kept in a file: history, beside the default store,
// mode 0600, the last 1,000 lines. A line that has several lines stands in one, with \n
// between them and \\ for a backslash.
//
// Several programs may use it at once. Thread: one thread.
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "line_editor.h"

typedef struct cli_history {
    char *path; // NULL: nothing is kept
} cli_history;

// Finds the file and gives its lines to the editor. What cannot be read or kept is told
// on stderr, once.
void cli_history_open(cli_history *history, cli_line_editor *editor);
void cli_history_close(cli_history *history);

void cli_history_add(cli_history *history, const char *line);

#endif
