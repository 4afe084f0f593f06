// See request.h.
#include "run/request.h"

#include "base/brief.h"
#include "base/json_iterable.h"
#include "run/options.h"
#include "run/parts.h"
#include "run/start.h"
#include "run/stream_end.h"
#include "tree/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LOOKS = 3 // a start that was faster is found by the second
};

// --- Whose request it is ---

// False: a file is refused, or there is no memory.
static bool add_files(json_t *content, const cadre_run_config *config, cadre_error *err)
{
    char *parts = NULL;
    if (config->n_files == 0)
        return true;
    if (cdr_parts_make(config->files, config->n_files, &parts, err) != CADRE_OK)
        return false;
    bool ok = json_array_append_new(content, json_string(parts)) == 0;
    free(parts);
    if (!ok)
        cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
    return ok;
}

// Of the content: the team, the input and its files, and the given inputs as the team
// reads them.
static cadre_status hash_content(const cdr_start *start, char hash[CDR_DIGEST_SIZE],
                                 cadre_error *err)
{
    const char *name;
    json_t *value;
    const cadre_run_config *config = start->config;
    json_t *inputs = cdr_team_inputs(start->team, config->inputs, err);
    if (inputs == NULL)
        return err->status;
    json_t *given = json_object();
    json_object_foreach(cdr_json_iterable(config->inputs), name, value)
    {
        json_object_set(given, name, json_object_get(inputs, name));
    }
    json_t *content = json_pack("[s, s, o]", start->team->name,
                                config->input == NULL ? "" : config->input, given);
    json_decref(inputs);
    if (!add_files(content, config, err)) {
        json_decref(content);
        return err->status;
    }
    if (content == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
    snprintf(hash, CDR_DIGEST_SIZE, "%016llx",
             (unsigned long long)cdr_digest_json(content));
    json_decref(content);
    return CADRE_OK;
}

typedef struct finder {
    const char *request_id;
    char hash[CDR_DIGEST_SIZE];
    cadre_id trace; // none: it is not known
} finder;

static cadre_status look_at(void *ctx, const cadre_message_row *row, cadre_error *err)
{
    finder *f = ctx;
    (void)err;
    if (row->message.position < 0 || strcmp(row->request_id, f->request_id) != 0)
        return CADRE_OK;
    snprintf(f->hash, sizeof f->hash, "%s", row->request_hash);
    f->trace = row->trace;
    return CADRE_OK;
}

static cadre_status find(const cdr_start *start, finder *f, cadre_error *err)
{
    cadre_runtime *runtime = start->team->runtime;
    const cadre_query query = {.kind = CADRE_QUERY_SESSION,
                               .session = start->config->session};
    const cadre_store_reader reader = {.message = look_at, .ctx = f};
    *f = (finder){.request_id = start->config->request_id};
    return runtime->store_ops->read(runtime->store, &query, &reader, err);
}

// --- A run that has ended ---

static const char *keep(cdr_tree *tree, const char *text)
{
    return cdr_arena_text(&tree->arena, text);
}

// The listing may be read anew while the result is looked at: it has its own texts.
static cadre_status fill_result(cadre_run *run, const cdr_started *started,
                                cadre_error *err)
{
    cdr_tree *tree = run->tree;
    const cadre_frame_info *root = run->listing.frames;
    const char *speaker = cdr_run_listing_speaker(&run->listing);
    cadre_result *result = &run->result;
    *result = (cadre_result){
        .status = root->status,
        .stop_reason = root->stop_reason,
        .trace_id = tree->trace_text,
        .agent = speaker == NULL ? NULL : keep(tree, speaker),
        .text = keep(tree, root->output),
        .usage = root->usage,
        .duration_ms = root->duration_ms,
        .stop_ms = -1,
        .offline = json_is_true(json_object_get(started->options, "offline")),
    };
    result->error = (cadre_error_info){
        root->error.error_class, root->error.retryable, keep(tree, root->error.message),
        keep(tree, root->error.agent), keep(tree, root->error.frame_id)};
    return result->agent == NULL || result->text == NULL ||
                   result->error.message == NULL || result->error.agent == NULL ||
                   result->error.frame_id == NULL
               ? cadre_fail(err, CADRE_ENOMEM, "no memory for the record of a run")
               : CADRE_OK;
}

static void show(cadre_run *run, cadre_event *event)
{
    const cadre_frame_info *root = run->listing.frames;
    event->frame_id = root->id;
    event->agent = root->name;
    event->is_main = true;
    cdr_queue_push_take(&run->tree->queue, cdr_event_new(event, NULL));
}

static void show_record(cadre_run *run)
{
    cadre_event start = {.type = CADRE_EVENT_STREAM_START};
    cadre_event end = cdr_run_end_event(run);
    start.u.stream_start.trace_id = run->tree->trace_text;
    start.u.stream_start.team = run->tree->team->name;
    start.u.stream_start.offline = run->result.offline;
    show(run, &start);
    show(run, &end);
    cdr_queue_close(&run->tree->queue);
}

static cadre_status open_record(const cdr_start *start, cadre_id trace,
                                const cdr_started *started, cadre_run **out,
                                cadre_error *err)
{
    cadre_run *run = cdr_start_run_take(start->team, start->config, json_object(), err);
    if (run == NULL)
        return err->status;
    cdr_tree *tree = run->tree;
    run->is_record = true;
    tree->trace = trace;
    cadre_id_text(trace, tree->trace_text);
    cadre_status status =
        cdr_run_listing_read(&run->listing, tree->runtime, trace, err);
    if (status == CADRE_OK && run->listing.n_frames == 0)
        status =
            cadre_fail(err, CADRE_ENOTFOUND, "run %s has no frames", tree->trace_text);
    if (status == CADRE_OK)
        status = fill_result(run, started, err);
    if (status != CADRE_OK) {
        cdr_run_destroy(run);
        return status;
    }
    show_record(run);
    *out = run;
    return CADRE_OK;
}

// --- Starting ---

static cadre_status fail_gone(const cdr_start *start, const char *trace,
                              cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    cadre_error_clear(err);
    return cadre_fail(err, CADRE_ENOTFOUND,
                      "request %s was made by run %s, of which this store keeps no "
                      "record any more",
                      cdr_brief_text(brief, start->config->request_id, '\''), trace);
}

// It may have come to its end since it was looked at.
static cadre_status go_on(const cdr_start *start, cadre_id trace, cadre_run **out,
                          cadre_error *err)
{
    cdr_started now = {.is_there = false};
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = cdr_run_resume(start->team, trace, start->config, out, &why);
    if (status == CADRE_EINVAL &&
        cdr_started_read(&now, start->team->runtime, trace, NULL) == CADRE_OK &&
        now.has_ended)
        status = open_record(start, trace, &now, out, err);
    else if (status != CADRE_OK)
        cdr_start_fail(err, status, &why);
    cdr_started_fini(&now);
    return status;
}

// A known request: its run answers again, or goes on.
static cadre_status use_run(const cdr_start *start, const finder *f, cadre_run **out,
                            cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_started started;
    cadre_status status =
        cdr_started_read(&started, start->team->runtime, f->trace, err);
    if (status == CADRE_ENOTFOUND)
        status = fail_gone(start, started.trace, err);
    else if (status == CADRE_OK && strcmp(f->hash, start->request_hash) != 0)
        status = cadre_fail(
            err, CADRE_EINVAL,
            "request %s was made with another team or input by run %s; a new "
            "request needs a new id",
            cdr_brief_text(brief, start->config->request_id, '\''), started.trace);
    else if (status == CADRE_OK && started.has_ended)
        status = open_record(start, f->trace, &started, out, err);
    else if (status == CADRE_OK)
        status = go_on(start, f->trace, out, err);
    cdr_started_fini(&started);
    return status;
}

// Looks for the request and starts it when it is not known. Somebody may do the same at
// the same time, or the run that is found may end meanwhile: then another look tells.
static cadre_status find_or_start(const cdr_start *start, cadre_run **out,
                                  cadre_error *err)
{
    finder f;
    cadre_status status = CADRE_EBUSY;
    for (int i = 0; i < MAX_LOOKS && status == CADRE_EBUSY; i++) {
        cadre_error_clear(err);
        status = find(start, &f, err);
        if (status != CADRE_OK)
            break;
        bool is_known = !cadre_id_is_none(f.trace);
        status =
            is_known ? use_run(start, &f, out, err) : cdr_run_start(start, out, err);
        if (is_known && status == CADRE_EBUSY)
            break;
    }
    return status;
}

cadre_status cdr_request_start(const cdr_start *given, cadre_run **out,
                               cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    char hash[CDR_DIGEST_SIZE];
    cadre_run_config config = *given->config;
    cdr_start start = *given;
    start.config = &config;
    start.request_hash = hash;
    cadre_status status = cdr_start_check(start.team, &config, &why);
    if (status == CADRE_OK)
        status = hash_content(&start, hash, &why);
    if (config.session == NULL)
        config.session = config.request_id;
    if (status == CADRE_OK)
        status = find_or_start(&start, out, &why);
    why.retryable |= status == CADRE_EBUSY;
    return status == CADRE_OK ? CADRE_OK : cdr_start_fail(err, status, &why);
}
