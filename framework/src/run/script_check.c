// See script_check.h.
#include "run/script_check.h"

#include "run/recorded.h"
#include "team/script.h"

// Steps in order that nobody took.
static cadre_status check_left(const cdr_tree *tree, cadre_error *err)
{
    const cadre_team *team = tree->team;
    for (size_t i = 0; i < team->n_agents; i++) {
        const char *name = team->agents[i]->info.name;
        cadre_status status =
            cdr_script_check_left(team->script, name, tree->script_used[i], err);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

// Recorded calls that were not made; the first in the order of the file.
static cadre_status check_recorded(const cdr_tree *tree, cadre_error *err)
{
    char who[CDR_RECORDED_WHO_SIZE];
    const cdr_recorded *left = cdr_replay_first_left(tree->replay);
    return left == NULL
               ? CADRE_OK
               : cadre_fail(
                     err, CADRE_EDIVERGED,
                     "%s:%d:%d: %s is left over: the run did less than was recorded",
                     left->at.file, left->at.line, left->at.column,
                     cdr_recorded_who(left, who));
}

static cadre_status check_difference(const cadre_frame *frame, cadre_status status,
                                     cadre_error *err)
{
    const cdr_replay *replay = frame->tree->replay;
    if (replay == NULL || replay->difference.status == CADRE_OK ||
        frame->mark != CDR_MARK_NONE)
        return status;
    cadre_error_clear(err);
    *err = replay->difference;
    return err->status;
}

cadre_status cdr_script_check(const cadre_frame *frame, cadre_status status,
                              cadre_error *err)
{
    const cdr_tree *tree = frame->tree;
    if (frame->parent != NULL || tree->team->script == NULL)
        return status;
    status = check_difference(frame, status, err);
    bool is_good = status == CADRE_OK || status == CADRE_ESCALATED;
    if (!is_good || tree->is_session || !cadre_script_is_strict(tree->team->script))
        return status;
    cadre_status left = check_left(tree, err);
    if (left == CADRE_OK && tree->replay != NULL)
        left = check_recorded(tree, err);
    return left == CADRE_OK ? status : left;
}
