// Transfers in the record: a frame that handed over is not run again.
//
// Rules:
// 1. All transfers that it asked for are decided once more, since controllers and the
//    limits of the scope count them; nothing is written.
// 2. The one that was done is entered again.
//
// Thread: the frame's strand.
#ifndef CDR_TRANSFER_RECORD_H
#define CDR_TRANSFER_RECORD_H

#include "tree/tree.h"

// Counts the transfers a frame from the record asked for once more, and enters the one
// that was done; work->transfer stays NULL when there is none. Errors: ENOMEM.
cadre_status cdr_replay_transfers(cadre_frame *frame, cadre_error *err);

#endif
