// The stack tree while a run works, drawn again and again at the end of the terminal.
//
// A thread of its own draws, so that times and the mark of progress move also while
// nothing happens. Every function takes NULL: no live tree.
// Thread: any may call; drawing and changing exclude each other.
#ifndef CLI_LIVE_TREE_H
#define CLI_LIVE_TREE_H

#include "terminal.h"

#include <cadre/event.h>

typedef struct cli_live_tree cli_live_tree;

// Starts drawing on the terminal, which must outlive it. NULL: no thread or memory, a
// run goes on without.
cli_live_tree *cli_live_tree_start(const cli_terminal *terminal);

// Learns from an event.
void cli_live_tree_take(cli_live_tree *tree, const cadre_event *event);

// Takes the tree off the screen while others write there, and puts it back.
void cli_live_tree_hide(cli_live_tree *tree);
void cli_live_tree_show(cli_live_tree *tree);

// Takes it off, joins, frees.
void cli_live_tree_stop(cli_live_tree *tree);

#endif
