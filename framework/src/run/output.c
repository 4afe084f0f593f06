// See output.h.
#include "run/output.h"

#include "base/schema.h"
#include "run/arguments.h"
#include "run/call.h"
#include "run/output_json.h"

#include <string.h>

const json_t *cdr_frame_output_schema(const cadre_frame *frame)
{
    if (frame->kind != CDR_FRAME_AGENT)
        return NULL;
    const json_t *own = frame->agent->info.output_schema;
    return own != NULL ? own : frame->demanded;
}

// Makes the JSON in the frame's answer its answer. EINVAL: what is wrong with it.
static cadre_status fit(cadre_frame *frame, const json_t *schema, cadre_error *err)
{
    cdr_work *work = frame->work;
    json_t *value = NULL;
    cdr_json_part part;
    if (work->fitting != NULL && work->fitting == work->output)
        return CADRE_OK;
    const char *text = cdr_text_bytes(work->output);
    cadre_status status = cdr_output_json_find(text, strlen(text), &part, &value, err);
    if (status != CADRE_OK)
        return status;
    status = cdr_schema_check_text(schema, value, err);
    json_decref(value);
    if (status != CADRE_OK)
        return status;
    cdr_text *json = part.len == strlen(text) ? cdr_text_ref(work->output)
                                              : cdr_text_new(part.data, part.len);
    if (json == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
    cdr_text_unref(work->output);
    cdr_text_unref(work->fitting);
    work->output = json;
    work->fitting = cdr_text_ref(json);
    return CADRE_OK;
}

cadre_status cdr_output_check(cadre_frame *frame, cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    const json_t *schema = cdr_frame_output_schema(frame);
    if (schema == NULL || frame->mark != CDR_MARK_NONE)
        return CADRE_OK;
    cadre_status status = fit(frame, schema, &why);
    if (status == CADRE_OK)
        return CADRE_OK;
    cadre_error_clear(err);
    if (status != CADRE_EINVAL)
        return cadre_fail(err, status, "agent '%s': %s", frame->name, why.text);
    return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_BAD_RESPONSE, false,
                            "agent '%s': its answer does not fit output_schema: %s",
                            frame->name, why.text);
}

bool cdr_output_fits(cadre_frame *frame)
{
    const json_t *schema = cdr_frame_output_schema(frame);
    return schema == NULL || fit(frame, schema, NULL) == CADRE_OK;
}

cadre_status cadre_frame_take_answer(cadre_frame *frame, const cadre_answer *answer,
                                     cadre_error *err)
{
    if (frame == NULL || answer == NULL || answer->message == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    const json_t *schema = cdr_frame_output_schema(frame);
    if (schema == NULL)
        return CADRE_OK;
    if (answer->finish == CADRE_FINISH_LENGTH)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_BAD_RESPONSE, false,
                                "agent '%s': the model's token limit cut the answer "
                                "(max_tokens), so it does not fit output_schema",
                                frame->name);
    return fit(frame, schema, err);
}

// --- Corrections ---

const cdr_message *cdr_correction_recorded_locked(const cadre_frame *frame)
{
    const cdr_work *work = frame->work;
    if (work->n_read == 0 || work->n_read >= work->n_recorded)
        return NULL;
    const cdr_message *next = frame->conversation->messages[work->n_read];
    return next->is_correction && cadre_id_equal(next->frame, frame->id) ? next : NULL;
}

cadre_status cadre_frame_correct(cadre_frame *frame, const char *text, cadre_error *err)
{
    if (frame == NULL || text == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = cdr_check_frame(frame, err);
    if (status == CADRE_OK)
        status =
            cdr_check_text((cdr_argument){frame->name, "the correction"}, text, err);
    if (status != CADRE_OK)
        return status;
    const cadre_message said = {.role = CADRE_ROLE_USER,
                                .agent = frame->agent->info.name,
                                .to = frame->agent->info.name,
                                .text = text,
                                .is_input = true};
    cdr_mutex_lock(&frame->tree->mu);
    bool is_said = cdr_correction_recorded_locked(frame) != NULL;
    bool ok = is_said || cdr_say_locked(frame, cdr_message_new(&said, (cadre_id){0, 0},
                                                               frame->id));
    if (is_said)
        frame->work->n_read++;
    cdr_mutex_unlock(&frame->tree->mu);
    return ok ? CADRE_OK : cadre_fail(err, CADRE_ENOMEM, "no memory for a message");
}
