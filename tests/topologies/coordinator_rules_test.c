// The coordinator's rules: what it takes as arguments, what members see, teams as
// members, how deep it nests, and what sealing refuses.
#include "support/check.h"
#include "support/written_team.h"

#include <stdio.h>

static team_case t;

#define HEAD                                                                           \
    "agents:\n"                                                                        \
    "  team: {type: coordinator, members: [boss, ann]}\n"                              \
    "  boss: {model: driven/test}\n"

static void check_answer(const char *text)
{
    team_case_check_answer(&t, "boss", text);
}

static const char *results(void)
{
    return recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT);
}

// --- Arguments ---

// What is wrong is said so that the model can do better; the member does not start.
static void test_coordinator__bad_arguments_are_answered_and_start_nobody(void)
{
    static const char *const calls[][2] = {
        {"call ann {\"request\": \"unclosed", "boss: ann invalid_arguments "},
        {"call ann {\"task\": \"x\"}", "request"},
        {"call ann {\"request\": \"  \"}", "'request' is empty: say what ann is to do"},
        {"call ann {\"request\": null}", "'request' is empty: say what ann is to do"},
        {"call ann []", "boss: ann invalid_arguments "},
        {"call ann", "request"},
        {"call anne {\"request\": \"x\"}",
         "boss: anne unknown_tool There is no tool 'anne'. Tools: ann."},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (!written_team_open(&t, HEAD "  ann: {model: driven/test}\n"))
            return;
        DRIVEN("boss", calls[i][0], "say Myself then.");
        team_case_run(&t, "hi");
        check_answer("Myself then.");
        CHECK_CONTAINS(results(), calls[i][1]);
        CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TOOL_RESULT), 1);
        CHECK_INT(driven_count("ann"), 0);
        team_case_close(&t);
    }
}

static void test_coordinator__what_is_no_text_is_passed_on_as_json(void)
{
    static const char *const calls[][2] = {
        {"call ann {\"request\": {\"title\": \"T\", \"n\": 1}}",
         "user: {\"title\":\"T\",\"n\":1}\n"},
        {"call ann {\"request\": [1, 2]}", "user: [1,2]\n"},
        {"call ann {\"request\": 7}", "user: 7\n"},
        {"call ann {\"request\": false}", "user: false\n"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (!written_team_open(&t, HEAD "  ann: {model: driven/test}\n"))
            return;
        DRIVEN("boss", calls[i][0], "say Done.");
        DRIVEN("ann", "say yes");
        team_case_run(&t, "hi");
        check_answer("Done.");
        CHECK_TEXT(driven_request("ann", 0), calls[i][1]);
        team_case_close(&t);
    }
}

static const char order_schema[] =
    "{type: object, required: [order], properties: {order: {type: integer}, note: "
    "{type: string, default: none}}}";

static void check_schema_member(const char *text)
{
    if (!written_team_open(&t, text))
        return;
    DRIVEN("boss", "call ann {\"request\": \"x\"}", "call ann {\"order\": \"many\"}",
           "call ann {\"order\": 7}", "say Done.");
    DRIVEN("ann", "say found");
    team_case_run(&t, "hi");
    check_answer("Done.");
    CHECK_CONTAINS(results(), "boss: ann invalid_arguments ");
    CHECK_CONTAINS(driven_request("boss", 1), "order");
    CHECK_CONTAINS(driven_request("boss", 2), "integer");
    CHECK_INT(driven_count("ann"), 1);
    CHECK_TEXT(driven_request("ann", 0), "user: {\"order\":7,\"note\":\"none\"}\n");
    team_case_close(&t);
}

static void test_coordinator__an_input_schema_is_what_a_member_takes(void)
{
    char text[600];
    snprintf(text, sizeof text, HEAD "  ann: {model: driven/test, input_schema: %s}\n",
             order_schema);
    check_schema_member(text);
}

// Where it is listed the schema and the description are those of this team.
static void test_coordinator__a_list_may_say_what_a_member_takes_here(void)
{
    char text[900];
    snprintf(text, sizeof text,
             "agents:\n"
             "  team:\n"
             "    type: coordinator\n"
             "    members: [boss, {agent: ann, description: Finds orders, "
             "input_schema: %s}]\n"
             "  boss: {model: driven/test}\n"
             "  ann: {model: driven/test, description: Another}\n",
             order_schema);
    check_schema_member(text);
}

// --- What a member sees ---

static void test_coordinator__history_all_shows_what_was_said_up_to_the_call(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  team: {type: coordinator, members: [boss, ann], "
                               "coordinator: {history: all}}\n"
                               "  boss: {model: driven/test}\n"
                               "  ann: {model: driven/test}\n"))
        return;
    DRIVEN("boss", "say Hello.", "say A moment.\ncall ann {\"request\":\"look\"}",
           "say Done.");
    DRIVEN("ann", "say seen");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    check_answer("Done.");
    CHECK_TEXT(driven_request("ann", 0),
               "user: first\nuser: [boss]: Hello.\nuser: second\nuser: look\n");
    team_case_close(&t);
}

