// Text checks and places.
#include "team/source_text.h"

#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t cdr_source_mark_length(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

void cdr_place_advance(cdr_place *place, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool is_return = text[i] == '\r' && (i + 1 == len || text[i + 1] != '\n');
        if (text[i] == '\n' || is_return) {
            place->line++;
            place->column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80 && text[i] != '\r') {
            place->column++;
        }
    }
}

// YAML's c-printable (YAML 1.2.2, 5.1). JSON allows more inside strings, but nobody
// sees such a character in an editor, and it can be written as an escape.
static bool is_printable(uint32_t character)
{
    if (character < 0x20)
        return character == '\t' || character == '\n' || character == '\r';
    if (character >= 0x7F && character < 0xA0)
        return character == 0x85;
    return character != 0xFEFF && character != 0xFFFE && character != 0xFFFF;
}

static cadre_status refuse_at(cdr_document *document, const char *text, size_t offset,
                              const char *problem)
{
    cdr_place place = {1, 1};
    cdr_place_advance(&place, text, offset);
    return cdr_document_refuse(document, place, "%s", problem);
}

cadre_status cdr_source_check(cdr_document *document, const char *text, size_t len)
{
    if (len > document->scale * CDR_DOCUMENT_MAX_BYTES)
        return cdr_document_refuse(document, (cdr_place){0, 0}, "larger than %zu MiB",
                                   document->scale * CDR_DOCUMENT_MAX_BYTES >> 20);
    if (len >= 2 &&
        (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0))
        return refuse_at(document, text, 0, "this is UTF-16; save the file as UTF-8");
    size_t offset = 0;
    while (offset < len) {
        uint32_t character = 0;
        size_t n = cdr_utf8_decode(text + offset, len - offset, &character);
        if (n == 0)
            return refuse_at(document, text, offset,
                             "a byte that is not UTF-8; save the file as UTF-8");
        if (!is_printable(character)) {
            char problem[80];
            snprintf(
                problem, sizeof problem,
                "the control character U+%04X; write it as an escape, or remove it",
                (unsigned)character);
            return refuse_at(document, text, offset, problem);
        }
        offset += n;
    }
    return CADRE_OK;
}
