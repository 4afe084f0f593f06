// Hooks over cuts: a run whose hooks all do something is cut at each commit and goes on
// as if nothing had been; what they did happens at least once, what they were given is
// asked for once, and one that waits for a person goes on where it was.
#include "support/check.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "base/buf.h"
#include "cadre/cadre.h"
#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Hooks that do something ---

static json_t *do_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    atomic_fetch_add(&lives_count()->steps, 1);
    return json_string("stepped");
}

static cadre_status take_step(cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_step(frame, CADRE_STEP(.name = "note", .run = do_step), NULL,
                            err);
}

static const char *agent_name(const cadre_frame *frame)
{
    return cadre_agent_get_info(cadre_frame_agent(frame))->name;
}

static cadre_status hand_over(cadre_frame *frame, const char *to, cadre_error *err)
{
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, to), .input = "yours"), err);
}

// first -> second by create, before a model is asked.
static cadre_status create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = take_step(frame, err);
    if (status == CADRE_OK && strcmp(agent_name(frame), "first") == 0)
        status = hand_over(frame, "second", err);
    return status;
}

static cadre_status before_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err)
{
    (void)ctx;
    cadre_status status = take_step(frame, err);
    if (status != CADRE_OK)
        return status;
    if (strcmp(agent_name(frame), "third") == 0 && call->turn == 1)
        return cadre_model_hook_answer(call, "third knows", err);
    return cadre_model_hook_add_turn(call, "Be quick.", err);
}

// Asks the judge, who is in the desk, what it says of the answer.
static cadre_status after_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err)
{
    cadre_outcome said;
    (void)ctx;
    cadre_status status = take_step(frame, err);
    if (status != CADRE_OK || strcmp(agent_name(frame), "second") != 0 ||
        call->n_tool_calls > 0)
        return status;
    status = cadre_frame_call(
        frame,
        CADRE_CALL(.agent = cadre_frame_find(frame, "judge"), .input = call->text),
        &said, err);
    if (status != CADRE_OK)
        return status;
    return cadre_model_hook_answer(
        call, cadre_frame_printf(frame, "%s (%s)", call->text, said.text), err);
}

static cadre_status before_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                                cadre_error *err)
{
    (void)ctx;
    cadre_status status = take_step(frame, err);
    if (status != CADRE_OK)
        return status;
    if (call->is_control || json_object_get(call->arguments, "blocked") != NULL)
        return cadre_tool_hook_block(call, "not now", err);
    json_t *other = json_pack("{s:s}", "what", "the hook's");
    status = cadre_tool_hook_set_arguments(call, other, err);
    json_decref(other);
    return status;
}

static cadre_status after_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                               cadre_error *err)
{
    (void)ctx;
    cadre_status status = take_step(frame, err);
    if (status != CADRE_OK)
        return status;
    const char *what = json_string_value(json_object_get(call->arguments, "what"));
    return cadre_tool_hook_set_result(
        call,
        cadre_frame_printf(frame, "%s of %s", call->result, what == NULL ? "?" : what),
        err);
}

// second -> third by next, after an answer; that says one word more.
static cadre_status next(void *ctx, cadre_frame *frame, const cadre_outcome *answer,
                         cadre_error *err)
{
    (void)ctx;
    cadre_status status = take_step(frame, err);
    if (status != CADRE_OK)
        return status;
    if (strcmp(agent_name(frame), "second") == 0)
        return hand_over(frame, "third", err);
    return cadre_frame_set_output(frame, cadre_frame_printf(frame, "%s!", answer->text),
                                  err);
}

static cadre_status step_at_end(void *ctx, cadre_frame *frame,
                                const cadre_outcome *answer, cadre_error *err)
{
    (void)ctx;
    (void)answer;
    return strcmp(agent_name(frame), "judge") == 0 ? CADRE_OK : take_step(frame, err);
}

// --- Teams ---

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "a look", err);
}

static cadre_status charge(void *ctx, cadre_frame *frame, const json_t *arguments,
                           cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->unsafe_ones, 1);
    return cadre_frame_set_output(frame, "charged", err);
}

