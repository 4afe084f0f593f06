// The forms in which a team is drawn. Names and labels are written so that no reader
// takes them for anything else.
//
// Thread: one thread.
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include "team_places.h"

#include <stdio.h>

// A tree, a place a line. False: no memory.
bool cli_draw_text(FILE *stream, const cli_places *places, bool has_utf8);

// A flowchart of Mermaid, a subgraph for each place with others in it.
void cli_draw_mermaid(FILE *stream, const cli_places *places);

// A graph for Graphviz, a cluster for each such place.
void cli_draw_dot(FILE *stream, const cli_places *places);

// Two blanks for each level.
void cli_draw_indent(FILE *stream, int depth);

// The text as it is shown, unsafe characters written out; owned. NULL: no memory.
char *cli_draw_safe_text(const char *text);

#endif
