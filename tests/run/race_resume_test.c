// Any and race over cuts: a run is cut at each commit, before it and after it, and at
// pairs of them, and goes on to an end that it could have had undisturbed. Who has won
// in the record stays the winner, and nobody else runs then.
#include "support/batch_case.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "base/buf.h"
#include "cadre/trace.h"
#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_COMMITS = 40,
    MAX_BRANCHES = 3
};

// --- The lead ---

// What a team's lead does: a batch over all members but the last, who is told of it.
typedef struct race_team {
    const char *name;
    cadre_wait wait;
    const char *members[MAX_BRANCHES + 1];
    size_t n_branches;
    bool listens;       // and stops all at the first text
    const char *batch;  // where its branches stand in the record: "root/b1"
    const char *file;   // a team file in place of all above; NULL: none
    bool is_always_won; // whatever is cut
    int retry_of_first; // attempts; 0: one
} race_team;

static const race_team *team_now;

static bool stop_at_text(void *ctx, const cadre_agent *agent, size_t index,
                         const cadre_event *event)
{
    (void)ctx;
    (void)agent;
    (void)index;
    return event->type != CADRE_EVENT_TEXT_DELTA;
}

static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const race_team *it = ctx;
    cadre_agents members = cadre_frame_members(frame);
    cadre_call made[MAX_BRANCHES];
    const cadre_call *calls[MAX_BRANCHES];
    cadre_outcome out[MAX_BRANCHES];
    cadre_error own = CADRE_ERROR_INIT;
    size_t n = it->n_branches;
    size_t winner = n;
    for (size_t i = 0; i < n; i++) {
        made[i] = *CADRE_CALL(.agent = members.items[i], .input = "work");
        calls[i] = &made[i];
    }
    cadre_status status = cadre_frame_batch(
        frame,
        CADRE_BATCH(.wait = it->wait, .calls = calls, .n_calls = n, .winner = &winner,
                    .listener = it->listens ? stop_at_text : NULL),
        out, &own);
    if (status != CADRE_OK && status != CADRE_EFAILED)
        return cadre_fail_class(err, status, own.error_class, false, "%s", own.text);
    const char *brief = cadre_frame_printf(
        frame, "%s won: %s%s", winner < n ? it->members[winner] : "nobody",
        winner < n ? out[winner].text : "", own.text);
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = members.items[n], .input = brief), NULL, err);
}

// --- Teams ---

// What each model says; a step more, since a call that is cut asks again.
static const char *const steps[][2] = {
    {"left", "    - {tool_calls: [{name: look, arguments: {}}]}\n"
             "    - {text: L}\n    - {text: L}\n"},
    {"right", "    - {text: R}\n    - {text: R}\n"},
    {"broken", "    - {error: {status: 400}}\n    - {error: {status: 400}}\n"},
    {"flaky", "    - {error: {status: 400}}\n    - {text: F}\n    - {text: F}\n"},
    {"failing", "    - {error: {status: 400}}\n    - {error: {status: 400}}\n"
                "    - {error: {status: 400}}\n"},
    {"boss", "    - {tool_calls: [{name: pick, arguments: {request: which}}]}\n"
             "    - {text: Chosen.}\n"},
    {"judge", "    - {text: \"So it is.\"}\n"}};

// Of the members alone: others are mistakes in a script.
static char *script_of(const race_team *it)
{
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_append_text(&text, "agents:\n");
    for (size_t i = 0; i <= it->n_branches; i++)
        for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++)
            if (strcmp(steps[k][0], it->members[i]) == 0)
                cdr_buf_printf(&text, "  %s:\n%s", steps[k][0], steps[k][1]);
    return cdr_buf_take(&text);
}

static cadre_status sleep_on(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_sleep(frame, INT64_MAX, err);
}

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "seen", err);
}

static cadre_status ask_person(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return batch_ask(frame, "which?", err);
}

static void add_members(cadre_team *team, const race_team *it)
{
    for (size_t i = 0; i <= it->n_branches; i++) {
        const char *name = it->members[i];
        if (strcmp(name, "sleeper") == 0)
            cadre_team_add_function(team,
                                    CADRE_FUNCTION(.name = name, .run = sleep_on));
        else if (strcmp(name, "asker") == 0)
            cadre_team_add_function(team,
                                    CADRE_FUNCTION(.name = name, .run = ask_person));
        else
            cadre_team_add_llm(
                team, CADRE_LLM(.name = name, .model = "openai/m",
                                .retry.attempts = i == 0 ? it->retry_of_first : 0,
                                .tools = CADRE_NAMES("look")));
    }
}

