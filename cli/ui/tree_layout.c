// See tree_layout.h.
#include "tree_layout.h"

#include <stdlib.h>

// A page may have several tops; they hang together like children of row -1.
static void link_rows(cli_tree_layout *layout, const int *parents, int *first_top)
{
    int last_top = -1;

    for (int i = 0; i < (int)layout->n; i++) {
        int parent = parents[i] < i ? parents[i] : -1;
        layout->nodes[i] = (cli_tree_node){parent, -1, -1, -1, 0};
        cli_tree_node *above = parent >= 0 ? &layout->nodes[parent] : NULL;
        int *first = above ? &above->first_child : first_top;
        int *last = above ? &above->last_child : &last_top;
        if (above)
            layout->nodes[i].depth = above->depth + 1;
        if (*last >= 0)
            layout->nodes[*last].next = i;
        else
            *first = i;
        *last = i;
    }
}

static int row_after(const cli_tree_node *nodes, int row)
{
    if (nodes[row].first_child >= 0)
        return nodes[row].first_child;
    while (row >= 0 && nodes[row].next < 0)
        row = nodes[row].parent;
    return row >= 0 ? nodes[row].next : -1;
}

bool cli_tree_layout_init(cli_tree_layout *layout, const int *parents, size_t n)
{
    int row = -1;
    size_t at = 0;

    layout->nodes = calloc(n + 1, sizeof(*layout->nodes));
    layout->order = calloc(n + 1, sizeof(*layout->order));
    layout->n = n;
    if (!layout->nodes || !layout->order) {
        cli_tree_layout_fini(layout);
        return false;
    }
    link_rows(layout, parents, &row);
    for (; row >= 0; row = row_after(layout->nodes, row))
        layout->order[at++] = row;
    return true;
}

void cli_tree_layout_fini(cli_tree_layout *layout)
{
    free(layout->nodes);
    free(layout->order);
    *layout = (cli_tree_layout){0};
}

static int drawn_levels(const cli_tree_layout *layout, int row)
{
    int depth = layout->nodes[row].depth;

    return depth < CLI_TREE_LEVELS ? depth : CLI_TREE_LEVELS;
}

size_t cli_tree_layout_indent(const cli_tree_layout *layout, int row)
{
    return 3 * (size_t)drawn_levels(layout, row);
}

// What stands in one level left of a name: above the name's own level only the lines of
// those that go on below.
static const char *branch(bool is_own, bool goes_on, bool has_utf8)
{
    static const char *const signs[2][2][2] = {
        {{"   ", "   "}, {"|  ", "│  "}},
        {{"`- ", "└─ "}, {"|- ", "├─ "}},
    };

    return signs[is_own][goes_on][has_utf8];
}

void cli_tree_layout_print(const cli_tree_layout *layout, int row, bool has_utf8,
                           FILE *stream)
{
    const char *branches[CLI_TREE_LEVELS] = {""};
    int levels = drawn_levels(layout, row);
    int level = row;

    for (int i = levels; i > 0; i--, level = layout->nodes[level].parent)
        branches[i - 1] = branch(i == levels, layout->nodes[level].next >= 0, has_utf8);
    if (layout->nodes[row].depth > CLI_TREE_LEVELS)
        branches[0] = ".. ";
    for (int i = 0; i < levels; i++)
        fputs(branches[i], stream);
}
