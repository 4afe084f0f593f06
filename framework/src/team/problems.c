// The mistakes of a team, in file order.
#include "team/problems.h"

#include "base/brief.h"
#include "base/buf.h"
#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SUGGESTIONS 16
#define MAX_LISTED 16

static size_t find_group(const cdr_problems *problems, const char *file)
{
    // Nearly always the file of the one before.
    for (size_t i = problems->count; i > 0; i--) {
        if (problems->items[i - 1].file == file)
            return problems->items[i - 1].group;
    }
    return problems->count;
}

// Writes where it is: "team.yaml:12:7: agents.triage: ".
static void append_place(cdr_buf *text, const cdr_at *at)
{
    if (at->file)
        cdr_buf_append_text(text, at->file);
    if (at->file && at->line > 0)
        cdr_buf_printf(text, ":%d:%d", at->line, at->column);
    if (at->file)
        cdr_buf_append_text(text, ": ");
    if (at->path && *at->path)
        cdr_buf_printf(text, "%s: ", at->path);
}

// Names come from files and C callers, who may hold control characters.
static void make_harmless(char *text)
{
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    }
}

void cdr_problems_vadd(cdr_problems *problems, const cdr_at *at, const char *format,
                       va_list args)
{
    static const cdr_at nowhere = {0};
    at = at ? at : &nowhere;
    cdr_buf text = CDR_BUF_INIT;
    append_place(&text, at);
    cdr_buf_vprintf(&text, format, args);
    char *kept =
        text.failed ? NULL : cdr_arena_copy(problems->arena, text.data, text.len);
    cdr_buf_fini(&text);
    cdr_problem *items = cdr_arena_grow(problems->arena, problems->items,
                                        problems->count, sizeof(*items));
    if (!kept || !items) {
        problems->no_memory = true;
        return;
    }
    make_harmless(kept);
    problems->items = items;
    items[problems->count] = (cdr_problem){
        .text = kept,
        .file = at->file,
        .line = at->line,
        .column = at->column,
        .order = problems->count,
        .group = find_group(problems, at->file),
    };
    problems->count++;
}

void cdr_problems_add(cdr_problems *problems, const cdr_at *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cdr_problems_vadd(problems, at, format, args);
    va_end(args);
}

static void append_names(cdr_buf *text, const char *what, cadre_names known)
{
    if (known.count == 0)
        return;
    cdr_buf_printf(text, " (%ss: ", what);
    for (size_t i = 0; i < known.count && i < MAX_LISTED; i++)
        cdr_buf_printf(text, "%s%s", i > 0 ? ", " : "", known.items[i]);
    if (known.count > MAX_LISTED)
        cdr_buf_append_text(text, ", ...");
    cdr_buf_append_text(text, ")");
}

void cdr_problems_add_unknown(cdr_problems *problems, const cdr_at *at,
                              const char *what, const char *name, cadre_names known)
{
    char brief[CDR_BRIEF_SIZE];
    const char *nearest = NULL;
    if (problems->n_suggestions < MAX_SUGGESTIONS) {
        problems->n_suggestions++;
        nearest = cdr_nearest(name, known.items, known.count);
    }
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_printf(&text, "unknown %s %s", what, cdr_brief_text(brief, name, '\''));
    if (nearest)
        cdr_buf_printf(&text, "; did you mean '%s'?", nearest);
    append_names(&text, what, known);
    cdr_problems_add(problems, at, "%s", cdr_buf_text(&text));
    problems->no_memory |= text.failed;
    cdr_buf_fini(&text);
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *left, const void *right)
{
    const cdr_problem *a = left;
    const cdr_problem *b = right;
    if (a->group != b->group)
        return compare_sizes(a->group, b->group);
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return compare_sizes(a->order, b->order);
}

void cdr_problems_sort(cdr_problems *problems)
{
    if (problems->count == 0)
        return;
    qsort(problems->items, problems->count, sizeof(*problems->items), compare);
    size_t n_kept = 1;
    for (size_t i = 1; i < problems->count; i++) {
        if (strcmp(problems->items[i].text, problems->items[n_kept - 1].text) != 0)
            problems->items[n_kept++] = problems->items[i];
    }
    problems->count = n_kept;
}

cadre_status cdr_problems_status(const cdr_problems *problems, cadre_error *err)
{
    if (problems->no_memory)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to read the team");
    if (problems->count == 0)
        return CADRE_OK;
    return cadre_fail(err, CADRE_ECONFIG, "%s", problems->items[0].text);
}
