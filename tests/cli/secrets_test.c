// Secrets stay where they are: whatever servers echo, no key, password or token of a
// model is on stdout, on stderr, in a file of the store, or in what a tool is given.
#include "support/http_server.h"
#include "support/lab.h"
#include "support/online.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATEWAY_KEY "gw-7d3e9a1b5c2f"
#define PASSWORD "pw-8e2d4c6a0b1f"
#define QUERY_KEY "qk-1b3d5f7092ac"
#define BASIC "ZGVzazpwdy04ZTJkNGM2YTBiMWY=" // desk:PASSWORD

// What a server that shows its whole request would say.
#define ECHO                                                                           \
    "Bearer " ONLINE_KEY ", " GATEWAY_KEY ", Basic " BASIC ", desk:" PASSWORD          \
    "@, ?key=" QUERY_KEY "."

// The key in two halves.
#define ONLINE_KEY_START "sk-online"
#define ONLINE_KEY_END "-4f1c9b7e2d08"

static const char *const secrets[] = {ONLINE_KEY, GATEWAY_KEY, PASSWORD, QUERY_KEY,
                                      BASIC};
#define N_SECRETS (sizeof secrets / sizeof secrets[0])

static const char team[] =
    "version: 1\n"
    "name: secrets\n"
    "models:\n"
    "  near:\n"
    "    model: openai/test\n"
    "    base_url: http://desk:${TEST_PASSWORD}@${TEST_HOST}/v1?key=${TEST_QUERY_KEY}\n"
    "    api_key_env: OPENAI_API_KEY\n"
    "    headers: {x-gateway-key: '${TEST_GATEWAY_KEY}'}\n"
    "    retry: {attempts: 2, backoff: 10ms, max_backoff: 2s}\n"
    "tools:\n"
    "  environment:\n"
    "    {type: command, argv: [/usr/bin/env], parameters: {type: object},\n"
    "     description: Shows what it is given}\n"
    "agents:\n"
    "  solo: {model: near, instructions: Answer., tools: [environment]}\n";

typedef struct scene {
    lab it;
    http_server *server;
} scene;

static bool open_scene_of(scene *s, const char *file)
{
    s->server = http_server_start(&(http_server_config){.repeat_last = true});
    return lab_make(&s->it, file, "agents: {}\n");
}

static bool open_scene(scene *s)
{
    return open_scene_of(s, team);
}

static void check_lacks_secrets(const char *where, const char *data, size_t len)
{
    for (size_t i = 0; i < N_SECRETS; i++)
        if (!CHECK(memmem(data, len, secrets[i], strlen(secrets[i])) == NULL))
            (void)printf("\n  %s holds %s\n", where, secrets[i]);
}

// Runs a command with all secrets set, and looks at what it writes.
static bool run(scene *s, const char *const *words, const program_action *action,
                program_result *ran)
{
    char host[128];
    const char *const changes[] = {"OPENAI_API_KEY=" ONLINE_KEY,
                                   "TEST_GATEWAY_KEY=" GATEWAY_KEY,
                                   "TEST_PASSWORD=" PASSWORD,
                                   "TEST_QUERY_KEY=" QUERY_KEY,
                                   host,
                                   NULL};
    const char *arguments[LAB_MAX_WORDS + 3] = {words[0]};
    size_t n = 1;

    (void)snprintf(host, sizeof host, "TEST_HOST=%s",
                   http_server_url(s->server) + strlen("http://"));
    for (size_t i = 1; words[i]; i++)
        arguments[n++] = words[i];
    if (strcmp(words[0], "check") != 0 && strcmp(words[0], "draw") != 0) {
        arguments[n++] = "--store";
        arguments[n++] = s->it.store;
    }
    program_config config = {.arguments = arguments,
                             .changes = changes,
                             .directory = s->it.directory,
                             .action = action ? *action : (program_action){0}};
    if (!program_run(&config, ran))
        return false;
    check_lacks_secrets(words[0], ran->out, ran->out_len);
    check_lacks_secrets(words[0], ran->err, strlen(ran->err));
    return true;
}

#define RUN(s, ran, ...) run((s), LAB_WORDS(__VA_ARGS__), NULL, (ran))

// All of a file, NULs too; the caller's. NULL: a failed check, or it is empty.
static char *read_file(const char *folder, const char *name, size_t *len)
{
    char path[FOLDER_PATH_SIZE + 256];
    char *data = NULL;
    size_t size = 0;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!CHECK(file != NULL))
        return NULL;
    ssize_t n = getdelim(&data, &size, EOF, file);
    CHECK(n >= 0 || feof(file));
    (void)fclose(file);
    *len = n > 0 ? (size_t)n : 0;
    if (n > 0)
        return data;
    free(data);
    return NULL;
}

