// Keypaths: where a frame stands in a run, as the keys from the root to it. The same
// call of another run of the team has the same one, whatever ran at the same time.
//
// Rules:
// 1. Text: the keys, with " > " between them, without the root's; transfers in a row
//    are counted, so that a long chain of them stays short: "b1/2 > transfer*3 > 1".
//    The root alone is "root". Blanks and "%*>" inside a key are written as %XX.
// 2. A run that goes on in a session begins with the number of messages before it:
//    "4: transfer > 1".
// 3. Two keypaths are compared by 128 bits, which are never equal by chance. Equal keys
//    in a row are added up, so a keypath costs what its text is long.
//
// Thread: plain data.
#ifndef CDR_KEYPATH_H
#define CDR_KEYPATH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define CDR_ROOT_KEY "root"

typedef struct cdr_keypath {
    uint64_t a, b;
} cdr_keypath;

// Of the root of a run that found so many messages in its session.
cdr_keypath cdr_keypath_root(uint64_t n_before);

// Of a child, by its key and that of its parent.
cdr_keypath cdr_keypath_below(cdr_keypath parent, const char *parent_key,
                              const char *key);

// The same as texts; NULL: no memory.
const char *cdr_keypath_root_text(cdr_arena *arena, uint64_t n_before);
const char *cdr_keypath_join(cdr_arena *arena, const char *parent,
                             const char *parent_key, const char *key);

// Reads a text. False: it is none.
bool cdr_keypath_parse(const char *text, cdr_keypath *out);

// For sorting: below, at or above 0.
int cdr_keypath_compare(cdr_keypath a, cdr_keypath b);

#endif
