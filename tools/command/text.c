// What programs write, kept within bounds and made text: nobody promises UTF-8.
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

enum {
    FIRST_CAPACITY = 4096,
    // Room for the note below; two numbers of at most 20 digits.
    NOTE_BYTES = 80
};

// --- UTF-8 ---

// The length of the character at `at`; 0: NUL, or no character starts there.
static size_t char_len(const unsigned char *at, size_t left)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (*at < 0x80)
        return *at != '\0';
    size_t len = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    if (*at < 0xc2 || *at > 0xf4 || left < len)
        return 0;
    uint32_t code = *at & (0x7fU >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = (code << 6) | (at[i] & 0x3fU);
    }
    bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code < smallest[len] || code > 0x10ffff || is_surrogate ? 0 : len;
}

static size_t count_invalid(const unsigned char *at, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        size_t step = char_len(at + i, len - i);
        n += step == 0;
        i += step == 0 ? 1 : step;
    }
    return n;
}

// The bytes as UTF-8 text; NUL and what is not UTF-8 becomes U+FFFD. NULL: no memory.
static char *text_of(const char *data, size_t len)
{
    const unsigned char *at = (const unsigned char *)data;
    const size_t longer = sizeof(REPLACEMENT) - 1 - 1; // by an invalid byte
    char *text = malloc(len + count_invalid(at, len) * longer + 1);
    if (text == NULL)
        return NULL;
    char *to = text;
    for (size_t i = 0; i < len;) {
        size_t step = char_len(at + i, len - i);
        const char *from = step == 0 ? REPLACEMENT : data + i;
        size_t n = step == 0 ? sizeof(REPLACEMENT) - 1 : step;
        memcpy(to, from, n);
        to += n;
        i += step == 0 ? 1 : step;
    }
    *to = '\0';
    return text;
}

static bool is_inside_char(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

// --- stdout ---

static bool make_room(cdr_command_output *output, size_t len)
{
    size_t wanted = output->len + len;
    if (wanted <= output->capacity)
        return true;
    size_t capacity = output->capacity == 0 ? FIRST_CAPACITY : output->capacity;
    while (capacity < wanted)
        capacity *= 2;
    char *grown = realloc(output->data, capacity);
    if (grown == NULL)
        return false;
    output->data = grown;
    output->capacity = capacity;
    return true;
}

void cdr_command_output_add(cdr_command_output *output, const char *data, size_t len)
{
    size_t room = output->max - output->len;
    size_t kept = len < room ? len : room;
    output->total += len;
    if (kept == 0 || output->failed)
        return;
    if (!make_room(output, kept)) {
        output->failed = true;
        return;
    }
    memcpy(output->data + output->len, data, kept);
    output->len += kept;
}

void cdr_command_output_fini(cdr_command_output *output)
{
    free(output->data);
    output->data = NULL;
}

static void drop_line_end(char *text, size_t len)
{
    if (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    if (len > 0 && text[len - 1] == '\r')
        text[len - 1] = '\0';
}

char *cdr_command_output_text(const cdr_command_output *output)
{
    char *text = text_of(output->data, output->len);
    if (text == NULL)
        return NULL;
    size_t len = strlen(text);
    if (output->total <= output->max && len <= output->max) {
        drop_line_end(text, len);
        return text;
    }
    // With its note it still keeps to max_output, which is not above the framework's
    // own limit: that one would cut the note.
    size_t kept = output->max - NOTE_BYTES;
    while (kept > 0 && is_inside_char(text[kept]))
        kept--;
    (void)snprintf(text + kept, NOTE_BYTES, "\n[cut: %zu of %zu bytes shown]", kept,
                   output->total);
    return text;
}

// --- stderr ---

static void show_line(cdr_command_log *log, size_t len)
{
    size_t rest = log->line_len - len;
    if (log->frame != NULL && len > 0) {
        char *text = text_of(log->line, len);
        if (text != NULL)
            cadre_frame_emit(log->frame, text, strlen(text));
        free(text);
    }
    memmove(log->line, log->line + len, rest);
    log->line_len = rest;
}

// A line that does not end is shown in pieces, none of which ends inside a character.
static void show_piece(cdr_command_log *log)
{
    size_t len = log->line_len;
    size_t torn = 1;
    while (torn < 4 && is_inside_char(log->line[len - torn]))
        torn++;
    bool is_torn = ((unsigned char)log->line[len - torn] & 0xc0) == 0xc0 &&
                   char_len((unsigned char *)log->line + len - torn, torn) == 0;
    show_line(log, is_torn ? len - torn : len);
}

static void keep_tail(cdr_command_log *log, const char *data, size_t len)
{
    if (len > CDR_COMMAND_TAIL_BYTES) {
        data += len - CDR_COMMAND_TAIL_BYTES;
        len = CDR_COMMAND_TAIL_BYTES;
    }
    if (log->tail_len + len > sizeof(log->tail)) {
        size_t kept = CDR_COMMAND_TAIL_BYTES;
        memmove(log->tail, log->tail + log->tail_len - kept, kept);
        log->tail_len = kept;
    }
    memcpy(log->tail + log->tail_len, data, len);
    log->tail_len += len;
}

void cdr_command_log_add(cdr_command_log *log, const char *data, size_t len)
{
    keep_tail(log, data, len);
    for (size_t i = 0; i < len; i++) {
        // A carriage return ends a line too: that is how progress bars are drawn.
        if (data[i] == '\n' || data[i] == '\r') {
            show_line(log, log->line_len);
            continue;
        }
        log->line[log->line_len++] = data[i];
        if (log->line_len == sizeof(log->line))
            show_piece(log);
    }
}

void cdr_command_log_end(cdr_command_log *log)
{
    show_line(log, log->line_len);
}

// --- The end of a text ---

static const char *start_of_tail(const char *text, size_t len)
{
    if (len <= CDR_COMMAND_TAIL_BYTES)
        return text;
    const char *from = text + len - CDR_COMMAND_TAIL_BYTES;
    while (is_inside_char(*from))
        from++;
    const char *line_end = strchr(from, '\n');
    return line_end != NULL && line_end[1] != '\0' ? line_end + 1 : from;
}

char *cdr_command_tail_text(const char *data, size_t len)
{
    char *text = text_of(data, len);
    if (text == NULL)
        return NULL;
    len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
        text[--len] = '\0';
    const char *from = start_of_tail(text, len);
    len -= (size_t)(from - text);
    memmove(text, from, len + 1);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            text[i] = '?';
    }
    return text;
}
