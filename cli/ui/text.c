// See text.h.
#include "text.h"

#include <string.h>
#include <wchar.h>

// Valid second bytes are narrower after four of the first bytes: no overlong forms, no
// surrogates, nothing above U+10FFFF.
static bool second_fits(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return second >= 0x80 && second <= 0xbf;
    }
}

static size_t sequence_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    if (first >= 0xf0 && first <= 0xf4)
        return 4;
    return 0;
}

size_t cli_text_decode(const char *text, size_t len, uint32_t *character)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t n = sequence_length(bytes[0]);

    if (n == 0 || n > len)
        return 0;
    if (n > 1 && !second_fits(bytes[0], bytes[1]))
        return 0;
    uint32_t value = bytes[0] & first_bits[n];
    for (size_t i = 1; i < n; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3fU);
    }
    *character = value;
    return n;
}

bool cli_text_is_utf8(const char *text, size_t len)
{
    uint32_t character = 0;

    while (len > 0) {
        size_t n = cli_text_decode(text, len, &character);
        if (n == 0)
            return false;
        text += n;
        len -= n;
    }
    return true;
}

bool cli_text_is_unsafe(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } unsafe[] = {
        {0x00, 0x1f},       {0x7f, 0x9f},     // C0, DEL, C1
        {0x061c, 0x061c},   {0x200e, 0x200f}, // marks of direction
        {0x2028, 0x202e},                     // line ends of Unicode, bidi overrides
        {0x2066, 0x2069},                     // bidi isolates
        {0xfeff, 0xfeff},                     // byte order mark
        {0xe0000, 0xe007f},                   // tags: invisible copies of ASCII
    };

    for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
        if (character >= unsafe[i].first && character <= unsafe[i].last)
            return true;
    return false;
}

// One character as it is printed.
typedef struct glyph {
    char text[16];
    size_t len; // of `text`
    size_t columns;
    size_t taken; // bytes of the source
} glyph;

static glyph escaped(uint32_t value, bool is_byte, size_t taken)
{
    glyph it = {.taken = taken};
    int len = is_byte ? snprintf(it.text, sizeof(it.text), "\\x%02x", value)
                      : snprintf(it.text, sizeof(it.text), "\\u%04x", value);

    it.len = it.columns = (size_t)len;
    return it;
}

static glyph next_glyph(const char *text, size_t len, cli_text_shape shape)
{
    uint32_t character = 0;
    size_t taken = cli_text_decode(text, len, &character);

    if (taken == 0)
        return escaped((unsigned char)text[0], true, 1);
    bool stays = shape == CLI_TEXT_LINES && (character == U'\n' || character == U'\t');
    if (!stays && cli_text_is_unsafe(character))
        return escaped(character, taken == 1, taken);

    glyph it = {.len = taken, .taken = taken};
    memcpy(it.text, text, taken);
    int columns = wcwidth((wchar_t)character);
    it.columns = columns < 0 ? 1 : (size_t)columns; // newer than this machine's table
    return it;
}

void cli_text_print(FILE *stream, const char *text, size_t len, cli_text_shape shape)
{
    while (len > 0) {
        glyph it = next_glyph(text, len, shape);
        fwrite(it.text, 1, it.len, stream);
        text += it.taken;
        len -= it.taken;
    }
}

size_t cli_text_width(const char *text)
{
    size_t len = strlen(text), columns = 0;

    while (len > 0) {
        glyph it = next_glyph(text, len, CLI_TEXT_ONE_LINE);
        columns += it.columns;
        text += it.taken;
        len -= it.taken;
    }
    return columns;
}

size_t cli_text_print_cut(FILE *stream, const char *text, size_t columns)
{
    size_t len = strlen(text), used = 0;
    // All of it fits, or one column is kept for the mark of the cut.
    size_t room = cli_text_width(text) <= columns ? columns : columns - 1;

    if (columns == 0)
        return 0;
    while (len > 0) {
        glyph it = next_glyph(text, len, CLI_TEXT_ONE_LINE);
        if (used + it.columns > room) {
            fputc('~', stream);
            return used + 1;
        }
        fwrite(it.text, 1, it.len, stream);
        used += it.columns;
        text += it.taken;
        len -= it.taken;
    }
    return used;
}
