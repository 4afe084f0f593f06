// The calls of one step: what each node is given, and what it answered.
#include "walk.h"

#include "cadre/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One call of a node; a node with `for_each` has one for each element.
typedef struct job {
    const cdr_graph_node *node;
    size_t at;           // the node's number
    const json_t *input; // an element; NULL: a text
    char *text;          // what is given as text; owned; NULL: the graph's input
    json_t *json;        // in its place; owned
    char key[96];
    cadre_call call;
} job;

typedef struct step_calls {
    cdr_graph_walk *walk;
    job *jobs;
    size_t n_jobs;
    cadre_outcome *outcomes;
    json_t **lists; // by place in `now`: of nodes with for_each; owned
} step_calls;

// --- Lists ---

static cadre_status fail_list(const cdr_graph_walk *walk, const cdr_graph_node *node,
                              const json_t *value, cadre_error *err)
{
    static const char *const nouns[] = {"an object", "a list", "a text", "an integer",
                                        "a number",  "true",   "false",  "null"};
    return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_CONFIG, false,
                            "agent '%s', node '%s': for_each needs a list under "
                            "state.%s, which is %s",
                            walk->graph->name, node->name, node->for_each,
                            value == NULL ? "not there" : nouns[json_typeof(value)]);
}

// Takes the lists of this step, and counts the calls to make.
static cadre_status take_lists(step_calls *calls, cadre_error *err)
{
    cdr_graph_walk *walk = calls->walk;
    for (size_t i = 0; i < walk->n_now; i++) {
        const cdr_graph_node *node = &walk->graph->nodes[walk->now[i]];
        if (node->for_each == NULL) {
            calls->n_jobs++;
            continue;
        }
        const json_t *list =
            json_object_get(cadre_frame_state(walk->frame), node->for_each);
        if (!json_is_array(list))
            return fail_list(walk, node, list, err);
        calls->lists[i] = json_deep_copy(list);
        if (calls->lists[i] == NULL)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for a list");
        calls->n_jobs += json_array_size(list);
    }
    return CADRE_OK;
}

// --- Inputs ---

// The texts of those that led to the node; NULL: no memory.
static char *join_sources(const cdr_graph_walk *walk, size_t node)
{
    cdr_graph_text text = {NULL, 0, 0, false};
    cdr_graph_join(walk, &walk->sources[node * walk->graph->n_words], &text);
    if (text.failed) {
        cdr_graph_text_fini(&text);
        return NULL;
    }
    return text.bytes != NULL ? text.bytes : strdup("");
}

static json_t *question_of(const cdr_graph_node *node, const cdr_graph_values *values)
{
    json_t *question = json_object();
    json_t *text = cdr_graph_template_value(node->text, values);
    if (json_is_string(text)) {
        json_object_set_new(question, "question", text);
    } else {
        cdr_graph_text dump = {NULL, 0, 0, false};
        cdr_graph_text_add_json(&dump, text);
        json_object_set_new(question, "question",
                            json_string(cdr_graph_text_bytes(&dump)));
        cdr_graph_text_fini(&dump);
        json_decref(text);
    }
    if (node->choices != NULL)
        json_object_set_new(question, "choices", json_deep_copy(node->choices));
    return question;
}

static json_t *lua_value(const cdr_graph_walk *walk, const cdr_graph_node *node,
                         const cdr_graph_values *values, cadre_error *err)
{
    cadre_error cause = CADRE_ERROR_INIT;
    const cadre_rule rule = {node->lua, NULL};
    cdr_graph_values given = *values;
    cdr_graph_text input = {NULL, 0, 0, false};
    cdr_graph_text_add_json(&input, values->input);
    given.user_input = cdr_graph_text_bytes(&input);
    json_t *value = cdr_graph_decide(&rule, &given, walk->step, &cause);
    cdr_graph_text_fini(&input);
    if (value == NULL)
        cadre_fail_class(err, CADRE_EFAILED, cause.error_class, false, "agent '%s': %s",
                         walk->graph->name, cause.text);
    return value;
}

