// See line_editor.h.
#include "line_editor.h"

#include <errno.h>
#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

struct cli_line_editor {
    cli_stdin_watch *watch;
    EditLine *edit;
    History *history;
    char *prompt;
    cli_wake wake; // why reading ended without a line
};

#define TEXT(macro) TEXT_OF(macro)
#define TEXT_OF(word) #word

const char *cli_line_editor_version(void)
{
    return "libedit " TEXT(LIBEDIT_MAJOR) "." TEXT(LIBEDIT_MINOR);
}

static cli_line_editor *of(EditLine *edit)
{
    void *editor = NULL;

    el_get(edit, EL_CLIENTDATA, &editor);
    return editor;
}

static char *give_prompt(EditLine *edit)
{
    return of(edit)->prompt;
}

// The library draws from where the cursor is, as if the line were empty.
static void draw_again(EditLine *edit)
{
    fputs("\r\033[K", stderr);
    el_set(edit, EL_REFRESH);
}

static void suspend(EditLine *edit)
{
    el_set(edit, EL_PREP_TERM, 0);
    cli_stdin_watch_suspend();
    el_set(edit, EL_PREP_TERM, 1);
    draw_again(edit);
}

static void resize(EditLine *edit)
{
    el_resize(edit);
    draw_again(edit);
}

// Waits for input and does beside it what the editor must do. False: reading ends.
static bool await_input(cli_line_editor *it)
{
    for (;;) {
        it->wake = cli_stdin_watch_wait(it->watch);
        if (it->wake == CLI_WAKE_RESIZE)
            resize(it->edit);
        else if (it->wake == CLI_WAKE_SUSPEND)
            suspend(it->edit);
        else
            return it->wake == CLI_WAKE_INPUT;
    }
}

// Reads one character; bytes that are none are dropped. 0 or -1 ends the line.
static int read_key(EditLine *edit, wchar_t *key)
{
    cli_line_editor *it = of(edit);
    mbstate_t state = {0};
    char byte = 0;

    while (await_input(it)) {
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return 0;
        // With a state of its own. NOLINTNEXTLINE(concurrency-mt-unsafe)
        size_t len = mbrtowc(key, &byte, 1, &state);
        if (len == (size_t)-1)
            state = (mbstate_t){0};
        else if (len != (size_t)-2)
            return 1;
    }
    return -1;
}

static bool set_up(cli_line_editor *it)
{
    HistEvent event;

    it->edit = el_init("cadre", stdin, stderr, stderr);
    it->history = history_init();
    if (!it->edit || !it->history)
        return false;
    history(it->history, &event, H_SETSIZE, CLI_HISTORY_MAX);
    history(it->history, &event, H_SETUNIQUE, 1);
    el_set(it->edit, EL_CLIENTDATA, it);
    el_set(it->edit, EL_PROMPT, give_prompt);
    el_set(it->edit, EL_HIST, history, it->history);
    el_set(it->edit, EL_EDITOR, "emacs");
    el_wset(it->edit, EL_GETCFN, read_key);
    el_set(it->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(it->edit, EL_BIND, "^I", "ed-insert", NULL); // of a text that is pasted
    el_source(it->edit, NULL);
    return true;
}

cli_line_editor *cli_line_editor_new(cli_stdin_watch *watch)
{
    cli_line_editor *it = calloc(1, sizeof(*it));

    if (!it)
        return NULL;
    it->watch = watch;
    if (set_up(it))
        return it;
    cli_line_editor_free(it);
    return NULL;
}

void cli_line_editor_free(cli_line_editor *editor)
{
    if (!editor)
        return;
    if (editor->edit)
        el_end(editor->edit);
    if (editor->history)
        history_end(editor->history);
    free(editor->prompt);
    free(editor);
}

void cli_line_editor_remember(cli_line_editor *editor, const char *line)
{
    HistEvent event;

    history(editor->history, &event, H_ENTER, line);
}

static char *read_line(cli_line_editor *it)
{
    int len = 0;

    el_set(it->edit, EL_PREP_TERM, 1); // before the prompt: what is typed at it counts
    const char *line = el_gets(it->edit, &len);

    if (!line || len <= 0)
        return NULL;
    return strndup(line, strcspn(line, "\n"));
}

char *cli_line_editor_read(cli_line_editor *editor, const char *prompt, cli_wake *wake)
{
    free(editor->prompt);
    editor->prompt = strdup(prompt);
    editor->wake = CLI_WAKE_INPUT;
    if (!editor->prompt)
        return NULL;
    cli_stdin_watch_begin(editor->watch);
    char *line = read_line(editor);
    cli_stdin_watch_end(editor->watch);
    *wake = editor->wake;
    if (!line)
        fputs(editor->wake == CLI_WAKE_INTERRUPT ? "^C\n" : "\n", stderr);
    return line;
}
