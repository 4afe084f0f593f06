// The work of a frame: what it needs only while its `run` is under way. See tree.h.
#include "tree/tree.h"

#include <stdlib.h>
#include <unistd.h>

cdr_work *cdr_work_new(cdr_strand *strand)
{
    cdr_work *work = malloc(sizeof *work);
    if (work == NULL)
        return NULL;
    *work = (cdr_work){.strand = strand, .cancel_fd = -1};
    return work;
}

void cdr_work_free(cdr_work *work)
{
    if (work == NULL)
        return;
    cdr_arena_fini(&work->arena);
    cdr_text_unref(work->output);
    cdr_text_unref(work->fitting);
    cdr_failure_unref(work->child_failure);
    json_decref(work->input_json);
    free(work->counts);
    free(work->target);
    free(work->target_message);
    free(work->escalation);
    if (work->cancel_fd >= 0)
        close(work->cancel_fd);
    free(work);
}

const char *cdr_frame_id_text(cadre_frame *frame)
{
    if (frame->work->id_text[0] == '\0')
        cadre_id_text(frame->id, frame->work->id_text);
    return frame->work->id_text;
}
