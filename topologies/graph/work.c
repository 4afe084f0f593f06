// What the inner agents of a graph do: ask a person, run a tool, try an agent again.
//
// All they need is in their input, so that they are run again on resume as they were.
#include "plan.h"

#include "cadre/ext/tool.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BACKOFF_MS (INT64_C(24) * 60 * 60 * 1000)

static cadre_status say(cadre_frame *frame, const json_t *value, cadre_error *err)
{
    cdr_graph_text text = {NULL, 0, 0, false};
    cdr_graph_text_add_json(&text, value);
    cadre_status status =
        text.failed ? cadre_fail(err, CADRE_ENOMEM, "no memory for an answer")
                    : cadre_frame_set_output(frame, cdr_graph_text_bytes(&text), err);
    cdr_graph_text_fini(&text);
    return status;
}

// --- People ---

static cadre_status ask(cadre_frame *frame, cadre_error *err)
{
    json_t *answer = NULL;
    cadre_status status =
        cadre_frame_ask(frame, NULL, cadre_frame_input_json(frame), &answer, err);
    if (status == CADRE_OK)
        status = say(frame, answer, err);
    json_decref(answer);
    return status;
}

static json_t *interrupt_question(const cdr_graph_node *node, cadre_frame *frame)
{
    json_t *text = node->interrupt != NULL ? json_string(node->interrupt)
                                           : json_sprintf("May node '%s' of '%s' run?",
                                                          node->name, node->graph);
    return json_pack("{s:o, s:[s, s], s:s, s:s}", "question", text, "choices", "yes",
                     "no", "node", node->name, "input", cadre_frame_input(frame));
}

static cadre_status ask_first(const cdr_graph_node *node, cadre_frame *frame,
                              cadre_error *err)
{
    json_t *answer = NULL;
    json_t *question = interrupt_question(node, frame);
    if (question == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a question");
    cadre_status status = cadre_frame_ask(frame, "interrupt", question, &answer, err);
    json_decref(question);
    if (status != CADRE_OK)
        return status;
    const char *said = json_string_value(answer);
    bool is_allowed = said != NULL && strcmp(said, "yes") == 0;
    json_decref(answer);
    if (is_allowed)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EFAILED,
                      "node '%s' of '%s' did not run: a person did not allow it",
                      node->name, node->graph);
}

// --- Attempts ---

// Its text is said; what failed is in `cause`.
static cadre_status call_agent(const cdr_graph_node *node, cadre_frame *frame,
                               cadre_error *cause)
{
    cadre_outcome outcome;
    const char *input = cadre_frame_input(frame);
    cadre_status status = cadre_frame_call(
        frame,
        CADRE_CALL(.agent = node->agent, .input = input[0] == '\0' ? NULL : input,
                   .timeout_ms = node->timeout_ms),
        &outcome, cause);
    if (status == CADRE_OK)
        status = cadre_frame_set_output(frame, outcome.text, cause);
    return status;
}

static cadre_status call_tool(const cdr_graph_node *node, cadre_frame *frame,
                              cadre_error *cause)
{
    const char *result = "";
    const json_t *arguments = cadre_frame_input_json(frame);
    cadre_status status =
        cadre_frame_run_tool(frame,
                             CADRE_TOOL_RUN(.tool = node->tool, .arguments = arguments,
                                            .timeout_ms = node->timeout_ms),
                             &result, cause);
    if (status == CADRE_OK)
        status = cadre_frame_set_output(frame, result, cause);
    return status;
}

static json_t *sleep_so_long(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const int64_t *ms = ctx;
    return cadre_frame_sleep(frame, *ms, err) == CADRE_OK ? json_integer(*ms) : NULL;
}

// Recorded, so that it is not slept again on resume.
static cadre_status back_off(const cdr_graph_node *node, cadre_frame *frame,
                             int attempt, cadre_error *err)
{
    int64_t ms = node->backoff_ms;
    for (int i = 1; i < attempt && ms < MAX_BACKOFF_MS; i++)
        ms *= 2;
    if (ms > MAX_BACKOFF_MS)
        ms = MAX_BACKOFF_MS;
    if (ms == 0)
        return CADRE_OK;
    return cadre_frame_step(
        frame, CADRE_STEP(.name = "backoff", .run = sleep_so_long, .ctx = &ms), NULL,
        err);
}

static cadre_status try_often(const cdr_graph_node *node, cadre_frame *frame,
                              cadre_error *err)
{
    for (int attempt = 1;; attempt++) {
        cadre_error cause = CADRE_ERROR_INIT;
        cadre_status status = node->kind == CDR_GRAPH_TOOL
                                  ? call_tool(node, frame, &cause)
                                  : call_agent(node, frame, &cause);
        if (status == CADRE_OK)
            return CADRE_OK;
        if (status != CADRE_EFAILED || attempt == node->max_attempts)
            return cadre_fail_class(err, status, cause.error_class, cause.retryable,
                                    "%s", cause.text);
        status = back_off(node, frame, attempt, err);
        if (status != CADRE_OK)
            return status;
    }
}

cadre_status cdr_graph_node_run(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cdr_graph_node *node = ctx;
    cadre_status status = CADRE_OK;
    if (node->has_interrupt)
        status = ask_first(node, frame, err);
    if (status != CADRE_OK)
        return status;
    switch (node->kind) {
    case CDR_GRAPH_HUMAN:
        return ask(frame, err);
    case CDR_GRAPH_LUA:
        return say(frame, cadre_frame_input_json(frame), err);
    case CDR_GRAPH_AGENT:
    case CDR_GRAPH_TOOL:
        break;
    }
    return try_often(node, frame, err);
}
