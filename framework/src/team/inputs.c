// The typed parameters of a team, and the {{inputs.x}} and {{state.x}} in its texts.
#include "team/sealing.h"

#include "base/brief.h"
#include "base/buf.h"
#include "base/json_iterable.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "base/schema.h"
#include "team/build.h"

#include <stdlib.h>
#include <string.h>

#define INPUTS "inputs."
#define STATE "state."
#define MAX_LISTED 16
#define MAX_INPUTS 256 // they are looked up one by one

typedef struct input_report {
    cadre_team *team;
    const cdr_at *at;
} input_report;

static void on_problem(void *ctx, const cdr_schema_problem *problem)
{
    input_report *report = ctx;
    const char *dot = *problem->path && *problem->path != '[' ? "." : "";
    cdr_at place = cdr_at_part(report->team, report->at, "%s%s", dot, problem->path);
    cdr_team_problem(report->team, &place, "%s", problem->text);
}

void cdr_team_add_input(cadre_team *team, const char *name, const json_t *schema,
                        const cdr_at *at)
{
    input_report report = {team, at};
    if (team->n_inputs == MAX_INPUTS) {
        cdr_team_problem(team, at, "a team has at most %d inputs", MAX_INPUTS);
        return;
    }
    cdr_input *inputs =
        cdr_arena_grow(&team->arena, team->inputs, team->n_inputs, sizeof(*inputs));
    json_t *own = json_deep_copy(schema);
    // jansson gives an incomplete copy when memory runs out.
    if (!inputs || !json_equal(own, schema)) {
        team->problems.no_memory = true;
        json_decref(own);
        return;
    }
    if (!cdr_is_name(name))
        cdr_team_problem(team, at, CDR_NAME_RULE);
    if (!json_object_get(own, "type"))
        json_object_set_new(own, "type", json_string("string"));
    cdr_schema_check_schema(own, on_problem, &report);
    team->inputs = inputs;
    inputs[team->n_inputs++] = (cdr_input){cdr_team_text(team, name), own};
}

static const cdr_input *find_input(const cadre_team *team, const char *name)
{
    for (size_t i = 0; i < team->n_inputs; i++) {
        if (strcmp(team->inputs[i].name, name) == 0)
            return &team->inputs[i];
    }
    return NULL;
}

static bool is_scalar_type(const char *type)
{
    return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0 ||
           strcmp(type, "boolean") == 0;
}

// The command line gives texts: where a number or a boolean is wanted, one that reads
// as such is taken for it.
static json_t *read_value(const json_t *schema, json_t *given)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (!json_is_string(given) || !type || !is_scalar_type(type))
        return json_deep_copy(given);
    json_t *read =
        cdr_json_parse(json_string_value(given), json_string_length(given), NULL);
    if (json_is_number(read) || json_is_boolean(read))
        return read;
    json_decref(read);
    return json_deep_copy(given);
}

static cadre_status fail_unknown(const cadre_team *team, const char *name,
                                 cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    const char *names[MAX_LISTED] = {NULL};
    size_t n_names = 0;
    cdr_buf known = CDR_BUF_INIT;
    for (; n_names < team->n_inputs && n_names < MAX_LISTED; n_names++) {
        names[n_names] = team->inputs[n_names].name;
        cdr_buf_printf(&known, "%s%s", n_names > 0 ? ", " : "", names[n_names]);
    }
    const char *nearest = cdr_nearest(name, names, n_names);
    cadre_fail(err, CADRE_EINVAL, "unknown input %s%s%s%s (inputs: %s)",
               cdr_brief_text(brief, name, '\''), nearest ? "; did you mean '" : "",
               nearest ? nearest : "", nearest ? "'?" : "",
               n_names > 0 ? cdr_buf_text(&known) : "none");
    cdr_buf_fini(&known);
    return CADRE_EINVAL;
}