// What a node is given that is more than its default.
static cadre_status write_input(const cdr_graph_walk *walk, job *j,
                                const cdr_graph_values *values, cadre_error *err)
{
    const cdr_graph_node *node = j->node;
    cdr_graph_text text = {NULL, 0, 0, false};
    switch (node->kind) {
    case CDR_GRAPH_AGENT:
        cdr_graph_template_fill(node->text, values, &text);
        free(j->text);
        j->text = text.bytes != NULL || text.failed ? text.bytes : strdup("");
        j->input = NULL;
        return text.failed || j->text == NULL
                   ? cadre_fail(err, CADRE_ENOMEM, "no memory for an input")
                   : CADRE_OK;
    case CDR_GRAPH_TOOL:
        j->json = node->arguments != NULL
                      ? cdr_graph_form_value(node->arguments, values)
                      : json_object();
        break;
    case CDR_GRAPH_HUMAN:
        j->json = question_of(node, values);
        break;
    case CDR_GRAPH_LUA:
        j->json = lua_value(walk, node, values, err);
        return j->json != NULL ? CADRE_OK : CADRE_EFAILED;
    }
    return j->json != NULL ? CADRE_OK
                           : cadre_fail(err, CADRE_ENOMEM, "no memory for an input");
}

// Has the node words of its own for what it is given?
static bool is_written(const cdr_graph_node *node)
{
    return node->kind != CDR_GRAPH_AGENT || node->text != NULL;
}

static cadre_status fill_input(const cdr_graph_walk *walk, job *j, cadre_error *err)
{
    const cdr_graph_node *node = j->node;
    char *last = NULL;
    if (node->input_from_last || is_written(node)) {
        last = join_sources(walk, j->at);
        if (last == NULL)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for an input");
    }
    cadre_status status = CADRE_OK;
    if (is_written(node)) {
        const char *own = node->input_from_last ? last : walk->user_input;
        json_t *input = j->input != NULL ? json_deep_copy(j->input) : json_string(own);
        const cdr_graph_values values = {.input = input,
                                         .user_input = walk->user_input,
                                         .last_response = last,
                                         .responses = walk->responses,
                                         .state = cadre_frame_state(walk->frame)};
        status = write_input(walk, j, &values, err);
        json_decref(input);
    } else if (j->input == NULL) {
        j->text = last;
        return CADRE_OK;
    }
    free(last);
    return status;
}

// The call of a job whose input is there.
static void make_call(const cdr_graph_walk *walk, job *j)
{
    const cdr_graph_node *node = j->node;
    const json_t *json = j->json != NULL ? j->json : j->input;
    const char *text = j->text != NULL ? j->text : walk->user_input;
    bool is_direct = node->callee == node->agent;
    j->call = (cadre_call){.struct_size = sizeof j->call,
                           .agent = node->callee,
                           .key = j->key,
                           .timeout_ms = is_direct ? node->timeout_ms : 0,
                           .flags = CADRE_CALL_ONCE};
    if (json_is_string(json) && j->json == NULL)
        j->call.input = json_string_value(json);
    else if (json != NULL)
        j->call.json = json;
    else if (text[0] != '\0')
        j->call.input = text;
}

static cadre_status make_job(const cdr_graph_walk *walk, job *j, size_t at,
                             cadre_error *err)
{
    j->node = &walk->graph->nodes[at];
    j->at = at;
    cadre_status status = fill_input(walk, j, err);
    if (status == CADRE_OK)
        make_call(walk, j);
    return status;
}

static cadre_status make_jobs(step_calls *calls, cadre_error *err)
{
    const cdr_graph_walk *walk = calls->walk;
    cadre_status status = CADRE_OK;
    job *next = calls->jobs;
    for (size_t i = 0; i < walk->n_now && status == CADRE_OK; i++) {
        const json_t *list = calls->lists[i];
        const char *name = walk->graph->nodes[walk->now[i]].name;
        size_t n = list == NULL ? 1 : json_array_size(list);
        for (size_t k = 0; k < n && status == CADRE_OK; k++, next++) {
            next->input = json_array_get(list, k);
            if (list == NULL)
                (void)snprintf(next->key, sizeof next->key, "%s@%lld", name,
                               (long long)walk->step);
            else
                (void)snprintf(next->key, sizeof next->key, "%s@%lld[%zu]", name,
                               (long long)walk->step, k);
            status = make_job(walk, next, walk->now[i], err);
        }
    }
    return status;
}

