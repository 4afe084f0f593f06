// Runs as a store remembers them.
#include "cadre/record.h"

#include "run/arguments.h"
#include "run/lease.h"
#include "run/options.h"
#include "run/run.h"
#include "tree/id_table.h"

#include <stdlib.h>
#include <string.h>

struct cadre_record {
    cadre_record_info info;
    json_t *options; // what the info borrows from
    cdr_run_listing listing;
    cdr_arena texts;
    char spawned_by[CADRE_ID_TEXT_SIZE]; // the same
    cdr_message **held;                  // references
    cadre_record_message *messages;
    size_t n_messages, capacity;
    cdr_id_table frames; // while it is read: those of the run
    bool is_there;
};

// Borrows from the row, the ids and the options, which the caller frees. NULL:
// no memory.
static json_t *fill_info(cadre_record_info *info, const cadre_trace_row *row,
                         const char *id, char spawned_by[CADRE_ID_TEXT_SIZE])
{
    spawned_by[0] = '\0';
    if (!cadre_id_is_none(row->spawned_by))
        cadre_id_text(row->spawned_by, spawned_by);
    json_t *options = cdr_options_parse(row->options);
    if (json_object_get(options, "inputs") == NULL)
        json_object_set_new(options, "inputs", json_object());
    const char *session = json_string_value(json_object_get(options, "session"));
    const char *type = json_string_value(json_object_get(options, "type"));
    *info = (cadre_record_info){.trace_id = id,
                                .team = row->team,
                                .held_by = row->lease_owner,
                                .is_held = cdr_lease_is_held(row),
                                .status = row->status,
                                .cost_usd_micros = row->cost_usd_micros,
                                .unpriced_calls = row->unpriced_calls,
                                .created_at = row->created_at,
                                .spawned_by = spawned_by,
                                .session = session == NULL ? "" : session,
                                .inputs = json_object_get(options, "inputs"),
                                .metadata = json_object_get(options, "metadata"),
                                .offline =
                                    json_is_true(json_object_get(options, "offline")),
                                .type = type == NULL ? "" : type};
    return options;
}

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "no memory for the record of a run");
}

static cadre_status fail_id(cadre_error *err, const char *trace)
{
    return cadre_fail(err, CADRE_EINVAL, "'%.80s' is not the id of a run", trace);
}

// --- Listing ---

typedef struct lister {
    cadre_status (*on_run)(void *ctx, const cadre_record_info *info, cadre_error *err);
    void *ctx;
} lister;

static cadre_status give_run(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    const lister *l = ctx;
    char id[CADRE_ID_TEXT_SIZE], spawned_by[CADRE_ID_TEXT_SIZE];
    cadre_record_info info;
    cadre_id_text(row->id, id);
    json_t *options = fill_info(&info, row, id, spawned_by);
    if (options == NULL)
        return no_memory(err);
    cadre_status status = l->on_run(l->ctx, &info, err);
    json_decref(options);
    return status;
}

cadre_status cadre_record_list(cadre_runtime *runtime, int limit,
                               cadre_status (*on_run)(void *ctx,
                                                      const cadre_record_info *info,
                                                      cadre_error *err),
                               void *ctx, cadre_error *err)
{
    if (runtime == NULL || on_run == NULL)
        return cdr_fail_null(err, __func__);
    if (limit < 0)
        return cadre_fail(err, CADRE_EINVAL, "limit is %d; it is a count, 0 for all",
                          limit);
    lister l = {on_run, ctx};
    const cadre_query query = {.kind = CADRE_QUERY_TRACES, .limit = limit};
    const cadre_store_reader reader = {.trace = give_run, .ctx = &l};
    return runtime->store_ops->read(runtime->store, &query, &reader, err);
}

cadre_status cadre_record_list_spawned(
    cadre_runtime *runtime, const char *trace,
    cadre_status (*on_run)(void *ctx, const cadre_record_info *info, cadre_error *err),
    void *ctx, cadre_error *err)
{
    cadre_query query = {.kind = CADRE_QUERY_SPAWNED};
    if (runtime == NULL || trace == NULL || on_run == NULL)
        return cdr_fail_null(err, __func__);
    if (!cadre_id_parse(trace, &query.trace))
        return fail_id(err, trace);
    lister l = {on_run, ctx};
    const cadre_store_reader reader = {.trace = give_run, .ctx = &l};
    return runtime->store_ops->read(runtime->store, &query, &reader, err);
}

