// Digests: the same team has the same ones, and each change shows in the right one.
#include "team/digest.h"

#include "support/check.h"
#include "support/folder.h"

#include "base/json_text.h"
#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_folder folder;

typedef struct digests {
    char shape[CDR_DIGEST_SIZE], text[CDR_DIGEST_SIZE];
    char triage[CDR_AGENT_DIGEST_SIZE];
} digests;

static void take(cadre_team *team, digests *out)
{
    const cadre_agent *triage = cadre_team_find(team, "triage");
    memset(out, 0, sizeof *out);
    snprintf(out->shape, sizeof out->shape, "%s", team->shape_digest);
    snprintf(out->text, sizeof out->text, "%s", team->text_digest);
    if (triage)
        snprintf(out->triage, sizeof out->triage, "%s", triage->shape_digest);
}

static void load_with(const cadre_runtime_config *config, const char *text,
                      digests *out)
{
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    folder_write(&folder, "team.yaml", text, path);
    CHECK_OK(cadre_runtime_open(config, &runtime, &err), &err);
    CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err);
    take(team, out);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void load(const char *text, digests *out)
{
    load_with(CADRE_RUNTIME(0), text, out);
}

#define ADD                                                                            \
    "  add: {type: command, argv: [cat], description: Adds., replay: safe,\n"          \
    "        parameters: {type: object, required: [a], properties: {a: {type: "        \
    "integer}, b: {type: string}}}}\n"

static const char base[] =
    "name: desk\n"
    "agents:\n"
    "  desk: {type: handoff, members: [triage, tech]}\n"
    "  triage: {model: fast, instructions: Ask., tools: [add], handoffs: [tech]}\n"
    "  tech: {model: fast, description: Knows.}\n"
    "models: {fast: {model: openai/any, temperature: 0.5}}\n"
    "tools:\n" ADD;

static void test_digest__is_the_same_each_time(void)
{
    digests first, again;
    load(base, &first);
    load(base, &again);
    CHECK_INT(strlen(first.shape), 16);
    CHECK_INT(strlen(first.text), 16);
    CHECK_INT(strlen(first.triage), 8);
    CHECK_TEXT(again.shape, first.shape);
    CHECK_TEXT(again.text, first.text);
    CHECK_TEXT(again.triage, first.triage);
}

// What stands here was printed once: another process, machine or build gives the same.
static void test_digest__is_the_same_everywhere(void)
{
    digests now;
    load(base, &now);
    CHECK_TEXT(now.shape, "d30bad056c14027e");
    CHECK_TEXT(now.text, "d875523e4c1b0019");
}

static void test_digest__does_not_depend_on_the_order_of_keys(void)
{
    digests first, other;
    load(base, &first);
    load("tools:\n"
         "  add: {parameters: {properties: {b: {type: string}, a: {type: integer}},\n"
         "        required: [a], type: object}, replay: safe, description: Adds.,\n"
         "        argv: [cat], type: command}\n"
         "models: {fast: {temperature: 0.5, model: openai/any}}\n"
         "root: desk\n"
         "agents:\n"
         "  tech: {description: Knows., model: fast}\n"
         "  triage: {handoffs: [tech], tools: [add], instructions: Ask., model: fast}\n"
         "  desk: {members: [triage, tech], type: handoff}\n"
         "name: desk\n",
         &other);
    CHECK_TEXT(other.shape, first.shape);
    CHECK_TEXT(other.text, first.text);
    json_t *a = cdr_json_parse("{\"x\": 1, \"y\": [1, 2.5, null]}", 29, NULL);
    json_t *b = cdr_json_parse("{\"y\": [1, 2.5, null], \"x\": 1}", 29, NULL);
    json_t *c = cdr_json_parse("{\"y\": [2.5, 1, null], \"x\": 1}", 29, NULL);
    CHECK(cdr_digest_json(a) == cdr_digest_json(b));
    CHECK(cdr_digest_json(a) != cdr_digest_json(c));
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

static void test_digest__does_not_depend_on_where_it_runs(void)
{
    char script[FOLDER_PATH_SIZE];
    digests first, offline;
    load(base, &first);
    folder_write(&folder, "script.yaml", "agents: {triage: [{text: Hi.}]}\n", script);
    load_with(CADRE_RUNTIME(.script = script), base, &offline);
    CHECK_TEXT(offline.shape, first.shape);
    CHECK_TEXT(offline.text, first.text);
}

static void test_digest__an_option_with_its_default_is_none(void)
{
    static const char written[] =
        "name: desk\n"
        "agents:\n"
        "  desk: {type: handoff, members: [triage, tech], transfer: {max_handoffs: "
        "20}}\n"
        "  triage: {model: fast, instructions: Ask., tools: [add], handoffs: [tech],\n"
        "           max_turns: 20, history: all}\n"
        "  tech: {model: fast, description: Knows.}\n"
        "models: {fast: {model: openai/any, temperature: 0.5}}\n"
        "tools:\n" ADD;
    digests first, other;
    load(base, &first);
    load(written, &other);
    CHECK_TEXT(other.triage, first.triage);
    CHECK_TEXT(other.text, first.text);
}

static cadre_status do_nothing(void *ctx, cadre_frame *frame, const json_t *arguments,
                               cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_set_output(frame, "", err);
}

static void test_digest__a_team_built_in_c_has_those_of_its_file(void)
{
    digests first, built;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    load(base, &first);
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(0), &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "desk");
    cadre_team_add_tool(
        team, CADRE_TOOL(.name = "add", .run = do_nothing, .description = "Adds.",
                         .replay_safe = true,
                         .parameters = "{\"type\":\"object\",\"properties\":{\"b\":"
                                       "{\"type\":\"string\"},\"a\":{\"type\":"
                                       "\"integer\"}},\"required\":[\"a\"]}"));
    cadre_team_add_model(team, CADRE_MODEL(.name = "other", .model = "openai/any",
                                           .options = "{\"temperature\": 0.5}"));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "triage", .model = "other", .instructions = "Ask.",
                        .tools = CADRE_NAMES("add"), .handoffs = CADRE_NAMES("tech")));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "tech", .model = "other", .description = "Knows."));
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("triage", "tech")));
    CHECK_OK(cadre_team_seal(team, &err), &err);
    take(team, &built);
    CHECK_TEXT(built.shape, first.shape);
    CHECK_TEXT(built.text, first.text);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

