// See random_model.h.
#include "support/random_model.h"

#include "support/check.h"

#include "cadre/ext/model.h"
#include "tree/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const random_team *plan;
    uint64_t turn;
} model;

const random_team *random_model_plan(void)
{
    return model.plan;
}

dice random_model_dice(const cadre_frame *frame, const char *what)
{
    dice d = dice_of(model.plan->seed + model.turn * UINT64_C(1000003), what);
    for (; frame != NULL; frame = frame->parent)
        d = dice_of(d.state, frame->key);
    return d;
}

static int depth_of(const cadre_frame *frame)
{
    int depth = 0;
    for (; frame != NULL; frame = frame->parent)
        depth++;
    return depth;
}

const cadre_agent *random_model_peer(cadre_frame *frame, dice *d)
{
    const random_team *plan = model.plan;
    const char *name = cadre_agent_get_info(cadre_frame_agent(frame))->name;
    int at = random_team_find(plan, name);
    if (at < 0 || plan->agents[at].n_peers == 0)
        return NULL;
    const random_agent *self = &plan->agents[at];
    int to = self->peers[dice_throw(d, self->n_peers)];
    return cadre_frame_find(frame, plan->agents[to].name);
}

// --- What it is shown ---

static bool is_result(const cadre_request_item *item)
{
    return item->rendering == CADRE_AS_OWN && item->message->role == CADRE_ROLE_TOOL;
}

// Each call has one result, right behind the turn, in call order; no result has none.
static bool is_valid(const cadre_request *request)
{
    size_t i = 0;
    while (i < request->n_items) {
        const cadre_request_item *item = &request->items[i++];
        if (is_result(item))
            return false;
        if (item->rendering != CADRE_AS_OWN ||
            item->message->role != CADRE_ROLE_ASSISTANT)
            continue;
        const cadre_message *said = item->message;
        for (size_t k = 0; k < said->n_tool_calls; k++, i++)
            if (i == request->n_items || !is_result(&request->items[i]) ||
                strcmp(request->items[i].message->call_id, said->tool_calls[k].id) != 0)
                return false;
    }
    return true;
}

static void print_request(const cadre_request *request)
{
    printf("\n  what '%s' is shown:\n", request->agent);
    for (size_t i = 0; i < request->n_items; i++) {
        const cadre_request_item *item = &request->items[i];
        const cadre_message *m = item->message;
        printf("    %d %s %s %.60s", (int)item->rendering,
               m == NULL ? "-" : cadre_role_name(m->role), m == NULL ? "" : m->call_id,
               item->text);
        for (size_t k = 0; m != NULL && k < m->n_tool_calls; k++)
            printf(" %s=%s", m->tool_calls[k].id, m->tool_calls[k].name);
        printf("\n");
    }
}

// --- What it says ---

static void say(cadre_sink *sink, dice *d)
{
    static const char *const words[] = {
        "7",     "12",     "again please",  "to the left",
        "done.", "a word", "{\"fact\": 1}", "nothing"};
    const char *text = words[dice_throw(d, 8)];
    cadre_sink_text(sink, text, strlen(text));
}

static const char *draw_target(const random_agent *self, dice *d)
{
    if (self->n_peers == 0 || dice_percent(d, 10))
        return "nobody";
    return model.plan->agents[self->peers[dice_throw(d, self->n_peers)]].name;
}

static void write_arguments(const char *tool, const random_agent *self, dice *d,
                            char text[160])
{
    enum {
        SIZE = 160
    };
    static const char *const bad[] = {"{\"n\": ", "[1]", "{\"request\": }", "",
                                      "{\"n\": \"x\", \"request\": 3}"};
    if (dice_percent(d, 10))
        snprintf(text, SIZE, "%s", bad[dice_throw(d, 5)]);
    else if (strcmp(tool, CADRE_TRANSFER_TOOL) == 0)
        snprintf(text, SIZE, "{\"agent\": \"%s\"%s}", draw_target(self, d),
                 dice_percent(d, 50) ? ", \"message\": \"Yours.\"" : "");
    else if (strcmp(tool, CADRE_ESCALATE_TOOL) == 0)
        snprintf(text, SIZE, "{\"reason\": \"enough\"}");
    else if (strcmp(tool, "ask") == 0)
        snprintf(text, SIZE, "{\"question\": \"Which?\"}");
    else if (strcmp(tool, "helper") == 0)
        snprintf(text, SIZE, "{\"task\": \"Help.\"}");
    else if (random_team_find(model.plan, tool) >= 0)
        snprintf(text, SIZE, "{\"request\": \"Work %d.\"}", dice_throw(d, 3));
    else
        snprintf(text, SIZE, "{\"n\": %d}", dice_throw(d, 3));
}

