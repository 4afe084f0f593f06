// The programs that this one has started and that have not ended: command tools.
//
// Thread: any.
#ifndef CLI_CHILDREN_H
#define CLI_CHILDREN_H

// Kills each child and its process group, at once and without waiting. Done before the
// program ends out of turn: tools have sessions of their own, which no Ctrl-C and no
// hangup of the terminal reaches.
void cli_children_kill(void);

#endif
