// Reading JSON without building it.
//
// Invariants:
// 1. Between two calls `at` stands before a value (after a key, an item, or at the
//    start) or after one. Who takes a value leaves `at` right behind it.
// 2. The bit of `objects` at depth d - 1 says whether the d-th open container is an
//    object; `is_first` belongs to the innermost only: leaving one means that the
//    outer one has had an item.
// 3. Every loop moves `at` or ends; nothing is looked at twice, so cost is linear.
#include "cadre/ext/json_scan.h"

#include <math.h>
#include <stdlib.h>

#define REPLACEMENT 0xFFFDU
#define MAX_NUMBER 64 // characters of a number that are read; more tell nothing

static bool fail(cadre_scan *scan)
{
    scan->failed = true;
    return false;
}

static bool fail_at_end(cadre_scan *scan)
{
    scan->at = scan->end;
    return fail(scan);
}

// Skips blanks. False: nothing is left, which is a mistake here.
static bool skip_blanks(cadre_scan *scan)
{
    const char *at = scan->at;
    while (at < scan->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    scan->at = at;
    return at < scan->end || fail(scan);
}

static bool is_in_object(const cadre_scan *scan)
{
    int i = scan->depth - 1;
    return (scan->objects[i / 64] >> (i % 64)) & 1U;
}

static bool enter(cadre_scan *scan, bool is_object)
{
    if (scan->depth == CADRE_SCAN_MAX_DEPTH)
        return fail(scan);
    uint64_t bit = (uint64_t)1 << (scan->depth % 64);
    uint64_t *word = &scan->objects[scan->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    scan->depth++;
    scan->at++;
    scan->is_first = true;
    return true;
}

void cadre_scan_init(cadre_scan *scan, const char *text, size_t len)
{
    if (!scan)
        return;
    *scan = (cadre_scan){.at = text, .end = text ? text + len : text};
}

cadre_scan_type cadre_scan_peek(cadre_scan *scan)
{
    if (!scan || scan->failed || !skip_blanks(scan))
        return CADRE_SCAN_NONE;
    switch (*scan->at) {
    case '"':
        return CADRE_SCAN_STRING;
    case '{':
        return CADRE_SCAN_OBJECT;
    case '[':
        return CADRE_SCAN_ARRAY;
    case 'n':
        return CADRE_SCAN_NULL;
    case 't':
    case 'f':
        return CADRE_SCAN_BOOLEAN;
    default:
        if (*scan->at == '-' || (*scan->at >= '0' && *scan->at <= '9'))
            return CADRE_SCAN_NUMBER;
        fail(scan);
        return CADRE_SCAN_NONE;
    }
}

// Takes what stands between quotes; `at` is on the first.
static bool take_string(cadre_scan *scan, cadre_scan_text *out)
{
    const char *start = scan->at + 1;
    const char *at = start;
    const char *end = scan->end;
    bool has_escapes = false;
    for (;;) {
        while (at < end && *at != '"' && *at != '\\')
            at++;
        if (at == end)
            return fail_at_end(scan);
        if (*at == '"')
            break;
        has_escapes = true;
        if (end - at < 2)
            return fail_at_end(scan);
        at += 2;
    }
    *out = (cadre_scan_text){start, (size_t)(at - start), has_escapes};
    scan->at = at + 1;
    return true;
}

static bool take_word(cadre_scan *scan, const char *word)
{
    size_t len = strlen(word);
    size_t left = (size_t)(scan->end - scan->at);
    if (memcmp(scan->at, word, left < len ? left : len) != 0)
        return fail(scan);
    if (left < len)
        return fail_at_end(scan);
    scan->at += len;
    return true;
}

static size_t count_digits(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return (size_t)(at - start);
}

static bool take_number(cadre_scan *scan)
{
    const char *at = scan->at + (*scan->at == '-');
    const char *end = scan->end;
    size_t n_digits = count_digits(at, end);
    bool is_whole = n_digits > 0;
    at += n_digits;
    if (is_whole && at < end && *at == '.') {
        n_digits = count_digits(++at, end);
        is_whole = n_digits > 0;
        at += n_digits;
    }
    if (is_whole && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        n_digits = count_digits(at, end);
        is_whole = n_digits > 0;
        at += n_digits;
    }
    scan->at = at;
    return is_whole || fail(scan);
}

// Takes a value that holds no others; `at` is on it.
static bool take_scalar(cadre_scan *scan, cadre_scan_type type)
{
    cadre_scan_text ignored;
    switch (type) {
    case CADRE_SCAN_STRING:
        return take_string(scan, &ignored);
    case CADRE_SCAN_NUMBER:
        return take_number(scan);
    case CADRE_SCAN_NULL:
        return take_word(scan, "null");
    case CADRE_SCAN_BOOLEAN:
        return take_word(scan, *scan->at == 't' ? "true" : "false");
    default:
        return false;
    }
}

// Takes a scalar, or enters a container.
static bool begin_value(cadre_scan *scan)
{
    cadre_scan_type type = cadre_scan_peek(scan);
    if (type == CADRE_SCAN_OBJECT || type == CADRE_SCAN_ARRAY)
        return enter(scan, type == CADRE_SCAN_OBJECT);
    return take_scalar(scan, type);
}

void cadre_scan_skip(cadre_scan *scan)
{
    if (!scan)
        return;
    int depth = scan->depth;
    cadre_scan_text key;
    bool goes_on = begin_value(scan);
    while (goes_on && scan->depth > depth) {
        bool has_value =
            is_in_object(scan) ? cadre_scan_key(scan, &key) : cadre_scan_item(scan);
        goes_on = has_value ? begin_value(scan) : !scan->failed;
    }
}

static bool enter_or_skip(cadre_scan *scan, cadre_scan_type wanted)
{
    if (cadre_scan_peek(scan) == wanted)
        return enter(scan, wanted == CADRE_SCAN_OBJECT);
    cadre_scan_skip(scan);
    return false;
}

bool cadre_scan_object(cadre_scan *scan)
{
    return enter_or_skip(scan, CADRE_SCAN_OBJECT);
}

bool cadre_scan_array(cadre_scan *scan)
{
    return enter_or_skip(scan, CADRE_SCAN_ARRAY);
}

// Goes over the comma before the next member or item, or over the bracket that ends
// the container. False: the container was left, or a mistake.
static bool next_in_container(cadre_scan *scan, char bracket)
{
    if (!scan || scan->failed || !skip_blanks(scan))
        return false;
    bool is_first = scan->is_first;
    scan->is_first = false;
    if (*scan->at == bracket) {
        scan->at++;
        scan->depth--;
        return false;
    }
    if (is_first)
        return true;
    if (*scan->at != ',')
        return fail(scan);
    scan->at++;
    return skip_blanks(scan);
}

bool cadre_scan_key(cadre_scan *scan, cadre_scan_text *key)
{
    if (!key || !next_in_container(scan, '}'))
        return false;
    if (*scan->at != '"')
        return fail(scan);
    if (!take_string(scan, key) || !skip_blanks(scan))
        return false;
    if (*scan->at != ':')
        return fail(scan);
    scan->at++;
    return true;
}

bool cadre_scan_item(cadre_scan *scan)
{
    return next_in_container(scan, ']');
}

bool cadre_scan_string(cadre_scan *scan, cadre_scan_text *out)
{
    if (out && cadre_scan_peek(scan) == CADRE_SCAN_STRING)
        return take_string(scan, out);
    cadre_scan_skip(scan);
    return false;
}

static int64_t whole_number(const char *text, size_t len)
{
    char number[MAX_NUMBER + 1];
    size_t n = len < MAX_NUMBER ? len : MAX_NUMBER;
    memcpy(number, text, n);
    number[n] = '\0';
    if (!strpbrk(number, ".eE"))
        return strtoll(number, NULL, 10); // out of range: the nearest
    double value = strtod(number, NULL);
    // 2^63 is a double, INT64_MAX is not.
    if (value >= 9223372036854775808.0)
        return INT64_MAX;
    return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)trunc(value);
}

bool cadre_scan_integer(cadre_scan *scan, int64_t *out)
{
    if (!scan)
        return false;
    bool is_number = cadre_scan_peek(scan) == CADRE_SCAN_NUMBER;
    const char *start = scan->at;
    cadre_scan_skip(scan);
    if (!is_number || scan->failed || !out)
        return false;
    *out = whole_number(start, (size_t)(scan->at - start));
    return true;
}

bool cadre_scan_raw(cadre_scan *scan, cadre_scan_text *out)
{
    if (cadre_scan_peek(scan) == CADRE_SCAN_NONE)
        return false;
    const char *start = scan->at;
    cadre_scan_skip(scan);
    if (scan->failed || !out)
        return false;
    *out = (cadre_scan_text){start, (size_t)(scan->at - start), false};
    return true;
}

bool cadre_scan_is_done(cadre_scan *scan)
{
    if (!scan || scan->failed || scan->depth > 0)
        return false;
    cadre_scan rest = *scan;
    return !skip_blanks(&rest);
}

bool cadre_scan_is_cut(const cadre_scan *scan)
{
    return scan && scan->failed && scan->at == scan->end;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Reads the four digits of \uXXXX at `text`. False: it is not one.
static bool read_unit(const char *text, size_t len, uint32_t *unit)
{
    if (len < 6 || text[0] != '\\' || text[1] != 'u')
        return false;
    *unit = 0;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return false;
        *unit = *unit * 16 + (uint32_t)digit;
    }
    return true;
}

// Reads \uXXXX, or a pair of them. Returns how many bytes it took.
static size_t read_code_point(const char *text, size_t len, uint32_t *code)
{
    uint32_t low;
    if (!read_unit(text, len, code)) {
        *code = REPLACEMENT;
        return 2;
    }
    bool is_high = *code >= 0xD800 && *code < 0xDC00;
    if (is_high && read_unit(text + 6, len - 6, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
        return 12;
    }
    if (*code == 0 || (*code >= 0xD800 && *code < 0xE000))
        *code = REPLACEMENT;
    return 6;
}

static size_t put_utf8(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    out[0] = (char)((0xF00U >> len) | code);
    return len;
}

// Resolves one escape; `text` starts with a backslash and has one more byte at least.
static size_t put_escape(const char *text, size_t len, char out[4], size_t *taken)
{
    static const char letters[] = "bfnrt";
    static const char values[] = "\b\f\n\r\t";
    if (text[1] == 'u') {
        uint32_t code;
        *taken = read_code_point(text, len, &code);
        return put_utf8(code, out);
    }
    *taken = 2;
    const char *letter = memchr(letters, text[1], sizeof(letters) - 1);
    out[0] = text[1];
    if (letter)
        out[0] = values[letter - letters];
    return 1;
}

size_t cadre_scan_unescape(cadre_scan_text *rest, char *out, size_t size)
{
    size_t used = 0;
    if (!rest || !out)
        return 0;
    while (rest->len > 0 && size - used >= 4) {
        size_t room = size - used < rest->len ? size - used : rest->len;
        const char *escape = rest->has_escapes ? memchr(rest->data, '\\', room) : NULL;
        size_t taken = escape ? (size_t)(escape - rest->data) : room;
        if (taken > 0) {
            memcpy(out + used, rest->data, taken);
            used += taken;
        } else if (rest->len >= 2) {
            used += put_escape(rest->data, rest->len, out + used, &taken);
        } else {
            taken = rest->len; // a lone backslash: not the scanner's text
        }
        rest->data += taken;
        rest->len -= taken;
    }
    return used;
}

static bool is_half(uint32_t code, uint32_t first)
{
    return code >= first && code < first + 0x400;
}

// Takes the first half of a pair from the end of a text. 0: there is none.
static uint16_t take_half(cadre_scan_text *text)
{
    const char *at = text->data + text->len;
    size_t n_before = 0; // backslashes: an even number escapes no more than itself
    uint32_t code;
    if (text->len < 6 || !read_unit(at - 6, 6, &code) || !is_half(code, 0xD800))
        return 0;
    while (n_before < text->len - 6 && at[-7 - (ptrdiff_t)n_before] == '\\')
        n_before++;
    if (n_before % 2 != 0)
        return 0;
    text->len -= 6;
    return (uint16_t)code;
}

size_t cadre_scan_join(cadre_scan_text *piece, uint16_t *half, char out[4])
{
    uint32_t low;
    size_t n = 0;
    if (!piece || !half || !out || piece->len == 0)
        return 0;
    if (*half != 0) {
        bool joins = read_unit(piece->data, piece->len, &low) && is_half(low, 0xDC00);
        n = put_utf8(joins ? 0x10000 + ((*half - 0xD800U) << 10) + (low - 0xDC00)
                           : REPLACEMENT,
                     out);
        piece->data += joins ? 6 : 0;
        piece->len -= joins ? 6 : 0;
    }
    *half = piece->has_escapes ? take_half(piece) : 0;
    return n;
}

const char *cadre_scan_copy(cadre_scan_text text, char *out, size_t size)
{
    size_t used = 0;
    size_t n = 1;
    if (!out || size == 0)
        return "";
    while (n > 0 && size - used > 4) {
        n = cadre_scan_unescape(&text, out + used, size - used - 1);
        used += n;
    }
    out[used] = '\0';
    return out;
}