static void check_file(const char *folder, const char *name)
{
    size_t len = 0;
    char *data = read_file(folder, name, &len);
    if (data)
        check_lacks_secrets(name, data, len);
    free(data);
}

// Looks into every file there is. Returns how many.
static int check_files(const scene *s)
{
    struct dirent **entries = NULL;
    int n_files = 0;
    int n = scandir(s->it.folder.path, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            check_file(s->it.folder.path, entries[i]->d_name);
            n_files++;
        }
        free(entries[i]);
    }
    free(entries);
    return n_files;
}

static void close_scene(scene *s)
{
    program_result ran;
    static const char *const looks[][4] = {{"runs"},
                                           {"runs", "--json"},
                                           {"show"},
                                           {"show", "--json"},
                                           {"tree", "--all"},
                                           {"tree", "--all", "--json"},
                                           {"check", "team.yaml"},
                                           {"draw", "team.yaml"}};

    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        if (!RUN(s, &ran, looks[i][0], looks[i][1], looks[i][2]))
            continue;
        CHECK_INT(ran.exit_status, 0);
        program_result_fini(&ran);
    }
    CHECK(check_files(s) >= 3); // team, script, store
    lab_remove(&s->it);
    http_server_stop(s->server);
}

// A run in each form of output that must end so, with that in the JSON it prints.
static void check_runs(scene *s, int exit_status, const char *part)
{
    static const char *const forms[] = {"--plain", "--json", "--events"};
    program_result ran;

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (!RUN(s, &ran, "run", "team.yaml", "hi", forms[i]))
            continue;
        CHECK_INT(ran.exit_status, exit_status);
        if (strcmp(forms[i], "--json") == 0)
            CHECK_CONTAINS(ran.out, part);
        program_result_fini(&ran);
    }
}

typedef struct refusal {
    int status;
    const char *headers, *content_type, *body;
    const char *part; // of the message
} refusal;

