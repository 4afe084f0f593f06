// See tree.h.
#include "tree/tree.h"

#include "tree/abandon.h"
#include "tree/children.h"
#include "tree/frame_table.h"
#include "tree/outbox.h"

#include <stdlib.h>

cdr_tree *cdr_tree_new(cadre_team *team, cadre_error *err)
{
    cdr_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
        return NULL;
    }
    tree->runtime = team->runtime;
    tree->team = team;
    tree->trace = cadre_id_new();
    tree->spawn.within = "";
    cadre_id_text(tree->trace, tree->trace_text);
    tree->wall_offset_ns = cdr_clock_wall_ms(tree->runtime->clock) * 1000000 -
                           cdr_clock_now_ns(tree->runtime->clock);
    cdr_mutex_init(&tree->mu);
    cdr_cond_init(&tree->flushed);
    cdr_queue_init(&tree->queue);
    tree->n_buckets = 16;
    tree->buckets = calloc(tree->n_buckets, sizeof *tree->buckets);
    tree->script_used = calloc(team->n_agents + 1, sizeof *tree->script_used);
    tree->is_agent_stopped = calloc(team->n_agents + 1, sizeof *tree->is_agent_stopped);
    tree->script_results = calloc(team->n_tools + 1, sizeof *tree->script_results);
    bool is_replay = cdr_script_is_recording(team->script);
    if (is_replay)
        tree->replay = cdr_replay_new(team->script);
    if (tree->buckets == NULL || tree->script_used == NULL ||
        tree->is_agent_stopped == NULL || tree->script_results == NULL ||
        (is_replay && tree->replay == NULL)) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
        cdr_tree_free(tree);
        return NULL;
    }
    return tree;
}

static void free_hearings(cdr_tree *tree)
{
    while (tree->hearings_ended != NULL) {
        cdr_hearing *hearing = tree->hearings_ended;
        tree->hearings_ended = hearing->next;
        cdr_hearing_free(hearing);
    }
}

void cdr_tree_free(cdr_tree *tree)
{
    if (tree == NULL)
        return;
    cdr_straggler_await(tree);
    cdr_tree_free_frames(tree);
    free_hearings(tree);
    cdr_outbox_fini(&tree->outbox);
    cdr_outbox_fini(&tree->spare);
    cdr_queue_fini(&tree->queue);
    cdr_arena_fini(&tree->arena);
    cdr_inbox_fini(&tree->inbox);
    json_decref(tree->inputs);
    free(tree->buckets);
    free(tree->script_used);
    free(tree->is_agent_stopped);
    free(tree->script_results);
    cdr_replay_free(tree->replay);
    cdr_cond_fini(&tree->flushed);
    cdr_mutex_fini(&tree->mu);
    free(tree);
}

int64_t cdr_tree_now_ms(const cdr_tree *tree)
{
    return cdr_clock_now_ms(tree->runtime->clock);
}

cadre_frame *cdr_frame_child_locked(cadre_frame *parent, const char *key)
{
    return cdr_frame_find_locked(parent->tree, parent, key);
}

bool cdr_frame_is_hidden(const cadre_frame *frame, size_t position)
{
    const cadre_frame *hider = frame->hider;
    while (hider != NULL) {
        if (position >= hider->hidden_from && position < hider->hidden_to)
            return true;
        const cadre_frame *above = hider->parent;
        bool same = above != NULL && above->conversation == hider->conversation;
        hider = same ? above->hider : NULL;
    }
    return false;
}
