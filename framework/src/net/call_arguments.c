// See call_arguments.h.
#include "net/call_arguments.h"

#include "cadre/ext/json_scan.h"

#include <stdlib.h>
#include <string.h>

// What is there between the blanks.
static cadre_scan_text trim(const cdr_buf *arguments)
{
    static const char blanks[4] = {' ', '\t', '\r', '\n'};
    cadre_scan_text text = {cdr_buf_text(arguments), arguments->len, false};
    while (text.len > 0 && memchr(blanks, *text.data, 4)) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && memchr(blanks, text.data[text.len - 1], 4))
        text.len--;
    return text;
}

static bool is_whole(cadre_scan_text text)
{
    cadre_scan scan;
    cadre_scan_init(&scan, text.data, text.len);
    cadre_scan_skip(&scan);
    return cadre_scan_is_done(&scan);
}

bool cdr_arguments_are_whole(const cdr_buf *arguments)
{
    cadre_scan_text text = trim(arguments);
    return text.len == 0 || is_whole(text);
}

static bool is_object_twice(cadre_scan_text text)
{
    size_t half = text.len / 2;
    return text.len % 2 == 0 && text.len > 0 && text.data[0] == '{' &&
           memcmp(text.data, text.data + half, half) == 0 &&
           is_whole((cadre_scan_text){text.data, half, false});
}

static void keep(cdr_buf *arguments, const char *from, size_t len)
{
    memmove(arguments->data, from, len);
    arguments->data[len] = '\0';
    arguments->len = len;
}

// Takes an object out of the text that it was written as. False: it is none.
static bool unwrap(cdr_buf *arguments, cadre_scan_text text)
{
    cadre_scan scan;
    cadre_scan_text inner;
    cadre_scan_init(&scan, text.data, text.len);
    if (cadre_scan_peek(&scan) != CADRE_SCAN_STRING ||
        !cadre_scan_string(&scan, &inner) || !cadre_scan_is_done(&scan))
        return false;
    size_t size = inner.len + 4; // what unescaping asks for
    char *object = malloc(size);
    if (!object) {
        arguments->failed = true;
        return false;
    }
    size_t len = cadre_scan_unescape(&inner, object, size);
    cadre_scan_text found = {object, len, false};
    bool is_object = len > 0 && object[0] == '{' && is_whole(found);
    if (is_object)
        keep(arguments, object, len);
    free(object);
    return is_object;
}

bool cdr_arguments_mend(cdr_buf *arguments)
{
    cadre_scan_text text = trim(arguments);
    if (text.len == 0 || cadre_scan_is(text, "null")) {
        cdr_buf_clear(arguments);
        cdr_buf_append_text(arguments, "{}");
    } else if (is_object_twice(text)) {
        keep(arguments, text.data, text.len / 2);
    } else if (text.len > 3 && memcmp(text.data, "{}{", 3) == 0) {
        keep(arguments, text.data + 2, text.len - 2);
    } else if (text.data[0] == '"') {
        (void)unwrap(arguments, text);
    }
    return !arguments->failed;
}
