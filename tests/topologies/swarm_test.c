// The swarm: every member may hand over to every other; who may not any more, who
// speaks next, and teams as members. What all dialogues have in common is in
// handoff_test.c.
#include "support/check.h"
#include "support/lab.h"
#include "support/written_team.h"

#include <stdio.h>
#include <string.h>

static team_case t;

#define AGENTS                                                                         \
    "  a: {model: driven/test}\n"                                                      \
    "  b: {model: driven/test}\n"                                                      \
    "  c: {model: driven/test}\n"

#define NO_RULES "max_handoffs: unlimited, window: unlimited, repeat: unlimited"

// `members` as they stand in the list, `rules` in the block.
static bool open_swarm(const char *members, const char *rules)
{
    char text[600];
    snprintf(text, sizeof text,
             "agents:\n"
             "  team: {type: swarm, members: [%s], transfer: {%s}}\n" AGENTS,
             members, rules);
    return written_team_open(&t, text);
}

static void check_answer(const char *agent, const char *text)
{
    team_case_check_answer(&t, agent, text);
}

static void check_transfers(const char *expected)
{
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER), expected);
}

static size_t n_done(void)
{
    size_t n = 0;
    for (size_t i = 0; i < t.recorder.n_events; i++)
        n += t.recorder.events[i].type == CADRE_EVENT_TRANSFER &&
             strstr(t.recorder.events[i].says, " done") != NULL;
    return n;
}

// --- Who may ---

static void test_swarm__every_member_may_hand_over_to_every_other(void)
{
    if (!open_swarm("a, b, c", ""))
        return;
    DRIVEN("a", "to nobody", "to c", "say home");
    DRIVEN("c", "to nobody", "to b");
    DRIVEN("b", "to nobody", "to a");
    team_case_run(&t, "hi");
    check_answer("a", "home");
    CHECK_CONTAINS(driven_request("a", 1), "Agents: b, c.");
    CHECK_CONTAINS(driven_request("b", 1), "Agents: a, c.");
    CHECK_CONTAINS(driven_request("c", 1), "Agents: a, b.");
    CHECK_TEXT(driven_tools("b", 0), "transfer_to_agent");
    team_case_close(&t);
}

// Edges are for another topology; here they take nothing away.
static void test_swarm__does_not_use_the_members_handoffs(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  team: {type: swarm, members: [a, b, c]}\n"
                               "  a: {model: driven/test, handoffs: [b]}\n"
                               "  b: {model: driven/test}\n"
                               "  c: {model: driven/test}\n"))
        return;
    DRIVEN("a", "to c");
    DRIVEN("c", "to b");
    DRIVEN("b", "say done");
    team_case_run(&t, "hi");
    check_answer("b", "done");
    team_case_close(&t);
}

static void test_swarm__the_entry_speaks_first(void)
{
    if (!written_team_open(
            &t, "agents:\n"
                "  team: {type: swarm, entry: c, members: [a, b, c]}\n" AGENTS))
        return;
    DRIVEN("c", "say me");
    team_case_run(&t, "hi");
    check_answer("c", "me");
    team_case_close(&t);
}

static void test_swarm__one_alone_has_nobody_to_hand_over_to(void)
{
    if (!open_swarm("a", ""))
        return;
    DRIVEN("a", "say alone");
    team_case_run(&t, "hi");
    check_answer("a", "alone");
    CHECK_TEXT(driven_tools("a", 0), "");
    team_case_close(&t);
}

// --- The rules ---

// Two get on as long as they say new things: to the limit and not beyond.
static void test_swarm__a_pair_that_gets_on_lives_up_to_max_handoffs(void)
{
    static char texts[20][16];
    const char *a[10];
    const char *b[10];
    if (!open_swarm("a, b", ""))
        return;
    for (int i = 0; i < 10; i++) {
        snprintf(texts[2 * i], 16, "to b %d", 2 * i);
        snprintf(texts[2 * i + 1], 16, "to a %d", 2 * i + 1);
        a[i] = texts[2 * i];
        b[i] = texts[2 * i + 1];
    }
    driven_add("a", a, 10);
    driven_add("b", b, 10);
    DRIVEN("a", "to b once more", "say enough");
    team_case_run(&t, "hi");
    check_answer("a", "enough");
    CHECK_INT(n_done(), 20);
    CHECK_CONTAINS(driven_request("a", 11), "the limit of 20 handoffs (max_handoffs)");
    team_case_close(&t);
}

// The third is refused for its message. It counts all the same, so the fourth is one
// more than three.
static void test_swarm__a_refused_handoff_counts(void)
{
    if (!open_swarm("a, b", "max_handoffs: 3, repeat: 2"))
        return;
    DRIVEN("a", "to b same", "to b same", "to b other");
    DRIVEN("b", "to a x");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_HANDOFFS);
    CHECK_CONTAINS(driven_request("a", 2), "(repeat)");
    CHECK_CONTAINS(t.err.text, "(max_handoffs)");
    CHECK_CONTAINS(t.err.text, "team -> a -> b -> a");
    CHECK_INT(n_done(), 2);
    team_case_close(&t);
}

