// Background runs of this process: they are waited for before it ends.
//
// Thread: one thread; blocks.
#ifndef CLI_BACKGROUND_H
#define CLI_BACKGROUND_H

#include <cadre/runtime.h>
#include <stdbool.h>

// Waits until none is under way; says so on stderr unless `is_quiet`. Ctrl-C ends the
// program and leaves them cut, for `cadre resume --all`.
void cli_background_wait(cadre_runtime *runtime, bool is_quiet);

#endif
