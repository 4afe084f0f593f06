// See run_rules.h.
#include "support/run_rules.h"

#include "support/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct checker {
    run_rows *rows;
    const char *trace;
    const run_rules *rules;
    int n_broken;
} checker;

static void broken(checker *c, int frame, const char *format, ...) CADRE_PRINTF(3, 4);

static void broken(checker *c, int frame, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (c->n_broken++ == 0)
        printf("\n");
    printf("  broken: %s: %s\n", run_rows_path(c->rows, frame), text);
}

static const cadre_frame_row *row_of(const checker *c, int i)
{
    return &c->rows->frames[i].row;
}

static int parent_of(const checker *c, int i)
{
    return c->rows->frames[i].parent;
}

static bool is_kind(const checker *c, int i, const char *kind)
{
    return strcmp(row_of(c, i)->kind, kind) == 0;
}

static bool has_ended(const checker *c, int i)
{
    return row_of(c, i)->status >= CADRE_FRAME_COMPLETED;
}

static int n_frames(const checker *c)
{
    return (int)c->rows->n_frames;
}

// --- The tree ---

static int agents_above(const checker *c, int i)
{
    int n = 0;
    for (int at = parent_of(c, i); at >= 0; at = parent_of(c, at))
        n += is_kind(c, at, "agent");
    return n;
}

static void look_at_place(checker *c, int i)
{
    const cadre_frame_row *row = row_of(c, i);
    if ((parent_of(c, i) < 0) != (i == 0))
        broken(c, i, "a second root, or a parent that comes later");
    if (row->depth != agents_above(c, i))
        broken(c, i, "depth %d, below %d agents", row->depth, agents_above(c, i));
    for (int k = 0; k < i; k++)
        if (parent_of(c, k) == parent_of(c, i) &&
            strcmp(row_of(c, k)->key, row->key) == 0)
            broken(c, i, "its key is there twice");
}

static void check_order(checker *c, int i)
{
    const cadre_frame_row *row = row_of(c, i);
    if (i == 0)
        return;
    const cadre_frame_row *parent = row_of(c, parent_of(c, i));
    if (row->start_seq < parent->start_seq)
        broken(c, i, "it is older than its parent");
    if (has_ended(c, parent_of(c, i)) && !has_ended(c, i))
        broken(c, i, "it lives, and its parent has ended");
    bool are_agents = is_kind(c, i, "agent") && is_kind(c, parent_of(c, i), "agent");
    if (has_ended(c, parent_of(c, i)) &&
        (row->end_seq > parent->end_seq ||
         (are_agents && row->end_seq == parent->end_seq && !c->rules->has_quiet)))
        broken(c, i, "it ended at %d, its parent at %d", (int)row->end_seq,
               (int)parent->end_seq);
    if (has_ended(c, parent_of(c, i)) && parent->end_seq < row->start_seq)
        broken(c, i, "it was born after its parent's end");
}

// --- How it ended ---

static void check_life(checker *c, int i)
{
    const cadre_frame_row *row = row_of(c, i);
    if (has_ended(c, i))
        return;
    if (!c->rules->is_parked)
        broken(c, i, "it is %s, and the run has ended",
               cadre_frame_status_name(row->status));
    else if (row->status == CADRE_FRAME_RUNNING && !is_kind(c, i, "model") &&
             row->mark[0] == '\0')
        broken(c, i, "it runs, and the run is parked");
    // A part that was stopped as the run went to rest ends when it goes on.
    if (i == 0 && row->mark[0] != '\0' && c->rules->is_parked && !c->rules->may_be_cut)
        broken(c, i, "the run is marked '%s', and waits", row->mark);
}

static void check_failure(checker *c, int i)
{
    const cadre_frame_row *row = row_of(c, i);
    bool is_agent = is_kind(c, i, "agent");
    if (row->status == CADRE_FRAME_COMPLETED &&
        (row->error[0] != '\0' || row->error_class != CADRE_CLASS_NONE))
        broken(c, i, "completed, with an error: %s", row->error);
    if (row->status == CADRE_FRAME_FAILED &&
        (row->error[0] == '\0' || row->error_class == CADRE_CLASS_NONE))
        broken(c, i, "failed without an error");
    if (is_agent && row->status == CADRE_FRAME_FAILED && row->delta[0] != '\0' &&
        row->stop_reason == CADRE_STOP_NONE)
        broken(c, i, "failed without a reason");
    if (has_ended(c, i) && row->stop_reason == CADRE_STOP_NONE)
        broken(c, i, "ended without a stop reason");
    if ((row->status == CADRE_FRAME_ABORTED &&
         row->stop_reason != CADRE_STOP_ABORTED) ||
        (row->status == CADRE_FRAME_TIMEOUT && row->stop_reason != CADRE_STOP_TIMEOUT))
        broken(c, i, "%s by %s", cadre_frame_status_name(row->status),
               cadre_stop_reason_name(row->stop_reason));
}

