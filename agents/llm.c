// llm: an agent that asks a model, runs the tools it calls for, and asks again.
//
// There is no recovery code: on resume the loop runs again from its top, and model
// calls and tools answer from the record.
#include "cadre/ext/agent.h"
#include "cadre/ext/turn.h"

#include <stdlib.h>
#include <string.h>

typedef struct llm {
    const cadre_model *model;
    cadre_tools tools;
    char *instructions;
    cadre_history history;
    int max_history_tokens; // 0: no limit
    int max_turns;
    int max_bad_calls;
    bool has_fallback;
} llm;

static cadre_history history_of(const json_t *options)
{
    static const char *const names[] = {"", "all", "own", "last", "none"};
    const char *name = json_string_value(json_object_get(options, "history"));
    for (int i = 1; name != NULL && i < 5; i++)
        if (strcmp(name, names[i]) == 0)
            return (cadre_history)i;
    return CADRE_HISTORY_ALL;
}

static int limit_of(const json_t *options, const char *name)
{
    return (int)json_integer_value(json_object_get(options, name));
}

static cadre_status llm_init(void *state, const cadre_agent_config *config,
                             cadre_error *err)
{
    llm *self = state;
    const char *text =
        json_string_value(json_object_get(config->options, "instructions"));
    if (config->model == NULL)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': no model; write model: provider/model",
                          config->info.name);
    self->model = config->model;
    self->tools = config->tools;
    self->has_fallback = config->fallback != NULL;
    self->history = history_of(config->options);
    self->max_history_tokens = limit_of(config->options, "max_history_tokens");
    if (self->max_history_tokens == CADRE_UNLIMITED)
        self->max_history_tokens = 0;
    self->max_turns = limit_of(config->options, "max_turns");
    self->max_bad_calls = limit_of(config->options, "max_bad_calls");
    self->instructions = strdup(text == NULL ? "" : text);
    if (self->instructions == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "agent '%s': no memory",
                          config->info.name);
    return CADRE_OK;
}

static void llm_fini(void *state)
{
    llm *self = state;
    free(self->instructions);
}

static cadre_tools llm_tools(const void *state)
{
    return ((const llm *)state)->tools;
}

static const char *name_of(const cadre_frame *frame)
{
    return cadre_agent_get_info(cadre_frame_agent(frame))->name;
}

// One frame's loop.
typedef struct loop {
    const llm *self;
    cadre_frame *frame;
    cadre_model_call call;
    int turns;         // begun so far
    int bad_calls;     // in a row, in rounds without a right one
    int blocks;        // rounds in a row that were blocked
    bool is_corrected; // it was told what is wrong with its answer
} loop;

static bool has_turn_left(const loop *it)
{
    return it->self->max_turns == CADRE_UNLIMITED || it->turns < it->self->max_turns;
}

// Counts a round. Gives why there were too many bad ones in a row, in the frame's
// arena; NULL: the loop goes on.
static const char *count_round(loop *it, const cadre_round *round)
{
    int max = it->self->max_bad_calls;
    it->bad_calls =
        round->n_bad < round->n_calls ? 0 : it->bad_calls + (int)round->n_bad;
    it->blocks = round->is_blocked ? it->blocks + 1 : 0;
    if (max != CADRE_UNLIMITED && it->blocks >= max)
        return cadre_frame_printf(it->frame,
                                  "agent '%s': it makes the same tool calls again and "
                                  "again; they were blocked %d times (max_bad_calls)",
                                  name_of(it->frame), it->blocks);
    if (max != CADRE_UNLIMITED && it->bad_calls >= max)
        return cadre_frame_printf(
            it->frame,
            "agent '%s': %d bad tool calls in a row (max_bad_calls); the last: %s",
            name_of(it->frame), it->bad_calls, round->last_bad);
    return NULL;
}

// The loop came to no end: another agent answers, or the frame ends by what stopped it.
static cadre_status give_up(loop *it, cadre_stop_reason reason, const char *why,
                            cadre_error *err)
{
    const char *said = why == NULL ? "no memory to tell why" : why;
    if (it->self->has_fallback)
        return cadre_frame_fall_back(it->frame, &it->call, said, err);
    return cadre_frame_stop(it->frame, reason, err, "%s", said);
}

// A model call failed. What the run's limits or a stop refuse, nobody else may do; and
// a mistake in the team is not hidden.
static cadre_status ask_failed(loop *it, cadre_status status,
                               const cadre_error *failure, cadre_error *err)
{
    if (it->self->has_fallback && status == CADRE_EFAILED &&
        failure->error_class != CADRE_CLASS_CONFIG)
        return cadre_frame_fall_back(it->frame, &it->call, failure->text, err);
    return cadre_fail_class(err, status, failure->error_class, failure->retryable, "%s",
                            failure->text);
}

