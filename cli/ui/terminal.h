// What a stream is and what may be sent to it: colours, cursor movements, line drawing.
//
// Thread: plain data after init.
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct cli_terminal {
    int fd;
    bool is_terminal;
    bool has_colour;   // a terminal, and neither NO_COLOR, --plain nor TERM=dumb
    bool has_movement; // lines may be drawn again
    bool has_utf8;     // by the locale
} cli_terminal;

typedef enum cli_colour {
    CLI_COLOUR_NONE,
    CLI_COLOUR_DIM,
    CLI_COLOUR_RED,
    CLI_COLOUR_GREEN,
    CLI_COLOUR_YELLOW,
    CLI_COLOUR_CYAN
} cli_colour;

void cli_terminal_init(cli_terminal *terminal, int fd, bool is_plain);

// Asks for the size as it is now; 80 by 24 when nobody knows.
void cli_terminal_size(const cli_terminal *terminal, size_t *columns, size_t *rows);

// Switches the colour of what follows; nothing when the terminal has none.
void cli_terminal_colour(const cli_terminal *terminal, FILE *stream, cli_colour colour);

#endif
