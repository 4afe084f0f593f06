// What `ctx` is: fields that are made when they are read, and functions.
#include "run/lua_run.h"

#include "base/json_iterable.h"
#include "base/json_text.h"
#include "base/nearest.h"
#include "expression/json_view.h"
#include "tree/conversation.h"
#include "tree/delta.h"

#include <string.h>

cdr_lua_run *cdr_lua_run_of(lua_State *lua)
{
    return (cdr_lua_run *)(uintptr_t)cdr_sandbox_values(lua);
}

size_t cdr_lua_context_measure(const void *values)
{
    const cdr_lua_run *run = values;
    const json_t *state = cadre_frame_state(run->frame);
    size_t size = state ? cdr_json_weight(state, 0, NULL) : 0;
    if (run->tool && run->tool->arguments)
        size += cdr_json_weight(run->tool->arguments, 0, NULL);
    return size;
}

// --- Texts and JSON ---

enum {
    INPUT = 1,
    OUTPUT,
    SYSTEM,
    TEXT,
    RESULT
};

// The first time that a field is read, its size counts.
static void count(lua_State *lua, int field, size_t bytes)
{
    cdr_lua_run *run = cdr_lua_run_of(lua);
    unsigned bit = 1U << field;
    if ((run->counted & bit) == 0)
        cdr_sandbox_widen(cdr_sandbox_of(lua), bytes);
    run->counted |= bit;
}

static void push_text(lua_State *lua, int field, const char *text)
{
    if (text)
        count(lua, field, strlen(text));
    lua_pushstring(lua, text); // nil for NULL
}

// Keeps what was made, NULL is no memory; its size counts.
static const json_t *keep_take(lua_State *lua, json_t *made)
{
    const json_t *kept = cdr_sandbox_keep_take(lua, made);
    cdr_sandbox_widen(cdr_sandbox_of(lua), cdr_json_weight(kept, 0, NULL));
    return kept;
}

// --- Fields ---

static const cadre_frame *agent_frame(const cdr_lua_run *run)
{
    return cdr_frame_nearest_agent(run->frame);
}

static void push_agent(lua_State *lua, cdr_lua_run *run)
{
    lua_pushstring(lua, agent_frame(run)->name);
}

// Who was called without an input of its own works on that of its caller, as far as
// they share a conversation.
static void push_input(lua_State *lua, cdr_lua_run *run)
{
    const cadre_frame *frame = agent_frame(run);
    while (frame->input == NULL && frame->parent != NULL &&
           frame->parent->conversation == frame->conversation)
        frame = frame->parent;
    push_text(lua, INPUT, cadre_frame_input(frame));
}

// What another frame sees may change elsewhere; this value does not.
static void push_state(lua_State *lua, cdr_lua_run *run)
{
    const json_t *state = cadre_frame_state(run->frame);
    if (state && state != run->state) {
        json_t *shared = cdr_json_share(cdr_json_iterable(state));
        run->state = cdr_sandbox_keep_take(lua, shared);
    }
    cdr_json_push(lua, state);
}

static json_t *calls_of(const cadre_tool_call *calls, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const char *text = calls[i].arguments;
        json_t *arguments = cdr_json_parse(text, strlen(text), NULL);
        if (!arguments)
            arguments = json_string(text); // as the model wrote them
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o}", "id", calls[i].id, "name",
                                        calls[i].name, "arguments", arguments));
    }
    if (json_array_size(list) == n)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *message_of(const cadre_message *m)
{
    json_t *made = json_pack("{s:s, s:s, s:s}", "role", cadre_role_name(m->role),
                             "content", m->text, "agent", m->agent);
    if (made && m->n_tool_calls > 0 &&
        json_object_set_new(made, "tool_calls",
                            calls_of(m->tool_calls, m->n_tool_calls)) != 0) {
        json_decref(made);
        return NULL;
    }
    if (made && m->role == CADRE_ROLE_TOOL)
        json_object_set_new(made, "tool", json_string(m->tool_name));
    return made;
}

// A resume must not see more than there was when the hook ran first: before `run` what
// was said before this agent began, and its input; after it no answer that a later hook
// gave and the record has. `at` counts in the frame's own conversation.
static bool was_there(const cdr_lua_run *run, const cadre_message *m, size_t at)
{
    char id[CADRE_ID_TEXT_SIZE];
    const cadre_frame *frame = run->frame;
    bool is_create = run->place == CDR_HOOK_CREATE && at >= frame->n_before;
    bool is_next = run->place == CDR_HOOK_NEXT && at >= frame->work->n_read &&
                   at < frame->work->n_recorded;
    if (!is_create && !is_next)
        return true;
    cadre_id_text(frame->id, id);
    bool is_own = strcmp(m->frame_id, id) == 0;
    return is_create ? is_own && m->role == CADRE_ROLE_USER
                     : !is_own || m->role != CADRE_ROLE_ASSISTANT;
}

// Tools of one turn run at once: none sees the results of another.
static size_t without_results(const cdr_lua_run *run,
                              const cadre_message *const *messages, size_t n)
{
    while (run->tool && n > 0 && messages[n - 1]->role == CADRE_ROLE_TOOL)
        n--;
    return n;
}

