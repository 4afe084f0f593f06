// Histories that outgrow the window: max_history_tokens, and what a model says is too
// long.
#include "support/check.h"
#include "support/folder.h"
#include "support/http_server.h"
#include "support/wire_talk.h"
#include "support/written_team.h"

#include "base/buf.h"
#include "cadre/ext/model.h"
#include "cadre/reenter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static team_case t;
static adder adds;

#define ADD(n) "say n" #n "\ncall add {\"a\":" #n ",\"b\":0}"

// An agent with a tool, and so many tokens of history.
static void open_solo(int max_history_tokens)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .max_history_tokens = max_history_tokens,
                                         .tools = CADRE_NAMES("add")));
}

// A round takes 23 tokens, "hi" 5; 51 are left of 97.
static void test_limit__leaves_the_oldest_rounds_out(void)
{
    open_solo(90);
    DRIVEN("solo", ADD(1), ADD(2), ADD(3), ADD(4), "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(driven_request("solo", 3),
               "user: hi\n"
               "assistant: n1\ncall call00001 add {\"a\":1,\"b\":0}\n"
               "tool call00001: 1\n"
               "assistant: n2\ncall call00001 add {\"a\":2,\"b\":0}\n"
               "tool call00001: 2\n"
               "assistant: n3\ncall call00001 add {\"a\":3,\"b\":0}\n"
               "tool call00001: 3\n");
    CHECK_TEXT(driven_request("solo", 4),
               "user: hi\n"
               "assistant: n3\ncall call00001 add {\"a\":3,\"b\":0}\n"
               "tool call00001: 3\n"
               "assistant: n4\ncall call00001 add {\"a\":4,\"b\":0}\n"
               "tool call00001: 4\n");
    team_case_close(&t);
}

static void test_limit__keeps_the_first_user_turn_and_the_current_one(void)
{
    open_solo(50);
    DRIVEN("solo", "say one one one one one one one one", "say two",
           "say three three three three three", "say four");
    team_case_run_with(&t, CADRE_RUN(.input = "u1", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "u2", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "u3", .session = "s"));
    team_case_run_with(
        &t, CADRE_RUN(.input = "u4 u4 u4 u4 u4 u4 u4 u4 u4 u4 u4 u4", .session = "s"));
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(driven_request("solo", 2),
               "user: u1\nassistant: one one one one one one one one\n"
               "user: u2\nassistant: two\nuser: u3\n");
    CHECK_TEXT(driven_request("solo", 3),
               "user: u1\nuser: u3\n"
               "assistant: three three three three three\n"
               "user: u4 u4 u4 u4 u4 u4 u4 u4 u4 u4 u4 u4\n");
    team_case_close(&t);
}

static void test_limit__that_is_too_small_for_what_must_stay_fails_the_call(void)
{
    open_solo(20);
    DRIVEN("solo", "say never");
    team_case_run(&t, "this is a text of a hundred bytes, which are twenty-nine tokens "
                      "with what is counted for a message");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.err.error_class, CADRE_CLASS_CONTEXT_LENGTH);
    CHECK_TEXT(t.err.text, "agent 'solo': what must stay of its history takes about 29 "
                           "tokens; max_history_tokens is 20");
    CHECK_INT(driven_count("solo"), 0);
    team_case_close(&t);
}

static void test_limit__holds_for_each_agent_by_itself(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  pair: {type: chain, members: [a, b]}\n"
                               "  a: {model: driven/test}\n"
                               "  b: {model: driven/test, max_history_tokens: 30}\n"))
        return;
    DRIVEN("a", "say a1 a1 a1 a1 a1 a1 a1 a1", "say a2");
    DRIVEN("b", "say b1", "say b2");
    team_case_run_with(&t, CADRE_RUN(.input = "u1", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "u2", .session = "s"));
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(driven_request("a", 1), "user: u1\nassistant: a1 a1 a1 a1 a1 a1 a1 a1\n"
                                       "user: [b]: b1\nuser: u2\n");
    CHECK_TEXT(driven_request("b", 1),
               "user: u1\nassistant: b1\nuser: u2\nuser: [a]: a2\n");
    team_case_close(&t);
}

static void test_limit__is_a_number_or_unlimited(void)
{
    written_team_check_problems("agents:\n"
                                "  a: {model: driven/test, max_history_tokens: 0}\n"
                                "  b: {model: driven/test, max_history_tokens: lots}\n"
                                "  c: {model: driven/test, max_history_tokens: 9}\n"
                                "  d: {model: driven/test, max_history_tokens: "
                                "unlimited}\n",
                                "2:47: agents.a.max_history_tokens: expected an "
                                "integer from 1 to 1000000000, got 0; write "
                                "'unlimited' for no limit\n"
                                "3:47: agents.b.max_history_tokens: expected an "
                                "integer from 1 to 1000000000 or 'unlimited', got "
                                "\"lots\"\n");
}

