// Facts on their way to the store, and the events that may be shown after them.
//
// Thread: _locked needs tree->mu; flush must be called without it.
#ifndef CDR_OUTBOX_H
#define CDR_OUTBOX_H

#include "tree/tree.h"

// Add a fact with its texts copied. No memory: the tree is lost (`tree->lost`).
void cdr_outbox_trace_locked(cdr_tree *tree);
void cdr_outbox_conversation_locked(cdr_tree *tree,
                                    const cdr_conversation *conversation,
                                    const cadre_frame *owner, const char *session);
void cdr_outbox_frame_locked(cadre_frame *frame, bool replay_safe);
void cdr_outbox_running_locked(cadre_frame *frame);
// The same with its delta: of a frame that hands over, since it is never run again.
void cdr_outbox_delta_locked(cadre_frame *frame);
void cdr_outbox_mark_locked(cadre_frame *frame);
void cdr_outbox_end_locked(cadre_frame *frame, const cadre_usage *own,
                           int64_t ended_ns);
void cdr_outbox_message_locked(cadre_frame *frame, const cdr_conversation *conversation,
                               cdr_message *message);

// Names the request that the message added last makes, and its content's hash.
void cdr_outbox_request_locked(cdr_tree *tree, const char *id, const char *hash);

// Adds an event to be shown after what is in the outbox. `is_durable` gives it the next
// seq, which is returned (0 for passing events, and below quiet frames). Frame, thread
// and agent are filled in.
int64_t cdr_outbox_event_locked(cadre_frame *frame, cadre_event *event,
                                cdr_message *message, bool is_durable);

// Shows one passing event of a frame at once, addressed already; may wait. Nothing of a
// quiet or marked frame is shown.
void cdr_frame_show(cadre_frame *frame, const cadre_event *event);
void cdr_frame_show_delta(cadre_frame *frame, const cadre_event *event); // never waits
void cdr_frame_await_room(cadre_frame *frame); // before a delta, on the run's threads
bool cdr_frame_is_heard(cadre_frame *frame);   // does anybody read or listen?

// Fills frame_id, thread_id and agent of an event: those of the nearest agent frame,
// also for what its models and tools do. `id` must outlive the event's use.
typedef char cdr_event_id[CADRE_ID_TEXT_SIZE];
void cdr_event_address(cadre_frame *frame, cadre_event *event, cdr_event_id id);

// Code that calls without end and asks no model must not heap up facts.
bool cdr_outbox_has_many_locked(const cdr_tree *tree) CDR_REQUIRES(tree->mu);

// Posts a message to the inbox of any conversation, once for each request id.
void cdr_outbox_post_locked(cdr_tree *tree, cadre_id conversation, cdr_message *message,
                            const char *request_id) CDR_REQUIRES(tree->mu);

void cdr_outbox_fini(cdr_outbox *outbox);

// Waits until all facts added so far are committed, and their events are queued.
// Errors: ESTORE, sticky for the tree: all frames are marked lost.
cadre_status cdr_tree_flush(cdr_tree *tree, cadre_error *err);

#endif
