// See walk.h.
#include "walk.h"

#include "cadre/ext/turn.h"

#include <stdio.h>
#include <string.h>

static void set_bit(uint64_t *row, size_t i)
{
    row[i / 64] |= (uint64_t)1 << (i % 64);
}

static bool has_bit(const uint64_t *row, size_t i)
{
    return (row[i / 64] >> (i % 64) & 1) != 0;
}

const char *cdr_graph_response(const cdr_graph_walk *walk, size_t node)
{
    const char *text = json_string_value(
        json_object_get(walk->responses, walk->graph->nodes[node].name));
    return text == NULL ? "" : text;
}

void cdr_graph_join(const cdr_graph_walk *walk, const uint64_t *row,
                    cdr_graph_text *out)
{
    const cdr_graph *graph = walk->graph;
    size_t n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        n += has_bit(row, i);
    for (size_t i = 0, k = 0; i < graph->n_nodes && k < n; i++) {
        if (!has_bit(row, i))
            continue;
        if (n > 1) {
            cdr_graph_text_add(out, k > 0 ? "\n\n## " : "## ");
            cdr_graph_text_add(out, graph->nodes[i].name);
            cdr_graph_text_add(out, "\n\n");
        }
        cdr_graph_text_add(out, cdr_graph_response(walk, i));
        k++;
    }
}

// --- What is ready ---

void cdr_graph_lead(cdr_graph_walk *walk, size_t from, size_t to)
{
    const cdr_graph *graph = walk->graph;
    if (to == graph->n_nodes) {
        walk->is_last[from] = true;
        return;
    }
    set_bit(&walk->sources[to * graph->n_words], from);
    if (walk->is_ready[to])
        return;
    size_t at = walk->n_ready++;
    for (; at > 0 && walk->ready[at - 1] > to; at--)
        walk->ready[at] = walk->ready[at - 1];
    walk->ready[at] = to;
    walk->is_ready[to] = true;
}

static bool is_held(const cdr_graph_walk *walk, size_t node)
{
    for (size_t i = 0; i < walk->n_ready; i++)
        if (walk->ready[i] != node &&
            cdr_graph_reaches(walk->graph, walk->ready[i], node))
            return true;
    return false;
}

// Moves what is not held from the ready to those of this step.
static void take_now(cdr_graph_walk *walk)
{
    size_t n_kept = 0;
    walk->n_now = 0;
    for (size_t i = 0; i < walk->n_ready; i++)
        if (!is_held(walk, walk->ready[i]))
            walk->now[walk->n_now++] = walk->ready[i];
    for (size_t i = 0; i < walk->n_now; i++) {
        walk->is_ready[walk->now[i]] = false;
        walk->is_last[walk->now[i]] = false;
    }
    for (size_t i = 0; i < walk->n_ready; i++)
        if (walk->is_ready[walk->ready[i]])
            walk->ready[n_kept++] = walk->ready[i];
    walk->n_ready = n_kept;
}

// --- Steps ---

static cadre_status fail_steps(const cdr_graph_walk *walk, cadre_error *err)
{
    char names[300] = "";
    for (size_t i = 0; i < walk->n_ready; i++) {
        size_t len = strlen(names);
        (void)snprintf(names + len, sizeof names - len, "%s%s", len > 0 ? ", " : "",
                       walk->graph->nodes[walk->ready[i]].name);
    }
    return cadre_frame_stop(walk->frame, CADRE_STOP_MAX_STEPS, err,
                            "agent '%s': after %lld steps (max_steps) it is not at its "
                            "end; next: %s",
                            walk->graph->name, (long long)walk->step, names);
}

static cadre_status take_step(cdr_graph_walk *walk, cadre_error *err)
{
    const cdr_graph *graph = walk->graph;
    if (graph->max_steps != CADRE_UNLIMITED && walk->step >= graph->max_steps)
        return fail_steps(walk, err);
    walk->step++;
    take_now(walk);
    cadre_status status = cdr_graph_call_nodes(walk, err);
    for (size_t i = 0; status == CADRE_OK && i < walk->n_now; i++) {
        uint64_t *row = &walk->sources[walk->now[i] * graph->n_words];
        memset(row, 0, graph->n_words * sizeof *row);
    }
    for (size_t i = 0; status == CADRE_OK && i < walk->n_now; i++)
        status = cdr_graph_follow(walk, walk->now[i], err);
    return status;
}