// --- What is too long for the model ---

#define TOO_LONG "fail context_length too long"

static void test_too_long__is_tried_once_more_with_half_of_the_history(void)
{
    open_solo(0);
    DRIVEN("solo", ADD(1), ADD(2), ADD(3), ADD(4), TOO_LONG, ADD(5), "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "done");
    CHECK_CONTAINS(driven_request("solo", 4), "assistant: n1");
    CHECK_TEXT(driven_request("solo", 5),
               "user: hi\n"
               "assistant: n4\ncall call00001 add {\"a\":4,\"b\":0}\n"
               "tool call00001: 4\n");
    // The frame keeps to it.
    CHECK_TEXT(driven_request("solo", 6),
               "user: hi\n"
               "assistant: n5\ncall call00001 add {\"a\":5,\"b\":0}\n"
               "tool call00001: 5\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_RETRY),
               "solo: 1 context_length\n");
    CHECK_INT(t.result->usage.model_calls, 6);
    CHECK_INT(t.result->usage.tool_calls, 5);
    team_case_close(&t);
}

static void test_too_long__twice_fails_and_names_the_setting(void)
{
    open_solo(0);
    DRIVEN("solo", ADD(1), ADD(2), TOO_LONG, TOO_LONG, "say never");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.err.error_class, CADRE_CLASS_CONTEXT_LENGTH);
    CHECK_TEXT(t.err.text,
               "agent 'solo': model 'driven/test': too long (also with half of its "
               "history; max_history_tokens sets a limit to it)");
    CHECK_INT(driven_count("solo"), 4);
    team_case_close(&t);
}

static void test_too_long__with_nothing_to_leave_out_is_not_tried_again(void)
{
    open_solo(0);
    DRIVEN("solo", TOO_LONG, "say never");
    team_case_run(&t, "hi");
    CHECK_INT(t.err.error_class, CADRE_CLASS_CONTEXT_LENGTH);
    CHECK_TEXT(t.err.text,
               "agent 'solo': model 'driven/test': too long (nothing of its history "
               "can be left out; max_history_tokens would not help)");
    CHECK_INT(driven_count("solo"), 1);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_RETRY), 0);
    team_case_close(&t);
}

// A limit that was set is halved like any other history; a later turn may be too long
// again.
static void test_too_long__may_happen_once_in_each_turn(void)
{
    open_solo(120);
    DRIVEN("solo", ADD(1), ADD(2), ADD(3), ADD(4), TOO_LONG, ADD(5), TOO_LONG);
    team_case_run(&t, "hi");
    CHECK_TEXT(driven_request("solo", 5),
               "user: hi\n"
               "assistant: n4\ncall call00001 add {\"a\":4,\"b\":0}\n"
               "tool call00001: 4\n");
    CHECK_CONTAINS(t.err.text, "nothing of its history can be left out");
    CHECK_INT(driven_count("solo"), 7);
    team_case_close(&t);
}

static void add_answer(http_server *server, const char *provider, const char *text,
                       const char *arguments)
{
    const cadre_tool_call call = {"c1", "add", arguments};
    char *answer = wire_talk_answer(provider, text, arguments ? &call : NULL);
    http_server_add_answer(server, 200, NULL, "application/json", answer);
    free(answer);
}

// Each provider has its own words for it.
static void check_words(const cadre_model_ops *ops, void *ctx)
{
    char model[64];
    (void)ctx;
    http_server *server = http_server_start(NULL);
    add_answer(server, ops->provider, "One.", "{\"a\":1,\"b\":1}");
    add_answer(server, ops->provider, "Two.", "{\"a\":2,\"b\":2}");
    http_server_add_answer(server, 400, NULL, "application/json",
                           wire_talk_too_long(ops->provider));
    add_answer(server, ops->provider, "Done.", NULL);
    team_case_open(&t);
    team_case_add_adder(&t, &adds);
    (void)snprintf(model, sizeof model, "%s/m", ops->provider);
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "m", .model = model,
                                             .base_url = http_server_url(server),
                                             .api_key_env = ""));
    cadre_team_add_llm(
        t.team, CADRE_LLM(.name = "solo", .model = "m", .tools = CADRE_NAMES("add")));
    team_case_run(&t, "go");
    CHECK_OK(t.status, &t.err);
    const http_request *last = http_server_request(server, 3);
    if (CHECK(last != NULL)) {
        char *outline = wire_talk_outline(ops->provider, last->body);
        CHECK_TEXT(outline, "user go\n"
                            "assistant Two.\n"
                            "call #1 add {\"a\":2,\"b\":2}\n"
                            "result #1 4");
        free(outline);
    }
    team_case_close(&t);
    http_server_stop(server);
}

