// Names and arguments of calls as they go over the wire; see cadre/ext/transcript.h.
#include "cadre/ext/transcript.h"

#include "base/json_text.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME (CADRE_WIRE_NAME_SIZE - 1)
#define HASH_DIGITS 12

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// May the byte stand as it is? `before` is NUL at the start, where Gemini wants a
// letter or `_`.
static bool is_plain(char before, const char *at)
{
    if (is_letter(at[0]) || (is_digit(at[0]) && before != '\0'))
        return true;
    if (at[0] == '_')
        return before != '_' && before != '.' && at[1] != '_' && at[1] != '.';
    return at[0] == '-' && before != '\0' && !(is_hex(at[1]) && is_hex(at[2]));
}

// Writes what the byte becomes, at most three bytes. Returns how many.
static size_t escape(char before, const char *at, char out[4])
{
    if (is_plain(before, at)) {
        out[0] = *at;
        return 1;
    }
    if (*at == '.' && before != '\0') {
        out[0] = out[1] = '_';
        return 2;
    }
    return (size_t)snprintf(out, 4, "-%02X", (unsigned char)*at);
}

static uint64_t hash_of(const char *text) // FNV-1a
{
    uint64_t hash = 14695981039346656037U;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211U;
    return hash;
}

void cadre_wire_name(const char *name, char out[CADRE_WIRE_NAME_SIZE])
{
    char before = '\0';
    char piece[4];
    size_t used = 0;
    if (!is_plain('\0', name)) // the first byte must be a letter, or this one
        out[used++] = '_';
    for (const char *at = name; *at != '\0'; before = *at++) {
        size_t n = escape(before, at, piece);
        if (used + n > MAX_NAME) {
            uint64_t hash = hash_of(name) & ((UINT64_C(1) << (4 * HASH_DIGITS)) - 1);
            used =
                used < MAX_NAME - HASH_DIGITS - 1 ? used : MAX_NAME - HASH_DIGITS - 1;
            (void)snprintf(out + used, CADRE_WIRE_NAME_SIZE - used, "_%012" PRIx64,
                           hash);
            return;
        }
        memcpy(out + used, piece, n);
        used += n;
    }
    out[used] = '\0';
}

static char *show_invalid(const char *arguments)
{
    json_t *shown = json_pack("{s:s}", "invalid_arguments", arguments);
    char *text = shown == NULL ? strdup("{}") : json_dumps(shown, JSON_COMPACT);
    json_decref(shown);
    return text;
}

// What a lenient reader takes goes as a strict one wants it: of keys that repeat the
// last stays, and half a surrogate pair is U+FFFD.
char *cadre_wire_arguments(const char *arguments)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (arguments == NULL || arguments[strspn(arguments, " \t\r\n")] == '\0')
        return strdup("{}");
    json_t *value = json_loads(arguments, JSON_REJECT_DUPLICATES, NULL);
    bool is_strict = value != NULL;
    if (!is_strict)
        value = cdr_json_parse(arguments, strlen(arguments), &err);
    char *text = NULL;
    if (json_is_object(value))
        text = is_strict ? strdup(arguments) : cdr_json_dump(value);
    else if (err.status != CADRE_ENOMEM)
        text = show_invalid(arguments);
    json_decref(value);
    return text;
}

bool cadre_wire_is_blank(const char *text)
{
    return cdr_utf8_is_blank(text, strlen(text));
}
