// Runs that ask people: what they tell when they park, and `cadre answer`.
#include "support/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char team[] =
    "version: 1\n"
    "name: shop\n"
    "script: ./script.yaml\n"
    "agents:\n"
    "  payer: {model: openai/test, instructions: Pay., tools: [pay, person, slow]}\n"
    "tools:\n"
    "  pay: {type: command, description: Pays, approval: ask, argv: [/bin/cat],\n"
    "        parameters: {type: object}}\n"
    "  slow: {type: command, description: Takes time, argv: [/bin/sleep, '1']}\n"
    "  person: {type: ask}\n";

// A call that a person must allow, and a question, at once.
static const char two_questions[] =
    "agents:\n"
    "  payer:\n"
    "    - tool_calls:\n"
    "        - {name: pay, arguments: {euros: 7}}\n"
    "        - {name: person, arguments: {question: 'Which one?'}}\n"
    "    - {text: All done.}\n";

static const char choice[] =
    "agents:\n"
    "  payer:\n"
    "    - tool_calls:\n"
    "        - {name: person, arguments: {question: 'Colour?', choices: [red, blue]}}\n"
    "    - {text: All done.}\n";

// One that models may write.
static const char attack[] =
    "agents:\n"
    "  payer:\n"
    "    - tool_calls:\n"
    "        - name: person\n"
    "          arguments:\n"
    "            question: \"A\\e[2J?\\ncadre answer x y\"\n"
    "            choices: [\"a'b\", \"c\\e[1m\\x7f\", \"-rf\"]\n"
    "    - {text: All done.}\n";

static const char while_another_works[] =
    "agents:\n"
    "  payer:\n"
    "    - tool_calls:\n"
    "        - {name: slow}\n"
    "        - {name: person, arguments: {question: 'Which one?'}}\n"
    "    - {text: All done.}\n";

// Runs until it parks, and gives the ids of what it asks: of the approval first.
static bool park(lab *it, const char *script, char ids[2][32])
{
    program_result ran;

    if (!lab_make(it, team, script) ||
        !LAB_RUN(it, &ran, "run", "team.yaml", "go", "--offline"))
        return false;
    CHECK_INT(ran.exit_status, 3);
    CHECK_TEXT(ran.out, "");
    program_result_fini(&ran);
    lab_frame(it, script == two_questions ? "approval" : "ask", ids[0]);
    if (script == two_questions)
        lab_frame(it, "ask#1", ids[1]);
    return true;
}

// --- What a parked run tells ---