// Only a mark posted from outside may come after an ending that was on its way. What
// a tool did is told, also when nobody wants it any more.
static void check_mark(checker *c, int i)
{
    const cadre_frame_row *row = row_of(c, i);
    bool is_stopped =
        row->status == CADRE_FRAME_ABORTED || row->status == CADRE_FRAME_TIMEOUT;
    if (is_kind(c, i, "agent") && row->mark[0] != '\0' &&
        strncmp(row->mark, "request", 7) != 0 && has_ended(c, i) && !is_stopped)
        broken(c, i, "marked '%s', and %s", row->mark,
               cadre_frame_status_name(row->status));
}

static bool same_usage(const cadre_usage *a, const cadre_usage *b)
{
    return a->model_calls == b->model_calls && a->tool_calls == b->tool_calls &&
           a->input_tokens == b->input_tokens && a->output_tokens == b->output_tokens;
}

// A tool's call that came to its result before its birth was refused, since somebody
// outside had stopped its agent, counts there all the same.
static bool may_be_more(const checker *c, int i, const cadre_usage *usage,
                        const cadre_usage *sum)
{
    return strncmp(row_of(c, i)->mark, "request", 7) == 0 &&
           usage->model_calls == sum->model_calls &&
           usage->tool_calls >= sum->tool_calls &&
           usage->input_tokens == sum->input_tokens &&
           usage->output_tokens == sum->output_tokens;
}

static void check_usage(checker *c, int i)
{
    cadre_usage sum = row_of(c, i)->own;
    if (!has_ended(c, i))
        return;
    for (int k = i + 1; k < n_frames(c); k++) {
        const cadre_usage *more = &row_of(c, k)->usage;
        if (parent_of(c, k) != i)
            continue;
        sum.model_calls += more->model_calls;
        sum.tool_calls += more->tool_calls;
        sum.input_tokens += more->input_tokens;
        sum.output_tokens += more->output_tokens;
    }
    const cadre_usage *usage = &row_of(c, i)->usage;
    if (!same_usage(&sum, usage) && !may_be_more(c, i, usage, &sum))
        broken(c, i,
               "its usage is %d calls, %d tools, %d in, %d out; what is below and its "
               "own are %d, %d, %d, %d",
               (int)usage->model_calls, (int)usage->tool_calls,
               (int)usage->input_tokens, (int)usage->output_tokens,
               (int)sum.model_calls, (int)sum.tool_calls, (int)sum.input_tokens,
               (int)sum.output_tokens);
}

// --- What tools did ---

static void check_effects(checker *c, int i)
{
    const cadre_frame_row *row = row_of(c, i);
    bool is_safe = false;
    if (!is_kind(c, i, "tool") || c->rules->count == NULL ||
        !c->rules->is_counted(row->name, &is_safe))
        return;
    int n = c->rules->count(c->trace, c->rows->frames[i].id);
    if (!is_safe && n > 1)
        broken(c, i, "a tool that may not run again ran %d times", n);
    if (row->status == CADRE_FRAME_COMPLETED && n < 1 && !c->rules->has_hooks)
        broken(c, i, "it never ran, and completed");
    if (!is_safe && row->status == CADRE_FRAME_PENDING && n > 0)
        broken(c, i, "it ran, and is pending");
}

// --- Batches ---

// A batch that one wins has one branch that completed, unless none did.
static void check_winner(checker *c, int i)
{
    int n_won = 0;
    if (!is_kind(c, i, "agent") || c->rules->has_winner == NULL ||
        !c->rules->has_winner(row_of(c, i)->name))
        return;
    for (int k = i + 1; k < n_frames(c); k++)
        n_won += parent_of(c, k) == i && row_of(c, k)->key[0] == 'b' &&
                 row_of(c, k)->status == CADRE_FRAME_COMPLETED;
    if (n_won > 1)
        broken(c, i, "%d branches of one batch have won", n_won);
    if (n_won == 0 && row_of(c, i)->status == CADRE_FRAME_COMPLETED &&
        !c->rules->has_hooks)
        broken(c, i, "completed, and nobody has won");
}

// --- Conversations ---

static bool has_conversation(const checker *c, cadre_id id)
{
    for (size_t i = 0; i < c->rows->n_conversations; i++)
        if (cadre_id_equal(c->rows->conversations[i].id, id))
            return true;
    return false;
}

