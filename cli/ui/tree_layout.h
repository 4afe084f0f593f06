// The order and the shape of a tree that comes as a list of rows with parents.
//
// Linear in the rows, and nothing recurses: handing over ten thousand times makes a
// tree ten thousand levels deep.
// Thread: one thread.
#ifndef CLI_TREE_LAYOUT_H
#define CLI_TREE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Levels that are drawn; a row below them stands there after a mark.
#define CLI_TREE_LEVELS 10

typedef struct cli_tree_node {
    int parent, first_child, last_child, next; // indexes of rows; -1: none
    int depth;
} cli_tree_node;

typedef struct cli_tree_layout {
    cli_tree_node *nodes; // one for each row
    int *order;           // rows from the top of the page to its end
    size_t n;
} cli_tree_layout;

// Lays out n rows; parents[i] is an earlier row, or -1. False: no memory.
bool cli_tree_layout_init(cli_tree_layout *layout, const int *parents, size_t n);
void cli_tree_layout_fini(cli_tree_layout *layout);

// Columns of the branches left of a row, and the branches themselves.
size_t cli_tree_layout_indent(const cli_tree_layout *layout, int row);
void cli_tree_layout_print(const cli_tree_layout *layout, int row, bool has_utf8,
                           FILE *stream);

#endif
