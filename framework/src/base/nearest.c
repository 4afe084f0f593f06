// "Did you mean": edit distance over characters, given up as soon as it is too large.
#include "base/nearest.h"

#include <stdint.h>
#include <stdbool.h>
#include <string.h>

// Nobody mistypes longer names by hand; it also bounds the cost of each comparison.
#define NAME_MAX_CHARS 64
#define N_ROWS 3
#define MIN_START 3 // fewer characters start too much

typedef struct folded_name {
    uint32_t chars[NAME_MAX_CHARS];
    size_t len;
} folded_name;

// Splits into characters without case (of ASCII). False: too long to be compared.
static bool fold(const char *text, folded_name *out)
{
    out->len = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if ((*at & 0xc0) == 0x80 && out->len > 0) { // goes on with the last one
            out->chars[out->len - 1] = out->chars[out->len - 1] << 8 | *at;
            continue;
        }
        if (out->len == NAME_MAX_CHARS)
            return false;
        out->chars[out->len++] =
            *at >= 'A' && *at <= 'Z' ? (uint32_t)(*at - 'A' + 'a') : *at;
    }
    return true;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// The distance of the first i characters of a to the first j of b, from the rows
// above (`up`) and two above (`up2`) and what stands left in `row`.
static size_t cell(const folded_name *a, const folded_name *b, size_t i, size_t j,
                   size_t *const rows[N_ROWS])
{
    const size_t *row = rows[0];
    const size_t *up = rows[1];
    const size_t *up2 = rows[2];
    size_t is_other = a->chars[i - 1] != b->chars[j - 1];
    size_t best = smaller(up[j - 1] + is_other, smaller(up[j], row[j - 1]) + 1);
    if (i > 1 && j > 1 && a->chars[i - 1] == b->chars[j - 2] &&
        a->chars[i - 2] == b->chars[j - 1])
        best = smaller(best, up2[j - 2] + 1);
    return best;
}

// Returns the edit distance, or more than `limit` when it is larger than that.
static size_t distance(const folded_name *a, const folded_name *b, size_t limit)
{
    if ((a->len > b->len ? a->len - b->len : b->len - a->len) > limit)
        return limit + 1;
    size_t storage[N_ROWS][NAME_MAX_CHARS + 1] = {{0}};
    for (size_t j = 0; j <= b->len; j++)
        storage[0][j] = j;
    size_t last_least = 0; // a swap looks two rows back: two rows must be too large
    for (size_t i = 1; i <= a->len; i++) {
        size_t *const rows[N_ROWS] = {
            storage[i % N_ROWS],
            storage[(i + N_ROWS - 1) % N_ROWS],
            storage[(i + N_ROWS - 2) % N_ROWS],
        };
        size_t least = rows[0][0] = i;
        for (size_t j = 1; j <= b->len; j++) {
            rows[0][j] = cell(a, b, i, j, rows);
            least = smaller(least, rows[0][j]);
        }
        if (least > limit && last_least > limit)
            return limit + 1;
        last_least = least;
    }
    return storage[a->len % N_ROWS][b->len];
}

// The shortest name that goes on where the wanted one ends; NULL: none.
static const char *find_longer(const folded_name *wanted, const char *const *names,
                               size_t n_names)
{
    const char *found = NULL;
    size_t found_len = NAME_MAX_CHARS + 1;
    for (size_t i = 0; wanted->len >= MIN_START && i < n_names; i++) {
        folded_name known;
        if (!fold(names[i], &known) || known.len <= wanted->len ||
            known.len >= found_len ||
            memcmp(known.chars, wanted->chars, wanted->len * sizeof(*wanted->chars)) !=
                0)
            continue;
        found = names[i];
        found_len = known.len;
    }
    return found;
}

static const char *find_similar(const folded_name *wanted, const char *const *names,
                                size_t n_names)
{
    const char *nearest = NULL;
    size_t limit = wanted->len >= 6 ? wanted->len / 3 : 1;
    for (size_t i = 0; i < n_names; i++) {
        folded_name known;
        if (!fold(names[i], &known))
            continue;
        size_t edits = distance(wanted, &known, limit);
        bool has_common = edits < (wanted->len > known.len ? wanted->len : known.len);
        if (edits > limit || !has_common)
            continue;
        nearest = names[i];
        if (edits == 0)
            break;
        limit = edits - 1; // from here on only a nearer one counts
    }
    return nearest;
}

const char *cdr_nearest(const char *name, const char *const *names, size_t n_names)
{
    folded_name wanted;
    if (!fold(name, &wanted))
        return NULL;
    const char *similar = find_similar(&wanted, names, n_names);
    return similar ? similar : find_longer(&wanted, names, n_names);
}
