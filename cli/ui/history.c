// See history.h.
#include "history.h"

#include "report.h"
#include "state_file.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINE 65536 // bytes; what is longer was hardly typed, and is not kept

static void give_up(cli_history *it, const char *why)
{
    cli_report_note("no history is kept: %s: %s", it->path, why);
    free(it->path);
    it->path = NULL;
}

// Opens the file for this program alone; closing it lets others in.
static int open_locked(const cli_history *it)
{
    int fd = open(it->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return -1;
    if (fchmod(fd, 0600) == 0 && flock(fd, LOCK_EX) == 0)
        return fd;
    int failure = errno;
    close(fd);
    errno = failure;
    return -1;
}

// All of the file, and a NUL; malloc. NULL: errno says why.
static char *read_file(int fd, size_t *len)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return NULL;
    size_t size = (size_t)file.st_size;
    char *text = malloc(size + 1);
    if (!text)
        return NULL;
    ssize_t n = pread(fd, text, size, 0);
    if (n < 0) {
        free(text);
        return NULL;
    }
    *len = (size_t)n;
    text[*len] = '\0';
    return text;
}

// In place. False: it has a NUL or is no UTF-8.
static bool decode(char *line, size_t len)
{
    char *to = line;

    if (memchr(line, '\0', len) || !cli_text_is_utf8(line, len))
        return false;
    for (const char *from = line; from < line + len; from++) {
        bool is_escape = *from == '\\' && from + 1 < line + len;
        if (is_escape)
            from++;
        if (is_escape && *from == 'n')
            *to++ = '\n';
        else
            *to++ = *from;
    }
    *to = '\0';
    return true;
}

static void give_lines(char *text, size_t len, cli_line_editor *editor)
{
    char *end = text + len;

    for (char *line = text; line < end;) {
        char *line_end = memchr(line, '\n', (size_t)(end - line));
        if (!line_end)
            line_end = end;
        if (line_end > line && decode(line, (size_t)(line_end - line)))
            cli_line_editor_remember(editor, line);
        line = line_end + 1;
    }
}

static void load(cli_history *it, cli_line_editor *editor)
{
    size_t len = 0;
    int fd = open_locked(it);
    char *text = fd < 0 ? NULL : read_file(fd, &len);

    if (text)
        give_lines(text, len, editor);
    else
        give_up(it, strerrordesc_np(errno));
    free(text);
    if (fd >= 0)
        close(fd);
}

void cli_history_open(cli_history *history, cli_line_editor *editor)
{
    cadre_error err = CADRE_ERROR_INIT;
    char path[PATH_MAX];

    history->path = NULL;
    if (!cli_state_file("history", path, sizeof(path)))
        return;
    history->path = strdup(path);
    if (!history->path)
        return;
    if (cli_state_make_folders(path, &err) != CADRE_OK) {
        give_up(history, err.text);
        return;
    }
    load(history, editor);
}

void cli_history_close(cli_history *history)
{
    free(history->path);
    history->path = NULL;
}

// The line as it stands in the file, with its end; malloc.
static char *encode(const char *line, size_t *len)
{
    char *text = malloc(strlen(line) * 2 + 2), *to = text;

    if (!text)
        return NULL;
    for (; *line; line++) {
        if (*line == '\\' || *line == '\n')
            *to++ = '\\';
        *to++ = *line;
        if (*line == '\n')
            to[-1] = 'n';
    }
    *to++ = '\n';
    *len = (size_t)(to - text);
    return text;
}

// Where the last `CLI_HISTORY_MAX - 1` lines begin.
static const char *kept_from(const char *text, size_t len)
{
    size_t n_lines = 0;

    for (const char *at = text + len; at > text; at--)
        if (at[-1] == '\n' && ++n_lines == CLI_HISTORY_MAX)
            return at;
    return text;
}

static bool write_at(int fd, const char *text, size_t len, off_t at)
{
    return pwrite(fd, text, len, at) == (ssize_t)len;
}

// Puts the line behind the others, and these further up when there are too many.
static bool add_line(int fd, const char *text, size_t len, const char *line,
                     size_t line_len)
{
    const char *kept = kept_from(text, len);
    size_t n_kept = len - (size_t)(kept - text);

    if (n_kept >= line_len && memcmp(text + len - line_len, line, line_len) == 0 &&
        (n_kept == line_len || text[len - line_len - 1] == '\n'))
        return true; // the same as before
    if (kept > text && !write_at(fd, kept, n_kept, 0))
        return false;
    return write_at(fd, line, line_len, (off_t)n_kept) &&
           ftruncate(fd, (off_t)(n_kept + line_len)) == 0;
}

static bool add(const cli_history *it, const char *line, size_t line_len)
{
    size_t len = 0;
    int fd = open_locked(it);
    char *text = fd < 0 ? NULL : read_file(fd, &len);
    bool is_added = text && add_line(fd, text, len, line, line_len);
    int failure = errno;

    free(text);
    if (fd >= 0)
        close(fd);
    errno = failure;
    return is_added;
}

void cli_history_add(cli_history *history, const char *line)
{
    size_t len = 0;
    char *text = NULL;

    if (!history->path || strlen(line) > MAX_LINE)
        return;
    text = encode(line, &len);
    if (text && !add(history, text, len))
        give_up(history, strerrordesc_np(errno));
    free(text);
}