// Takes the value of one input over into `inputs`.
static cadre_status take_input(const cdr_input *input, json_t *given, json_t *inputs,
                               cadre_error *err)
{
    cadre_error cause = CADRE_ERROR_INIT;
    json_t *value = given ? read_value(input->schema, given)
                          : json_incref(json_object_get(input->schema, "default"));
    if (!value && given)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the inputs");
    if (!value)
        return cadre_fail(err, CADRE_EINVAL, "input '%s' is missing; it has no default",
                          input->name);
    if (cdr_schema_check_text(input->schema, value, &cause) != CADRE_OK) {
        json_decref(value);
        return cadre_fail(err, cause.status, "input '%s': %s", input->name, cause.text);
    }
    if (json_object_set_new(inputs, input->name, value) != 0)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the inputs");
    return CADRE_OK;
}

json_t *cdr_team_inputs(const cadre_team *team, const json_t *given, cadre_error *err)
{
    const char *name;
    json_t *value;
    cadre_status status = CADRE_OK;
    if (given && !json_is_object(given)) {
        cadre_fail(err, CADRE_EINVAL, "inputs: expected an object");
        return NULL;
    }
    json_object_foreach(cdr_json_iterable(given), name, value)
    {
        if (status == CADRE_OK && !find_input(team, name))
            status = fail_unknown(team, name, err);
    }
    json_t *inputs = json_object();
    for (size_t i = 0; status == CADRE_OK && i < team->n_inputs; i++) {
        const cdr_input *input = &team->inputs[i];
        status = take_input(input, json_object_get(given, input->name), inputs, err);
    }
    if (status == CADRE_OK && !inputs)
        cadre_fail(err, CADRE_ENOMEM, "no memory for the inputs");
    if (status == CADRE_OK)
        return inputs;
    json_decref(inputs);
    return NULL;
}

typedef enum mark_kind {
    MARK_INPUT,   // {{inputs.name}}
    MARK_STATE,   // {{state.key}}
    MARK_WORD,    // {{word}}, which is none
    MARK_UNENDED, // {{inputs.name or {{state.key without its end
    MARK_ESCAPE   // {{{{, which stands for {{
} mark_kind;

// What double braces mark in a text.
typedef struct mark {
    mark_kind kind;
    const char *start, *end; // the braces included
    const char *name;        // the whole word, or what follows the dot
    size_t name_len;
} mark;

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

// How long the word is that says what is meant, with its dot; 0: neither.
static size_t prefix_of(const char *name)
{
    static const char *const prefixes[] = {INPUTS, STATE};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        size_t len = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], len) == 0)
            return len;
    }
    return 0;
}

// Reads what stands at two braces. False: nothing of ours, so they are plain text.
static bool read_mark(const char *start, mark *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "_0123456789-.";
    const char *name = skip_blanks(start + 2);
    size_t len = strspn(name, letters);
    size_t prefix = prefix_of(name);
    const char *end = skip_blanks(name + len);
    bool is_ended = strncmp(end, "}}", 2) == 0;
    if (strncmp(start, "{{{{", 4) == 0) {
        *out = (mark){MARK_ESCAPE, start, start + 4, start, 0};
        return true;
    }
    if (len == 0 || (!is_ended && prefix == 0))
        return false;
    *out = (mark){MARK_WORD, start, is_ended ? end + 2 : name + len, name, len};
    if (prefix > 0 && len > prefix) {
        out->kind = !is_ended ? MARK_UNENDED : *name == 's' ? MARK_STATE : MARK_INPUT;
        out->name += is_ended ? prefix : 0;
        out->name_len -= is_ended ? prefix : 0;
    }
    return true;
}

// Finds the next from `text` on.
static bool next_mark(const char *text, mark *out)
{
    while ((text = strstr(text, "{{")) != NULL) {
        if (read_mark(text, out))
            return true;
        text++;
    }
    return false;
}

static void append_value(cdr_buf *out, const json_t *value)
{
    if (json_is_string(value)) {
        cdr_buf_append(out, json_string_value(value), json_string_length(value));
        return;
    }
    char *text = cdr_json_dump(value);
    if (text)
        cdr_buf_append_text(out, text);
    else
        out->failed = true;
    free(text);
}

// The member of an object whose key is not NUL-terminated.
static json_t *get_member(const json_t *object, const char *key, size_t len)
{
    const char *name;
    json_t *value;
    json_object_foreach(cdr_json_iterable(object), name, value)
    {
        if (strlen(name) == len && strncmp(name, key, len) == 0)
            return value;
    }
    return NULL;
}