static json_t *list_messages(const cdr_lua_run *run, cadre_error *err)
{
    const cadre_message *const *messages = NULL;
    size_t n = 0;
    json_t *list = json_array();
    if (!list || cadre_frame_messages(run->frame, &messages, &n, err) != CADRE_OK) {
        json_decref(list);
        return NULL;
    }
    cdr_mutex_lock(&run->frame->tree->mu);
    const cdr_conversation *conversation = run->frame->conversation;
    size_t n_base = cdr_conversation_count(conversation) - conversation->n_messages;
    cdr_mutex_unlock(&run->frame->tree->mu);
    n = without_results(run, messages, n);
    bool has_memory = true;
    for (size_t i = 0; i < n && has_memory; i++) {
        if (messages[i]->mark[0] != '\0')
            continue; // no model is shown it either
        if (i < n_base || was_there(run, messages[i], i - n_base))
            has_memory = json_array_append_new(list, message_of(messages[i])) == 0;
    }
    if (has_memory)
        return list;
    json_decref(list);
    return NULL;
}

static void push_messages(lua_State *lua, cdr_lua_run *run)
{
    if (!run->messages) {
        cadre_error err = CADRE_ERROR_INIT;
        run->messages = keep_take(lua, list_messages(run, &err));
    }
    cdr_json_push(lua, run->messages);
}

static void push_output(lua_State *lua, cdr_lua_run *run)
{
    push_text(lua, OUTPUT, run->answer ? run->answer->text : NULL);
}

static void push_model(lua_State *lua, cdr_lua_run *run)
{
    lua_pushstring(lua, run->model ? run->model->model : NULL);
}

static void push_turn(lua_State *lua, cdr_lua_run *run)
{
    if (run->model)
        lua_pushinteger(lua, run->model->turn);
    else
        lua_pushnil(lua);
}

static void push_system(lua_State *lua, cdr_lua_run *run)
{
    push_text(lua, SYSTEM, run->model ? run->model->system : NULL);
}

static void push_said(lua_State *lua, cdr_lua_run *run)
{
    push_text(lua, TEXT, run->place == CDR_HOOK_AFTER_MODEL ? run->model->text : NULL);
}

static void push_tool_calls(lua_State *lua, cdr_lua_run *run)
{
    if (run->place == CDR_HOOK_AFTER_MODEL && !run->tool_calls)
        run->tool_calls =
            keep_take(lua, calls_of(run->model->tool_calls, run->model->n_tool_calls));
    cdr_json_push(lua, run->tool_calls);
}

static void push_tool(lua_State *lua, cdr_lua_run *run)
{
    lua_pushstring(lua, run->tool ? run->tool->name : NULL);
}

static void push_arguments(lua_State *lua, cdr_lua_run *run)
{
    cdr_json_push(lua, run->tool ? run->tool->arguments : NULL);
}

static void push_is_control(lua_State *lua, cdr_lua_run *run)
{
    lua_pushboolean(lua, run->tool && run->tool->is_control);
}

static void push_result(lua_State *lua, cdr_lua_run *run)
{
    push_text(lua, RESULT,
              run->place == CDR_HOOK_AFTER_TOOL ? run->tool->result : NULL);
}

static void push_code(lua_State *lua, cdr_lua_run *run)
{
    lua_pushstring(lua, run->place == CDR_HOOK_AFTER_TOOL
                            ? cadre_result_code_name(run->tool->code)
                            : NULL);
}

typedef struct field {
    const char *name;
    void (*push)(lua_State *lua, cdr_lua_run *run); // nil where there is no such thing
} field;

static const field fields[] = {
    {"agent", push_agent},
    {"input", push_input},
    {"state", push_state},
    {"messages", push_messages},
    {"output", push_output},
    {"model", push_model},
    {"turn", push_turn},
    {"system", push_system},
    {"text", push_said},
    {"tool_calls", push_tool_calls},
    {"tool", push_tool},
    {"arguments", push_arguments},
    {"is_control", push_is_control},
    {"result", push_result},
    {"code", push_code},
};

enum {
    N_FIELDS = sizeof(fields) / sizeof(fields[0]),
    MAX_NAMES = 64
};

static int fail_name(lua_State *lua, const char *name)
{
    const char *names[MAX_NAMES];
    size_t n = 0;
    for (; n < N_FIELDS; n++)
        names[n] = fields[n].name;
    for (size_t i = 0; cdr_lua_host_names[i] && n < MAX_NAMES; i++)
        names[n++] = cdr_lua_host_names[i];
    const char *near = cdr_nearest(name, names, n);
    if (near)
        return luaL_error(lua, "ctx has no '%s'; did you mean '%s'?", name, near);
    return luaL_error(lua, "ctx has no '%s'", name);
}

static int read_field(lua_State *lua)
{
    const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "?";
    lua_CFunction function = cdr_lua_host_find(name);
    if (function) {
        lua_pushcfunction(lua, function);
        return 1;
    }
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            fields[i].push(lua, cdr_lua_run_of(lua));
            if (lua_isnil(lua, -1))
                cdr_sandbox_note_nil(cdr_sandbox_of(lua), "field", name);
            return 1;
        }
    }
    return fail_name(lua, name);
}

static int refuse_set(lua_State *lua)
{
    return luaL_error(lua, "ctx cannot be changed; return what is to be changed");
}

void cdr_lua_context_push(lua_State *lua)
{
    lua_createtable(lua, 0, 0);
    lua_createtable(lua, 0, 2);
    lua_pushcfunction(lua, read_field);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_set);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, -2);
}
