// A prompt's prefix: what a model was sent stands at the beginning of what it is sent
// next, byte by byte, so that what its provider has cached of it is found there.
//
// The same long session is held over each wire format: agents hand over to one another
// and call tools, a team in the team asks a member of its own. The server answers by
// who asks, which the system text tells.
#include "support/check.h"
#include "support/http_server.h"
#include "support/request_rules.h"
#include "support/wire_talk.h"

#include "cadre/cadre.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_RUNS 20
#define N_STEPS 128 // of an agent
#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

typedef struct speaker {
    const char *name;
    const char *cycle; // its answers: `a` a tool, `t` a text, `h` a handover, `m` a
                       // member that is asked
    const char *to;    // whom it hands over to
    bool is_fresh;     // its conversation is a new one after each text
    int n_asked;
    char *last;   // what it was sent last
    int n_breaks; // how often that was not the beginning of what came next
} speaker;

static speaker speakers[] = {
    {.name = "front", .cycle = "aah", .to = "back"},
    {.name = "back", .cycle = "atah", .to = "front"},
    {.name = "lead", .cycle = "mt"},
    {.name = "clerk", .cycle = "aat", .is_fresh = true},
};

enum {
    N_SPEAKERS = sizeof speakers / sizeof speakers[0]
};

static const char *provider;

// --- The server ---

static speaker *speaker_of(const char *body)
{
    for (int i = 0; i < N_SPEAKERS; i++) {
        char words[32];
        (void)snprintf(words, sizeof words, "You are %s.", speakers[i].name);
        if (strstr(body, words) != NULL)
            return &speakers[i];
    }
    return NULL;
}

// All say the same ids, so that they are made anew; no two calls are the same.
static char *answer_of(const speaker *who, int step)
{
    char arguments[64] = "";
    char text[32];
    cadre_tool_call call = {"c1", "add", arguments};
    char kind = who->cycle[(size_t)step % strlen(who->cycle)];
    (void)snprintf(text, sizeof text, "%s says \"%d\".", who->name, step);
    if (kind == 'a')
        (void)snprintf(arguments, sizeof arguments, "{\"a\":%d,\"b\":1}", step);
    else if (kind == 'h')
        (void)snprintf(arguments, sizeof arguments, "{\"agent\":\"%s\"}", who->to);
    else if (kind == 'm')
        (void)snprintf(arguments, sizeof arguments, "{\"request\":\"r%d\"}", step);
    if (kind == 'h')
        call.name = "transfer_to_agent";
    else if (kind == 'm')
        call.name = "clerk";
    return wire_talk_answer(provider, text, kind == 't' ? NULL : &call);
}

static int choose(void *ctx, const http_request *request)
{
    speaker *who = speaker_of(request->body);
    (void)ctx;
    return who == NULL ? -1
                       : (int)(who - speakers) * N_STEPS + who->n_asked++ % N_STEPS;
}

static http_server *start_server(void)
{
    http_server *server = http_server_start(&(http_server_config){.choose = choose});
    for (int i = 0; i < N_SPEAKERS * N_STEPS; i++) {
        char *answer = answer_of(&speakers[i / N_STEPS], i % N_STEPS);
        http_server_add_answer(server, 200, NULL, "application/json", answer);
        free(answer);
    }
    return server;
}

// --- The team ---

static cadre_status add(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err)
{
    char text[32];
    (void)ctx;
    (void)snprintf(text, sizeof text, "%d + 1 \xC3\xA9",
                   (int)json_integer_value(json_object_get(arguments, "a")));
    return cadre_frame_set_output(frame, text, err);
}

static void add_speaker(cadre_team *team, int which, int max_history_tokens)
{
    const speaker *who = &speakers[which];
    char instructions[64];
    (void)snprintf(instructions, sizeof instructions, "You are %s.", who->name);
    cadre_team_add_llm(
        team,
        CADRE_LLM(.name = who->name, .model = "m", .instructions = instructions,
                  .tools = CADRE_NAMES("add"), .max_history_tokens = max_history_tokens,
                  .handoffs = {&who->to, who->to == NULL ? 0 : 1}));
}

static cadre_team *make_team(cadre_runtime *runtime, const char *url,
                             int max_history_tokens)
{
    char model[64];
    cadre_team *team = cadre_team_new(runtime, "team");
    (void)snprintf(model, sizeof model, "%s/m", provider);
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = model, .base_url = url,
                                           .api_key_env = ""));
    cadre_team_add_tool(
        team,
        CADRE_TOOL(.name = "add", .description = "Adds", .run = add,
                   .parameters = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
                                 "\"integer\"},\"b\":{\"type\":\"integer\"}}}"));
    for (int i = 0; i < N_SPEAKERS; i++)
        add_speaker(team, i, max_history_tokens);
    cadre_team_add_topology(team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk", .entry = "front",
                                           .members = CADRE_NAMES("front", "back")));
    cadre_team_add_topology(team, "coordinator",
                            CADRE_TOPOLOGY(.name = "office", .entry = "lead",
                                           .members = CADRE_NAMES("lead", "clerk")));
    cadre_team_add_topology(
        team, "chain",
        CADRE_TOPOLOGY(.name = "house", .members = CADRE_NAMES("desk", "office")));
    cadre_team_set_root(team, "house");
    return team;
}

// --- What was sent ---

