// See kept_views.h.
#include "support/kept_views.h"

#include "support/check.h"

#include "base/mutex.h"
#include "run/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_HISTORIES = 4,
    MAX_TRIES = 3
};

typedef struct kept {
    struct kept *next;
    char id[64];
    cdr_view views[N_HISTORIES];
} kept;

static struct {
    cdr_mutex mu;
    kept *first;   // guarded by mu, as is all below
    size_t n_same; // of those that had been kept
    char difference[1024];
} all = {.mu = {PTHREAD_MUTEX_INITIALIZER}};

static kept *find(const char *id)
{
    cdr_mutex_lock(&all.mu);
    kept *at = all.first;
    while (at != NULL && strcmp(at->id, id) != 0)
        at = at->next;
    if (at == NULL) {
        at = calloc(1, sizeof *at);
        if (at == NULL)
            abort();
        snprintf(at->id, sizeof at->id, "%s", id);
        at->next = all.first;
        all.first = at;
    }
    cdr_mutex_unlock(&all.mu);
    return at;
}

static bool is_same_message(const cadre_message *a, const cadre_message *b)
{
    // What stands for a result that is not there is made for each view.
    return a == b || (a->id[0] == '\0' && b->id[0] == '\0' && a->code == b->code &&
                      strcmp(a->call_id, b->call_id) == 0);
}

static bool is_same(const cdr_view *a, const cdr_view *b, size_t *at)
{
    size_t n = a->n_items < b->n_items ? a->n_items : b->n_items;
    for (*at = 0; *at < n; ++*at) {
        const cadre_request_item *x = &a->items[*at];
        const cadre_request_item *y = &b->items[*at];
        if (!is_same_message(x->message, y->message) || x->rendering != y->rendering ||
            strcmp(x->text, y->text) != 0)
            return false;
    }
    return a->n_items == b->n_items && strcmp(a->last_input, b->last_input) == 0;
}

static void note(const kept *of, int history, const cdr_view *fresh, bool had_some)
{
    size_t at = 0;
    const cdr_view *view = &of->views[history];
    bool same = is_same(view, fresh, &at);
    cdr_mutex_lock(&all.mu);
    if (same)
        all.n_same += had_some;
    else if (all.difference[0] == '\0')
        snprintf(all.difference, sizeof all.difference,
                 "frame %s, history %d, item %zu: %.300s, not %.300s (%zu and %zu)",
                 of->id, history + CADRE_HISTORY_ALL, at,
                 at < view->n_items ? view->items[at].text : "(none)",
                 at < fresh->n_items ? fresh->items[at].text : "(none)", view->n_items,
                 fresh->n_items);
    cdr_mutex_unlock(&all.mu);
}

// How many messages there are, and whether the view's are the first of them.
static size_t count(const cadre_frame *frame, const cdr_view *view, bool *is_of_it)
{
    cdr_mutex_lock(&frame->tree->mu);
    size_t n = cdr_conversation_count(frame->conversation);
    cdr_message **list = calloc(n + 1, sizeof *list);
    if (list == NULL)
        abort();
    cdr_conversation_list(frame->conversation, 0, list);
    cdr_mutex_unlock(&frame->tree->mu);
    *is_of_it = view->n_held == 0 || (n > 0 && view->held[0] == list[0]);
    free(list);
    return n;
}

// Others may say something meanwhile; then nothing can be said, and it is tried again.
static bool check(cadre_frame *frame, kept *of, int history)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_view fresh = {.n_items = 0};
    cdr_view *view = &of->views[history];
    cadre_history asked = (cadre_history)(history + CADRE_HISTORY_ALL);
    bool is_of_it = false;
    count(frame, view, &is_of_it);
    if (!is_of_it) // of a life before
        cdr_view_fini(view);
    bool had_some = view->n_held > 0;
    if (cdr_view_update(view, frame, asked, &err) != CADRE_OK ||
        cdr_view_update(&fresh, frame, asked, &err) != CADRE_OK)
        abort();
    bool is_steady = view->n_held == count(frame, view, &is_of_it);
    if (is_steady)
        note(of, history, &fresh, had_some);
    cdr_view_fini(&fresh);
    return is_steady;
}

void kept_views_check(cadre_frame *frame)
{
    kept *of = find(cadre_frame_id(frame));
    for (int i = 0; i < N_HISTORIES; i++) {
        int tries = 0;
        while (tries < MAX_TRIES && !check(frame, of, i))
            tries++;
    }
}

void kept_views_close(void)
{
    kept *next = NULL;
    for (kept *at = all.first; at != NULL; at = next) {
        next = at->next;
        for (int i = 0; i < N_HISTORIES; i++)
            cdr_view_fini(&at->views[i]);
        free(at);
    }
    all.first = NULL;
    CHECK_TEXT(all.difference, "");
    all.difference[0] = '\0';
}

size_t kept_views_count(void)
{
    return all.n_same;
}
