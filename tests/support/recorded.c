// See recorded.h.
#include "recorded.h"

#include "support/check.h"

#include "base/buf.h"
#include "team/runtime.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_FRAMES = 1024,
    MAX_CONVERSATIONS = 256,
    MAX_LINES = 4096
};

typedef struct known_frame {
    cadre_id id, conversation;
    char *path;
} known_frame;

typedef struct reading {
    cdr_buf text;
    cadre_conversation_row conversations[MAX_CONVERSATIONS];
    char *sessions[MAX_CONVERSATIONS];
    size_t n_conversations;
    known_frame frames[MAX_FRAMES]; // parents first
    size_t n_frames;
} reading;

static const char *path_of(const reading *r, cadre_id frame)
{
    for (size_t i = 0; i < r->n_frames; i++)
        if (cadre_id_equal(r->frames[i].id, frame))
            return r->frames[i].path;
    return "?"; // of another run of the session
}

static const char *name_of(const reading *r, cadre_id conversation)
{
    for (size_t i = 0; i < r->n_frames; i++)
        if (cadre_id_equal(r->frames[i].conversation, conversation))
            return r->frames[i].path;
    return "?";
}

static cadre_status take_conversation(void *ctx, const cadre_conversation_row *row,
                                      cadre_error *err)
{
    reading *r = ctx;
    (void)err;
    if (r->n_conversations == MAX_CONVERSATIONS)
        abort();
    r->sessions[r->n_conversations] = strdup(row->session);
    r->conversations[r->n_conversations++] = *row;
    return CADRE_OK;
}

static cadre_status take_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    reading *r = ctx;
    cdr_buf path = CDR_BUF_INIT;
    bool is_model = strcmp(row->kind, "model") == 0;
    (void)err;
    if (r->n_frames == MAX_FRAMES)
        abort();
    if (!cadre_id_is_none(row->parent))
        cdr_buf_printf(&path, "%s/", path_of(r, row->parent));
    cdr_buf_append_text(&path, row->key);
    known_frame *frame = &r->frames[r->n_frames++];
    *frame = (known_frame){row->id, row->conversation, cdr_buf_take(&path)};
    cdr_buf_printf(&r->text, "frame %s %s %s %s %s: %s%s%s%s%s%s\n", frame->path,
                   row->kind, row->name, cadre_frame_status_name(row->status),
                   cadre_stop_reason_name(row->stop_reason),
                   is_model ? "" : row->output, row->error,
                   row->mark[0] == '\0' ? "" : " marked ", row->mark,
                   row->delta[0] == '\0' ? "" : " delta ", row->delta);
    return CADRE_OK;
}

static cadre_status take_message(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    reading *r = ctx;
    const cadre_message *m = &row->message;
    (void)err;
    if (m->mark[0] != '\0')
        return CADRE_OK; // how far a stopped answer came is chance
    cdr_buf_printf(&r->text, "message %s %d %s %s>%s: %s %s %s",
                   name_of(r, row->conversation), (int)m->position,
                   cadre_role_name(m->role), m->agent, m->to, m->tool_name,
                   cadre_result_code_name(m->code), m->text);
    for (size_t i = 0; i < m->n_tool_calls; i++)
        cdr_buf_printf(&r->text, " %s(%s)", m->tool_calls[i].name,
                       m->tool_calls[i].arguments);
    cdr_buf_printf(&r->text, " by %s\n",
                   cadre_id_is_none(row->frame) ? "-" : path_of(r, row->frame));
    return CADRE_OK;
}

// Named once the frames are there.
static void write_conversations(reading *r)
{
    for (size_t i = 0; i < r->n_conversations; i++) {
        const cadre_conversation_row *row = &r->conversations[i];
        cdr_buf_printf(&r->text, "conversation %s", name_of(r, row->id));
        if (r->sessions[i][0] != '\0')
            cdr_buf_printf(&r->text, " of session \"%s\"", r->sessions[i]);
        if (!cadre_id_is_none(row->owner_frame))
            cdr_buf_printf(&r->text, " owned by %s of %s", path_of(r, row->owner_frame),
                           name_of(r, row->owner_conversation));
        cdr_buf_append_text(&r->text, "\n");
    }
}

