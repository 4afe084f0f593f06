// --record and --script: runs that are recorded and made again.
#include "support/lab.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A hotel: calls beside each other, members of three kinds, a person who allows.
static const char team[] =
    "script: ./script.yaml\n"
    "agents:\n"
    "  desk: {type: chain, members: [first, both, lead]}\n"
    "  first: {model: openai/test, instructions: Look., tools: [look, pay]}\n"
    "  both: {type: parallel, members: [left, right], parallel: {wait: any}}\n"
    "  left: {model: openai/test}\n"
    "  right: {model: openai/test}\n"
    "  lead: {type: coordinator, entry: boss, members: [boss, helper]}\n"
    "  boss: {model: openai/test}\n"
    "  helper: {model: openai/test, description: Helps}\n"
    "tools:\n"
    "  look: {type: command, argv: [sh, -c, \"cat >>log; echo seen\"],\n"
    "         parameters: {type: object}}\n"
    "  pay: {type: command, approval: ask, argv: [sh, -c, \"echo paid >>log; echo "
    "paid\"],\n"
    "        parameters: {type: object}}\n";

static const char script[] =
    "agents:\n"
    "  first:\n"
    "    - {error: {status: 503}}\n"
    "    - tool_calls:\n"
    "        - {name: look, arguments: {n: 1}}\n"
    "        - {name: look, arguments: '{\"n\": 2.50}'}\n"
    "        - {name: pay, arguments: {euros: 7}}\n"
    "      usage: {input_tokens: 12, output_tokens: 3}\n"
    "    - {text: Looked.}\n"
    "  left: [{text: Left was slow., delay: 60s}]\n"
    "  right: [{text: Right won., delay: 20ms}]\n"
    "  boss:\n"
    "    - {tool_calls: [{name: helper, arguments: {request: Help.}}]}\n"
    "    - {text: All done.}\n"
    "  helper: [{error: {status: 400, message: no}}]\n";

// --- Support ---