// Whom there is not, and oneself, is no handoff that was asked for.
static void test_swarm__what_leads_nowhere_does_not_count(void)
{
    if (!open_swarm("a, b", "max_handoffs: 1"))
        return;
    DRIVEN("a", "to nobody", "to a", "to b");
    DRIVEN("b", "say done");
    team_case_run(&t, "hi");
    check_answer("b", "done");
    check_transfers("a: a nobody unknown\na: a a self\na: a b done\n");
    team_case_close(&t);
}

static void test_swarm__the_window_looks_at_the_last_targets_exactly(void)
{
    if (!open_swarm("a, b, c", "window: 4, repeat: unlimited"))
        return;
    DRIVEN("a", "to b 1", "to b 4", "to b 6", "say mine");
    DRIVEN("b", "to c 2", "to a 5");
    DRIVEN("c", "to a 3");
    team_case_run(&t, "hi");
    check_answer("a", "mine");
    // b c a b, c a b a: three each. a b a b: two.
    CHECK_INT(n_done(), 5);
    CHECK_TEXT(recorder_find(&t.recorder, CADRE_EVENT_TRANSFER, 5)->says,
               "a b refused");
    CHECK_CONTAINS(driven_request("a", 3),
                   "the last 4 handoffs went to only 2 agents (window)");
    team_case_close(&t);
}

// Not before: three may be too few of a window, but not of less than one.
static void test_swarm__the_window_is_judged_as_soon_as_it_is_full(void)
{
    if (!open_swarm("a, b, c", "window: 4"))
        return;
    DRIVEN("a", "to b 1", "to b 3");
    DRIVEN("b", "to a 2", "to a 4", "say mine");
    team_case_run(&t, "hi");
    check_answer("b", "mine");
    check_transfers("a: a b done\nb: b a done\na: a b done\nb: b a refused\n");
    CHECK_CONTAINS(driven_request("b", 2), "(window)");
    team_case_close(&t);
}

static void test_swarm__the_window_may_ask_for_fewer(void)
{
    if (!open_swarm("a, b, c", "window: 4, min_unique: 2, max_handoffs: 6"))
        return;
    DRIVEN("a", "to b 1", "to b 3", "to b 5", "to b 7", "say over");
    DRIVEN("b", "to a 2", "to a 4", "to a 6");
    team_case_run(&t, "hi");
    check_answer("a", "over");
    CHECK_INT(n_done(), 6);
    CHECK_CONTAINS(driven_request("a", 4), "max_handoffs");
    team_case_close(&t);
}

// Three that pass the same things round and round: the third time is refused, and who
// insists ends it, long before 20.
static void test_swarm__a_round_of_three_with_equal_messages_is_stopped(void)
{
    if (!open_swarm("a, b, c", ""))
        return;
    DRIVEN("a", "always\nto b you do it");
    DRIVEN("b", "always\nto c you do it");
    DRIVEN("c", "always\nto a you do it");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LOOP);
    CHECK_INT(n_done(), 6);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TRANSFER), 8);
    CHECK_CONTAINS(t.err.text, "team -> a -> b -> c -> a -> b -> c -> a");
    team_case_close(&t);
}

static void test_swarm__rules_may_all_be_turned_off(void)
{
    if (!open_swarm("a, b", NO_RULES))
        return;
    for (int i = 0; i < 30; i++) {
        DRIVEN("a", "to b same");
        DRIVEN("b", "to a same");
    }
    DRIVEN("a", "say at last");
    team_case_run(&t, "hi");
    check_answer("a", "at last");
    CHECK_INT(n_done(), 60);
    team_case_close(&t);
}

// --- Who is next ---

static void test_swarm__the_last_speaker_goes_on(void)
{
    if (!open_swarm("a, b, c", ""))
        return;
    DRIVEN("a", "to b");
    DRIVEN("b", "to c", "say never");
    DRIVEN("c", "say one", "to a");
    DRIVEN("a", "say two");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    check_answer("c", "one");
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    check_answer("a", "two");
    CHECK_TEXT(driven_request("c", 1), "user: first\nassistant: one\nuser: second\n");
    team_case_run_with(&t, CADRE_RUN(.input = "other", .session = "elsewhere"));
    CHECK_INT(driven_count("a"), 3); // where nobody spoke it is the entry
    team_case_close(&t);
}

static void test_swarm__the_last_speaker_goes_on_in_another_process(void)
{
    static const char team[] = "script: ./script.yaml\n"
                               "agents:\n"
                               "  team: {type: swarm, members: [a, b]}\n"
                               "  a: {model: openai/any}\n"
                               "  b: {model: openai/any}\n";
    static const char script[] = "agents:\n"
                                 "  a: [{handoff: {to: b}}]\n"
                                 "  b: [{text: First from b.}, {text: Still b.}]\n";
    lab it;
    if (!lab_make(&it, team, script))
        return;
    LAB_CHECK(&it, 0, "First from b.\n", "", "run", "team.yaml", "hi", "--offline",
              "--session", "s");
    LAB_CHECK(&it, 0, "Still b.\n", "", "run", "team.yaml", "and now?", "--offline",
              "--session", "s");
    LAB_CHECK(&it, 0, NULL, "", "tree", it.trace, "--plain");
    lab_remove(&it);
}

