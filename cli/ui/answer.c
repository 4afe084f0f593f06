// See answer.h.
#include "answer.h"

#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cli_answer_init(cli_answer *answer, cli_output *output,
                     const cli_terminal *terminal)
{
    *answer = (cli_answer){.output = output, .terminal = terminal};
}

void cli_answer_fini(cli_answer *answer)
{
    free(answer->shown);
    free(answer->speaker);
    *answer = (cli_answer){0};
}

static void write_safely(cli_output *output, const char *text, size_t len)
{
    char *safe = NULL;
    size_t safe_len = 0;
    FILE *stream = open_memstream(&safe, &safe_len);

    if (stream)
        cli_text_print(stream, text, len, CLI_TEXT_LINES);
    if (!stream || fclose(stream) != 0)
        output->failure = output->failure ? output->failure : ENOMEM;
    else
        cli_output_write(output, safe, safe_len);
    free(safe);
}

// Without memory the text is forgotten, and the answer comes a second time at the end.
static void remember(cli_answer *answer, const char *text, size_t len)
{
    size_t room = answer->room;

    while (room < answer->len + len)
        room = room ? room * 2 : 1024;
    if (room > answer->room) {
        char *grown = realloc(answer->shown, room);
        if (!grown) {
            answer->len = 0;
            return;
        }
        answer->shown = grown;
        answer->room = room;
    }
    memcpy(answer->shown + answer->len, text, len);
    answer->len += len;
}

void cli_answer_add(cli_answer *answer, const char *text, size_t len)
{
    if (len == 0)
        return;
    remember(answer, text, len);
    write_safely(answer->output, text, len);
    answer->is_open = text[len - 1] != '\n';
}

void cli_answer_end_line(cli_answer *answer)
{
    if (answer->is_open)
        cli_output_write(answer->output, "\n", 1);
    answer->is_open = false;
}

static void write_head(cli_answer *answer, const char *name)
{
    char *head = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&head, &len);

    if (!stream)
        return;
    cli_terminal_colour(answer->terminal, stream, CLI_COLOUR_DIM);
    cli_text_print(stream, name, strlen(name), CLI_TEXT_ONE_LINE);
    fputc(':', stream);
    cli_terminal_colour(answer->terminal, stream, CLI_COLOUR_NONE);
    fputc('\n', stream);
    if (fclose(stream) == 0)
        cli_output_write(answer->output, head, len);
    free(head);
}

// The first has no head: most runs have one speaker.
void cli_answer_set_speaker(cli_answer *answer, const char *name)
{
    if (answer->speaker && strcmp(answer->speaker, name) == 0)
        return;
    if (answer->speaker) {
        cli_answer_forget(answer);
        write_head(answer, name);
    }
    free(answer->speaker);
    answer->speaker = strdup(name);
}

void cli_answer_forget(cli_answer *answer)
{
    cli_answer_end_line(answer);
    answer->len = 0;
}

void cli_answer_finish(cli_answer *answer, const char *speaker, const char *text)
{
    size_t len = strlen(text);

    cli_answer_end_line(answer);
    if (len > 0 && len == answer->len && memcmp(answer->shown, text, len) == 0)
        return;
    if (answer->speaker)
        cli_answer_set_speaker(answer, speaker);
    if (answer->terminal->is_terminal)
        write_safely(answer->output, text, len);
    else
        cli_output_write(answer->output, text, len);
    cli_output_write(answer->output, "\n", 1);
}