// What a command prints of the run that was told last. free() it.
static char *print_run(lab *it, const char *command, const char *option)
{
    program_result ran;

    if (!LAB_RUN(it, &ran, command, it->trace, option))
        return NULL;
    CHECK_INT(ran.exit_status, 0);
    char *printed = strdup(ran.out);
    program_result_fini(&ran);
    return printed;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// What the frames of two runs of the same have in common, a line each, sorted, since
// branches are born in any order. free() it.
static char *print_frames(lab *it)
{
    static const char *const keys[] = {"key",    "kind",  "referer",     "depth",
                                       "status", "delta", "stop_reason", "usage"};
    char *lines[64] = {NULL};
    json_t *tree = NULL;
    program_result ran;
    size_t i, n = 0;
    json_t *frame;

    if (LAB_RUN(it, &ran, "tree", it->trace, "--all", "--json")) {
        tree = json_loads(ran.out, 0, NULL);
        program_result_fini(&ran);
    }
    json_array_foreach(json_object_get(tree, "frames"), i, frame)
    {
        json_t *line = json_array();
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
            json_array_append(line, json_object_get(frame, keys[k]));
        // Others have more where the run was parked, which a replay is not.
        const char *kind = json_string_value(json_object_get(frame, "kind"));
        if (kind && strcmp(kind, "model") == 0)
            json_array_append(line, json_object_get(frame, "attempts"));
        if (CHECK(n < 64))
            lines[n++] = json_dumps(line, JSON_COMPACT);
        json_decref(line);
    }
    CHECK(n > 0);
    qsort(lines, n, sizeof(lines[0]), compare_lines);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    for (i = 0; i < n; i++) {
        fprintf(stream, "%s\n", lines[i]);
        free(lines[i]);
    }
    fclose(stream);
    json_decref(tree);
    return text;
}

// A run as it can be looked at.
typedef struct picture {
    char *said, *frames, *script;
} picture;

static picture take_picture(lab *it)
{
    return (picture){print_run(it, "show", NULL), print_frames(it),
                     print_run(it, "show", "--script")};
}

static void check_same(picture *second, picture *first)
{
    CHECK_TEXT(second->said, first->said);
    CHECK_TEXT(second->frames, first->frames);
    CHECK_TEXT(second->script, first->script);
    picture *both[] = {first, second};
    for (size_t i = 0; i < 2; i++) {
        free(both[i]->said);
        free(both[i]->frames);
        free(both[i]->script);
    }
}

// The same run again, from its recording. Its picture must be the same, and its end.
static void check_replay(lab *it, const char *file, const char *input, int exit_status)
{
    program_result ran;
    picture first = take_picture(it);
    picture second = {NULL, NULL, NULL};

    if (LAB_RUN(it, &ran, "run", "team.yaml", input, "--script", file)) {
        CHECK_INT(ran.exit_status, exit_status);
        program_result_fini(&ran);
        second = take_picture(it);
    }
    check_same(&second, &first);
}

// --- A whole run ---

// Runs the hotel until it asks whether to pay, and allows that.
static bool record_hotel(lab *it)
{
    program_result ran;

    if (!lab_make(it, team, script) || !LAB_RUN(it, &ran, "run", "team.yaml", "A room",
                                                "--offline", "--record", "parked.yaml"))
        return false;
    CHECK_INT(ran.exit_status, 3);
    program_result_fini(&ran);
    if (!LAB_RUN(it, &ran, "answer", it->trace, "yes", "--record", "run.yaml"))
        return false;
    CHECK_INT(ran.exit_status, 0);
    CHECK_TEXT(ran.out, "All done.\n");
    program_result_fini(&ran);
    return true;
}

static void test_recording__is_made_again_without_tools_and_people(void)
{
    lab it;

    if (!record_hotel(&it))
        return;
    char *before = lab_read(&it, "log");
    CHECK_CONTAINS(before, "paid\n");
    check_replay(&it, "run.yaml", "A room", 0);
    lab_check_file(&it, "log", before ? before : "");
    free(before);
    lab_remove(&it);
}

static void test_recording__of_a_parked_run_asks_again(void)
{
    lab it;

    if (!record_hotel(&it))
        return;
    LAB_CHECK(&it, 3, "", "pay {\"euros\":7}", "run", "team.yaml", "A room", "--script",
              "parked.yaml", "--plain");
    lab_remove(&it);
}

static void test_recording__is_the_same_from_the_store(void)
{
    lab it;
    program_result ran;

    if (!record_hotel(&it))
        return;
    if (LAB_RUN(&it, &ran, "show", it.trace, "--script")) {
        lab_check_file(&it, "run.yaml", ran.out);
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 0, NULL, "", "run", "team.yaml", "A room", "--script", "run.yaml",
              "--record", "again.json", "--quiet");
    check_replay(&it, "again.json", "A room", 0);
    lab_remove(&it);
}

// --- Differences ---

static void test_recording__tells_the_first_difference(void)
{
    static const struct {
        const char *from, *to; // in the team file
        const char *told;
    } cases[] = {
        {"Look.", "Look twice.",
         "agent 'first' step 1 (at '1 > 1'): its system text (instructions) is "
         "another one"},
        {"tools: [look, pay]", "tools: [look]",
         "agent 'first' step 1 (at '1 > 1'): it was offered the tool 'pay', now "
         "it "
         "is not"},
        {"boss: {model: openai/test", "boss: {model: openai/other",
         "agent 'boss' step 1 (at '3 > boss#1 > 1'): the model was "
         "\"openai/test\", "
         "now it is \"openai/other\""},
        {"members: [first, both, lead]", "members: [first, lead]",
         "agent 'boss' asks its model (at '2 > boss#1 > 1'), where the recording has "
         "nothing; the first of what it has and was not made: agent 'right' step 1 "
         "(at '2 > b1/2 > 1')"},
        {"members: [first, both, lead]", "members: [both, first, lead]",
         "asks its model (at '1 > b1/"}, // one of the two, whoever comes first
        {"members: [first, both, lead]", "members: [first, both]",
         "agent 'boss' step 1 (at '3 > boss#1 > 1') is left over: the run did "
         "less "
         "than was recorded"},
        {"entry: boss", "entry: helper", "agent 'helper' asks its model"},
        {"wait: any", "wait: all",
         "agent 'left' step 1 (at '2 > b1/1 > 1'): it was stopped in the recording; "
         "nothing stops it now"},
    };
    lab it;
    char changed[2000];

    if (!record_hotel(&it))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *at = strstr(team, cases[i].from);
        snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - team), team,
                 cases[i].to, at + strlen(cases[i].from));
        lab_write(&it, "team.yaml", changed);
        LAB_CHECK(&it, 1, "", cases[i].told, "run", "team.yaml", "A room", "--script",
                  "run.yaml", "--quiet");
    }
    lab_write(&it, "team.yaml", team);
    LAB_CHECK(&it, 1, "", "the input was \"A room\", now it is \"A suite\"", "run",
              "team.yaml", "A suite", "--script", "run.yaml", "--quiet");
    lab_remove(&it);
}

