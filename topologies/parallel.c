// parallel: all members get the same and work at once, each in a fork that reads the
// conversation up to now. The answer is made of theirs: of all, or of the one that won.
#include "cadre/ext/agent.h"
#include "cadre/ext/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parallel {
    cadre_agents members;
    cadre_wait wait;
    char *output;  // with {{outputs.NAME}}; NULL: a heading and a text for each
    bool survives; // failed members are told in the output
} parallel;

#define PLACE "{{outputs."

static const char *name_of(const parallel *self, size_t i)
{
    return cadre_agent_get_info(self->members.items[i])->name;
}

static const char *text_of(const json_t *options, const char *key)
{
    return json_string_value(json_object_get(options, key));
}

// Which member stands at a place of the template, and what follows it. False: none.
static bool find_place(const parallel *self, const char *place, size_t *member,
                       const char **end)
{
    const char *name = place + strlen(PLACE);
    for (size_t i = 0; i < self->members.count; i++) {
        size_t len = strlen(name_of(self, i));
        if (strncmp(name, name_of(self, i), len) != 0 ||
            strncmp(name + len, "}}", 2) != 0)
            continue;
        *member = i;
        *end = name + len + 2;
        return true;
    }
    return false;
}

static void check_output(const parallel *self, const cadre_agent_config *config)
{
    size_t member;
    const char *end;
    const char *at = self->output;
    while (at != NULL && (at = strstr(at, PLACE)) != NULL) {
        if (!find_place(self, at, &member, &end)) {
            config->problem(config, "output",
                            "'%.*s' is no place for the answer of a member; write "
                            "{{outputs.NAME}} with a member's name",
                            (int)strcspn(at, " \n"), at);
            return;
        }
        at = end;
    }
}

static bool has_twice(cadre_agents members)
{
    for (size_t i = 0; i < members.count; i++)
        for (size_t k = 0; k < i; k++)
            if (members.items[i] == members.items[k])
                return true;
    return false;
}

