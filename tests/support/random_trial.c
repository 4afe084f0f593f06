// See random_trial.h.
#include "support/random_trial.h"

#include "support/check.h"
#include "support/faulty_disk.h"
#include "support/kept_views.h"
#include "support/mortal_store.h"
#include "support/random_trouble.h"
#include "support/random_work.h"
#include "support/recorded.h"
#include "support/recorder.h"
#include "support/run_rows.h"
#include "support/run_rules.h"

#include "cadre/trace.h"
#include "team/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LIVES = 40,
    RUN_MS = 400
};

static const random_team *current; // for has_winner

// --- Opening ---

static void never_flush(void)
{
    static bool is_done;
    if (!is_done)
        CHECK(faulty_disk_start());
    is_done = true;
}

static bool open_trial(random_trial *t, random_team *plan, random_trouble trouble,
                       const char *script)
{
    cadre_error err = CADRE_ERROR_INIT;
    char url[FOLDER_PATH_SIZE + 16] = "memory";
    *t = (random_trial){.plan = plan, .trouble = trouble, .is_replay = script != NULL};
    t->dice = dice_of(plan->seed, "trouble");
    t->is_file = dice_percent(&t->dice, 12);
    current = plan;
    if (t->is_file) {
        never_flush();
        if (!CHECK(folder_make(&t->folder)))
            return false;
        snprintf(url, sizeof url, "sqlite:%s/runs.db", t->folder.path);
    }
    if (!CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = url, .script = script),
                                     &t->runtime, &err),
                  &err))
        abort();
    mortal_store_wrap(t->runtime);
    random_work_open(plan, t->runtime);
    t->team = random_work_build(plan, t->runtime);
    return t->team != NULL;
}

bool random_trial_open(random_trial *t, random_team *plan, random_trouble trouble)
{
    return open_trial(t, plan, trouble, NULL);
}

bool random_trial_open_replay(random_trial *t, random_team *plan, const char *script)
{
    return open_trial(t, plan, RANDOM_UNDISTURBED, script);
}

void random_trial_close(random_trial *t)
{
    cadre_team_free(t->team);
    cadre_runtime_close(t->runtime);
    kept_views_close();
    random_work_close();
    if (t->is_file)
        folder_remove(&t->folder);
}

// --- What must hold ---

static bool is_counted(const char *tool, bool *is_safe)
{
    static const char *const unsafe_ones[] = {"charge", "pay", "late"};
    static const char *const safe_ones[] = {"look", "slow", "note"};
    *is_safe = false;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(tool, unsafe_ones[i]) == 0)
            return true;
    *is_safe = true;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(tool, safe_ones[i]) == 0)
            return true;
    return false;
}

static bool is_never_counted(const char *tool, bool *is_safe)
{
    (void)tool;
    *is_safe = true;
    return false;
}

static bool has_winner(const char *agent)
{
    int at = random_team_find(current, agent);
    const char *options = at < 0 ? NULL : current->agents[at].options;
    return options != NULL && (strstr(options, "\"wait\": \"any\"") != NULL ||
                               strstr(options, "\"wait\": \"race\"") != NULL);
}

static bool is_limit(const cadre_frame_row *row)
{
    return row->error_class == CADRE_CLASS_LIMIT && strstr(row->error, "the run's ");
}

static void check_record(random_trial *t, bool is_parked)
{
    run_rows rows;
    const run_rules rules = {.is_parked = is_parked,
                             .may_be_cut = t->cuts,
                             .has_quiet = t->plan->has_quiet,
                             .has_hooks = t->plan->has_hooks,
                             .count = random_work_count,
                             .is_counted = t->is_replay ? is_never_counted : is_counted,
                             .has_winner = has_winner};
    run_rows_read(&rows, t->runtime, t->trace);
    CHECK(rows.is_there && rows.n_frames > 0);
    if (is_parked)
        CHECK_TEXT(rows.trace.lease_owner, "");
    run_rules_check(&rows, t->trace, &rules);
    for (size_t i = 0; i < rows.n_frames; i++)
        t->is_limited = t->is_limited || is_limit(&rows.frames[i].row);
    run_rows_fini(&rows);
}

// What the run says of its end is what is recorded of its root.
static void check_result(random_trial *t, const cadre_result *result)
{
    run_rows rows;
    bool is_lost = t->status == CADRE_ESTORE || t->status == CADRE_ELOST;
    if (is_lost || t->status == CADRE_EPARKED)
        return;
    run_rows_read(&rows, t->runtime, t->trace);
    if (CHECK(rows.n_frames > 0)) {
        const cadre_frame_row *root = &rows.frames[0].row;
        CHECK_INT(result->status, root->status);
        CHECK_INT(result->stop_reason, root->stop_reason);
        CHECK_INT(result->usage.model_calls, root->usage.model_calls);
        CHECK_INT(result->usage.output_tokens, root->usage.output_tokens);
        CHECK((t->status == CADRE_OK) == (root->status == CADRE_FRAME_COMPLETED));
        CHECK((t->status == CADRE_ETIMEOUT) == (root->status == CADRE_FRAME_TIMEOUT));
        CHECK((t->status == CADRE_EABORTED) == (root->status == CADRE_FRAME_ABORTED));
    }
    run_rows_fini(&rows);
}

