// See live_tree.h.
#include "live_tree.h"

#include "live_frames.h"

#include "print_tree.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_MS 80

struct cli_live_tree {
    const cli_terminal *terminal;
    pthread_t thread;
    pthread_mutex_t mu;
    pthread_cond_t stopped; // waits for `is_stopping`, on the monotonic clock
    cli_live_frames frames; // guarded by mu, as all below
    size_t *drawn_widths;   // columns of the lines that stand on the screen
    size_t n_drawn, n_drawn_room;
    unsigned n_draws;
    bool is_hidden, is_stopping;
};

static void write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n <= 0)
            return; // the terminal is gone, or busy: the next drawing repairs it
        text += n;
        len -= (size_t)n;
    }
}

// Erases what stands on the screen, line by line from below, and is then in the first
// column of its first line. A terminal made narrower since has broken long lines in
// several; one made wider has joined them again. What has left the screen at the top is
// out of reach.
//
// Not with one "erase to the end of the screen": where that starts at the top left
// corner some terminals (tmux) keep the screen as history first, with the tree in it.
static void erase(const cli_live_tree *tree, size_t columns, size_t rows, FILE *stream)
{
    size_t n_lines = 0;

    for (size_t i = 0; i < tree->n_drawn; i++)
        n_lines += tree->drawn_widths[i] > 0
                       ? (tree->drawn_widths[i] + columns - 1) / columns
                       : 1;
    if (n_lines > rows - 1)
        n_lines = rows - 1;
    fputc('\r', stream);
    for (size_t i = 0; i < n_lines; i++)
        fputs("\033[A\033[2K", stream);
}

static bool make_room(cli_live_tree *tree, size_t n_rows)
{
    if (n_rows <= tree->n_drawn_room)
        return true;
    size_t *grown = realloc(tree->drawn_widths, n_rows * sizeof(*grown));
    if (!grown)
        return false;
    tree->drawn_widths = grown;
    tree->n_drawn_room = n_rows;
    return true;
}

// One write for a whole picture, so that nobody sees half of one.
static void draw_locked(cli_live_tree *tree, bool is_empty)
{
    char *text = NULL;
    size_t len = 0, columns = 0, rows = 0;
    FILE *stream = open_memstream(&text, &len);

    if (!stream)
        return;
    cli_terminal_size(tree->terminal, &columns, &rows);
    erase(tree, columns, rows, stream);
    tree->n_drawn = 0;
    if (!is_empty && rows > 1 && columns > 1 && make_room(tree, rows)) {
        cli_tree_page page = {.columns = columns - 1, .max_rows = rows - 1};
        if (cli_live_frames_page(&tree->frames, tree->n_draws++, &page))
            tree->n_drawn =
                cli_tree_print(&page, tree->terminal, stream, tree->drawn_widths);
    }
    if (fclose(stream) == 0)
        write_all(tree->terminal->fd, text, len);
    free(text);
}

static struct timespec next_draw(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += REDRAW_MS * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_nsec -= 1000000000L;
        at.tv_sec++;
    }
    return at;
}

static void *draw_until_stopped(void *argument)
{
    cli_live_tree *tree = argument;

    pthread_mutex_lock(&tree->mu);
    while (!tree->is_stopping) {
        struct timespec at = next_draw();
        while (!tree->is_stopping &&
               pthread_cond_timedwait(&tree->stopped, &tree->mu, &at) == 0)
            continue;
        if (!tree->is_stopping && !tree->is_hidden)
            draw_locked(tree, false);
    }
    pthread_mutex_unlock(&tree->mu);
    return NULL;
}

cli_live_tree *cli_live_tree_start(const cli_terminal *terminal)
{
    cli_live_tree *tree = calloc(1, sizeof(*tree));
    pthread_condattr_t monotonic;

    if (!tree)
        return NULL;
    tree->terminal = terminal;
    pthread_mutex_init(&tree->mu, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&tree->stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!cli_live_frames_init(&tree->frames) ||
        pthread_create(&tree->thread, NULL, draw_until_stopped, tree) != 0) {
        cli_live_frames_fini(&tree->frames);
        pthread_cond_destroy(&tree->stopped);
        pthread_mutex_destroy(&tree->mu);
        free(tree);
        return NULL;
    }
    return tree;
}

void cli_live_tree_take(cli_live_tree *tree, const cadre_event *event)
{
    if (!tree)
        return;
    pthread_mutex_lock(&tree->mu);
    cli_live_frames_take(&tree->frames, event);
    pthread_mutex_unlock(&tree->mu);
}

static void set_hidden(cli_live_tree *tree, bool is_hidden)
{
    if (!tree)
        return;
    pthread_mutex_lock(&tree->mu);
    if (is_hidden && tree->n_drawn > 0)
        draw_locked(tree, true);
    tree->is_hidden = is_hidden;
    pthread_mutex_unlock(&tree->mu);
}

void cli_live_tree_hide(cli_live_tree *tree)
{
    set_hidden(tree, true);
}

void cli_live_tree_show(cli_live_tree *tree)
{
    set_hidden(tree, false);
}

void cli_live_tree_stop(cli_live_tree *tree)
{
    if (!tree)
        return;
    cli_live_tree_hide(tree);
    pthread_mutex_lock(&tree->mu);
    tree->is_stopping = true;
    pthread_cond_signal(&tree->stopped);
    pthread_mutex_unlock(&tree->mu);
    pthread_join(tree->thread, NULL);
    cli_live_frames_fini(&tree->frames);
    pthread_cond_destroy(&tree->stopped);
    pthread_mutex_destroy(&tree->mu);
    free(tree->drawn_widths);
    free(tree);
}
