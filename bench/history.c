// history: one long conversation over HTTP, a tool call each turn, against a bare
// libcurl client that sends the same bodies to the same server in the same run. What
// cadre adds must grow with the turns, not with their square.
#include "bare.h"
#include "ledger.h"

#include "net/http_request.h"
#include "team/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECES = 10,
    TURNS = 400
};

// --- What is sent ---

// The bodies of one run, as the recording model saw them.
typedef struct bodies {
    char **text;
    size_t *len;
    int n, capacity;
} bodies;

static bodies recorded; // of one run at a time
static const cadre_model_ops *recorded_ops;

static cadre_status encode_and_record(const void *state, const cadre_request *request,
                                      cadre_http *http, cadre_error *err)
{
    cadre_status status = recorded_ops->encode(state, request, http, err);
    if (status != CADRE_OK || recorded.n == recorded.capacity)
        return status;
    char *text = malloc(http->body.len);
    if (text == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a body");
    memcpy(text, http->body.data, http->body.len);
    recorded.text[recorded.n] = text;
    recorded.len[recorded.n++] = http->body.len;
    return CADRE_OK;
}

static void bodies_init(bodies *of, int capacity)
{
    *of = (bodies){.text = calloc((size_t)capacity, sizeof *of->text),
                   .len = calloc((size_t)capacity, sizeof *of->len),
                   .capacity = capacity};
}

static void bodies_fini(bodies *of)
{
    for (int i = 0; i < of->n; i++)
        free(of->text[i]);
    free(of->text);
    free(of->len);
}

static const cadre_model_ops *find_model(const char *provider)
{
    const cadre_model_ops *const *at = cdr_kinds_models;
    while (*at != NULL && strcmp((*at)->provider, provider) != 0)
        at++;
    return *at;
}

// --- The team ---

static cadre_status take_note(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    char text[128];
    (void)ctx;
    snprintf(
        text, sizeof text,
        "Number %lld is noted, and here is some text that makes the result as long "
        "as a short one is.",
        (long long)json_integer_value(json_object_get(arguments, "n")));
    return cadre_frame_set_output(frame, text, err);
}

static cadre_team *make_team(cadre_runtime *runtime, const char *provider, int port)
{
    char url[64];
    char model[32];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", port);
    snprintf(model, sizeof model, "%s/m", provider);
    cadre_team *team = cadre_team_new(runtime, "bench");
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = model, .base_url = url,
                                           .api_key_env = ""));
    cadre_team_add_tool(
        team,
        CADRE_TOOL(.name = "note", .run = take_note,
                   .parameters = "{\"type\":\"object\",\"properties\":{\"n\":"
                                 "{\"type\":\"integer\"}},\"required\":[\"n\"]}"));
    cadre_team_add_llm(team,
                       CADRE_LLM(.name = "one", .model = "m",
                                 .instructions = "Note all numbers.",
                                 .tools = CADRE_NAMES("note"), .max_turns = 100000));
    return team;
}

// The CPU of one run, whose team and runtime are its own.
static double run_us(const char *store, const char *provider, int port)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    cadre_model_ops recorder = *recorded_ops;
    recorder.provider = "recorder";
    recorder.encode = encode_and_record;
    bench_must(cadre_runtime_open(CADRE_RUNTIME(.store = store), &runtime, &err), &err);
    bench_must(cadre_runtime_register_model(runtime, &recorder, &err), &err);
    cadre_team *team = make_team(runtime, provider, port);
    bench_must(cadre_team_seal(team, &err), &err);
    cadre_limits limits = {CADRE_UNLIMITED, CADRE_UNLIMITED, 0};
    double start = bench_cpu_us();
    bench_must(
        cadre_run_start(team, CADRE_RUN(.input = "Go.", .limits = limits), &run, &err),
        &err);
    bench_must(cadre_run_wait(run, NULL, &err), &err);
    double cpu = bench_cpu_us() - start;
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return cpu;
}

