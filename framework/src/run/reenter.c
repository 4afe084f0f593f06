// Entering again: a run, and lives that go on from parts of its journal. See
// cadre/reenter.h.
//
// Each life has a runtime of its own, with a memory store, in place of the team's. A
// witness there sees which frames of the record are asked for again and with what.
#include "cadre/reenter.h"

#include "run/arguments.h"
#include "run/journal.h"
#include "run/picture.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- A life ---

typedef struct life {
    cadre_team *team;
    cadre_runtime *runtime; // its own
    cadre_runtime *home;    // the team's
    cadre_run *run;
    cdr_picture picture;
} life;

static cadre_status life_open(life *l, cadre_team *team, cadre_error *err)
{
    cadre_runtime *home = team->runtime;
    *l = (life){.team = team, .home = home};
    cadre_status status = cadre_runtime_open(
        CADRE_RUNTIME(.store = "memory", .offline = home->offline), &l->runtime, err);
    if (status != CADRE_OK)
        return status;
    l->runtime->clock = home->clock;
    team->runtime = l->runtime;
    return CADRE_OK;
}

static void life_close(life *l)
{
    cadre_run_free(l->run);
    cdr_background_stop(&l->runtime->background, l->team);
    cdr_picture_fini(&l->picture);
    l->team->runtime = l->home;
    cadre_runtime_close(l->runtime);
}

// Waits for the end. A run that lost its store tells nothing.
static cadre_status life_end(life *l, const cadre_result **result, cadre_error *failure)
{
    cadre_status status = cadre_run_wait(l->run, result, failure);
    cadre_runtime_wait(l->runtime, 0, NULL); // what it spawned has the same runtime
    if (status == CADRE_ESTORE || status == CADRE_ENOMEM)
        return status;
    return cdr_picture_read(&l->picture, l->runtime, cadre_run_trace_id(l->run),
                            failure);
}

// --- The first one ---

typedef struct again {
    const cadre_reenter_config *config;
    cadre_run_config run;
    cadre_reenter_result result;
    cadre_team *team;
    char trace[CADRE_ID_TEXT_SIZE];
    cdr_journal journal;
    cdr_picture first;
} again;

static cadre_status keep_first(again *a, life *l, const cadre_result *result,
                               const cadre_error *failure, cadre_error *err)
{
    snprintf(a->trace, sizeof a->trace, "%s", cadre_run_trace_id(l->run));
    a->first = l->picture;
    l->picture = (cdr_picture){.record = NULL};
    cdr_picture_note_losers(&a->first, NULL, NULL);
    a->result.n_frames = a->first.n_frames;
    a->result.n_messages = a->first.n_messages;
    a->result.status = result->status;
    a->result.error = *failure;
    if (a->journal.failed)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to keep what a run commits");
    return CADRE_OK;
}

static cadre_status make_first(again *a, cadre_error *err)
{
    life l;
    cadre_error failure = CADRE_ERROR_INIT;
    const cadre_result *result = NULL;
    cadre_status status = life_open(&l, a->team, err);
    if (status != CADRE_OK)
        return status;
    cdr_journal_put(&a->journal, l.runtime);
    status = cadre_run_start(a->team, &a->run, &l.run, err);
    if (status == CADRE_OK) {
        status = life_end(&l, &result, &failure);
        if (status != CADRE_OK)
            cadre_fail(err, status, "%s", failure.text);
    }
    if (status == CADRE_OK)
        status = keep_first(a, &l, result, &failure, err);
    cadre_run_free(l.run);
    l.run = NULL;
    cdr_journal_take_away(&a->journal, l.runtime);
    life_close(&l);
    return status;
}

// --- Telling ---

typedef struct teller {
    again *again;
    const cdr_cut *cut;
} teller;

static void tell(void *ctx, const cadre_difference *difference)
{
    const teller *t = ctx;
    const cadre_reenter_config *config = t->again->config;
    cadre_difference told = *difference;
    if (t->cut->kind == CDR_CUT_AFTER)
        told.commit = (int)t->cut->n_batches;
    t->again->result.n_differences++;
    if (config->on_difference != NULL)
        config->on_difference(config->ctx, &told);
}

