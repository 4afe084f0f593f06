// Names of tools on the wire and back.
#include "openai_chat.h"

#include <stdio.h>

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// May the byte stand as it is? `before` is NUL at the start.
static bool is_plain(char before, const char *at)
{
    if (is_letter_or_digit(at[0]))
        return true;
    if (at[0] == '_')
        return before != '_' && before != '.' && at[1] != '_' && at[1] != '.';
    return at[0] == '-' && !(is_hex(at[1]) && is_hex(at[2]));
}

void cdr_openai_write_name(cadre_http *http, const char *name)
{
    char before = '\0';
    for (const char *at = name; *at; at++) {
        char escape[4];
        if (is_plain(before, at)) {
            cadre_http_append(http, at, 1);
        } else if (*at == '.') {
            cadre_http_append(http, "__", 2);
        } else {
            (void)snprintf(escape, sizeof(escape), "-%02X", (unsigned char)*at);
            cadre_http_append(http, escape, 3);
        }
        before = *at;
    }
}

static char hex_value(char c)
{
    return (char)(c <= '9' ? c - '0' : c - 'A' + 10);
}

size_t cdr_openai_read_name(const char *wire, char *out, size_t size)
{
    size_t used = 0;
    while (*wire && used + 1 < size) {
        if (wire[0] == '_' && wire[1] == '_') {
            out[used++] = '.';
            wire += 2;
        } else if (wire[0] == '-' && is_hex(wire[1]) && is_hex(wire[2])) {
            out[used++] = (char)(hex_value(wire[1]) * 16 + hex_value(wire[2]));
            wire += 3;
        } else {
            out[used++] = *wire++;
        }
    }
    out[used] = '\0';
    return used;
}