static void test_secrets__servers_that_echo_the_request_are_covered(void)
{
    static const refusal refusals[] = {
        {401, NULL, "application/json",
         "{\"error\":{\"message\":\"" ECHO "\",\"code\":\"invalid_api_key\"}}", "401"},
        {403, NULL, "text/plain", ECHO, "403"},
        {400, NULL, "application/json", "{\"detail\":[{\"msg\":\"" ECHO "\"}]}", "400"},
        {500, NULL, "text/html", "<html>" ECHO "</html>", "500"},
        {200, NULL, "text/html", "<html>" ECHO "</html>", "text/html"},
        {200, NULL, "application/json", "{\"" ECHO "\":", "truncated"},
        {302,
         "Location: https://desk:" PASSWORD "@other.example/v1?key=" QUERY_KEY "\r\n",
         "text/html", ECHO, "redirects to 'https://other.example/v1?...'"},
        {307, "Location: /v2/" ONLINE_KEY "\r\n", "text/html", ECHO, "redirects to"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const refusal *r = &refusals[i];
        scene s;
        if (!open_scene(&s))
            return;
        http_server_add_answer(s.server, r->status, r->headers, r->content_type,
                               r->body);
        check_runs(&s, 1, r->part);
        close_scene(&s);
    }
}

static void check_stream(const char *stream, const char *chunks, int exit_status,
                         const char *part)
{
    scene s;
    if (!open_scene(&s))
        return;
    http_server_add_stream(s.server, stream, strlen(stream), chunks);
    check_runs(&s, exit_status, part);
    close_scene(&s);
}

static void test_secrets__streams_that_echo_the_request_are_covered(void)
{
    check_stream("data: {\"error\":{\"message\":\"" ECHO "\"}}\n\n", NULL, 1, "****");
    check_stream("data: " ECHO "\n\n", NULL, 1, "not JSON");
    check_stream(ONLINE_TEXT("half"), "7", 1, "truncated");
    // In pieces of a byte, so that no piece holds one.
    check_stream(ONLINE_TEXT("You sent Bearer " ONLINE_KEY_START)
                     ONLINE_TEXT(ONLINE_KEY_END " and " GATEWAY_KEY "!")
                         ONLINE_FINISH("stop") ONLINE_DONE,
                 "1", 0,
                 "You sent Bearer ********************** and "
                 "***************!");
}

// The key in two events, and in what only the model can read.
static const struct {
    const char *provider, *stream;
} providers[] = {
    {"openai", ONLINE_TEXT("You sent " ONLINE_KEY_START) ONLINE_TEXT(ONLINE_KEY_END "!")
                   ONLINE_FINISH("stop") ONLINE_DONE},
    {"openai_responses",
     "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":"
     "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],"
     "\"encrypted_content\":\"" ONLINE_KEY "\"}}\n\n"
     "data: {\"type\":\"response.output_text.delta\",\"delta\":\"You "
     "sent " ONLINE_KEY_START "\"}\n\n"
     "data: {\"type\":\"response.output_text.delta\",\"delta\":\"" ONLINE_KEY_END
     "!\"}\n\n"
     "data: {\"type\":\"response.completed\",\"response\":{\"status\":"
     "\"completed\"}}\n\n"},
    {"anthropic",
     "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
     "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
     "{\"type\":\"thinking_delta\",\"thinking\":\"" ONLINE_KEY "\"}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
     "{\"type\":\"signature_delta\",\"signature\":\"" ONLINE_KEY "\"}}\n\n"
     "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":"
     "{\"type\":\"text\",\"text\":\"You sent " ONLINE_KEY_START "\"}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
     "{\"type\":\"text_delta\",\"text\":\"" ONLINE_KEY_END "!\"}}\n\n"
     "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
     "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
     "data: {\"type\":\"message_stop\"}\n\n"},
    {"gemini",
     "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":"
     "\"You sent " ONLINE_KEY_START "\"}]}}]}\n\n"
     "data: "
     "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":"
     "\"" ONLINE_KEY_END "!\",\"thoughtSignature\":\"" ONLINE_KEY "\"}]},"
     "\"finishReason\":\"STOP\"}]}\n\n"},
};

static void check_provider(const char *provider, const char *stream)
{
    scene s;
    char file[512];
    (void)snprintf(file, sizeof file,
                   "version: 1\nname: secrets\nmodels: {near: {model: %s/test,\n"
                   "  base_url: 'http://${TEST_HOST}', api_key_env: OPENAI_API_KEY}}\n"
                   "agents: {solo: {model: near, instructions: Answer.}}\n",
                   provider);
    if (!open_scene_of(&s, file))
        return;
    if (stream)
        (void)http_server_add_stream(s.server, stream, strlen(stream), "5");
    else
        (void)http_server_add_answer(s.server, 401, NULL, "application/json",
                                     "{\"error\":{\"message\":\"Bearer " ONLINE_KEY
                                     "\"}}");
    check_runs(&s, stream ? 0 : 1, stream ? "You sent **********************!" : "401");
    CHECK(http_server_request_count(s.server) > 0);
    close_scene(&s);
}

static void test_secrets__of_every_provider_are_covered(void)
{
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++) {
        check_provider(providers[i].provider, NULL);
        check_provider(providers[i].provider, providers[i].stream);
    }
}

static void test_secrets__no_redirect_is_followed(void)
{
    static const int statuses[] = {301, 302, 303, 307, 308};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        scene s;
        char location[256];
        char part[256];
        http_server *other = http_server_start(NULL);
        if (!open_scene(&s))
            return;
        (void)snprintf(location, sizeof location,
                       "Location: %s/v1?key=" ONLINE_KEY "\r\n",
                       http_server_url(other));
        (void)snprintf(part, sizeof part, "redirects to '%s/v1?...'",
                       http_server_url(other));
        http_server_add_answer(s.server, statuses[i], location, "text/html", ECHO);
        check_runs(&s, 1, part);
        CHECK_INT(http_server_request_count(s.server),
                  3); // one for each form of output
        CHECK_INT(http_server_connection_count(other), 0);
        close_scene(&s);
        http_server_stop(other);
    }
}

#define TOOL_CALL                                                                      \
    ONLINE_CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{"          \
                 "\"name\":\"environment\",\"arguments\":\"{}\"}}]}")                  \
    ONLINE_FINISH("tool_calls") ONLINE_DONE

static void test_secrets__a_tool_is_given_none(void)
{
    scene s;
    program_result ran;
    if (!open_scene(&s))
        return;
    http_server_add_stream(s.server, TOOL_CALL, strlen(TOOL_CALL), NULL);
    http_server_add_stream(s.server, ONLINE_ANSWER("Done."),
                           strlen(ONLINE_ANSWER("Done.")), NULL);
    if (RUN(&s, &ran, "run", "team.yaml", "hi", "--events")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "CADRE_IDEMPOTENCY_KEY="); // it did run
        CHECK_CONTAINS(ran.out, "PATH=");
        CHECK_LACKS(ran.out, "OPENAI_API_KEY");
        program_result_fini(&ran);
    }
    if (CHECK_INT(http_server_request_count(s.server), 2)) {
        const http_request *second = http_server_request(s.server, 1);
        char key[64];
        CHECK_TEXT(http_request_header(second, "Authorization", key, sizeof key),
                   "Bearer " ONLINE_KEY);
        CHECK_TEXT(http_request_header(second, "x-gateway-key", key, sizeof key),
                   GATEWAY_KEY);
        CHECK_CONTAINS(second->path, "key=" QUERY_KEY);
        check_lacks_secrets("the request's body", second->body, second->body_len);
    }
    close_scene(&s);
}

