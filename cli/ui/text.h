// Text for people: what agents, models and files wrote, printed so that a terminal
// obeys none of it. Escape sequences, C1 bytes, bidi controls and bytes that are no
// UTF-8 come out as the characters \x1b, \u009b, \u202e, \xff.
//
// Thread: any; the locale is set before threads start.
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum cli_text_shape {
    CLI_TEXT_LINES, // LF and TAB stay
    CLI_TEXT_ONE_LINE
} cli_text_shape;

// Reads one character and returns its bytes; 0: no UTF-8 starts here. `len` > 0.
size_t cli_text_decode(const char *text, size_t len, uint32_t *character);

bool cli_text_is_utf8(const char *text, size_t len);

// Would a terminal obey, hide or reorder something because of this character? LF and
// TAB count too.
bool cli_text_is_unsafe(uint32_t character);

void cli_text_print(FILE *stream, const char *text, size_t len, cli_text_shape shape);

// Columns of the text printed as one line.
size_t cli_text_width(const char *text);

// Prints at most so many columns, as one line; a text that is cut ends in "~". Returns
// the columns used.
size_t cli_text_print_cut(FILE *stream, const char *text, size_t columns);

#endif
