// What the server of a provider reads and says, for tests that drive all of them with
// the same dialogue: the table in wire_talk.c has a row for each wire format.
//
// Running out of memory ends the program. Thread: any of the running test.
#ifndef SUPPORT_WIRE_TALK_H
#define SUPPORT_WIRE_TALK_H

#include "cadre/ext/model.h"

// Calls `check` for each registered wire format. A format without a row in the table
// fails the test.
void wire_talk_each(void (*check)(const cadre_model_ops *ops, void *ctx), void *ctx);

// What a request's body says, the same for all formats, a line each:
//     system TEXT
//     user TEXT              neighbours are joined by an empty line
//     assistant TEXT
//     call #1 NAME ARGS      ids are counted in the order they come; so one that is
//                            used twice shows
//     result #1 TEXT
// What only a model can read is left out. Checks that ids and names are what the
// strictest endpoint takes. free() it.
char *wire_talk_outline(const char *provider, const char *body);

// The slice of the body that is its list of messages, without the brackets, and the
// one that is its list of tools; "" where there is none. free() it.
char *wire_talk_messages(const char *provider, const char *body);
char *wire_talk_tools(const char *provider, const char *body);

// A whole answer as a JSON body, with something that only this model can read where the
// format has that, signed as request_rules.h knows it. `call` NULL: none. free() it.
char *wire_talk_answer(const char *provider, const char *text,
                       const cadre_tool_call *call);

// The body of the status 400 that says that a prompt is too long.
const char *wire_talk_too_long(const char *provider);

#endif
