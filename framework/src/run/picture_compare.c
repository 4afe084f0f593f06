// See picture.h: what two runs of the same request left, compared.
#include "run/picture.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    const cdr_picture *first, *again;
    const cdr_on_difference *on;
    cdr_arena texts; // of what is told
    bool failed;
} comparison;

// What a difference is told of: a frame of one of the pictures.
typedef struct subject {
    const cdr_picture *picture;
    int frame;
} subject;

static const char *checked(comparison *c, const char *text)
{
    if (text == NULL)
        c->failed = true;
    return text == NULL ? "" : text;
}

static void tell(comparison *c, subject of, const char *field, const char *first,
                 const char *again)
{
    const cadre_difference difference = {
        .path = cdr_picture_path(of.picture, of.frame, &c->texts),
        .key = of.picture->frames[of.frame].key,
        .field = field,
        .first = first,
        .again = again};
    c->on->tell(c->on->ctx, &difference);
}

// How long the id is that a text begins with; 0: it begins with none.
static size_t id_length(const char *text)
{
    char word[CADRE_ID_TEXT_SIZE];
    cadre_id id;
    size_t len = strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz-");
    if (len >= sizeof word)
        return 0;
    memcpy(word, text, len);
    word[len] = '\0';
    return cadre_id_parse(word, &id) ? len : 0;
}

// Are they the same, but for the ids of what each life made?
static bool is_same_text(const char *a, const char *b)
{
    bool is_start = true;
    while (*a != '\0' && *b != '\0') {
        size_t id_a = is_start ? id_length(a) : 0;
        size_t id_b = id_a > 0 ? id_length(b) : 0;
        if (id_b == 0 && *a != *b)
            return false;
        is_start = id_b > 0 || !isalnum((unsigned char)*a);
        a += id_b > 0 ? id_a : 1;
        b += id_b > 0 ? id_b : 1;
    }
    return *a == *b;
}

static void compare_text(comparison *c, subject of, const char *field,
                         const char *first, const char *again)
{
    if (!is_same_text(first, again))
        tell(c, of, field, first, again);
}

// --- Conversations, by who opened them ---

static const char *path_of(comparison *c, const cdr_picture *p, cadre_id frame)
{
    int at = cdr_picture_find(p, frame);
    return at < 0 ? "" : cdr_picture_path(p, at, &c->texts);
}

// The place of a frame of the other picture; none: there is no such frame.
static cadre_id place_at(const cdr_picture *p, int frame)
{
    return frame < 0 ? (cadre_id){0, 0} : p->places[frame];
}

static const char *opener_path(comparison *c, const cdr_picture *p, const char *id)
{
    const cdr_talk *talk = cdr_picture_talk(p, id);
    return talk == NULL || talk->opener < 0
               ? ""
               : cdr_picture_path(p, talk->opener, &c->texts);
}

static cadre_id opener_place(const cdr_picture *p, const char *id)
{
    const cdr_talk *talk = cdr_picture_talk(p, id);
    return place_at(p, talk == NULL ? -1 : talk->opener);
}

// --- Frames ---

// What a model's frame was given and gave are the steps of a script and an id.
static bool has_texts(const cadre_frame_info *frame)
{
    return strcmp(frame->kind, "model") != 0;
}

static void compare_frame(comparison *c, int nth, int nth_again)
{
    const cadre_frame_info *a = &c->first->frames[nth];
    const cadre_frame_info *b = &c->again->frames[nth_again];
    const subject of = {c->first, nth};
    compare_text(c, of, "kind", a->kind, b->kind);
    compare_text(c, of, "name", a->name, b->name);
    compare_text(c, of, "referer", a->referer, b->referer);
    if (has_texts(a))
        compare_text(c, of, "input", a->input, b->input);
    compare_text(c, of, "status", cadre_frame_status_name(a->status),
                 cadre_frame_status_name(b->status));
    compare_text(c, of, "stop_reason", cadre_stop_reason_name(a->stop_reason),
                 cadre_stop_reason_name(b->stop_reason));
    if (has_texts(a))
        compare_text(c, of, "output", a->output, b->output);
    compare_text(c, of, "delta", a->delta, b->delta);
    compare_text(c, of, "error", a->error.message, b->error.message);
    if (!cadre_id_equal(opener_place(c->first, a->conversation_id),
                        opener_place(c->again, b->conversation_id)))
        tell(c, of, "conversation", opener_path(c, c->first, a->conversation_id),
             opener_path(c, c->again, b->conversation_id));
}

