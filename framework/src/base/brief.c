// Short text of values for messages.
#include "base/brief.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MAX_CHARACTERS 48

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

// Bytes of the character at `text`, which ends with a NUL; broken UTF-8 is taken byte
// by byte.
static size_t character_length(const char *text)
{
    size_t len = 1;
    if ((unsigned char)text[0] >= 0xC0) {
        while (len < 4 && is_continuation(text[len]))
            len++;
    }
    return len;
}

// Controls are U+0000 to U+001F, U+007F and U+0080 to U+009F; the line separators and
// the marks that turn the direction of writing (U+2028 to U+202E, U+2066 to U+2069)
// could make a message look like another.
static bool is_harmful(const char *text, size_t len)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (len == 1)
        return byte[0] < 0x20 || byte[0] >= 0x7F;
    if (len == 2)
        return byte[0] == 0xC2 && byte[1] < 0xA0;
    if (len == 3 && byte[0] == 0xE2 && byte[1] == 0x80)
        return byte[2] >= 0xA8 && byte[2] <= 0xAE;
    if (len == 3 && byte[0] == 0xE2 && byte[1] == 0x81)
        return byte[2] >= 0xA6 && byte[2] <= 0xA9;
    return false;
}

const char *cdr_brief_text(char out[CDR_BRIEF_SIZE], const char *text, char quote)
{
    size_t at = 0;
    if (quote)
        out[at++] = quote;
    for (int n = 0; *text && n < MAX_CHARACTERS; n++) {
        size_t len = character_length(text);
        if (is_harmful(text, len)) {
            out[at++] = '?';
        } else {
            memcpy(out + at, text, len);
            at += len;
        }
        text += len;
    }
    if (*text) {
        memcpy(out + at, "...", 3);
        at += 3;
    }
    if (quote)
        out[at++] = quote;
    out[at] = '\0';
    return out;
}

const char *cdr_brief_json(char out[CDR_BRIEF_SIZE], const json_t *value)
{
    if (!value) {
        snprintf(out, CDR_BRIEF_SIZE, "nothing");
    } else if (json_is_string(value)) {
        cdr_brief_text(out, json_string_value(value), '"');
    } else if (json_is_object(value)) {
        snprintf(out, CDR_BRIEF_SIZE, "an %sobject",
                 json_object_size(value) > 0 ? "" : "empty ");
    } else if (json_is_array(value)) {
        snprintf(out, CDR_BRIEF_SIZE, "an %sarray",
                 json_array_size(value) > 0 ? "" : "empty ");
    } else {
        // 15 digits: 1.1 is shown as 1.1, not as 1.1000000000000001.
        size_t len = json_dumpb(value, out, CDR_BRIEF_SIZE - 1,
                                JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        out[len < CDR_BRIEF_SIZE ? len : 0] = '\0';
    }
    return out;
}
