// See output.h.
#include "output.h"

#include "report.h"
#include "text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_output_init(cli_output *output)
{
    output->fd = STDOUT_FILENO;
    output->failure = 0;
}

// A descriptor that somebody made non-blocking is full for now: waits for it.
static bool can_go_on(int fd)
{
    struct pollfd slot = {.fd = fd, .events = POLLOUT};

    if (errno == EINTR)
        return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return false;
    return poll(&slot, 1, -1) >= 0 || errno == EINTR;
}

bool cli_output_write(cli_output *output, const char *text, size_t len)
{
    while (len > 0 && output->failure == 0) {
        ssize_t n = write(output->fd, text, len);
        if (n >= 0) {
            text += n;
            len -= (size_t)n;
        } else if (!can_go_on(output->fd)) {
            output->failure = errno;
        }
    }
    return output->failure == 0;
}

static void print_escape(FILE *stream, uint32_t character)
{
    if (character > 0xffff) {
        uint32_t rest = character - 0x10000;
        fprintf(stream, "\\u%04x\\u%04x", 0xd800U + (rest >> 10),
                0xdc00U + (rest & 0x3ffU));
    } else {
        fprintf(stream, "\\u%04x", character);
    }
}

// Unsafe characters from U+007F on stand only inside the texts of a JSON document
// (jansson escapes the lower ones), so there an escape means the same.
static bool write_safely(cli_output *output, const char *json, size_t len)
{
    cli_page page;
    size_t kept = 0;

    if (!cli_page_init(&page)) {
        output->failure = ENOMEM;
        return false;
    }
    for (size_t i = 0; i < len;) {
        uint32_t character = 0;
        size_t n = cli_text_decode(json + i, len - i, &character);
        if (n > 0 && character >= 0x7f && cli_text_is_unsafe(character)) {
            fwrite(json + kept, 1, i - kept, page.stream);
            print_escape(page.stream, character);
            kept = i + n;
        }
        i += n > 0 ? n : 1;
    }
    fwrite(json + kept, 1, len - kept, page.stream);
    fputc('\n', page.stream);
    bool is_whole = fclose(page.stream) == 0;
    if (!is_whole)
        output->failure = ENOMEM;
    else
        cli_output_write(output, page.text, page.len);
    free(page.text);
    return output->failure == 0;
}

bool cli_output_write_json(cli_output *output, const json_t *value, size_t flags)
{
    // 15 digits: a cost of 0.1 is written so, and not as 0.10000000000000001.
    char *json = value ? json_dumps(value, flags | JSON_REAL_PRECISION(15)) : NULL;

    if (!json) {
        output->failure = output->failure ? output->failure : ENOMEM;
        return false;
    }
    bool is_written = write_safely(output, json, strlen(json));
    free(json);
    return is_written;
}

bool cli_output_is_closed(const cli_output *output)
{
    return output->failure == EPIPE;
}

int cli_output_finish(cli_output *output, int exit_status)
{
    if (close(output->fd) != 0 && output->failure == 0 && errno != EINTR)
        output->failure = errno;
    output->fd = -1;
    return cli_output_leave(output, exit_status);
}

int cli_output_leave(cli_output *output, int exit_status)
{
    if (output->failure == 0)
        return exit_status;
    if (cli_output_is_closed(output))
        return CLI_EXIT_ABORTED;
    cli_report("cannot write to stdout: %s", strerrordesc_np(output->failure));
    return CLI_EXIT_FAILED;
}

bool cli_page_init(cli_page *page)
{
    page->text = NULL;
    page->len = 0;
    page->stream = open_memstream(&page->text, &page->len);
    if (!page->stream)
        cli_report("out of memory");
    return page->stream != NULL;
}

int cli_page_finish(cli_page *page, int exit_status)
{
    cli_output output;

    cli_output_init(&output);
    if (fclose(page->stream) != 0)
        output.failure = ENOMEM;
    else
        cli_output_write(&output, page->text, page->len);
    free(page->text);
    return cli_output_finish(&output, exit_status);
}

void cli_page_tell(cli_page *page)
{
    if (fclose(page->stream) == 0)
        fwrite(page->text, 1, page->len, stderr);
    free(page->text);
}