// --- Making two runs alike ---

static bool is_letter_of_id(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

// How long the id is that stands here; 0: none does.
static size_t id_length(const char *at)
{
    enum {
        PREFIX = 12
    };
    for (size_t i = 0; i < PREFIX; i++)
        if (!is_letter_of_id(at[i]))
            return 0;
    size_t n = 0;
    while (at[PREFIX] == '-' && is_letter_of_id(at[PREFIX + 1 + n]))
        n++;
    return n == 0 ? 0 : PREFIX + 1 + n;
}

static char *without_ids(char *text)
{
    cdr_buf out = CDR_BUF_INIT;
    for (const char *at = text; *at != '\0';) {
        bool begins = at == text || !is_letter_of_id(at[-1]);
        size_t len = begins ? id_length(at) : 0;
        cdr_buf_append(&out, len > 0 ? "ID" : at, len > 0 ? 2 : 1);
        at += len > 0 ? len : 1;
    }
    free(text);
    return cdr_buf_take(&out);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(char *text)
{
    char **lines = calloc(MAX_LINES, sizeof *lines);
    size_t n = 0;
    char *rest = NULL;
    cdr_buf out = CDR_BUF_INIT;
    for (char *at = strtok_r(text, "\n", &rest); at != NULL && n < MAX_LINES;
         at = strtok_r(NULL, "\n", &rest))
        lines[n++] = at;
    qsort(lines, n, sizeof lines[0], compare_lines);
    for (size_t i = 0; i < n; i++)
        cdr_buf_printf(&out, "%s\n", lines[i]);
    free(lines);
    free(text);
    return cdr_buf_take(&out);
}

char *recorded_text(cadre_runtime *runtime, const char *trace)
{
    reading *r = calloc(1, sizeof *r);
    cadre_error err = CADRE_ERROR_INIT;
    cadre_query query = {.kind = CADRE_QUERY_TRACE};
    if (r == NULL)
        abort();
    const cadre_store_reader reader = {.conversation = take_conversation,
                                       .frame = take_frame,
                                       .message = take_message,
                                       .ctx = r};
    CHECK(cadre_id_parse(trace, &query.trace));
    CHECK_OK(runtime->store_ops->read(runtime->store, &query, &reader, &err), &err);
    write_conversations(r);
    char *text = cdr_buf_take(&r->text);
    for (size_t i = 0; i < r->n_frames; i++)
        free(r->frames[i].path);
    for (size_t i = 0; i < r->n_conversations; i++)
        free(r->sessions[i]);
    free(r);
    if (text == NULL)
        abort();
    return sorted(without_ids(text));
}

// --- Looking at it ---

char *recorded_unplaced(const char *text)
{
    cdr_buf out = CDR_BUF_INIT;
    char *copy = strdup(text);
    char *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *name = strncmp(line, "message ", 8) == 0 ? line + 8 : NULL;
        char *place = name == NULL ? NULL : strchr(name, ' ');
        if (place != NULL)
            *place++ = '\0';
        cdr_buf_printf(&out, "%s%s\n", line, place == NULL ? "" : strchr(place, ' '));
    }
    free(copy);
    return sorted(cdr_buf_take(&out));
}

char *recorded_lines(const char *text, const char *part, const char *other)
{
    cdr_buf out = CDR_BUF_INIT;
    char *copy = strdup(text);
    char *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        if ((part == NULL || strstr(line, part) != NULL) &&
            (other == NULL || strstr(line, other) != NULL))
            cdr_buf_printf(&out, "%s\n", line);
    free(copy);
    return cdr_buf_take(&out);
}

size_t recorded_count(const char *text, const char *part, const char *other)
{
    size_t n = 0;
    char *lines = recorded_lines(text, part, other);
    for (const char *at = lines; *at != '\0'; at++)
        n += *at == '\n';
    free(lines);
    return n;
}