static void test_recording__a_difference_is_diverged(void)
{
    lab it;
    program_result ran;

    if (!record_hotel(&it))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "A suite", "--script", "run.yaml",
                "--json")) {
        json_t *object = json_loads(ran.out, 0, NULL);
        const json_t *error = json_object_get(object, "error");
        CHECK_INT(ran.exit_status, 1);
        CHECK_TEXT(json_string_value(json_object_get(object, "stop_reason")),
                   "diverged");
        CHECK_TEXT(json_string_value(json_object_get(error, "class")), "diverged");
        CHECK(json_is_false(json_object_get(error, "retryable")));
        json_decref(object);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// An answer that is edited, a tool that was not: calls differ where it counts.
static void test_recording__compares_the_arguments_of_tools(void)
{
    lab it;
    char *text = NULL;

    if (!record_hotel(&it))
        return;
    text = lab_read(&it, "run.yaml");
    char *call = text ? strstr(text, "arguments: {euros: 7}") : NULL;
    if (CHECK(call != NULL)) {
        call[strlen("arguments: {euros: ")] = '8';
        lab_write(&it, "edited.yaml", text);
        LAB_CHECK(&it, 1, "",
                  "tool 'pay' result 1 (at '1 > 1/2'): agent 'first' called it "
                  "with {\"euros\":8}, the recording has {\"euros\":7}",
                  "run", "team.yaml", "A room", "--script", "edited.yaml", "--quiet");
    }
    free(text);
    lab_remove(&it);
}

// --- Runs that did not end well ---

static const char solo_team[] = "script: ./script.yaml\n"
                                "agents:\n"
                                "  solo: {model: openai/test, tools: [slow]}\n"
                                "tools:\n"
                                "  slow: {type: command, argv: [sleep, '60']}\n";

static void test_recording__of_a_failed_run_fails_again(void)
{
    lab it;

    if (!lab_make(&it, solo_team,
                  "agents:\n  solo: [{error: {status: 401, message: who are you}}]\n"))
        return;
    LAB_CHECK(&it, 1, "", "who are you", "run", "team.yaml", "hi", "--offline",
              "--record", "run.yaml");
    check_replay(&it, "run.yaml", "hi", 1);
    LAB_CHECK(&it, 1, "", "who are you", "run", "team.yaml", "hi", "--script",
              "run.yaml");
    lab_remove(&it);
}

// Stopped while it speaks, and while its tool runs.
static void test_recording__of_a_stopped_run_stops_there_again(void)
{
    static const struct {
        const char *script, *when;
    } cases[] = {
        {"agents:\n  solo: [{text: One moment., chunks: 2, delay: 100s}]\n",
         "\"message_start\""},
        {"agents:\n  solo: [{text: Hm., tool_calls: [{name: slow}]}, {text: x}]\n",
         "\"tool_call\""},
    };
    lab it;
    program_result ran;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const program_action action = {
            .when = cases[i].when, .is_on_stdout = true, .signal = SIGINT};
        const char *const words[] = {"run",      "team.yaml", "hi",       "--offline",
                                     "--events", "--record",  "run.yaml", NULL};
        if (!lab_make(&it, solo_team, cases[i].script))
            return;
        if (lab_run(&it, words, &action, &ran)) {
            CHECK_INT(ran.exit_status, 4);
            program_result_fini(&ran);
            check_replay(&it, "run.yaml", "hi", 4);
        }
        lab_remove(&it);
    }
}

static void test_recording__of_a_resumed_run_is_whole(void)
{
    lab it;
    char path[FOLDER_PATH_SIZE];

    if (!lab_make_cut(&it, NULL) ||
        !folder_write(&it.folder, "script.yaml",
                      "agents:\n"
                      "  triage: [{handoff: {to: after_sales, message: wants it}}]\n"
                      "  after_sales: [{text: Your label.}]\n",
                      path))
        return;
    snprintf(path, sizeof(path), "%s/run.yaml", it.folder.path);
    LAB_CHECK(&it, 0, "Your label.\n", "", "resume", it.trace, "--record", path);
    LAB_CHECK(&it, 0, "Your label.\n", "", "run", "desk.yaml", "Return", "--script",
              path);
    LAB_CHECK(&it, 1, "", "the input was \"Return\", now it is \"Keep\"", "run",
              "desk.yaml", "Keep", "--script", path);
    lab_remove(&it);
}

