// A picture: all that a run left in a store, so that two runs of the same request can
// be compared. Frames are known by the keys from the root, conversations by the frame
// that opened them: ids differ from run to run.
//
// Thread: one at a time.
#ifndef CDR_PICTURE_H
#define CDR_PICTURE_H

#include "cadre/record.h"
#include "cadre/reenter.h"

#include "team/runtime.h"
#include "tree/id_table.h"

#include "base/arena.h"

// A conversation, and where it comes from.
typedef struct cdr_talk {
    cadre_id id;
    cadre_id owner, base;
    int64_t base_position;
    int opener; // the frame; -1: not of this run
    const cadre_record_message *messages;
    size_t n_messages;
} cdr_talk;

typedef struct cdr_picture {
    cadre_record *record;
    const cadre_frame_info *frames;
    size_t n_frames, n_messages;
    cadre_id *ids;    // of frames
    cadre_id *places; // of frames: what the keys from the root come to
    bool *is_loser;   // of frames, see below
    cdr_id_table by_id, by_place, talks_by_id;
    cdr_talk *talks;
    size_t n_talks;
    cdr_arena arena;
} cdr_picture;

// Reads a run that is in the runtime's store. Fini it in every case; zeroed before.
// Errors: as of cadre_record_open.
cadre_status cdr_picture_read(cdr_picture *picture, cadre_runtime *runtime,
                              const char *trace, cadre_error *err);
void cdr_picture_fini(cdr_picture *picture);

// The frame's place in the list; -1: there is none.
int cdr_picture_find(const cdr_picture *picture, cadre_id frame);

// The frame with these keys from the root; -1: there is none.
int cdr_picture_find_place(const cdr_picture *picture, cadre_id place);

// Notes the losers: who was stopped because its work was not needed any more, as the
// others of a batch are when one has won, and what is below them. Not one that
// `was_left` (or NULL) knows: it was only stopped because nobody called it again.
void cdr_picture_note_losers(cdr_picture *picture,
                             bool (*was_left)(void *ctx, cadre_id frame), void *ctx);

// Did the frame lose in one of the pictures? How far it came is chance then.
bool cdr_picture_has_lost(const cdr_picture *of, size_t frame,
                          const cdr_picture *other);

// A conversation by its id as text; NULL: there is none.
cdr_talk *cdr_picture_talk(const cdr_picture *picture, const char *id);

// "desk -> triage -> fast", in the arena; the middle of a long one is left out.
const char *cdr_picture_path(const cdr_picture *picture, int frame, cdr_arena *arena);

// Tells each difference of the two, frame by frame, then conversation by conversation,
// of which only the first message that differs is told. Losers are not looked at.
// False: no memory.
typedef struct cdr_on_difference {
    void (*tell)(void *ctx, const cadre_difference *difference);
    void *ctx;
} cdr_on_difference;
bool cdr_picture_compare(const cdr_picture *first, const cdr_picture *again,
                         const cdr_on_difference *on);

#endif