static cadre_team *make(cadre_runtime *runtime, const test_folder *folder)
{
    const race_team *it = team_now;
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = NULL;
    char *script = script_of(it);
    bool is_written = folder_write(folder, "script.yaml", script, path);
    free(script);
    if (!is_written)
        return NULL;
    if (it->file != NULL) {
        if (folder_write(folder, "team.yaml", it->file, path))
            CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err);
        return team;
    }
    team = cadre_team_new(runtime, it->name);
    cadre_team_set_script(team, path);
    cadre_team_add_function(
        team, CADRE_FUNCTION(.name = "lead", .run = lead, .ctx = (void *)(uintptr_t)it,
                             .members = {it->members, it->n_branches + 1}));
    add_members(team, it);
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "look", .run = look, .replay_safe = true));
    cadre_team_set_root(team, "lead");
    return team;
}

// --- What the record says ---

// The line of a branch's last attempt; "" when there is none. free() it.
static char *branch_line(const char *recorded, const char *batch, size_t i)
{
    char start[80];
    char *found = NULL;
    for (int attempt = 1; attempt <= 3; attempt++) {
        if (attempt == 1)
            (void)snprintf(start, sizeof start, "frame %s/%zu agent ", batch, i + 1);
        else
            (void)snprintf(start, sizeof start, "frame %s/%zu~%d agent ", batch, i + 1,
                           attempt);
        char *lines = recorded_lines(recorded, start, NULL);
        if (lines[0] != '\0') {
            free(found);
            found = strdup(lines);
        }
        free(lines);
    }
    return found == NULL ? strdup("") : found;
}

static bool is_marked(const char *line)
{
    return strstr(line, " marked owner") != NULL;
}

static bool has_ended(const char *line)
{
    return strstr(line, " completed ") != NULL || strstr(line, " failed ") != NULL ||
           strstr(line, " aborted ") != NULL;
}

// Who has won in the record; -1: nobody. More than one fails the test.
static int winner_in(const char *recorded, const race_team *it)
{
    int winner = -1;
    if (it->wait == CADRE_ALL)
        return -1;
    for (size_t i = 0; i < it->n_branches; i++) {
        char *line = branch_line(recorded, it->batch, i);
        bool wins = !is_marked(line) && (strstr(line, " completed ") != NULL ||
                                         (it->wait == CADRE_RACE && has_ended(line)));
        // One that fails and is tried again has not ended.
        if (wins && it->retry_of_first > 1 && i == 0 &&
            strstr(line, " failed ") != NULL)
            wins = strstr(line, "~2 ") != NULL;
        free(line);
        if (!wins)
            continue;
        CHECK_INT(winner, -1);
        winner = (int)i;
    }
    return winner;
}

static size_t count_below(const char *recorded, const race_team *it, size_t i)
{
    char part[80];
    (void)snprintf(part, sizeof part, "frame %s/%zu/", it->batch, i + 1);
    return recorded_count(recorded, part, NULL);
}

static void check_told(const char *recorded, const race_team *it, int winner)
{
    char part[120];
    if (it->file != NULL)
        return;
    (void)snprintf(part, sizeof part, "lead>%s: ", it->members[it->n_branches]);
    char *told = recorded_lines(recorded, part, NULL);
    CHECK_INT(recorded_count(recorded, part, NULL), 1);
    (void)snprintf(part, sizeof part,
                   "%s won: ", winner < 0 ? "nobody" : it->members[winner]);
    CHECK_CONTAINS(told, part);
    if (it->listens) {
        bool is_stopped = recorded_count(recorded, " marked owner", NULL) > 0;
        CHECK((strstr(told, "were stopped by who listened") != NULL) == is_stopped);
    }
    free(told);
}

// All has ended, one has won, and the others lost or had failed before.
static void check_record(const char *recorded, const race_team *it)
{
    int winner = winner_in(recorded, it);
    CHECK(!it->is_always_won || winner >= 0);
    for (size_t i = 0; i < it->n_branches; i++) {
        char *line = branch_line(recorded, it->batch, i);
        CHECK(has_ended(line));
        CHECK_INT(strstr(line, " aborted aborted: aborted: its work is not needed any "
                               "more marked owner") != NULL,
                  is_marked(line));
        free(line);
    }
    CHECK_INT(recorded_count(recorded, "frame ", " running "), 0);
    CHECK_INT(recorded_count(recorded, "frame ", " waiting "), 0);
    CHECK_INT(recorded_count(recorded, "frame ", " pending "), 0);
    CHECK_INT(recorded_count(recorded, "frame root agent", " completed "), 1);
    check_told(recorded, it, winner);
}

