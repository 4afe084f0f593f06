// See prompt.h.
#include "prompt.h"

#include "report.h"
#include "terminal.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT ((size_t)16 * 1024 * 1024)
#define GOES_ON "... "

bool cli_prompt_open(cli_prompt *prompt)
{
    cli_terminal err;

    *prompt = (cli_prompt){0};
    if (!cli_stdin_watch_open(&prompt->watch))
        return false;
    cli_terminal_init(&err, STDERR_FILENO, false);
    prompt->is_terminal = err.is_terminal && isatty(STDIN_FILENO) == 1;
    if (prompt->is_terminal && err.has_movement)
        prompt->editor = cli_line_editor_new(&prompt->watch);
    if (prompt->editor)
        cli_history_open(&prompt->history, prompt->editor);
    return true;
}

void cli_prompt_close(cli_prompt *prompt)
{
    cli_history_close(&prompt->history);
    cli_line_editor_free(prompt->editor);
    cli_stdin_watch_close(&prompt->watch);
    free(prompt->text);
}

void cli_prompt_remember(cli_prompt *prompt, const char *text)
{
    if (!prompt->editor)
        return;
    cli_line_editor_remember(prompt->editor, text);
    cli_history_add(&prompt->history, text);
}

// --- Without an editor ---

// Takes the first line out of what was read, which is `len` bytes of it and its end. A
// NUL becomes a byte that no text has, so that it is found.
static char *take_line(cli_prompt *it, size_t len, size_t len_with_end)
{
    char *line = malloc(len + 1);

    if (line) {
        memcpy(line, it->text, len);
        line[len] = '\0';
        for (char *nul = memchr(line, '\0', len); nul; nul = memchr(line, '\0', len))
            *nul = '\xff';
    }
    memmove(it->text, it->text + len_with_end, it->len - len_with_end);
    it->len -= len_with_end;
    return line;
}

static char *next_line(cli_prompt *it)
{
    const char *end = it->len > 0 ? memchr(it->text, '\n', it->len) : NULL;

    if (!end)
        return NULL;
    size_t len = (size_t)(end - it->text);
    bool has_return = len > 0 && end[-1] == '\r';
    return take_line(it, len - has_return, len + 1);
}

static bool make_room(cli_prompt *it)
{
    size_t room = it->room ? it->room * 2 : 4096;

    if (it->len < it->room)
        return true;
    char *grown = realloc(it->text, room);
    if (!grown)
        return false;
    it->text = grown;
    it->room = room;
    return true;
}

// Reads once. CLI_SAID_TEXT: there may be a line now.
static cli_said read_more(cli_prompt *it)
{
    if (!make_room(it)) {
        cli_report("out of memory");
        return CLI_SAID_END;
    }
    ssize_t n = read(STDIN_FILENO, it->text + it->len, it->room - it->len);
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
        cli_report("cannot read stdin: %s", strerrordesc_np(errno));
        return CLI_SAID_END;
    }
    it->len += n > 0 ? (size_t)n : 0;
    if (it->len > MAX_TEXT && !memchr(it->text, '\n', it->len)) {
        it->is_skipping = true;
        it->len = 0;
    }
    return n == 0 ? CLI_SAID_END : CLI_SAID_TEXT;
}

static cli_said of_wake(const cli_prompt *it, cli_wake wake)
{
    if (wake == CLI_WAKE_INTERRUPT)
        return it->is_terminal ? CLI_SAID_NOTHING : CLI_SAID_STOP;
    return wake == CLI_WAKE_STOP     ? CLI_SAID_STOP
           : wake == CLI_WAKE_CLOSED ? CLI_SAID_CLOSED
                                     : CLI_SAID_END;
}

static cli_said await_line(cli_prompt *it, char **line)
{
    for (;;) {
        *line = next_line(it);
        if (*line)
            return CLI_SAID_TEXT;
        cli_wake wake = cli_stdin_watch_wait(&it->watch);
        if (wake == CLI_WAKE_RESIZE || wake == CLI_WAKE_SUSPEND)
            continue;
        if (wake != CLI_WAKE_INPUT)
            return of_wake(it, wake);
        if (read_more(it) == CLI_SAID_TEXT)
            continue;
        // The end: of the last line, or of all.
        bool has_more = it->len > 0 || it->is_skipping;
        *line = has_more ? take_line(it, it->len, it->len) : NULL;
        return *line ? CLI_SAID_TEXT : CLI_SAID_END;
    }
}

static cli_said read_plainly(cli_prompt *it, const char *sign, char **line)
{
    if (it->is_terminal)
        fputs(sign, stderr);
    cli_said said = await_line(it, line);
    if (said == CLI_SAID_NOTHING)
        it->len = 0;
    if (it->is_terminal && said != CLI_SAID_TEXT)
        fputc('\n', stderr);
    return said;
}

static cli_said read_edited(cli_prompt *it, const char *sign, char **line)
{
    cli_wake wake = CLI_WAKE_INPUT;

    *line = cli_line_editor_read(it->editor, sign, &wake);
    return *line ? CLI_SAID_TEXT : of_wake(it, wake);
}

static cli_said read_line(cli_prompt *it, const char *sign, char **line)
{
    return it->editor ? read_edited(it, sign, line) : read_plainly(it, sign, line);
}

// --- Texts ---

static cli_said check(cli_prompt *it, const char *text)
{
    if (it->is_skipping || strlen(text) > MAX_TEXT)
        cli_report("that is more than 16 MiB; it is not sent");
    else if (!cli_text_is_utf8(text, strlen(text)))
        cli_report("that is no text in UTF-8; it is not sent");
    else
        return CLI_SAID_TEXT;
    it->is_skipping = false;
    return CLI_SAID_BAD;
}

// Puts the line behind the text, which it takes as it takes the line.
static char *join_take(char *text, char *line)
{
    if (!text)
        return line;
    size_t len = strlen(text);
    char *joined = realloc(text, len + strlen(line) + 2);
    if (joined) {
        joined[len] = '\n';
        memcpy(joined + len + 1, line, strlen(line) + 1);
    } else {
        free(text);
    }
    free(line);
    return joined;
}

// Takes the backslash away.
static bool goes_on(char *text)
{
    size_t len = strlen(text);

    if (len == 0 || text[len - 1] != '\\')
        return false;
    text[len - 1] = '\0';
    return true;
}

cli_said cli_prompt_read(cli_prompt *prompt, const char *sign, char **text)
{
    char *whole = NULL;
    cli_said said = CLI_SAID_TEXT;

    do {
        char *line = NULL;
        said = read_line(prompt, whole ? GOES_ON : sign, &line);
        if (said != CLI_SAID_TEXT)
            break;
        whole = join_take(whole, line);
    } while (whole && goes_on(whole));
    if (said == CLI_SAID_END && whole) // the end of the text only
        said = CLI_SAID_TEXT;
    if (said == CLI_SAID_TEXT && !whole) {
        cli_report("out of memory");
        return CLI_SAID_BAD;
    }
    if (said == CLI_SAID_TEXT)
        said = check(prompt, whole);
    if (said == CLI_SAID_TEXT)
        *text = whole;
    else
        free(whole);
    return said;
}