static cadre_status parallel_init(void *state, const cadre_agent_config *config,
                                  cadre_error *err)
{
    parallel *self = state;
    const char *wait = text_of(config->options, "wait");
    const char *output = text_of(config->options, "output");
    self->members = config->members;
    self->wait = strcmp(wait, "any") == 0    ? CADRE_ANY
                 : strcmp(wait, "race") == 0 ? CADRE_RACE
                                             : CADRE_ALL;
    self->survives = strcmp(text_of(config->options, "on_failure"), "report") == 0;
    self->output = output == NULL ? NULL : strdup(output);
    if (output != NULL && self->output == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a parallel");
    if (output != NULL && has_twice(config->members))
        config->problem(config, "output",
                        "a member stands here twice, so a template "
                        "cannot tell its answers apart");
    check_output(self, config);
    config->run_together(config, config->members);
    return CADRE_OK;
}

static void parallel_fini(void *state)
{
    parallel *self = state;
    free(self->output);
}

// --- The output ---

// A text that grows; without memory it stays NULL.
typedef struct text {
    char *bytes;
    size_t len;
} text;

static void add(text *to, const char *bytes, size_t len)
{
    char *grown = to->bytes == NULL ? NULL : realloc(to->bytes, to->len + len + 1);
    if (grown == NULL) {
        free(to->bytes);
        to->bytes = NULL;
        return;
    }
    memcpy(grown + to->len, bytes, len);
    to->len += len;
    grown[to->len] = '\0';
    to->bytes = grown;
}

static void add_answer(text *to, const cadre_outcome *out)
{
    if (out->status == CADRE_FRAME_COMPLETED) {
        add(to, out->text, strlen(out->text));
        return;
    }
    add(to, "failed: ", strlen("failed: "));
    add(to, out->error, strlen(out->error));
}

static void add_sections(const parallel *self, text *to, const cadre_outcome *out)
{
    for (size_t i = 0; i < self->members.count; i++) {
        const char *name = name_of(self, i);
        add(to, i == 0 ? "## " : "\n\n## ", i == 0 ? 3 : 5);
        add(to, name, strlen(name));
        add(to, "\n", 1);
        add_answer(to, &out[i]);
    }
}

static void add_template(const parallel *self, text *to, const cadre_outcome *out)
{
    const char *from = self->output;
    const char *at;
    while ((at = strstr(from, PLACE)) != NULL) {
        size_t member = 0;
        const char *end = at;
        find_place(self, at, &member, &end);
        add(to, from, (size_t)(at - from));
        add_answer(to, &out[member]);
        from = end;
    }
    add(to, from, strlen(from));
}

static cadre_status say_all(const parallel *self, cadre_frame *frame,
                            const cadre_outcome *out, cadre_error *err)
{
    text made = {calloc(1, 1), 0};
    if (self->output == NULL)
        add_sections(self, &made, out);
    else
        add_template(self, &made, out);
    if (made.bytes == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
    cadre_status status = cadre_frame_set_output(frame, made.bytes, err);
    free(made.bytes);
    return status;
}

// --- The run ---

static bool has_success(const parallel *self, const cadre_outcome *out)
{
    for (size_t i = 0; i < self->members.count; i++)
        if (out[i].status == CADRE_FRAME_COMPLETED)
            return true;
    return false;
}

static cadre_status parallel_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const parallel *self = state;
    size_t n = self->members.count;
    size_t winner = n;
    // Where one of them wins, its answer is the parallel's.
    unsigned flags = self->wait == CADRE_ALL ? 0u : CADRE_CALL_FINAL;
    cadre_error failure = CADRE_ERROR_INIT;
    cadre_call *made = cadre_frame_alloc(frame, n * sizeof *made);
    const cadre_call **calls = cadre_frame_alloc(frame, n * sizeof *calls);
    cadre_outcome *out = cadre_frame_alloc(frame, n * sizeof *out);
    if (made == NULL || calls == NULL || out == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a parallel");
    for (size_t i = 0; i < n; i++) {
        made[i] = (cadre_call){.struct_size = sizeof made[i],
                               .agent = self->members.items[i],
                               .history = CADRE_HISTORY_ALL,
                               .flags = flags};
        calls[i] = &made[i];
    }
    cadre_status status =
        cadre_frame_batch(frame,
                          CADRE_BATCH(.wait = self->wait, .calls = calls, .n_calls = n,
                                      .winner = &winner),
                          out, &failure);
    bool is_survived = status == CADRE_EFAILED && self->wait == CADRE_ALL &&
                       self->survives && has_success(self, out);
    if (status != CADRE_OK && !is_survived)
        return cadre_fail_class(err, status, failure.error_class, failure.retryable,
                                "%s", failure.text);
    if (self->wait == CADRE_ALL)
        return say_all(self, frame, out, err);
    return cadre_frame_set_output(frame, out[winner].text, err);
}

static void parallel_shape(const void *state, cadre_shape *shape)
{
    const parallel *self = state;
    for (size_t i = 0; i < self->members.count; i++) {
        cadre_shape_set_entry(shape, name_of(self, i));
        cadre_shape_set_end(shape, name_of(self, i));
    }
    cadre_shape_set_all_runs(shape, (int64_t)self->members.count);
}

extern const cadre_agent_ops cadre_topology_parallel;

const cadre_agent_ops cadre_topology_parallel = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "parallel",
    .summary = "all members at once: all answers, the first success or the first end",
    .options_schema =
        "{\"wait\": {\"enum\": [\"all\", \"any\", \"race\"], \"default\": \"all\"},"
        " \"output\": {\"type\": \"string\", \"minLength\": 1},"
        " \"on_failure\": {\"enum\": [\"fail\", \"report\"], \"default\": \"fail\"}}",
    .state_size = sizeof(parallel),
    .init = parallel_init,
    .run = parallel_run,
    .shape = parallel_shape,
    .fini = parallel_fini,
};
