// The commands that look at what is recorded: runs, tree, show; and requests that the
// record answers.
#include "support/lab.h"

#include <string.h>

static bool record_desk(lab *it)
{
    program_result ran;

    if (!lab_make_in(it, "tests/cli/teams") ||
        !LAB_RUN(it, &ran, "run", "desk.yaml", "Return order 1042", "--offline"))
        return false;
    CHECK_INT(ran.exit_status, 0);
    program_result_fini(&ran);
    return true;
}

// --- Looking ---

static void test_record__runs_lists_the_newest_first(void)
{
    lab it;
    char first[32];
    program_result ran;

    if (!record_desk(&it))
        return;
    memcpy(first, it.trace, sizeof(first));
    if (LAB_RUN(&it, &ran, "run", "solo.yaml", "hi", "--offline"))
        program_result_fini(&ran);
    if (LAB_RUN(&it, &ran, "runs")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK(strncmp(ran.out, it.trace, strlen(it.trace)) == 0);
        CHECK_CONTAINS(ran.out, first);
        CHECK_CONTAINS(ran.out, "  completed  customer_desk  ");
        CHECK_CONTAINS(ran.out, " ago\n");
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "runs", "--json", "--limit", "1")) {
        json_t *runs = json_loads(ran.out, 0, NULL);
        const json_t *run = json_array_get(runs, 0);
        CHECK_INT(json_array_size(runs), 1);
        CHECK_TEXT(json_string_value(json_object_get(run, "trace_id")), it.trace);
        CHECK(json_is_null(json_object_get(run, "held_by")));
        CHECK_INT(strlen(json_string_value(json_object_get(run, "created_at"))), 24);
        json_decref(runs);
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 2, "", "'--limit': expected a number", "runs", "--limit", "0");
    lab_remove(&it);
}

static void test_record__tree_is_the_one_that_the_run_ended_with(void)
{
    lab it;
    program_result ran, tree;

    if (!lab_make_in(&it, "tests/cli/teams"))
        return;
    if (LAB_RUN(&it, &ran, "run", "desk.yaml", "Return", "--offline")) {
        const char *drawn = strchr(ran.err, '\n') + 1; // below the trace id
        if (LAB_RUN(&it, &tree, "tree")) {
            const char *summary = strstr(tree.out, "\ncompleted, 3 agents, 2 model");
            CHECK_INT(tree.exit_status, 0);
            size_t len = summary ? (size_t)(summary - tree.out) : 0;
            CHECK(len > 0);
            CHECK_BYTES(tree.out, len, drawn, len);
            program_result_fini(&tree);
        }
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &tree, "tree", it.trace, "--all")) {
        CHECK_CONTAINS(tree.out, "├─ openai/gpt-5-mini ");
        CHECK_CONTAINS(tree.out, "├─ transfer_to_agent ");
        program_result_fini(&tree);
    }
    lab_remove(&it);
}

