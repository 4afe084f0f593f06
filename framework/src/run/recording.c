// See recording.h: reading what the ledger has, and writing the script.
#include "run/recording.h"

#include "cadre/record.h"

#include "base/keypath.h"
#include "run/arguments.h"
#include "team/runtime.h"
#include "tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "no memory for a recording");
}

// --- Reading ---

static const char *keep(cdr_recording_maker *maker, const char *text)
{
    const char *copy = cdr_arena_text(&maker->arena, text == NULL ? "" : text);
    maker->no_memory |= copy == NULL;
    return copy == NULL ? "" : copy;
}

static int index_in(const cdr_id_table *table, cadre_id id)
{
    return (int)(uintptr_t)cdr_id_table_get(table, id) - 1;
}

int cdr_recording_frame(const cdr_recording_maker *maker, cadre_id id)
{
    return index_in(&maker->frames_by_id, id);
}

static cdr_source_kind kind_of(const char *name)
{
    static const char *const names[] = {"agent", "model", "tool"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0)
            return (cdr_source_kind)i;
    return CDR_SOURCE_ASK;
}

static cadre_status take_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    cdr_recording_maker *maker = ctx;
    maker->team = keep(maker, row->team);
    maker->is_there = true;
    return maker->no_memory ? no_memory(err) : CADRE_OK;
}

static void keep_texts(cdr_recording_maker *maker, cadre_frame_row *row)
{
    const char **const texts[] = {&row->key,     &row->kind,   &row->name,
                                  &row->referer, &row->input,  &row->mark,
                                  &row->delta,   &row->output, &row->error};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = keep(maker, *texts[i]);
}

static cadre_status take_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    cdr_recording_maker *maker = ctx;
    cdr_source *frames =
        cdr_arena_grow(&maker->arena, maker->frames, maker->n_frames, sizeof *frames);
    if (frames == NULL || !cdr_id_table_put(&maker->frames_by_id, row->id,
                                            (void *)(uintptr_t)(maker->n_frames + 1)))
        return no_memory(err);
    maker->frames = frames;
    cdr_source *frame = &frames[maker->n_frames++];
    *frame = (cdr_source){.row = *row,
                          .kind = kind_of(row->kind),
                          .parent = cdr_recording_frame(maker, row->parent),
                          .first_child = CDR_SOURCE_NONE,
                          .last_child = CDR_SOURCE_NONE,
                          .next = CDR_SOURCE_NONE,
                          .last_model = CDR_SOURCE_NONE,
                          .result = CDR_SOURCE_NONE,
                          .answer = CDR_SOURCE_NONE,
                          .part = CDR_SOURCE_NONE,
                          .said = CDR_SOURCE_NONE};
    keep_texts(maker, &frame->row);
    return maker->no_memory ? no_memory(err) : CADRE_OK;
}

static const cadre_tool_call *keep_calls(cdr_recording_maker *maker,
                                         const cadre_message *m)
{
    cadre_tool_call *calls =
        cdr_arena_alloc(&maker->arena, (m->n_tool_calls + 1) * sizeof *calls);
    maker->no_memory |= calls == NULL;
    for (size_t i = 0; calls != NULL && i < m->n_tool_calls; i++)
        calls[i] = (cadre_tool_call){keep(maker, m->tool_calls[i].id),
                                     keep(maker, m->tool_calls[i].name),
                                     keep(maker, m->tool_calls[i].arguments)};
    return calls;
}

