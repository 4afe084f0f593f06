// See script_text.h.
#include "script_text.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

bool cli_script_form_of(const char *path, cli_script_form *form)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    const char *end = dot ? dot : "";

    *form = strcmp(end, ".json") == 0 ? CLI_SCRIPT_JSON : CLI_SCRIPT_YAML;
    return *form == CLI_SCRIPT_JSON || strcmp(end, ".yaml") == 0 ||
           strcmp(end, ".yml") == 0;
}

// --- Values ---

// What no YAML file may hold, or a terminal would obey.
static bool must_escape(uint32_t character)
{
    return character == 0xfffe || character == 0xffff || cli_text_is_unsafe(character);
}

static void print_character(FILE *stream, uint32_t character, const char *bytes,
                            size_t n)
{
    if (character == '"' || character == '\\')
        fprintf(stream, "\\%c", (int)character);
    else if (character == '\n')
        fputs("\\n", stream);
    else if (!must_escape(character))
        fwrite(bytes, 1, n, stream);
    else if (character > 0xffff)
        fprintf(stream, "\\U%08x", character);
    else
        fprintf(stream, "\\u%04x", character);
}

static void print_text(FILE *stream, const char *text)
{
    size_t len = strlen(text);

    fputc('"', stream);
    for (size_t i = 0; i < len;) {
        uint32_t character = 0xfffd;
        size_t n = cli_text_decode(text + i, len - i, &character);
        if (n > 0)
            print_character(stream, character, text + i, n);
        i += n > 0 ? n : 1;
    }
    fputc('"', stream);
}

// A word that YAML reads as this text and nothing else.
static void print_key(FILE *stream, const char *key)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    static const char *const words[] = {"true", "false", "null", "yes", "no",
                                        "on",   "off",   "y",    "n"};
    size_t len = strlen(key);
    bool is_plain = len > 0 && strspn(key, letters) > 0 &&
                    strspn(key, "abcdefghijklmnopqrstuvwxyz_0123456789") == len;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        is_plain = is_plain && strcmp(key, words[i]) != 0;
    if (is_plain)
        fputs(key, stream);
    else
        print_text(stream, key);
}

static void print_number(FILE *stream, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

    fputs(text ? text : "null", stream);
    free(text);
}

// On one line. What comes from outside is nested at most 128 deep.
static void print_value(FILE *stream, const json_t *value)
{
    const char *key;
    size_t i;
    json_t *part;
    const char *between = "";

    if (json_is_string(value)) {
        print_text(stream, json_string_value(value));
    } else if (json_is_array(value)) {
        fputc('[', stream);
        json_array_foreach(value, i, part)
        {
            fputs(i > 0 ? ", " : "", stream);
            print_value(stream, part);
        }
        fputc(']', stream);
    } else if (json_is_object(value)) {
        fputc('{', stream);
        for (void *at = json_object_iter((json_t *)(uintptr_t)value); at;
             at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
            key = json_object_iter_key(at);
            fputs(between, stream);
            print_key(stream, key);
            fputs(": ", stream);
            print_value(stream, json_object_iter_value(at));
            between = ", ";
        }
        fputc('}', stream);
    } else {
        print_number(stream, value);
    }
}

// --- Lists ---

// "  - at: ...", its other members below that.
static void print_item(FILE *stream, json_t *item, int indent)
{
    const char *key;
    json_t *value;
    const char *sign = "- ";

    json_object_foreach(item, key, value)
    {
        fprintf(stream, "%*s%s", indent, "", sign);
        print_key(stream, key);
        fputs(": ", stream);
        print_value(stream, value);
        fputc('\n', stream);
        sign = "  ";
    }
}

static void print_list(FILE *stream, const json_t *list, int indent)
{
    size_t i;
    json_t *item;

    json_array_foreach(list, i, item)
    {
        print_item(stream, item, indent);
    }
}

static void print_section(FILE *stream, const char *name, json_t *section)
{
    const char *key;
    json_t *list;
    bool is_by_name = strcmp(name, "agents") == 0 || strcmp(name, "tools") == 0;

    print_key(stream, name);
    fputc(':', stream);
    if (is_by_name && json_object_size(section) > 0) {
        fputc('\n', stream);
        json_object_foreach(section, key, list)
        {
            fputs("  ", stream);
            print_key(stream, key);
            fputs(":\n", stream);
            print_list(stream, list, 4);
        }
    } else if (json_is_array(section) && json_array_size(section) > 0) {
        fputc('\n', stream);
        print_list(stream, section, 2);
    } else {
        fputc(' ', stream);
        print_value(stream, section);
        fputc('\n', stream);
    }
}

// What must be escaped can only stand in a string.
static void print_json(FILE *stream, const json_t *script)
{
    char *text = json_dumps(script, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    size_t len = text ? strlen(text) : 0;
    uint32_t character = 0;

    for (size_t i = 0, n; i < len; i += n) {
        n = cli_text_decode(text + i, len - i, &character);
        if (n == 0)
            break; // jansson writes UTF-8
        if (character == '\n' || !must_escape(character))
            fwrite(text + i, 1, n, stream);
        else if (character <= 0xffff)
            fprintf(stream, "\\u%04x", character);
        else
            fprintf(stream, "\\u%04x\\u%04x", 0xd7c0 + (character >> 10),
                    0xdc00 + (character & 0x3ff));
    }
    fputc('\n', stream);
    free(text);
}

void cli_script_print(FILE *stream, const json_t *script, cli_script_form form)
{
    json_t *own = (json_t *)(uintptr_t)script; // nothing is changed; jansson wants it
    const char *name;
    json_t *section;

    if (form == CLI_SCRIPT_JSON) {
        print_json(stream, script);
        return;
    }
    json_object_foreach(own, name, section)
    {
        print_section(stream, name, section);
    }
}