static void test_swarm__return_to_source_goes_back_the_whole_way(void)
{
    if (!open_swarm("a, b, c", "return_to_source: true"))
        return;
    DRIVEN("a", "to b", "say all in all");
    DRIVEN("b", "to c", "say c is right");
    DRIVEN("c", "say it is 7");
    team_case_run(&t, "hi");
    check_answer("a", "all in all");
    written_team_check_agents(&t, "team root completed final\n"
                                  "  a a#1 completed final\n"
                                  "    b transfer completed final\n"
                                  "      c transfer completed final\n"
                                  "        b transfer completed final\n"
                                  "          a transfer completed final\n");
    CHECK_CONTAINS(driven_request("a", 1), "user: [b]: c is right\n");
    team_case_close(&t);
}

// --- Teams ---

static const char with_team[] =
    "agents:\n"
    "  team: {type: swarm, members: [a, pair]}\n"
    "  pair: {type: chain, members: [b, c], description: Two at work}\n" AGENTS;

// A team answers as one; it has no way out of itself.
static void test_swarm__a_team_as_a_member_answers_and_stays_in_itself(void)
{
    if (!written_team_open(&t, with_team))
        return;
    DRIVEN("a", "to pair order 7");
    DRIVEN("b", "say looked");
    DRIVEN("c", "to a", "say found");
    team_case_run(&t, "hi");
    check_answer("c", "found");
    CHECK_TEXT(driven_tools("b", 0), "");
    CHECK_TEXT(driven_tools("c", 0), "");
    CHECK_TEXT(driven_request("b", 0), "user: hi\nuser: order 7\n");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "c: transfer_to_agent unknown_tool ");
    check_transfers("a: a pair done\n");
    team_case_close(&t);
}

// It spoke last when one of its members did.
static void test_swarm__a_team_that_spoke_last_goes_on(void)
{
    if (!written_team_open(&t, with_team))
        return;
    DRIVEN("a", "to pair");
    DRIVEN("b", "say b1", "say b2");
    DRIVEN("c", "say c1", "say c2");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    check_answer("c", "c2");
    CHECK_INT(driven_count("a"), 1);
    team_case_close(&t);
}

// Each counts for itself: the inner one has handed over as often as it may.
static void test_swarm__an_inner_swarm_has_rules_of_its_own(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  team: {type: swarm, members: [a, pair], transfer: "
                               "{max_handoffs: 1}}\n"
                               "  pair: {type: swarm, members: [b, c], transfer: "
                               "{max_handoffs: 3}}\n" AGENTS))
        return;
    DRIVEN("a", "to pair");
    DRIVEN("b", "to c 1", "to c 3");
    DRIVEN("c", "to b 2", "to b 4", "say mine");
    team_case_run(&t, "hi");
    check_answer("c", "mine");
    check_transfers("a: a pair done\nb: b c done\nc: c b done\nb: b c done\n"
                    "c: c b refused\n");
    team_case_close(&t);
}

static void test_swarm__a_member_stands_there_once(void)
{
    written_team_check_problems("agents:\n"
                                "  team: {type: swarm, members: [a, b, a]}\n"
                                "  a: {model: driven/test}\n"
                                "  b: {model: driven/test}\n",
                                "2:3: agent 'team': member 'a' stands twice\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_swarm__every_member_may_hand_over_to_every_other),
    CHECK_TEST(test_swarm__does_not_use_the_members_handoffs),
    CHECK_TEST(test_swarm__the_entry_speaks_first),
    CHECK_TEST(test_swarm__one_alone_has_nobody_to_hand_over_to),
    CHECK_TEST(test_swarm__a_pair_that_gets_on_lives_up_to_max_handoffs),
    CHECK_TEST(test_swarm__a_refused_handoff_counts),
    CHECK_TEST(test_swarm__what_leads_nowhere_does_not_count),
    CHECK_TEST(test_swarm__the_window_looks_at_the_last_targets_exactly),
    CHECK_TEST(test_swarm__the_window_is_judged_as_soon_as_it_is_full),
    CHECK_TEST(test_swarm__the_window_may_ask_for_fewer),
    CHECK_TEST(test_swarm__a_round_of_three_with_equal_messages_is_stopped),
    CHECK_TEST(test_swarm__rules_may_all_be_turned_off),
    CHECK_TEST(test_swarm__the_last_speaker_goes_on),
    CHECK_TEST(test_swarm__the_last_speaker_goes_on_in_another_process),
    CHECK_TEST(test_swarm__return_to_source_goes_back_the_whole_way),
    CHECK_TEST(test_swarm__a_team_as_a_member_answers_and_stays_in_itself),
    CHECK_TEST(test_swarm__a_team_that_spoke_last_goes_on),
    CHECK_TEST(test_swarm__an_inner_swarm_has_rules_of_its_own),
    CHECK_TEST(test_swarm__a_member_stands_there_once),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/swarm", tests);
}