static void check_conversation_of(checker *c, int i)
{
    const cadre_frame_row *row = row_of(c, i);
    if (!has_conversation(c, row->conversation))
        broken(c, i, "its conversation is not there");
    if (i == 0)
        return;
    bool is_shared =
        cadre_id_equal(row->conversation, row_of(c, parent_of(c, i))->conversation);
    bool opens =
        is_kind(c, i, "agent") && strcmp(row->referer, "agent_fork") == 0 && !is_shared;
    if (!opens && !is_shared)
        broken(c, i, "it works in a conversation of its own, as %s", row->referer);
    if (cadre_id_equal(row->conversation, row_of(c, 0)->conversation) &&
        c->rows->frames[i].is_fork)
        broken(c, i, "a fork works in the main conversation");
}

static bool is_of(const checker *c, size_t message, cadre_id conversation)
{
    return cadre_id_equal(c->rows->messages[message].row.conversation, conversation);
}

// Who said it works there.
static void check_speaker(checker *c, size_t i)
{
    const run_message *message = &c->rows->messages[i];
    if (message->frame < 0)
        return;
    const cadre_frame_row *row = row_of(c, message->frame);
    if (!cadre_id_equal(message->row.conversation, row->conversation))
        broken(c, message->frame, "said '%.40s' in a conversation that is not its own",
               message->row.message.text);
}

static void check_positions(checker *c, size_t i)
{
    const cadre_message *m = &c->rows->messages[i].row.message;
    int64_t before = -1;
    if (m->position < 0)
        return;
    if (i > 0 && is_of(c, i - 1, c->rows->messages[i].row.conversation))
        before = c->rows->messages[i - 1].row.message.position;
    if (m->position != before + 1)
        broken(c, c->rows->messages[i].frame, "a message at %d, the one before at %d",
               (int)m->position, (int)before);
}

// --- Calls and results ---

// The frame of a call of a turn: key "<turn>/<index>" of the agent that said it.
static int frame_of_call(const checker *c, int agent, int turn, size_t index)
{
    char key[32];
    snprintf(key, sizeof key, "%d/%zu", turn, index);
    for (int i = agent + 1; i < n_frames(c); i++)
        if (parent_of(c, i) == agent && strcmp(row_of(c, i)->key, key) == 0)
            return i;
    return -1;
}

static bool has_model(const checker *c, int agent)
{
    for (int i = agent + 1; i < n_frames(c); i++)
        if (parent_of(c, i) == agent && is_kind(c, i, "model"))
            return true;
    return false;
}

// The turn that an assistant's message is of: its model frame ended with it. Tools that
// the code of an agent ran by itself are turns too, one after the other. 0: of none.
static int turn_of(const checker *c, size_t message)
{
    char id[CADRE_ID_TEXT_SIZE];
    int agent = c->rows->messages[message].frame;
    int n = 0;
    cadre_id_text(c->rows->messages[message].row.id, id);
    for (int i = agent + 1; i < n_frames(c); i++)
        if (is_kind(c, i, "model") && strcmp(row_of(c, i)->output, id) == 0)
            return (int)strtol(row_of(c, i)->key, NULL, 10);
    for (size_t i = 0; i <= message && !has_model(c, agent); i++)
        n += c->rows->messages[i].frame == agent &&
             c->rows->messages[i].row.message.n_tool_calls > 0;
    return n;
}

// Results of that agent's call id, from behind a turn to its next one.
static int results_of(const checker *c, size_t said, const char *call_id)
{
    const run_message *turn = &c->rows->messages[said];
    int n = 0;
    for (size_t i = said + 1; i < c->rows->n_messages; i++) {
        const run_message *next = &c->rows->messages[i];
        const cadre_message *m = &next->row.message;
        if (!is_of(c, i, turn->row.conversation))
            break;
        if (next->frame != turn->frame)
            continue;
        if (m->role == CADRE_ROLE_ASSISTANT)
            break;
        n += m->role == CADRE_ROLE_TOOL && strcmp(m->call_id, call_id) == 0;
    }
    return n;
}