// Those of the run's own frames.
static cadre_status take_message(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    cdr_recording_maker *maker = ctx;
    if (cdr_recording_frame(maker, row->frame) < 0 || row->message.position < 0)
        return CADRE_OK;
    cadre_message_row *messages = cdr_arena_grow(&maker->arena, maker->messages,
                                                 maker->n_messages, sizeof *messages);
    if (messages == NULL ||
        !cdr_id_table_put(&maker->messages_by_id, row->id,
                          (void *)(uintptr_t)(maker->n_messages + 1)))
        return no_memory(err);
    maker->messages = messages;
    cadre_message_row *kept = &messages[maker->n_messages++];
    *kept = *row;
    kept->request_id = kept->request_hash = "";
    cadre_message *m = &kept->message;
    m->agent = keep(maker, m->agent);
    m->to = keep(maker, m->to);
    m->text = keep(maker, m->text);
    m->reasoning = keep(maker, m->reasoning);
    m->tool_calls = keep_calls(maker, &row->message);
    m->call_id = keep(maker, m->call_id);
    m->mark = keep(maker, m->mark == NULL ? "" : m->mark);
    m->tool_name = m->id = m->frame_id = m->model = m->parts = m->items = "";
    return maker->no_memory ? no_memory(err) : CADRE_OK;
}

static void maker_fini(cdr_recording_maker *maker)
{
    for (size_t i = 0; i < maker->n_frames; i++) {
        json_decref(maker->frames[i].kept);
        json_decref(maker->frames[i].item);
        json_decref(maker->frames[i].after);
    }
    cdr_id_table_fini(&maker->frames_by_id);
    cdr_id_table_fini(&maker->frames_by_keypath);
    cdr_id_table_fini(&maker->messages_by_id);
    cdr_arena_fini(&maker->arena);
}

static cadre_status read_run(cdr_recording_maker *maker, cadre_runtime *runtime,
                             const char *trace, cadre_error *err)
{
    cadre_query query = {.kind = CADRE_QUERY_TRACE};
    const cadre_store_reader reader = {.trace = take_trace,
                                       .frame = take_frame,
                                       .message = take_message,
                                       .ctx = maker};
    if (!cadre_id_parse(trace, &query.trace))
        return cadre_fail(err, CADRE_EINVAL, "'%.80s' is not the id of a run", trace);
    cadre_status status =
        runtime->store_ops->read(runtime->store, &query, &reader, err);
    if (status == CADRE_OK && !maker->is_there)
        status =
            cadre_fail(err, CADRE_ENOTFOUND, "there is no run %s in this store", trace);
    return status;
}

// --- Where frames stand ---

// How much was said in its session before the run.
static uint64_t count_before(const cdr_recording_maker *maker)
{
    const cadre_id own = maker->frames[0].row.conversation;
    for (size_t i = 0; i < maker->n_messages; i++)
        if (cadre_id_equal(maker->messages[i].conversation, own))
            return (uint64_t)maker->messages[i].message.position;
    return 0;
}

static void set_places(cdr_recording_maker *maker)
{
    for (size_t i = 0; i < maker->n_frames; i++) {
        cdr_source *frame = &maker->frames[i];
        const cdr_source *above =
            frame->parent < 0 ? NULL : &maker->frames[frame->parent];
        frame->at = above == NULL
                        ? cdr_keypath_root_text(&maker->arena, count_before(maker))
                        : cdr_keypath_join(&maker->arena, above->at, above->row.key,
                                           frame->row.key);
        frame->keypath =
            above == NULL
                ? cdr_keypath_root(count_before(maker))
                : cdr_keypath_below(above->keypath, above->row.key, frame->row.key);
        maker->no_memory |= frame->at == NULL;
        if (frame->at == NULL)
            frame->at = "";
    }
}

// --- The tree ---

// The frame with that key below another one; NONE: there is none.
static int child_of(const cdr_recording_maker *maker, int parent, const char *key)
{
    const cdr_source *above = &maker->frames[parent];
    cdr_keypath path = cdr_keypath_below(above->keypath, above->row.key, key);
    return index_in(&maker->frames_by_keypath, (cadre_id){path.a, path.b});
}

// The attempt before a further one, "KEY~2"; NONE: it is none.
static int attempt_before(cdr_recording_maker *maker, const cdr_source *frame)
{
    const char *tilde = strrchr(frame->row.key, '~');
    long nth = tilde == NULL ? 0 : strtol(tilde + 1, NULL, 10);
    if (nth < 2)
        return CDR_SOURCE_NONE;
    int len = (int)(tilde - frame->row.key);
    const char *key =
        nth == 2
            ? cdr_arena_printf(&maker->arena, "%.*s", len, frame->row.key)
            : cdr_arena_printf(&maker->arena, "%.*s~%ld", len, frame->row.key, nth - 1);
    maker->no_memory |= key == NULL;
    return key == NULL ? CDR_SOURCE_NONE : child_of(maker, frame->parent, key);
}

