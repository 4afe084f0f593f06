// The words of a script, one after the other: names, values and marks, as Lua's own
// reader would find them in a text that it has compiled already.
//
// Thread: any.
#ifndef CDR_SCAN_H
#define CDR_SCAN_H

#include "expression/sandbox.h"

typedef enum cdr_token_kind {
    CDR_TOKEN_END,
    CDR_TOKEN_NAME,  // also the words of Lua
    CDR_TOKEN_FIELD, // a name after a dot or a colon
    CDR_TOKEN_VALUE, // a text or a number
    CDR_TOKEN_MARK   // anything else: one character, or `==`, `::`, `..`, ...
} cdr_token_kind;

typedef struct cdr_token {
    cdr_token_kind kind;
    const char *text; // in the script
    size_t len;
    int line;
    int n_open; // brackets of all kinds that are open before it
} cdr_token;

typedef struct cdr_scan {
    const char *at, *end;
    int line;
    int n_open;
    bool after_dot; // what comes is a field or a method
} cdr_scan;

cdr_scan cdr_scan_of(const cdr_script *script);

// Gives the next one; at the end again and again CDR_TOKEN_END.
cdr_token cdr_scan_next(cdr_scan *self);

// Looks at it without going there.
cdr_token cdr_scan_peek(const cdr_scan *self);

bool cdr_token_is(const cdr_token *token, const char *text);
bool cdr_token_is_mark(const cdr_token *token, const char *mark);

// Is it one of the names, the last of which is NULL?
bool cdr_token_is_one_of(const cdr_token *token, const char *const *names);

// Is it a name that is a word of Lua?
bool cdr_token_is_word(const cdr_token *token);

#endif
