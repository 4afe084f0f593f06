// Acting on runs from outside, by their trace ids. See cadre/trace.h.
#include "cadre/trace.h"

#include "base/json_text.h"
#include "run/arguments.h"
#include "run/ask.h"
#include "run/lease.h"
#include "run/trace_end.h"
#include "team/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- What is read ---

typedef struct trace_state {
    bool is_there, is_held;
    bool is_waiting; // a question of it is open
    cadre_frame_status status;
} trace_state;

static cadre_status take_state(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    trace_state *state = ctx;
    (void)err;
    state->is_there = true;
    state->is_held = cdr_lease_is_held(row);
    state->status = row->status;
    return CADRE_OK;
}

static cadre_status find_question(void *ctx, const cadre_frame_row *row,
                                  cadre_error *err)
{
    trace_state *state = ctx;
    (void)err;
    state->is_waiting |= strcmp(row->kind, "ask") == 0 && row->mark[0] == '\0';
    return CADRE_OK;
}

static cadre_status read_state(cadre_runtime *runtime, cadre_id trace,
                               trace_state *state, cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = trace};
    const cadre_store_reader reader = {.trace = take_state, .ctx = state};
    *state = (trace_state){.is_there = false};
    cadre_status status =
        runtime->store_ops->read(runtime->store, &query, &reader, err);
    if (status != CADRE_OK || state->is_there)
        return status;
    cadre_id_text(trace, id);
    return cadre_fail(err, CADRE_ENOTFOUND, "there is no run %s in this store", id);
}

static cadre_status read_live(cadre_runtime *runtime, cadre_id trace,
                              cadre_status (*frame)(void *, const cadre_frame_row *,
                                                    cadre_error *),
                              void *ctx, cadre_error *err)
{
    const cadre_query query = {.kind = CADRE_QUERY_LIVE, .trace = trace};
    const cadre_store_reader reader = {.frame = frame, .ctx = ctx};
    return runtime->store_ops->read(runtime->store, &query, &reader, err);
}

static cadre_status check(cadre_runtime *runtime, const char *trace, cadre_id *id,
                          const char *function, cadre_error *err)
{
    if (runtime == NULL || trace == NULL)
        return cdr_fail_null(err, function);
    if (!cadre_id_parse(trace, id))
        return cadre_fail(err, CADRE_EINVAL, "'%.80s' is not the id of a run", trace);
    return CADRE_OK;
}

static cadre_status fail_ended(const char *trace, cadre_frame_status status,
                               cadre_error *err)
{
    return cadre_fail(err, CADRE_EINVAL, "run %s has ended (%s)", trace,
                      cadre_frame_status_name(status));
}

// --- Spawned runs ---

// Ids that are read while others are acted on.
typedef struct id_list {
    cadre_id *ids;
    size_t count, capacity;
} id_list;

static cadre_status list_add(id_list *list, cadre_id id, cadre_error *err)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        void *grown = realloc(list->ids, capacity * sizeof(*list->ids));
        if (grown == NULL)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for a list of runs");
        list->ids = grown;
        list->capacity = capacity;
    }
    list->ids[list->count++] = id;
    return CADRE_OK;
}

static cadre_status take_spawned(void *ctx, const cadre_trace_row *row,
                                 cadre_error *err)
{
    return list_add(ctx, row->id, err);
}

// The run and, with `background`, what it spawned, and what that spawned.
static cadre_status list_runs(cadre_runtime *runtime, cadre_id trace, bool background,
                              id_list *list, cadre_error *err)
{
    const cadre_store_reader reader = {.trace = take_spawned, .ctx = list};
    cadre_status status = list_add(list, trace, err);
    for (size_t i = 0; background && status == CADRE_OK && i < list->count; i++) {
        const cadre_query query = {.kind = CADRE_QUERY_SPAWNED, .trace = list->ids[i]};
        status = runtime->store_ops->read(runtime->store, &query, &reader, err);
    }
    return status;
}

// --- Stopping ---

typedef struct target_list {
    const cadre_abort *what;
    cadre_id frame, conversation; // wanted; none: the whole run
    cdr_id_table conversations;   // of the live frames so far, by frame
    id_list found;
} target_list;

