// The official cases of JSON Schema, as packages of Debian bring them: which of them
// the validator answers right, which schemas it refuses, and that it answers none
// wrong.
//
// What is expected stands in a file, a line for each file of the suite:
//
//     draft7/enum.json 30 28 2        cases, answered right, of refused schemas
//     draft7/optional/content.json -  what checks nothing with us; not looked at
//     draft7/ref.json ! remote ref    a schema that is refused, by its name there
//
// so that a score that drops, or rises unnoticed, fails. With another release of the
// suite, where a file has other cases, only wrong answers fail.
//
// Thread: one at a time.
#ifndef SUPPORT_SCHEMA_SUITE_H
#define SUPPORT_SCHEMA_SUITE_H

#include <stdbool.h>

typedef struct schema_suite {
    const char *folder;   // of the suite: draft7/... below it
    const char *expected; // below tests/base/suites
    bool drops_draft;     // cases are read as what names no draft
} schema_suite;

// Is the suite there?
bool schema_suite_is_there(const schema_suite *suite);

// Checks all files that are listed, and that no other is there; prints the score.
void schema_suite_check(const schema_suite *suite);

#endif