// One that answered, and was told more meanwhile, has its answer.
static cadre_status no_turn_left(loop *it, const cadre_answer *last, cadre_error *err)
{
    const char *why = cadre_frame_printf(
        it->frame, "agent '%s': no answer after %d turns (max_turns)",
        name_of(it->frame), it->self->max_turns);
    if (last->message != NULL && last->message->n_tool_calls == 0)
        return cadre_frame_stop(it->frame, CADRE_STOP_MAX_TURNS, err, "%s", why);
    return give_up(it, CADRE_STOP_MAX_TURNS, why, err);
}

// An answer without tool calls is the last, also one that was cut; but that says so.
static cadre_status end_of(cadre_frame *frame, const cadre_answer *answer,
                           cadre_error *err)
{
    if (answer->finish != CADRE_FINISH_LENGTH)
        return CADRE_OK;
    return cadre_frame_stop(
        frame, CADRE_STOP_LIMIT, err,
        "agent '%s': the model's token limit cut the answer (max_tokens)",
        name_of(frame));
}

// One that does not fit the schema that it must fit is asked for once more. `*again`:
// it is; else what is returned is what `run` returns. `problem` is empty: a thread that
// waits keeps its stack, and errors are large.
static cadre_status settle(loop *it, const cadre_answer *answer, bool *again,
                           cadre_error *problem, cadre_error *err)
{
    cadre_status status = cadre_frame_take_answer(it->frame, answer, problem);
    if (status == CADRE_OK)
        return end_of(it->frame, answer, err);
    if (status != CADRE_EINVAL)
        return cadre_fail_class(err, status, problem->error_class, problem->retryable,
                                "%s", problem->text);
    if (it->is_corrected || !has_turn_left(it))
        return cadre_fail_class(
            err, CADRE_EFAILED, CADRE_CLASS_BAD_RESPONSE, false,
            "agent '%s': its answer does not fit output_schema, %s: %s",
            name_of(it->frame),
            it->is_corrected ? "nor did the one before"
                             : "and no turn is left to correct it (max_turns)",
            problem->text);
    const char *text = cadre_frame_printf(
        it->frame,
        "Your answer does not fit what is expected of it: %s\n\n"
        "Answer again, with the whole corrected JSON and no other text.",
        problem->text);
    it->is_corrected = true;
    *again = true;
    return text == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for a correction")
                        : cadre_frame_correct(it->frame, text, err);
}

static cadre_status llm_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const llm *self = state;
    loop it = {.self = self,
               .frame = frame,
               .call = {.struct_size = sizeof it.call,
                        .model = self->model,
                        .system = self->instructions,
                        .tools = self->tools,
                        .history = self->history,
                        .max_history_tokens = self->max_history_tokens}};
    cadre_answer answer = {NULL, CADRE_FINISH_NONE};

    while (has_turn_left(&it)) {
        bool again = false;
        cadre_error failure = CADRE_ERROR_INIT;
        cadre_round round;
        it.turns++;
        cadre_status status = cadre_frame_ask_model(frame, &it.call, &answer, &failure);
        if (status != CADRE_OK)
            return ask_failed(&it, status, &failure, err);
        if (answer.message->n_tool_calls == 0 && cadre_frame_goes_on(frame))
            continue;
        if (answer.message->n_tool_calls == 0) {
            status = settle(&it, &answer, &again, &failure, err);
            if (!again || status != CADRE_OK)
                return status;
            continue;
        }
        status = cadre_frame_run_tools(frame, &answer, &round, err);
        if (status != CADRE_OK || round.transferred)
            return status;
        const char *why = count_round(&it, &round);
        if (why != NULL)
            return give_up(&it, round.is_blocked ? CADRE_STOP_LOOP : CADRE_STOP_LIMIT,
                           why, err);
    }
    return no_turn_left(&it, &answer, err);
}

static void llm_shape(const void *state, cadre_shape *shape)
{
    cadre_shape_set_model_calls(shape, ((const llm *)state)->max_turns);
}

extern const cadre_agent_ops cadre_agent_llm;

const cadre_agent_ops cadre_agent_llm = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "llm",
    .summary = "asks a model and runs the tools it calls for",
    .block = "",
    .options_schema =
        "{\"instructions\": {\"type\": \"string\"},"
        " \"history\": {\"type\": \"string\", \"default\": \"all\","
        "   \"enum\": [\"all\", \"own\", \"last\", \"none\"]},"
        " \"max_history_tokens\": {\"type\": [\"integer\", \"string\"],"
        "   \"format\": \"limit\", \"minimum\": 1, \"maximum\": 1000000000},"
        " \"max_turns\": {\"type\": [\"integer\", \"string\"], \"format\": \"limit\","
        "   \"minimum\": 1, \"maximum\": 1000000, \"default\": 20},"
        " \"max_bad_calls\": {\"type\": [\"integer\", \"string\"], \"format\": "
        "\"limit\","
        "   \"minimum\": 1, \"maximum\": 1000000, \"default\": 5}}",
    .state_size = sizeof(llm),
    .init = llm_init,
    .run = llm_run,
    .tools = llm_tools,
    .fini = llm_fini,
    .shape = llm_shape,
};