// In the order of birth; but when an attempt failed is chance, so the next follows it.
static void add_child(cdr_recording_maker *maker, int child)
{
    cdr_source *frame = &maker->frames[child];
    cdr_source *above = &maker->frames[frame->parent];
    int before = attempt_before(maker, frame);
    if (before < 0)
        before = above->last_child;
    if (before < 0) {
        above->first_child = child;
    } else {
        frame->next = maker->frames[before].next;
        maker->frames[before].next = child;
    }
    if (above->last_child == before)
        above->last_child = child;
}

int cdr_recording_next(const cdr_recording_maker *maker, int at, int top)
{
    if (maker->frames[at].first_child >= 0)
        return maker->frames[at].first_child;
    return cdr_recording_next_beside(maker, at, top);
}

int cdr_recording_next_beside(const cdr_recording_maker *maker, int at, int top)
{
    while (at != top && maker->frames[at].next < 0)
        at = maker->frames[at].parent;
    return at == top ? CDR_SOURCE_NONE : maker->frames[at].next;
}

static void find_last_births(const cdr_recording_maker *maker)
{
    for (size_t i = maker->n_frames; i-- > 1;) { // parents come first
        const cdr_source *frame = &maker->frames[i];
        int64_t last = frame->row.start_seq > frame->last_birth_seq
                           ? frame->row.start_seq
                           : frame->last_birth_seq;
        cdr_source *above = &maker->frames[frame->parent];
        if (last > above->last_birth_seq)
            above->last_birth_seq = last;
    }
}

static cadre_status make_tree(cdr_recording_maker *maker, cadre_error *err)
{
    int place = 0;
    for (size_t i = 0; i < maker->n_frames; i++) {
        const cadre_id key = {maker->frames[i].keypath.a, maker->frames[i].keypath.b};
        if (!cdr_id_table_put(&maker->frames_by_keypath, key,
                              (void *)(uintptr_t)(i + 1)))
            return no_memory(err);
        if (i > 0)
            add_child(maker, (int)i);
    }
    find_last_births(maker);
    for (int i = maker->n_frames == 0 ? CDR_SOURCE_NONE : 0; i >= 0;
         i = cdr_recording_next(maker, i, 0))
        maker->frames[i].place = place++;
    return CADRE_OK;
}

// --- Which message is whose ---

static void tie_answers(cdr_recording_maker *maker)
{
    for (size_t i = 0; i < maker->n_frames; i++) {
        cdr_source *frame = &maker->frames[i];
        cadre_id answer;
        if (frame->kind == CDR_SOURCE_MODEL &&
            cadre_id_parse(frame->row.output, &answer))
            frame->answer = index_in(&maker->messages_by_id, answer);
        if (frame->answer >= 0)
            maker->turns[frame->answer] = (int)strtol(frame->row.key, NULL, 10);
    }
}

// The turn of a call that the agent's code made itself: the next that no model
// answered.
static int own_turn_after(const cdr_recording_maker *maker, int agent, int turn)
{
    char model[16], call[20];
    for (;; turn++) {
        (void)snprintf(model, sizeof model, "%d", turn + 1);
        (void)snprintf(call, sizeof call, "%d/0", turn + 1);
        if (child_of(maker, agent, model) < 0)
            return child_of(maker, agent, call) < 0 ? turn : turn + 1;
    }
}

static void tie_result(cdr_recording_maker *maker, int agent, int said, int result)
{
    const cadre_message *asked = &maker->messages[said].message;
    const char *id = maker->messages[result].message.call_id;
    char key[40];
    for (size_t i = 0; i < asked->n_tool_calls; i++) {
        if (strcmp(asked->tool_calls[i].id, id) != 0)
            continue;
        (void)snprintf(key, sizeof key, "%d/%zu", maker->turns[said], i);
        int call = child_of(maker, agent, key);
        if (call >= 0)
            maker->frames[call].result = result;
    }
}