static void compare_frames(comparison *c)
{
    for (size_t i = 0; i < c->first->n_frames; i++) {
        if (cdr_picture_has_lost(c->first, i, c->again))
            continue;
        int again = cdr_picture_find_place(c->again, c->first->places[i]);
        if (again >= 0)
            compare_frame(c, (int)i, again);
        else
            tell(c, (subject){c->first, (int)i}, "frame", c->first->frames[i].kind,
                 NULL);
    }
    for (size_t i = 0; i < c->again->n_frames; i++)
        if (cdr_picture_find_place(c->first, c->again->places[i]) < 0 &&
            !cdr_picture_has_lost(c->again, i, c->first))
            tell(c, (subject){c->again, (int)i}, "frame", NULL,
                 c->again->frames[i].kind);
}

// --- Messages ---

// "look({}), look({})"
static const char *calls_text(comparison *c, const cadre_message *m)
{
    cdr_buf text = CDR_BUF_INIT;
    for (size_t i = 0; i < m->n_tool_calls; i++)
        cdr_buf_printf(&text, "%s%s(%s)", i == 0 ? "" : ", ", m->tool_calls[i].name,
                       m->tool_calls[i].arguments);
    const char *kept =
        text.failed ? NULL : cdr_arena_text(&c->texts, cdr_buf_text(&text));
    cdr_buf_fini(&text);
    return checked(c, kept);
}

static int compare_results(const void *a, const void *b)
{
    const cadre_message *x = *(const cadre_message *const *)a;
    const cadre_message *y = *(const cadre_message *const *)b;
    int order = strcmp(x->call_id, y->call_id);
    if (order == 0)
        order = strcmp(x->tool_name, y->tool_name);
    return order == 0 ? strcmp(x->text, y->text) : order;
}

// The messages of a conversation, without parts of answers: how far one came that was
// stopped is chance. Results that stand side by side stand in the order in which the
// tools were ready, which means nothing: they are sorted.
static const cadre_message **list_messages(comparison *c, const cdr_talk *talk,
                                           size_t *count)
{
    size_t n = 0;
    const cadre_message **list = cdr_arena_alloc(
        &c->texts, (talk->n_messages + 1) * sizeof(const cadre_message *));
    if (list == NULL) {
        c->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < talk->n_messages; i++)
        if (talk->messages[i].message->mark[0] == '\0')
            list[n++] = talk->messages[i].message;
    *count = n;
    for (size_t from = 0; from < n; from++) {
        size_t to = from;
        while (to < n && list[to]->role == CADRE_ROLE_TOOL)
            to++;
        if (to > from + 1)
            qsort(&list[from], to - from, sizeof *list, compare_results);
        from = to;
    }
    return list;
}

static cadre_id frame_place(const cdr_picture *p, const cadre_message *m)
{
    cadre_id frame;
    return place_at(p, cadre_id_parse(m->frame_id, &frame) ? cdr_picture_find(p, frame)
                                                           : -1);
}

static const char *frame_path(comparison *c, const cdr_picture *p,
                              const cadre_message *m)
{
    cadre_id frame;
    return cadre_id_parse(m->frame_id, &frame) ? path_of(c, p, frame) : "";
}

typedef struct message_field {
    const char *name, *first, *again;
} message_field;

// False: they differ, which was told.
static bool compare_message(comparison *c, subject of, size_t nth,
                            const cadre_message *a, const cadre_message *b)
{
    bool is_same = true;
    bool is_same_frame =
        cadre_id_equal(frame_place(c->first, a), frame_place(c->again, b));
    const message_field fields[] = {
        {"frame", is_same_frame ? "" : frame_path(c, c->first, a),
         is_same_frame ? "" : frame_path(c, c->again, b)},
        {"role", cadre_role_name(a->role), cadre_role_name(b->role)},
        {"agent", a->agent, b->agent},
        {"to", a->to, b->to},
        {"text", a->text, b->text},
        {"reasoning", a->reasoning, b->reasoning},
        {"calls", calls_text(c, a), calls_text(c, b)},
        {"tool", a->tool_name, b->tool_name},
        {"code", cadre_result_code_name(a->code), cadre_result_code_name(b->code)}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (is_same_text(fields[i].first, fields[i].again))
            continue;
        const char *name = checked(
            c, cdr_arena_printf(&c->texts, "message %zu %s", nth, fields[i].name));
        tell(c, of, name, fields[i].first, fields[i].again);
        is_same = false;
    }
    return is_same;
}

