// What a run told: its events, read to the end, kept as copies and checked against the
// order that cadre/event.h draws.
//
// Running out of memory ends the program. Thread: one at a time.
#ifndef SUPPORT_RECORDER_H
#define SUPPORT_RECORDER_H

#include "cadre/cadre.h"

typedef struct recorded_event {
    cadre_event_type type;
    int64_t seq;
    char frame[32], thread[32], agent[72]; // thread "" for the root
    bool is_main;
    // One line of what it says:
    //   frame_start    "KEY REFERER DEPTH"
    //   frame_end      "STATUS REASON OUTPUT"; failed: "STATUS REASON CLASS: MESSAGE"
    //   message_end    "ROLE TEXT"
    //   *_delta        "TEXT"
    //   tool_call      "NAME ARGUMENTS"
    //   tool_progress  "NAME TEXT"
    //   tool_result    "NAME CODE RESULT"
    //   transfer       "FROM TO DECISION"
    //   interrupt      "QUESTION CHOICES"
    //   state_delta    "KEY VALUE"
    //   retry          "ATTEMPT CLASS", and " MODEL -> NEXT" where another is asked
    //   wait           "MODEL REASON WAIT_MS"
    //   stream_start   "TEAM"
    //   stream_end     as frame_end
    char *says;
    char error_agent[72], error_frame[32]; // of the ends
    cadre_usage usage;                     // of the ends
} recorded_event;

typedef struct recorder {
    recorded_event *events;
    size_t n_events, capacity;
    char *listing; // made by recorder_text
} recorder;

// Keeps one event; for tests that read by themselves.
void recorder_add(recorder *r, const cadre_event *event);

// Reads until CADRE_DONE, then checks: one stream_start, first; one stream_end, last;
// seqs from 1 without gaps, in order; unless it was resumed or is parked, each
// frame_end after its frame_start and, but under a quiet frame, each started frame
// ended; nothing of a frame outside the two; as many tool results as tool calls.
void recorder_read(recorder *r, cadre_run *run);
void recorder_check(const recorder *r);
void recorder_fini(recorder *r);

// The events of a type as text: "AGENT: SAYS", a line each. Borrowed until the next.
const char *recorder_text(recorder *r, cadre_event_type type);
size_t recorder_count(const recorder *r, cadre_event_type type);
// The nth event of a type; NULL: there are fewer.
const recorded_event *recorder_find(const recorder *r, cadre_event_type type,
                                    size_t nth);

#endif