// --- One case ---

// A life later: who had won has, and of the others nothing more was done.
static void check_kept(const char *before, const char *after, const race_team *it)
{
    int winner = winner_in(before, it);
    if (winner < 0)
        return;
    CHECK_INT(winner_in(after, it), winner);
    char *old = branch_line(before, it->batch, (size_t)winner);
    char *now = branch_line(after, it->batch, (size_t)winner);
    CHECK_TEXT(now, old);
    free(old);
    free(now);
    for (size_t i = 0; i < it->n_branches; i++)
        CHECK_INT(count_below(after, it, i), count_below(before, it, i));
}

static void answer(lives *l)
{
    json_t *value = json_string("this");
    cadre_trace_answer(lives_runtime(l), l->trace, NULL, value, NULL);
    json_decref(value);
}

// Goes on until it has ended, with one more cut on the way. False: it was not cut.
static bool go_on(lives *l, store_cut cut, const race_team *it)
{
    bool was_cut = false;
    for (int i = 0; i < 6; i++) {
        char *before = lives_recorded(l);
        bool goes_on = lives_resume(l, i == 0 ? cut : (store_cut){0});
        was_cut = was_cut || (i == 0 && goes_on && l->was_cut);
        char *after = lives_recorded(l);
        check_kept(before, after, it);
        free(before);
        free(after);
        if (!goes_on || l->status == CADRE_OK)
            break;
        if (l->status == CADRE_EPARKED)
            answer(l);
    }
    return was_cut;
}

// False: the second cut was beyond the end of its life.
static bool check_cut(const race_team *it, const char *type, store_cut cut, int again)
{
    lives l;
    if (!lives_open(&l, type, make))
        return false;
    lives_start(&l, CADRE_RUN(.input = "go"), cut);
    if (l.status == CADRE_EPARKED)
        answer(&l);
    bool has_begun = l.trace[0] != '\0' && (cut.at > 1 || cut.is_after);
    bool was_cut = has_begun && l.status != CADRE_OK &&
                   go_on(&l, (store_cut){.at = again, .is_after = cut.is_after}, it);
    if (has_begun) {
        char *recorded = lives_recorded(&l);
        check_record(recorded, it);
        free(recorded);
    }
    lives_close(&l);
    return was_cut;
}

static int count_commits(const race_team *it, const char *type)
{
    lives l;
    if (!lives_open(&l, type, make))
        return 0;
    lives_start(&l, CADRE_RUN(.input = "go"), (store_cut){0});
    if (l.status == CADRE_EPARKED) {
        answer(&l);
        CHECK(lives_resume(&l, (store_cut){0}));
    }
    CHECK_OK(l.status, &l.err);
    char *recorded = lives_recorded(&l);
    check_record(recorded, it);
    free(recorded);
    int n = l.n_commits;
    lives_close(&l);
    return n;
}

static void check_matrix(const race_team *it, const char *type)
{
    team_now = it;
    int n_commits = count_commits(it, type) + 2; // timing adds some
    for (int n = 1; n <= n_commits; n++)
        for (int after = 0; after < 2; after++) {
            store_cut cut = {.at = n, .is_after = after != 0};
            check_cut(it, type, cut, 0);
            int again = 1;
            while (n % LIVES_STEP == 0 && again <= LIVES_MAX_AGAIN &&
                   check_cut(it, type, cut, again))
                again++;
            CHECK(again < MAX_COMMITS);
        }
}

static const race_team *checked;

static void check_on(const char *type)
{
    check_matrix(checked, type);
}

static void check_each_store(const race_team *it)
{
    checked = it;
    lives_each_store(check_on);
}

// --- The teams ---

static void test_any__goes_on_from_every_commit(void)
{
    static const race_team it = {.name = "any",
                                 .wait = CADRE_ANY,
                                 .members = {"left", "broken", "right", "judge"},
                                 .n_branches = 3,
                                 .batch = "root/b1",
                                 .is_always_won = true};
    check_each_store(&it);
}

static void test_race__goes_on_from_every_commit(void)
{
    static const race_team it = {.name = "race",
                                 .wait = CADRE_RACE,
                                 .members = {"left", "broken", "right", "judge"},
                                 .n_branches = 3,
                                 .batch = "root/b1",
                                 .is_always_won = true};
    check_each_store(&it);
}

