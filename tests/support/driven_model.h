// A model that a test drives: provider "driven" answers each agent with the replies
// written for it, keeps what it was asked as text, and can be held in mid-answer.
//
// A reply is a text of lines:
//     say TEXT            a piece of the answer
//     call NAME ARGS      a tool call; ARGS is raw, "{}" when left out
//     to AGENT MESSAGE    a call of transfer_to_agent; MESSAGE may be left out
//     gate                waits here for driven_release, or until the frame is marked
//     hold                sleeps until the frame must stop
//     think TEXT          a piece of reasoning
//     cut                 last: the answer ends here by its token limit
//     wait MS             the failure that follows asks to wait so long
//     fail CLASS TEXT     the attempt fails ("fail server down"); what may pass, as
//                         `rate_limited` and `server`, is tried again
//     usage IN OUT        tokens of this answer
//     die                 the store is gone from here on (support/mortal_store.h)
// The last reply of an agent serves all later requests when it starts with "always".
// A model that has replies of its own, DRIVEN("driven/NAME", ...), gives those in place
// of the agent's, and is then what requests are counted under.
//
// Running out of memory ends the program. Thread: any; one `driven` at a time.
#ifndef SUPPORT_DRIVEN_MODEL_H
#define SUPPORT_DRIVEN_MODEL_H

#include "cadre/cadre.h"

// Makes the model ready for a test and registers it; forgets what was before.
void driven_open(cadre_runtime *runtime);
void driven_close(void);
void driven_register(cadre_runtime *runtime); // with a further one, beside that

// Adds replies for an agent, in order.
void driven_add(const char *agent, const char *const *replies, size_t n);
#define DRIVEN(agent, ...)                                                             \
    driven_add(agent, (const char *const[]){__VA_ARGS__},                              \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

// The nth request (from 0) of an agent as text, a line an item: "user: ...",
// "assistant: ...", "call ID NAME ARGS" and "tool ID: RESULT". "" when there was none.
const char *driven_request(const char *agent, size_t nth);
const char *driven_system(const char *agent, size_t nth);
const char *driven_tools(const char *agent, size_t nth); // "add, transfer_to_agent"
int64_t driven_asked_at(const char *agent, size_t nth);  // by its runtime's clock
// The schema that its answer had to fit, "NAME JSON"; "": none.
const char *driven_schema(const char *agent, size_t nth);
size_t driven_count(const char *agent); // requests of this agent

// Waits until `n` requests have come to a gate or a hold. False after 20 s.
bool driven_await_held(size_t n);
void driven_release(void); // opens the gate, for now and later

#endif