static void test_record__tree_as_json_has_the_frames_of_the_run(void)
{
    lab it;
    program_result ran;

    if (!record_desk(&it))
        return;
    if (LAB_RUN(&it, &ran, "tree", it.trace, "--json")) {
        json_t *object = json_loads(ran.out, 0, NULL);
        const json_t *frames = json_object_get(object, "frames");
        CHECK_TEXT(json_string_value(json_object_get(object, "trace_id")), it.trace);
        CHECK_TEXT(json_string_value(json_object_get(object, "status")), "completed");
        CHECK_INT(json_array_size(frames), 3);
        CHECK_TEXT(
            json_string_value(json_object_get(json_array_get(frames, 2), "parent_id")),
            json_string_value(json_object_get(json_array_get(frames, 1), "id")));
        json_decref(object);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_record__show_is_the_transcript(void)
{
    static const char transcript[] =
        "user\n  Return order 1042\n\n"
        "triage\n  calls transfer_to_agent "
        "{\"agent\":\"after_sales\",\"message\":\"wants to return order 1042\"}\n\n"
        "tool transfer_to_agent\n"
        "  Handed over to after_sales, who answers from here.\n\n"
        "triage to after_sales\n  wants to return order 1042\n\n"
        "after_sales\n  Your return label is on its way.\n";
    lab it;

    if (!record_desk(&it))
        return;
    LAB_CHECK(&it, 0, transcript, "", "show", it.trace);
    LAB_CHECK(&it, 2, "", "conversation 'none'", "show", it.trace, "--conversation",
              "none");
    lab_remove(&it);
}

// A fork is a conversation of its own, which the main one does not tell.
static void test_record__show_tells_of_forks(void)
{
    lab it;
    program_result ran;

    if (!lab_make_in(&it, "tests/cli/teams"))
        return;
    if (LAB_RUN(&it, &ran, "run", "forks.yaml", "Is it?", "--offline"))
        program_result_fini(&ran);
    LAB_CHECK(&it, 0, "user\n  Is it?\n\nboth\n  4\n",
              "2 more conversations, of its members: `cadre show ", "show");
    if (LAB_RUN(&it, &ran, "show", "--all")) {
        CHECK_TEXT(ran.err, "");
        CHECK_CONTAINS(ran.out, "user\n  Is it?\n\nboth\n  4\n\nconversation ");
        CHECK_CONTAINS(ran.out,
                       "\n\nboth to solo\n  Is it?\n\nsolo\n  Yes.\n\nconversation ");
        CHECK_CONTAINS(ran.out, "\n\nboth to both.count\n");
        CHECK_CONTAINS(ran.out, "\n\nboth.count\n  4\n");
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 2, "", "'--all' and '--conversation' exclude each other", "show",
              "--all", "--conversation", "none");
    lab_remove(&it);
}

static void test_record__show_obeys_no_escape_sequence(void)
{
    lab it;
    program_result ran;

    if (!lab_make_in(&it, "tests/cli/teams"))
        return;
    if (LAB_RUN(&it, &ran, "run", "solo.yaml", "clear \033[2J\nand go", "--script",
                "escape_script.yaml"))
        program_result_fini(&ran);
    if (LAB_RUN(&it, &ran, "show")) {
        CHECK_LACKS(ran.out, "\033");
        CHECK_CONTAINS(ran.out, "user\n  clear \\x1b[2J\n  and go\n");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_record__what_is_not_there_is_exit_5(void)
{
    lab it;

    if (!lab_make_in(&it, "tests/cli/teams"))
        return;
    LAB_CHECK(&it, 5, "", "no run is recorded there", "runs");
    LAB_CHECK(&it, 5, "", "no run is recorded there", "tree");
    lab_remove(&it);
    if (!record_desk(&it))
        return;
    LAB_CHECK(&it, 5, "", "no run 2ng3k83rwk2d-1 in this store", "show",
              "2ng3k83rwk2d-1");
    LAB_CHECK(&it, 5, "", "no run 2ng3k83rwk2d-1 in this store", "resume",
              "2ng3k83rwk2d-1", "desk.yaml");
    LAB_CHECK(&it, 2, "", "'first' is not the id of a run", "tree", "first");
    LAB_CHECK(&it, 2, "", "'first' is not the id of a run", "resume", "first",
              "desk.yaml");
    lab_remove(&it);
}

// --- What the record says ---

static void test_record__runs_can_be_sifted_and_show_their_session(void)
{
    lab it;
    program_result ran;

    if (!lab_make_cut(&it, "ada"))
        return;
    if (LAB_RUN(&it, &ran, "run", "solo.yaml", "hi", "--offline"))
        program_result_fini(&ran);
    if (LAB_RUN(&it, &ran, "runs", "--status", "cut")) {
        CHECK_CONTAINS(ran.out, "  cut        customer_desk  session 'ada'  ");
        CHECK_LACKS(ran.out, "completed");
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "runs", "--status", "cut", "--limit", "1", "--json")) {
        json_t *runs = json_loads(ran.out, 0, NULL);
        const json_t *run = json_array_get(runs, 0);
        const json_t *metadata = json_object_get(run, "metadata");
        CHECK_INT(json_array_size(runs), 1);
        CHECK_TEXT(json_string_value(json_object_get(run, "session")), "ada");
        CHECK_CONTAINS(json_string_value(json_object_get(metadata, "team_file")),
                       "/tests/cli/teams/desk.yaml");
        CHECK_CONTAINS(json_string_value(json_object_get(metadata, "script")),
                       "/script.yaml");
        CHECK(json_is_true(json_object_get(run, "offline")));
        json_decref(runs);
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 2, "", "'--status': expected cut, ", "runs", "--status", "done");
    lab_remove(&it);
}

static void test_record__show_as_json_has_every_message(void)
{
    lab it;
    program_result ran;

    if (!record_desk(&it))
        return;
    if (LAB_RUN(&it, &ran, "show", it.trace, "--json")) {
        json_t *said = json_loads(ran.out, 0, NULL);
        const json_t *last = json_array_get(said, json_array_size(said) - 1);
        const json_t *call =
            json_array_get(json_object_get(json_array_get(said, 1), "tool_calls"), 0);
        CHECK_INT(json_array_size(said), 5);
        CHECK_TEXT(json_string_value(json_object_get(last, "role")), "assistant");
        CHECK_TEXT(json_string_value(json_object_get(last, "agent")), "after_sales");
        CHECK_TEXT(json_string_value(json_object_get(last, "content")),
                   "Your return label is on its way.");
        CHECK_INT(json_integer_value(json_object_get(last, "position")), 4);
        CHECK(json_integer_value(json_object_get(last, "seq")) > 0);
        CHECK(json_is_string(json_object_get(last, "conversation_id")));
        CHECK_TEXT(json_string_value(json_object_get(call, "name")),
                   "transfer_to_agent");
        json_decref(said);
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 2, "[]\n", "conversation 'none'", "show", it.trace, "--json",
              "--conversation", "none");
    lab_remove(&it);
}

// --- Requests ---

static void test_record__a_request_made_again_is_answered_from_the_record(void)
{
    char first[32];
    lab it;

    if (!lab_make_in(&it, "tests/cli/teams"))
        return;
    LAB_CHECK(&it, 0, "Your return label is on its way.\n", "\ncompleted, 3 agents",
              "run", "desk.yaml", "Return", "--offline", "--request-id", "r-1");
    memcpy(first, it.trace, sizeof(first));
    LAB_CHECK(&it, 0, "Your return label is on its way.\n", "\ncompleted, 3 agents",
              "run", "desk.yaml", "Return", "--offline", "--request-id", "r-1");
    CHECK_TEXT(it.trace, first);
    LAB_CHECK(&it, 2, "", "request 'r-1' was made with another team or input by run",
              "run", "desk.yaml", "Change", "--offline", "--request-id", "r-1");
    LAB_CHECK(&it, 2, "", "'--request-id': the name is empty", "run", "desk.yaml", "x",
              "--request-id", "");
    lab_remove(&it);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_record__runs_lists_the_newest_first),
    CHECK_TEST(test_record__tree_is_the_one_that_the_run_ended_with),
    CHECK_TEST(test_record__tree_as_json_has_the_frames_of_the_run),
    CHECK_TEST(test_record__show_is_the_transcript),
    CHECK_TEST(test_record__show_tells_of_forks),
    CHECK_TEST(test_record__show_obeys_no_escape_sequence),
    CHECK_TEST(test_record__what_is_not_there_is_exit_5),
    CHECK_TEST(test_record__runs_can_be_sifted_and_show_their_session),
    CHECK_TEST(test_record__show_as_json_has_every_message),
    CHECK_TEST(test_record__a_request_made_again_is_answered_from_the_record),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/record", tests);
}
