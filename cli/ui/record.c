// See record.h.
#include "record.h"

#include "cost.h"
#include "report.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

// The newest that somebody has started: what a run spawned stands below that.
static cadre_status take_id(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    char **id = ctx;

    if (*info->spawned_by)
        return CADRE_OK;
    *id = strdup(info->trace_id);
    return *id ? CADRE_DONE : cadre_fail(err, CADRE_ENOMEM, "out of memory");
}

static cadre_status open_newest(cli_record *it, cadre_error *err)
{
    char *id = NULL;
    cadre_status status = cadre_record_list(it->runtime, 0, take_id, &id, err);

    if (id)
        status = cadre_record_open(it->runtime, id, &it->record, err);
    else if (status == CADRE_OK)
        status = cadre_fail(err, CADRE_ENOTFOUND, "there is no run in this store");
    free(id);
    return status;
}

int cli_record_open(cli_record *record, const cli_arguments *arguments,
                    const char *trace)
{
    cadre_error err = CADRE_ERROR_INIT;
    cli_store store;
    int exit_status = CLI_EXIT_FAILED;

    *record = (cli_record){0};
    if (cli_store_init(&store, arguments))
        exit_status = cli_store_open_existing(&store, &record->runtime);
    cli_store_fini(&store);
    if (exit_status != CLI_EXIT_OK)
        return exit_status;
    cadre_status status =
        trace ? cadre_record_open(record->runtime, trace, &record->record, &err)
              : open_newest(record, &err);
    if (status != CADRE_OK) {
        cli_report("%s", err.text);
        return status == CADRE_ENOTFOUND ? CLI_EXIT_STORE : cli_exit_of_error(&err);
    }
    record->info = cadre_record_get_info(record->record);
    record->frames.items = cadre_record_frames(record->record, &record->frames.count);
    return CLI_EXIT_OK;
}

void cli_record_close(cli_record *record)
{
    cadre_record_close(record->record);
    cadre_runtime_close(record->runtime);
}

bool cli_record_has_ended(const cadre_record_info *info)
{
    return info->status != CADRE_FRAME_PENDING && info->status != CADRE_FRAME_RUNNING &&
           info->status != CADRE_FRAME_WAITING;
}

const char *cli_record_status(const cadre_record_info *info)
{
    bool is_cut = info->status == CADRE_FRAME_RUNNING && !info->is_held;

    return is_cut ? "cut" : cadre_frame_status_name(info->status);
}

// A holder is "boot/pid namespace/time namespace/pid/start/host/run".
long cli_record_process(const cadre_record_info *info)
{
    const char *at = info->held_by;

    for (int i = 0; i < 3 && at; i++) {
        at = strchr(at, '/');
        at = at ? at + 1 : NULL;
    }
    return at ? strtol(at, NULL, 10) : 0;
}

json_t *cli_record_json(const cadre_record_info *info)
{
    json_t *object = json_object();

    json_object_set_new(object, "trace_id", cli_json_text(info->trace_id));
    json_object_set_new(object, "team", cli_json_text(info->team));
    json_object_set_new(object, "status", cli_json_text(cli_record_status(info)));
    json_object_set_new(object, "cost",
                        cli_record_has_ended(info)
                            ? cli_cost_json(info->cost_usd_micros, info->unpriced_calls)
                            : json_null());
    json_object_set_new(object, "session",
                        *info->session ? cli_json_text(info->session) : json_null());
    json_object_set_new(object, "spawned_by",
                        *info->spawned_by ? cli_json_text(info->spawned_by)
                                          : json_null());
    json_object_set_new(object, "held_by",
                        info->is_held ? cli_json_text(info->held_by) : json_null());
    json_object_set_new(object, "created_at", cli_json_time(info->created_at));
    json_object_set_new(object, "offline", json_boolean(info->offline));
    json_object_set_new(object, "inputs", json_deep_copy(info->inputs));
    json_object_set_new(object, "metadata",
                        info->metadata ? json_deep_copy(info->metadata) : json_null());
    return object;
}
