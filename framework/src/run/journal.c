// See journal.h.
#include "run/journal.h"

#include <stdlib.h>
#include <string.h>

typedef struct frame_note {
    size_t born_in, ended_in; // batches, from 1; 0: none
    bool is_agent; // with agents alone above: what a tool called ends with it, and what
                   // the hooks of a call did with that
    bool is_work;  // a model or a tool; a question is neither
    bool is_transfer, has_handed_over;
    struct frame_note *parent;
} frame_note;

static const frame_note *note_of(const cdr_journal *journal, cadre_id frame)
{
    return cdr_id_table_get(&journal->frames, frame);
}

// --- Keeping ---

static const char *keep(cdr_journal *journal, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return "";
    const char *copy = cdr_arena_text(&journal->texts, text);
    if (copy == NULL)
        journal->failed = true;
    return copy == NULL ? "" : copy;
}

static void keep_frame(cdr_journal *journal, cadre_frame_row *row)
{
    row->key = keep(journal, row->key);
    row->kind = keep(journal, row->kind);
    row->name = keep(journal, row->name);
    row->referer = keep(journal, row->referer);
    row->input = keep(journal, row->input);
    row->mark = keep(journal, row->mark);
    row->delta = keep(journal, row->delta);
    row->output = keep(journal, row->output);
    row->error = keep(journal, row->error);
}

static void keep_calls(cdr_journal *journal, cadre_message *m)
{
    cadre_tool_call *calls =
        cdr_arena_alloc(&journal->texts, (m->n_tool_calls + 1) * sizeof *calls);
    if (calls == NULL) {
        journal->failed = true;
        m->n_tool_calls = 0;
    }
    for (size_t i = 0; i < m->n_tool_calls; i++)
        calls[i] = (cadre_tool_call){keep(journal, m->tool_calls[i].id),
                                     keep(journal, m->tool_calls[i].name),
                                     keep(journal, m->tool_calls[i].arguments)};
    m->tool_calls = calls;
}

static void keep_message(cdr_journal *journal, cadre_message_row *row)
{
    cadre_message *m = &row->message;
    m->id = keep(journal, m->id);
    m->frame_id = keep(journal, m->frame_id);
    m->agent = keep(journal, m->agent);
    m->to = keep(journal, m->to);
    m->text = keep(journal, m->text);
    m->reasoning = keep(journal, m->reasoning);
    m->call_id = keep(journal, m->call_id);
    m->tool_name = keep(journal, m->tool_name);
    m->model = keep(journal, m->model);
    m->mark = keep(journal, m->mark);
    m->parts = keep(journal, m->parts);
    m->items = keep(journal, m->items);
    keep_calls(journal, m);
    row->request_id = keep(journal, row->request_id);
    row->request_hash = keep(journal, row->request_hash);
}

static void keep_trace(cdr_journal *journal, cadre_trace_row *row)
{
    row->team = keep(journal, row->team);
    row->shape_digest = keep(journal, row->shape_digest);
    row->text_digest = keep(journal, row->text_digest);
    row->options = keep(journal, row->options);
    row->lease_owner = keep(journal, row->lease_owner);
}

static void keep_fact(cdr_journal *journal, cadre_fact *fact)
{
    fact->refused = false; // the store of a second life says so again
    switch (fact->type) {
    case CADRE_FACT_CONVERSATION:
        fact->u.conversation.session = keep(journal, fact->u.conversation.session);
        return;
    case CADRE_FACT_TRACE:
        keep_trace(journal, &fact->u.trace);
        return;
    case CADRE_FACT_MESSAGE:
        keep_message(journal, &fact->u.message);
        return;
    case CADRE_FACT_FRAME:
    case CADRE_FACT_RUNNING:
    case CADRE_FACT_MARK:
    case CADRE_FACT_END:
        keep_frame(journal, &fact->u.frame);
        return;
    }
}

// Hooks of a model call are not asked again when that has ended.
static bool is_of_call_hook(const char *key)
{
    static const char *const places[] = {"before_model/", "after_model/"};
    for (int i = 0; i < 2; i++)
        if (strncmp(key, places[i], strlen(places[i])) == 0)
            return true;
    return false;
}

