// See output_json.h.
#include "run/output_json.h"

#include "cadre/ext/json_scan.h"

#include "base/json_text.h"

#include <string.h>

#define BLANKS " \t\r\n"
#define FENCE "```"
#define MAX_TRIES 64 // places where a value may start; each is looked at to its end

static cdr_json_part trimmed(const char *data, size_t len)
{
    while (len > 0 && strchr(BLANKS, *data) && *data) {
        data++;
        len--;
    }
    while (len > 0 && data[len - 1] && strchr(BLANKS, data[len - 1]))
        len--;
    return (cdr_json_part){data, len};
}

// Takes a part that is one value. NULL: it is none; `err` says why, or ENOMEM.
static json_t *take(cdr_json_part found, cdr_json_part *part, cadre_error *err)
{
    json_t *value = cdr_json_parse(found.data, found.len, err);
    if (value)
        *part = found;
    return value;
}

static const char *find(const char *at, const char *end, const char *what)
{
    return at < end ? memmem(at, (size_t)(end - at), what, strlen(what)) : NULL;
}

// The first fence behind `at` that starts a line: a string of JSON holds no line
// end, so one inside a string never does. NULL: there is none.
static const char *find_fence_line(const char *at, const char *end)
{
    while ((at = find(at, end, "\n")) != NULL) {
        at++;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if ((size_t)(end - at) >= strlen(FENCE) &&
            memcmp(at, FENCE, strlen(FENCE)) == 0)
            return at;
    }
    return NULL;
}

// What stands in the text's only fence; nothing when there is none, or more.
static cdr_json_part in_fence(const char *text, size_t len)
{
    const cdr_json_part none = {NULL, 0};
    const char *end = text + len;
    const char *opening = find(text, end, FENCE);
    const char *line = opening ? find(opening, end, "\n") : NULL;
    const char *closing = line ? find_fence_line(line, end) : NULL;
    if (!closing || find_fence_line(closing, end))
        return none;
    return trimmed(line, (size_t)(closing - line));
}

// The value that starts at `at`, an object or array; no length: none does.
static cdr_json_part value_at(const char *at, const char *end)
{
    cadre_scan scan;
    cadre_scan_text raw;
    cadre_scan_init(&scan, at, (size_t)(end - at));
    if (!cadre_scan_raw(&scan, &raw))
        return (cdr_json_part){NULL, 0};
    return (cdr_json_part){raw.data, raw.len};
}

static cadre_status take_only(const char *text, size_t len, cdr_json_part *part,
                              json_t **value, cadre_error *err)
{
    const char *end = text + len;
    int n_tries = 0;
    for (const char *at = text; at < end && n_tries < MAX_TRIES; at++) {
        if (*at != '{' && *at != '[')
            continue;
        n_tries++;
        cdr_json_part found = value_at(at, end);
        json_t *read = NULL;
        if (found.len > 0)
            read = take(found, part, NULL);
        if (!read)
            continue;
        if (*value) {
            json_decref(read);
            json_decref(*value);
            *value = NULL;
            return cadre_fail(err, CADRE_EINVAL,
                              "it holds more than one JSON value; write one, and no "
                              "other text");
        }
        *value = read;
        at += found.len - 1;
    }
    return *value ? CADRE_OK
                  : cadre_fail(err, CADRE_EINVAL, "it holds no JSON object or array");
}

cadre_status cdr_output_json_find(const char *text, size_t len, cdr_json_part *part,
                                  json_t **value, cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_error none = CADRE_ERROR_INIT;
    cdr_json_part all = trimmed(text, len);
    *value = NULL;
    if (all.len == 0)
        return cadre_fail(err, CADRE_EINVAL, "it is empty; a JSON value is expected");
    *value = take(all, part, &why);
    if (*value)
        return CADRE_OK;
    if (why.status == CADRE_ENOMEM)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
    cdr_json_part fenced = in_fence(all.data, all.len);
    if (fenced.len > 0)
        *value = take(fenced, part, NULL);
    if (*value)
        return CADRE_OK;
    cadre_status status = take_only(all.data, all.len, part, value, &none);
    if (status == CADRE_OK)
        return CADRE_OK;
    // What starts as JSON is meant to be it: what is wrong there?
    bool is_meant = *all.data == '{' || *all.data == '[';
    return cadre_fail(err, status, is_meant ? "it is not JSON: %s" : "%s",
                      is_meant ? why.text : none.text);
}
