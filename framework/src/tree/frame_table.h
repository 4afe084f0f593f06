// The frames of a tree by (parent, key): a hash table with chains.
//
// Thread: needs tree->mu.
#ifndef CDR_FRAME_TABLE_H
#define CDR_FRAME_TABLE_H

#include "tree/tree.h"

// `parent` NULL: of a key alone.
size_t cdr_frame_hash(const cadre_frame *parent, const char *key);

// NULL: not there.
cadre_frame *cdr_frame_find_locked(cdr_tree *tree, const cadre_frame *parent,
                                   const char *key);
void cdr_frame_table_add_locked(cdr_tree *tree, cadre_frame *frame);
void cdr_frame_table_remove_locked(cdr_tree *tree, cadre_frame *frame);

#endif
