// See statements.h.
#include "statements.h"

#define ROOT_COLUMN(name)                                                              \
    "(SELECT " name " FROM frames WHERE trace_id = traces.id AND is_root = 1)"

#define TRACE_COLUMNS                                                                  \
    "traces.id, traces.spawned_by, traces.team, traces.shape_digest, "                 \
    "traces.text_digest, traces.options, traces.last_seq, traces.lease_owner, "        \
    "traces.lease_epoch, traces.lease_expires_at, traces.created_at, " ROOT_COLUMN(    \
        "status") ", " ROOT_COLUMN("cost_usd_micros") ", " ROOT_COLUMN("unpriced_"     \
                                                                       "calls")

#define CONVERSATION_COLUMNS                                                           \
    "id, session, owner_conversation_id, owner_frame_id, base_id, base_position"

#define FRAME_COLUMNS                                                                  \
    "id, parent_id, trace_id, conversation_id, key, kind, name, referer, input, "      \
    "depth, status, attempts, restarts, replay_safe, abort_reason, output, "           \
    "stop_reason, error, error_class, error_retryable, own_model_calls, "              \
    "own_tool_calls, "                                                                 \
    "own_input_tokens, own_output_tokens, own_cached_input_tokens, "                   \
    "own_reasoning_tokens, own_cost_usd_micros, own_unpriced_calls, "                  \
    "model_calls, tool_calls, input_tokens, output_tokens, "                           \
    "cached_input_tokens, reasoning_tokens, cost_usd_micros, unpriced_calls, "         \
    "start_seq, end_seq, created_at, completed_at, duration_ms, delta"

#define MESSAGE_COLUMNS                                                                \
    "id, conversation_id, frame_id, position, seq, role, agent, recipient, content, "  \
    "reasoning, tool_calls, call_id, tool_name, result_code, is_input, request_id, "   \
    "request_hash, model, mark, parts, items"

// Only starts that name their request ask whose run it was.
#define REQUEST_TRACE                                                                  \
    "CASE WHEN request_id IS NOT NULL THEN "                                           \
    "(SELECT trace_id FROM frames WHERE frames.id = frame_id) END"

// The frames of trace ?1, from its root down. An index by trace would be one more place
// that every birth of every trace touches: that is what group commit saves. UNION,
// since in a damaged file the walk could go in a circle.
#define TREE                                                                           \
    "WITH RECURSIVE tree (place, id, conversation_id) AS ("                            \
    "SELECT rowid, id, conversation_id FROM frames "                                   \
    "WHERE trace_id = ?1 AND is_root = 1 "                                             \
    "UNION SELECT child.rowid, child.id, child.conversation_id FROM tree "             \
    "JOIN frames AS child ON child.parent_id = tree.id) "

// A parent under which frames may be born; ?N are numbers of parameters.
#define IS_OPEN "completed_at IS NULL AND abort_reason IS NULL"