static void test_coordinator__history_none_shows_the_request_alone(void)
{
    if (!written_team_open(&t, HEAD "  ann: {model: driven/test}\n"))
        return;
    DRIVEN("boss", "say Hello.", "call ann {\"request\":\"look\"}", "say Done.");
    DRIVEN("ann", "say seen");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    CHECK_TEXT(driven_request("ann", 0), "user: look\n");
    team_case_close(&t);
}

// --- Teams as members ---

static void test_coordinator__a_member_that_is_a_team_hands_over_in_itself(void)
{
    if (!written_team_open(
            &t, "agents:\n"
                "  team: {type: coordinator, members: [boss, desk]}\n"
                "  boss: {model: driven/test}\n"
                "  desk: {type: handoff, members: [front, back], description: A desk}\n"
                "  front: {model: driven/test}\n"
                "  back: {model: driven/test}\n"))
        return;
    DRIVEN("boss", "call desk {\"request\":\"order 7\"}", "say Done.");
    DRIVEN("front", "say I will connect you.\nto back it is 7");
    DRIVEN("back", "say found 7");
    team_case_run(&t, "hi");
    check_answer("Done.");
    CHECK_TEXT(driven_tools("boss", 0), "desk");
    CHECK_TEXT(driven_request("back", 0),
               "user: order 7\nuser: [front]: I will connect you.\nuser: it is 7\n");
    CHECK_TEXT(results(),
               "front: transfer_to_agent ok Handed over to back, who answers from "
               "here.\nboss: desk ok found 7\n");
    written_team_check_said(&t, "user: hi\nboss: [desk]\ntool desk: found 7\n"
                                "boss: Done.\n");
    team_case_close(&t);
}

static const char nested[] =
    "agents:\n"
    "  team: {type: coordinator, members: [boss, branch]}\n"
    "  branch: {type: coordinator, members: [head, office], description: A branch}\n"
    "  office: {type: coordinator, members: [clerk, ann], description: An office}\n"
    "  boss: {model: driven/test}\n"
    "  head: {model: driven/test}\n"
    "  clerk: {model: driven/test}\n"
    "  ann: {model: driven/test}\n";

static void drive_nested(void)
{
    DRIVEN("boss", "call branch {\"request\":\"one\"}", "say from boss");
    DRIVEN("head", "call office {\"request\":\"two\"}", "say from head");
    DRIVEN("clerk", "call ann {\"request\":\"three\"}", "say from clerk");
    DRIVEN("ann", "say from ann");
}

static void test_coordinator__nests(void)
{
    if (!written_team_open(&t, nested))
        return;
    drive_nested();
    team_case_run(&t, "hi");
    check_answer("from boss");
    CHECK_TEXT(driven_tools("boss", 0), "branch");
    CHECK_TEXT(driven_request("ann", 0), "user: three\n");
    CHECK_CONTAINS(driven_request("clerk", 1), ": from ann\n");
    CHECK_CONTAINS(driven_request("head", 1), ": from clerk\n");
    CHECK_CONTAINS(driven_request("boss", 1), ": from head\n");
    written_team_check_agents(&t, "team root completed final\n"
                                  "  boss boss#1 completed final\n"
                                  "    branch branch#1 completed final\n"
                                  "      head head#1 completed final\n"
                                  "        office office#1 completed final\n"
                                  "          clerk clerk#1 completed final\n"
                                  "            ann ann#1 completed final\n");
    written_team_check_said(&t, "user: hi\nboss: [branch]\ntool branch: from head\n"
                                "boss: from boss\n");
    team_case_close(&t);
}

// A call that is too deep is a result that says how it came there.
static void test_coordinator__a_call_too_deep_is_answered_with_the_path(void)
{
    if (!written_team_open(&t, nested))
        return;
    drive_nested();
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_depth = 5}));
    check_answer("from boss");
    CHECK_CONTAINS(results(), "clerk: ann tool_error ");
    CHECK_CONTAINS(results(), "agent 'ann': calls are nested deeper than max_depth 5: "
                              "team -> boss -> branch -> head -> office -> clerk");
    CHECK_CONTAINS(results(), "head: office ok from clerk\n");
    CHECK_INT(driven_count("ann"), 0);
    team_case_close(&t);
}

