// A journal: stands before the store of a runtime and keeps every batch of the one run
// that is made there, so that the record can be made anew in another store, up to
// where a run is said to have been cut.
//
// Thread: commits come from the run's threads, one at a time; all else when no run is
// under way.
#ifndef CDR_JOURNAL_H
#define CDR_JOURNAL_H

#include "team/runtime.h"
#include "tree/id_table.h"

#include "base/arena.h"

typedef struct cdr_journal {
    cadre_store_ops ops; // go to the real ones; nothing is released
    const cadre_store_ops *real_ops;
    void *real;
    cdr_arena texts;
    cadre_id trace; // of the run; none: nothing was committed yet
    cadre_commit *batches;
    size_t n_batches;
    cdr_id_table frames; // to what is known of them, by id
    bool failed;         // no memory to keep a batch: the journal is incomplete
} cdr_journal;

// What of a journal a second life is given.
typedef enum cdr_cut_kind {
    CDR_CUT_ROOT_OPEN,   // all, but no end of an agent that stands in the last batch
    CDR_CUT_AGENTS_OPEN, // all, but no end of any agent that has agents alone above
    CDR_CUT_AFTER        // the first `n_batches`; what was at work had not begun
} cdr_cut_kind;

typedef struct cdr_cut {
    cdr_cut_kind kind;
    size_t n_batches; // of CDR_CUT_AFTER
} cdr_cut;

// Takes the place of the runtime's store; it must be taken away before the runtime is
// closed. The journal is zeroed before.
void cdr_journal_put(cdr_journal *journal, cadre_runtime *runtime);
void cdr_journal_take_away(cdr_journal *journal, cadre_runtime *runtime);
void cdr_journal_fini(cdr_journal *journal);

// Writes what the cut leaves into the runtime's store, held by nobody. Errors: as of
// the store's commit.
cadre_status cdr_journal_replay(const cdr_journal *journal, const cdr_cut *cut,
                                cadre_runtime *runtime, cadre_error *err);

// Was the frame born by the cut, and has it not ended by then?
bool cdr_journal_has(const cdr_journal *journal, const cdr_cut *cut, cadre_id frame);
bool cdr_journal_is_open(const cdr_journal *journal, const cdr_cut *cut,
                         cadre_id frame);

#endif
