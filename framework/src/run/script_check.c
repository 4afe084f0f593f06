// See script_check.h.
#include "run/script_check.h"

#include "run/recorded.h"
#include "team/member_map.h"
#include "team/script.h"

// Agents that the run stopped, which may have had more to say; NULL items: no memory.
static cadre_agents stopped_agents(cdr_tree *tree)
{
    const cadre_team *team = tree->team;
    size_t n = 0;
    const cadre_agent **found =
        cdr_arena_alloc(&tree->arena, (team->n_agents + 1) * sizeof(*found));
    for (size_t i = 0; found != NULL && i < team->n_agents; i++)
        if (tree->is_agent_stopped[i])
            found[n++] = team->agents[i];
    return (cadre_agents){found, n};
}

// Steps in order that nobody took, though the run did not stop whose they are.
static cadre_status check_left(cdr_tree *tree, cadre_error *err)
{
    const cadre_team *team = tree->team;
    cdr_member_map map = {0};
    cadre_agents stopped = stopped_agents(tree);
    if (stopped.items == NULL || !cdr_member_map_init(&map, team, &tree->arena))
        return cadre_fail(err, CADRE_ENOMEM, "no memory to check a script");
    for (size_t i = 0; i < team->n_agents; i++) {
        const char *name = team->agents[i]->info.name;
        if (cdr_member_map_find(&map, stopped, name) != NULL)
            continue;
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
    cdr_tree *tree = frame->tree;
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