// Marks of a cache move, so they are left out where texts are compared.
static void leave_marks_out(char *text)
{
    for (char *at = strstr(text, MARK); at != NULL; at = strstr(at, MARK))
        memmove(at, at + sizeof MARK - 1, strlen(at + sizeof MARK - 1) + 1);
}

// Where the next mark stands, from `*at` on, as a place in the text without marks;
// -1: there is none.
static long next_mark(const char *text, const char **at, int *n_marks)
{
    const char *mark = strstr(*at, MARK);
    if (mark == NULL)
        return -1;
    *at = mark + sizeof MARK - 1;
    return mark - text - (long)(sizeof MARK - 1) * (*n_marks)++;
}

// What one request had written to the cache, up to its last mark, the next one finds
// there: it has a mark in that place, too.
static void check_marks(const char *messages, const char *before)
{
    const char *at = before;
    int n_marks = 0;
    long last = -1;
    for (long mark = 0; mark >= 0; mark = next_mark(before, &at, &n_marks))
        last = mark;
    if (n_marks == 0)
        return;
    bool is_there = false;
    at = messages;
    n_marks = 0;
    for (long mark = 0; mark >= 0; mark = next_mark(messages, &at, &n_marks))
        is_there = is_there || mark == last;
    CHECK(is_there);
}

static bool begins_with(const char *text, const char *part)
{
    return strncmp(text, part, strlen(part)) == 0;
}

// The body without its messages must be the same each time.
static void check_rest(const char *body, const char *messages, const char *before,
                       const char *messages_before)
{
    const char *at = strstr(body, messages);
    const char *at_before = strstr(before, messages_before);
    if (!CHECK(at != NULL && at_before != NULL))
        return;
    CHECK_BYTES(body, (size_t)(at - body), before, (size_t)(at_before - before));
    CHECK_TEXT(at + strlen(messages), at_before + strlen(messages_before));
}

static void check_next(speaker *who, const char *body)
{
    char *messages = wire_talk_messages(provider, body);
    char *before = wire_talk_messages(provider, who->last);
    check_rest(body, messages, who->last, before);
    char *bare = strdup(messages);
    char *bare_before = strdup(before);
    leave_marks_out(bare);
    leave_marks_out(bare_before);
    if (begins_with(bare, bare_before))
        check_marks(messages, before);
    else
        who->n_breaks++;
    free(bare);
    free(bare_before);
    free(before);
    free(messages);
}

static void check_request(const http_request *request)
{
    speaker *who = speaker_of(request->body);
    if (!CHECK(who != NULL))
        return;
    CHECK(request_rules_check(provider, request->body));
    size_t length = strlen(who->cycle);
    bool is_new = who->is_fresh && (size_t)who->n_asked % length == 0;
    if (who->last != NULL && !is_new)
        check_next(who, request->body);
    who->n_asked++;
    free(who->last);
    who->last = strdup(request->body);
}

static void hold_session(http_server *server, int max_history_tokens)
{
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err))
        return;
    cadre_team *team = make_team(runtime, http_server_url(server), max_history_tokens);
    for (int i = 0; i < N_RUNS; i++) {
        cadre_run *run = NULL;
        char input[32];
        (void)snprintf(input, sizeof input, "input \"%d\"", i);
        if (CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = input, .session = "s"),
                                     &run, &err),
                     &err))
            CHECK_OK(cadre_run_wait(run, NULL, &err), &err);
        cadre_run_free(run);
    }
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void forget(void)
{
    for (int i = 0; i < N_SPEAKERS; i++) {
        free(speakers[i].last);
        speakers[i].last = NULL;
        speakers[i].n_asked = speakers[i].n_breaks = 0;
    }
}

static void check_format(const cadre_model_ops *ops, int max_history_tokens)
{
    provider = ops->provider;
    forget();
    http_server *server = start_server();
    hold_session(server, max_history_tokens);
    int n = http_server_request_count(server);
    CHECK(n > 200);
    forget();
    for (int i = 0; i < n; i++)
        check_request(http_server_request(server, i));
    http_server_stop(server);
}

static void check_whole(const cadre_model_ops *ops, void *ctx)
{
    (void)ctx;
    check_format(ops, 0);
    for (int i = 0; i < N_SPEAKERS; i++) {
        CHECK_INT(speakers[i].n_breaks, 0);
        CHECK(speakers[i].n_asked > N_RUNS);
    }
    forget();
}

static void test_prefix__of_a_prompt_stays_as_it_was(void)
{
    wire_talk_each(check_whole, NULL);
}

// A step leaves out about three tenths of what fits: it is seldom, and all that stands
// between two steps is still a prefix.
static void check_limited(const cadre_model_ops *ops, void *ctx)
{
    (void)ctx;
    check_format(ops, 1200);
    for (int i = 0; i < 2; i++) { // front and back
        CHECK(speakers[i].n_breaks > 0);
        CHECK(speakers[i].n_breaks <= speakers[i].n_asked / 8);
        CHECK_CONTAINS(speakers[i].last, "input \\\"0\\\"");
        CHECK_LACKS(speakers[i].last, "input \\\"1\\\"");
    }
    CHECK_INT(speakers[3].n_breaks, 0);
    forget();
}

static void test_prefix__changes_at_a_step_of_max_history_tokens_only(void)
{
    wire_talk_each(check_limited, NULL);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_prefix__of_a_prompt_stays_as_it_was),
    CHECK_TEST(test_prefix__changes_at_a_step_of_max_history_tokens_only),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/prefix", tests);
}
