// Steps: side effects that are recorded, as tool frames without a tool.
#include "run/call.h"

#include "run/arguments.h"
#include "run/recorded.h"
#include "run/state.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    MAX_NAME = 64
};

// Keeps a value as the output of the step's frame.
static cadre_status keep_value(cadre_frame *child, const json_t *value,
                               cadre_error *err)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text != NULL)
        child->work->output = cdr_text_new(text, strlen(text));
    free(text);
    if (child->work->output == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "step '%s': no memory for its value",
                          child->name);
    return CADRE_OK;
}

// Does the step's work, unless its frame was stopped. New reference; NULL: `err`.
static json_t *make_value(cadre_frame *child, const cadre_step *step, cadre_error *err)
{
    json_t *value = NULL;
    if (cdr_frame_stopped(child, err) != CADRE_OK ||
        cdr_recorded_value(child, &value, err) != CADRE_OK || value != NULL)
        return value;
    value = step->run(step->ctx, child, err);
    if (value == NULL)
        cadre_fail(err, CADRE_EFAILED, "step '%s' gave no value", child->name);
    return value;
}

// Runs the step on its own frame and ends that, unless it waits for a person: then it
// is run again. New reference; NULL: `err`.
static json_t *run_step(cadre_frame *child, const cadre_step *step, cdr_strand *strand,
                        cadre_error *err)
{
    json_t *value = NULL;
    cdr_ending ending;
    cadre_status status = CADRE_ENOMEM;
    if (!cdr_work_begin(child, strand)) {
        cadre_fail(err, status, "step '%s': no memory to run it", child->name);
    } else {
        value = make_value(child, step, err);
        status = value == NULL ? CADRE_EFAILED : keep_value(child, value, err);
    }
    if (child->work != NULL && child->work->sticky == CADRE_EPARKED)
        status = CADRE_EPARKED;
    bool is_parked = cdr_is_parked(child, status, err);
    if (!is_parked)
        cdr_ending_of(child, status, err, &ending);
    cdr_work *work = cdr_work_end(child);
    cdr_mutex_lock(&child->tree->mu);
    if (is_parked)
        cdr_frame_park_locked(child);
    else
        cdr_frame_end_locked(child, &ending);
    cdr_mutex_unlock(&child->tree->mu);
    if (!is_parked)
        cdr_text_unref(ending.output);
    cdr_work_free(work);
    if (status != CADRE_OK) {
        json_decref(value);
        value = NULL;
    }
    return value;
}

static json_t *recorded_value(const cadre_frame *child, cadre_error *err)
{
    if (child->status != CADRE_FRAME_COMPLETED) {
        cadre_fail(err, CADRE_EFAILED, "%s",
                   child->failure == NULL ? "the step failed"
                                          : child->failure->message);
        return NULL;
    }
    json_t *value = json_loads(cdr_text_bytes(child->output),
                               JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (value == NULL)
        cadre_fail(err, CADRE_ENOMEM, "step '%s': no memory for its value",
                   child->name);
    return value;
}

static cadre_status check_step(cadre_frame *frame, const cadre_step *step,
                               cadre_error *err)
{
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    if (step == NULL || step->struct_size < sizeof *step || step->run == NULL ||
        step->name == NULL)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': a step without CADRE_STEP, name or run", frame->name);
    status =
        cdr_check_text((cdr_argument){frame->name, "cadre_step.name"}, step->name, err);
    if (status == CADRE_OK && strlen(step->name) > MAX_NAME)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': the name of step '%.20s...' is longer than %d bytes",
                          frame->name, step->name, MAX_NAME);
    return status;
}

static cadre_status enter_step(cadre_frame *frame, const cadre_step *step,
                               cadre_frame **child, cdr_entered *how, cadre_error *err)
{
    cdr_birth birth = {
        .kind = CDR_FRAME_TOOL, .name = step->name, .agent = frame->agent};
    cdr_mutex_lock(&frame->tree->mu);
    cadre_status status = cdr_frame_enter_locked(frame, &birth, child, how, err);
    cdr_mutex_unlock(&frame->tree->mu);
    if (status == CADRE_EDIVERGED)
        frame->work->sticky = status;
    return status;
}

