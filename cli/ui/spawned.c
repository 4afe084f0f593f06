// See spawned.h.
#include "spawned.h"

#include "record.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static cadre_status take_run(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    cli_spawned *it = ctx;
    cli_spawned_run *grown = realloc(it->items, (it->n + 1) * sizeof(*grown));

    if (!grown)
        return cadre_fail(err, CADRE_ENOMEM, "out of memory");
    it->items = grown;
    cli_spawned_run *run = &it->items[it->n++];
    *run = (cli_spawned_run){.trace = strdup(info->trace_id),
                             .by = strdup(info->spawned_by),
                             .status = info->status,
                             .state = cli_record_status(info)};
    return run->trace && run->by ? CADRE_OK
                                 : cadre_fail(err, CADRE_ENOMEM, "out of memory");
}

static bool list(cli_spawned *it, cadre_runtime *runtime, const char *trace)
{
    cadre_error err = CADRE_ERROR_INIT;

    if (cadre_record_list_spawned(runtime, trace, take_run, it, &err) == CADRE_OK)
        return true;
    cli_report("%s", err.text);
    cli_spawned_fini(it);
    return false;
}

bool cli_spawned_init(cli_spawned *spawned, cadre_runtime *runtime, const char *trace)
{
    *spawned = (cli_spawned){.items = NULL};
    return list(spawned, runtime, trace);
}

bool cli_spawned_init_deep(cli_spawned *spawned, cadre_runtime *runtime,
                           const char *trace)
{
    bool is_read = cli_spawned_init(spawned, runtime, trace);

    for (size_t i = 0; is_read && i < spawned->n; i++)
        is_read = list(spawned, runtime, spawned->items[i].trace);
    return is_read;
}

void cli_spawned_fini(cli_spawned *spawned)
{
    for (size_t i = 0; i < spawned->n; i++) {
        free(spawned->items[i].trace);
        free(spawned->items[i].by);
    }
    free(spawned->items);
    *spawned = (cli_spawned){.items = NULL};
}

json_t *cli_spawned_json(const cli_spawned *spawned)
{
    json_t *array = json_array();

    for (size_t i = 0; i < spawned->n; i++) {
        const cli_spawned_run *run = &spawned->items[i];
        json_t *object = json_object();
        json_object_set_new(object, "trace_id", cli_json_text(run->trace));
        json_object_set_new(object, "spawned_by", cli_json_text(run->by));
        json_object_set_new(object, "status", cli_json_text(run->state));
        json_array_append_new(array, object);
    }
    return array;
}