// How many calls of the turn have the same id, and how many of them must have a result.
static void check_call(checker *c, size_t message, int turn, size_t index)
{
    const run_message *said = &c->rows->messages[message];
    const cadre_message *m = &said->row.message;
    const char *id = m->tool_calls[index].id;
    int frame = frame_of_call(c, said->frame, turn, index);
    int n_calls = 0, n_settled = 0;
    // Under a mark nothing is born, so the calls of its last answer are not either.
    if (frame < 0 && row_of(c, said->frame)->mark[0] != '\0')
        return;
    if (frame < 0) {
        broken(c, said->frame, "call %zu of turn %d has no frame", index, turn);
        return;
    }
    for (size_t k = 0; k < m->n_tool_calls; k++) {
        int same = frame_of_call(c, said->frame, turn, k);
        if (strcmp(m->tool_calls[k].id, id) != 0 || same < 0)
            continue;
        n_calls++;
        n_settled +=
            has_ended(c, same) && row_of(c, same)->status != CADRE_FRAME_ABORTED;
    }
    int n = results_of(c, message, id);
    if (n < n_settled || n > n_calls)
        broken(c, frame, "%d results of %d calls '%s', %d of which are settled", n,
               n_calls, id, n_settled);
}

// Each call that was settled has one result, before the next turn of its agent.
static void check_calls(checker *c, size_t i)
{
    const run_message *said = &c->rows->messages[i];
    const cadre_message *m = &said->row.message;
    if (m->role != CADRE_ROLE_ASSISTANT || m->n_tool_calls == 0 || said->frame < 0 ||
        m->position < 0)
        return;
    int turn = turn_of(c, i);
    if (turn == 0) {
        broken(c, said->frame, "an answer with calls that no model call gave");
        return;
    }
    for (size_t k = 0; k < m->n_tool_calls; k++)
        check_call(c, i, turn, k);
}

// --- Seqs ---

static void note_seq(checker *c, char *seen, int64_t seq, int frame, const char *what)
{
    if (seq <= 0)
        return;
    if (seq > c->rows->trace.last_seq)
        broken(c, frame, "%s at %d, beyond the last seq %d", what, (int)seq,
               (int)c->rows->trace.last_seq);
    else if (seen[seq]++ > 0 && !c->rules->has_quiet)
        broken(c, frame, "%s at %d, where there is something else", what, (int)seq);
}

// Models and steps are born without one. That of a question comes after its birth. The
// key of a tool's call is "<turn>/<index>".
static bool has_event(const checker *c, int i)
{
    const char *key = row_of(c, i)->key;
    bool is_call = key[0] >= '0' && key[0] <= '9';
    return !is_kind(c, i, "model") && (!is_kind(c, i, "tool") || is_call);
}

// What was refused since somebody outside had stopped it leaves its place empty.
static bool was_stopped(const checker *c)
{
    for (int i = 0; i < n_frames(c); i++)
        if (strncmp(row_of(c, i)->mark, "request", 7) == 0)
            return true;
    return false;
}

// All events that were recorded have a place of their own, and leave none free but the
// first and the last, which are the stream's.
static void check_seqs(checker *c)
{
    int64_t last = c->rows->trace.last_seq;
    char *seen = calloc((size_t)last + 2, 1);
    if (seen == NULL)
        abort();
    for (int i = 0; i < n_frames(c); i++) {
        const cadre_frame_row *row = row_of(c, i);
        if (has_event(c, i))
            note_seq(c, seen,
                     row->start_seq + (is_kind(c, i, "ask") && !c->rules->has_quiet), i,
                     "born");
        if (is_kind(c, i, "agent") && has_ended(c, i))
            note_seq(c, seen, row->end_seq, i, "ended");
    }
    for (size_t i = 0; i < c->rows->n_messages; i++)
        if (c->rows->messages[i].frame >= 0)
            note_seq(c, seen, c->rows->messages[i].row.message.seq,
                     c->rows->messages[i].frame, "said");
    // Who ends a run from its record gives each ending a place, also of models.
    for (int i = 0; i < n_frames(c); i++)
        if (row_of(c, i)->end_seq > 0 && row_of(c, i)->end_seq <= last)
            seen[row_of(c, i)->end_seq] = 1;
    for (int64_t seq = 2; seq < last; seq++)
        if (!seen[seq] && !c->rules->has_quiet && !was_stopped(c))
            broken(c, 0, "nothing stands at seq %d of %d", (int)seq, (int)last);
    free(seen);
}

int run_rules_check(run_rows *rows, const char *trace, const run_rules *rules)
{
    checker c = {.rows = rows, .trace = trace, .rules = rules};
    for (int i = 0; i < n_frames(&c); i++) {
        look_at_place(&c, i);
        check_order(&c, i);
        check_life(&c, i);
        check_failure(&c, i);
        check_mark(&c, i);
        check_usage(&c, i);
        check_effects(&c, i);
        check_winner(&c, i);
        check_conversation_of(&c, i);
    }
    for (size_t i = 0; i < rows->n_messages; i++) {
        check_speaker(&c, i);
        check_positions(&c, i);
        check_calls(&c, i);
    }
    check_seqs(&c);
    CHECK_INT(c.n_broken, 0);
    return c.n_broken;
}