static double bare_us(int port, const bodies *of)
{
    bare_client client;
    double start = bench_cpu_us();
    bare_open(&client, port);
    for (int i = 0; i < of->n; i++)
        bare_ask(&client, of->text[i], of->len[i]);
    bare_close(&client);
    return bench_cpu_us() - start;
}

// --- Measuring ---

typedef struct cost {
    double memory_us, sqlite_us, bare_us; // of a whole run; the least of all rounds
} cost;

static void note_least(double *least, double us)
{
    if (*least == 0 || us < *least)
        *least = us;
}

// In turn, so that what else the machine does falls on all alike; it only adds, so the
// least is what each costs.
static cost measure(int turns, int rounds)
{
    cost least = {0};
    ledger_folder folder;
    char path[LEDGER_PATH_SIZE];
    char store[LEDGER_PATH_SIZE + 8];
    char name[32];
    bench_server server;
    bench_server_start(&server,
                       &(bench_answers){.pieces = PIECES, .n_calls = turns - 1});
    bodies_init(&recorded, turns);
    ledger_folder_make(&folder);
    run_us(NULL, "recorder", server.port);
    if (recorded.n != turns) {
        fprintf(stderr, "cadre-bench: %d turns, not %d\n", recorded.n, turns);
        exit(1);
    }
    for (int i = 0; i < rounds; i++) {
        snprintf(name, sizeof name, "%d-%d.db", turns, i);
        ledger_folder_path(&folder, name, path);
        snprintf(store, sizeof store, "sqlite:%s", path);
        note_least(&least.bare_us, bare_us(server.port, &recorded));
        note_least(&least.memory_us, run_us(NULL, recorded_ops->provider, server.port));
        note_least(&least.sqlite_us,
                   run_us(store, recorded_ops->provider, server.port));
    }
    ledger_folder_remove(&folder);
    bodies_fini(&recorded);
    bench_server_stop(&server);
    return least;
}

// The slope of the least squares through the logarithms: turns ^ slope is the growth.
static double exponent(const double *turns, const double *own_us, int n)
{
    double sx = 0;
    double sy = 0;
    double sxx = 0;
    double sxy = 0;
    for (int i = 0; i < n; i++) {
        double x = log(turns[i]);
        double y = log(own_us[i]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static void print_turns(int turns, const cost *of, bool has_goal)
{
    char what[80];
    snprintf(what, sizeof what, "%d turns: CPU a turn (floor: bare libcurl)", turns);
    bench_print(&(bench_row){what, of->memory_us / turns, "us", of->bare_us / turns,
                             has_goal ? 3 : 0});
    snprintf(what, sizeof what, "%d turns: the same, sqlite store", turns);
    bench_print(
        &(bench_row){what, of->sqlite_us / turns, "us", of->bare_us / turns, 0});
}

static int history_run(int argc, char **argv)
{
    static const struct {
        int turns, rounds;
    } sizes[] = {{100, 31}, {200, 15}, {TURNS, 9}, {800, 5}};
    enum {
        N_SIZES = sizeof sizes / sizeof sizes[0]
    };
    double turns[N_SIZES];
    double memory[N_SIZES];
    double sqlite[N_SIZES];
    (void)argv;
    recorded_ops = find_model("openai");
    bench_head("history: one conversation over HTTP, a tool call each turn, 10 pieces");
    for (int i = 0; i < N_SIZES; i++) {
        cost of = measure(sizes[i].turns, argc > 0 ? 3 : sizes[i].rounds);
        print_turns(sizes[i].turns, &of, sizes[i].turns == TURNS);
        turns[i] = sizes[i].turns;
        memory[i] = of.memory_us - of.bare_us;
        sqlite[i] = of.sqlite_us - of.bare_us;
    }
    bench_print(&(bench_row){"exponent of growth, without the floor",
                             exponent(turns, memory, N_SIZES), "", 0, 1.1});
    bench_print(&(bench_row){"the same, sqlite store", exponent(turns, sqlite, N_SIZES),
                             "", 0, 0});
    return 0;
}

const bench bench_history = {"history", "400 turns of one conversation over HTTP",
                             history_run};