static bool note_birth(cdr_journal *journal, const cadre_frame_row *row)
{
    frame_note *note = cdr_arena_alloc(&journal->texts, sizeof *note);
    if (note == NULL)
        return false;
    frame_note *parent = cdr_id_table_get(&journal->frames, row->parent);
    *note = (frame_note){
        .born_in = journal->n_batches + 1,
        .is_agent = strcmp(row->kind, "agent") == 0 && !is_of_call_hook(row->key) &&
                    (parent == NULL || parent->is_agent),
        .is_work = strcmp(row->kind, "model") == 0 || strcmp(row->kind, "tool") == 0,
        .is_transfer = strcmp(row->key, "transfer") == 0,
        .parent = parent};
    if (note->is_transfer && parent != NULL)
        parent->has_handed_over = true;
    return cdr_id_table_put(&journal->frames, row->id, note);
}

static void note_fact(cdr_journal *journal, const cadre_fact *fact)
{
    if (fact->type == CADRE_FACT_FRAME && !note_birth(journal, &fact->u.frame))
        journal->failed = true;
    if (fact->type != CADRE_FACT_END)
        return;
    frame_note *note = cdr_id_table_get(&journal->frames, fact->u.frame.id);
    if (note != NULL && note->ended_in == 0) // the first ending wins
        note->ended_in = journal->n_batches + 1;
}

static void keep_batch(cdr_journal *journal, const cadre_commit *commit)
{
    cadre_commit *grown = cdr_arena_grow(&journal->texts, journal->batches,
                                         journal->n_batches, sizeof *grown);
    cadre_fact *facts =
        cdr_arena_alloc(&journal->texts, (commit->n_facts + 1) * sizeof *facts);
    if (grown == NULL || facts == NULL) {
        journal->failed = true;
        return;
    }
    for (size_t i = 0; i < commit->n_facts; i++) {
        facts[i] = commit->facts[i];
        keep_fact(journal, &facts[i]);
        note_fact(journal, &facts[i]);
    }
    journal->batches = grown;
    cadre_commit *batch = &journal->batches[journal->n_batches++];
    *batch = *commit;
    batch->facts = facts;
    batch->owner = keep(journal, commit->owner);
}

// --- The store ---

static cadre_status journal_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    cdr_journal *journal = state;
    if (cadre_id_is_none(journal->trace))
        journal->trace = commit->trace; // what it spawns comes later, and is not kept
    bool is_kept = cadre_id_equal(journal->trace, commit->trace);
    cadre_status status = journal->real_ops->commit(journal->real, commit, err);
    if (status == CADRE_OK && is_kept)
        keep_batch(journal, commit);
    return status;
}

static cadre_status journal_post(void *state, cadre_fact *facts, size_t n_facts,
                                 cadre_error *err)
{
    const cdr_journal *journal = state;
    return journal->real_ops->post(journal->real, facts, n_facts, err);
}

static cadre_status journal_lease(void *state, const cadre_lease *wanted,
                                  int64_t *epoch, cadre_error *err)
{
    const cdr_journal *journal = state;
    return journal->real_ops->lease(journal->real, wanted, epoch, err);
}

static cadre_status journal_read(void *state, const cadre_query *query,
                                 const cadre_store_reader *reader, cadre_error *err)
{
    const cdr_journal *journal = state;
    return journal->real_ops->read(journal->real, query, reader, err);
}

void cdr_journal_put(cdr_journal *journal, cadre_runtime *runtime)
{
    journal->real_ops = runtime->store_ops;
    journal->real = runtime->store;
    journal->ops = (cadre_store_ops){.struct_size = sizeof journal->ops,
                                     .type = journal->real_ops->type,
                                     .summary = journal->real_ops->summary,
                                     .commit = journal_commit,
                                     .post = journal_post,
                                     .lease = journal_lease,
                                     .read = journal_read};
    runtime->store_ops = &journal->ops;
    runtime->store = journal;
}

void cdr_journal_take_away(cdr_journal *journal, cadre_runtime *runtime)
{
    if (runtime == NULL || runtime->store != journal)
        return;
    runtime->store_ops = journal->real_ops;
    runtime->store = journal->real;
}

void cdr_journal_fini(cdr_journal *journal)
{
    cdr_id_table_fini(&journal->frames);
    cdr_arena_fini(&journal->texts);
    *journal = (cdr_journal){.batches = NULL};
}

// --- Cutting ---