static void tell_of(teller *t, size_t frame, cadre_difference difference)
{
    cdr_arena arena = CDR_ARENA_INIT;
    const cdr_picture *first = &t->again->first;
    difference.path = cdr_picture_path(first, (int)frame, &arena);
    difference.key = first->frames[frame].key;
    tell(t, &difference);
    cdr_arena_fini(&arena);
}

// --- The witness ---

typedef struct found {
    const char *input; // with which it was asked for; NULL: as is recorded
} found;

// What was asked for again. Guarded by the lock of the tree while a life lasts.
typedef struct finds {
    cdr_id_table by_id; // of `found`
    cdr_arena arena;
    bool failed;
} finds;

// Only the first time counts: a key that is given by name may be asked for often.
static void note_found(void *ctx, const cadre_frame *frame, const char *input)
{
    finds *f = ctx;
    if (cdr_id_table_get(&f->by_id, frame->id) != NULL)
        return;
    bool has_input = frame->kind == CDR_FRAME_AGENT || frame->kind == CDR_FRAME_ASK;
    bool differs = has_input && strcmp(cdr_text_bytes(frame->input), input) != 0;
    found *it = cdr_arena_alloc(&f->arena, sizeof *it);
    if (it != NULL && differs)
        it->input = cdr_arena_text(&f->arena, input);
    if (it == NULL || (differs && it->input == NULL) ||
        !cdr_id_table_put(&f->by_id, frame->id, it))
        f->failed = true;
}

// Was the `run` of this frame executed from the record, so that all that it had called
// must have been asked for?
static bool has_run_again(const again *a, const cdr_cut *cut, const finds *f,
                          size_t frame)
{
    const cadre_frame_info *info = &a->first.frames[frame];
    cadre_id id = a->first.ids[frame];
    return strcmp(info->kind, "agent") == 0 && info->abort_reason[0] == '\0' &&
           cdr_journal_is_open(&a->journal, cut, id) &&
           (info->parent < 0 || cdr_id_table_get(&f->by_id, id) != NULL);
}

typedef struct looker {
    const again *again;
    const cdr_cut *cut;
    const finds *finds;
} looker;

// Is it of the record, and nobody asked for it?
static bool was_left(void *ctx, cadre_id frame)
{
    const looker *l = ctx;
    return cdr_journal_has(&l->again->journal, l->cut, frame) &&
           cdr_id_table_get(&l->finds->by_id, frame) == NULL;
}

// Fills `must_ask` by frame. What handed over is not run again.
static bool *list_run_again(const again *a, const cdr_cut *cut, const finds *f)
{
    const cdr_picture *first = &a->first;
    bool *must_ask = calloc(first->n_frames + 1, sizeof *must_ask);
    for (size_t i = 0; must_ask != NULL && i < first->n_frames; i++) {
        const cadre_frame_info *info = &first->frames[i];
        must_ask[i] = has_run_again(a, cut, f, i);
        if (info->parent >= 0 && strcmp(info->key, "transfer") == 0 &&
            cdr_journal_has(&a->journal, cut, first->ids[i]))
            must_ask[info->parent] = false;
    }
    return must_ask;
}

// Tells of what was asked for with another input, or not at all. False: no memory.
static bool tell_finds(teller *t, const finds *f, const cdr_picture *now)
{
    const again *a = t->again;
    bool *must_ask = list_run_again(a, t->cut, f);
    if (must_ask == NULL || f->failed) {
        free(must_ask);
        return false;
    }
    for (size_t i = 0; i < a->first.n_frames; i++) {
        const cadre_frame_info *info = &a->first.frames[i];
        const found *it = cdr_id_table_get(&f->by_id, a->first.ids[i]);
        if (!cdr_journal_has(&a->journal, t->cut, a->first.ids[i]))
            continue;
        if (it != NULL && it->input != NULL)
            tell_of(t, i,
                    (cadre_difference){
                        .field = "input", .first = info->input, .again = it->input});
        if (it == NULL && info->parent >= 0 && must_ask[info->parent] &&
            !cdr_picture_has_lost(&a->first, i, now))
            tell_of(t, i,
                    (cadre_difference){
                        .field = "asked for", .first = info->kind, .again = NULL});
    }
    free(must_ask);
    return true;
}

