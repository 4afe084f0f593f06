// JSON from models: arguments of tool calls, and the scanner of wire formats. What both
// parsers take for JSON is the same, and what was parsed is written and read again.
#include "fuzz/fuzz.h"

#include "cadre/ext/json_scan.h"

#include "base/json_text.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

// Takes everything there is, in the way of a reader that wants it all.
static void walk(cadre_scan *scan)
{
    cadre_scan_text text;
    int64_t number;
    char small[8];
    switch (cadre_scan_peek(scan)) {
    case CADRE_SCAN_OBJECT:
        if (cadre_scan_object(scan))
            while (cadre_scan_key(scan, &text))
                walk(scan);
        break;
    case CADRE_SCAN_ARRAY:
        if (cadre_scan_array(scan))
            while (cadre_scan_item(scan))
                walk(scan);
        break;
    case CADRE_SCAN_STRING:
        if (cadre_scan_string(scan, &text))
            while (cadre_scan_unescape(&text, small, sizeof small) > 0)
                continue;
        break;
    case CADRE_SCAN_NUMBER:
        (void)cadre_scan_integer(scan, &number);
        break;
    default:
        cadre_scan_skip(scan);
    }
}

// The scanner is more lenient than the parser, never stricter, and a walk finds the
// same mistakes as a skip.
static void check_scan(const char *text, size_t len, bool is_json)
{
    cadre_scan skipped;
    cadre_scan walked;
    cadre_scan_init(&skipped, text, len);
    cadre_scan_init(&walked, text, len);
    cadre_scan_skip(&skipped);
    walk(&walked);
    FUZZ_CHECK(skipped.failed == walked.failed);
    bool is_done = cadre_scan_is_done(&skipped);
    FUZZ_CHECK(is_done == cadre_scan_is_done(&walked));
    FUZZ_CHECK(is_done || !is_json);
}

static void check_written_again(const json_t *value)
{
    cadre_error err = CADRE_ERROR_INIT;
    char *text = fuzz_must(cdr_json_dump(value));
    FUZZ_CHECK(cdr_utf8_prefix(text, strlen(text)) == strlen(text));
    json_t *again = cdr_json_parse(text, strlen(text), &err);
    FUZZ_CHECK_TEXT(err.text, "");
    char *same = fuzz_must(cdr_json_dump(again));
    FUZZ_CHECK_TEXT(same, text);
    free(text);
    free(same);
    json_decref(again);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    char *text = fuzz_copy(data, len);
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = cdr_json_parse(text, len, &err);
    FUZZ_CHECK((value != NULL) == (err.status == CADRE_OK));
    check_scan(text, len, value != NULL);
    if (value)
        check_written_again(value);
    json_decref(value);
    cadre_error_clear(&err);
    json_t *arguments = cdr_json_parse_arguments(text, len, &err);
    FUZZ_CHECK(arguments ? json_is_object(arguments) : err.text[0] != '\0');
    json_decref(arguments);
    free(text);
}