// --- Calling ---

static cadre_status call_all(const step_calls *calls, cadre_error *err)
{
    cadre_frame *frame = calls->walk->frame;
    if (calls->n_jobs == 0)
        return cadre_frame_sleep(frame, 0, err); // at least it can be stopped
    if (calls->n_jobs == 1)
        return cadre_frame_call(frame, &calls->jobs[0].call, calls->outcomes, err);
    const cadre_call **list = calloc(calls->n_jobs, sizeof *list);
    if (list == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a step");
    for (size_t i = 0; i < calls->n_jobs; i++)
        list[i] = &calls->jobs[i].call;
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = list, .n_calls = calls->n_jobs),
                          calls->outcomes, err);
    free(list);
    return status;
}

// The answers of the elements, in their order, as the text of a JSON array.
static json_t *list_answers(const cadre_outcome *outcomes, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(list, json_string(outcomes[i].text)) != 0) {
            json_decref(list);
            return NULL;
        }
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    json_t *answer = text == NULL ? NULL : json_string(text);
    free(text);
    return answer;
}

static cadre_status keep_answers(const step_calls *calls, cadre_error *err)
{
    cdr_graph_walk *walk = calls->walk;
    const cadre_outcome *next = calls->outcomes;
    for (size_t i = 0; i < walk->n_now; i++) {
        const char *name = walk->graph->nodes[walk->now[i]].name;
        size_t n = calls->lists[i] == NULL ? 1 : json_array_size(calls->lists[i]);
        json_t *answer =
            calls->lists[i] == NULL ? json_string(next->text) : list_answers(next, n);
        if (json_object_set_new(walk->responses, name, answer) != 0)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
        next += n;
    }
    return CADRE_OK;
}

static void free_calls(step_calls *calls)
{
    for (size_t i = 0; i < calls->n_jobs && calls->jobs != NULL; i++) {
        free(calls->jobs[i].text);
        json_decref(calls->jobs[i].json);
    }
    for (size_t i = 0; i < calls->walk->n_now; i++)
        json_decref(calls->lists[i]);
}

// With room for all of the step.
static cadre_status run_calls(step_calls *calls, cadre_error *err)
{
    cadre_status status = make_jobs(calls, err);
    if (status == CADRE_OK)
        status = call_all(calls, err);
    if (status == CADRE_OK)
        status = keep_answers(calls, err);
    return status;
}

// A step of one node needs no memory that is asked for.
static cadre_status call_one(cdr_graph_walk *walk, cadre_error *err)
{
    job one = {.node = NULL};
    json_t *no_list = NULL;
    cadre_outcome outcome;
    step_calls calls = {walk, &one, 1, &outcome, &no_list};
    cadre_status status = run_calls(&calls, err);
    free_calls(&calls);
    return status;
}

cadre_status cdr_graph_call_nodes(cdr_graph_walk *walk, cadre_error *err)
{
    if (walk->n_now == 1 && walk->graph->nodes[walk->now[0]].for_each == NULL)
        return call_one(walk, err);
    step_calls calls = {.walk = walk};
    calls.lists = calloc(walk->n_now, sizeof *calls.lists);
    if (calls.lists == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a step");
    cadre_status status = take_lists(&calls, err);
    if (status == CADRE_OK) {
        calls.jobs = calloc(calls.n_jobs + 1, sizeof *calls.jobs);
        calls.outcomes = calloc(calls.n_jobs + 1, sizeof *calls.outcomes);
        status = calls.jobs != NULL && calls.outcomes != NULL
                     ? run_calls(&calls, err)
                     : cadre_fail(err, CADRE_ENOMEM, "no memory for a step");
    }
    free_calls(&calls);
    free(calls.jobs);
    free(calls.outcomes);
    free(calls.lists);
    return status;
}
