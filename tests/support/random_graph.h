// The block of a random graph over the members of an agent.
//
// Thread: any; the dice are the caller's.
#ifndef SUPPORT_RANDOM_GRAPH_H
#define SUPPORT_RANDOM_GRAPH_H

#include "support/random_team.h"

#include "base/buf.h"

// Writes nodes for all members, with tools, questions and expressions between them, and
// edges by which each is reached and comes to the end.
void random_graph_write(const random_team *plan, const random_agent *graph, dice *d,
                        cdr_buf *to);

#endif
