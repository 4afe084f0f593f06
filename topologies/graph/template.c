// See template.h.
#include "template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum part_kind {
    PART_TEXT,
    PART_INPUT,
    PART_USER_INPUT,
    PART_LAST_RESPONSE,
    PART_STATE,
    PART_RESPONSE
} part_kind;

// `bytes`: the text itself, or the name of a state key or a node.
typedef struct part {
    part_kind kind;
    char *bytes;
    size_t len;
} part;

struct cdr_graph_template {
    part *parts;
    size_t n_parts;
};

static const struct {
    const char *word; // one with a dot is followed by a name
    part_kind kind;
} words[] = {
    {"input", PART_INPUT},
    {"user_input", PART_USER_INPUT},
    {"state.", PART_STATE},
    {"last_response", PART_LAST_RESPONSE},
    {"node_responses.", PART_RESPONSE},
};

static bool add_part(cdr_graph_template *made, part_kind kind, const char *bytes,
                     size_t len)
{
    part *grown = realloc(made->parts, (made->n_parts + 1) * sizeof *grown);
    char *copy = malloc(len + 1);
    if (grown != NULL)
        made->parts = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    grown[made->n_parts++] = (part){kind, copy, len};
    return true;
}

// Which word stands there, and what follows its dot? False: none.
static bool find_word(const char *name, size_t len, part *found)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *word = words[i].word;
        size_t word_len = strlen(word);
        bool has_name = word[word_len - 1] == '.';
        if (len < word_len || strncmp(name, word, word_len) != 0 ||
            has_name == (len == word_len))
            continue;
        *found = (part){words[i].kind, NULL, len - word_len};
        return true;
    }
    return false;
}

static void complain(const cdr_graph_template_reader *reader, const char *name,
                     size_t len, const char *why)
{
    char text[300];
    (void)snprintf(text, sizeof text,
                   "unknown {{%.*s}}; %s, and {{{{ gives plain braces",
                   (int)(len > 80 ? 80 : len), name, why);
    reader->complain(reader->ctx, text);
}

// Reads what stands between two braces. False: told, or no memory.
static bool read_place(cdr_graph_template *made, const char *name, size_t len,
                       const cdr_graph_template_reader *reader)
{
    part found = {PART_TEXT, NULL, 0};
    if (!find_word(name, len, &found)) {
        complain(reader, name, len,
                 "known are {{input}}, {{user_input}}, {{last_response}}, "
                 "{{state.KEY}} and {{node_responses.NODE}}");
        return false;
    }
    const char *rest = name + len - found.len;
    if (found.kind == PART_RESPONSE &&
        !reader->is_node(reader->nodes, rest, found.len)) {
        complain(reader, name, len, "there is no such node");
        return false;
    }
    return add_part(made, found.kind, rest, found.len);
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

// Reads one place, or braces that are text, at `*at`. False: told, or no memory.
static bool read_braces(cdr_graph_template *made, const char **at,
                        const cdr_graph_template_reader *reader)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "_0123456789-.";
    const char *name = skip_blanks(*at + 2);
    size_t len = strspn(name, letters);
    const char *end = skip_blanks(name + len);
    if (strncmp(*at, "{{{{", 4) == 0) {
        *at += 4;
        return add_part(made, PART_TEXT, "{{", 2);
    }
    if (len == 0 || strncmp(end, "}}", 2) != 0) {
        *at += 2;
        return add_part(made, PART_TEXT, "{{", 2);
    }
    *at = end + 2;
    return read_place(made, name, len, reader);
}

cdr_graph_template *cdr_graph_template_new(const char *text,
                                           const cdr_graph_template_reader *reader)
{
    cdr_graph_template *made = calloc(1, sizeof *made);
    bool ok = made != NULL;
    while (ok && *text != '\0') {
        const char *braces = strstr(text, "{{");
        size_t len = braces == NULL ? strlen(text) : (size_t)(braces - text);
        if (len > 0)
            ok = add_part(made, PART_TEXT, text, len);
        text += len;
        if (ok && braces != NULL)
            ok = read_braces(made, &text, reader);
    }
    if (ok)
        return made;
    cdr_graph_template_free(made);
    return NULL;
}

void cdr_graph_template_free(cdr_graph_template *written)
{
    if (written == NULL)
        return;
    for (size_t i = 0; i < written->n_parts; i++)
        free(written->parts[i].bytes);
    free(written->parts);
    free(written);
}

// The value of a place that is JSON already; NULL: it is a text, or not there.
static const json_t *json_of(const part *p, const cdr_graph_values *values)
{
    if (p->kind == PART_INPUT)
        return values->input;
    if (p->kind == PART_STATE)
        return json_object_get(values->state, p->bytes);
    return p->kind == PART_RESPONSE ? json_object_get(values->responses, p->bytes)
                                    : NULL;
}

static const char *text_of(const part *p, const cdr_graph_values *values)
{
    const char *text = p->bytes;
    if (p->kind == PART_USER_INPUT)
        text = values->user_input;
    else if (p->kind == PART_LAST_RESPONSE)
        text = values->last_response;
    else if (p->kind != PART_TEXT)
        text = "";
    return text == NULL ? "" : text;
}

void cdr_graph_template_fill(const cdr_graph_template *written,
                             const cdr_graph_values *values, cdr_graph_text *out)
{
    for (size_t i = 0; i < written->n_parts; i++) {
        const part *p = &written->parts[i];
        const json_t *value = json_of(p, values);
        if (value != NULL)
            cdr_graph_text_add_json(out, value);
        else
            cdr_graph_text_add(out, text_of(p, values));
    }
}

json_t *cdr_graph_template_value(const cdr_graph_template *written,
                                 const cdr_graph_values *values)
{
    const json_t *value =
        written->n_parts == 1 ? json_of(&written->parts[0], values) : NULL;
    if (value != NULL)
        return json_deep_copy(value);
    cdr_graph_text text = {NULL, 0, 0, false};
    cdr_graph_template_fill(written, values, &text);
    json_t *made = text.failed ? NULL : json_string(cdr_graph_text_bytes(&text));
    cdr_graph_text_fini(&text);
    return made;
}
