#include "support/screen.h"

#include <stdlib.h>
#include <string.h>

bool screen_init(screen *it, size_t columns, size_t height)
{
    *it = (screen){.n_rows = 1, .height = height, .columns = columns};
    it->rows = calloc(SCREEN_MAX_ROWS, sizeof(*it->rows));
    return it->rows != NULL && columns <= SCREEN_MAX_COLUMNS;
}

void screen_fini(screen *it)
{
    free(it->rows);
    *it = (screen){0};
}

// Makes the cursor's row one that is there and on the screen.
static void follow_cursor(screen *it)
{
    if (it->row >= SCREEN_MAX_ROWS) {
        it->has_failed = true;
        it->row = SCREEN_MAX_ROWS - 1;
    }
    if (it->row >= it->n_rows)
        it->n_rows = it->row + 1;
    if (it->n_rows > it->top + it->height)
        it->top = it->n_rows - it->height;
}

static void line_feed(screen *it)
{
    it->row++;
    follow_cursor(it);
}

static void put(screen *it, unsigned char cell)
{
    if (it->column == it->columns) {
        it->rows[it->row].goes_on = true;
        it->column = 0;
        line_feed(it);
    }
    screen_row *row = &it->rows[it->row];
    while (row->len < it->column)
        row->cells[row->len++] = ' ';
    row->cells[it->column++] = cell;
    if (row->len < it->column)
        row->len = it->column;
}

static void erase_line(screen *it)
{
    it->rows[it->row] = (screen_row){.len = 0};
    if (it->row > 0)
        it->rows[it->row - 1].goes_on = false;
}

static void erase_below(screen *it)
{
    if (it->row == it->top && it->column == 0) {
        it->row = it->top = it->n_rows;
        follow_cursor(it);
        return;
    }
    if (it->rows[it->row].len > it->column)
        it->rows[it->row].len = it->column;
    for (size_t i = it->row + 1; i < it->n_rows; i++)
        it->rows[i] = (screen_row){.len = 0};
}

static void obey(screen *it, char command, size_t number)
{
    size_t up = number ? number : 1;

    if (command == 'A')
        it->row = it->row < it->top + up ? it->top : it->row - up;
    else if (command == 'K' && number == 2)
        erase_line(it);
    else if (command == 'J' && number == 0)
        erase_below(it);
    else if (command != 'm')
        it->has_failed = true;
}

// Returns the bytes of a sequence that starts here.
static size_t read_sequence(screen *it, const char *text, size_t len)
{
    size_t number = 0, n = 2;

    if (len < 3 || text[1] != '[') {
        it->has_failed = true;
        return len;
    }
    for (; n + 1 < len && ((text[n] >= '0' && text[n] <= '9') || text[n] == ';'); n++)
        number = number * 10 + (size_t)(text[n] - '0');
    obey(it, text[n], number);
    return n + 1;
}

void screen_write(screen *it, const char *text, size_t len)
{
    for (size_t i = 0; i < len && !it->has_failed; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '\033')
            i += read_sequence(it, text + i, len - i) - 1;
        else if (byte == '\n')
            line_feed(it);
        else if (byte == '\r')
            it->column = 0;
        else if (byte >= 0xc0)
            put(it, '?');
        else if (byte >= ' ' && byte < 0x7f)
            put(it, byte);
    }
}

// Writes all lines again on a screen of the new width: that breaks them where it has
// to. The cursor stays behind the same text; below it there is nothing.
void screen_resize(screen *it, size_t columns)
{
    screen made;

    if (!screen_init(&made, columns, it->height)) {
        it->has_failed = true;
        screen_fini(&made);
        return;
    }
    for (size_t i = 0; i <= it->row; i++) {
        const screen_row *row = &it->rows[i];
        for (size_t at = 0; at < row->len; at++)
            put(&made, row->cells[at]);
        if (!row->goes_on && i < it->row) {
            made.column = 0;
            line_feed(&made);
        }
    }
    made.column = it->column < columns ? it->column : columns;
    made.has_failed |= it->has_failed;
    screen_fini(it);
    *it = made;
}

char *screen_text(const screen *it)
{
    char *text = malloc(it->n_rows * (SCREEN_MAX_COLUMNS + 1) + 1), *to = text;

    if (!text)
        return NULL;
    for (size_t i = 0; i < it->n_rows; i++) {
        memcpy(to, it->rows[i].cells, it->rows[i].len);
        to += it->rows[i].len;
        if (!it->rows[i].goes_on)
            *to++ = '\n';
    }
    *to = '\0';
    return text;
}
