// cadre run, without a terminal: what comes out where, and the exit status.
#include "support/online.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char answer[] = "Your return label is on its way.";

#define TEAMS program_source_path("tests/cli/teams", (char[4096]){""}, 4096)
#define RUN(ran, ...)                                                                  \
    PROGRAM_RUN(ran, .arguments = (const char *const[]){"run", __VA_ARGS__, NULL},     \
                .directory = TEAMS)

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void test_run__prints_the_answer_and_tells_the_rest_on_stderr(void)
{
    program_result ran;

    if (!RUN(&ran, "desk.yaml", "Return order 1042", "--offline"))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_TEXT(ran.out, "Your return label is on its way.\n");
    CHECK(strncmp(ran.err, "trace ", 6) == 0);
    CHECK_CONTAINS(ran.err, "\ndesk ");
    CHECK_CONTAINS(ran.err, "\n└─ triage ");
    CHECK_CONTAINS(ran.err, "\n   └─ after_sales ");
    CHECK_CONTAINS(ran.err, "(transfer)\n");
    CHECK_CONTAINS(ran.err, "\ncompleted, 3 agents, 2 model calls, ");
    CHECK_CONTAINS(ran.err, ", offline, trace ");
    CHECK_LACKS(ran.err, "\033");
    program_result_fini(&ran);
}

static void test_run__quiet_tells_nothing_on_stderr(void)
{
    program_result ran;

    if (!RUN(&ran, "desk.yaml", "Return order 1042", "--offline", "--quiet"))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_TEXT(ran.out, "Your return label is on its way.\n");
    CHECK_TEXT(ran.err, "");
    program_result_fini(&ran);
}

// Every field of the object, by name, and nothing else.
static void check_fields(const json_t *object, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!json_object_get(object, names[i]))
            CHECK_TEXT("missing", names[i]);
    CHECK_INT(json_object_size(object), n);
}

#define CHECK_FIELDS(object, ...)                                                      \
    check_fields(object, (const char *const[]){__VA_ARGS__},                           \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void check_agent_frame(const json_t *frame, const char *agent,
                              const char *parent_id)
{
    CHECK_FIELDS(frame, "id", "trace_id", "parent_id", "key", "kind", "agent",
                 "referer", "depth", "conversation_id", "status", "stop_reason",
                 "abort_requested", "abort_reason", "error", "attempts", "input",
                 "output", "delta", "usage", "cost", "created_at", "completed_at",
                 "duration_ms");
    CHECK_TEXT(text_of(frame, "kind"), "agent");
    CHECK_TEXT(text_of(frame, "agent"), agent);
    CHECK_TEXT(text_of(frame, "status"), "completed");
    CHECK_TEXT(text_of(frame, "parent_id"), parent_id);
    CHECK_INT(strlen(text_of(frame, "created_at")), 24); // 2026-01-02T03:04:05.678Z
}

static void test_run__json_is_one_object_with_the_agent_frames(void)
{
    program_result ran;

    if (!RUN(&ran, "desk.yaml", "Return order 1042", "--offline", "--json"))
        return;
    CHECK_INT(ran.exit_status, 0);
    json_t *object = json_loads(ran.out, 0, NULL);
    json_t *frames = json_object_get(object, "frames");
    CHECK_FIELDS(object, "trace_id", "status", "stop_reason", "agent", "output",
                 "error", "usage", "cost", "duration_ms", "stop_ms", "offline",
                 "frames", "questions");
    CHECK_INT(json_array_size(json_object_get(object, "questions")), 0);
    CHECK_TEXT(text_of(object, "status"), "completed");
    CHECK_TEXT(text_of(object, "stop_reason"), "final");
    CHECK_TEXT(text_of(object, "agent"), "after_sales");
    CHECK_TEXT(text_of(object, "output"), answer);
    CHECK(json_is_null(json_object_get(object, "error")));
    CHECK(json_is_null(json_object_get(object, "stop_ms")));
    CHECK(json_is_true(json_object_get(object, "offline")));
    CHECK_FIELDS(json_object_get(object, "usage"), "model_calls", "tool_calls",
                 "input_tokens", "output_tokens", "cached_input_tokens",
                 "reasoning_tokens");
    if (CHECK_INT(json_array_size(frames), 3)) {
        const json_t *desk = json_array_get(frames, 0);
        const json_t *triage = json_array_get(frames, 1);
        check_agent_frame(desk, "desk", NULL);
        check_agent_frame(triage, "triage", text_of(desk, "id"));
        check_agent_frame(json_array_get(frames, 2), "after_sales",
                          text_of(triage, "id"));
        CHECK_TEXT(text_of(desk, "referer"), "api");
        CHECK_TEXT(text_of(json_array_get(frames, 2), "key"), "transfer");
    }
    json_decref(object);
    program_result_fini(&ran);
}

static void test_run__json_all_has_the_models_too(void)
{
    program_result ran;
    size_t n_models = 0, i = 0;
    json_t *frame = NULL;

    if (!RUN(&ran, "desk.yaml", "Return order 1042", "--offline", "--json", "--all"))
        return;
    json_t *object = json_loads(ran.out, 0, NULL);
    json_array_foreach(json_object_get(object, "frames"), i, frame)
    {
        if (strcmp(text_of(frame, "kind"), "model") == 0) {
            n_models++;
            CHECK_TEXT(text_of(frame, "model"), "openai/gpt-5-mini");
        }
    }
    CHECK_INT(n_models, 2);
    json_decref(object);
    program_result_fini(&ran);
}

// UTC with milliseconds: 2026-01-02T03:04:05.678Z.
static void check_time(const char *text)
{
    static const char shape[] = "0000-00-00T00:00:00.000Z";

    if (!CHECK(text != NULL) || !CHECK_INT(strlen(text), strlen(shape)))
        return;
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == '0')
            CHECK(text[i] >= '0' && text[i] <= '9');
        else
            CHECK_INT(text[i], shape[i]);
}

