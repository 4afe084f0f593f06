// See call.h.
#include "run/call.h"

#include "run/arguments.h"
#include "run/output.h"
#include "run/retry.h"
#include "run/scope.h"
#include "run/state.h"
#include "tree/delta.h"
#include "tree/outbox.h"
#include "tree/race.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

cadre_status cdr_fail_sticky(const cadre_frame *frame, cadre_error *err)
{
    if (frame->work->sticky == CADRE_EPARKED)
        return cadre_fail(err, CADRE_EPARKED, "'%s' waits for an answer", frame->name);
    return cadre_fail(err, frame->work->sticky,
                      "'%s': it makes other calls than were recorded", frame->name);
}

void cdr_outcome_clear(cadre_outcome *out)
{
    if (out != NULL)
        *out = (cadre_outcome){.text = "", .agent = "", .error = ""};
}

cadre_status cdr_check_frame(const cadre_frame *frame, cadre_error *err)
{
    if (frame == NULL)
        return cadre_fail(err, CADRE_EINVAL, "the frame is NULL");
    cadre_status status = cdr_frame_stopped(frame, err);
    if (status != CADRE_OK)
        return status;
    if (frame->work == NULL)
        return cadre_fail(err, CADRE_EINVAL, "'%s': its `run` has returned",
                          frame->name);
    if (frame->work->sticky != CADRE_OK)
        return cdr_fail_sticky(frame, err);
    // Once a hook has failed, the frame does nothing more: it fails, too.
    const cadre_error *why = frame->work->hook_error;
    return why == NULL ? CADRE_OK
                       : cadre_fail_class(err, why->status, why->error_class,
                                          why->retryable, "%s", why->text);
}

static cadre_status check_values(const cadre_frame *frame, const cadre_call *call,
                                 cadre_error *err)
{
    const char *name = frame->name;
    if (call->history < CADRE_HISTORY_DEFAULT || call->history > CADRE_HISTORY_NONE)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': cadre_call.history is %d, which "
                          "is no cadre_history",
                          name, (int)call->history);
    const unsigned known = CADRE_CALL_QUIET | CADRE_CALL_ONCE | CADRE_CALL_FINAL;
    if ((call->flags & ~known) != 0)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': cadre_call.flags is 0x%x; only CADRE_CALL_QUIET, "
                          "CADRE_CALL_ONCE and CADRE_CALL_FINAL are known",
                          name, call->flags);
    cadre_status status = cdr_check_time((cdr_argument){name, "cadre_call.timeout_ms"},
                                         call->timeout_ms, err);
    if (status == CADRE_OK)
        status = cdr_check_budget((cdr_argument){name, "cadre_call.budget"},
                                  &call->budget, err);
    if (status == CADRE_OK)
        status =
            cdr_check_text((cdr_argument){name, "cadre_call.input"}, call->input, err);
    if (status == CADRE_OK)
        status = cdr_check_text((cdr_argument){name, "cadre_call.key"}, call->key, err);
    if (status == CADRE_OK)
        status = cdr_check_key(name, call->key, err);
    if (status == CADRE_OK)
        status = cdr_check_array((cdr_argument){name, "cadre_call.tools"},
                                 call->tools.items, call->tools.count, err);
    if (status == CADRE_OK && call->scope != NULL)
        status = cdr_scope_check(call->scope, frame, err);
    return status;
}

cadre_status cdr_check_call(cadre_frame *frame, const cadre_call *call,
                            cadre_error *err)
{
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    if (call == NULL || call->struct_size < sizeof *call)
        return cadre_fail(err, CADRE_EINVAL, "'%s': a call without CADRE_CALL",
                          frame->name);
    if (call->agent == NULL)
        return cadre_fail(err, CADRE_EINVAL, "'%s': a call names no agent",
                          frame->name);
    if (call->agent->team != frame->tree->team)
        return cadre_fail(err, CADRE_EINVAL, "'%s': agent '%s' is of another team",
                          frame->name, call->agent->info.name);
    return check_values(frame, call, err);
}

