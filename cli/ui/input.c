// See input.h.
#include "input.h"

#include "report.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_INPUT ((size_t)16 * 1024 * 1024)

// Grows by doubling; one byte more than the most shows that there was more.
static int read_all(char **text, size_t *len)
{
    size_t size = 0;

    for (;;) {
        if (*len == size) {
            size = size ? size * 2 : 4096;
            char *grown = realloc(*text, size + 1);
            if (!grown)
                return ENOMEM;
            *text = grown;
        }
        ssize_t n = read(STDIN_FILENO, *text + *len, size - *len);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
        *len += n > 0 ? (size_t)n : 0;
        if (*len > MAX_INPUT)
            return EFBIG;
    }
}

static int check(const char *text, size_t len, int failure)
{
    if (failure == EFBIG) {
        cli_report("stdin holds more than 16 MiB");
        return CLI_EXIT_USAGE;
    }
    if (failure) {
        cli_report("cannot read stdin: %s", strerrordesc_np(failure));
        return CLI_EXIT_USAGE;
    }
    const char *nul = memchr(text, '\0', len);
    if (nul) {
        cli_report("stdin is no text: it has a NUL byte at offset %td", nul - text);
        return CLI_EXIT_USAGE;
    }
    if (!cli_text_is_utf8(text, len)) {
        cli_report("stdin is not valid UTF-8; convert it, for instance with iconv");
        return CLI_EXIT_USAGE;
    }
    return CLI_EXIT_OK;
}

static size_t without_line_end(const char *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\n')
        len--;
    if (len > 0 && text[len - 1] == '\r')
        len--;
    return len;
}

int cli_input_read(char **out)
{
    char *text = NULL;
    size_t len = 0;
    int failure = read_all(&text, &len);
    int exit_status = check(text, len, failure);

    if (exit_status != CLI_EXIT_OK) {
        free(text);
        return exit_status;
    }
    text[without_line_end(text, len)] = '\0';
    *out = text;
    return CLI_EXIT_OK;
}

int cli_input_take(const cli_arguments *arguments, size_t nth, char **out)
{
    const char *text = cli_arguments_text(arguments, nth);

    if (!text && isatty(STDIN_FILENO) == 1)
        return cli_report_usage(arguments->command,
                                "no input: give a text, or pipe one into it");
    if (text && strcmp(text, "-") != 0) {
        if (!cli_text_is_utf8(text, strlen(text)))
            return cli_report_usage(arguments->command, "the input is not UTF-8");
        *out = strdup(text);
        if (*out)
            return CLI_EXIT_OK;
        cli_report("out of memory");
        return CLI_EXIT_FAILED;
    }
    int exit_status = cli_input_read(out);
    if (exit_status == CLI_EXIT_OK && !**out)
        return cli_report_usage(arguments->command, "no input: stdin is empty");
    return exit_status;
}