// Checks one line and the order of what is durable.
static void check_event(const json_t *event, json_int_t *last_seq)
{
    const json_t *seq = json_object_get(event, "seq");

    CHECK(text_of(event, "type") != NULL);
    check_time(text_of(event, "time"));
    CHECK(json_object_get(event, "frame") != NULL);
    CHECK(json_object_get(event, "thread_id") != NULL);
    CHECK(json_object_get(event, "agent") != NULL);
    if (!json_is_null(seq))
        CHECK_INT(json_integer_value(seq), ++*last_seq);
}

static void test_run__events_are_lines_without_gaps_in_seq(void)
{
    program_result ran;
    json_int_t last_seq = 0;
    char *rest = NULL, types[4096] = "", streamed[256] = "";

    if (!RUN(&ran, "desk.yaml", "Return order 1042", "--offline", "--events"))
        return;
    CHECK_INT(ran.exit_status, 0);
    for (char *line = strtok_r(ran.out, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        json_t *event = json_loads(line, 0, NULL);
        const char *type = text_of(event, "type");
        if (!CHECK(type != NULL))
            break;
        check_event(event, &last_seq);
        size_t len = strlen(types);
        snprintf(types + len, sizeof(types) - len, "%s ", type);
        len = strlen(streamed);
        if (strcmp(type, "text_delta") == 0)
            snprintf(streamed + len, sizeof(streamed) - len, "%s",
                     text_of(event, "text"));
        json_decref(event);
    }
    CHECK(strncmp(types, "stream_start frame_start ", 25) == 0);
    CHECK_CONTAINS(types, " transfer ");
    CHECK_CONTAINS(types, " frame_end stream_end ");
    CHECK_TEXT(streamed, answer);
    program_result_fini(&ran);
}

static void check_input(const char *lines, int nth, const char *agent,
                        const char *input)
{
    json_t *event = online_event(lines, "frame_start", nth);

    CHECK_TEXT(text_of(event, "agent"), agent);
    CHECK_TEXT(text_of(event, "input"), input);
    json_decref(event);
}

static void test_run__events_tell_inputs_and_whether_it_is_offline(void)
{
    program_result ran;

    if (!RUN(&ran, "desk.yaml", "Return order 1042", "--offline", "--events"))
        return;
    json_t *start = online_event(ran.out, "stream_start", 0);
    CHECK(json_is_true(json_object_get(start, "offline")));
    check_input(ran.out, 0, "desk", "Return order 1042");
    check_input(ran.out, 1, "triage", "");
    check_input(ran.out, 2, "after_sales", "wants to return order 1042");
    json_decref(start);
    program_result_fini(&ran);
}

static void test_run__events_of_no_run_are_one_error(void)
{
    program_result ran;

    if (!RUN(&ran, "mistakes.yaml", "hello", "--events"))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_INT(strcspn(ran.out, "\n") + 1, ran.out_len);
    json_t *event = json_loads(ran.out, 0, NULL);
    CHECK_FIELDS(event, "seq", "type", "time", "frame", "thread_id", "agent", "error");
    CHECK(json_is_null(json_object_get(event, "seq")));
    CHECK_TEXT(text_of(event, "type"), "error");
    CHECK_TEXT(text_of(json_object_get(event, "error"), "class"), "config");
    json_decref(event);
    program_result_fini(&ran);
}

static void test_run__what_went_wrong_on_the_way_is_told(void)
{
    program_result ran;

    if (!RUN(&ran, "busy.yaml", "hello", "--offline"))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_TEXT(ran.out, "Your label is on its way.\n");
    CHECK_CONTAINS(ran.err, "\ntriage: ");
    CHECK_CONTAINS(ran.err, "HTTP 429 rate_limited: ");
    CHECK_CONTAINS(ran.err, "; trying again in ");
    CHECK_CONTAINS(ran.err, "\n   ├─ ! look  tool_error: cannot start './not-there'");
    CHECK_CONTAINS(ran.err,
                   ", 3 model calls, 3 tool calls (1 failed), 1 retry, 0 tokens in, ");
    // What tools tell while they run is for those who wait before a screen.
    CHECK_LACKS(ran.err, "counting");
    program_result_fini(&ran);
    if (!RUN(&ran, "busy.yaml", "hello", "--offline", "--quiet"))
        return;
    CHECK_TEXT(ran.err, "");
    program_result_fini(&ran);
}

static void test_run__errors_of_all_frames_name_an_agent(void)
{
    program_result ran;
    size_t n_tools = 0, i = 0;
    json_t *frame = NULL;

    if (!RUN(&ran, "busy.yaml", "hello", "--offline", "--json", "--all"))
        return;
    json_t *object = json_loads(ran.out, 0, NULL);
    json_array_foreach(json_object_get(object, "frames"), i, frame)
    {
        const json_t *error = json_object_get(frame, "error");
        if (json_is_null(error))
            continue;
        n_tools++;
        CHECK_TEXT(text_of(frame, "tool"), "look");
        CHECK_TEXT(text_of(error, "agent"), "triage");
        CHECK_TEXT(text_of(error, "frame"), text_of(frame, "id"));
    }
    CHECK_INT(n_tools, 1);
    json_decref(object);
    program_result_fini(&ran);
}

static void test_run__an_error_stands_where_it_happened_alone(void)
{
    program_result ran;

    if (!RUN(&ran, "desk.yaml", "hello", "--script=desk_refused_script.yaml"))
        return;
    CHECK_INT(ran.exit_status, 1);
    const char *rows = strstr(ran.err, "\ndesk ");
    const char *leaf = rows ? strstr(rows, "└─ after_sales ") : NULL;
    const char *message = rows ? strstr(rows, "HTTP 401 ") : NULL;
    // In that row first, and then in the last line.
    if (CHECK(leaf != NULL && message != NULL && message > leaf))
        CHECK(strcspn(leaf, "\n") > (size_t)(message - leaf));
    CHECK_CONTAINS(ran.err, "\ncadre: agent 'after_sales': ");
    program_result_fini(&ran);
}

static void test_run__reads_its_input_from_a_pipe(void)
{
    static const char *const inputs[] = {"-", NULL};

    for (size_t i = 0; i < 2; i++) {
        program_result ran;
        if (!PROGRAM_RUN(&ran,
                         .arguments =
                             (const char *const[]){"run", "--quiet",
                                                   "--script=input_script.yaml",
                                                   "solo.yaml", inputs[i], NULL},
                         .directory = TEAMS, .input = "Where is order 1042?\n"))
            return;
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.out, "It came.\n");
        program_result_fini(&ran);
    }
}