// --- The start and the end ---

static json_t *last_input(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)frame;
    (void)err;
    return json_string(ctx);
}

// What the graph was given. One that was handed a conversation without a word of its
// own answers the last turn of the user; recorded, since more may be said meanwhile.
static cadre_status read_input(cdr_graph_walk *walk, cadre_error *err)
{
    const cadre_message *const *messages = NULL;
    size_t n = 0;
    json_t *found = NULL;
    walk->user_input = cadre_frame_input(walk->frame);
    if (walk->user_input[0] != '\0')
        return CADRE_OK;
    cadre_status status = cadre_frame_messages(walk->frame, &messages, &n, err);
    while (status == CADRE_OK && n > 0 && messages[n - 1]->role != CADRE_ROLE_USER)
        n--;
    if (status != CADRE_OK || n == 0 || messages[n - 1]->text[0] == '\0')
        return status;
    char *text = (char *)(uintptr_t)messages[n - 1]->text;
    status = cadre_frame_step(
        walk->frame, CADRE_STEP(.name = "user_input", .run = last_input, .ctx = text),
        &found, err);
    if (status == CADRE_OK) {
        walk->user_input =
            cadre_frame_printf(walk->frame, "%s", json_string_value(found));
        if (walk->user_input == NULL)
            status = cadre_fail(err, CADRE_ENOMEM, "no memory for an input");
    }
    json_decref(found);
    return status;
}

static bool walk_init(cdr_graph_walk *walk, const cdr_graph *graph, cadre_frame *frame)
{
    size_t n = graph->n_nodes;
    *walk = (cdr_graph_walk){.graph = graph, .frame = frame};
    walk->responses = json_object();
    walk->ready = cadre_frame_alloc(frame, n * sizeof *walk->ready);
    walk->now = cadre_frame_alloc(frame, n * sizeof *walk->now);
    walk->is_ready = cadre_frame_alloc(frame, n * sizeof *walk->is_ready);
    walk->is_last = cadre_frame_alloc(frame, n * sizeof *walk->is_last);
    walk->sources =
        cadre_frame_alloc(frame, n * graph->n_words * sizeof *walk->sources);
    return walk->responses != NULL && walk->ready != NULL && walk->now != NULL &&
           walk->is_ready != NULL && walk->is_last != NULL && walk->sources != NULL;
}

// Says what the nodes that led to the end have answered.
static cadre_status say_answer(const cdr_graph_walk *walk, cadre_error *err)
{
    const cdr_graph *graph = walk->graph;
    uint64_t row[CDR_GRAPH_MAX_NODES / 64 + 1] = {0};
    cdr_graph_text text = {NULL, 0, 0, false};
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (walk->is_last[i])
            set_bit(row, i);
    cdr_graph_join(walk, row, &text);
    cadre_status status = CADRE_OK;
    if (text.failed)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
    else if (text.len > 0)
        status = cadre_frame_set_output(walk->frame, text.bytes, err);
    cdr_graph_text_fini(&text);
    return status;
}

cadre_status cdr_graph_walk_run(const cdr_graph *graph, cadre_frame *frame,
                                cadre_error *err)
{
    cdr_graph_walk walk;
    cadre_status status = CADRE_OK;
    if (!walk_init(&walk, graph, frame))
        status = cadre_fail(err, CADRE_ENOMEM, "no memory to walk a graph");
    if (status == CADRE_OK)
        status = read_input(&walk, err);
    if (status == CADRE_OK) {
        walk.ready[walk.n_ready++] = graph->entry;
        walk.is_ready[graph->entry] = true;
    }
    while (status == CADRE_OK && walk.n_ready > 0)
        status = take_step(&walk, err);
    if (status == CADRE_OK)
        status = say_answer(&walk, err);
    json_decref(walk.responses);
    return status;
}
