// A walk through a graph: what is ready, what was answered. Made anew by each run of
// it, from what is recorded alone.
//
// 1. A ready node is held while another ready node reaches it over forward edges. The
//    graph without its back edges has no loops, so some ready node is never held.
// 2. Nothing of a step is seen by another node of it: answers are taken and edges
//    followed when all of the step have ended, in file order.
//
// Thread: the one its graph runs on.
#ifndef GRAPH_WALK_H
#define GRAPH_WALK_H

#include "plan.h"

typedef struct cdr_graph_walk {
    const cdr_graph *graph;
    cadre_frame *frame;
    const char *user_input;
    json_t *responses; // by node: the last text of each
    size_t *ready;     // in file order
    size_t n_ready;
    size_t *now; // of them, those of this step
    size_t n_now;
    bool *is_ready;    // by node
    bool *is_last;     // by node: its answer is one of the graph's
    uint64_t *sources; // by node: who led to it; rows as of `reach`
    int64_t step;      // from 1
} cdr_graph_walk;

// The text of a node's last answer; "" when there is none.
const char *cdr_graph_response(const cdr_graph_walk *walk, size_t node);

// The answers of the nodes of a row (as `sources`): of one its text, of several their
// texts in file order, each under a heading.
void cdr_graph_join(const cdr_graph_walk *walk, const uint64_t *row,
                    cdr_graph_text *out);

// Runs the nodes of this step, and keeps their answers (calls.c).
cadre_status cdr_graph_call_nodes(cdr_graph_walk *walk, cadre_error *err);

// Follows the edges of a node that has answered: what they lead to is ready
// then (follow.c).
cadre_status cdr_graph_follow(cdr_graph_walk *walk, size_t node, cadre_error *err);

// Makes a node ready; or the end, for which the answer of `from` is kept.
void cdr_graph_lead(cdr_graph_walk *walk, size_t from, size_t to);

#endif