char *cdr_team_render(const char *text, const json_t *inputs, const json_t *state)
{
    cdr_buf out = CDR_BUF_INIT;
    mark found;
    while (next_mark(text, &found)) {
        const json_t *value = NULL;
        if (found.kind == MARK_INPUT)
            value = get_member(inputs, found.name, found.name_len);
        else if (found.kind == MARK_STATE)
            value = get_member(state, found.name, found.name_len);
        cdr_buf_append(&out, text, (size_t)(found.start - text));
        if (value)
            append_value(&out, value);
        else if (found.kind == MARK_ESCAPE)
            cdr_buf_append_text(&out, "{{");
        else if (found.kind != MARK_STATE)
            cdr_buf_append(&out, found.start, (size_t)(found.end - found.start));
        text = found.end;
    }
    cdr_buf_append_text(&out, text);
    if (out.failed) {
        cdr_buf_fini(&out);
        return NULL;
    }
    return cdr_buf_take(&out);
}

// The place of a part of the instructions, from the place of what stands before it.
static cdr_at move_on(const cadre_agent *agent, cdr_at at, const char *from,
                      const char *to)
{
    if (!agent->has_exact_lines)
        return at;
    for (; from < to; from++) {
        bool is_first_byte = ((unsigned char)*from & 0xC0) != 0x80;
        if (*from == '\n') {
            at.line++;
            at.column = agent->instructions_at.column;
        } else if (is_first_byte) {
            at.column++;
        }
    }
    return at;
}

static void tell_unknown(cadre_team *team, const cdr_at *at, const char *name)
{
    const char *names[MAX_LISTED] = {NULL};
    size_t n_names = 0;
    for (; n_names < team->n_inputs && n_names < MAX_LISTED; n_names++)
        names[n_names] = team->inputs[n_names].name;
    cdr_problems_add_unknown(&team->problems, at, "input", name,
                             (cadre_names){names, n_names});
}

static void check_mark(cadre_team *team, const cdr_at *at, const mark *found)
{
    char brief[CDR_BRIEF_SIZE];
    const char *name = cdr_arena_copy(&team->arena, found->name, found->name_len);
    team->problems.no_memory |= !name;
    if (!name || found->kind == MARK_ESCAPE)
        return;
    if (found->kind == MARK_UNENDED)
        cdr_team_problem(team, at, "{{%s has no end; write {{%s}}",
                         cdr_brief_text(brief, name, '\0'), brief);
    else if (found->kind == MARK_STATE && !cdr_is_name(name))
        cdr_team_problem(team, at, "unknown {{state.%s}}; " CDR_NAME_RULE,
                         cdr_brief_text(brief, name, '\0'));
    else if (found->kind == MARK_WORD)
        cdr_team_problem(
            team, at, "unknown {{%s}}; %s{{{{ gives plain braces",
            cdr_brief_text(brief, name, '\0'),
            find_input(team, name)
                ? "an input is {{inputs.NAME}}, and "
                : "only {{inputs.NAME}} and {{state.KEY}} are known, and ");
    else if (found->kind == MARK_INPUT && !team->partial.inputs &&
             !find_input(team, name))
        tell_unknown(team, at, name);
}

static void check_text(cadre_agent *agent, const char *text)
{
    cdr_at at = agent->instructions_at.path
                    ? agent->instructions_at
                    : cdr_at_part(agent->team, &agent->at, ".instructions");
    mark found;
    for (const char *next = text; next_mark(next, &found); next = found.end) {
        at = move_on(agent, at, text, found.start);
        text = found.start;
        check_mark(agent->team, &at, &found);
    }
}

void cdr_seal_inputs(cdr_sealing *sealing)
{
    for (size_t i = 0; i < sealing->team->n_agents; i++) {
        cadre_agent *agent = sealing->team->agents[i];
        const json_t *text = json_object_get(agent->options, "instructions");
        if (json_is_string(text))
            check_text(agent, json_string_value(text));
    }
}
