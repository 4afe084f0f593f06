// See graph_case.h.
#include "support/graph_case.h"

#include "cadre/state.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

team_case graph_team;

static team_case *const t = &graph_team;

char *graph_case_json(const char *text)
{
    char *json = strdup(text);
    for (char *at = json; *at; at++) {
        if (*at == '\'')
            *at = '"';
    }
    return json;
}

static cadre_status put(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const char *input = cadre_frame_input(frame);
    size_t len = strcspn(input, " ");
    const char *key = cadre_frame_printf(frame, "%.*s", (int)len, input);
    json_t *value = json_loads(input + len, JSON_DECODE_ANY, NULL);
    (void)ctx;
    CHECK(value != NULL);
    cadre_status status = cadre_frame_set_state(frame, key, value, err);
    json_decref(value);
    return status == CADRE_OK ? cadre_frame_set_output(frame, input, err) : status;
}

static void add_agents(void)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "h"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cadre_team_add_llm(t->team, CADRE_LLM(.name = names[i], .model = DRIVEN_MODEL));
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "put", .run = put));
    cadre_team_set_root(t->team, "g");
}

static void add_graph(const char *options)
{
    char *json = graph_case_json(options);
    cadre_team_add_topology(t->team, "graph",
                            CADRE_TOPOLOGY(.name = "g", .options = json));
    free(json);
}

void graph_case_open(const char *options)
{
    team_case_open(t);
    add_agents();
    add_graph(options);
}

void graph_case_close(void)
{
    team_case_close(t);
}

void graph_case_run(const char *input)
{
    team_case_run(t, input);
}

// A line of the stack tree: "  agent a a@1 completed final"; its key when it is a call
// of the root.
static void add_key(cdr_buf *keys, const char *line)
{
    const char *name = line + strlen("  agent ");
    if (strncmp(line, "  agent ", strlen("  agent ")) != 0)
        return;
    const char *key = name + strcspn(name, " ") + 1;
    cdr_buf_printf(keys, "%s%.*s", keys->len > 0 ? " " : "", (int)strcspn(key, " "),
                   key);
}

char *graph_case_keys(void)
{
    cdr_buf keys = CDR_BUF_INIT;
    char *frames = team_case_frames(t);
    for (const char *line = frames; *line; line += *line == '\n') {
        add_key(&keys, line);
        line += strcspn(line, "\n");
    }
    free(frames);
    return cdr_buf_take(&keys);
}

void graph_case_check(const char *keys, const char *answer)
{
    char *ran = graph_case_keys();
    CHECK_TEXT(ran, keys);
    free(ran);
    CHECK_OK(t->status, &t->err);
    if (CHECK(t->result != NULL))
        CHECK_TEXT(t->result->text, answer);
}

void graph_case_check_problems(const char *options, const char *problems)
{
    cdr_buf told = CDR_BUF_INIT;
    size_t n = 0;
    graph_case_open(options);
    cadre_team_seal(t->team, NULL);
    const char *const *lines = cadre_team_problems(t->team, &n);
    for (size_t i = 0; i < n; i++)
        cdr_buf_printf(&told, "%s\n", lines[i]);
    CHECK_TEXT(cdr_buf_text(&told), problems);
    cdr_buf_fini(&told);
    graph_case_close();
}