static void test_recording__of_a_session_is_made_again_in_one(void)
{
    lab it;
    program_result ran;
    const char *const words[] = {"chat", "team.yaml", "--offline", "--session",
                                 "talk", "--record",  "talk.yaml", NULL};
    if (!lab_make(&it, solo_team, "agents:\n  solo: [{text: One.}, {text: Two.}]\n"))
        return;
    const char *arguments[] = {words[0], words[1], words[2],  words[3], words[4],
                               words[5], words[6], "--store", it.store, NULL};
    if (PROGRAM_RUN(&ran, .arguments = arguments, .directory = it.directory,
                    .input = "a\nb\n")) {
        CHECK_INT(ran.exit_status, 0);
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 0, "One.\n", "", "run", "team.yaml", "a", "--session", "new",
              "--script", "talk.yaml");
    LAB_CHECK(&it, 0, "Two.\n", "", "run", "team.yaml", "b", "--session", "new",
              "--script", "talk.yaml");
    LAB_CHECK(&it, 1, "",
              "agent 'solo' asks its model (at '4: 1'), where the "
              "recording has nothing",
              "run", "team.yaml", "c", "--session", "new", "--script", "talk.yaml",
              "--quiet");
    lab_remove(&it);
}

// --- A window ---

// A model that could not take all is asked again with half of it, and so is the replay.
static void test_recording__shortens_the_history_where_it_was(void)
{
    static const char long_talk[] =
        "agents:\n"
        "  solo:\n"
        "    - {text: One one one one one one one one one.}\n"
        "    - {error: {status: 400, message: maximum context length is 10 tokens}}\n"
        "    - {text: Two.}\n";
    static const char said[] = "many words that take the room of many tokens";
    lab it;

    if (!lab_make(&it, solo_team, long_talk))
        return;
    LAB_CHECK(&it, 0, NULL, "", "run", "team.yaml", said, "--session", "a", "--offline",
              "--record", "one.yaml");
    LAB_CHECK(&it, 0, "Two.\n", "", "run", "team.yaml", "b", "--session", "a",
              "--offline", "--record", "two.yaml");
    LAB_CHECK(&it, 0, NULL, "", "run", "team.yaml", said, "--session", "c", "--script",
              "one.yaml");
    char *first = print_run(&it, "show", "--script");
    lab_check_file(&it, "one.yaml", first ? first : "");
    free(first);
    LAB_CHECK(&it, 0, "Two.\n", "", "run", "team.yaml", "b", "--session", "c",
              "--script", "two.yaml");
    char *second = print_run(&it, "show", "--script");
    lab_check_file(&it, "two.yaml", second ? second : "");
    CHECK_CONTAINS(second, "name: \"history\"");
    free(second);
    lab_remove(&it);
}

// --- Texts ---

static void test_recording__keeps_every_text(void)
{
    // In JSON: what YAML, a terminal or a careless printer could take for its own.
    static const char odd[] =
        "\\u0001\\u001b[2J\\u007f\\u0085\\u2028\\u202e\\ufeff\\ufffe \\U0001f600 "
        "\\\\ \\\" ' # : - ? {}[] & * ! | > % @ ` ~ null\\t\\r\\n  two\\n---\\n...\\n";
    lab it;
    char text[1000];

    snprintf(text, sizeof(text),
             "{\"agents\": {\"solo\": [{\"text\": \"%s\", \"tool_calls\": [{\"name\": "
             "\"%s\", \"arguments\": \"{\\\"%s\"}]}, {\"text\": \"%s\"}]}}\n",
             odd, odd, odd, odd);
    if (!lab_make(&it, solo_team, text))
        return;
    static const char *const files[] = {"run.yaml", "run.json"};
    for (size_t i = 0; i < 2; i++) {
        program_result ran;
        if (!LAB_RUN(&it, &ran, "run", "team.yaml", "hi", "--offline", "--record",
                     files[i]))
            continue;
        CHECK_INT(ran.exit_status, 0);
        program_result_fini(&ran);
        check_replay(&it, files[i], "hi", 0);
    }
    char *yaml = lab_read(&it, "run.yaml");
    CHECK_LACKS(yaml, "\x1b");
    CHECK_LACKS(yaml, "\xe2\x80\xae");
    free(yaml);
    lab_remove(&it);
}

// Results that are cut are recorded as the model saw them, and not cut again. All of
// them are more than a team file may hold.
static void test_recording__keeps_large_results_that_were_cut(void)
{
    static const char large[] =
        "script: ./script.yaml\n"
        "agents:\n"
        "  solo: {model: openai/test, tools: [much]}\n"
        "tools:\n"
        "  much: {type: command, argv: [sh, -c, 'yes 0123456789 | head -c 600000']}\n";
    char calls[1000] = "";
    lab it;

    for (int i = 0; i < 20; i++)
        strcat(calls, i == 0 ? "{name: much}" : ", {name: much}");
    char answers[1200];
    snprintf(answers, sizeof(answers),
             "agents:\n  solo: [{tool_calls: [%s]}, {text: Done.}]\n", calls);
    if (!lab_make(&it, large, answers))
        return;
    LAB_CHECK(&it, 0, "Done.\n", "", "run", "team.yaml", "hi", "--offline", "--record",
              "run.yaml");
    char *text = lab_read(&it, "run.yaml");
    CHECK(text != NULL && strlen(text) > (4 << 20) && strlen(text) < 20 * 300000);
    free(text);
    check_replay(&it, "run.yaml", "hi", 0);
    lab_remove(&it);
}

