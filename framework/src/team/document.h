// What a document holds: its values and the table of places.
//
// Thread: one at a time while it is built; read-only afterwards.
#ifndef CDR_DOCUMENT_H
#define CDR_DOCUMENT_H

#include "base/arena.h"
#include "team/yaml.h"

// What the file says about one value.
typedef struct cdr_slot {
    const char *key; // NULL in an array
    cdr_place key_place;
    cdr_place place;
    const char *text; // NULL for containers
    bool is_plain;
} cdr_slot;

// The slots of one container: an array's by index, an object's sorted by key.
typedef struct cdr_container {
    const json_t *value; // NULL: a free entry of the table
    const cdr_slot *slots;
    size_t n_slots;
} cdr_container;

struct cdr_document {
    char *name;
    json_t *root;
    cdr_slot root_slot;
    bool is_json;
    cdr_arena arena;           // texts, keys and slots
    cdr_container *containers; // hash table by the value's address
    size_t n_containers;
    size_t capacity; // of the table: a power of 2, or 0
};

// Adds a container that the table does not have yet. False: no memory.
bool cdr_document_add(cdr_document *document, const cdr_container *container);

// Finds a container by its value. NULL: it is none of this document. Borrowed until
// the next one is added.
const cdr_container *cdr_document_find(const cdr_document *document,
                                       const json_t *value);

// Finds a member of an object. NULL: there is none. Borrowed from the document.
const cdr_slot *cdr_container_find(const cdr_container *container, const char *key);

#endif
