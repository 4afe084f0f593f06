// See lua_hook.h.
#include "run/lua_hook.h"

#include "base/json_iterable.h"
#include "expression/json_view.h"
#include "run/lua_run.h"

// --- Running ---

static void push_context(lua_State *lua, void *ctx)
{
    (void)ctx; // the run finds it by its values
    cdr_lua_context_push(lua);
}

// Nothing, or an object; {} is either.
static void take_result(lua_State *lua, void *ctx)
{
    cdr_lua_run *run = ctx;
    if (lua_isnil(lua, 1))
        return;
    const json_t *value = cdr_json_take(lua, 1);
    if (json_is_array(value) && json_array_size(value) == 0)
        return;
    if (!json_is_object(value))
        luaL_error(lua, "%s must return nothing, or a table with names, not a %s",
                   cdr_hook_place_name(run->place),
                   json_is_array(value) ? "list" : cdr_json_type_name(lua, 1));
    run->result = json_incref(cdr_json_iterable(value));
}

// Calls the function, and looks at the names in what it returned.
static cadre_status run_function(cdr_lua_run *run, const cdr_hook_set *set,
                                 const char *const *keys, cadre_error *err)
{
    cdr_hook_file *file = set->files[run->place];
    const cdr_sandbox_run what = {.values = run,
                                  .take = take_result,
                                  .ctx = run,
                                  .function = cdr_hook_names[run->place],
                                  .push_argument = push_context,
                                  .measure = cdr_lua_context_measure};
    run->file = file;
    cadre_status status = cdr_sandbox_pool_run(&file->pool, &what, err);
    return status == CADRE_OK ? cdr_lua_check_keys(run->result, keys, err) : status;
}

// What the rest of a hook said, with its file.
static cadre_status finish(cdr_lua_run *run, cadre_status status,
                           const cadre_error *why, cadre_error *err)
{
    json_decref(run->result);
    run->result = NULL;
    if (status == CADRE_EINVAL)
        return cadre_fail(err, status, "%s: what it returned: %s", run->file->where,
                          why->text);
    if (why->status == CADRE_OK)
        return status;
    return cadre_fail_class(err, status, why->error_class, why->retryable, "%s",
                            why->text);
}

// --- create and next ---

static cadre_status hand_over(cdr_lua_run *run, const json_t *spec, cadre_error *err)
{
    cadre_call call;
    cadre_status status = cdr_lua_call_read(run, CDR_LUA_TRANSFER, spec, &call, err);
    return status == CADRE_OK ? cadre_frame_transfer(run->frame, &call, err) : status;
}

// DONE when the agent has answered.
static cadre_status answer(cdr_lua_run *run, cadre_error *err)
{
    const json_t *spec = json_object_get(run->result, "transfer");
    const json_t *done = json_object_get(run->result, "done");
    const char *output = NULL;
    cadre_status status = cdr_lua_text(run->result, "output", &output, err);
    if (status != CADRE_OK)
        return status;
    if ((output != NULL) + (spec != NULL) + (done != NULL) > 1)
        return cadre_fail(err, CADRE_EINVAL,
                          "only one of 'output', 'transfer' and 'done'");
    if (done && !json_is_true(done))
        return cadre_fail(err, CADRE_EINVAL, "'done' must be true");
    if (spec)
        return hand_over(run, spec, err);
    if (output)
        status = cadre_frame_set_output(run->frame, output, err);
    return status == CADRE_OK && (output || done) ? CADRE_DONE : status;
}

static cadre_status create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    static const char *const keys[] = {"output", "transfer", "done", NULL};
    cadre_error why = CADRE_ERROR_INIT;
    cdr_lua_run run = {.frame = frame, .place = CDR_HOOK_CREATE};
    cadre_status status = run_function(&run, ctx, keys, &why);
    if (status == CADRE_OK)
        status = answer(&run, &why);
    return finish(&run, status, &why, err);
}

static cadre_status next(void *ctx, cadre_frame *frame, const cadre_outcome *said,
                         cadre_error *err)
{
    static const char *const keys[] = {"output", "transfer", NULL};
    cadre_error why = CADRE_ERROR_INIT;
    cdr_lua_run run = {.frame = frame, .place = CDR_HOOK_NEXT, .answer = said};
    cadre_status status = run_function(&run, ctx, keys, &why);
    if (status == CADRE_OK)
        status = answer(&run, &why);
    return finish(&run, status == CADRE_DONE ? CADRE_OK : status, &why, err);
}

// --- Models ---

// `add`: a text, or a list of them.
static cadre_status add_turns(cadre_model_hook *call, const json_t *add,
                              cadre_error *err)
{
    cadre_status status = CADRE_OK;
    size_t n = json_is_array(add) ? json_array_size(add) : 1;
    for (size_t i = 0; i < n && status == CADRE_OK; i++) {
        const json_t *text = json_is_array(add) ? json_array_get(add, i) : add;
        if (!json_is_string(text))
            return cadre_fail(err, CADRE_EINVAL,
                              "'add' must be a text, or a list of texts");
        status = cadre_model_hook_add_turn(call, json_string_value(text), err);
    }
    return status;
}