// What the entry may do besides: its own tools stand beside the members.
static void test_coordinator__the_entry_keeps_its_own_tools(void)
{
    adder adds;
    team_case_open(&t);
    team_case_add_adder(&t, &adds);
    atomic_store(&adds.n_runs, 0);
    cadre_team_add_topology(t.team, "coordinator",
                            CADRE_TOPOLOGY(.name = "team", .entry = "boss",
                                           .members = CADRE_NAMES("ann", "boss")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "ann", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "boss", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    DRIVEN("boss", "call add {\"a\":1,\"b\":2}\ncall ann {\"request\":\"x\"}",
           "say Done.");
    DRIVEN("ann", "say yes");
    team_case_run(&t, "hi");
    check_answer("Done.");
    CHECK_TEXT(driven_tools("boss", 0), "add, ann");
    CHECK_INT(atomic_load(&adds.n_runs), 1);
    team_case_close(&t);
}

// An entry alone is an agent like any other.
static void test_coordinator__may_have_an_entry_only(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  team: {type: coordinator, members: [boss]}\n"
                               "  boss: {model: driven/test}\n"))
        return;
    DRIVEN("boss", "say Just me.");
    team_case_run(&t, "hi");
    check_answer("Just me.");
    CHECK_TEXT(driven_tools("boss", 0), "");
    team_case_close(&t);
}

// --- What sealing refuses ---

static void test_coordinator__wants_an_entry_that_asks_a_model(void)
{
    written_team_check_problems(
        "agents:\n"
        "  team: {type: coordinator, members: [pair, ann]}\n"
        "  pair: {type: chain, members: [ann]}\n"
        "  ann: {model: driven/test}\n",
        "2:3: agent 'team': a coordinator's entry calls the others by its model: "
        "'pair' is a chain; it must be an llm agent\n");
}

static void test_coordinator__names_of_members_and_tools_must_differ(void)
{
    written_team_check_problems(
        "agents:\n"
        "  team: {type: coordinator, members: [boss, ann]}\n"
        "  boss: {model: driven/test, tools: [ann]}\n"
        "  ann: {model: driven/test}\n"
        "tools:\n"
        "  ann: {type: command, argv: [date]}\n",
        "2:3: agent 'team': 'ann' is a member and a tool of its entry 'boss'; rename "
        "one of them\n");
    written_team_check_problems("agents:\n"
                                "  team: {type: coordinator, members: [boss, ann, "
                                "ann]}\n"
                                "  boss: {model: driven/test}\n"
                                "  ann: {model: driven/test}\n",
                                "2:3: agent 'team': member 'ann' stands twice\n");
}

static void test_coordinator__refuses_another_history(void)
{
    written_team_check_problems(
        "agents:\n"
        "  team: {type: coordinator, members: [boss], coordinator: {history: own}}\n"
        "  boss: {model: driven/test}\n",
        "2:69: agents.team.coordinator.history: expected one of: none, all; got "
        "\"own\"\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_coordinator__bad_arguments_are_answered_and_start_nobody),
    CHECK_TEST(test_coordinator__what_is_no_text_is_passed_on_as_json),
    CHECK_TEST(test_coordinator__an_input_schema_is_what_a_member_takes),
    CHECK_TEST(test_coordinator__a_list_may_say_what_a_member_takes_here),
    CHECK_TEST(test_coordinator__history_all_shows_what_was_said_up_to_the_call),
    CHECK_TEST(test_coordinator__history_none_shows_the_request_alone),
    CHECK_TEST(test_coordinator__a_member_that_is_a_team_hands_over_in_itself),
    CHECK_TEST(test_coordinator__nests),
    CHECK_TEST(test_coordinator__a_call_too_deep_is_answered_with_the_path),
    CHECK_TEST(test_coordinator__the_entry_keeps_its_own_tools),
    CHECK_TEST(test_coordinator__may_have_an_entry_only),
    CHECK_TEST(test_coordinator__wants_an_entry_that_asks_a_model),
    CHECK_TEST(test_coordinator__names_of_members_and_tools_must_differ),
    CHECK_TEST(test_coordinator__refuses_another_history),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/coordinator_rules", tests);
}