static cadre_team *new_team(cadre_runtime *runtime, const test_folder *folder,
                            const char *script)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "hooked");
    cadre_team_set_script(team, path);
    return team;
}

static const char desk_script[] =
    "strict: true\n"
    "agents:\n"
    "  second:\n"
    "    - {tool_calls: [{name: look}, {name: look, arguments: {blocked: true}}]}\n"
    "    - {tool_calls: [{name: transfer_to_agent, arguments: {agent: first}}]}\n"
    "    - {text: mine}\n"
    "  judge:\n"
    "    - {text: fine}\n";

static void add_hooked(cadre_team *team, const char *name, cadre_names handoffs)
{
    cadre_team_add_llm(
        team,
        CADRE_LLM(.name = name, .model = "openai/m", .tools = CADRE_NAMES("look"),
                  .handoffs = handoffs,
                  .hooks = CADRE_HOOKS(.create = create, .before_model = before_model,
                                       .after_model = after_model,
                                       .before_tool = before_tool,
                                       .after_tool = after_tool, .next = next)));
}

// first -> second -> third: handed over by hooks, a transfer of the model blocked.
static cadre_team *make_desk(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = new_team(runtime, folder, desk_script);
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.name = "desk",
                       .members = CADRE_NAMES("first", "second", "third", "judge")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "judge", .model = "openai/m"));
    add_hooked(team, "first", (cadre_names)CADRE_NAMES("second"));
    add_hooked(team, "second", (cadre_names)CADRE_NAMES("third", "first"));
    add_hooked(team, "third", (cadre_names){NULL, 0});
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "look", .run = look, .replay_safe = true));
    cadre_team_set_hooks(team, CADRE_HOOKS(.next = step_at_end));
    return team;
}

static const char charge_script[] = "agents:\n"
                                    "  clerk:\n"
                                    "    - {tool_calls: [{name: charge}]}\n"
                                    "    - {text: Done.}\n";

static cadre_team *make_clerk(cadre_runtime *runtime, const test_folder *folder,
                              const cadre_hooks *hooks)
{
    cadre_team *team = new_team(runtime, folder, charge_script);
    cadre_team_add_llm(team, CADRE_LLM(.name = "clerk", .model = "openai/m",
                                       .tools = CADRE_NAMES("charge"), .hooks = hooks));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "charge", .run = charge));
    return team;
}

static cadre_team *make_charge(cadre_runtime *runtime, const test_folder *folder)
{
    return make_clerk(
        runtime, folder,
        CADRE_HOOKS(.before_tool = before_tool, .after_tool = after_tool));
}

// --- The matrix ---

static const cadre_run_config *request(void)
{
    static const cadre_run_config it = {.struct_size = sizeof it, .input = "hi"};
    return &it;
}

enum {
    MAX_COMMITS = 60
};

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

static const char *said_of(const lives *l)
{
    return l->status == CADRE_OK ? l->answer : l->err.text;
}

static bool run_undisturbed(undisturbed *u)
{
    lives l;
    if (!lives_open(&l, u->type, u->make))
        return false;
    lives_start(&l, request(), (store_cut){0});
    u->recorded = unplaced(&l);
    u->status = l.status;
    snprintf(u->said, sizeof u->said, "%s", said_of(&l));
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
    lives_start(&l, request(), (store_cut){.at = n, .is_after = is_after});
    bool goes_on = lives_resume(&l, (store_cut){.at = again, .is_after = is_after});
    bool is_cut_again = goes_on && l.was_cut;
    if (is_cut_again)
        goes_on = lives_resume(&l, (store_cut){0});
    if (goes_on) {
        CHECK_STATUS(l.status, u->status, &l.err);
        CHECK_TEXT(said_of(&l), u->said);
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

// `pairs`: also cut twice, each so many-th place.
static void check_matrix(lives_team make, const char *type, int pairs)
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
            CHECK(again < MAX_COMMITS);
        }
    free(u.recorded);
}

