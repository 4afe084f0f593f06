// What is known of the agents of a run while it works, put together from its events.
//
// Thread: one at a time; the live tree holds its lock.
#ifndef CLI_LIVE_FRAMES_H
#define CLI_LIVE_FRAMES_H

#include "print_tree.h"

#include <cadre/event.h>

typedef struct cli_live_frame {
    char *name;
    char referer[16];
    char doing[160];
    char note[192];   // of the last page
    json_t *tools;    // call id -> name, of those that run; NULL: none yet
    char told_by[64]; // call id of the tool whose line is shown; "": none
    bool is_transfer; // got there by a handover
    bool has_handed_over;
    bool has_ended;
    bool is_asking; // a person
    cadre_frame_status status;
    int64_t started_ms; // monotonic
    int64_t duration_ms;
    int64_t input_tokens, output_tokens, cost_usd_micros;
} cli_live_frame;

typedef struct cli_live_frames {
    cli_live_frame *items;
    int *parents;
    cli_tree_row *rows; // of the last page
    size_t n, room;
    json_t *index; // frame id, of an agent or a tool -> position of the agent
} cli_live_frames;

bool cli_live_frames_init(cli_live_frames *frames);
void cli_live_frames_fini(cli_live_frames *frames);

// Learns from an event. Without memory for a frame it is left out.
void cli_live_frames_take(cli_live_frames *frames, const cadre_event *event);

// Fills in rows and parents, good until the next call; `n_draws` turns the mark of
// progress. False: there is nothing to show yet.
bool cli_live_frames_page(cli_live_frames *frames, unsigned n_draws,
                          cli_tree_page *page);

#endif