cadre_status cdr_call_input(const cadre_call *call, cdr_text **out, cadre_error *err)
{
    cdr_text *text = NULL;
    if (call->json != NULL) {
        char *dump = json_dumps(call->json, JSON_COMPACT | JSON_ENCODE_ANY);
        text = dump == NULL ? NULL : cdr_text_new(dump, strlen(dump));
        free(dump);
    } else if (call->input != NULL) {
        text = cdr_text_new(call->input, strlen(call->input));
    } else {
        return CADRE_OK;
    }
    if (text == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an input");
    *out = text;
    return CADRE_OK;
}

// What a member was told stands in its conversation: as the user's turn in one of its
// own, as input from its caller in a shared one.
static bool say_input_locked(cadre_frame *child, const cadre_frame *caller, bool fork)
{
    if (child->input == NULL)
        return true;
    cadre_message said = {.role = CADRE_ROLE_USER,
                          .agent = caller->agent->info.name,
                          .to = child->name,
                          .text = child->input->bytes,
                          .is_input = !fork};
    return cdr_say_locked(child, cdr_message_new(&said, (cadre_id){0, 0}, child->id));
}

// What binds the callee and all it hands over to: the caller's time and the call's.
static int64_t chain_deadline(const cadre_frame *frame, const cadre_call *call,
                              int64_t now_ns)
{
    if (call->timeout_ms <= 0)
        return frame->deadline_ms;
    int64_t own = cdr_deadline_ms(now_ns, call->timeout_ms);
    return own < frame->deadline_ms ? own : frame->deadline_ms;
}

// The same with the time of the call's budget.
static int64_t chain_end(const cadre_call *call, int64_t deadline_ms, int64_t now_ns)
{
    int64_t max_ms = call->budget.max_time_ms;
    int64_t end_ms = max_ms == 0 ? CDR_NEVER : cdr_deadline_ms(now_ns, max_ms);
    return end_ms < deadline_ms ? end_ms : deadline_ms;
}

void cdr_restart_time_locked(cadre_frame *frame, const cadre_call *call,
                             cadre_frame *child)
{
    int64_t now_ns = cdr_clock_now_ns(frame->tree->runtime->clock);
    int64_t timeout_ms = child->agent->timeout_ms;
    child->started_ns = now_ns;
    child->deadline_ms = chain_deadline(frame, call, now_ns);
    if (call->scope != NULL) {
        child->scope->deadline_ms = chain_end(call, child->deadline_ms, now_ns);
        timeout_ms = cdr_shorter_ms(timeout_ms, child->scope->limits.node_timeout_ms);
    }
    if (timeout_ms > 0 && cdr_deadline_ms(now_ns, timeout_ms) < child->deadline_ms)
        child->deadline_ms = cdr_deadline_ms(now_ns, timeout_ms);
    cdr_pots_limit_time_locked(child, false);
}

// Enters what `birth` describes so far, in its conversation, with its input said.
static cadre_status enter_locked(cadre_frame *frame, cdr_birth *birth,
                                 cadre_frame **child, cdr_entered *how,
                                 cadre_error *err) CDR_REQUIRES(frame->tree->mu)
{
    if (birth->is_fork) {
        birth->opens =
            cdr_conversation_new(birth->reads_parent ? frame->conversation : NULL);
        birth->conversation = birth->opens;
        if (birth->opens == NULL) {
            cadre_fail(err, CADRE_ENOMEM, "no memory for a conversation");
            return CADRE_ENOMEM;
        }
    }
    cadre_status status = cdr_frame_enter_locked(frame, birth, child, how, err);
    if (status == CADRE_EDIVERGED)
        frame->work->sticky = status;
    assert(status != CADRE_OK || *child != NULL);
    if (status == CADRE_OK)
        (*child)->is_scoped = birth->scope != NULL;
    if (status == CADRE_OK && *how != CDR_ENTERED_RECORD)
        birth->scope = NULL; // it is the frame's now
    if (status == CADRE_OK && *how == CDR_ENTERED_NEW) {
        if (!say_input_locked(*child, frame, birth->is_fork))
            cadre_fail(&frame->tree->lost, CADRE_ESTORE, "no memory for an input");
    }
    cdr_conversation_unref(birth->opens);
    return status;
}

// Another attempt is not made where the others won meanwhile; its caller may be gone.
static cadre_status may_follow_locked(const cdr_callee *callee, cadre_error *err)
{
    if (callee->follows == NULL || !cdr_race_is_over_locked(callee->follows))
        return CADRE_OK;
    return cadre_fail(err, CADRE_EABORTED, "its work is not needed any more");
}

// What it is given: the attempt before has it, and may outlive the call.
static cadre_status input_of(const cdr_callee *callee, cdr_text **out, cadre_error *err)
{
    if (callee->follows == NULL)
        return cdr_call_input(callee->call, out, err);
    *out = cdr_text_ref(callee->follows->input);
    return CADRE_OK;
}

// The birth of the callee as the call says it; input and scope are to come.
static cdr_birth birth_of(cadre_frame *frame, const cdr_callee *callee)
{
    const cadre_call *call = callee->call;
    bool fork = callee->is_fork;
    int64_t now_ns = cdr_clock_now_ns(frame->tree->runtime->clock);
    return (cdr_birth){
        .kind = CDR_FRAME_AGENT,
        .name = call->agent->info.name,
        .agent = call->agent,
        .key = call->key == NULL ? callee->key : call->key,
        .is_named = call->key != NULL && (call->flags & CADRE_CALL_ONCE) == 0,
        .tools = call->tools,
        .demanded = (call->flags & CADRE_CALL_FINAL) != 0
                        ? cdr_frame_output_schema(frame)
                        : NULL,
        .ear = callee->ear,
        .deadline_ms = chain_deadline(frame, call, now_ns),
        .timeout_ms = call->agent->timeout_ms,
        .started_ns = now_ns,
        .budget = &call->budget,
        .history = fork ? CADRE_HISTORY_DEFAULT : call->history,
        .is_blocking = true,
        .is_fork = fork,
        .reads_parent = call->history == CADRE_HISTORY_ALL,
        .is_quiet = call->agent->quiet || (call->flags & CADRE_CALL_QUIET) != 0};
}

static cadre_status add_scope(const cadre_frame *frame, const cadre_call *call,
                              cdr_birth *birth, cadre_error *err)
{
    if (call->scope == NULL)
        return CADRE_OK;
    birth->scope = cdr_scope_new(call->scope, frame->tree->team, err);
    if (birth->scope == NULL)
        return CADRE_ENOMEM;
    birth->scope->deadline_ms = chain_end(call, birth->deadline_ms, birth->started_ns);
    birth->timeout_ms =
        cdr_shorter_ms(birth->timeout_ms, birth->scope->limits.node_timeout_ms);
    return CADRE_OK;
}

cadre_status cdr_enter_call(cadre_frame *frame, const cdr_callee *callee,
                            cadre_frame **child, cdr_entered *how, cadre_error *err)
{
    cdr_birth birth = birth_of(frame, callee);
    bool many = false;
    cadre_status status = input_of(callee, &birth.input, err);
    if (status == CADRE_OK)
        status = add_scope(frame, callee->call, &birth, err);
    if (status == CADRE_OK) {
        cdr_mutex_lock(&frame->tree->mu);
        status = may_follow_locked(callee, err);
        if (callee->follows != NULL)
            birth.budget_used = cdr_pot_of_call_used(callee->follows);
        if (status == CADRE_OK)
            status = enter_locked(frame, &birth, child, how, err);
        many = cdr_outbox_has_many_locked(frame->tree);
        cdr_mutex_unlock(&frame->tree->mu);
    }
    if (status == CADRE_OK && many)
        cdr_tree_flush(frame->tree, NULL); // a lost store marks the frames; they tell
    cdr_scope_free(birth.scope);
    cdr_text_unref(birth.input);
    return status;
}

static void outcome_fill(cadre_frame *frame, const cdr_ran *ran, cadre_outcome *out)
{
    cdr_arena *arena = &frame->work->arena;
    const char *text = cdr_text_bytes(ran->output);
    // A budget may have ended what it had to say: that it said something counts.
    const cdr_failure *failure =
        ran->status == CADRE_FRAME_COMPLETED ? NULL : ran->failure;
    const char *error = failure == NULL ? "" : failure->message;
    out->status = ran->status;
    out->stop_reason = ran->stop_reason;
    out->agent = ran->agent;
    out->usage = ran->usage;
    out->error_class = failure == NULL ? CADRE_CLASS_NONE : failure->error_class;
    const char *kept = cdr_arena_copy(arena, text, strlen(text));
    out->text = kept == NULL ? "" : kept;
    kept = cdr_arena_text(arena, error);
    out->error = kept == NULL ? "" : kept;
}

static void ran_from_record(const cadre_frame *child, cdr_ran *ran)
{
    *ran = (cdr_ran){.status = (cadre_frame_status)child->status,
                     .stop_reason = (cadre_stop_reason)child->stop_reason,
                     .output = cdr_text_ref(child->output),
                     .delta = child->status == CADRE_FRAME_COMPLETED
                                  ? cdr_json_share(child->delta)
                                  : NULL,
                     .agent = child->is_given_up ? child->name : child->answered_by,
                     .failure = cdr_failure_ref(child->failure),
                     .usage = child->usage};
}

// A delegate's answer is its caller's, unless that sets another. One that escalates
// without a word leaves the answer of who spoke before.
static void take_answer(cdr_work *work, const cdr_ran *ran, bool is_scoped)
{
    if (ran->stop_reason == CADRE_STOP_ESCALATED &&
        cdr_text_bytes(ran->output)[0] == '\0')
        return;
    cdr_text_unref(work->output);
    work->output = cdr_text_ref(ran->output);
    work->answered_by = ran->agent;
    // Handing over within a scope of its own is the caller's work, so is its end.
    work->answer_reason =
        (unsigned char)(is_scoped ? ran->stop_reason : CADRE_STOP_NONE);
}

// A frame with a named key answers from its record later: with what its chain gave.
static void keep_for_name_locked(cadre_frame *child, const cdr_ran *ran)
{
    if (!child->is_named)
        return;
    child->answered_by = ran->agent;
    if (child->output == NULL)
        child->output = cdr_text_ref(ran->output);
    if (child->status == CADRE_FRAME_COMPLETED && child->delta != ran->delta) {
        cdr_json_unshare(child->delta);
        child->delta = cdr_json_share(ran->delta);
    }
}

// What a call returns that failed: its child's failure.
static cadre_status take_failure(cdr_work *work, const cdr_ran *ran, bool is_scoped,
                                 cadre_error *err)
{
    const cdr_failure *failure = ran->failure;
    cdr_failure_unref(work->child_failure);
    work->child_failure = cdr_failure_ref(ran->failure);
    work->child_reason =
        (unsigned char)(is_scoped ? ran->stop_reason : CADRE_STOP_NONE);
    if (failure == NULL)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_ERROR, false,
                                "no memory");
    return cadre_fail_class(err, CADRE_EFAILED, failure->error_class,
                            failure->retryable, "%s", failure->message);
}