static void check_desk(const char *type)
{
    lives l;
    if (!lives_open(&l, type, make_desk))
        return;
    lives_start(&l, request(), (store_cut){0});
    CHECK_OK(l.status, &l.err);
    CHECK_TEXT(l.answer, "third knows!");
    char *recorded = lives_recorded(&l);
    CHECK_INT(
        recorded_count(recorded, "message", "second>: look ok a look of the hook's"),
        1);
    CHECK_INT(recorded_count(recorded, "message", "look blocked not now of ?"), 1);
    CHECK_INT(recorded_count(recorded, "message", "mine (fine)"), 1);
    CHECK_INT(atomic_load(&lives_count()->requests), 4);
    free(recorded);
    lives_close(&l);
    check_matrix(make_desk, type, 3);
}

static void test_hooks__go_on_from_every_commit(void)
{
    lives_each_store(check_desk);
}

// --- A tool that may not run twice ---

// False: the cut was beyond the end of the first life.
static bool check_charge_cut(const char *type, int n, bool is_after)
{
    lives l;
    if (!lives_open(&l, type, make_charge))
        return false;
    lives_start(&l, request(), (store_cut){.at = n, .is_after = is_after});
    bool was_cut = l.was_cut;
    if (lives_resume(&l, (store_cut){0})) {
        char *got = lives_recorded(&l);
        CHECK_OK(l.status, &l.err);
        size_t n_charged =
            recorded_count(got, "message", "charge ok charged of the hook's");
        size_t n_cut = recorded_count(got, "message",
                                      "charge interrupted Interrupted: "
                                      "this call may or may not have run."
                                      " of ?");
        CHECK_INT(n_charged + n_cut, 1);
        if (n_charged == 1)
            CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 1);
        CHECK_INT(recorded_count(got, "frame root/1/0/after_tool tool result", ""), 1);
        CHECK_INT(recorded_count(got, "frame root/1/0/after_tool/1 tool note", ""), 1);
        free(got);
    }
    CHECK(atomic_load(&lives_count()->unsafe_ones) <= 1);
    lives_close(&l);
    return was_cut;
}

static void check_charge(const char *type)
{
    for (int after = 0; after < 2; after++) {
        int n = 1;
        while (n < MAX_COMMITS && check_charge_cut(type, n, after != 0))
            n++;
        CHECK(n > 5 && n < MAX_COMMITS);
    }
}

static void test_tool_hooks__run_no_unsafe_tool_twice(void)
{
    lives_each_store(check_charge);
}

// --- Failures that are recorded ---

static cadre_status step_and_fail(cadre_frame *frame, cadre_error *err)
{
    cadre_status status = take_step(frame, err);
    return status == CADRE_OK ? cadre_fail(err, CADRE_EFAILED, "not today") : status;
}

static cadre_status fail_create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return step_and_fail(frame, err);
}

static cadre_status fail_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                               cadre_error *err)
{
    (void)ctx;
    return call->turn == 2 ? step_and_fail(frame, err) : CADRE_OK;
}

static cadre_status fail_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                              cadre_error *err)
{
    (void)ctx;
    (void)call;
    return step_and_fail(frame, err);
}

static cadre_status fail_next(void *ctx, cadre_frame *frame,
                              const cadre_outcome *answer, cadre_error *err)
{
    (void)ctx;
    (void)answer;
    return step_and_fail(frame, err);
}

static cadre_team *make_failing_create(cadre_runtime *runtime,
                                       const test_folder *folder)
{
    return make_clerk(runtime, folder, CADRE_HOOKS(.create = fail_create));
}

static cadre_team *make_failing_before_model(cadre_runtime *runtime,
                                             const test_folder *folder)
{
    return make_clerk(runtime, folder, CADRE_HOOKS(.before_model = fail_model));
}

static cadre_team *make_failing_after_model(cadre_runtime *runtime,
                                            const test_folder *folder)
{
    return make_clerk(runtime, folder, CADRE_HOOKS(.after_model = fail_model));
}

static cadre_team *make_failing_before_tool(cadre_runtime *runtime,
                                            const test_folder *folder)
{
    return make_clerk(runtime, folder, CADRE_HOOKS(.before_tool = fail_tool));
}

