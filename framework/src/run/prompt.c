// See prompt.h.
#include "run/prompt.h"

#include <stdlib.h>
#include <string.h>

// With fewer items it is made again each time.
#define KEPT_ITEMS 16

cdr_prompt *cdr_prompt_open(cadre_frame *frame, cadre_history history, cadre_error *err)
{
    cdr_work *work = frame->work;
    if (work->prompt == NULL)
        work->prompt = calloc(1, sizeof *work->prompt);
    if (work->prompt == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
        return NULL;
    }
    if (cdr_view_update(&work->prompt->view, frame, history, err) == CADRE_OK)
        return work->prompt;
    cdr_prompt_free(work->prompt);
    work->prompt = NULL;
    return NULL;
}

static bool is_worth_keeping(const cdr_prompt *prompt)
{
    return prompt->view.n_items >= KEPT_ITEMS;
}

// How many turns' bytes of the last request this one begins with.
static size_t count_kept(const cdr_prompt *prompt, const cadre_request *request)
{
    bool is_same =
        prompt->system != NULL && strcmp(prompt->system, request->system) == 0;
    return is_same ? prompt->transcript.n_same : 0;
}

// Without memory nothing is kept.
static void note_system(cdr_prompt *prompt, const char *system)
{
    if (prompt->system != NULL && strcmp(prompt->system, system) == 0)
        return;
    free(prompt->system);
    prompt->system = strdup(system);
}

cadre_status cdr_prompt_encode(cdr_prompt *prompt, const cadre_model *model,
                               cadre_request *request, cadre_error *err)
{
    bool is_kept = is_worth_keeping(prompt);
    const cdr_window *shown = &prompt->window;
    if (prompt->model != model || prompt->edition != shown->edition)
        cdr_transcript_fini(&prompt->transcript); // then no turn is the same
    prompt->model = model;
    prompt->edition = shown->edition;
    cadre_status status =
        cdr_transcript_update(&prompt->transcript, request, shown->n_settled, err);
    if (status != CADRE_OK)
        return status;
    cdr_http_rewind(&prompt->http, count_kept(prompt, request), is_kept);
    request->turns = prompt->transcript.turns;
    request->n_turns = prompt->transcript.n_turns;
    status = model->ops->encode(model->state, request, &prompt->http, err);
    if (status == CADRE_OK && prompt->http.failed)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
    request->turns = NULL;
    request->n_turns = 0;
    if (is_kept)
        note_system(prompt, request->system);
    else
        cdr_transcript_fini(&prompt->transcript); // not while it waits for the answer
    return status;
}

void cdr_prompt_close(cadre_frame *frame)
{
    cdr_work *work = frame->work;
    if (work->prompt == NULL || is_worth_keeping(work->prompt))
        return;
    cdr_prompt_free(work->prompt);
    work->prompt = NULL;
}

void cdr_prompt_free(cdr_prompt *prompt)
{
    if (prompt == NULL)
        return;
    cdr_window_fini(&prompt->window);
    cdr_view_fini(&prompt->view);
    cdr_transcript_fini(&prompt->transcript);
    cdr_http_fini(&prompt->http);
    free(prompt->system);
    free(prompt);
}
