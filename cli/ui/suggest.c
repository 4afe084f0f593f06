// See suggest.h.
#include "suggest.h"

#include <string.h>

#define MAX_WORD 63

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// How many letters must be inserted, removed or replaced to make b of a.
static size_t distance(const char *a, const char *b)
{
    size_t row[MAX_WORD + 1];
    size_t b_len = strlen(b);

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_len];
}

const char *cli_suggest(const char *word, cli_word_at word_at, const void *table)
{
    const char *nearest = NULL, *known = NULL;
    size_t len = strlen(word);
    size_t best = len / 3 + 1; // more changes than that make another word

    if (len == 0 || len > MAX_WORD)
        return NULL;
    for (size_t i = 0; (known = word_at(table, i)); i++) {
        if (strlen(known) > MAX_WORD)
            continue;
        size_t n = distance(word, known);
        if (n < best || (n == best && !nearest)) {
            best = n;
            nearest = known;
        }
    }
    return nearest;
}
