// The stack tree as lines of columns:
//
//   desk                api      completed   32 ms
//   └─ triage           agent    completed   12 ms   10 in   4 out
//      ├─ ! look  tool_error: cannot start './look': No such file or directory
//      └─ after_sales   agent    completed   20 ms   31 in  12 out  (transfer)
//
// Thread: one thread.
#ifndef CLI_PRINT_TREE_H
#define CLI_PRINT_TREE_H

#include "json_output.h"
#include "spawned.h"
#include "terminal.h"

// Texts are borrowed; "" or 0: nothing is shown there.
typedef struct cli_tree_row {
    const char *name, *referer, *state, *note;
    bool is_remark;    // only name and note: something that went wrong
    cli_colour colour; // of the state
    int64_t duration_ms;
    // Its own, without what is below.
    int64_t input_tokens, output_tokens, cost_usd_micros;
} cli_tree_row;

typedef struct cli_tree_page {
    const cli_tree_row *rows;
    const int *parents; // earlier rows, or -1
    size_t n;
    size_t columns;  // lines are cut to it; 0: as long as they are
    size_t max_rows; // the last ones are shown and a count of the others; 0: all
} cli_tree_page;

// Prints and returns the number of lines. `widths`, unless NULL, has room for max_rows
// and gets the columns of each line.
size_t cli_tree_print(const cli_tree_page *page, const cli_terminal *terminal,
                      FILE *stream, size_t *widths);

// Which frames of a run are shown.
typedef enum cli_tree_scope {
    CLI_TREE_AGENTS, // and the tool calls that failed
    CLI_TREE_ALL
} cli_tree_scope;

typedef struct cli_tree {
    cli_frames frames;
    cli_spawned spawned; // each stands below the frame that spawned it
    cli_tree_scope scope;
} cli_tree;

// Prints the frames of a run. False: no memory.
bool cli_tree_print_run(const cli_tree *tree, const cli_terminal *terminal,
                        FILE *stream);

// Did a tool call fail, other than by the end of its run?
bool cli_tree_is_failed_tool(const cadre_frame_info *frame);

// The colour a status is shown in.
cli_colour cli_tree_status_colour(cadre_frame_status status);

#endif