// The call that a part of an answer is of: the first that failed behind it.
static void tie_part(cdr_recording_maker *maker, int agent, int turn, int part)
{
    char key[16];
    int at;
    do {
        (void)snprintf(key, sizeof key, "%d", ++turn);
        at = child_of(maker, agent, key);
    } while (at >= 0 &&
             (maker->frames[at].answer >= 0 ||
              maker->frames[at].row.end_seq < maker->messages[part].message.seq));
    if (at < 0)
        return;
    maker->frames[at].part = part;
    maker->turns[part] = turn;
}

// Results follow the answer that asked for them, before the agent's next one.
static void tie_results(cdr_recording_maker *maker)
{
    for (size_t i = 0; i < maker->n_messages; i++) {
        int nth = cdr_recording_frame(maker, maker->messages[i].frame);
        cdr_source *agent = &maker->frames[nth];
        cadre_role role = maker->messages[i].message.role;
        agent->is_quiet |= maker->messages[i].message.seq == 0;
        if (agent->kind == CDR_SOURCE_ASK)
            agent->result = (int)i;
        int before = agent->said == CDR_SOURCE_NONE ? 0 : maker->turns[agent->said];
        if (maker->messages[i].message.mark[0] != '\0') {
            tie_part(maker, nth, before, (int)i);
        } else if (role == CADRE_ROLE_ASSISTANT) {
            if (maker->turns[i] == 0)
                maker->turns[i] = own_turn_after(maker, nth, before);
            agent->said = (int)i;
        } else if (role == CADRE_ROLE_TOOL && agent->said >= 0) {
            tie_result(maker, nth, agent->said, (int)i);
        }
    }
}

static cadre_status tie_messages(cdr_recording_maker *maker, cadre_error *err)
{
    maker->turns =
        cdr_arena_alloc(&maker->arena, (maker->n_messages + 1) * sizeof *maker->turns);
    if (maker->turns == NULL)
        return no_memory(err);
    tie_answers(maker);
    tie_results(maker);
    for (size_t i = 1; i < maker->n_frames; i++)
        maker->frames[i].is_quiet |= maker->frames[maker->frames[i].parent].is_quiet;
    return CADRE_OK;
}

bool cdr_recording_is_stop(const cdr_recording_maker *maker, const cdr_source *frame)
{
    cdr_mark mark = cdr_mark_of(frame->row.mark);
    bool has_result = json_object_get(frame->item, "code") != NULL; // that says so
    if (mark == CDR_MARK_NONE || has_result || frame->parent < 0)
        return mark != CDR_MARK_NONE && !has_result;
    const cdr_source *above = &maker->frames[frame->parent];
    return cdr_mark_of(above->row.mark) != mark ||
           above->last_birth_seq > frame->row.end_seq;
}

// --- Writing ---

static json_t *member(json_t *object, const char *key, json_t *(*make)(void))
{
    json_t *value = json_object_get(object, key);
    if (value != NULL)
        return value;
    value = make();
    return json_object_set_new(object, key, value) == 0 ? value : NULL;
}

static void add_item(cdr_recording_maker *maker, json_t *script, const char *section,
                     const char *name, json_t *item)
{
    json_t *list = name == NULL
                       ? member(script, section, json_array)
                       : member(member(script, section, json_object), name, json_array);
    maker->no_memory |= json_array_append(list, item) != 0;
}

static void add_stop(cdr_recording_maker *maker, json_t *script,
                     const cdr_source *frame)
{
    json_t *stop = json_pack("{s:s, s:s, s:O*}", "at", frame->at, "reason",
                             frame->row.mark, "after", frame->after);
    maker->no_memory |= stop == NULL;
    add_item(maker, script, "stopped", NULL, stop);
    json_decref(stop);
}

