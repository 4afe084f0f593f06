// Graphviz, a program of others that lays out graphs.
//
// Thread: one thread.
#ifndef CLI_GRAPHVIZ_H
#define CLI_GRAPHVIZ_H

#include <stddef.h>

// Runs `dot -Tsvg`, found in PATH, on a graph. Fills `svg`, owned by the caller.
// CLI_EXIT_OK, or a failure told on stderr.
int cli_graphviz_svg(const char *graph, size_t graph_len, char **svg, size_t *svg_len);

#endif
