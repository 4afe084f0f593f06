// Reasoning inside a text: servers that do not take it out send "<think>...</think>" in
// front of an answer.
//
// Only what a text begins with counts; tags behind a first word are text. The blanks
// behind the end tag are dropped.
// Thread: one at a time. Cost is linear in the bytes, whatever the cuts.
#ifndef CDR_THINK_H
#define CDR_THINK_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cdr_think_state {
    CDR_THINK_OFF,    // what comes is text
    CDR_THINK_START,  // nothing but blanks came
    CDR_THINK_INSIDE, // behind the tag
    CDR_THINK_AFTER   // behind the end tag, and nothing but blanks came
} cdr_think_state;

typedef struct cdr_think {
    cdr_think_state state;
    const char *end; // the tag that ends it
    char held[16];   // what may become a tag
    size_t n_held;
} cdr_think;

// A piece of the text; `data` is borrowed from the bytes or from the splitter.
typedef struct cdr_think_piece {
    const char *data;
    size_t len; // may be 0
    bool is_reasoning;
} cdr_think_piece;

// Takes some bytes of a text, `len` at least 1, and gives the next piece. Returns how
// many it took; 0: the piece is what was held back, and the bytes are looked at again.
size_t cdr_think_next(cdr_think *think, const char *data, size_t len,
                      cdr_think_piece *out);

// Gives what was held back: nothing follows.
cdr_think_piece cdr_think_end(cdr_think *think);

#endif
