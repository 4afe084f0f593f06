// A call of a tool that owns the conversation of the child it calls: an agent `main`
// calls the tool `work`, whose child, a copy of it, thinks.
//
// Thread: as lives.
#ifndef OWNED_CASE_H
#define OWNED_CASE_H

#include "support/lives.h"
#include "support/recorded.h"

#include "cadre/trace.h"

#define OWNED_ROWS_OF_CALL                                                             \
    "message root 0 user >:  ok Go. by root\n"                                         \
    "message root 1 assistant main>:  ok  work({\"task\":\"Think.\"}) by root\n"

#define OWNED_ROWS_OF_CHILD                                                            \
    "message root/1/0/main#1 0 user main>main:  ok Think. by root/1/0/main#1\n"        \
    "message root/1/0/main#1 1 assistant main>:  ok Thought. by root/1/0/main#1\n"

#define OWNED_CONVERSATION "conversation root/1/0/main#1 owned by root/1/0 of root\n"

// What an undisturbed run leaves.
extern const char owned_rows[];

// What `work` is: of a type, or a function.
typedef struct owned_tool {
    const char *type;
    cadre_status (*run)(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err);
    bool is_safe;
} owned_tool;

extern const owned_tool owned_subagent;

// As lives_open. False: the test has failed.
bool owned_case_open(lives *l, const char *type, const owned_tool *tool);

// Goes on with another team: other instructions, or a second tool.
void owned_case_change(lives *l, const char *instructions, bool has_more);

void owned_case_check(lives *l, const char *expected);

#endif
