// A document while it is built.
//
// A reader tells the builder what it meets, in the order of the file; the builder makes
// the tree, keeps the places and holds the limits, so that they are the same for every
// syntax.
//
// Thread: one at a time.
#ifndef CDR_DOCUMENT_BUILDER_H
#define CDR_DOCUMENT_BUILDER_H

#include "team/document.h"

// A scalar as the reader met it; the texts are borrowed for the call.
typedef struct cdr_scalar {
    cdr_place place;
    const char *text;
    size_t len;
    const char *anchor;   // NULL: none
    cdr_place text_place; // of a literal block; else line 0
    bool is_plain;
    bool is_doubtful; // something else was meant; told already
} cdr_scalar;

// What a container is to get next.
typedef enum cdr_awaited {
    CDR_AWAITS_VALUE = 0, // in an array always
    CDR_AWAITS_KEY,
    CDR_AWAITS_LOST_KEY,   // an array or an object that was refused as a key
    CDR_AWAITS_LOST_VALUE, // of a key that was refused, or is there already
} cdr_awaited;

typedef struct cdr_frame {
    json_t *value;       // the open container
    size_t own_slot;     // among the builder's; not for the root and what is lost
    size_t first_slot;   // its slots among the builder's
    const char *key;     // waits for its value; NULL in arrays
    cdr_place key_place; // of `key`
    cdr_awaited awaited;
    bool is_lost;         // read, but left out of the document
    size_t anchor_number; // from 1; 0: it has none
} cdr_frame;

typedef struct cdr_anchor {
    json_t *value;
    cdr_slot slot;
    bool is_open; // its container has not ended
} cdr_anchor;

typedef struct cdr_builder {
    cdr_document *document;
    cdr_frame frames[CDR_DOCUMENT_MAX_DEPTH];
    size_t depth;
    cdr_slot *slots; // of the open containers, the innermost last
    size_t n_slots;
    size_t slots_capacity;
    cdr_anchor *anchors;
    size_t n_anchors;
    size_t anchors_capacity;
    json_t *anchor_numbers; // by name; from 1
    size_t n_values;
    size_t n_text_bytes;
} cdr_builder;

void cdr_builder_init(cdr_builder *builder, cdr_document *document);
void cdr_builder_fini(cdr_builder *builder);

// Is the next thing a key of an object?
bool cdr_builder_wants_key(const cdr_builder *builder);

// What was met; `_take`: the value is consumed, on failure too (NULL: no memory). Of
// `scalar` a container has the place, the anchor and whether it is doubtful. Errors:
// ECONFIG (reading stops; the document has the problem), ENOMEM.
cadre_status cdr_builder_begin_take(cdr_builder *builder, json_t *container,
                                    const cdr_scalar *scalar);
cadre_status cdr_builder_end(cdr_builder *builder);
cadre_status cdr_builder_key(cdr_builder *builder, const cdr_scalar *key);
cadre_status cdr_builder_scalar_take(cdr_builder *builder, json_t *value,
                                     const cdr_scalar *scalar);

// Where a key is awaited there comes something that is none, or cannot be: it will be
// left out with its value. Call it before what was met is told.
void cdr_builder_refuse_key(cdr_builder *builder, cdr_place place, const char *problem);
cadre_status cdr_builder_alias(cdr_builder *builder, const char *name, cdr_place place);

// After reading was stopped: tells of the keys given twice in containers that are open.
void cdr_builder_abandon(cdr_builder *builder);

// The readers. The text was checked (cdr_source_check) and has no byte order mark.
cadre_status cdr_yaml_read(cdr_builder *builder, const char *text, size_t len);
cadre_status cdr_json_read(cdr_builder *builder, const char *text, size_t len);

#endif