static cadre_team *make_failing_next(cadre_runtime *runtime, const test_folder *folder)
{
    return make_clerk(runtime, folder, CADRE_HOOKS(.next = fail_next));
}

static void check_failing(const char *type)
{
    check_matrix(make_failing_create, type, 1);
    check_matrix(make_failing_before_tool, type, 1);
}

static void test_hooks__that_fail_do_so_from_every_commit(void)
{
    lives_each_store(check_failing);
}

// What a charge was cut in is `interrupted`, so only how the run ends is the same.
static void check_ending(const char *type, lives_team make, const char *text)
{
    bool was_cut = true;
    for (int n = 1; was_cut && n < MAX_COMMITS; n++)
        for (int after = 0; after < 2; after++) {
            lives l;
            if (!lives_open(&l, type, make))
                return;
            lives_start(&l, request(), (store_cut){.at = n, .is_after = after != 0});
            was_cut = l.was_cut;
            if (lives_resume(&l, (store_cut){0}) || !was_cut) {
                CHECK_TEXT(said_of(&l), was_cut ? text : l.err.text);
                char *got = lives_recorded(&l);
                CHECK_INT(recorded_count(got, "frame root agent clerk failed", text),
                          1);
                free(got);
            }
            CHECK(atomic_load(&lives_count()->unsafe_ones) <= 1);
            lives_close(&l);
        }
}

static cadre_status fail_after_tool(void *ctx, cadre_frame *frame,
                                    cadre_tool_hook *call, cadre_error *err)
{
    return fail_tool(ctx, frame, call, err);
}

static cadre_team *make_failing_after_tool(cadre_runtime *runtime,
                                           const test_folder *folder)
{
    return make_clerk(runtime, folder, CADRE_HOOKS(.after_tool = fail_after_tool));
}

static const char two_script[] =
    "agents:\n"
    "  clerk:\n"
    "    - {tool_calls: [{name: charge, arguments: {bad: true}}, {name: charge}]}\n"
    "    - {text: Done.}\n";

static cadre_status fail_bad(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                             cadre_error *err)
{
    (void)ctx;
    if (json_object_get(call->arguments, "bad") == NULL)
        return take_step(frame, err);
    return cadre_fail(err, CADRE_EFAILED, "not today");
}

// The failure is recorded while the other call is under way.
static cadre_team *make_half_failing(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    cadre_team *team =
        make_clerk(runtime, folder,
                   CADRE_HOOKS(.before_tool = fail_bad, .after_tool = after_tool));
    if (folder_write(folder, "two.yaml", two_script, path))
        cadre_team_set_script(team, path);
    return team;
}

static void check_endings(const char *type)
{
    check_ending(type, make_half_failing, "agent 'clerk': hook before_tool: not today");
    check_ending(type, make_failing_before_model,
                 "agent 'clerk': hook before_model: not today");
    check_ending(type, make_failing_after_model,
                 "agent 'clerk': hook after_model: not today");
    check_ending(type, make_failing_after_tool,
                 "agent 'clerk': hook after_tool: not today");
    check_ending(type, make_failing_next, "agent 'clerk': hook next: not today");
}

static void test_hooks__that_fail_end_the_run_so_after_any_cut(void)
{
    lives_each_store(check_endings);
}

// --- Waiting for a person ---

static cadre_status ask(cadre_frame *frame, json_t **answer, cadre_error *err)
{
    json_t *question = json_string("Go on?");
    cadre_status status = cadre_frame_ask(frame, NULL, question, answer, err);
    json_decref(question);
    return status;
}

static cadre_status ask_only(cadre_frame *frame, cadre_error *err)
{
    json_t *answer = NULL;
    cadre_status status = ask(frame, &answer, err);
    json_decref(answer);
    return status;
}

static cadre_status ask_create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return ask_only(frame, err);
}

static cadre_status ask_before_model(void *ctx, cadre_frame *frame,
                                     cadre_model_hook *call, cadre_error *err)
{
    (void)ctx;
    (void)call;
    return ask_only(frame, err);
}

