// Short text of values for messages.
#include "base/brief.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MAX_CHARACTERS 48

const char *cdr_brief_text(char out[CDR_BRIEF_SIZE], const char *text, char quote)
{
    size_t at = 0;
    if (quote)
        out[at++] = quote;
    for (int n = 0; *text && n < MAX_CHARACTERS; n++) {
        uint32_t code;
        size_t len = cdr_utf8_decode(text, strnlen(text, 4), &code);
        if (len == 0 || cdr_utf8_is_harmful(code)) {
            out[at++] = '?';
        } else {
            memcpy(out + at, text, len);
            at += len;
        }
        text += len == 0 ? 1 : len; // broken UTF-8 goes byte by byte
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