static bool is_target(target_list *targets, const cadre_frame_row *row)
{
    if (!cadre_id_is_none(targets->frame))
        return cadre_id_equal(row->id, targets->frame);
    if (cadre_id_is_none(targets->conversation))
        return cadre_id_is_none(row->parent);
    // The topmost ones there: what is below them is marked with them.
    bool is_there = cadre_id_equal(row->conversation, targets->conversation);
    bool is_above = cdr_id_table_get(&targets->conversations, row->parent) != NULL;
    return is_there && !is_above;
}

static cadre_status take_target(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    target_list *targets = ctx;
    if (cadre_id_equal(row->conversation, targets->conversation) &&
        !cdr_id_table_put(&targets->conversations, row->id, targets))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a list of frames");
    return is_target(targets, row) ? list_add(&targets->found, row->id, err) : CADRE_OK;
}

static cadre_status find_targets(cadre_runtime *runtime, cadre_id trace,
                                 const cadre_abort *what, target_list *targets,
                                 cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(trace, id);
    if (what->frame != NULL && !cadre_id_parse(what->frame, &targets->frame))
        return cadre_fail(err, CADRE_EINVAL, "'%.80s' is not the id of a frame",
                          what->frame);
    if (what->conversation != NULL &&
        !cadre_id_parse(what->conversation, &targets->conversation))
        return cadre_fail(err, CADRE_EINVAL, "'%.80s' is not the id of a conversation",
                          what->conversation);
    cadre_status status = read_live(runtime, trace, take_target, targets, err);
    if (status != CADRE_OK || targets->found.count > 0)
        return status;
    if (what->frame != NULL)
        return cadre_fail(err, CADRE_ENOTFOUND, "run %s has no frame %s that lives", id,
                          what->frame);
    if (what->conversation != NULL)
        return cadre_fail(err, CADRE_ENOTFOUND,
                          "run %s has no frame that lives in conversation %s", id,
                          what->conversation);
    return CADRE_OK; // it has ended meanwhile
}

// "request" or "request: why", on one line.
static void write_reason(const char *reason, char *text, size_t size)
{
    int n = snprintf(text, size, "%s%s%.200s", "request", reason == NULL ? "" : ": ",
                     reason == NULL ? "" : reason);
    for (int i = 0; i < n && (size_t)i < size; i++)
        if ((unsigned char)text[i] < ' ')
            text[i] = ' ';
}

