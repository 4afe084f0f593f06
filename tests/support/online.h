// The built program against a server of the test: `cadre run` with a key that must
// never come out, and the JSON it prints.
//
//     http_server *server = http_server_start(NULL);
//     http_server_add_answer(server, 401, NULL, "application/json", "{}");
//     online_result ran;
//     if (ONLINE_RUN(&ran, server, "--json"))
//         CHECK_TEXT(ran.error_class, "auth");
//     online_result_fini(&ran);
//
// Thread: any of the running test.
#ifndef ONLINE_H
#define ONLINE_H

#include "support/http_server.h"
#include "support/program.h"

#include <jansson.h>

#define ONLINE_KEY "sk-online-4f1c9b7e2d08" // what OPENAI_API_KEY is set to

typedef struct online_config {
    const char *const *options; // after "run TEAM INPUT"; NULL at the end; or NULL
    const char *team;           // from tests/cli/teams; NULL: online.yaml
    const char *input;          // NULL: "Where is order 1042?"
    const char *base_url;       // NULL: the server's
    program_stdout out;
    program_action action;
    int timeout_ms; // 0: 20 s
} online_config;

// Texts are borrowed from `object` and NULL where it lacks them.
typedef struct online_result {
    program_result program;
    json_t *object; // of --json; NULL without it
    const char *status, *output, *error_class, *message;
    int n_model_calls, n_tool_calls;
} online_result;

#define ONLINE_RUN(result, server, ...)                                                \
    online_run(                                                                        \
        &(const online_config){.options = (const char *const[]){__VA_ARGS__, NULL}},   \
        server, result)

// Runs it to its end and checks that the key is in nothing it wrote, and that what
// --json printed is one object. False, and a failed check: there is no result;
// `result` may be given to _fini all the same. `server` may be NULL.
bool online_run(const online_config *config, const http_server *server,
                online_result *result);
void online_result_fini(online_result *result);

// Pieces of a streamed answer. Arguments are string literals; texts stand in JSON as
// they are.
#define ONLINE_CHUNK(delta)                                                            \
    "data: {\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define ONLINE_TEXT(text) ONLINE_CHUNK("{\"content\":\"" text "\"}")
#define ONLINE_FINISH(reason)                                                          \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason        \
    "\"}]}\n\n"
#define ONLINE_DONE "data: [DONE]\n\n"
#define ONLINE_ANSWER(text) ONLINE_TEXT(text) ONLINE_FINISH("stop") ONLINE_DONE

// The head of a stream that ends with the connection.
#define ONLINE_HEAD                                                                    \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// Finds the nth event of a type, from 0, among the lines of --events. A new reference;
// NULL: there are not so many.
json_t *online_event(const char *lines, const char *type, int nth);

#endif