static cadre_status change_request(const cdr_lua_run *run, cadre_error *err)
{
    const char *system = NULL;
    const char *given = NULL;
    const json_t *add = json_object_get(run->result, "add");
    cadre_status status = cdr_lua_text(run->result, "system", &system, err);
    if (status == CADRE_OK)
        status = cdr_lua_text(run->result, "answer", &given, err);
    if (status == CADRE_OK && system)
        status = cadre_model_hook_set_system(run->model, system, err);
    if (status == CADRE_OK && add)
        status = add_turns(run->model, add, err);
    if (status == CADRE_OK && given)
        status = cadre_model_hook_answer(run->model, given, err);
    return status;
}

static cadre_status before_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err)
{
    static const char *const keys[] = {"system", "add", "answer", NULL};
    cadre_error why = CADRE_ERROR_INIT;
    cdr_lua_run run = {.frame = frame, .place = CDR_HOOK_BEFORE_MODEL, .model = call};
    cadre_status status = run_function(&run, ctx, keys, &why);
    if (status == CADRE_OK)
        status = change_request(&run, &why);
    return finish(&run, status, &why, err);
}

static cadre_status after_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err)
{
    static const char *const keys[] = {"text", NULL};
    cadre_error why = CADRE_ERROR_INIT;
    const char *text = NULL;
    cdr_lua_run run = {.frame = frame, .place = CDR_HOOK_AFTER_MODEL, .model = call};
    cadre_status status = run_function(&run, ctx, keys, &why);
    if (status == CADRE_OK)
        status = cdr_lua_text(run.result, "text", &text, &why);
    if (status == CADRE_OK && text)
        status = cadre_model_hook_answer(call, text, &why);
    return finish(&run, status, &why, err);
}

// --- Tools ---

// In Lua an empty table is an empty list.
static cadre_status set_arguments(cadre_tool_hook *call, const json_t *arguments,
                                  cadre_error *err)
{
    bool is_empty = json_is_array(arguments) && json_array_size(arguments) == 0;
    json_t *none = is_empty ? json_object() : NULL;
    if (is_empty && !none)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for arguments");
    cadre_status status =
        cadre_tool_hook_set_arguments(call, is_empty ? none : arguments, err);
    json_decref(none);
    return status;
}

static cadre_status change_call(const cdr_lua_run *run, cadre_error *err)
{
    const char *result = NULL;
    const char *blocked = NULL;
    const json_t *arguments = json_object_get(run->result, "arguments");
    cadre_status status = cdr_lua_text(run->result, "result", &result, err);
    if (status == CADRE_OK)
        status = cdr_lua_text(run->result, "blocked", &blocked, err);
    if (status == CADRE_OK && result && blocked)
        status = cadre_fail(err, CADRE_EINVAL, "only one of 'result' and 'blocked'");
    if (status == CADRE_OK && arguments)
        status = set_arguments(run->tool, arguments, err);
    if (status == CADRE_OK && result)
        status = cadre_tool_hook_set_result(run->tool, result, err);
    if (status == CADRE_OK && blocked)
        status = cadre_tool_hook_block(run->tool, blocked, err);
    return status;
}

static cadre_status before_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                                cadre_error *err)
{
    static const char *const keys[] = {"arguments", "result", "blocked", NULL};
    cadre_error why = CADRE_ERROR_INIT;
    cdr_lua_run run = {.frame = frame, .place = CDR_HOOK_BEFORE_TOOL, .tool = call};
    cadre_status status = run_function(&run, ctx, keys, &why);
    if (status == CADRE_OK)
        status = change_call(&run, &why);
    return finish(&run, status, &why, err);
}

static cadre_status after_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                               cadre_error *err)
{
    static const char *const keys[] = {"result", NULL};
    cadre_error why = CADRE_ERROR_INIT;
    const char *result = NULL;
    cdr_lua_run run = {.frame = frame, .place = CDR_HOOK_AFTER_TOOL, .tool = call};
    cadre_status status = run_function(&run, ctx, keys, &why);
    if (status == CADRE_OK)
        status = cdr_lua_text(run.result, "result", &result, &why);
    if (status == CADRE_OK && result)
        status = cadre_tool_hook_set_result(call, result, &why);
    return finish(&run, status, &why, err);
}

void cdr_lua_hooks_fill(cdr_hook_set *set, cadre_hooks *out)
{
    cdr_hook_file *const *files = set->files;
    *out = (cadre_hooks){
        .struct_size = sizeof *out,
        .ctx = set,
        .create = files[CDR_HOOK_CREATE] ? create : NULL,
        .before_model = files[CDR_HOOK_BEFORE_MODEL] ? before_model : NULL,
        .after_model = files[CDR_HOOK_AFTER_MODEL] ? after_model : NULL,
        .before_tool = files[CDR_HOOK_BEFORE_TOOL] ? before_tool : NULL,
        .after_tool = files[CDR_HOOK_AFTER_TOOL] ? after_tool : NULL,
        .next = files[CDR_HOOK_NEXT] ? next : NULL,
    };
}
