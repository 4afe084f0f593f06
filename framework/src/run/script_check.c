// See script_check.h.
#include "run/script_check.h"

#include "team/script.h"

cadre_status cdr_script_check(const cadre_frame *frame, cadre_error *err)
{
    const cdr_tree *tree = frame->tree;
    const cadre_team *team = tree->team;
    if (frame->parent != NULL || tree->is_session || team->script == NULL ||
        !cadre_script_is_strict(team->script))
        return CADRE_OK;
    for (size_t i = 0; i < team->n_agents; i++) {
        const char *name = team->agents[i]->info.name;
        cadre_status status =
            cdr_script_check_left(team->script, name, tree->script_used[i], err);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}
