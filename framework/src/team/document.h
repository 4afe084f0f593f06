// What a document holds: its values, the table of places and the problems.
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
    cdr_place text_place; // of a literal block; else line 0
    const char *text;     // NULL for containers
    bool is_plain;
    bool is_doubtful, holds_doubts, is_repeated; // see cdr_document_value
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
    // Values that were read and left out. They are kept, since the table knows
    // containers by their address, which must not be given to another one. NULL: none.
    json_t *lost;
    cdr_document_problem *problems; // in the arena
    size_t n_problems;
    bool no_memory;            // for at least one problem
    bool is_stopped;           // the values are not whole
    size_t scale;              // of the limits: 1, or CDR_DOCUMENT_LARGE
    cdr_arena arena;           // texts, keys and slots
    cdr_container *containers; // hash table by the value's address
    size_t n_containers;
    size_t capacity; // of the table: a power of 2, or 0
};

// Keeps a problem; reading goes on.
void cdr_document_tell(cdr_document *document, cdr_place place, const char *format, ...)
    CADRE_PRINTF(3, 4);

// Keeps a problem that ends reading. Returns ECONFIG.
cadre_status cdr_document_refuse(cdr_document *document, cdr_place place,
                                 const char *format, ...) CADRE_PRINTF(3, 4);

// Puts the problems into the order of the file; those of one place by their text.
void cdr_document_sort_problems(cdr_document *document);

// Adds a container that the table does not have yet. False: no memory.
bool cdr_document_add(cdr_document *document, const cdr_container *container);

// Finds a container by its value. NULL: it is none of this document. Borrowed until
// the next one is added.
const cdr_container *cdr_document_find(const cdr_document *document,
                                       const json_t *value);

// Finds a member of an object. NULL: there is none. Borrowed from the document.
const cdr_slot *cdr_container_find(const cdr_container *container, const char *key);

#endif