// --- Another life ---

static cadre_status resume(again *a, life *l, const cdr_cut *cut, cadre_error *err)
{
    cadre_error failure = CADRE_ERROR_INIT;
    cadre_status status = cdr_journal_replay(&a->journal, cut, l->runtime, err);
    if (status == CADRE_OK)
        status = cadre_run_resume(a->team, a->trace, &a->run, &l->run, err);
    if (status != CADRE_OK)
        return status;
    status = life_end(l, NULL, &failure);
    return status == CADRE_OK ? CADRE_OK : cadre_fail(err, status, "%s", failure.text);
}

static cadre_status enter_again(again *a, const cdr_cut *cut, cadre_error *err)
{
    life l;
    finds f = {.failed = false};
    teller t = {a, cut};
    const cdr_witness witness = {note_found, &f};
    const cdr_on_difference on = {tell, &t};
    cadre_status status = life_open(&l, a->team, err);
    if (status != CADRE_OK)
        return status;
    l.runtime->witness = &witness;
    status = resume(a, &l, cut, err);
    if (status == CADRE_OK)
        cdr_picture_note_losers(&l.picture, was_left, &(looker){a, cut, &f});
    if (status == CADRE_OK && (!tell_finds(&t, &f, &l.picture) ||
                               !cdr_picture_compare(&a->first, &l.picture, &on)))
        status = cadre_fail(err, CADRE_ENOMEM, "no memory to compare two runs");
    life_close(&l);
    cdr_id_table_fini(&f.by_id);
    cdr_arena_fini(&f.arena);
    return status;
}

static cadre_status enter_all(again *a, cadre_error *err)
{
    const cdr_cut root = {.kind = CDR_CUT_ROOT_OPEN};
    const cdr_cut agents = {.kind = CDR_CUT_AGENTS_OPEN};
    cadre_status status = enter_again(a, &root, err);
    // An impure root would be told twice.
    if (status == CADRE_OK && a->result.n_differences == 0)
        status = enter_again(a, &agents, err);
    for (size_t n = 1;
         status == CADRE_OK && a->config->every_commit && n < a->journal.n_batches;
         n++) {
        const cdr_cut cut = {CDR_CUT_AFTER, n};
        status = enter_again(a, &cut, err);
        a->result.n_commits++;
    }
    return status;
}

static cadre_status check_config(const cadre_reenter_config *config, cadre_error *err)
{
    if (config->struct_size < sizeof *config)
        return cadre_fail(err, CADRE_EINVAL,
                          "entering again needs a team and CADRE_REENTER(...)");
    if (config->run != NULL && config->run->struct_size < sizeof *config->run)
        return cadre_fail(err, CADRE_EINVAL, "a run needs a team and CADRE_RUN(...)");
    return CADRE_OK;
}

cadre_status cadre_reenter(cadre_team *team, const cadre_reenter_config *config,
                           cadre_reenter_result *out, cadre_error *err)
{
    if (team == NULL || config == NULL || out == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = check_config(config, err);
    if (status == CADRE_OK)
        status = cadre_team_seal(team, err); // types are those of its own runtime
    if (status != CADRE_OK)
        return status;
    again a = {.config = config, .team = team, .run = {.struct_size = sizeof a.run}};
    if (config->run != NULL)
        a.run = *config->run;
    a.run.no_events = true;
    status = make_first(&a, err);
    if (status == CADRE_OK)
        status = enter_all(&a, err);
    if (status == CADRE_OK)
        *out = a.result;
    cdr_picture_fini(&a.first);
    cdr_journal_fini(&a.journal);
    return status;
}
