// See recall.h.
#include "recall.h"

#include "command.h"
#include "questions.h"
#include "record.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define TEAM_FILE "team_file"
#define SCRIPT "script"

static void add_path(json_t *metadata, const char *key, const char *path)
{
    char whole[PATH_MAX];

    if (path && realpath(path, whole))
        json_object_set_new(metadata, key, json_string(whole));
}

json_t *cli_recall_metadata(const char *team_path, const char *script)
{
    json_t *metadata = json_object();

    add_path(metadata, TEAM_FILE, team_path);
    add_path(metadata, SCRIPT, script);
    return metadata;
}

const char *cli_recall_team(const json_t *metadata)
{
    return json_string_value(json_object_get(metadata, TEAM_FILE));
}

const char *cli_recall_script(const json_t *metadata)
{
    return json_string_value(json_object_get(metadata, SCRIPT));
}

int cli_recall_check(const cadre_record_info *info, cadre_error *err)
{
    if (!cli_record_has_ended(info))
        return CLI_EXIT_OK;
    cadre_fail(err, CADRE_EINVAL,
               "run %s has ended (%s); `cadre show %s` tells what was said, and "
               "--session goes on with a conversation",
               info->trace_id, cadre_frame_status_name(info->status), info->trace_id);
    return CLI_EXIT_FAILED;
}

typedef struct cut_list {
    char **ids;
    size_t n;
} cut_list;

static cadre_status take_cut(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    cut_list *list = ctx;

    bool is_parked = info->status == CADRE_FRAME_WAITING && !info->is_held;
    if (!is_parked && strcmp(cli_record_status(info), "cut") != 0)
        return CADRE_OK;
    char **ids = realloc(list->ids, (list->n + 2) * sizeof(*ids));
    char *id = strdup(info->trace_id);
    if (ids)
        list->ids = ids;
    if (!ids || !id) {
        free(id);
        return cadre_fail(err, CADRE_ENOMEM, "out of memory");
    }
    ids[list->n++] = id;
    ids[list->n] = NULL;
    return CADRE_OK;
}

// Can it be gone on with? A run that was cut, and a parked one with an answer.
static cadre_status look(cadre_runtime *runtime, const char *trace, bool *is_ready,
                         cadre_error *err)
{
    cadre_record *record = NULL;
    cli_questions questions;
    cadre_status status = cadre_record_open(runtime, trace, &record, err);

    if (status != CADRE_OK)
        return status;
    *is_ready = cadre_record_get_info(record)->status != CADRE_FRAME_WAITING;
    if (!*is_ready && cli_questions_init_record(&questions, record)) {
        *is_ready = questions.n_open < questions.n;
        cli_questions_fini(&questions);
    }
    cadre_record_close(record);
    return CADRE_OK;
}

static cadre_status keep_ready(cadre_runtime *runtime, cut_list *list, cadre_error *err)
{
    size_t n_kept = 0;
    cadre_status status = CADRE_OK;

    for (size_t i = 0; i < list->n; i++) {
        bool is_ready = false;
        if (status == CADRE_OK)
            status = look(runtime, list->ids[i], &is_ready, err);
        if (is_ready)
            list->ids[n_kept++] = list->ids[i];
        else
            free(list->ids[i]);
    }
    list->n = n_kept;
    list->ids[n_kept] = NULL;
    return status;
}

// They come newest first.
static void turn_round(cut_list *list)
{
    for (size_t i = 0; i < list->n / 2; i++) {
        char *id = list->ids[i];
        list->ids[i] = list->ids[list->n - 1 - i];
        list->ids[list->n - 1 - i] = id;
    }
}

char **cli_recall_cut(cadre_runtime *runtime, cadre_error *err)
{
    cut_list list = {.ids = calloc(1, sizeof(char *))};

    if (!list.ids) {
        cadre_fail(err, CADRE_ENOMEM, "out of memory");
        return NULL;
    }
    cadre_status status = cadre_record_list(runtime, 0, take_cut, &list, err);
    if (status == CADRE_OK)
        status = keep_ready(runtime, &list, err);
    if (status != CADRE_OK) {
        cli_recall_free(list.ids);
        return NULL;
    }
    turn_round(&list);
    return list.ids;
}

void cli_recall_free(char **ids)
{
    for (size_t i = 0; ids && ids[i]; i++)
        free(ids[i]);
    free(ids);
}
