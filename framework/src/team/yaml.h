// A YAML or JSON file as JSON values that remember where they stood.
//
// Read as YAML 1.2 core, in its strict form: only `true` and `false` are booleans,
// null is `null`, `~` or nothing; no octal by a leading 0, no sexagesimal, no dates,
// no 1_000. What is not such a word or a number that fits (64-bit integer, finite
// double) is text: `no`, `0755`, `1e999`, `.inf`. A scalar keeps its text as written
// beside its value, so that `1.10` where text is wanted stays `1.10`.
//
// What is wrong is a problem of the document, with its place. There are two kinds:
// 1. Reading goes on, and something definite stands in the document:
//    - a key given twice: the first value is kept, the later ones are left out;
//    - a tag: the value as it is without;
//    - an alias that names nothing, or what it stands in: null;
//    - a number in JSON that does not fit: its text, as in YAML;
//    - a text with a NUL in it: what stands before that;
//    - a key that is `<<`, missing, an array, an object, an alias, or holds a NUL: left
//      out with its value; a key with an anchor: the key;
//    - a second document: left out, with all that follows.
// 2. Reading stops, since the rest would mean nothing or is too much: syntax (tabs as
//    indentation, a NUL in a key of JSON), bytes that are not UTF-8, control
//    characters, nesting over 64, more than 200,000 values or 16 MiB of text after
//    alias expansion, files over 4 MiB. There are no values then, only problems.
// Names that end in .json are read as strict JSON: jansson judges the syntax of the
// whole file first, so there a mistake of syntax comes alone; then a scan gives the
// same places and the same problems as in YAML.
//
// Places belong to slots (a member of an object, an element of an array), not to
// values: jansson has one true, one false and one null for all. What stands in an
// alias's place has the alias's place; what is inside has its place at the anchor.
//
// Thread: one at a time while loading; read-only afterwards.
#ifndef CDR_YAML_H
#define CDR_YAML_H

#include "cadre/error.h"

#include <jansson.h>
#include <stdbool.h>

#define CDR_DOCUMENT_MAX_BYTES ((size_t)4 << 20)
#define CDR_DOCUMENT_MAX_DEPTH 64
#define CDR_DOCUMENT_MAX_VALUES 200000
#define CDR_DOCUMENT_MAX_TEXT_BYTES ((size_t)16 << 20)
#define CDR_DOCUMENT_LARGE 8 // so many times that, but the depth, for large files

typedef struct cdr_document cdr_document;

typedef struct cdr_place {
    int line;   // from 1; 0: unknown
    int column; // from 1, in characters; 0: unknown
} cdr_place;

// One mistake of the file. Borrowed from the document.
typedef struct cdr_document_problem {
    cdr_place place;  // line 0: the file as a whole
    const char *text; // what is wrong; without the place
} cdr_document_problem;

// One value and all that the file says about it. Borrowed from the document.
typedef struct cdr_document_value {
    json_t *value;       // NULL: not there; then the rest is zero
    cdr_place place;     // where the value starts
    cdr_place key_place; // where its key stands; in an array and for the root: `place`
    const char *text;    // a scalar as written, unquoted; NULL for containers
    bool is_plain;       // a scalar that is neither quoted nor a block
    // Where the text's first character stands, when it is a literal block (`|`): each
    // of its lines is one of the file, from the same column on. Else line 0.
    cdr_place text_place;
    // What a problem of the document says about it, so that nobody tells it off again
    // for what the reader made of it:
    bool is_doubtful;  // another value stands here than was meant, or members are lost
    bool holds_doubts; // so it is with this value, or with one below it
    bool is_repeated;  // its key was given again
} cdr_document_value;

// Reads a file. What is wrong with its text is no error of the call: the document is
// given out, with its problems. Errors: EIO (cannot be read: names the file and why),
// ENOMEM.
cadre_status cdr_document_load(const char *path, cdr_document **out, cadre_error *err);

// The same for a file that may be large.
cadre_status cdr_document_load_large(const char *path, cdr_document **out,
                                     cadre_error *err);

// The same from memory; the ending of `name` decides the syntax. Errors: ENOMEM.
cadre_status cdr_document_parse(const char *name, const char *text, size_t len,
                                cdr_document **out, cadre_error *err);
void cdr_document_free(cdr_document *document);

const char *cdr_document_name(const cdr_document *document); // as given
bool cdr_document_is_json(const cdr_document *document);     // by its name

// All problems, in the order of the file; their number in `n`. None: the file is sound.
const cdr_document_problem *cdr_document_problems(const cdr_document *document,
                                                  size_t *n);

// The value of the whole file; null (json_null) for an empty file. `value` is NULL when
// reading stopped; the problems say why.
cdr_document_value cdr_document_root(const cdr_document *document);

// A member of an object, an element of an array of this document. `value` is NULL
// when there is none, or when the container is no such container of this document.
// Members keep the order of the file: walk them with json_object_foreach.
cdr_document_value cdr_document_member(const cdr_document *document,
                                       const json_t *object, const char *key);
cdr_document_value cdr_document_element(const cdr_document *document,
                                        const json_t *array, size_t index);

// The value at a place as schema problems name it: a member when `key` is given, an
// element otherwise; the root when `container` is NULL.
cdr_document_value cdr_document_at(const cdr_document *document,
                                   const json_t *container, const char *key,
                                   size_t index);

// Settles what plain scalars below `container` are: where `schema` takes text and not
// what the scalar was read as, the value becomes its text as written (`1.10`, `no`,
// `0755`, `null`). A key with no value stays null. Call it before checking against
// the schema. Errors: ENOMEM.
cadre_status cdr_document_settle_text(cdr_document *document, json_t *container,
                                      const json_t *schema, cadre_error *err);

#endif
