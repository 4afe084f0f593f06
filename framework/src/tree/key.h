// Keys that are given by themselves: of a call whose caller gives none.
//
// Rules:
// 1. "<name>#<n>": the nth call of this name by the frame. While a hook runs it is
//    "<place>/<n>" instead, so the frame's own keys do not depend on hooks.
//
// Thread: the strand of the frame.
#ifndef CDR_KEY_H
#define CDR_KEY_H

#include "tree/tree.h"

enum {
    CDR_KEY_SIZE = 96 // names are at most 64 characters
};

// Writes the key of the parent's next call of this name. False: no memory.
bool cdr_key_make(cadre_frame *parent, const char *name, char key[CDR_KEY_SIZE]);

// Is it "<turn>/<index>", the key of what a model called for, and of no step? Then
// `index` is set.
bool cdr_key_is_of_call(const char *key, size_t *index);

#endif