static cadre_status mark(cadre_runtime *runtime, const target_list *targets,
                         cadre_error *err)
{
    char reason[240];
    size_t n = targets->found.count;
    cadre_fact *facts = calloc(n + 1, sizeof *facts);
    if (facts == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to stop a run");
    write_reason(targets->what->reason, reason, sizeof reason);
    for (size_t i = 0; i < n; i++) {
        facts[i].type = CADRE_FACT_MARK;
        facts[i].u.frame =
            (cadre_frame_row){.id = targets->found.ids[i], .mark = reason};
    }
    cadre_status status = runtime->store_ops->post(runtime->store, facts, n, err);
    free(facts);
    return status;
}

// One that nobody holds is ended here; a holder ends its own.
static cadre_status stop_one(cadre_runtime *runtime, cadre_id trace,
                             const cadre_abort *what, cadre_error *err)
{
    target_list targets = {.what = what};
    cadre_error busy = CADRE_ERROR_INIT;
    cadre_status status = find_targets(runtime, trace, what, &targets, err);
    if (status == CADRE_OK)
        status = mark(runtime, &targets, err);
    if (status == CADRE_OK)
        status = cdr_watch_look(runtime, err);
    cdr_id_table_fini(&targets.conversations);
    free(targets.found.ids);
    if (status != CADRE_OK)
        return status;
    status = cdr_trace_end(runtime, trace, &busy);
    return status == CADRE_OK || status == CADRE_EBUSY
               ? CADRE_OK
               : cadre_fail(err, status, "%s", busy.text);
}

static cadre_status stop_all(cadre_runtime *runtime, const id_list *runs,
                             const cadre_abort *what, cadre_error *err)
{
    cadre_status status = stop_one(runtime, runs->ids[0], what, err);
    cadre_abort whole = *what;
    whole.frame = whole.conversation = NULL;
    for (size_t i = 1; status == CADRE_OK && i < runs->count; i++)
        status = stop_one(runtime, runs->ids[i], &whole, err);
    return status;
}

cadre_status cadre_trace_abort(cadre_runtime *runtime, const char *trace,
                               const cadre_abort *what, cadre_error *err)
{
    cadre_id id = {0, 0};
    trace_state state;
    id_list runs = {.ids = NULL};
    const cadre_abort whole = {.struct_size = sizeof whole};
    if (what == NULL)
        what = &whole;
    cadre_status status = check(runtime, trace, &id, __func__, err);
    if (status == CADRE_OK && what->struct_size < sizeof *what)
        status = cadre_fail(err, CADRE_EINVAL, "make a cadre_abort with CADRE_ABORT");
    if (status == CADRE_OK)
        status = cdr_check_text((cdr_argument){NULL, "cadre_abort.reason"},
                                what->reason, err);
    if (status == CADRE_OK)
        status = read_state(runtime, id, &state, err);
    if (status == CADRE_OK && state.status >= CADRE_FRAME_COMPLETED &&
        !what->background)
        return fail_ended(trace, state.status, err);
    if (status == CADRE_OK)
        status = list_runs(runtime, id, what->background, &runs, err);
    if (status == CADRE_OK)
        status = stop_all(runtime, &runs, what, err);
    free(runs.ids);
    return status;
}

// --- Waiting ---

// OK: it has ended; DONE: it works.
static cadre_status look(cadre_runtime *runtime, cadre_id trace, cadre_error *err)
{
    trace_state state;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_status status = read_state(runtime, trace, &state, err);
    if (status != CADRE_OK)
        return status;
    if (state.status >= CADRE_FRAME_COMPLETED)
        return CADRE_OK;
    if (state.is_held)
        return CADRE_DONE;
    status = read_live(runtime, trace, find_question, &state, err);
    if (status != CADRE_OK)
        return status;
    cadre_id_text(trace, id);
    if (state.is_waiting)
        return cadre_fail(err, CADRE_EPARKED, "run %s waits for an answer", id);
    return cadre_fail(err, CADRE_ELOST,
                      "run %s was cut, and nobody works on it: resume it", id);
}

// Other processes tell nobody when they are done, so it is looked again and again.
static cadre_status wait_one(cadre_runtime *runtime, cadre_id trace,
                             int64_t deadline_ms, cadre_error *err)
{
    enum {
        FIRST_MS = 5,
        LAST_MS = 100
    };
    cdr_mutex mu;
    cdr_cond never;
    int64_t pause_ms = FIRST_MS;
    cdr_clock *clock = cdr_clock_real();
    cadre_status status = CADRE_DONE;
    cdr_mutex_init(&mu);
    cdr_cond_init(&never);
    while ((status = look(runtime, trace, err)) == CADRE_DONE) {
        int64_t now_ms = cdr_clock_now_ms(clock);
        if (now_ms >= deadline_ms) {
            char id[CADRE_ID_TEXT_SIZE];
            cadre_id_text(trace, id);
            status = cadre_fail(err, CADRE_ETIMEOUT, "run %s still works", id);
            break;
        }
        int64_t until_ms = now_ms + pause_ms;
        cdr_mutex_lock(&mu);
        while (cdr_cond_wait_until(&never, &mu,
                                   until_ms < deadline_ms ? until_ms : deadline_ms))
            ;
        cdr_mutex_unlock(&mu);
        pause_ms = pause_ms * 2 < LAST_MS ? pause_ms * 2 : LAST_MS;
    }
    cdr_cond_fini(&never);
    cdr_mutex_fini(&mu);
    return status;
}

cadre_status cadre_trace_wait(cadre_runtime *runtime, const char *trace,
                              bool background, int64_t timeout_ms, cadre_error *err)
{
    cadre_id id = {0, 0};
    id_list runs = {.ids = NULL};
    int64_t deadline_ms = CDR_NEVER;
    cadre_status status = check(runtime, trace, &id, __func__, err);
    if (status == CADRE_OK)
        status = cdr_check_time((cdr_argument){NULL, "timeout_ms"}, timeout_ms, err);
    if (status != CADRE_OK)
        return status;
    if (timeout_ms > 0)
        deadline_ms = cdr_deadline_ms(cdr_clock_now_ns(cdr_clock_real()), timeout_ms);
    status = wait_one(runtime, id, deadline_ms, err); // it spawns no more after that
    if (status == CADRE_OK)
        status = list_runs(runtime, id, background, &runs, err);
    for (size_t i = 1; status == CADRE_OK && i < runs.count; i++)
        status = wait_one(runtime, runs.ids[i], deadline_ms, err);
    free(runs.ids);
    return status;
}

// --- Posting ---

// False: no memory.
static bool hash_text(const char *text, char hash[CDR_DIGEST_SIZE])
{
    json_t *value = json_string(text);
    snprintf(hash, CDR_DIGEST_SIZE, "%016llx",
             (unsigned long long)cdr_digest_json(value));
    json_decref(value);
    return value != NULL;
}

typedef struct letter {
    cadre_id conversation, frame;
    const char *request_id;
    const char *text;
    bool is_input;
} letter;

// `refused`: it may not be said there any more, or with this request id.
static cadre_status post(cadre_runtime *runtime, const letter *what, bool *refused,
                         cadre_error *err)
{
    char hash[CDR_DIGEST_SIZE];
    cadre_fact fact = {.type = CADRE_FACT_MESSAGE};
    if (!hash_text(what->text, hash))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a message");
    fact.u.message = (cadre_message_row){.id = cadre_id_new(),
                                         .conversation = what->conversation,
                                         .frame = what->frame,
                                         .request_id = what->request_id,
                                         .request_hash = hash};
    fact.u.message.message = (cadre_message){.role = CADRE_ROLE_USER,
                                             .agent = "",
                                             .to = "",
                                             .text = what->text,
                                             .reasoning = "",
                                             .call_id = "",
                                             .tool_name = "",
                                             .position = -1,
                                             .is_input = what->is_input};
    cadre_status status = runtime->store_ops->post(runtime->store, &fact, 1, err);
    *refused = fact.refused;
    return status == CADRE_OK ? cdr_watch_look(runtime, err) : status;
}

// --- Answering ---

typedef struct open_question {
    cadre_id wanted; // none: the only one
    cadre_id frame, conversation;
    json_t *stored;
    size_t n_open;
    char names[200];
} open_question;

static cadre_status take_question(void *ctx, const cadre_frame_row *row,
                                  cadre_error *err)
{
    open_question *question = ctx;
    char id[CADRE_ID_TEXT_SIZE];
    if (strcmp(row->kind, "ask") != 0 || row->mark[0] != '\0')
        return CADRE_OK;
    if (!cadre_id_is_none(question->wanted) &&
        !cadre_id_equal(row->id, question->wanted))
        return CADRE_OK;
    size_t used = strlen(question->names);
    cadre_id_text(row->id, id);
    snprintf(question->names + used, sizeof question->names - used, "%s%s",
             question->n_open == 0 ? "" : ", ", id);
    if (question->n_open++ > 0)
        return CADRE_OK;
    question->frame = row->id;
    question->conversation = row->conversation;
    question->stored = cdr_json_parse(row->input, strlen(row->input), NULL);
    return question->stored == NULL
               ? cadre_fail(err, CADRE_ENOMEM, "no memory for a question")
               : CADRE_OK;
}

static cadre_status fail_question(const open_question *open, const char *trace,
                                  const char *question, cadre_error *err)
{
    if (open->n_open > 1)
        return cadre_fail(err, CADRE_EINVAL,
                          "run %s waits for %zu answers; name the question: %s", trace,
                          open->n_open, open->names);
    if (question != NULL)
        return cadre_fail(err, CADRE_ENOTFOUND,
                          "run %s has no question %s that is open", trace, question);
    return cadre_fail(err, CADRE_ENOTFOUND, "run %s asks nothing", trace);
}

static cadre_status post_answer(cadre_runtime *runtime, const open_question *open,
                                const json_t *answer, cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    char request[CADRE_ID_TEXT_SIZE + 8];
    bool refused = false;
    cadre_id_text(open->frame, id);
    snprintf(request, sizeof request, "answer:%s", id);
    char *text = json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    if (text == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
    // What could not be read back would fail the run for good.
    json_t *read_back = cdr_json_parse(text, strlen(text), NULL);
    json_decref(read_back);
    if (read_back == NULL) {
        free(text);
        return cadre_fail(err, CADRE_EINVAL, "an answer is JSON of at most %d levels",
                          CDR_JSON_MAX_DEPTH);
    }
    const letter what = {.conversation = open->conversation,
                         .frame = open->frame,
                         .request_id = request,
                         .text = text,
                         .is_input = true};
    cadre_status status = post(runtime, &what, &refused, err);
    free(text);
    if (status == CADRE_OK && refused)
        status = cadre_fail(err, CADRE_EINVAL,
                            "question %s has another answer already, or its run was "
                            "stopped",
                            id);
    return status;
}

cadre_status cadre_trace_answer(cadre_runtime *runtime, const char *trace,
                                const char *question, const json_t *answer,
                                cadre_error *err)
{
    cadre_id id = {0, 0};
    trace_state state;
    open_question open = {.stored = NULL};
    cadre_status status = check(runtime, trace, &id, __func__, err);
    if (status == CADRE_OK && answer == NULL)
        return cdr_fail_null(err, __func__);
    if (status == CADRE_OK && question != NULL &&
        !cadre_id_parse(question, &open.wanted))
        return cadre_fail(err, CADRE_EINVAL, "'%.80s' is not the id of a question",
                          question);
    if (status == CADRE_OK)
        status = read_state(runtime, id, &state, err);
    if (status == CADRE_OK && state.status >= CADRE_FRAME_COMPLETED)
        return fail_ended(trace, state.status, err);
    if (status == CADRE_OK)
        status = read_live(runtime, id, take_question, &open, err);
    if (status == CADRE_OK && open.n_open != 1)
        status = fail_question(&open, trace, question, err);
    if (status == CADRE_OK)
        status = cdr_question_check(open.stored, answer, err);
    if (status == CADRE_OK)
        status = post_answer(runtime, &open, answer, err);
    json_decref(open.stored);
    return status;
}

// --- Saying something ---

static cadre_status take_root(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    letter *what = ctx;
    (void)err;
    if (cadre_id_is_none(row->parent))
        what->conversation = row->conversation;
    return CADRE_OK;
}

cadre_status cadre_trace_send(cadre_runtime *runtime, const char *trace,
                              const char *text, const char *request_id,
                              cadre_error *err)
{
    cadre_id id = {0, 0};
    trace_state state = {.is_there = false};
    letter what = {.request_id = request_id, .text = text};
    bool refused = false;
    cadre_status status = check(runtime, trace, &id, __func__, err);
    if (status == CADRE_OK && text == NULL)
        return cdr_fail_null(err, __func__);
    if (status == CADRE_OK)
        status = cdr_check_text((cdr_argument){NULL, "text"}, text, err);
    if (status == CADRE_OK)
        status = cdr_check_text((cdr_argument){NULL, "request_id"}, request_id, err);
    if (status == CADRE_OK)
        status = read_state(runtime, id, &state, err);
    if (status == CADRE_OK)
        status = read_live(runtime, id, take_root, &what, err);
    if (status == CADRE_OK && cadre_id_is_none(what.conversation))
        return fail_ended(trace, state.status, err);
    if (status == CADRE_OK)
        status = post(runtime, &what, &refused, err);
    if (status == CADRE_OK && refused)
        status = cadre_fail(err, CADRE_EINVAL,
                            "run %s: request id '%.80s' was used for another text",
                            trace, request_id == NULL ? "" : request_id);
    return status;
}
