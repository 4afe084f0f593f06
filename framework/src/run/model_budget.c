// See model_budget.h.
#include "run/model_budget.h"

#include "run/tokens.h"
#include "tree/ending.h"

// --- The input ---

static int64_t tokens_of_tools(const cadre_request *request)
{
    int64_t n = 0;
    for (size_t i = 0; i < request->n_tools; i++) {
        const cadre_tool_info *tool = &request->tools[i];
        n += cdr_tokens_of_text(tool->name) + cdr_tokens_of_text(tool->description);
        if (tool->parameters != NULL)
            n += (int64_t)json_dumpb(tool->parameters, NULL, 0, JSON_COMPACT) / 4;
    }
    return n;
}

// Only what is new since the last call is looked at, unless the history begins
// elsewhere now.
static void measure_input(cdr_model_call *call)
{
    const cadre_request *request = &call->request;
    unsigned edition = call->prompt->window.edition;
    cdr_known_input *known = &call->agent->work->known_input;
    int64_t n = 0;
    if (known->edition != edition || request->n_items < known->n_items ||
        known->n_items == 0) {
        *known = (cdr_known_input){.edition = edition};
        n = cdr_tokens_of_text(request->system) + tokens_of_tools(request);
    }
    for (size_t i = known->n_items; i < request->n_items; i++)
        n += cdr_tokens_of_item(&request->items[i]);
    known->n_items = request->n_items;
    known->tokens += n;
    known->length_tokens += n;
}

// --- The claim ---

static int64_t output_of_locked(const cdr_model_call *call)
{
    int64_t most = call->model->max_output_tokens;
    if (most == 0)
        most = CDR_USUAL_OUTPUT;
    return most > call->agent->tree->largest_output ? most
                                                    : call->agent->tree->largest_output;
}

static cdr_amount amount_of(const cadre_model *model, int64_t input, int64_t output)
{
    const cadre_usage usage = {.input_tokens = input, .output_tokens = output};
    int64_t cost = cdr_price_of(&model->price, &usage, 0);
    bool is_free = model->price.input == 0 && model->price.output == 0;
    return (cdr_amount){input + output, cost == 0 && !is_free ? 1 : cost};
}

static cadre_status check_price(const cdr_model_call *call, cadre_error *err)
{
    if (call->model->price.is_known || !cdr_pot_counts_money(call->agent->pot))
        return CADRE_OK;
    return cadre_fail_class(err, CADRE_ECONFIG, CADRE_CLASS_CONFIG, false,
                            "agent '%s': model '%s' has no price, and a budget has a "
                            "max_cost: give it one (price)",
                            call->agent->name, call->model->name);
}

// Whoever is stopped asks for nothing any more.
static cadre_status await_claim(cdr_model_call *call, cadre_frame *frame,
                                cadre_error *err)
{
    cdr_tree *tree = frame->tree;
    cdr_claim *claim = &call->claim;
    for (;;) {
        unsigned seen = cdr_strand_seen(claim->strand);
        cdr_mutex_lock(&tree->mu);
        cadre_status status = cdr_frame_stopped(frame, err);
        if (status != CADRE_OK && claim->state == CDR_CLAIM_WAITS)
            cdr_claim_leave_locked(claim);
        else if (status == CADRE_OK && claim->state == CDR_CLAIM_REFUSED)
            status = cdr_claim_fail_locked(claim, frame, err);
        bool waits = claim->state == CDR_CLAIM_WAITS;
        cdr_mutex_unlock(&tree->mu);
        if (!waits)
            return status;
        if (tree->replay == NULL)
            cdr_frame_wait(frame, seen, CDR_NEVER);
        else
            cdr_park_idle(frame, seen);
    }
}

cadre_status cdr_model_claim(cdr_model_call *call, cadre_frame *frame, cadre_error *err)
{
    cdr_tree *tree = frame->tree;
    cdr_claim *claim = &call->claim;
    if (call->agent->pot == NULL)
        return CADRE_OK;
    if (cdr_frame_expire(frame)) // who never waits finds out here
        return cdr_frame_stopped(frame, err);
    cadre_status status = check_price(call, err);
    if (status != CADRE_OK)
        return status;
    measure_input(call);
    const cdr_known_input *input = &call->agent->work->known_input;
    cdr_mutex_lock(&tree->mu);
    *claim = (cdr_claim){
        .pot = call->agent->pot,
        .least = amount_of(call->model, input->length_tokens / 2, 1),
        .most = amount_of(call->model, input->tokens, output_of_locked(call)),
        .strand = frame->work->strand};
    cdr_claim_locked(claim);
    cdr_mutex_unlock(&tree->mu);
    status = await_claim(call, frame, err);
    if (status != CADRE_OK)
        cdr_model_unclaim(call);
    return status;
}