static void write_frames(cdr_recording_maker *maker, json_t *script)
{
    for (int i = maker->n_frames == 0 ? CDR_SOURCE_NONE : 0; i >= 0;
         i = cdr_recording_next(maker, i, 0)) {
        const cdr_source *frame = &maker->frames[i];
        if (frame->item != NULL)
            add_item(maker, script, frame->section, frame->name, frame->item);
        if (cdr_recording_is_stop(maker, frame))
            add_stop(maker, script, frame);
    }
}

// --- What others said ---

// How far a frame had come when others said something.
typedef struct said {
    bool is_opened; // its own input was said
    int turn;       // the last that was answered
} said;

static const char *call_after(cdr_recording_maker *maker, const cdr_source *frame,
                              const said *so_far)
{
    char key[16];
    if (frame->parent < 0 && !so_far->is_opened)
        return frame->at;
    (void)snprintf(key, sizeof key, "%d", so_far->turn + 1);
    const char *at = cdr_keypath_join(&maker->arena, frame->at, frame->row.key, key);
    maker->no_memory |= at == NULL;
    return at == NULL ? "" : at;
}

static void write_message(cdr_recording_maker *maker, json_t *script,
                          const cadre_message *m, const char *at)
{
    json_t *item = json_pack("{s:s, s:s*, s:s}", "at", at, "agent",
                             m->agent[0] == '\0' ? NULL : m->agent, "text", m->text);
    maker->no_memory |= item == NULL;
    add_item(maker, script, "messages", NULL, item);
    json_decref(item);
}

static cadre_status write_messages(cdr_recording_maker *maker, json_t *script,
                                   cadre_error *err)
{
    said *all = calloc(maker->n_frames + 1, sizeof *all);
    if (all == NULL)
        return no_memory(err);
    for (size_t i = 0; i < maker->n_messages; i++) {
        int nth = cdr_recording_frame(maker, maker->messages[i].frame);
        const cdr_source *frame = &maker->frames[nth];
        const cadre_message *m = &maker->messages[i].message;
        if (m->role == CADRE_ROLE_ASSISTANT && maker->turns[i] > 0)
            all[nth].turn = maker->turns[i];
        if (m->role != CADRE_ROLE_USER || m->is_input)
            continue;
        if (!all[nth].is_opened && strcmp(m->text, frame->row.input) == 0)
            all[nth].is_opened = true;
        else
            write_message(maker, script, m, call_after(maker, frame, &all[nth]));
    }
    free(all);
    return CADRE_OK;
}

// --- One run ---

static bool write_head(const cdr_recording_maker *maker, json_t *script)
{
    const char *input = maker->n_frames == 0 ? "" : maker->frames[0].row.input;
    if (json_object_set_new(script, "strict", json_true()) != 0)
        return false;
    json_t *recording = member(script, "recording", json_object);
    return json_object_set_new(recording, "team", json_string(maker->team)) == 0 &&
           json_array_append_new(member(recording, "inputs", json_array),
                                 json_string(input)) == 0 &&
           member(script, "agents", json_object) != NULL;
}

static cadre_status write_script(cdr_recording_maker *maker, json_t *script,
                                 cadre_error *err)
{
    set_places(maker);
    cadre_status status = make_tree(maker, err);
    if (status == CADRE_OK)
        status = tie_messages(maker, err);
    if (status != CADRE_OK)
        return status;
    cdr_recording_make_items(maker);
    cdr_recording_set_order(maker);
    if (!write_head(maker, script))
        return no_memory(err);
    write_frames(maker, script);
    status = write_messages(maker, script, err);
    return status == CADRE_OK && maker->no_memory ? no_memory(err) : status;
}

cadre_status cadre_record_script(cadre_runtime *runtime, const char *trace,
                                 json_t *script, cadre_error *err)
{
    cdr_recording_maker maker = {.arena = CDR_ARENA_INIT};
    if (runtime == NULL || trace == NULL || script == NULL)
        return cdr_fail_null(err, __func__);
    if (!json_is_object(script))
        return cadre_fail(err, CADRE_EINVAL, "cadre_record_script: expected an object");
    cadre_status status = read_run(&maker, runtime, trace, err);
    if (status == CADRE_OK)
        status = write_script(&maker, script, err);
    maker_fini(&maker);
    return status;
}
