// A graph under test: "g" over agents a to h, which answer as they are driven, and
// "put", which keeps what it is given ("KEY JSON") in the state and says it.
//
//     graph_case_open("{'nodes': {'a': 'a', 'b': 'b'}, 'edges': [...]}");
//     DRIVEN("a", "say one");
//     graph_case_run("hi");
//     graph_case_check("a@1 b@2", "answer");
//     graph_case_close();
//
// Texts are JSON with ' for ". Running out of memory ends the program. Thread: one at a
// time.
#ifndef SUPPORT_GRAPH_CASE_H
#define SUPPORT_GRAPH_CASE_H

#include "support/team_case.h"

// The team at work.
extern team_case graph_team;

// Opens a team with the agents and the graph; more may be added to it before it runs.
void graph_case_open(const char *options);
void graph_case_close(void);

void graph_case_run(const char *input);

// What ran, as the keys of the calls of the graph in call order, and what it answered.
void graph_case_check(const char *keys, const char *answer);

// The keys alone. free() it.
char *graph_case_keys(void);

// Sealing tells these, one text a line.
void graph_case_check_problems(const char *options, const char *problems);

// A copy with " for '. free() it.
char *graph_case_json(const char *text);

#endif