static void test_too_long__is_understood_of_every_provider(void)
{
    wire_talk_each(check_words, NULL);
}

// --- Resumed ---

#define LAST 14
#define MAX_BYTES 420 // about six rounds

// A model with a narrow window, which counts up to LAST by the tool `count`: what it
// is to do follows from the last result. What it took at each number is kept.
static struct {
    char *taken[LAST + 1];
    int n_refused;
    int n_other; // taken in another way than before
} narrow;

static int number_of(const cadre_request *request)
{
    for (size_t i = request->n_items; i-- > 0;)
        if (request->items[i].message->role == CADRE_ROLE_TOOL)
            return (int)strtol(request->items[i].text, NULL, 10);
    return 0;
}

static char *write_items(const cadre_request *request)
{
    cdr_buf text = CDR_BUF_INIT;
    for (size_t i = 0; i < request->n_items; i++)
        cdr_buf_printf(&text, "%s|", request->items[i].text);
    return cdr_buf_take(&text);
}

static void take(int number, char *items)
{
    if (narrow.taken[number] == NULL)
        narrow.taken[number] = strdup(items);
    else if (strcmp(narrow.taken[number], items) != 0)
        narrow.n_other++;
}

static cadre_status narrow_answer(const void *state, cadre_frame *frame,
                                  const cadre_request *request, cadre_sink *sink,
                                  cadre_error *err)
{
    static const char said[] = "I count on, and say so at some length.";
    char arguments[32];
    (void)state;
    (void)frame;
    int number = number_of(request);
    char *items = write_items(request);
    bool fits = strlen(items) <= MAX_BYTES;
    if (fits)
        take(number, items);
    else
        narrow.n_refused++;
    free(items);
    if (!fits)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_CONTEXT_LENGTH, false,
                                "too long");
    cadre_sink_text(sink, said, sizeof said - 1);
    if (number < LAST) {
        size_t call = cadre_sink_add_call(sink);
        int len = snprintf(arguments, sizeof arguments, "{\"n\":%d}", number + 1);
        cadre_sink_call_name(sink, call, "count", 5);
        cadre_sink_call_arguments(sink, call, arguments, (size_t)len);
    }
    cadre_sink_finish(sink,
                      number < LAST ? CADRE_FINISH_TOOL_CALLS : CADRE_FINISH_STOP);
    cadre_sink_end(sink);
    return CADRE_OK;
}

static const cadre_model_ops narrow_ops = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "narrow",
    .summary = "has a small window",
    .answer = narrow_answer,
};

static cadre_status count(void *ctx, cadre_frame *frame, const json_t *arguments,
                          cadre_error *err)
{
    char text[64];
    (void)ctx;
    (void)snprintf(text, sizeof text, "%d is the number that comes next",
                   (int)json_integer_value(json_object_get(arguments, "n")));
    return cadre_frame_set_output(frame, text, err);
}

static void note(void *ctx, const cadre_difference *d)
{
    cdr_buf_printf(ctx, "%d %s %s %s: %s / %s\n", d->commit, d->path, d->key, d->field,
                   d->first == NULL ? "(none)" : d->first,
                   d->again == NULL ? "(none)" : d->again);
}

static void check_narrow(int max_history_tokens, int n_refused)
{
    cdr_buf told = CDR_BUF_INIT;
    cadre_reenter_result result;
    cadre_error err = CADRE_ERROR_INIT;
    memset(&narrow, 0, sizeof narrow);
    team_case_open(&t);
    CHECK_OK(cadre_runtime_register_model(t.runtime, &narrow_ops, &err), &err);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "count", .description = "Counts",
                                           .parameters = "{\"type\":\"object\"}",
                                           .run = count));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "narrow/m",
                                         .max_history_tokens = max_history_tokens,
                                         .tools = CADRE_NAMES("count")));
    team_case_run(&t, "count");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(narrow.n_refused, n_refused);
    CHECK_OK(cadre_reenter(t.team,
                           CADRE_REENTER(.run = CADRE_RUN(.input = "count"),
                                         .every_commit = true, .on_difference = note,
                                         .ctx = &told),
                           &result, &err),
             &err);
    CHECK_INT(result.status, CADRE_FRAME_COMPLETED);
    CHECK(result.n_commits > 2 * LAST);
    CHECK_TEXT(cdr_buf_text(&told), "");
    CHECK_INT(narrow.n_other, 0);
    for (int i = 0; i <= LAST; i++)
        free(narrow.taken[i]);
    cdr_buf_fini(&told);
    team_case_close(&t);
}

