// Expressions: a text or a short form, and a pool of sandboxes for the text.
#include "cadre/ext/expression.h"

#include "base/brief.h"
#include "base/json_iterable.h"
#include "expression/json_view.h"
#include "expression/names.h"
#include "expression/sandbox_pool.h"
#include "expression/short_form.h"
#include "team/sized.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct cadre_expression {
    cdr_short_form *form; // else a script
    char *where;
    char *text;
    cdr_sandbox_pool pool;
};

enum {
    INPUT,
    LAST_RESPONSE,
    OUTPUT,
    STATE,
    OUTPUTS,
    ITERATION,
    N_NAMES
};

static const char *const value_names[N_NAMES] = {
    [INPUT] = "input",     [LAST_RESPONSE] = "last_response",
    [OUTPUT] = "output",   [STATE] = "state",
    [OUTPUTS] = "outputs", [ITERATION] = "iteration",
};

static void push_value(lua_State *lua, size_t i, const void *given)
{
    const cadre_expression_values *values = given;
    switch (i) {
    case INPUT:
        lua_pushstring(lua, values->input); // nil for NULL
        break;
    case LAST_RESPONSE:
        lua_pushstring(lua, values->last_response);
        break;
    case OUTPUT:
        lua_pushstring(lua, values->output);
        break;
    case STATE:
        cdr_json_push(lua, values->state);
        break;
    case OUTPUTS:
        cdr_json_push(lua, values->outputs);
        break;
    default:
        if (values->iteration)
            lua_pushinteger(lua, values->iteration);
        else
            lua_pushnil(lua);
    }
}

static size_t measure_values(const void *given)
{
    const cadre_expression_values *values = given;
    const char *const texts[] = {values->input, values->last_response, values->output};
    size_t size = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        size += texts[i] ? strlen(texts[i]) : 0;
    if (values->state)
        size += cdr_json_weight(values->state, 0, NULL);
    if (values->outputs)
        size += cdr_json_weight(values->outputs, 0, NULL);
    return size;
}

static const cdr_sandbox_names names = {
    .names = value_names,
    .count = N_NAMES,
    .push = push_value,
    .measure = measure_values,
};

// The idle sandboxes are no part of what an expression is.
static cadre_status run(const cadre_expression *expression, const cdr_sandbox_run *what,
                        cadre_error *err)
{
    cadre_expression *own = (cadre_expression *)(uintptr_t)expression;
    return cdr_sandbox_pool_run(&own->pool, what, err);
}

static cadre_status read_values(const cadre_expression_values *given,
                                cadre_expression_values *own, cadre_error *err)
{
    memset(own, 0, sizeof(*own));
    if (given && !cdr_sized_copy(own, sizeof(*own), given))
        return cadre_fail(
            err, CADRE_EINVAL,
            "cadre_expression_values: struct_size is not set; make it with "
            "CADRE_EXPRESSION_VALUES()");
    return CADRE_OK;
}

static void take_boolean(lua_State *lua, void *ctx)
{
    bool *out = ctx;
    if (!lua_isboolean(lua, 1) && !lua_isnil(lua, 1)) {
        const char *type = cdr_json_type_name(lua, 1);
        luaL_error(lua, "must give true or false, not a %s",
                   lua_type(lua, 1) == LUA_TSTRING ? "text" : type);
    }
    *out = lua_toboolean(lua, 1);
}

static void take_json(lua_State *lua, void *ctx)
{
    json_t **out = ctx;
    *out = json_incref(cdr_json_iterable(cdr_json_take(lua, 1)));
}

cadre_status cadre_expression_test(const cadre_expression *expression,
                                   const cadre_expression_values *values, bool *out,
                                   cadre_error *err)
{
    if (!expression || !out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_expression_test: NULL");
    cadre_expression_values own;
    bool result = false;
    cadre_status status = read_values(values, &own, err);
    if (status == CADRE_OK && expression->form)
        status = cdr_short_form_test(expression->form, own.last_response, &result, err);
    else if (status == CADRE_OK)
        status = run(
            expression,
            &(cdr_sandbox_run){.values = &own, .take = take_boolean, .ctx = &result},
            err);
    if (status == CADRE_OK)
        *out = result;
    return status;
}

cadre_status cadre_expression_value(const cadre_expression *expression,
                                    const cadre_expression_values *values, json_t **out,
                                    cadre_error *err)
{
    if (!expression || !out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_expression_value: NULL");
    if (expression->form) {
        bool result = false;
        cadre_status status = cadre_expression_test(expression, values, &result, err);
        if (status == CADRE_OK)
            *out = json_boolean(result);
        return status;
    }
    cadre_expression_values own;
    cadre_status status = read_values(values, &own, err);
    if (status == CADRE_OK)
        status =
            run(expression,
                &(cdr_sandbox_run){.values = &own, .take = take_json, .ctx = out}, err);
    return status;
}

// Finds out which kind of script the text is, by compiling it.
static cadre_status read_text(cadre_expression *expression, const json_t *written,
                              cadre_error *err)
{
    size_t len = json_string_length(written);
    expression->text = malloc(len + 1);
    if (!expression->text)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an expression");
    memcpy(expression->text, json_string_value(written), len + 1);
    cdr_script script = {.text = expression->text,
                         .len = len,
                         .where = expression->where,
                         .kind = CDR_SCRIPT_EXPRESSION};
    if (cdr_names_is_blank(&script))
        return cadre_fail(err, CADRE_EINVAL, "%s: the expression is empty",
                          expression->where);
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = cdr_sandbox_pool_load(&expression->pool, &script, &why);
    if (status == CADRE_EINVAL && cdr_names_has_return(&script)) {
        cadre_error_clear(&why);
        script.kind = CDR_SCRIPT_CHUNK;
        status = cdr_sandbox_pool_load(&expression->pool, &script, &why);
    }
    if (status != CADRE_OK)
        return cadre_fail(err, status, "%s", why.text);
    return cdr_names_check(&script, &names, err);
}

static cadre_status read_written(cadre_expression *expression, const json_t *written,
                                 cadre_error *err)
{
    if (!expression->where)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an expression");
    if (json_is_object(written))
        return cdr_short_form_new(written, expression->where, &expression->form, err);
    if (json_is_string(written))
        return read_text(expression, written, err);
    char brief[CDR_BRIEF_SIZE];
    return cadre_fail(err, CADRE_EINVAL,
                      "%s: must be a text (an expression) or a short form such as "
                      "{contains: TEXT}, got %s",
                      expression->where, cdr_brief_json(brief, written));
}

cadre_status cadre_expression_new(const json_t *written, const char *where,
                                  cadre_expression **out, cadre_error *err)
{
    if (!written || !where || !out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_expression_new: NULL");
    cadre_expression *expression = calloc(1, sizeof(*expression));
    if (!expression)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an expression");
    cdr_sandbox_pool_init(&expression->pool, &names);
    expression->where = strdup(where);
    cadre_status status = read_written(expression, written, err);
    if (status == CADRE_OK)
        *out = expression;
    else
        cadre_expression_free(expression);
    return status;
}

void cadre_expression_free(cadre_expression *expression)
{
    if (!expression)
        return;
    cdr_sandbox_pool_fini(&expression->pool);
    cdr_short_form_free(expression->form);
    free(expression->where);
    free(expression->text);
    free(expression);
}
