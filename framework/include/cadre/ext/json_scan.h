// Reading JSON without building it: for streams of many small objects, of which a wire
// format needs a few fields each.
//
// A cursor goes over the text once and allocates nothing. Each value is taken exactly
// once: asking for a type that the value does not have skips the value and returns
// false, so a reader that knows what it wants survives whatever else is sent.
//
//     cadre_scan scan;
//     cadre_scan_text key, name;
//     cadre_scan_init(&scan, data, len);
//     if (cadre_scan_object(&scan)) {
//         while (cadre_scan_key(&scan, &key)) {
//             if (cadre_scan_is(key, "name") && cadre_scan_string(&scan, &name))
//                 ...
//             else cadre_scan_skip(&scan); // only where no function took the value
//         }
//     }
//     if (!cadre_scan_is_done(&scan)) ... not JSON
//
// After the first mistake every function returns false and no loop goes on. Nesting
// deeper than CADRE_SCAN_MAX_DEPTH is a mistake. Two leniencies: control characters
// inside strings, and unknown escapes, which stand for their letter.
// A scanner is a value: a copy of it is a bookmark.
// Thread: one at a time; the text is borrowed and never written to.
#ifndef CADRE_EXT_JSON_SCAN_H
#define CADRE_EXT_JSON_SCAN_H

#include "cadre/error.h"

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CADRE_SCAN_MAX_DEPTH 128

typedef enum cadre_scan_type {
    CADRE_SCAN_NONE, // a mistake, or nothing left
    CADRE_SCAN_NULL,
    CADRE_SCAN_BOOLEAN,
    CADRE_SCAN_NUMBER,
    CADRE_SCAN_STRING,
    CADRE_SCAN_ARRAY,
    CADRE_SCAN_OBJECT
} cadre_scan_type;

// A part of the scanned text: of a string what stands between the quotes, escapes as
// they are; else the value as written.
typedef struct cadre_scan_text {
    const char *data;
    size_t len;
    bool has_escapes;
} cadre_scan_text;

typedef struct cadre_scan {
    const char *at, *end;
    int depth;
    uint64_t objects[CADRE_SCAN_MAX_DEPTH / 64]; // a bit for each open object
    bool is_first; // of the innermost container nothing was read yet
    bool failed;   // `at` is where; at the end: the text was cut
} cadre_scan;

CADRE_API void cadre_scan_init(cadre_scan *scan, const char *text, size_t len);

// Tells the type of the next value without taking it.
CADRE_API cadre_scan_type cadre_scan_peek(cadre_scan *scan);

// Enters an object, or an array; then take all its keys, or items.
CADRE_API bool cadre_scan_object(cadre_scan *scan);
CADRE_API bool cadre_scan_array(cadre_scan *scan);

// Goes to the next member or item; false: there are no more and the container is left.
CADRE_API bool cadre_scan_key(cadre_scan *scan, cadre_scan_text *key);
CADRE_API bool cadre_scan_item(cadre_scan *scan);

// Takes a string, or a number, cut to a whole one and to the range of int64_t.
CADRE_API bool cadre_scan_string(cadre_scan *scan, cadre_scan_text *out);
CADRE_API bool cadre_scan_integer(cadre_scan *scan, int64_t *out);

// Takes a value of any type as it is written.
CADRE_API bool cadre_scan_raw(cadre_scan *scan, cadre_scan_text *out);
CADRE_API void cadre_scan_skip(cadre_scan *scan);

// Is the text one whole JSON value, taken to its end?
CADRE_API bool cadre_scan_is_done(cadre_scan *scan);

// Was the mistake that the text ended too soon?
CADRE_API bool cadre_scan_is_cut(const cadre_scan *scan);

// Takes the next piece of a string's value, escapes resolved, and shortens `rest` by
// it. Half a surrogate pair and U+0000 become U+FFFD. `size` at least 4. Returns the
// bytes written, without a NUL; 0: nothing is left. A piece may end inside a character.
CADRE_API size_t cadre_scan_unescape(cadre_scan_text *rest, char *out, size_t size);

// Joins a surrogate pair that the pieces of a text part: `half` keeps the first half,
// which ended one piece, for the next one; 0 before the first. Takes what it keeps or
// joins from the ends of `piece`. Returns how many bytes it wrote to `out`, which stand
// before the piece: the character, U+FFFD for a half that stays one, or nothing.
CADRE_API size_t cadre_scan_join(cadre_scan_text *piece, uint16_t *half, char out[4]);

// Copies a string's value, cut at `size`, with a NUL. Returns `out`.
CADRE_API const char *cadre_scan_copy(cadre_scan_text text, char *out, size_t size);

// Is the key, or the string, this word? Escapes are not resolved.
static inline bool cadre_scan_is(cadre_scan_text text, const char *word)
{
    size_t len = strlen(word);
    return text.len == len && memcmp(text.data, word, len) == 0;
}

#ifdef __cplusplus
}
#endif

#endif