// --- Races ---

// Who lost was asking its second member's model, and had a part of the answer.
static void test_recording__of_a_race_has_what_losers_had_begun(void)
{
    static const char race[] =
        "script: ./script.yaml\n"
        "agents:\n"
        "  desk: {type: parallel, members: [right, left], parallel: {wait: any}}\n"
        "  right: {model: openai/test}\n"
        "  left: {type: chain, members: [first, second]}\n"
        "  first: {model: openai/test}\n"
        "  second: {model: openai/test}\n";
    static const char answers[] =
        "agents:\n"
        "  right: [{text: Right won., delay: 300ms}]\n"
        "  first: [{text: One.}]\n"
        "  second: [{text: Two and three and many more., chunks: 28, delay: 5s}]\n";
    lab it;

    if (!lab_make(&it, race, answers))
        return;
    LAB_CHECK(&it, 0, "Right won.\n", "", "run", "team.yaml", "hi", "--offline",
              "--record", "run.yaml");
    check_replay(&it, "run.yaml", "hi", 0);
    lab_remove(&it);
}

// Two stops of one kind, one within the other: the member's time, then that of the run.
static void test_recording__of_a_run_out_of_time_stops_each_where_it_was(void)
{
    static const char slow[] =
        "script: ./script.yaml\n"
        "agents:\n"
        "  desk: {type: chain, members: [slow], timeout: 250ms}\n"
        "  slow: {model: openai/test, timeout: 100ms, retry: {attempts: 9}}\n";
    static const char answers[] = "agents:\n"
                                  "  slow: [{text: Never., delay: 60s, times: 9}]\n";
    lab it;

    if (!lab_make(&it, slow, answers))
        return;
    LAB_CHECK(&it, 4, "", "agent 'desk': its time of 250ms is up", "run", "team.yaml",
              "hi", "--offline", "--record", "run.yaml");
    check_replay(&it, "run.yaml", "hi", 4);
    lab_remove(&it);
}

// A script says what stopped a call, but the team has no such time any more.
static void test_recording__needs_what_stopped_a_call(void)
{
    static const char *const reasons[][2] = {{"owner", "it was stopped in the"},
                                             {"timeout", "stopped by a timeout in the"},
                                             {"budget", "stopped by a budget in the"},
                                             {"lost", "it was stopped in the"}};
    char stopped[200], told[200];
    lab it;

    if (!lab_make(&it, solo_team, "agents: {}\n"))
        return;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        snprintf(stopped, sizeof(stopped),
                 "agents:\n  solo: [{at: \"1\", stopped: true}]\n"
                 "stopped: [{at: root, reason: %s}]\n",
                 reasons[i][0]);
        snprintf(told, sizeof(told), "%s recording; nothing stops it now",
                 reasons[i][1]);
        lab_write(&it, "script.yaml", stopped);
        LAB_CHECK(&it, 1, "", told, "run", "team.yaml", "hi", "--offline", "--quiet");
    }
    lab_remove(&it);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_recording__is_made_again_without_tools_and_people),
    CHECK_TEST(test_recording__of_a_parked_run_asks_again),
    CHECK_TEST(test_recording__is_the_same_from_the_store),
    CHECK_TEST(test_recording__tells_the_first_difference),
    CHECK_TEST(test_recording__a_difference_is_diverged),
    CHECK_TEST(test_recording__compares_the_arguments_of_tools),
    CHECK_TEST(test_recording__of_a_failed_run_fails_again),
    CHECK_TEST(test_recording__of_a_stopped_run_stops_there_again),
    CHECK_TEST(test_recording__of_a_resumed_run_is_whole),
    CHECK_TEST(test_recording__of_a_session_is_made_again_in_one),
    CHECK_TEST(test_recording__shortens_the_history_where_it_was),
    CHECK_TEST(test_recording__keeps_every_text),
    CHECK_TEST(test_recording__keeps_large_results_that_were_cut),
    CHECK_TEST(test_recording__needs_what_stopped_a_call),
    CHECK_TEST(test_recording__of_a_race_has_what_losers_had_begun),
    CHECK_TEST(test_recording__of_a_run_out_of_time_stops_each_where_it_was),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/recording", tests);
}