static cadre_status ask_after_model(void *ctx, cadre_frame *frame,
                                    cadre_model_hook *call, cadre_error *err)
{
    json_t *answer = NULL;
    (void)ctx;
    cadre_status status = ask(frame, &answer, err);
    if (status == CADRE_OK)
        status = cadre_model_hook_answer(
            call,
            cadre_frame_printf(frame, "%s (%s)", call->text, json_string_value(answer)),
            err);
    json_decref(answer);
    return status;
}

static cadre_status ask_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                             cadre_error *err)
{
    (void)ctx;
    (void)call;
    return ask_only(frame, err);
}

static cadre_status ask_next(void *ctx, cadre_frame *frame, const cadre_outcome *answer,
                             cadre_error *err)
{
    (void)ctx;
    (void)answer;
    return ask_only(frame, err);
}

static cadre_team *make_asking(cadre_runtime *runtime, const test_folder *folder)
{
    return make_clerk(
        runtime, folder,
        CADRE_HOOKS(.create = ask_create, .before_model = ask_before_model,
                    .after_model = ask_after_model, .before_tool = ask_tool,
                    .after_tool = ask_tool, .next = ask_next));
}

static bool answer_it(lives *l, int nth)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_sprintf("yes %d", nth);
    cadre_status status =
        cadre_trace_answer(lives_runtime(l), l->trace, NULL, value, &err);
    json_decref(value);
    return CHECK_OK(status, &err);
}

static void check_asking(const char *type)
{
    static const char *const keys[] = {
        "root/create/1",         "root/before_model/1/1",
        "root/after_model/1/1",  "root/1/0/before_tool/1",
        "root/1/0/after_tool/1", "root/before_model/2/1",
        "root/after_model/2/1",  "root/next/1"};
    enum {
        N = sizeof keys / sizeof keys[0]
    };
    lives l;
    int n = 0;
    if (!lives_open(&l, type, make_asking))
        return;
    lives_start(&l, request(), (store_cut){0});
    while (l.status == CADRE_EPARKED && n < N && answer_it(&l, ++n) &&
           lives_resume(&l, (store_cut){0}))
        continue;
    CHECK_OK(l.status, &l.err);
    CHECK_INT(n, N);
    CHECK_TEXT(l.answer, "Done. (yes 7)");
    CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 1);
    CHECK_INT(atomic_load(&lives_count()->requests), 2);
    char *got = lives_recorded(&l);
    for (int i = 0; i < N; i++)
        CHECK_INT(recorded_count(got, "frame", keys[i]), 1);
    CHECK_INT(recorded_count(got, "message", "charge ok charged"), 1);
    free(got);
    lives_close(&l);
}

static void test_hooks__that_wait_for_a_person_go_on_where_they_were(void)
{
    lives_each_store(check_asking);
}

static cadre_status give_answer(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err)
{
    (void)ctx;
    (void)frame;
    return cadre_model_hook_answer(call, "from the cache", err);
}

static cadre_team *make_given(cadre_runtime *runtime, const test_folder *folder)
{
    return make_clerk(
        runtime, folder,
        CADRE_HOOKS(.before_model = give_answer, .after_model = ask_after_model));
}

static void check_given(const char *type)
{
    lives l;
    if (!lives_open(&l, type, make_given))
        return;
    lives_start(&l, request(), (store_cut){0});
    CHECK_STATUS(l.status, CADRE_EPARKED, &l.err);
    CHECK(answer_it(&l, 1) && lives_resume(&l, (store_cut){0}));
    CHECK_OK(l.status, &l.err);
    CHECK_TEXT(l.answer, "from the cache (yes 1)");
    CHECK_INT(atomic_load(&lives_count()->requests), 0);
    lives_close(&l);
}

static void test_hooks__that_wait_with_a_hooks_answer_go_on_with_it(void)
{
    lives_each_store(check_given);
}

// --- Handing back ---

static cadre_status hand_back(void *ctx, cadre_frame *frame,
                              const cadre_outcome *answer, cadre_error *err)
{
    (void)ctx;
    (void)answer;
    cadre_status status = take_step(frame, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "first")), err);
}

