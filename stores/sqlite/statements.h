// The SQL of every call. Parameters and columns are given and taken in the order in
// which they stand there.
//
// Thread: plain data.
#ifndef CDR_SQLITE_STATEMENTS_H
#define CDR_SQLITE_STATEMENTS_H

typedef enum cdr_sqlite_statement {
    // Facts. Those that may be refused tell it by the number of rows they changed.
    CDR_SQLITE_ENTER, // the lease check; 0 rows: lost, or no such trace
    CDR_SQLITE_ADD_TRACE,
    CDR_SQLITE_ADD_CONVERSATION,
    CDR_SQLITE_ADD_FRAME,
    CDR_SQLITE_RUN_FRAME,
    CDR_SQLITE_MARK_FRAMES,
    CDR_SQLITE_END_FRAME,
    CDR_SQLITE_PLACE_MESSAGE,
    CDR_SQLITE_POST_MESSAGE,
    // Why a fact changed nothing.
    CDR_SQLITE_FIND_TRACE,
    CDR_SQLITE_FIND_FRAME,
    CDR_SQLITE_FIND_CONVERSATION,
    CDR_SQLITE_FIND_LIVE_CHILD,
    CDR_SQLITE_FIND_LIVE_ROOT,
    CDR_SQLITE_FIND_REQUEST,
    CDR_SQLITE_NEXT_POSITION,
    // Refusals (temporary, of this connection).
    CDR_SQLITE_ADD_REFUSED,
    CDR_SQLITE_FIND_REFUSED,
    CDR_SQLITE_SKIP_POSITION,
    CDR_SQLITE_FORGET_REFUSED,
    CDR_SQLITE_FORGET_SKIPPED,
    // Leases.
    CDR_SQLITE_READ_LEASE,
    CDR_SQLITE_WRITE_LEASE,
    // Reading.
    CDR_SQLITE_READ_TRACE,
    CDR_SQLITE_READ_TRACES,
    CDR_SQLITE_READ_CONVERSATIONS,
    CDR_SQLITE_READ_SESSION,
    CDR_SQLITE_READ_FRAMES,
    CDR_SQLITE_READ_LIVE_FRAMES,
    CDR_SQLITE_READ_MESSAGES,
    CDR_SQLITE_READ_INBOX,
    CDR_SQLITE_READ_MARKED,
    CDR_SQLITE_READ_INBOXES,
    CDR_SQLITE_READ_SPAWNED_BY,
    CDR_SQLITE_READ_SPAWNED,
    CDR_SQLITE_READ_OPEN_CONVERSATIONS,
    CDR_SQLITE_N_STATEMENTS
} cdr_sqlite_statement;

const char *cdr_sqlite_statement_text(cdr_sqlite_statement statement);

#endif