static void compare_messages(comparison *c, const cdr_talk *a, const cdr_talk *b)
{
    const subject of = {c->first, a->opener};
    size_t n_first = 0;
    size_t n_again = 0;
    const cadre_message **first = list_messages(c, a, &n_first);
    const cadre_message **again = list_messages(c, b, &n_again);
    if (first == NULL || again == NULL)
        return;
    size_t n = n_first < n_again ? n_first : n_again;
    for (size_t i = 0; i < n; i++)
        if (!compare_message(c, of, i, first[i], again[i]))
            return; // what comes after is shifted
    if (n_first == n_again)
        return;
    const char *name = checked(c, cdr_arena_printf(&c->texts, "message %zu", n));
    tell(c, of, name, n_first > n ? first[n]->text : NULL,
         n_again > n ? again[n]->text : NULL);
}

// How much of its caller's conversation it may read. What a tool calls, and what works
// below that, may or may not find the results of the other tools of that turn there,
// and is shown none of them.
static bool is_same_look(const comparison *c, const cdr_talk *a, const cdr_talk *b)
{
    const cadre_frame_info *frames = c->first->frames;
    bool is_of_tool = false;
    for (int at = cdr_picture_find(c->first, a->owner); at >= 0; at = frames[at].parent)
        is_of_tool |= strcmp(frames[at].kind, "tool") == 0;
    return is_of_tool || a->base_position == b->base_position;
}

static void compare_origin(comparison *c, const cdr_talk *a, const cdr_talk *b)
{
    const subject of = {c->first, a->opener};
    char first_id[CADRE_ID_TEXT_SIZE];
    char again_id[CADRE_ID_TEXT_SIZE];
    if (!cadre_id_equal(place_at(c->first, cdr_picture_find(c->first, a->owner)),
                        place_at(c->again, cdr_picture_find(c->again, b->owner))))
        tell(c, of, "conversation's owner", path_of(c, c->first, a->owner),
             path_of(c, c->again, b->owner));
    cadre_id_text(a->base, first_id);
    cadre_id_text(b->base, again_id);
    if (!cadre_id_equal(opener_place(c->first, first_id),
                        opener_place(c->again, again_id)))
        tell(c, of, "conversation's base", opener_path(c, c->first, first_id),
             opener_path(c, c->again, again_id));
    if (!is_same_look(c, a, b))
        tell(c, of, "conversation's base position",
             checked(c,
                     cdr_arena_printf(&c->texts, "%lld", (long long)a->base_position)),
             checked(c,
                     cdr_arena_printf(&c->texts, "%lld", (long long)b->base_position)));
}

// A conversation that is not there was told with its frame.
static void compare_talks(comparison *c)
{
    for (size_t i = 0; i < c->first->n_talks; i++) {
        const cdr_talk *a = &c->first->talks[i];
        if (a->opener < 0 ||
            cdr_picture_has_lost(c->first, (size_t)a->opener, c->again))
            continue;
        int opener = cdr_picture_find_place(c->again, c->first->places[a->opener]);
        const cdr_talk *b =
            opener < 0
                ? NULL
                : cdr_picture_talk(c->again, c->again->frames[opener].conversation_id);
        if (b == NULL || b->opener != opener)
            continue;
        compare_origin(c, a, b);
        compare_messages(c, a, b);
    }
}

bool cdr_picture_compare(const cdr_picture *first, const cdr_picture *again,
                         const cdr_on_difference *on)
{
    comparison c = {.first = first, .again = again, .on = on};
    compare_frames(&c);
    compare_talks(&c);
    cdr_arena_fini(&c.texts);
    return !c.failed;
}