// A child that waits stays in the tree, for the resume.
void cdr_release_call(const cadre_frame *frame, cadre_frame *child, const cdr_ran *ran)
{
    cdr_tree *tree = child->tree;
    cdr_scope_state *scope = child->scope;
    cdr_mutex_lock(&tree->mu);
    if (ran->status == CADRE_FRAME_WAITING) {
        child->scope = NULL;
        child->race = NULL;
    } else {
        keep_for_name_locked(child, ran);
        cdr_frame_release_locked(child);
    }
    cdr_mutex_unlock(&tree->mu);
    if (scope != frame->scope)
        cdr_scope_free(scope);
}

static cadre_status take_outcome(cadre_frame *frame, const cdr_ran *ran,
                                 bool is_delegate, bool is_scoped, cadre_error *err)
{
    cadre_status status = cdr_frame_stopped(frame, err);
    if (status != CADRE_OK)
        return status;
    if (ran->status == CADRE_FRAME_WAITING) {
        frame->work->sticky = CADRE_EPARKED;
        return cdr_fail_sticky(frame, err);
    }
    if (ran->status != CADRE_FRAME_COMPLETED)
        return take_failure(frame->work, ran, is_scoped, err);
    if (!is_delegate)
        return CADRE_OK; // an escalation is of the callee's conversation
    take_answer(frame->work, ran, is_scoped);
    return ran->stop_reason == CADRE_STOP_ESCALATED ? CADRE_ESCALATED : CADRE_OK;
}