// Answers, arguments of calls and errors go into the script that --record writes.
static void test_secrets__a_recorded_script_holds_none(void)
{
    static const char call[] = ONLINE_TEXT("You sent " ONLINE_KEY "!")
        ONLINE_CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"" ONLINE_KEY
                     "\",\"function\":{\"name\":\"environment\","
                     "\"arguments\":\"{\\\"key\\\":\\\"" ONLINE_KEY "\\\"}\"}}]}")
            ONLINE_FINISH("tool_calls") ONLINE_DONE;
    scene s;
    program_result ran;
    size_t len = 0;
    if (!open_scene(&s))
        return;
    http_server_add_stream(s.server, call, strlen(call), NULL);
    http_server_add_answer(s.server, 400, NULL, "text/plain", ECHO);
    if (RUN(&s, &ran, "run", "team.yaml", "hi", "--record", "recorded.yaml")) {
        CHECK_INT(ran.exit_status, 1);
        program_result_fini(&ran);
    }
    char *recorded = read_file(s.it.folder.path, "recorded.yaml", &len);
    if (CHECK(recorded != NULL)) {
        CHECK_CONTAINS(recorded, "You sent **********************!");
        CHECK_CONTAINS(recorded, "environment");
        CHECK_CONTAINS(recorded, "400");
    }
    free(recorded);
    close_scene(&s); // looks into it
}

// The write-ahead log is there only while somebody writes, or after a kill.
static void test_secrets__a_killed_run_leaves_none_in_its_log(void)
{
    scene s;
    program_result ran;
    static const http_step held[] = {
        HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("The key is " ONLINE_KEY ". ")), HTTP_HOLD,
        HTTP_END};
    const program_action kill = {
        .when = "The key is", .is_on_stdout = true, .signal = SIGKILL};
    if (!open_scene(&s))
        return;
    (void)http_server_add(s.server, held);
    if (run(&s, LAB_WORDS("run", "team.yaml", "hi", "--events"), &kill, &ran)) {
        CHECK_INT(ran.signal, SIGKILL);
        program_result_fini(&ran);
    }
    CHECK(check_files(&s) >= 4); // the log too
    http_server_release_all(s.server);
    close_scene(&s);
}

static void test_secrets__mistakes_in_a_file_do_not_show_them(void)
{
    static const struct {
        const char *url, *part;
    } rows[] = {
        {"ftp://desk:${TEST_PASSWORD}@h/v1?key=${TEST_QUERY_KEY}",
         "got 'ftp://h/v1?...'"},
        {"desk:${TEST_PASSWORD}@h/v1", "got 'h/v1'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        scene s;
        program_result ran;
        char text[512], path[FOLDER_PATH_SIZE];
        if (!open_scene(&s))
            return;
        (void)snprintf(text, sizeof text,
                       "models: {m: {model: openai/x, base_url: '%s'}}\n"
                       "agents: {a: {model: m}}\n",
                       rows[i].url);
        if (folder_write(&s.it.folder, "bad.yaml", text, path) &&
            RUN(&s, &ran, "check", "bad.yaml")) {
            CHECK_INT(ran.exit_status, 2);
            CHECK(strstr(ran.err, rows[i].part) || strstr(ran.out, rows[i].part));
            program_result_fini(&ran);
        }
        lab_remove(&s.it);
        http_server_stop(s.server);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_secrets__servers_that_echo_the_request_are_covered),
    CHECK_TEST(test_secrets__streams_that_echo_the_request_are_covered),
    CHECK_TEST(test_secrets__of_every_provider_are_covered),
    CHECK_TEST(test_secrets__no_redirect_is_followed),
    CHECK_TEST(test_secrets__a_tool_is_given_none),
    CHECK_TEST(test_secrets__a_recorded_script_holds_none),
    CHECK_TEST(test_secrets__a_killed_run_leaves_none_in_its_log),
    CHECK_TEST(test_secrets__mistakes_in_a_file_do_not_show_them),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/secrets", tests);
}