// --- A life ---

static void read_all(recorder *told, cadre_run *run)
{
    const cadre_event *event = NULL;
    while (cadre_run_next(run, &event, NULL) == CADRE_OK)
        recorder_add(told, event);
}

// Some of the events, then nobody wants to know any more.
static void leave(random_trial *t, cadre_run *run)
{
    const cadre_event *event = NULL;
    int n = dice_throw(&t->dice, 30);
    while (n-- > 0 && cadre_run_next(run, &event, NULL) == CADRE_OK)
        continue;
    t->was_freed = dice_percent(&t->dice, 50);
}

static void finish(random_trial *t, cadre_run *run, bool reads)
{
    const cadre_result *result = NULL;
    recorder told = {.events = NULL};
    snprintf(t->trace, sizeof t->trace, "%s", cadre_run_trace_id(run));
    random_trouble_begin(t, run);
    if (reads)
        read_all(&told, run);
    else if (t->trouble == RANDOM_ALL && dice_percent(&t->dice, 8))
        leave(t, run);
    if (!t->was_freed)
        t->status = cadre_run_wait(run, &result, &t->err);
    random_trouble_end();
    if (reads)
        recorder_check(&told);
    if (!t->was_freed)
        check_result(t, result);
    cadre_run_free(run);
    recorder_fini(&told);
    // What works in the background is of this life too.
    CHECK_OK(cadre_runtime_wait(t->runtime, 20000, NULL), NULL);
}

// `config` NULL: it goes on. False: there is nothing to go on with, or left to do.
static bool live(random_trial *t, const cadre_run_config *config)
{
    cadre_run *run = NULL;
    bool cuts = t->trouble != RANDOM_UNDISTURBED && t->n_cuts < t->max_cuts &&
                dice_percent(&t->dice, 60);
    cadre_error_clear(&t->err);
    t->n_lives++;
    t->was_freed = false;
    t->cuts = cuts;
    random_trouble_plan(t, cuts);
    if (config != NULL)
        t->status = cadre_run_start(t->team, config, &run, &t->err);
    else
        t->status = cadre_run_resume(t->team, t->trace, NULL, &run, &t->err);
    if (t->status == CADRE_OK)
        finish(t, run, !cuts && dice_percent(&t->dice, 50));
    bool was_cut = t->status == CADRE_ESTORE;
    t->n_cuts += was_cut;
    CHECK(!was_cut || cuts);
    mortal_store_cut((store_cut){0});
    return run != NULL;
}

// --- People ---

static json_t *draw_answer(const random_trial *t, run_rows *rows, int at)
{
    dice d = dice_of(t->plan->seed, run_rows_path(rows, at));
    json_t *question = json_loads(rows->frames[at].row.input, JSON_DECODE_ANY, NULL);
    const json_t *choices = json_object_get(question, "choices");
    size_t n = json_array_size(choices);
    json_t *answer = NULL;
    if (n > 0)
        answer = json_incref(json_array_get(choices, (size_t)dice_throw(&d, (int)n)));
    else
        answer = json_string(dice_percent(&d, 50) ? "that one" : "again");
    json_decref(question);
    return answer;
}

void random_trial_answer(random_trial *t, bool all, dice *d)
{
    run_rows rows;
    int n_answered = 0;
    run_rows_read(&rows, t->runtime, t->trace);
    for (int i = 0; i < (int)rows.n_frames; i++) {
        const cadre_frame_row *row = &rows.frames[i].row;
        cadre_error err = CADRE_ERROR_INIT;
        if (strcmp(row->kind, "ask") != 0 || row->status != CADRE_FRAME_WAITING ||
            row->mark[0] != '\0' || (!all && n_answered > 0 && dice_percent(d, 40)))
            continue;
        json_t *answer = draw_answer(t, &rows, i);
        cadre_status status =
            cadre_trace_answer(t->runtime, t->trace, rows.frames[i].id, answer, &err);
        if (all)
            CHECK_OK(status, &err);
        n_answered += status == CADRE_OK;
        json_decref(answer);
    }
    run_rows_fini(&rows);
}

// --- From its start to its end ---

static void stop_unheld(random_trial *t)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cadre_trace_abort(
        t->runtime, t->trace, CADRE_ABORT(.reason = "nobody wants it"), &err);
    if (status != CADRE_ENOTFOUND && status != CADRE_EINVAL)
        CHECK_OK(status, &err);
}

