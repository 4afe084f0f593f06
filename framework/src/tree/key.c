// See key.h.
#include "tree/key.h"

#include "tree/frame_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A callee of this frame and how often it was called, for automatic keys.
struct cdr_call_count {
    const char *name;
    unsigned long n;
};

// Open addressing, at most half full: the names of steps may all be different.
static struct cdr_call_count *count_slot(struct cdr_call_count *counts, size_t capacity,
                                         const char *name)
{
    size_t at = cdr_frame_hash(NULL, name) & (capacity - 1);
    while (counts[at].name != NULL && strcmp(counts[at].name, name) != 0)
        at = (at + 1) & (capacity - 1);
    return &counts[at];
}

static bool grow_counts(cdr_work *work)
{
    size_t capacity = work->counts_capacity == 0 ? 4 : work->counts_capacity * 2;
    struct cdr_call_count *grown = calloc(capacity, sizeof *grown);
    if (grown == NULL)
        return false;
    for (size_t i = 0; i < work->counts_capacity; i++)
        if (work->counts[i].name != NULL)
            *count_slot(grown, capacity, work->counts[i].name) = work->counts[i];
    free(work->counts);
    work->counts = grown;
    work->counts_capacity = capacity;
    return true;
}

static unsigned long *count_of(cdr_work *work, const char *name)
{
    if (2 * (work->n_counts + 1) > work->counts_capacity && !grow_counts(work))
        return NULL;
    struct cdr_call_count *count =
        count_slot(work->counts, work->counts_capacity, name);
    if (count->name == NULL) {
        count->name = cdr_arena_text(&work->arena, name); // a step's may go away
        if (count->name == NULL)
            return NULL;
        work->n_counts++;
    }
    return &count->n;
}

bool cdr_key_make(cadre_frame *parent, const char *name, char key[CDR_KEY_SIZE])
{
    cdr_hook_keys *hook = parent->work->hook_keys;
    if (hook != NULL) {
        (void)snprintf(key, CDR_KEY_SIZE, "%s/%lu", hook->prefix, ++hook->n);
        return true;
    }
    unsigned long *n = count_of(parent->work, name);
    if (n == NULL)
        return false;
    char digits[24];
    size_t n_digits = 0;
    for (unsigned long left = ++*n; left > 0; left /= 10)
        digits[n_digits++] = (char)('0' + left % 10);
    size_t len = strnlen(name, CDR_KEY_SIZE - sizeof digits - 2);
    memcpy(key, name, len);
    key[len++] = '#';
    while (n_digits > 0)
        key[len++] = digits[--n_digits];
    key[len] = '\0';
    return true;
}

bool cdr_key_is_of_call(const char *key, size_t *index)
{
    static const char digits[] = "0123456789";
    size_t turn = strspn(key, digits);
    if (turn == 0 || key[turn] != '/')
        return false;
    const char *nth = key + turn + 1;
    size_t len = strspn(nth, digits);
    if (len == 0 || nth[len] != '\0')
        return false;
    *index = (size_t)strtoull(nth, NULL, 10);
    return true;
}
