// See frame_table.h.
#include "tree/frame_table.h"

#include <stdlib.h>
#include <string.h>

size_t cdr_frame_hash(const cadre_frame *parent, const char *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)parent * 0x9E3779B97F4A7C15u;
    for (const char *c = key; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001B3u;
    return (size_t)(hash ^ (hash >> 32));
}

cadre_frame *cdr_frame_find_locked(cdr_tree *tree, const cadre_frame *parent,
                                   const char *key)
{
    cadre_frame *frame =
        tree->buckets[cdr_frame_hash(parent, key) & (tree->n_buckets - 1)];
    while (frame != NULL && (frame->parent != parent || strcmp(frame->key, key) != 0))
        frame = frame->hash_next;
    return frame;
}

// Doubles the table; without memory the chains get longer, nothing else.
static void grow_table_locked(cdr_tree *tree)
{
    size_t n = tree->n_buckets * 2;
    cadre_frame **buckets = calloc(n, sizeof *buckets);
    if (buckets == NULL)
        return;
    for (size_t i = 0; i < tree->n_buckets; i++) {
        for (cadre_frame *frame = tree->buckets[i]; frame != NULL;) {
            cadre_frame *next = frame->hash_next;
            cadre_frame **at =
                &buckets[cdr_frame_hash(frame->parent, frame->key) & (n - 1)];
            frame->hash_next = *at;
            *at = frame;
            frame = next;
        }
    }
    free(tree->buckets);
    tree->buckets = buckets;
    tree->n_buckets = n;
}

void cdr_frame_table_add_locked(cdr_tree *tree, cadre_frame *frame)
{
    if (++tree->n_frames > tree->n_buckets)
        grow_table_locked(tree);
    cadre_frame **at = &tree->buckets[cdr_frame_hash(frame->parent, frame->key) &
                                      (tree->n_buckets - 1)];
    frame->hash_next = *at;
    *at = frame;
}

void cdr_frame_table_remove_locked(cdr_tree *tree, cadre_frame *frame)
{
    cadre_frame **at = &tree->buckets[cdr_frame_hash(frame->parent, frame->key) &
                                      (tree->n_buckets - 1)];
    while (*at != frame)
        at = &(*at)->hash_next;
    *at = frame->hash_next;
    tree->n_frames--;
}