// --- One run ---

static const char *keep(cadre_record *record, const char *text)
{
    return cdr_arena_text(&record->texts, text == NULL ? "" : text);
}

static cadre_status take_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    cadre_record *record = ctx;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->id, id);
    record->options =
        fill_info(&record->info, row, keep(record, id), record->spawned_by);
    record->info.team = keep(record, row->team);
    record->info.held_by = keep(record, row->lease_owner);
    record->is_there = true;
    if (record->options == NULL || record->info.trace_id == NULL ||
        record->info.team == NULL || record->info.held_by == NULL)
        return no_memory(err);
    return CADRE_OK;
}

static bool make_room(cadre_record *record)
{
    if (record->n_messages < record->capacity)
        return true;
    size_t capacity = record->capacity == 0 ? 32 : record->capacity * 2;
    void *held = realloc(record->held, capacity * sizeof(*record->held));
    if (held != NULL)
        record->held = held;
    void *messages = realloc(record->messages, capacity * sizeof(*record->messages));
    if (messages != NULL)
        record->messages = messages;
    if (held == NULL || messages == NULL)
        return false;
    record->capacity = capacity;
    return true;
}

static cadre_status take_message(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    cadre_record *record = ctx;
    char id[CADRE_ID_TEXT_SIZE];
    if (!make_room(record))
        return no_memory(err);
    cadre_id_text(row->conversation, id);
    const char *conversation = keep(record, id);
    cdr_message *message = cdr_message_new(&row->message, row->id, row->frame);
    if (message == NULL || conversation == NULL) {
        cdr_message_unref(message);
        return no_memory(err);
    }
    message->m.position = row->message.position;
    record->held[record->n_messages] = message;
    record->messages[record->n_messages++] =
        (cadre_record_message){conversation, &message->m,
                               cdr_id_table_get(&record->frames, row->frame) != NULL};
    return CADRE_OK;
}

// Frames come before messages.
static cadre_status note_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    cadre_record *record = ctx;
    return cdr_id_table_put(&record->frames, row->id, record) ? CADRE_OK
                                                              : no_memory(err);
}

cadre_status cadre_record_open(cadre_runtime *runtime, const char *trace,
                               cadre_record **out, cadre_error *err)
{
    cadre_query query = {.kind = CADRE_QUERY_TRACE};
    if (runtime == NULL || trace == NULL || out == NULL)
        return cdr_fail_null(err, __func__);
    if (!cadre_id_parse(trace, &query.trace))
        return fail_id(err, trace);
    cadre_record *record = calloc(1, sizeof *record);
    if (record == NULL)
        return no_memory(err);
    const cadre_store_reader reader = {.trace = take_trace,
                                       .frame = note_frame,
                                       .message = take_message,
                                       .ctx = record};
    cadre_status status =
        runtime->store_ops->read(runtime->store, &query, &reader, err);
    cdr_id_table_fini(&record->frames);
    if (status == CADRE_OK && !record->is_there)
        status =
            cadre_fail(err, CADRE_ENOTFOUND, "there is no run %s in this store", trace);
    if (status == CADRE_OK)
        status = cdr_run_listing_read(&record->listing, runtime, query.trace, err);
    if (status != CADRE_OK) {
        cadre_record_close(record);
        return status;
    }
    *out = record;
    return CADRE_OK;
}

void cadre_record_close(cadre_record *record)
{
    if (record == NULL)
        return;
    for (size_t i = 0; i < record->n_messages; i++)
        cdr_message_unref(record->held[i]);
    free(record->held);
    free(record->messages);
    cdr_run_listing_fini(&record->listing);
    json_decref(record->options);
    cdr_arena_fini(&record->texts);
    free(record);
}

const cadre_record_info *cadre_record_get_info(const cadre_record *record)
{
    return record == NULL ? NULL : &record->info;
}

const cadre_frame_info *cadre_record_frames(const cadre_record *record,
                                            size_t *n_frames)
{
    if (n_frames != NULL)
        *n_frames = record == NULL ? 0 : record->listing.n_frames;
    return record == NULL ? NULL : record->listing.frames;
}

const cadre_record_message *cadre_record_messages(const cadre_record *record,
                                                  size_t *n_messages)
{
    if (n_messages != NULL)
        *n_messages = record == NULL ? 0 : record->n_messages;
    return record == NULL ? NULL : record->messages;
}
