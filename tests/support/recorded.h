// What a store holds of a run, as text that two runs of the same have in common: lines
// in alphabetical order, for rows of parallel branches come in any; a frame by the keys
// on the way to it; ids read "ID"; no times.
//
//     frame root/1/0 tool look completed final: safe          of a model no output
//     frame root/lead#1 agent lead completed final:  delta {"a":1}
//     conversation root of session "s"
//     conversation root/1/0/main#1 owned by root/1/0 of root  named after the topmost
//                                                             frame in it
//     message root 3 tool main>: look ok safe                 the frame's path behind
//
// Running out of memory ends the program. Thread: any.
#ifndef RECORDED_H
#define RECORDED_H

#include "cadre/runtime.h"

#include <stddef.h>

// free() it.
char *recorded_text(cadre_runtime *runtime, const char *trace);

// The same without the places of messages, for what came at the same time. free() it.
char *recorded_unplaced(const char *text);

// The lines of a text that have all these parts. free() it. NULL parts: none wanted.
char *recorded_lines(const char *text, const char *part, const char *other);
size_t recorded_count(const char *text, const char *part, const char *other);

#endif