static const char *draw_tool(const cadre_request *request, dice *d)
{
    if (dice_percent(d, 4))
        return "nowhere";
    return request->tools[dice_throw(d, (int)request->n_tools)].name;
}

// Providers repeat their ids from turn to turn, and some within one.
static void call(const cadre_request *request, cadre_sink *sink, dice *d)
{
    int at = random_team_find(model.plan, request->agent);
    const random_agent *self = &model.plan->agents[at];
    int n = dice_percent(d, 60) ? 1 : 1 + dice_throw(d, 4);
    bool repeats = dice_percent(d, 4);
    for (int i = 0; i < n; i++) {
        char text[160], id[24];
        const char *name = draw_tool(request, d);
        write_arguments(name, self, d, text);
        size_t nth = cadre_sink_add_call(sink);
        snprintf(id, sizeof id, "call_%d", repeats ? 0 : i);
        cadre_sink_call_id(sink, nth, id, strlen(id));
        cadre_sink_call_name(sink, nth, name, strlen(name));
        cadre_sink_call_arguments(sink, nth, text, strlen(text));
    }
}

// --- How it fails ---

// Attempts count those that were cut, so it fails at most so often either way.
static cadre_status fail_now_and_then(cadre_frame *frame, dice *d, cadre_error *err)
{
    int chance = dice_throw(d, 100);
    bool is_calm = model.plan->is_calm;
    if (chance < 3)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_INVALID_REQUEST, false,
                                "refused");
    if (chance < 8 && frame->attempts <= 1)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_SERVER, true, "down");
    if (chance == 8)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_OVERLOADED, true,
                                "always down");
    if (chance < 12 && !is_calm)
        return cadre_frame_sleep(frame, INT64_MAX, err);
    if (chance < 22)
        return cadre_frame_sleep(frame, 1 + dice_throw(d, is_calm ? 3 : 8), err);
    return CADRE_OK;
}

static void finish(cadre_sink *sink, dice *d)
{
    bool calls = cadre_sink_call_count(sink) > 0;
    cadre_sink_usage(sink, &(cadre_usage){.input_tokens = 1 + dice_throw(d, 50),
                                          .output_tokens = dice_throw(d, 20)});
    if (!calls && dice_percent(d, 2))
        cadre_sink_finish(sink, CADRE_FINISH_LENGTH);
    else
        cadre_sink_finish(sink, calls ? CADRE_FINISH_TOOL_CALLS : CADRE_FINISH_STOP);
    cadre_sink_end(sink);
}

static cadre_status answer(const void *state, cadre_frame *frame,
                           const cadre_request *request, cadre_sink *sink,
                           cadre_error *err)
{
    int turn = (int)strtol(frame->key, NULL, 10);
    dice d = random_model_dice(frame, "answer");
    (void)state;
    random_work_note();
    if (!CHECK(is_valid(request)))
        print_request(request);
    cadre_status status = fail_now_and_then(frame, &d, err);
    if (status != CADRE_OK)
        return status;
    // The deeper and the longer it works, the sooner it comes to an end.
    int chance = 95 - 18 * turn - 4 * depth_of(frame);
    bool calls = request->n_tools > 0 && dice_percent(&d, chance < 10 ? 10 : chance);
    if (!calls || dice_percent(&d, 30))
        say(sink, &d);
    if (calls)
        call(request, sink, &d);
    finish(sink, &d);
    return CADRE_OK;
}

static const cadre_model_ops ops = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "random",
    .summary = "answers as the dice fall",
    .answer = answer,
};

void random_model_open(const random_team *plan, cadre_runtime *runtime)
{
    cadre_error err = CADRE_ERROR_INIT;
    model.plan = plan;
    model.turn = 0;
    CHECK_OK(cadre_runtime_register_model(runtime, &ops, &err), &err);
}

void random_model_turn(uint64_t nth)
{
    model.turn = nth;
}