// --- Paying ---

static void pay(cdr_model_call *call, cdr_amount used)
{
    cdr_tree *tree = call->agent->tree;
    cdr_mutex_lock(&tree->mu);
    if (call->claim.state == CDR_CLAIM_GRANTED)
        cdr_claim_pay_locked(&call->claim, used);
    else
        cdr_pot_pay_locked(call->agent->pot, used);
    cdr_mutex_unlock(&tree->mu);
}

void cdr_model_unclaim(cdr_model_call *call)
{
    if (call->claim.state == CDR_CLAIM_GRANTED)
        pay(call, (cdr_amount){0, 0});
}

static bool is_told(const cadre_usage *usage)
{
    return usage->input_tokens > 0 || usage->output_tokens > 0;
}

// No provider takes money for an answer of that kind.
static bool is_refused(const cadre_error *failure)
{
    switch (failure->error_class) {
    case CADRE_CLASS_AUTH:
    case CADRE_CLASS_INVALID_REQUEST:
    case CADRE_CLASS_CONTEXT_LENGTH:
    case CADRE_CLASS_RATE_LIMITED:
    case CADRE_CLASS_QUOTA:
    case CADRE_CLASS_OVERLOADED:
    case CADRE_CLASS_CONFIG:
        return true;
    default:
        return false;
    }
}

static int64_t tokens_of_answer(const cadre_sink *sink)
{
    int64_t n = cdr_tokens_of_text(cdr_buf_text(&sink->text)) +
                cdr_tokens_of_text(cdr_buf_text(&sink->reasoning));
    for (size_t i = 0; i < sink->n_calls; i++)
        n += cdr_tokens_of_text(cdr_buf_text(&sink->calls[i].name)) +
             cdr_tokens_of_text(cdr_buf_text(&sink->calls[i].arguments));
    return n;
}

static void guess_usage(const cdr_model_call *call, cadre_usage *usage)
{
    usage->input_tokens = call->agent->work->known_input.tokens;
    usage->output_tokens = tokens_of_answer(&call->sink);
}

// The next call of the frame sends the same again, and more.
static void learn(cdr_model_call *call, const cadre_usage *usage)
{
    cdr_tree *tree = call->agent->tree;
    cdr_known_input *known = &call->agent->work->known_input;
    if (usage->input_tokens > 0)
        known->tokens = usage->input_tokens;
    cdr_mutex_lock(&tree->mu);
    if (usage->output_tokens > tree->largest_output)
        tree->largest_output = usage->output_tokens;
    cdr_mutex_unlock(&tree->mu);
}

static cdr_amount used_of(const cadre_usage *usage)
{
    return (cdr_amount){usage->input_tokens + usage->output_tokens,
                        usage->cost_usd_micros};
}

void cdr_model_pay(cdr_model_call *call, cadre_status status,
                   const cadre_error *failure)
{
    cadre_usage *usage = &call->sink.usage;
    bool has_budget = call->agent->pot != NULL;
    if (has_budget && is_told(usage))
        learn(call, usage);
    else if (has_budget && (status == CADRE_OK || !is_refused(failure)))
        guess_usage(call, usage);
    usage->cost_usd_micros =
        cdr_price_of(&call->model->price, usage, call->sink.n_cache_written);
    if (has_budget)
        pay(call, used_of(usage));
    cdr_usage_add(&call->charged, usage);
    *usage = call->charged;
}

void cdr_model_pay_cuts(cdr_model_call *call)
{
    cdr_tree *tree = call->agent->tree;
    cadre_usage usage = {.input_tokens = call->agent->work->known_input.tokens *
                                         call->frame->restarts};
    if (call->agent->pot == NULL || call->model->is_scripted)
        return; // a script was sent nothing
    usage.cost_usd_micros = cdr_price_of(&call->model->price, &usage, 0);
    cdr_usage_add(&call->charged, &usage);
    cdr_mutex_lock(&tree->mu);
    cdr_pot_pay_locked(call->agent->pot, used_of(&usage));
    cdr_mutex_unlock(&tree->mu);
}

void cdr_model_pay_recalled(cdr_model_call *call)
{
    if (call->agent->pot != NULL)
        pay(call, used_of(&call->sink.usage));
}