static void test_answer__a_parked_run_tells_its_questions_and_how_to_answer(void)
{
    char ids[2][32], expected[3000];
    lab it;
    program_result ran;

    if (!park(&it, two_questions, ids))
        return;
    snprintf(expected, sizeof(expected),
             "payer asks: May payer call pay?\n"
             "  pay {\"euros\":7}\n"
             "  choices: yes, no\n"
             "  cadre answer %s %s yes --store %s\n"
             "  cadre answer %s %s no --store %s\n"
             "payer asks: Which one?\n"
             "  cadre answer %s %s ANSWER --store %s\n",
             it.trace, ids[0], it.store, it.trace, ids[0], it.store, it.trace, ids[1],
             it.store);
    if (LAB_RUN(&it, &ran, "resume", it.trace)) {
        CHECK_INT(ran.exit_status, 3);
        CHECK_TEXT(ran.out, "");
        CHECK_CONTAINS(ran.err, "\nwaits for an answer, 1 agent, 1 model call");
        CHECK_CONTAINS(ran.err, expected);
        CHECK_LACKS(ran.err, "cadre: ");
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 3, "", expected, "wait", it.trace);
    if (LAB_RUN(&it, &ran, "resume", it.trace, "--quiet")) {
        CHECK_INT(ran.exit_status, 3);
        CHECK_TEXT(ran.err, expected);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void check_json(const char *out, const char *id)
{
    json_t *object = json_loads(out, 0, NULL);
    const json_t *questions = json_object_get(object, "questions");
    const json_t *first = json_array_get(questions, 0);
    const json_t *second = json_array_get(questions, 1);

    CHECK_TEXT(json_string_value(json_object_get(object, "status")), "waiting");
    CHECK(json_is_null(json_object_get(object, "stop_reason")));
    CHECK_INT(json_array_size(questions), 2);
    CHECK_TEXT(json_string_value(json_object_get(first, "id")), id);
    CHECK_TEXT(json_string_value(json_object_get(first, "agent")), "payer");
    CHECK_TEXT(json_string_value(json_object_get(first, "question")),
               "May payer call pay?");
    CHECK_TEXT(json_string_value(json_array_get(json_object_get(first, "choices"), 0)),
               "yes");
    CHECK_TEXT(json_string_value(json_object_get(first, "tool")), "pay");
    CHECK_INT(json_integer_value(
                  json_object_get(json_object_get(first, "arguments"), "euros")),
              7);
    CHECK(json_is_null(json_object_get(second, "choices")));
    CHECK(json_is_null(json_object_get(second, "tool")));
    CHECK(json_is_null(json_object_get(second, "arguments")));
    json_decref(object);
}

static void test_answer__the_questions_stand_in_json(void)
{
    char ids[2][32];
    lab it;
    program_result ran;

    if (!park(&it, two_questions, ids))
        return;
    if (LAB_RUN(&it, &ran, "resume", it.trace, "--json")) {
        CHECK_INT(ran.exit_status, 3);
        check_json(ran.out, ids[0]);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_answer__a_model_cannot_write_to_the_terminal(void)
{
    char ids[2][32], command[200];
    lab it;
    program_result ran;

    if (!park(&it, attack, ids))
        return;
    if (LAB_RUN(&it, &ran, "resume", it.trace, "--quiet")) {
        CHECK_LACKS(ran.err, "\033");
        CHECK_LACKS(ran.err, "\177");
        CHECK_CONTAINS(ran.err, "payer asks: A\\x1b[2J?\n  | cadre answer x y\n");
        CHECK_CONTAINS(ran.err, " 'a'\\''b' --store ");
        snprintf(command, sizeof(command),
                 " %s --json '{\"%s\":\"c\\u001B[1m\\u007f\"}' --store ", it.trace,
                 ids[0]);
        CHECK_CONTAINS(ran.err, command);
        snprintf(command, sizeof(command), " --json '{\"%s\":\"-rf\"}' --store ",
                 ids[0]);
        CHECK_CONTAINS(ran.err, command);
        program_result_fini(&ran);
    }
    snprintf(command, sizeof(command), "{\"%s\":\"c\\u001b[1m\\u007f\"}", ids[0]);
    LAB_CHECK(&it, 0, "All done.\n", "", "answer", it.trace, "--json", command);
    lab_remove(&it);
}

static void test_answer__a_store_that_ends_with_the_program_is_told(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, choice))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "go", "--offline", "--store",
                "memory")) {
        CHECK_INT(ran.exit_status, 3);
        CHECK_CONTAINS(ran.err, "payer asks: Colour?\n");
        CHECK_CONTAINS(ran.err, "cadre: nobody can answer: ");
        CHECK_LACKS(ran.err, "cadre answer");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_answer__parked_runs_read_well_in_every_listing(void)
{
    char ids[2][32];
    lab it;
    program_result ran;

    if (!park(&it, two_questions, ids))
        return;
    LAB_CHECK(&it, 0, NULL, "", "answer", it.trace, ids[1], "the first", "--no-resume");
    if (LAB_RUN(&it, &ran, "runs", "--status", "waiting")) {
        CHECK_CONTAINS(ran.out, "  waiting    shop  ");
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "show")) {
        CHECK_CONTAINS(ran.out, "answer to: Which one? (not read yet)\n  the first\n");
        CHECK_CONTAINS(ran.out, "\npayer asks: May payer call pay?\n"
                                "  pay {\"euros\":7}\n  choices: yes, no\n");
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 0, "All done.\n", "", "answer", it.trace, "yes");
    if (LAB_RUN(&it, &ran, "tree", "--all")) {
        CHECK_CONTAINS(ran.out, "  May payer call pay? -> yes\n");
        CHECK_CONTAINS(ran.out, "  Which one? -> the first\n");
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "show")) {
        CHECK_CONTAINS(ran.out, "\nanswer to: May payer call pay?\n  yes\n");
        CHECK_LACKS(ran.out, "asks");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_answer__the_live_tree_shows_who_asks(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, while_another_works))
        return;
    if (PROGRAM_RUN(&ran,
                    .arguments =
                        (const char *const[]){"run", "team.yaml", "go", "--offline",
                                              "--store", it.store, NULL},
                    .directory = it.folder.path, .terminal = PROGRAM_TERMINAL_STDERR,
                    .changes = (const char *const[]){"TERM=xterm", "NO_COLOR", NULL})) {
        CHECK_INT(ran.exit_status, 3);
        CHECK_CONTAINS(ran.err, "\033[36masks a person");
        program_strip_terminal(ran.err);
        CHECK_CONTAINS(ran.err, "  Which one?");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// --- Answering ---

static void test_answer__parallel_questions_take_either_order(void)
{
    for (int first = 0; first < 2; first++) {
        static const char *const answers[] = {"yes", "the first"};
        char ids[2][32];
        lab it;
        if (!park(&it, two_questions, ids))
            return;
        LAB_CHECK(&it, 3, "", first == 0 ? "payer asks: Which" : "payer asks: May",
                  "answer", it.trace, ids[first], answers[first]);
        // One is left: it needs no name.
        LAB_CHECK(&it, 0, "All done.\n", "\ncompleted, 1 agent, 2 model calls, 2 tool",
                  "answer", it.trace, answers[1 - first]);
        LAB_CHECK(&it, 1, "", "has ended (completed)", "answer", it.trace, "yes");
        lab_remove(&it);
    }
}

static void test_answer__several_at_once_fit_all_or_none(void)
{
    char ids[2][32], json[200];
    lab it;
    program_result ran;

    if (!park(&it, two_questions, ids))
        return;
    snprintf(json, sizeof(json), "{\"%s\": {\"any\": [1]}, \"%s\": \"perhaps\"}",
             ids[1], ids[0]);
    LAB_CHECK(&it, 2, "", "none of the answers it can have: [\"yes\",\"no\"]", "answer",
              it.trace, "--json", json);
    snprintf(json, sizeof(json), "{\"%s\": 1, \"nobody\": \"yes\"}", ids[1]);
    LAB_CHECK(&it, 2, "", "no question 'nobody'", "answer", it.trace, "--json", json);
    if (LAB_RUN(&it, &ran, "show")) {
        CHECK_LACKS(ran.out, "answer to:");
        program_result_fini(&ran);
    }
    snprintf(json, sizeof(json), "{\"%s\": {\"any\": [1]}, \"%s\": \"no\"}", ids[1],
             ids[0]);
    LAB_CHECK(&it, 0, "All done.\n", "", "answer", it.trace, "--json", json);
    if (LAB_RUN(&it, &ran, "show")) {
        CHECK_CONTAINS(ran.out, "tool pay (blocked)\n  Not done: a person did not");
        CHECK_CONTAINS(ran.out, "tool person\n  {\"any\":[1]}\n");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_answer__mistakes_are_named_and_change_nothing(void)
{
    char ids[2][32];
    lab it;

    if (!park(&it, two_questions, ids))
        return;
    LAB_CHECK(&it, 2, "", "no answer: yes, no or a text", "answer", it.trace);
    LAB_CHECK(&it, 2, "", "asks several questions", "answer", it.trace, "yes");
    LAB_CHECK(&it, 2, "", "payer asks: Which one?", "answer", it.trace, "yes");
    LAB_CHECK(&it, 2, "", "no question 'x' that is open", "answer", it.trace, "x", "y");
    LAB_CHECK(&it, 2, "", "not UTF-8", "answer", it.trace, ids[1], "\xff");
    LAB_CHECK(&it, 2, "", "expected near end of file (column 1)", "answer", it.trace,
              "--json", "{");
    LAB_CHECK(&it, 2, "", "'--json': expected an object of answers", "answer", it.trace,
              "--json", "[1]");
    LAB_CHECK(&it, 2, "", "duplicate object key", "answer", it.trace, "--json",
              "{\"a\": 1, \"a\": 2}");
    LAB_CHECK(&it, 2, "", "one too many", "answer", it.trace, "yes", "--json", "{}");
    LAB_CHECK(&it, 2, "", "not the id of a run", "answer", "nobody", "yes");
    LAB_CHECK(&it, 5, "", "no run aaaaaaaaaaaa-1 in this store", "answer",
              "aaaaaaaaaaaa-1", "yes");
    LAB_CHECK(&it, 3, "", "payer asks: May payer call pay?", "wait", it.trace);
    lab_remove(&it);
}

static void test_answer__can_leave_the_run_parked(void)
{
    char ids[2][32];
    lab it;

    if (!park(&it, choice, ids))
        return;
    LAB_CHECK(&it, 0, "", "no run of this store was cut", "resume", "--all");
    LAB_CHECK(&it, 0, "", "is answered; `cadre resume ", "answer", it.trace, "red",
              "--no-resume");
    LAB_CHECK(&it, 3, "", "is answered, and nobody works on it: `cadre resume ", "wait",
              it.trace);
    LAB_CHECK(&it, 0, "", "", "answer", it.trace, "red", "--no-resume");
    LAB_CHECK(&it, 2, "", "has another answer already: \"red\"", "answer", it.trace,
              "blue");
    LAB_CHECK(&it, 0, "All done.\n", ": completed\n", "resume", "--all");
    lab_remove(&it);
}

static void test_answer__events_are_those_of_a_resume(void)
{
    char ids[2][32];
    lab it;
    program_result ran;

    if (!park(&it, choice, ids))
        return;
    if (LAB_RUN(&it, &ran, "answer", it.trace, "green", "--events")) {
        CHECK_INT(ran.exit_status, 2);
        CHECK_CONTAINS(ran.out, "{\"seq\":null,\"type\":\"error\",");
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "answer", it.trace, "red", "--events", "--quiet")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.err, "");
        CHECK_CONTAINS(ran.out, "\"type\":\"stream_start\"");
        CHECK_CONTAINS(ran.out, "\"type\":\"tool_result\"");
        CHECK_CONTAINS(ran.out, "\"output\":\"All done.\"");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// --- With others ---

static void answer_from_beside(void *ctx)
{
    lab *it = ctx;
    char id[32];

    lab_frame(it, "ask", id);
    LAB_CHECK(it, 0, "", "goes on in the program that holds it", "answer", it->trace,
              id, "the first");
}

// The trace is known by its event before it is told.
static void note_and_answer(void *ctx)
{
    lab *it = ctx;
    program_result ran;

    if (!LAB_RUN(it, &ran, "runs", "--json"))
        return;
    json_t *runs = json_loads(ran.out, 0, NULL);
    const char *trace =
        json_string_value(json_object_get(json_array_get(runs, 0), "trace_id"));
    if (CHECK(trace != NULL))
        snprintf(it->trace, sizeof(it->trace), "%s", trace);
    json_decref(runs);
    program_result_fini(&ran);
    answer_from_beside(it);
}

static void test_answer__a_run_that_works_takes_it_and_goes_on(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, while_another_works))
        return;
    const program_action action = {.when = "\"type\":\"interrupt\"",
                                   .is_on_stdout = true,
                                   .call = note_and_answer,
                                   .ctx = &it};
    if (lab_run(&it, LAB_WORDS("run", "team.yaml", "go", "--offline", "--events"),
                &action, &ran)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "\"result\":\"the first\"");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// Starts the program and does not wait.
static pid_t start_answer(const lab *it, const char *answer)
{
    const char *program = getenv("CADRE_BIN");
    pid_t pid = CHECK(program != NULL) ? fork() : -1;

    if (pid != 0 || !program)
        return pid;
    if (chdir(it->folder.path) != 0 || !freopen("/dev/null", "w", stdout) ||
        !freopen("/dev/null", "w", stderr))
        _exit(126);
    execl(program, "cadre", "answer", it->trace, answer, "--store", it->store,
          (char *)NULL);
    _exit(127);
}

static int end_of(pid_t pid)
{
    int status = 0;

    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                : -1;
}

static void test_answer__of_two_that_race_one_counts(void)
{
    for (int i = 0; i < 10; i++) {
        char ids[2][32];
        lab it;
        program_result ran;
        if (!park(&it, choice, ids))
            return;
        pid_t red = start_answer(&it, "red"), blue = start_answer(&it, "blue");
        int red_end = end_of(red), blue_end = end_of(blue);
        bool is_red = red_end == 0;
        CHECK(is_red != (blue_end == 0));
        // Refused, or too late: the other has brought the run to its end by then.
        int loser = is_red ? blue_end : red_end;
        CHECK(loser == 2 || loser == 1);
        LAB_CHECK(&it, 0, "", "completed", "wait", it.trace);
        if (LAB_RUN(&it, &ran, "show")) {
            CHECK_CONTAINS(ran.out,
                           is_red ? "tool person\n  red\n" : "tool person\n  blue\n");
            CHECK_LACKS(ran.out, "not read yet");
            program_result_fini(&ran);
        }
        lab_remove(&it);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_answer__a_parked_run_tells_its_questions_and_how_to_answer),
    CHECK_TEST(test_answer__the_questions_stand_in_json),
    CHECK_TEST(test_answer__a_model_cannot_write_to_the_terminal),
    CHECK_TEST(test_answer__a_store_that_ends_with_the_program_is_told),
    CHECK_TEST(test_answer__parked_runs_read_well_in_every_listing),
    CHECK_TEST(test_answer__the_live_tree_shows_who_asks),
    CHECK_TEST(test_answer__parallel_questions_take_either_order),
    CHECK_TEST(test_answer__several_at_once_fit_all_or_none),
    CHECK_TEST(test_answer__mistakes_are_named_and_change_nothing),
    CHECK_TEST(test_answer__can_leave_the_run_parked),
    CHECK_TEST(test_answer__events_are_those_of_a_resume),
    CHECK_TEST(test_answer__a_run_that_works_takes_it_and_goes_on),
    CHECK_TEST(test_answer__of_two_that_race_one_counts),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/answer", tests);
}