static void test_resume__sends_what_the_first_run_sent_after_a_failure(void)
{
    check_narrow(0, 1);
}

// Cut in the second attempt, a script plays the failure again.
static void test_resume__of_a_script_that_failed_once_ends_alike(void)
{
    static const char script[] =
        "agents:\n"
        "  solo:\n"
        "    - {tool_calls: [{name: count, arguments: {n: 1}}]}\n"
        "    - {tool_calls: [{name: count, arguments: {n: 2}}]}\n"
        "    - {error: {status: 400, message: maximum context length}}\n"
        "    - {tool_calls: [{name: count, arguments: {n: 3}}]}\n"
        "    - {text: done}\n";
    char path[FOLDER_PATH_SIZE];
    test_folder folder;
    cdr_buf told = CDR_BUF_INIT;
    cadre_reenter_result result;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK(folder_make(&folder)) ||
        !CHECK(folder_write(&folder, "script.yaml", script, path)))
        return;
    team_case_open(&t);
    cadre_team_set_script(t.team, path);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "count", .description = "Counts",
                                           .parameters = "{\"type\":\"object\"}",
                                           .run = count));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "script/m",
                                         .tools = CADRE_NAMES("count")));
    CHECK_OK(cadre_reenter(t.team,
                           CADRE_REENTER(.run = CADRE_RUN(.input = "count"),
                                         .every_commit = true, .on_difference = note,
                                         .ctx = &told),
                           &result, &err),
             &err);
    CHECK_INT(result.status, CADRE_FRAME_COMPLETED);
    CHECK_TEXT(result.error.text, "");
    CHECK_TEXT(cdr_buf_text(&told), "");
    cdr_buf_fini(&told);
    team_case_close(&t);
    folder_remove(&folder);
}

static void test_resume__sends_what_the_first_run_sent_under_a_limit(void)
{
    check_narrow(90, 0);
}

// --- Others ---

static void test_too_long__is_told_to_the_fallback_as_far_as_it_was_kept(void)
{
    if (!written_team_open(&t,
                           "agents:\n"
                           "  solo: {model: driven/test, tools: [add],\n"
                           "    loop_fallback: guru}\n"
                           "  guru: {model: driven/test}\n"
                           "tools:\n"
                           "  add: {type: command, description: Adds,\n"
                           "    argv: [/bin/echo, sum], parameters: {type: object}}\n"))
        return;
    DRIVEN("solo", ADD(1), ADD(2), ADD(3), TOO_LONG, TOO_LONG);
    DRIVEN("guru", "say at last");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "at last");
    CHECK_CONTAINS(driven_request("guru", 0), "[user]: hi");
    CHECK_CONTAINS(driven_request("guru", 0), "[solo]: n3");
    CHECK_LACKS(driven_request("guru", 0), "[solo]: n1");
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_limit__leaves_the_oldest_rounds_out),
    CHECK_TEST(test_limit__keeps_the_first_user_turn_and_the_current_one),
    CHECK_TEST(test_limit__that_is_too_small_for_what_must_stay_fails_the_call),
    CHECK_TEST(test_limit__holds_for_each_agent_by_itself),
    CHECK_TEST(test_limit__is_a_number_or_unlimited),
    CHECK_TEST(test_too_long__is_tried_once_more_with_half_of_the_history),
    CHECK_TEST(test_too_long__twice_fails_and_names_the_setting),
    CHECK_TEST(test_too_long__with_nothing_to_leave_out_is_not_tried_again),
    CHECK_TEST(test_too_long__may_happen_once_in_each_turn),
    CHECK_TEST(test_too_long__is_understood_of_every_provider),
    CHECK_TEST(test_resume__sends_what_the_first_run_sent_after_a_failure),
    CHECK_TEST(test_resume__sends_what_the_first_run_sent_under_a_limit),
    CHECK_TEST(test_resume__of_a_script_that_failed_once_ends_alike),
    CHECK_TEST(test_too_long__is_told_to_the_fallback_as_far_as_it_was_kept),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/history_limit", tests);
}