// What is left to do of a run, once nobody holds it.
typedef enum rest {
    REST_ENDED,
    REST_WAITS, // for a person
    REST_WAS_CUT
} rest;

static rest look_at_rest(random_trial *t)
{
    run_rows rows;
    rest is = REST_WAS_CUT;
    run_rows_read(&rows, t->runtime, t->trace);
    if (!rows.is_there || rows.n_frames == 0 ||
        rows.frames[0].row.status >= CADRE_FRAME_COMPLETED)
        is = REST_ENDED;
    else if (rows.frames[0].row.status == CADRE_FRAME_WAITING)
        is = REST_WAITS;
    run_rows_fini(&rows);
    return is;
}

// A run that waits, or was cut: what is done before it goes on.
static void between_lives(random_trial *t, rest is)
{
    bool is_wild = t->trouble == RANDOM_ALL;
    if (is == REST_WAITS && t->status == CADRE_EPARKED)
        check_record(t, true);
    if (is_wild && dice_percent(&t->dice, 6))
        stop_unheld(t);
    else if (is == REST_WAITS)
        random_trial_answer(t, !is_wild || dice_percent(&t->dice, 50), &t->dice);
    else if (is_wild && dice_percent(&t->dice, 20))
        cadre_trace_send(t->runtime, t->trace, "And this.", NULL, NULL);
}

// Goes on with one run until it has ended. False: the test has failed.
static bool bring_to_end(random_trial *t)
{
    for (rest is = look_at_rest(t); is != REST_ENDED; is = look_at_rest(t)) {
        if (!CHECK(t->n_lives < MAX_LIVES))
            return false;
        between_lives(t, is);
        if (look_at_rest(t) == REST_ENDED)
            break;
        if (!live(t, NULL) && !CHECK_OK(t->status, &t->err))
            return false;
    }
    run_rows rows;
    run_rows_read(&rows, t->runtime, t->trace);
    bool is_there = rows.is_there;
    run_rows_fini(&rows);
    if (is_there) // else it was cut before its first commit
        check_record(t, false);
    return true;
}

typedef struct trace_list {
    char ids[MAX_LIVES][64];
    int n;
} trace_list;

static cadre_status take_spawned(void *ctx, const cadre_record_info *info,
                                 cadre_error *err)
{
    trace_list *list = ctx;
    (void)err;
    if (info->spawned_by[0] != '\0' && list->n < MAX_LIVES)
        snprintf(list->ids[list->n++], sizeof list->ids[0], "%s", info->trace_id);
    return CADRE_OK;
}

// Runs in the background, which others of them may have started meanwhile.
static void bring_others_to_end(random_trial *t)
{
    int n_before = -1;
    trace_list list = {.n = 0};
    while (list.n != n_before) {
        n_before = list.n;
        list.n = 0;
        CHECK_OK(cadre_record_list(t->runtime, 0, take_spawned, &list, NULL), NULL);
        for (int i = 0; i < list.n; i++) {
            memcpy(t->trace, list.ids[i], sizeof t->trace);
            t->n_lives = 0;
            t->status = CADRE_OK;
            if (!bring_to_end(t))
                return;
        }
    }
}

void random_trial_run(random_trial *t, const char *session)
{
    bool is_wild = !t->plan->is_calm;
    const cadre_run_config config = {
        .struct_size = sizeof config,
        .input = "Go.",
        .session = session,
        .timeout_ms = is_wild ? RUN_MS : 0,
        .limits = {.max_model_calls = is_wild ? 60 : 300,
                   .max_tool_calls = is_wild ? 80 : 300,
                   .max_depth =
                       is_wild && dice_percent(&t->dice, 15) ? 2 + t->n_lives % 3 : 0}};
    t->trace[0] = '\0';
    t->n_lives = t->n_cuts = 0;
    t->max_cuts = is_wild ? dice_throw(&t->dice, 6) : 2;
    t->is_limited = false;
    if (!live(t, &config)) { // only in a session the first commit is made at once
        if (session == NULL || t->n_cuts == 0)
            CHECK_OK(t->status, &t->err);
        return;
    }
    if (bring_to_end(t) && is_wild)
        bring_others_to_end(t);
}

char *random_trial_text(const random_trial *t)
{
    char *text = recorded_text(t->runtime, t->trace);
    char *unplaced = recorded_unplaced(text);
    free(text);
    return unplaced;
}

void random_trial_print(random_trial *t)
{
    run_rows rows;
    char *text = random_team_text(t->plan);
    printf("\n  %s", text);
    free(text);
    fflush(stdout);
    if (t->trace[0] == '\0')
        return;
    run_rows_read(&rows, t->runtime, t->trace);
    run_rows_print(&rows);
    run_rows_fini(&rows);
}
