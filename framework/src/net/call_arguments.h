// What servers make of the arguments of a call, and what is right.
//
// Thread: any.
#ifndef CDR_CALL_ARGUMENTS_H
#define CDR_CALL_ARGUMENTS_H

#include "base/buf.h"

// Are they nothing, or whole JSON?
bool cdr_arguments_are_whole(const cdr_buf *arguments);

// Makes them what was meant: nothing and `null` are "{}"; "{}" before an object is what
// a server began with (Bedrock); the same text twice was sent once in pieces and once
// whole (vLLM); a text with an object in it is the object. Whatever else they are, they
// stay. False: no memory.
bool cdr_arguments_mend(cdr_buf *arguments);

#endif
