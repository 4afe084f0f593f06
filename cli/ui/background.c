// See background.h.
#include "background.h"

#include "questions.h"
#include "record.h"
#include "report.h"
#include "spawned.h"

#include <stdio.h>

// One that has ended has its report to write still: that is no work worth a word.
#define REPORT_MS 100

void cli_background_init(cli_background *background, cadre_runtime *runtime,
                         const char *options, bool is_quiet)
{
    *background = (cli_background){.runtime = runtime,
                                   .options = options,
                                   .is_quiet = is_quiet,
                                   .spawners = json_object(),
                                   .told = json_object()};
}

void cli_background_fini(cli_background *background)
{
    json_decref(background->spawners);
    json_decref(background->told);
    *background = (cli_background){.runtime = NULL};
}

void cli_background_add(cli_background *background, const char *trace)
{
    json_object_set_new(background->spawners, trace, json_true());
}

static void tell_questions(const cli_background *it, const char *trace)
{
    cli_questions questions;

    if (!cli_questions_read(&questions, it->runtime, trace))
        return;
    cli_report_note("background run %s waits for an answer", trace);
    cli_questions_report(&questions, trace, it->options);
    if (!it->options)
        cli_report("nobody can answer: the store ends with this program");
    cli_questions_fini(&questions);
}

static void tell_failure(const cli_background *it, const cli_spawned_run *run)
{
    cadre_record *record = NULL;
    size_t n = 0;

    if (cadre_record_open(it->runtime, run->trace, &record, NULL) != CADRE_OK)
        return;
    const cadre_frame_info *root = cadre_record_frames(record, &n);
    cli_report("background run %s: %s: %s", run->trace, run->state,
               n > 0 ? root->error.message : "");
    cadre_record_close(record);
}

static void tell_once(const cli_background *it, const cli_spawned_run *run)
{
    char key[96];

    snprintf(key, sizeof(key), "%s %s", run->trace, run->state);
    if (json_object_get(it->told, key))
        return;
    json_object_set_new(it->told, key, json_true());
    if (run->status == CADRE_FRAME_WAITING)
        tell_questions(it, run->trace);
    // Who stops one knows it.
    else if (run->status == CADRE_FRAME_FAILED || run->status == CADRE_FRAME_TIMEOUT)
        tell_failure(it, run);
}

// False: nothing of it is left that could become worth telling.
static bool look(const cli_background *it, const char *trace)
{
    cli_spawned spawned;
    bool is_open = false;

    if (!cli_spawned_init_deep(&spawned, it->runtime, trace))
        return false;
    for (size_t i = 0; i < spawned.n; i++) {
        tell_once(it, &spawned.items[i]);
        is_open |= spawned.items[i].status < CADRE_FRAME_COMPLETED;
    }
    cli_spawned_fini(&spawned);
    return is_open;
}

void cli_background_tell(cli_background *background)
{
    const char *trace = NULL;
    json_t *value = NULL;
    void *next = NULL;

    json_object_foreach_safe(background->spawners, next, trace, value)
    {
        if (!look(background, trace))
            json_object_del(background->spawners, trace);
    }
}

void cli_background_wait(cli_background *background)
{
    cadre_runtime *runtime = background->runtime;

    if (cadre_runtime_wait(runtime, REPORT_MS, NULL) != CADRE_OK) {
        if (!background->is_quiet)
            cli_report_note("background runs are at work; this waits for them (Ctrl-C "
                            "leaves them to `cadre resume --all`)");
        cadre_runtime_wait(runtime, 0, NULL);
    }
    cli_background_tell(background);
}
