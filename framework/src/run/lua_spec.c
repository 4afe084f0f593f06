// What scripts say of calls and transfers, read with mistakes named.
#include "run/lua_run.h"

#include "base/brief.h"
#include "base/json_iterable.h"
#include "base/nearest.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

#define MAX_TOKENS 1e12
#define MAX_AGENTS 256 // as many are looked through for the nearest name

static size_t count_of(const char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

static void list(cdr_buf *text, const char *const *names, size_t n)
{
    enum {
        MAX_SHOWN = 20
    };
    for (size_t i = 0; i < n && i < MAX_SHOWN; i++)
        cdr_buf_printf(text, "%s%s", i > 0 ? ", " : "", names[i]);
    if (n > MAX_SHOWN)
        cdr_buf_append_text(text, ", ...");
}

// "unknown key 'x'; did you mean 'y'? (known: y, z)"
static cadre_status fail_unknown(const char *what, const char *name,
                                 const char *const *known, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_buf names = CDR_BUF_INIT;
    size_t n = count_of(known);
    const char *near = cdr_nearest(name, known, n);
    list(&names, known, n);
    cadre_status status =
        cadre_fail(err, CADRE_EINVAL, "unknown %s %s%s%s%s (known: %s)", what,
                   cdr_brief_text(brief, name, '\''), near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "", cdr_buf_text(&names));
    cdr_buf_fini(&names);
    return status;
}

cadre_status cdr_lua_check_keys(const json_t *object, const char *const *known,
                                cadre_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(cdr_json_iterable(object), key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return fail_unknown("key", key, known, err);
    }
    return CADRE_OK;
}

cadre_status cdr_lua_text(const json_t *object, const char *key, const char **out,
                          cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    const json_t *value = json_object_get(object, key);
    *out = json_string_value(value);
    if (value && !*out && !json_is_null(value))
        return cadre_fail(err, CADRE_EINVAL, "'%s' must be a text, got %s", key,
                          cdr_brief_json(brief, value));
    return CADRE_OK;
}

static cadre_status fail_agent(const cadre_team *team, const char *name,
                               cadre_error *err)
{
    const char *names[MAX_AGENTS + 1] = {NULL};
    size_t n = 0;
    for (size_t i = 0; i < team->n_agents && n < MAX_AGENTS; i++) {
        if (!team->agents[i]->is_inner)
            names[n++] = team->agents[i]->info.name;
    }
    return fail_unknown("agent", name, names, err);
}

// In the roster of the frame and its members, else any of the team.
static cadre_status read_agent(const cdr_lua_run *run, const json_t *spec,
                               cadre_call *out, cadre_error *err)
{
    const char *name = NULL;
    cadre_status status = cdr_lua_text(spec, "agent", &name, err);
    if (status != CADRE_OK)
        return status;
    if (!name)
        return cadre_fail(err, CADRE_EINVAL, "'agent' is missing: whom to call");
    const cadre_team *team = run->frame->tree->team;
    out->agent = cadre_frame_find(run->frame, name);
    if (!out->agent) {
        const cadre_agent *found = cdr_team_find_agent(team, name);
        out->agent = found && !found->is_inner ? found : NULL;
    }
    return out->agent ? CADRE_OK : fail_agent(team, name, err);
}

static cadre_status read_history(cdr_lua_call_kind kind, const json_t *spec,
                                 cadre_call *out, cadre_error *err)
{
    static const char *const words[] = {"all", "none", "own", "last", NULL};
    static const char *const of_forks[] = {"all", "none", NULL};
    static const cadre_history histories[] = {CADRE_HISTORY_ALL, CADRE_HISTORY_NONE,
                                              CADRE_HISTORY_OWN, CADRE_HISTORY_LAST};
    const char *const *known = kind == CDR_LUA_CALL ? of_forks : words;
    const char *word = NULL;
    cadre_status status = cdr_lua_text(spec, "history", &word, err);
    if (status != CADRE_OK || !word)
        return status;
    for (size_t i = 0; known[i]; i++) {
        if (strcmp(known[i], word) == 0) {
            out->history = histories[i];
            return CADRE_OK;
        }
    }
    return fail_unknown("history", word, known, err);
}

static cadre_status read_duration(const json_t *object, const char *key, int64_t *ms,
                                  cadre_error *err)
{
    const char *text = NULL;
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = cdr_lua_text(object, key, &text, err);
    if (status != CADRE_OK || !text)
        return status;
    if (cdr_is_zero_quantity(text))
        return cadre_fail(
            err, CADRE_EINVAL,
            "'%s': write a duration above 0, or leave it out; got '%.20s'", key, text);
    return cdr_parse_duration_ms(text, ms, &why) == CADRE_OK
               ? CADRE_OK
               : cadre_fail(err, CADRE_EINVAL, "'%s': %s", key, why.text);
}

// --- Budgets ---

static cadre_status read_cost(const json_t *budget, int64_t *micros, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    cadre_error why = CADRE_ERROR_INIT;
    const json_t *cost = json_object_get(budget, "max_cost");
    if (!cost)
        return CADRE_OK;
    if (!json_is_number(cost) || json_number_value(cost) == 0)
        return cadre_fail(err, CADRE_EINVAL,
                          "'max_cost': write dollars above 0, or leave it out; got %s",
                          cdr_brief_json(brief, cost));
    return cdr_dollars_micros(json_number_value(cost), micros, &why) == CADRE_OK
               ? CADRE_OK
               : cadre_fail(err, CADRE_EINVAL, "'max_cost': %s", why.text);
}

// A whole number, also one that Lua holds as a float: 2e5.
static cadre_status read_tokens(const json_t *budget, int64_t *tokens, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    const json_t *given = json_object_get(budget, "max_tokens");
    double number = json_number_value(given);
    if (!given)
        return CADRE_OK;
    if (!(number >= 1 && number <= MAX_TOKENS) || number != floor(number))
        return cadre_fail(err, CADRE_EINVAL,
                          "'max_tokens' must be a whole number from 1 to %.0f, got %s",
                          MAX_TOKENS, cdr_brief_json(brief, given));
    *tokens = (int64_t)number;
    return CADRE_OK;
}

static cadre_status read_budget(const json_t *spec, cadre_budget *out, cadre_error *err)
{
    static const char *const known[] = {"max_cost", "max_tokens", "max_time", NULL};
    const json_t *budget = json_object_get(spec, "budget");
    cadre_error why = CADRE_ERROR_INIT;
    if (!budget)
        return CADRE_OK;
    if (!json_is_object(budget))
        return cadre_fail(err, CADRE_EINVAL,
                          "'budget' must be a table: {max_cost = 0.50, max_tokens = "
                          "20000, max_time = '1m'}");
    cadre_status status = cdr_lua_check_keys(budget, known, &why);
    if (status == CADRE_OK)
        status = read_cost(budget, &out->max_cost_usd_micros, &why);
    if (status == CADRE_OK)
        status = read_tokens(budget, &out->max_tokens, &why);
    if (status == CADRE_OK)
        status = read_duration(budget, "max_time", &out->max_time_ms, &why);
    return status == CADRE_OK ? status
                              : cadre_fail(err, status, "'budget': %s", why.text);
}

static cadre_status read_options(const json_t *spec, cadre_call *out, cadre_error *err)
{
    const json_t *quiet = json_object_get(spec, "quiet");
    cadre_status status = read_duration(spec, "timeout", &out->timeout_ms, err);
    if (status == CADRE_OK)
        status = read_budget(spec, &out->budget, err);
    if (json_is_true(quiet))
        out->flags |= CADRE_CALL_QUIET;
    else if (status == CADRE_OK && quiet && !json_is_boolean(quiet))
        status = cadre_fail(err, CADRE_EINVAL, "'quiet' must be true or false");
    return status;
}

// --- Messages as one turn ---

static cadre_status append_message(cdr_buf *text, const json_t *message, bool is_only,
                                   cadre_error *err)
{
    static const char *const known[] = {"role", "content", "agent", NULL};
    const char *role = NULL;
    const char *content = NULL;
    const char *agent = NULL;
    if (!json_is_object(message))
        return cadre_fail(err, CADRE_EINVAL,
                          "'messages' must be a list of {role, content}");
    cadre_status status = cdr_lua_check_keys(message, known, err);
    if (status == CADRE_OK)
        status = cdr_lua_text(message, "role", &role, err);
    if (status == CADRE_OK)
        status = cdr_lua_text(message, "content", &content, err);
    if (status == CADRE_OK)
        status = cdr_lua_text(message, "agent", &agent, err);
    if (status != CADRE_OK)
        return status;
    if (!role || !content)
        return cadre_fail(err, CADRE_EINVAL, "a message needs 'role' and 'content'");
    if (!is_only)
        cdr_buf_printf(text, "%s[%s]: ", text->len > 0 ? "\n\n" : "",
                       agent && agent[0] ? agent : role);
    cdr_buf_append_text(text, content);
    return CADRE_OK;
}

// As the target of a loop_fallback is told a conversation.
static cadre_status render(cadre_frame *frame, const json_t *messages, cadre_call *out,
                           cadre_error *err)
{
    cdr_buf text = CDR_BUF_INIT;
    cadre_status status = CADRE_OK;
    size_t n = json_array_size(messages);
    if (n == 0)
        return cadre_fail(err, CADRE_EINVAL,
                          "'messages' must be a list of {role, content}");
    for (size_t i = 0; i < n && status == CADRE_OK; i++)
        status = append_message(&text, json_array_get(messages, i), n == 1, err);
    if (status == CADRE_OK) {
        out->input = text.failed ? NULL
                                 : cdr_arena_copy(&frame->work->arena,
                                                  cdr_buf_text(&text), text.len);
        if (!out->input)
            status = cadre_fail(err, CADRE_ENOMEM, "no memory for messages");
    }
    cdr_buf_fini(&text);
    return status;
}

static cadre_status read_input(const cdr_lua_run *run, const json_t *spec,
                               cadre_call *out, cadre_error *err)
{
    const json_t *input = json_object_get(spec, "input");
    const json_t *messages = json_object_get(spec, "messages");
    if (input && messages)
        return cadre_fail(err, CADRE_EINVAL, "either 'input' or 'messages', not both");
    if (messages)
        return render(run->frame, messages, out, err);
    if (json_is_string(input))
        out->input = json_string_value(input);
    else if (json_is_object(input) || json_is_array(input))
        out->json = input;
    else if (input && !json_is_null(input))
        return cadre_fail(err, CADRE_EINVAL, "'input' must be a text or a table");
    return CADRE_OK;
}

cadre_status cdr_lua_call_read(const cdr_lua_run *run, cdr_lua_call_kind kind,
                               const json_t *spec, cadre_call *out, cadre_error *err)
{
    static const char *const keys[] = {"agent",  "input", "history", "timeout",
                                       "budget", "quiet", NULL};
    static const char *const of_transfer[] = {"agent",   "input", "messages", "history",
                                              "timeout", "quiet", NULL};
    static const char *const what[] = {"a call", "a delegate", "a transfer"};
    cadre_error why = CADRE_ERROR_INIT;
    *out = *CADRE_CALL(.agent = NULL);
    if (!json_is_object(spec))
        return cadre_fail(err, CADRE_EINVAL, "%s is a table: {agent = \"...\", ...}",
                          what[kind]);
    cadre_status status =
        cdr_lua_check_keys(spec, kind == CDR_LUA_TRANSFER ? of_transfer : keys, &why);
    if (status == CADRE_OK)
        status = read_agent(run, spec, out, &why);
    if (status == CADRE_OK)
        status = read_input(run, spec, out, &why);
    if (status == CADRE_OK)
        status = read_history(kind, spec, out, &why);
    if (status == CADRE_OK)
        status = read_options(spec, out, &why);
    return status == CADRE_OK ? status
                              : cadre_fail(err, status, "%s: %s", what[kind], why.text);
}
