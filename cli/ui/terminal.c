// See terminal.h.
#include "terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void cli_terminal_init(cli_terminal *terminal, int fd, bool is_plain)
{
    const char *term = getenv("TERM");
    const char *no_colour = getenv("NO_COLOR");
    bool can_move = term && *term && strcmp(term, "dumb") != 0;

    terminal->fd = fd;
    terminal->is_terminal = isatty(fd) == 1;
    terminal->has_movement = terminal->is_terminal && can_move && !is_plain;
    terminal->has_colour = terminal->has_movement && !(no_colour && *no_colour);
    terminal->has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void cli_terminal_size(const cli_terminal *terminal, size_t *columns, size_t *rows)
{
    struct winsize size = {0};

    *columns = 80;
    *rows = 24;
    if (ioctl(terminal->fd, TIOCGWINSZ, &size) != 0)
        return;
    if (size.ws_col > 0)
        *columns = size.ws_col;
    if (size.ws_row > 0)
        *rows = size.ws_row;
}

void cli_terminal_colour(const cli_terminal *terminal, FILE *stream, cli_colour colour)
{
    static const char *const codes[] = {
        [CLI_COLOUR_NONE] = "\033[0m",    [CLI_COLOUR_DIM] = "\033[2m",
        [CLI_COLOUR_RED] = "\033[31m",    [CLI_COLOUR_GREEN] = "\033[32m",
        [CLI_COLOUR_YELLOW] = "\033[33m", [CLI_COLOUR_CYAN] = "\033[36m",
    };

    if (terminal->has_colour)
        fputs(codes[colour], stream);
}
