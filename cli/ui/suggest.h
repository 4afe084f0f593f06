// "Did you mean": the known word that a mistyped one is nearest to.
//
// Thread: any.
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

// The nth known word; NULL: there are no more.
typedef const char *(*cli_word_at)(const void *table, size_t nth);

// Returns the nearest word, NULL when none is near. Words over 63 bytes are near none.
const char *cli_suggest(const char *word, cli_word_at word_at, const void *table);

#endif
