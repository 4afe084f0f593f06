#include "support/hook_lives.h"

#include <stdio.h>
#include <stdlib.h>

static json_t *do_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    atomic_fetch_add(&lives_count()->steps, 1);
    return json_string("stepped");
}

cadre_status hook_lives_step(cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_step(frame, CADRE_STEP(.name = "note", .run = do_step), NULL,
                            err);
}

cadre_status hook_lives_after_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                                   cadre_error *err)
{
    (void)ctx;
    cadre_status status = hook_lives_step(frame, err);
    if (status != CADRE_OK)
        return status;
    const char *what = json_string_value(json_object_get(call->arguments, "what"));
    return cadre_tool_hook_set_result(
        call,
        cadre_frame_printf(frame, "%s of %s", call->result, what == NULL ? "?" : what),
        err);
}

static cadre_status charge(void *ctx, cadre_frame *frame, const json_t *arguments,
                           cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->unsafe_ones, 1);
    return cadre_frame_set_output(frame, "charged", err);
}

cadre_team *hook_lives_team(cadre_runtime *runtime, const test_folder *folder,
                            const char *script)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "hooked");
    cadre_team_set_script(team, path);
    return team;
}

static const char charge_script[] = "agents:\n"
                                    "  clerk:\n"
                                    "    - {tool_calls: [{name: charge}]}\n"
                                    "    - {text: Done.}\n";

cadre_team *hook_lives_clerk(cadre_runtime *runtime, const test_folder *folder,
                             const cadre_hooks *hooks)
{
    cadre_team *team = hook_lives_team(runtime, folder, charge_script);
    cadre_team_add_llm(team, CADRE_LLM(.name = "clerk", .model = "openai/m",
                                       .tools = CADRE_NAMES("charge"), .hooks = hooks));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "charge", .run = charge));
    return team;
}

const cadre_run_config *hook_lives_request(void)
{
    static const cadre_run_config it = {.struct_size = sizeof it, .input = "hi"};
    return &it;
}

// What an undisturbed run leaves, and how it ends.
typedef struct undisturbed {
    lives_team make;
    const char *type;
    char *recorded;
    cadre_status status;
    char said[520]; // the answer, or why it failed
    int n_commits, n_requests, n_safe, n_steps;
} undisturbed;

static char *unplaced(lives *l)
{
    char *placed = lives_recorded(l);
    char *text = recorded_unplaced(placed);
    free(placed);
    return text;
}

const char *hook_lives_said(const lives *l)
{
    return l->status == CADRE_OK ? l->answer : l->err.text;
}

static bool run_undisturbed(undisturbed *u)
{
    lives l;
    if (!lives_open(&l, u->type, u->make))
        return false;
    lives_start(&l, hook_lives_request(), (store_cut){0});
    u->recorded = unplaced(&l);
    u->status = l.status;
    snprintf(u->said, sizeof u->said, "%s", hook_lives_said(&l));
    u->n_commits = l.n_commits;
    u->n_requests = atomic_load(&lives_count()->requests);
    u->n_safe = atomic_load(&lives_count()->safe);
    u->n_steps = atomic_load(&lives_count()->steps);
    lives_close(&l);
    return CHECK(u->n_commits > 1);
}

static void check_between(int n, int least, int n_more)
{
    CHECK(n >= least);
    CHECK(n <= least + n_more);
}

// Cuts at one commit, and when `again` is not 0, a second time at that commit of the
// life that goes on. False: that was beyond its end.
static bool check_cut(const undisturbed *u, int n, int again, bool is_after)
{
    lives l;
    if (!lives_open(&l, u->type, u->make))
        return false;
    lives_start(&l, hook_lives_request(), (store_cut){.at = n, .is_after = is_after});
    bool goes_on = lives_resume(&l, (store_cut){.at = again, .is_after = is_after});
    bool is_cut_again = goes_on && l.was_cut;
    if (is_cut_again)
        goes_on = lives_resume(&l, (store_cut){0});
    if (goes_on) {
        CHECK_STATUS(l.status, u->status, &l.err);
        CHECK_TEXT(hook_lives_said(&l), u->said);
    }
    if (n > 1 || is_after) { // else nothing was recorded
        int n_cuts = 1 + is_cut_again;
        char *got = unplaced(&l);
        CHECK_TEXT(got, u->recorded);
        free(got);
        // One request at a time is under way, and two calls of tools.
        check_between(atomic_load(&lives_count()->requests), u->n_requests, n_cuts);
        check_between(atomic_load(&lives_count()->safe), u->n_safe, 2 * n_cuts);
        check_between(atomic_load(&lives_count()->steps), u->n_steps, 2 * n_cuts);
    }
    lives_close(&l);
    return is_cut_again;
}

void hook_lives_matrix(lives_team make, const char *type, int pairs)
{
    undisturbed u = {.make = make, .type = type};
    if (!run_undisturbed(&u))
        return;
    for (int n = 1; n <= u.n_commits; n++)
        for (int after = 0; after < 2; after++) {
            check_cut(&u, n, 0, after != 0);
            if (pairs == 0 || n % (pairs * LIVES_STEP) != 0)
                continue;
            int again = 1;
            while (again <= LIVES_MAX_AGAIN && check_cut(&u, n, again, after != 0))
                again++;
            CHECK(again < HOOK_LIVES_MAX_COMMITS);
        }
    free(u.recorded);
}
