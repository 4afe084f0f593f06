// Reasoning inside a text.
//
// Invariant: `held` is the beginning of a tag that is looked for, and not all of it.
#include "net/think.h"

#include <string.h>

static const struct {
    const char *start, *end;
} tags[] = {
    {"<think>", "</think>"},
    {"<thinking>", "</thinking>"},
};

#define N_TAGS (sizeof(tags) / sizeof(tags[0]))

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool begins(const cdr_think *think, const char *tag)
{
    return strncmp(tag, think->held, think->n_held) == 0;
}

static bool is_all(const cdr_think *think, const char *tag)
{
    return begins(think, tag) && tag[think->n_held] == '\0';
}

// What was held back is no tag.
static void give_held(cdr_think *think, cdr_think_piece *out)
{
    out->data = think->held;
    out->len = think->n_held;
    think->n_held = 0;
}

// Takes one byte of what may be the start tag.
static void take_tag(cdr_think *think, char byte, cdr_think_piece *out)
{
    bool may_begin = false;
    think->held[think->n_held++] = byte;
    for (size_t i = 0; i < N_TAGS; i++) {
        if (is_all(think, tags[i].start)) {
            think->state = CDR_THINK_INSIDE;
            think->end = tags[i].end;
            think->n_held = 0;
            return;
        }
        may_begin = may_begin || begins(think, tags[i].start);
    }
    if (may_begin)
        return;
    think->state = CDR_THINK_OFF;
    give_held(think, out);
}

static size_t take_start(cdr_think *think, const char *data, size_t len,
                         cdr_think_piece *out)
{
    size_t n_blanks = 0;
    while (think->n_held == 0 && n_blanks < len && is_blank(data[n_blanks]))
        n_blanks++;
    bool is_tag = think->n_held > 0 || (n_blanks < len && data[n_blanks] == '<');
    if (is_tag && n_blanks == 0) {
        take_tag(think, *data, out);
        return 1;
    }
    if (!is_tag && n_blanks < len)
        think->state = CDR_THINK_OFF;
    out->len = is_tag ? n_blanks : len;
    return out->len;
}

// Takes one byte of what may be the end tag. A byte that is no part of it is looked at
// again.
static size_t take_end(cdr_think *think, char byte, cdr_think_piece *out)
{
    size_t n = think->n_held;
    if (think->end[n] != byte) {
        give_held(think, out);
        return 0;
    }
    think->held[think->n_held++] = byte;
    if (think->end[n + 1] == '\0') {
        think->state = CDR_THINK_AFTER;
        think->n_held = 0;
    }
    return 1;
}

static size_t take_inside(cdr_think *think, const char *data, size_t len,
                          cdr_think_piece *out)
{
    out->is_reasoning = true;
    if (think->n_held > 0 || *data == '<')
        return take_end(think, *data, out);
    const char *next = memchr(data, '<', len);
    out->data = data;
    out->len = next ? (size_t)(next - data) : len;
    return out->len;
}

size_t cdr_think_next(cdr_think *think, const char *data, size_t len,
                      cdr_think_piece *out)
{
    *out = (cdr_think_piece){.data = data};
    switch (think->state) {
    case CDR_THINK_START:
        return take_start(think, data, len, out);
    case CDR_THINK_INSIDE:
        return take_inside(think, data, len, out);
    case CDR_THINK_AFTER:
        if (is_blank(*data))
            return 1;
        think->state = CDR_THINK_OFF;
        break;
    case CDR_THINK_OFF:
        break;
    }
    out->len = len;
    return len;
}

cdr_think_piece cdr_think_end(cdr_think *think)
{
    cdr_think_piece rest = {.is_reasoning = think->state == CDR_THINK_INSIDE};
    give_held(think, &rest);
    return rest;
}