static size_t batches_of(const cdr_journal *journal, const cdr_cut *cut)
{
    return cut->kind == CDR_CUT_AFTER ? cut->n_batches : journal->n_batches;
}

// A frame that has handed over is never run again, so nobody would ask for what it had
// called before.
static bool was_before_transfer(const frame_note *note)
{
    for (; note->parent != NULL; note = note->parent)
        if (note->parent->has_handed_over && !note->is_transfer)
            return true;
    return false;
}

static bool is_end_left_out(const cdr_journal *journal, const cdr_cut *cut,
                            const frame_note *note)
{
    switch (cut->kind) {
    case CDR_CUT_ROOT_OPEN:
        return note->is_agent && note->ended_in == journal->n_batches &&
               !was_before_transfer(note);
    case CDR_CUT_AGENTS_OPEN:
        return note->is_agent && !was_before_transfer(note);
    case CDR_CUT_AFTER:
        break;
    }
    return false;
}

bool cdr_journal_has(const cdr_journal *journal, const cdr_cut *cut, cadre_id frame)
{
    const frame_note *note = note_of(journal, frame);
    return note != NULL && note->born_in <= batches_of(journal, cut);
}

bool cdr_journal_is_open(const cdr_journal *journal, const cdr_cut *cut, cadre_id frame)
{
    const frame_note *note = note_of(journal, frame);
    if (note == NULL || note->born_in > batches_of(journal, cut))
        return false;
    return note->ended_in == 0 || note->ended_in > batches_of(journal, cut) ||
           is_end_left_out(journal, cut, note);
}

// A model, tool or step at work when the run is cut. In truth nothing was: it counts as
// not begun, or else a tool would be interrupted and a model have an attempt less.
static bool was_at_work(const cdr_journal *journal, const cdr_cut *cut, cadre_id frame)
{
    const frame_note *note = note_of(journal, frame);
    return note != NULL && note->is_work && cdr_journal_is_open(journal, cut, frame);
}

static bool is_left_out(const cdr_journal *journal, const cdr_cut *cut,
                        const cadre_fact *fact)
{
    if (fact->type == CADRE_FACT_RUNNING)
        return was_at_work(journal, cut, fact->u.frame.id);
    if (fact->type != CADRE_FACT_END)
        return false;
    const frame_note *note = note_of(journal, fact->u.frame.id);
    return note != NULL && is_end_left_out(journal, cut, note);
}

static void copy_facts(const cdr_journal *journal, const cdr_cut *cut,
                       const cadre_commit *batch, cadre_commit *out)
{
    for (size_t i = 0; i < batch->n_facts; i++) {
        const cadre_fact *fact = &batch->facts[i];
        if (is_left_out(journal, cut, fact))
            continue;
        cadre_fact *copy = &out->facts[out->n_facts++];
        *copy = *fact;
        if (fact->type == CADRE_FACT_FRAME &&
            was_at_work(journal, cut, fact->u.frame.id))
            copy->u.frame.attempts = 0;
    }
}

static cadre_status replay_batch(const cdr_journal *journal, const cdr_cut *cut,
                                 const cadre_commit *batch, cadre_runtime *runtime,
                                 cadre_error *err)
{
    cadre_commit commit = *batch;
    commit.n_facts = 0;
    commit.facts = calloc(batch->n_facts + 1, sizeof *commit.facts);
    if (commit.facts == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a record");
    copy_facts(journal, cut, batch, &commit);
    cadre_status status = CADRE_OK;
    if (commit.n_facts > 0)
        status = runtime->store_ops->commit(runtime->store, &commit, err);
    free(commit.facts);
    return status;
}

// The first run holds what it wrote; nobody holds what is made anew.
static cadre_status give_back(const cadre_commit *first, cadre_runtime *runtime,
                              cadre_error *err)
{
    int64_t epoch = 0;
    const cadre_lease none = {
        .trace = first->trace, .owner = first->owner, .seconds = 0};
    return runtime->store_ops->lease(runtime->store, &none, &epoch, err);
}

cadre_status cdr_journal_replay(const cdr_journal *journal, const cdr_cut *cut,
                                cadre_runtime *runtime, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (size_t i = 0; status == CADRE_OK && i < batches_of(journal, cut); i++)
        status = replay_batch(journal, cut, &journal->batches[i], runtime, err);
    if (status == CADRE_OK)
        status = give_back(&journal->batches[0], runtime, err);
    return status;
}