static bool is_waiting(const cadre_frame *child, cdr_entered how)
{
    return how != CDR_ENTERED_RECORD && child->status == CADRE_FRAME_WAITING;
}

// Runs the step, or takes its value from the record. New reference; NULL: it failed, or
// it waits.
static json_t *value_of(cadre_frame *frame, cadre_frame *child, const cadre_step *step,
                        cdr_entered how, cadre_error *failure)
{
    json_t *value = NULL;
    if (how == CDR_ENTERED_RECORD) {
        value = recorded_value(child, failure);
    } else {
        // Before the effect; a lost store marks the child.
        cdr_tree_flush(frame->tree, NULL);
        value = run_step(child, step, frame->work->strand, failure);
    }
    if (!is_waiting(child, how) && value != NULL &&
        cdr_state_take_step(frame, child, failure) != CADRE_OK) {
        json_decref(value);
        return NULL;
    }
    return value;
}

// One that did well leaves it at the failure of who was called before; live and from
// the record alike.
static void leave_step(cadre_frame *frame, cadre_frame *child, cdr_entered how)
{
    cdr_work *work = frame->work;
    cdr_mutex_lock(&frame->tree->mu);
    if (child->failure != NULL) {
        cdr_failure_unref(work->child_failure);
        work->child_failure = cdr_failure_ref(child->failure);
        work->child_reason = CADRE_STOP_NONE;
    }
    if (how != CDR_ENTERED_RECORD)
        cdr_frame_release_locked(child);
    cdr_mutex_unlock(&frame->tree->mu);
}

cadre_status cadre_frame_step(cadre_frame *frame, const cadre_step *step, json_t **out,
                              cadre_error *err)
{
    cadre_frame *child = NULL;
    cdr_entered how = CDR_ENTERED_NEW;
    cadre_error failure = CADRE_ERROR_INIT;
    cadre_status status = check_step(frame, step, err);
    if (status == CADRE_OK)
        status = enter_step(frame, step, &child, &how, err);
    if (status != CADRE_OK)
        return status;
    json_t *value = value_of(frame, child, step, how, &failure);
    if (is_waiting(child, how)) {
        frame->work->sticky = CADRE_EPARKED;
        return cdr_fail_sticky(frame, err);
    }
    leave_step(frame, child, how);
    status = cdr_frame_stopped(frame, err);
    if (status == CADRE_OK && value == NULL)
        status = cadre_fail_class(err, CADRE_EFAILED, failure.error_class,
                                  failure.retryable, "%s", failure.text);
    if (status == CADRE_OK && out != NULL)
        *out = json_incref(value);
    json_decref(value);
    return status;
}

static json_t *read_wall_clock(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)err;
    return json_integer(cdr_clock_wall_ms(frame->tree->runtime->clock));
}

cadre_status cadre_frame_now(cadre_frame *frame, int64_t *wall_ms, cadre_error *err)
{
    if (frame == NULL || wall_ms == NULL)
        return cdr_fail_null(err, __func__);
    json_t *value = NULL;
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "now", .run = read_wall_clock), &value, err);
    if (status == CADRE_OK)
        *wall_ms = json_integer_value(value);
    json_decref(value);
    return status;
}

static json_t *draw_bits(void *ctx, cadre_frame *frame, cadre_error *err)
{
    int64_t bits = 0;
    (void)ctx;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) {
        cadre_fail(err, CADRE_EIO, "'%s': no random bits", frame->name);
        return NULL;
    }
    return json_integer(bits);
}

cadre_status cadre_frame_random(cadre_frame *frame, uint64_t *bits, cadre_error *err)
{
    if (frame == NULL || bits == NULL)
        return cdr_fail_null(err, __func__);
    json_t *value = NULL;
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "random", .run = draw_bits), &value, err);
    if (status == CADRE_OK)
        *bits = (uint64_t)json_integer_value(value);
    json_decref(value);
    return status;
}