static const char returning_script[] =
    "strict: true\n"
    "agents:\n"
    "  first:\n"
    "    - {tool_calls: [{name: transfer_to_agent, arguments: {agent: second}}]}\n"
    "    - {text: all done}\n"
    "  second:\n"
    "    - {text: mine}\n";

// The hook does what the desk would do by itself: second hands back to first.
static cadre_team *make_returning(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = new_team(runtime, folder, returning_script);
    cadre_team_add_topology(team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .members = CADRE_NAMES("first", "second"),
                                           .options = "{\"return_to_source\": true}"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "first", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("second")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "second", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("first"),
                                       .hooks = CADRE_HOOKS(.next = hand_back)));
    return team;
}

static void check_returning(const char *type)
{
    check_matrix(make_returning, type, 1);
}

static void test_next__that_hands_back_to_the_source_does_so_from_every_commit(void)
{
    lives_each_store(check_returning);
}

// --- Entering again ---

static void tell(void *ctx, const cadre_difference *d)
{
    cdr_buf_printf(ctx, "%d %s %s %s: %s / %s\n", d->commit, d->path, d->key, d->field,
                   d->first == NULL ? "" : d->first, d->again == NULL ? "" : d->again);
}

static void check_entered_again(lives_team make)
{
    lives l;
    cdr_buf told = CDR_BUF_INIT;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_reenter_result result;
    if (!lives_open(&l, "memory", make))
        return;
    lives_runtime(&l);
    cadre_status status =
        cadre_reenter(l.team,
                      CADRE_REENTER(.run = request(), .every_commit = true,
                                    .on_difference = tell, .ctx = &told),
                      &result, &err);
    CHECK_OK(status, &err);
    CHECK_TEXT(cdr_buf_text(&told), "");
    CHECK(result.n_commits > 3);
    cdr_buf_fini(&told);
    lives_close(&l);
}

static void test_hooks__are_pure_for_who_enters_again(void)
{
    check_entered_again(make_desk);
    check_entered_again(make_charge);
    check_entered_again(make_returning);
}

// --- Limits ---

static cadre_team *make_stepping(cadre_runtime *runtime, const test_folder *folder)
{
    return make_clerk(runtime, folder,
                      CADRE_HOOKS(.create = create, .before_model = before_model,
                                  .after_model = after_model,
                                  .before_tool = before_tool,
                                  .after_tool = after_tool));
}

// What hooks did before a cut are no calls of tools.
static void check_limit(const char *type)
{
    bool was_cut = true;
    for (int n = 1; was_cut && n < MAX_COMMITS; n++) {
        lives l;
        if (!lives_open(&l, type, make_stepping))
            return;
        lives_start(&l, CADRE_RUN(.input = "hi", .limits = {.max_tool_calls = 1}),
                    (store_cut){.at = n, .is_after = true});
        was_cut = l.was_cut;
        if (lives_resume(&l, (store_cut){0}))
            CHECK_OK(l.status, &l.err);
        lives_close(&l);
        CHECK(n > 8 || was_cut);
    }
}

static void test_tool_hooks__use_up_no_limit_of_the_run(void)
{
    lives_each_store(check_limit);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_hooks__go_on_from_every_commit),
    CHECK_TEST(test_tool_hooks__run_no_unsafe_tool_twice),
    CHECK_TEST(test_hooks__that_fail_do_so_from_every_commit),
    CHECK_TEST(test_hooks__that_fail_end_the_run_so_after_any_cut),
    CHECK_TEST(test_hooks__that_wait_for_a_person_go_on_where_they_were),
    CHECK_TEST(test_hooks__that_wait_with_a_hooks_answer_go_on_with_it),
    CHECK_TEST(test_next__that_hands_back_to_the_source_does_so_from_every_commit),
    CHECK_TEST(test_hooks__are_pure_for_who_enters_again),
    CHECK_TEST(test_tool_hooks__use_up_no_limit_of_the_run),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/hooks_resume", tests);
}
