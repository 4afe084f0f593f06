// Standard output, written so that no failure is missed: a full disk and a reader that
// went away are seen, remembered and told.
//
// Thread: one thread.
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "command.h"

#include <jansson.h>
#include <stdio.h>

typedef struct cli_output {
    int fd;
    int failure; // errno of the first write that failed; 0
} cli_output;

void cli_output_init(cli_output *output);

// Writes all of it at once, unbuffered. After a failure it does nothing. Returns
// whether everything so far was written.
bool cli_output_write(cli_output *output, const char *text, size_t len);

// Writes a value and a line end. Inside texts, what a terminal would obey is written as
// \uXXXX. `flags` are those of json_dumps.
bool cli_output_write_json(cli_output *output, const json_t *value, size_t flags);

// Did the reader go away?
bool cli_output_is_closed(const cli_output *output);

// Closes stdout. Returns `exit_status`, or what a failure of writing makes of it, told
// on stderr unless the reader just went away.
int cli_output_finish(cli_output *output, int exit_status);

// The same, but more will be written: stdout stays open.
int cli_output_leave(cli_output *output, int exit_status);

// A page put together in memory, then written at once.
typedef struct cli_page {
    FILE *stream; // NULL: no memory
    char *text;
    size_t len;
} cli_page;

// False: no memory, told on stderr.
bool cli_page_init(cli_page *page);
// Gives the page out and frees it; returns what the command exits with.
int cli_page_finish(cli_page *page, int exit_status);
// The same on stderr, where it stands in one piece.
void cli_page_tell(cli_page *page);

#endif