static void check_input_refused(const char *input, size_t len, const char *text)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran,
                     .arguments = (const char *const[]){"run", "desk.yaml", "-",
                                                        "--offline", NULL},
                     .directory = TEAMS, .input = input, .input_len = len))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_TEXT(ran.out, "");
    CHECK_CONTAINS(ran.err, text);
    program_result_fini(&ran);
}

static void test_run__refuses_input_that_is_no_text(void)
{
    const size_t too_much = (size_t)16 * 1024 * 1024 + 1;
    char *big = malloc(too_much);

    check_input_refused("a\377b", 0, "not valid UTF-8");
    check_input_refused("ab\0c", 4, "NUL byte at offset 2");
    check_input_refused("\n", 0, "stdin is empty");
    if (!CHECK(big != NULL))
        return;
    memset(big, 'x', too_much);
    check_input_refused(big, too_much, "more than 16 MiB");
    free(big);
}

static void test_run__a_team_with_mistakes_is_told_in_json_too(void)
{
    program_result ran;

    if (!RUN(&ran, "mistakes.yaml", "hello", "--json"))
        return;
    CHECK_INT(ran.exit_status, 2);
    json_t *object = json_loads(ran.out, 0, NULL);
    CHECK_FIELDS(object, "error", "problems");
    CHECK_TEXT(text_of(json_object_get(object, "error"), "class"), "config");
    CHECK_INT(json_array_size(json_object_get(object, "problems")), 2);
    CHECK_CONTAINS(ran.err, "cadre: mistakes.yaml: 2 problems\n");
    json_decref(object);
    program_result_fini(&ran);
}