static void test_race__won_by_a_failure_goes_on_from_every_commit(void)
{
    static const race_team it = {.name = "failed_race",
                                 .wait = CADRE_RACE,
                                 .members = {"sleeper", "broken", "judge"},
                                 .n_branches = 2,
                                 .batch = "root/b1",
                                 .is_always_won = true};
    check_each_store(&it);
}

static void test_any__of_one_that_is_tried_again_goes_on_from_every_commit(void)
{
    static const race_team it = {.name = "tried",
                                 .wait = CADRE_ANY,
                                 .members = {"flaky", "sleeper", "judge"},
                                 .n_branches = 2,
                                 .batch = "root/b1",
                                 .is_always_won = true,
                                 .retry_of_first = 2};
    check_each_store(&it);
}

static void test_race__won_by_a_last_attempt_goes_on_from_every_commit(void)
{
    static const race_team it = {.name = "tried_race",
                                 .wait = CADRE_RACE,
                                 .members = {"failing", "sleeper", "judge"},
                                 .n_branches = 2,
                                 .batch = "root/b1",
                                 .is_always_won = true,
                                 .retry_of_first = 2};
    check_each_store(&it);
}

// It parks: the other one has failed.
static void test_any__that_waits_for_a_person_goes_on_from_every_commit(void)
{
    static const race_team it = {.name = "asking",
                                 .wait = CADRE_ANY,
                                 .members = {"asker", "broken", "judge"},
                                 .n_branches = 2,
                                 .batch = "root/b1",
                                 .is_always_won = true};
    check_each_store(&it);
}

// The question is withdrawn.
static void test_any__that_withdraws_a_question_goes_on_from_every_commit(void)
{
    static const race_team it = {.name = "withdrawing",
                                 .wait = CADRE_ANY,
                                 .members = {"asker", "left", "judge"},
                                 .n_branches = 2,
                                 .batch = "root/b1",
                                 .is_always_won = true};
    check_each_store(&it);
}

static void test_listener__that_stops_goes_on_from_every_commit(void)
{
    static const race_team it = {.name = "stopping",
                                 .wait = CADRE_ALL,
                                 .members = {"left", "right", "judge"},
                                 .n_branches = 2,
                                 .listens = true,
                                 .batch = "root/b1"};
    check_each_store(&it);
}

static void test_any__in_a_chain_goes_on_from_every_commit(void)
{
    static const race_team it = {
        .wait = CADRE_ANY,
        .members = {"left", "right", "judge"},
        .n_branches = 2,
        .batch = "root/1/b1",
        .is_always_won = true,
        .file =
            "version: 1\nname: t\nscript: ./script.yaml\nroot: line\n"
            "agents:\n"
            "  line: {type: chain, members: [pick, judge]}\n"
            "  pick: {type: parallel, parallel: {wait: any}, members: [left, right]}\n"
            "  left: {model: openai/m}\n"
            "  right: {model: openai/m}\n"
            "  judge: {model: openai/m}\n"};
    check_each_store(&it);
}

static void test_race__under_a_coordinator_goes_on_from_every_commit(void)
{
    static const race_team it = {
        .wait = CADRE_RACE,
        .members = {"left", "right", "boss"},
        .n_branches = 2,
        .batch = "root/boss#1/1/0/pick#1/b1",
        .is_always_won = true,
        .file =
            "version: 1\nname: t\nscript: ./script.yaml\nroot: office\n"
            "agents:\n"
            "  office: {type: coordinator, entry: boss, members: [boss, pick]}\n"
            "  pick: {type: parallel, parallel: {wait: race}, members: [left, right],\n"
            "         description: picks one}\n"
            "  boss: {model: openai/m}\n"
            "  left: {model: openai/m}\n"
            "  right: {model: openai/m}\n"};
    check_each_store(&it);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_any__goes_on_from_every_commit),
    CHECK_TEST(test_race__goes_on_from_every_commit),
    CHECK_TEST(test_race__won_by_a_failure_goes_on_from_every_commit),
    CHECK_TEST(test_any__of_one_that_is_tried_again_goes_on_from_every_commit),
    CHECK_TEST(test_race__won_by_a_last_attempt_goes_on_from_every_commit),
    CHECK_TEST(test_any__that_waits_for_a_person_goes_on_from_every_commit),
    CHECK_TEST(test_any__that_withdraws_a_question_goes_on_from_every_commit),
    CHECK_TEST(test_listener__that_stops_goes_on_from_every_commit),
    CHECK_TEST(test_any__in_a_chain_goes_on_from_every_commit),
    CHECK_TEST(test_race__under_a_coordinator_goes_on_from_every_commit),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/race_resume", tests);
}