// --- Changes ---

typedef struct change {
    const char *from, *to;
    bool is_shape, is_text;
} change;

static const change changes[] = {
    {"members: [triage, tech]", "members: [tech, triage]", true, false},
    {"members: [triage, tech]", "members: [triage, tech], entry: tech", true, false},
    {"handoffs: [tech]", "handoffs: []", true, false},
    {"handoffs: [tech]", "handoffs: [{to: tech, history: last}]", true, false},
    {"tools: [add], ", "", true, true},
    {"replay: safe", "replay: unsafe", true, false},
    {"replay: safe", "replay: safe, approval: ask", true, false},
    {"replay: safe", "replay: safe, may_repeat: true", true, false},
    {"instructions: Ask.", "instructions: Ask., loop_fallback: tech", true, false},
    {"instructions: Ask.", "instructions: Ask., retry: {attempts: 3}", false, false},
    {"members: [triage, tech]",
     "members: [triage, tech], transfer: {max_handoffs: "
     "5}",
     true, false},
    {"  tech: {model: fast", "  more: {model: fast}\n  tech: {model: fast", true, true},
    {"name: desk\n", "name: desk\nroot: tech\n", true, false},
    {"Ask.", "Ask!", false, true},
    {"Knows.", "Guesses.", false, true},
    {"openai/any", "openai/other", false, true},
    {"temperature: 0.5", "temperature: 0.25", false, true},
    {"Adds.", "Sums.", false, true},
    {"b: {type: string}", "b: {type: number}", false, true},
    {"instructions: Ask.", "instructions: Ask., max_turns: 3", false, true},
    {"instructions: Ask.", "instructions: Ask., max_history_tokens: 900", false, true},
    {"name: desk\n", "name: desk\ninputs: {city: {default: Rome}}\n", false, true},
    {"name: desk\n", "name: desk\nstate: {n: {reducer: sum}}\n", true, true},
    {"name: desk\n", "name: desk\nstate: {n: {default: 1}}\n", false, true},
    {"name: desk\n", "name: desk\nstate: {n: {reducer: replace}}\n", false, false},
    {"instructions: Ask.", "instructions: Ask., output_key: n", true, false},
    {"argv: [cat]", "argv: [tac], timeout: 5s", false, false},
    {"temperature: 0.5", "temperature: 0.5, base_url: 'http://localhost:1/v1'", false,
     false},
};

static void edit(const char *text, const change *c, char *out, size_t size)
{
    const char *at = strstr(text, c->from);
    if (CHECK(at != NULL))
        snprintf(out, size, "%.*s%s%s", (int)(at - text), text, c->to,
                 at + strlen(c->from));
}

static void test_digest__tells_each_change_in_its_place(void)
{
    char text[2000];
    digests first, other;
    load(base, &first);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        edit(base, &changes[i], text, sizeof text);
        load(text, &other);
        bool is_shape = strcmp(other.shape, first.shape) != 0;
        bool is_text = strcmp(other.text, first.text) != 0;
        if (is_shape != changes[i].is_shape || is_text != changes[i].is_text)
            fprintf(stderr, "%s -> %s: shape %d, text %d\n", changes[i].from,
                    changes[i].to, is_shape, is_text);
        CHECK(is_shape == changes[i].is_shape);
        CHECK(is_text == changes[i].is_text);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_digest__is_the_same_each_time),
    CHECK_TEST(test_digest__is_the_same_everywhere),
    CHECK_TEST(test_digest__does_not_depend_on_the_order_of_keys),
    CHECK_TEST(test_digest__does_not_depend_on_where_it_runs),
    CHECK_TEST(test_digest__an_option_with_its_default_is_none),
    CHECK_TEST(test_digest__a_team_built_in_c_has_those_of_its_file),
    CHECK_TEST(test_digest__tells_each_change_in_its_place),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (!folder_make(&folder))
        return 1;
    int failed = check_main("team/digest", tests);
    folder_remove(&folder);
    return failed;
}