cadre_status cdr_leave_call(cadre_frame *frame, cadre_frame *child, cdr_ran *ran,
                            cadre_outcome *out, cadre_error *err)
{
    bool is_delegate = child->conversation == frame->conversation;
    bool is_scoped = child->is_scoped;
    const char *callee = child->name;
    cdr_ran recorded;
    if (ran == NULL) {
        ran = &recorded;
        ran_from_record(child, ran);
    } else {
        cdr_release_call(frame, child, ran);
    }
    cdr_state_take(frame, callee, ran);
    if (out != NULL)
        outcome_fill(frame, ran, out);
    cadre_status status = take_outcome(frame, ran, is_delegate, is_scoped, err);
    cdr_ran_fini(ran);
    return status;
}

static cadre_status call_agent(cadre_frame *frame, const cadre_call *call, bool fork,
                               cadre_outcome *out, cadre_error *err)
{
    cdr_attempts attempts = {.callee = {.call = call, .is_fork = fork}};
    cdr_outcome_clear(out);
    cadre_status status = cdr_check_call(frame, call, err);
    if (status == CADRE_OK && call->listener != NULL)
        return cdr_call_heard(frame, &attempts.callee, out, err);
    if (status == CADRE_OK)
        status = cdr_attempts_enter(frame, &attempts, err);
    if (status != CADRE_OK)
        return status;
    cdr_attempts_run(frame, &attempts, frame->work->strand);
    return cdr_attempts_leave(frame, &attempts, out, err);
}

cadre_status cadre_frame_delegate(cadre_frame *frame, const cadre_call *call,
                                  cadre_outcome *out, cadre_error *err)
{
    return call_agent(frame, call, false, out, err);
}

cadre_status cadre_frame_call(cadre_frame *frame, const cadre_call *call,
                              cadre_outcome *out, cadre_error *err)
{
    return call_agent(frame, call, true, out, err);
}
