// A terminal as one sees it: what a program wrote, on a screen and in the lines that
// have left it at the top.
//
// It does what tmux does where terminals differ: a width that changes breaks and joins
// lines anew, and an "erase to the end of the screen" at the top left corner keeps the
// screen as history. All characters are one column wide. Thread: one.
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#define SCREEN_MAX_COLUMNS 256
#define SCREEN_MAX_ROWS 2048

typedef struct screen_row {
    unsigned char cells[SCREEN_MAX_COLUMNS]; // '?': a character beyond ASCII
    size_t len;                              // up to the last one written
    bool goes_on;                            // in the next row: it was too long
} screen_row;

typedef struct screen {
    screen_row *rows; // history and screen
    size_t n_rows, height, columns;
    size_t top;         // the first row of the screen
    size_t row, column; // of the cursor
    bool has_failed;    // more than it has room for, or a sequence it does not know
} screen;

bool screen_init(screen *it, size_t columns, size_t height);
void screen_fini(screen *it);

void screen_write(screen *it, const char *text, size_t len);
void screen_resize(screen *it, size_t columns);

// Screen and history as text, a line end after each line; malloc.
char *screen_text(const screen *it);

#endif
