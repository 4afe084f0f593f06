// A team that asks people: it is run until it parks, is answered, and goes on.
//
// Thread: one at a time.
#ifndef ASK_CASE_H
#define ASK_CASE_H

#include "support/team_case.h"

// Of the running test: the team, which a test opens and closes, and its run.
extern team_case ask_team;
extern char ask_trace[64];

// Asks; the answer is "QUESTION ANSWER".
cadre_status ask_case_ask(cadre_frame *frame, const char *question, cadre_error *err);

// The `run` of an agent that asks "colour?".
cadre_status ask_case_colour(void *ctx, cadre_frame *frame, cadre_error *err);

// Runs until it parks. False: it did not.
bool ask_case_park(void);

// Answers a question, of which there may be only one when it is NULL.
void ask_case_answer(const char *question, const char *text);
void ask_case_resume(void);

// The id of the question that an agent, or a tool, waits with.
const char *ask_case_question(const char *name);

// All these lines are there and no others; those of branches come in any order.
void ask_case_check_frames(const char *expected);

#endif
