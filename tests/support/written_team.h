// A team under test that is written as a team file; its models are "driven/test".
//
//     static team_case t;
//     written_team_open(&t, "agents:\n"
//                           "  pair: {type: chain, members: [a, b]}\n" ...);
//     DRIVEN("a", "say one");
//     team_case_run(&t, "hi");
//     written_team_check_said(&t, "user: hi\na: one\nb: two\n");
//     team_case_close(&t);
//
// Running out of memory ends the program. Thread: one at a time.
#ifndef SUPPORT_WRITTEN_TEAM_H
#define SUPPORT_WRITTEN_TEAM_H

#include "support/team_case.h"

// Opens the case with that team in place of an empty one; false: the test has failed.
// The other has a clock that stands still.
bool written_team_open(team_case *t, const char *text);
bool written_team_open_fake(team_case *t, const char *text);

// Loading tells these mistakes, or notes, a line each, behind "team.yaml:": "2:3: ...".
void written_team_check_problems(const char *text, const char *problems);
void written_team_check_notes(const char *text, const char *notes);

// What the main conversation of the last run holds, with all earlier turns of its
// session, a line each: "user: TEXT", "AGENT: TEXT" with "[NAME]" for each tool it
// calls, "tool NAME: RESULT", "AGENT>AGENT: TEXT" for what a member was told.
void written_team_check_said(team_case *t, const char *expected);

// The agent frames of the last run: "NAME KEY STATUS REASON", indented by their depth,
// a line each.
void written_team_check_agents(team_case *t, const char *expected);

// Reads the run that team_case_start began up to the nth event (from 1) of that type
// and agent. False, and a failed check: it ended before.
bool written_team_read_until(team_case *t, cadre_event_type type, const char *agent,
                             int nth);

#endif
