// What --json and --events print. Other programs read it: names and meanings of fields
// are stable.
//
// Every function gives a new reference; NULL: no memory.
// Thread: any.
#ifndef CLI_JSON_OUTPUT_H
#define CLI_JSON_OUTPUT_H

#include <cadre/record.h>

// One line of --events; its time is now.
json_t *cli_json_event(const cadre_event *event);

typedef struct cli_frames {
    const cadre_frame_info *items; // parents before children
    size_t count;
} cli_frames;

// The list of --json: all frames, or those of agents, with the nearest agent above as
// parent.
json_t *cli_json_frames(cli_frames frames, bool wants_all);

// The object of --json. Frames of agents only have the nearest agent above as parent.
json_t *cli_json_result(const cadre_result *result, cli_frames frames,
                        bool wants_all_frames);

// The object of --json when there was no run: {error, problems}. `team` may be NULL.
json_t *cli_json_no_run(const cadre_error *err, const cadre_team *team);

// The only line of --events when there was no run.
json_t *cli_json_no_run_event(const cadre_error *err);

// A recorded message and where it stands.
json_t *cli_json_said(const cadre_record_message *said);

// A text, repaired where it is no UTF-8; NULL becomes null.
json_t *cli_json_text(const char *text);

// "2026-01-02T03:04:05.678Z", of wall time in ms since 1970; null when not above 0.
json_t *cli_json_time(int64_t ms);

// Indexes of the nearest agent above each frame, -1: none. malloc; NULL: no memory.
int *cli_json_agent_parents(cli_frames frames);

#endif