static const char *const texts[CDR_SQLITE_N_STATEMENTS] = {
    [CDR_SQLITE_ENTER] =
        "UPDATE traces SET last_seq = ?1 WHERE id = ?2 AND lease_epoch = ?3",

    [CDR_SQLITE_ADD_TRACE] =
        "INSERT INTO traces (id, spawned_by, team, shape_digest, text_digest, options, "
        "last_seq, lease_owner, lease_epoch, lease_expires_at, created_at) "
        "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 WHERE ?2 IS NULL "
        "OR EXISTS (SELECT 1 FROM frames WHERE id = ?2 AND " IS_OPEN ")",

    [CDR_SQLITE_ADD_CONVERSATION] =
        "INSERT INTO conversations (" CONVERSATION_COLUMNS ", created_at) "
        "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?4 IS NULL "
        "OR EXISTS (SELECT 1 FROM frames WHERE id = ?4 AND " IS_OPEN ")",

    [CDR_SQLITE_ADD_FRAME] =
        "INSERT INTO frames (id, trace_id, parent_id, is_root, conversation_id, key, "
        "kind, name, referer, input, depth, status, attempts, restarts, replay_safe, "
        "start_seq, created_at) "
        "SELECT ?1, ?2, ?3, ?3 IS NULL, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
        "?14, ?15, ?16 WHERE ?3 IS NULL OR EXISTS "
        "(SELECT 1 FROM frames WHERE id = ?3 AND trace_id = ?2 AND " IS_OPEN ")",

    [CDR_SQLITE_RUN_FRAME] =
        "UPDATE frames SET status = ?6, attempts = ?3, restarts = ?4, "
        "start_seq = iif(?5 = 0, start_seq, ?5), delta = ifnull(?7, delta) "
        "WHERE id = ?1 AND trace_id = ?2 AND " IS_OPEN,

    // What has another mark was marked before with all below it, and nothing is born
    // under a mark: the walk need not look below it.
    [CDR_SQLITE_MARK_FRAMES] =
        "WITH RECURSIVE below (id, trace_id) AS ("
        "SELECT id, trace_id FROM frames WHERE id = ?1 AND " IS_OPEN " "
        "UNION ALL SELECT child.id, child.trace_id FROM below "
        "JOIN frames AS child INDEXED BY frames_live "
        "ON child.trace_id = below.trace_id AND child.parent_id = below.id "
        "WHERE child.completed_at IS NULL AND child.abort_reason IS NULL) "
        "UPDATE frames SET abort_reason = ?2 WHERE id IN (SELECT id FROM below)",

    [CDR_SQLITE_END_FRAME] =
        "UPDATE frames SET status = ?3, stop_reason = ?4, "
        "attempts = iif(?5 = 0, attempts, ?5), output = ?6, error = ?7, "
        "error_class = ?8, error_retryable = ?9, own_model_calls = ?10, "
        "own_tool_calls = ?11, own_input_tokens = ?12, own_output_tokens = ?13, "
        "own_cached_input_tokens = ?14, own_reasoning_tokens = ?15, "
        "own_cost_usd_micros = ?16, own_unpriced_calls = ?17, model_calls = ?18, "
        "tool_calls = ?19, input_tokens = ?20, output_tokens = ?21, "
        "cached_input_tokens = ?22, reasoning_tokens = ?23, cost_usd_micros = ?24, "
        "unpriced_calls = ?25, end_seq = ?26, completed_at = ?27, duration_ms = ?28, "
        "delta = ?29 "
        "WHERE id = ?1 AND trace_id = ?2 AND completed_at IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM frames AS child INDEXED BY frames_live "
        "WHERE child.trace_id = ?2 AND child.parent_id = ?1 "
        "AND child.completed_at IS NULL)",

    // The message is new, or in the inbox under the same id: then it keeps its content
    // and gets its place. Nobody may have that place, and none is left out but those of
    // refused messages.
    [CDR_SQLITE_PLACE_MESSAGE] =
        "INSERT INTO messages (" MESSAGE_COLUMNS ", created_at) "
        "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
        "?17, ?18, ?19, ?20, ?21, ?22 WHERE ?4 = max("
        "ifnull((SELECT max(position) + 1 FROM messages WHERE conversation_id = ?2), "
        "0), ifnull((SELECT next_position FROM temp.skipped "
        "WHERE conversation_id = ?2), 0)) AND (?3 IS NULL OR EXISTS "
        "(SELECT 1 FROM frames WHERE id = ?3 AND trace_id = ?23)) "
        "ON CONFLICT (id) DO UPDATE SET position = excluded.position, "
        "seq = excluded.seq, frame_id = excluded.frame_id "
        "WHERE position IS NULL AND conversation_id = excluded.conversation_id",

    // Not under an owner that ended or must, nor to a question that did.
    [CDR_SQLITE_POST_MESSAGE] =
        "INSERT INTO messages (" MESSAGE_COLUMNS ", created_at) "
        "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
        "?17, ?18, ?19, ?20, ?21, ?22 FROM conversations LEFT JOIN frames "
        "ON frames.id = conversations.owner_frame_id WHERE conversations.id = ?2 "
        "AND frames.completed_at IS NULL AND frames.abort_reason IS NULL "
        "AND (?3 IS NULL OR EXISTS "
        "(SELECT 1 FROM frames WHERE id = ?3 AND " IS_OPEN "))",

    [CDR_SQLITE_FIND_TRACE] = "SELECT lease_owner FROM traces WHERE id = ?1",
    [CDR_SQLITE_FIND_FRAME] = "SELECT completed_at IS NOT NULL FROM frames "
                              "WHERE id = ?1 AND (?2 IS NULL OR trace_id = ?2)",
    [CDR_SQLITE_FIND_CONVERSATION] = "SELECT 1 FROM conversations WHERE id = ?1",
    [CDR_SQLITE_FIND_LIVE_ROOT] =
        "SELECT trace_id FROM frames INDEXED BY frames_live_root "
        "WHERE conversation_id = ?1 AND is_root = 1 AND completed_at IS NULL",
    [CDR_SQLITE_FIND_LIVE_CHILD] =
        "SELECT id, kind, name FROM frames INDEXED BY frames_live "
        "WHERE trace_id = ?1 AND parent_id = ?2 AND completed_at IS NULL",
    [CDR_SQLITE_FIND_REQUEST] = "SELECT request_hash FROM messages "
                                "WHERE conversation_id = ?1 AND request_id = ?2",
    [CDR_SQLITE_NEXT_POSITION] =
        "SELECT max("
        "ifnull((SELECT max(position) + 1 FROM messages WHERE conversation_id = ?1), "
        "0), ifnull((SELECT next_position FROM temp.skipped "
        "WHERE conversation_id = ?1), 0))",

    [CDR_SQLITE_ADD_REFUSED] =
        "INSERT INTO temp.refused (trace_id, id) VALUES (?1, ?2)",
    [CDR_SQLITE_FIND_REFUSED] =
        "SELECT 1 FROM temp.refused WHERE trace_id = ?1 AND id = ?2",
    [CDR_SQLITE_SKIP_POSITION] =
        "INSERT INTO temp.skipped (conversation_id, trace_id, next_position) "
        "VALUES (?1, ?2, ?3) ON CONFLICT (conversation_id) "
        "DO UPDATE SET next_position = excluded.next_position",
    [CDR_SQLITE_FORGET_REFUSED] = "DELETE FROM temp.refused WHERE trace_id = ?1",
    [CDR_SQLITE_FORGET_SKIPPED] = "DELETE FROM temp.skipped WHERE trace_id = ?1",

    [CDR_SQLITE_READ_LEASE] = "SELECT lease_owner, lease_epoch, lease_expires_at "
                              "FROM traces WHERE id = ?1",
    [CDR_SQLITE_WRITE_LEASE] =
        "UPDATE traces SET lease_owner = ?2, lease_epoch = ?3, lease_expires_at = ?4 "
        "WHERE id = ?1",

    [CDR_SQLITE_READ_TRACE] = "SELECT " TRACE_COLUMNS " FROM traces WHERE id = ?1",
    [CDR_SQLITE_READ_TRACES] =
        "SELECT " TRACE_COLUMNS " FROM traces ORDER BY rowid DESC LIMIT ?1",
    [CDR_SQLITE_READ_CONVERSATIONS] =
        TREE "SELECT " CONVERSATION_COLUMNS " FROM conversations "
             "WHERE id IN (SELECT conversation_id FROM tree) ORDER BY rowid",
    [CDR_SQLITE_READ_SESSION] =
        "SELECT " CONVERSATION_COLUMNS " FROM conversations WHERE session = ?1",
    [CDR_SQLITE_READ_FRAMES] =
        TREE "SELECT " FRAME_COLUMNS " FROM frames "
             "WHERE rowid IN (SELECT place FROM tree) ORDER BY rowid",
    [CDR_SQLITE_READ_LIVE_FRAMES] =
        "SELECT " FRAME_COLUMNS " FROM frames INDEXED BY frames_live "
        "WHERE trace_id = ?1 AND completed_at IS NULL ORDER BY rowid",
    [CDR_SQLITE_READ_MESSAGES] =
        "SELECT " MESSAGE_COLUMNS ", " REQUEST_TRACE " FROM messages "
        "WHERE conversation_id = ?1 AND position >= 0 "
        "ORDER BY position",
    [CDR_SQLITE_READ_INBOX] = "SELECT " MESSAGE_COLUMNS ", NULL FROM messages "
                              "WHERE conversation_id = ?1 AND position IS NULL "
                              "ORDER BY rowid",
    // What lies below a marked frame is marked with it.
    [CDR_SQLITE_READ_MARKED] =
        "SELECT " FRAME_COLUMNS " FROM frames INDEXED BY frames_marked "
        "WHERE abort_reason IS NOT NULL AND completed_at IS NULL AND NOT EXISTS "
        "(SELECT 1 FROM frames AS parent WHERE parent.id = frames.parent_id "
        "AND parent.abort_reason IS NOT NULL)",
    // Works there: who asks, who lives there as a root, or whose conversation it is.
    [CDR_SQLITE_READ_INBOXES] =
        "SELECT " MESSAGE_COLUMNS ", coalesce("
        "(SELECT trace_id FROM frames WHERE id = messages.frame_id), "
        "(SELECT trace_id FROM frames INDEXED BY frames_live_root "
        "WHERE frames.conversation_id = messages.conversation_id AND is_root = 1 "
        "AND completed_at IS NULL), "
        "(SELECT frames.trace_id FROM conversations JOIN frames "
        "ON frames.id = conversations.owner_frame_id "
        "WHERE conversations.id = messages.conversation_id)), messages.rowid "
        "FROM messages INDEXED BY messages_inbox "
        "WHERE position IS NULL AND messages.rowid > ?1 ORDER BY messages.rowid",
    [CDR_SQLITE_READ_SPAWNED_BY] =
        "SELECT " TRACE_COLUMNS " FROM traces WHERE spawned_by = ?1 ORDER BY rowid",
    [CDR_SQLITE_READ_SPAWNED] =
        TREE "SELECT " TRACE_COLUMNS " FROM traces "
             "WHERE spawned_by IN (SELECT id FROM tree) ORDER BY rowid",
    [CDR_SQLITE_READ_OPEN_CONVERSATIONS] =
        "WITH RECURSIVE open (id) AS ("
        "SELECT conversation_id FROM frames INDEXED BY frames_live "
        "WHERE trace_id = ?1 AND completed_at IS NULL "
        "UNION SELECT base_id FROM open JOIN conversations USING (id) "
        "WHERE base_id IS NOT NULL) "
        "SELECT conversations.id FROM conversations WHERE id IN (SELECT id FROM open) "
        "ORDER BY rowid",
};

const char *cdr_sqlite_statement_text(cdr_sqlite_statement statement)
{
    return texts[statement];
}