// What exit status 2 stands for is of one class, whoever found it.
static void test_run__a_mistake_of_the_caller_is_of_class_config(void)
{
    static const char *const wrong[][2] = {{"--set", "colour=red"},
                                           {"--store", "shelf:x"},
                                           {"--script", "not-there.yaml"}};
    program_result ran;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (!RUN(&ran, "solo.yaml", "hello", "--json", wrong[i][0], wrong[i][1]))
            return;
        CHECK_INT(ran.exit_status, 2);
        json_t *object = json_loads(ran.out, 0, NULL);
        CHECK_TEXT(text_of(json_object_get(object, "error"), "class"), "config");
        json_decref(object);
        program_result_fini(&ran);
    }
}

static void test_run__a_missing_key_is_named_with_the_way_out(void)
{
    program_result ran;

    if (!RUN(&ran, "solo.yaml", "hello"))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_CONTAINS(ran.err, "OPENAI_API_KEY");
    CHECK_CONTAINS(ran.err, "--offline");
    program_result_fini(&ran);
}

static void test_run__a_failed_run_exits_1_with_its_error(void)
{
    program_result ran;

    if (!RUN(&ran, "solo.yaml", "hello", "--script=refused_script.yaml", "--json"))
        return;
    CHECK_INT(ran.exit_status, 1);
    json_t *object = json_loads(ran.out, 0, NULL);
    const json_t *error = json_object_get(object, "error");
    CHECK_TEXT(text_of(object, "status"), "failed");
    CHECK_FIELDS(error, "class", "message", "retryable", "agent", "frame");
    CHECK_TEXT(text_of(error, "class"), "auth");
    CHECK_TEXT(text_of(error, "agent"), "solo");
    CHECK_CONTAINS(ran.err, "\ncadre: ");
    json_decref(object);
    program_result_fini(&ran);
}

static void test_run__a_timeout_exits_4(void)
{
    program_result ran;

    if (!RUN(&ran, "solo.yaml", "hello", "--script=slow_script.yaml", "--timeout",
             "50ms", "--json"))
        return;
    CHECK_INT(ran.exit_status, 4);
    json_t *object = json_loads(ran.out, 0, NULL);
    CHECK_TEXT(text_of(object, "status"), "timeout");
    CHECK_TEXT(text_of(object, "stop_reason"), "timeout");
    CHECK_CONTAINS(ran.err, "\ncadre: the run's time is up (--timeout 50ms)\n");
    json_decref(object);
    program_result_fini(&ran);
}

static void test_run__piped_text_is_exact_and_json_is_escaped(void)
{
    static const char exact[] = "one\033[2Jtwo\033]0;title\a \302\23331m "
                                "\342\200\256abc\342\200\254\ntab\tend";
    program_result ran;

    if (!RUN(&ran, "solo.yaml", "hello", "--script=escape_script.yaml"))
        return;
    CHECK_BYTES(ran.out, ran.out_len - 1, exact, strlen(exact));
    program_result_fini(&ran);
    if (!RUN(&ran, "solo.yaml", "hello", "--script=escape_script.yaml", "--json"))
        return;
    CHECK_LACKS(ran.out, "\033");
    CHECK_LACKS(ran.out, "\302\233");
    CHECK_LACKS(ran.out, "\342\200"); // U+202E
    json_t *object = json_loads(ran.out, 0, NULL);
    CHECK_TEXT(text_of(object, "output"), exact);
    json_decref(object);
    program_result_fini(&ran);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_run__prints_the_answer_and_tells_the_rest_on_stderr),
        CHECK_TEST(test_run__quiet_tells_nothing_on_stderr),
        CHECK_TEST(test_run__json_is_one_object_with_the_agent_frames),
        CHECK_TEST(test_run__json_all_has_the_models_too),
        CHECK_TEST(test_run__events_are_lines_without_gaps_in_seq),
        CHECK_TEST(test_run__events_tell_inputs_and_whether_it_is_offline),
        CHECK_TEST(test_run__events_of_no_run_are_one_error),
        CHECK_TEST(test_run__what_went_wrong_on_the_way_is_told),
        CHECK_TEST(test_run__errors_of_all_frames_name_an_agent),
        CHECK_TEST(test_run__an_error_stands_where_it_happened_alone),
        CHECK_TEST(test_run__reads_its_input_from_a_pipe),
        CHECK_TEST(test_run__refuses_input_that_is_no_text),
        CHECK_TEST(test_run__a_team_with_mistakes_is_told_in_json_too),
        CHECK_TEST(test_run__a_mistake_of_the_caller_is_of_class_config),
        CHECK_TEST(test_run__a_missing_key_is_named_with_the_way_out),
        CHECK_TEST(test_run__a_failed_run_exits_1_with_its_error),
        CHECK_TEST(test_run__a_timeout_exits_4),
        CHECK_TEST(test_run__piped_text_is_exact_and_json_is_escaped),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/run", tests);
}
