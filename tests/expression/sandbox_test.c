// The sandbox under scripts: host functions, statuses that go through Lua, limits.
#include "support/check.h"

#include "expression/json_view.h"
#include "expression/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "hooks.lua"

// What host functions do in these tests.
typedef struct host {
    cadre_status status; // what `fail` raises
    const char *text;    // NULL: without an error
    int n_pushed, n_measured;
    int n_after; // calls of `after`
} host;

static host *host_of(lua_State *lua)
{
    return (host *)(uintptr_t)cdr_sandbox_values(lua);
}

static int host_fail(lua_State *lua)
{
    host *self = host_of(lua);
    cadre_error err = CADRE_ERROR_INIT;
    if (self->text)
        cadre_fail_class(&err, self->status, CADRE_CLASS_RATE_LIMITED, true, "%s",
                         self->text);
    cdr_sandbox_raise(lua, self->status, self->text ? &err : NULL);
}

static int host_after(lua_State *lua)
{
    host_of(lua)->n_after++;
    return 0;
}

// Gives JSON of its own.
static int host_make(lua_State *lua)
{
    json_t *made = json_pack("{s:[i,i]}", "list", 1, (int)luaL_checkinteger(lua, 1));
    cdr_json_push(lua, cdr_sandbox_keep_take(lua, made));
    return 1;
}

// Uses up more processor time than a script has, as long work of the framework would.
static int host_work(lua_State *lua)
{
    cdr_sandbox *sandbox = cdr_sandbox_of(lua);
    int64_t before = cdr_sandbox_deadline_ns(sandbox);
    cdr_sandbox_leave(sandbox);
    int64_t until = cdr_cpu_now_ns() + 3000000;
    while (cdr_cpu_now_ns() < until)
        continue;
    cdr_sandbox_enter(sandbox);
    lua_pushboolean(lua, cdr_sandbox_deadline_ns(sandbox) - before >= 3000000);
    return 1;
}

static int host_keep_nothing(lua_State *lua)
{
    cdr_sandbox_keep_take(lua, NULL);
    return 0;
}

static const char *const names[] = {"fail",         "after", "make", "work",
                                    "keep_nothing", "text",  "none"};

static void push(lua_State *lua, size_t i, const void *values)
{
    static const lua_CFunction functions[] = {host_fail, host_after, host_make,
                                              host_work, host_keep_nothing};
    host *self = (host *)(uintptr_t)values;
    self->n_pushed++;
    if (i < sizeof(functions) / sizeof(functions[0]))
        lua_pushcfunction(lua, functions[i]);
    else if (strcmp(names[i], "text") == 0)
        lua_pushstring(lua, self->text);
    else
        lua_pushnil(lua);
}

static size_t measure(const void *values)
{
    host *self = (host *)(uintptr_t)values;
    self->n_measured++;
    return self->text ? strlen(self->text) : 0;
}

static const cdr_sandbox_names host_names = {
    .names = names,
    .count = sizeof(names) / sizeof(names[0]),
    .push = push,
    .measure = measure,
};

static cdr_sandbox *sandbox_or_abort(const char *text, cdr_script_kind kind)
{
    cdr_sandbox *sandbox = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_script script = {text, strlen(text), WHERE, kind};
    if (!CHECK_OK(cdr_sandbox_new(&host_names, &sandbox, &err), &err) ||
        !CHECK_OK(cdr_sandbox_load(sandbox, &script, &err), &err))
        abort();
    return sandbox;
}

static void take_json(lua_State *lua, void *ctx)
{
    json_t **out = ctx;
    *out = json_deep_copy(cdr_json_take(lua, 1));
}

// Runs a sandbox; the result as text, NULL when it failed.
static char *run(cdr_sandbox *sandbox, host *self, cadre_status expected,
                 cadre_error *err)
{
    json_t *value = NULL;
    cdr_sandbox_run what = {.values = self, .take = take_json, .ctx = &value};
    cadre_error_clear(err);
    CHECK_STATUS(cdr_sandbox_run_script(sandbox, &what, err), expected, err);
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

static void check_run(const char *text, host *self, const char *expected)
{
    cdr_sandbox *sandbox = sandbox_or_abort(text, CDR_SCRIPT_CHUNK);
    cadre_error err = CADRE_ERROR_INIT;
    char *value = run(sandbox, self, CADRE_OK, &err);
    CHECK_TEXT(value, expected);
    free(value);
    cdr_sandbox_free(sandbox);
}

static void test_sandbox__a_host_function_fails_with_its_own_status(void)
{
    static const cadre_status statuses[] = {CADRE_EPARKED, CADRE_EABORTED,
                                            CADRE_EDIVERGED, CADRE_ENOMEM};
    cdr_sandbox *sandbox =
        sandbox_or_abort("fail() after() return 1", CDR_SCRIPT_CHUNK);
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        host self = {.status = statuses[i], .text = "agent 'x': so it is"};
        cadre_error err = CADRE_ERROR_INIT;
        CHECK(run(sandbox, &self, statuses[i], &err) == NULL);
        CHECK_TEXT(err.text, "agent 'x': so it is");
        CHECK_INT(err.error_class, CADRE_CLASS_RATE_LIMITED);
        CHECK(err.retryable);
        CHECK_INT(self.n_after, 0);
    }
    host self = {.status = CADRE_EPARKED};
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(run(sandbox, &self, CADRE_EPARKED, &err) == NULL);
    CHECK_TEXT(err.text, WHERE ": parked");
    cdr_sandbox_free(sandbox);
}

static void test_sandbox__a_script_cannot_hide_a_failure(void)
{
    static const char *const texts[] = {
        "table.sort({3, 2, 1}, function() fail() end) after() return 1",
        "local s = string.format('%s', fail()) after() return s",
        "for k in fail do end after() return 1",
        "local t <close> = nil fail() after() return 1",
        "for _ in pairs({1}) do fail() end after() return 1",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cdr_sandbox *sandbox = sandbox_or_abort(texts[i], CDR_SCRIPT_CHUNK);
        host self = {.status = CADRE_EABORTED, .text = "stopped"};
        cadre_error err = CADRE_ERROR_INIT;
        CHECK(run(sandbox, &self, CADRE_EABORTED, &err) == NULL);
        CHECK_INT(self.n_after, 0);
        cdr_sandbox_free(sandbox);
    }
}

static void test_sandbox__runs_again_after_each_kind_of_failure(void)
{
    static const char text[] =
        "if text == 'raise' then fail() end\n"
        "if text == 'error' then error('no') end\n"
        "if text == 'memory' then local s = 'x' while true do s = s .. s end end\n"
        "if text == 'steps' then while true do end end\n"
        "if text == 'stack' then local function f(n) return 1 + f(n) end f(1) end\n"
        "if text == 'value' then return fail end\n"
        "return text";
    static const struct {
        const char *text;
        cadre_status status;
        const char *message;
    } cases[] = {
        {"raise", CADRE_ELIMIT, "raise"},
        {"error", CADRE_EFAILED, WHERE ": line 2: no"},
        {"memory", CADRE_EFAILED,
         WHERE ": it needs more than 1024 KiB of memory, and 4 times what the values "
               "take"},
        {"steps", CADRE_EFAILED, WHERE ": line 4: it takes more than 10 million steps"},
        {"stack", CADRE_EFAILED,
         WHERE ": it needs more than 1024 KiB of memory, and 4 times what the values "
               "take"},
        {"value", CADRE_EFAILED, WHERE ": a function is no JSON"},
    };
    cdr_sandbox *sandbox = sandbox_or_abort(text, CDR_SCRIPT_CHUNK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        host self = {.status = CADRE_ELIMIT, .text = cases[i].text};
        cadre_error err = CADRE_ERROR_INIT;
        CHECK(run(sandbox, &self, cases[i].status, &err) == NULL);
        CHECK_TEXT(err.text, cases[i].message);
        self.text = "fine";
        char *value = run(sandbox, &self, CADRE_OK, &err);
        CHECK_TEXT(value, "\"fine\"");
        free(value);
    }
    cdr_sandbox_free(sandbox);
}

static void test_sandbox__pushes_a_name_once_and_only_when_it_is_read(void)
{
    host self = {.text = "t"};
    check_run("return text .. text .. text", &self, "\"ttt\"");
    CHECK_INT(self.n_pushed, 1);
    CHECK_INT(self.n_measured, 0);
    check_run("return none == nil and none == nil", &self, "true");
    CHECK_INT(self.n_pushed, 3); // nil is asked for again
}

static void test_sandbox__measures_values_only_when_memory_is_short(void)
{
    size_t len = (size_t)3 * 1024 * 1024;
    char *text = malloc(len + 1);
    memset(text, 'a', len);
    text[len] = '\0';
    host self = {.text = text};
    check_run("return #text", &self, "3145728");
    CHECK_INT(self.n_measured, 1);
    free(text);
}

static void test_sandbox__keeps_json_of_host_functions_for_the_run(void)
{
    host self = {.status = CADRE_OK};
    check_run("local all = {} for i = 1, 100 do all[i] = make(i) end "
              "local sum = 0 for _, one in ipairs(all) do sum = sum + one.list[2] end "
              "return {sum, all[7]}",
              &self, "[5050,{\"list\":[1,7]}]");
    cdr_sandbox *sandbox = sandbox_or_abort("return keep_nothing()", CDR_SCRIPT_CHUNK);
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(run(sandbox, &self, CADRE_ENOMEM, &err) == NULL);
    cdr_sandbox_free(sandbox);
}

static void test_sandbox__work_of_the_host_is_not_the_scripts(void)
{
    host self = {.status = CADRE_OK};
    check_run("return work()", &self, "true");
}

static void test_sandbox__names_the_line_of_the_script(void)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"return\n nothing",
         WHERE ": line 2: unknown name 'nothing' (known: fail, after, "
               "make, work, keep_nothing, text, none, contains, "
               "starts, ends, matches, size)"},
        {"\nassert(false)", WHERE ": line 2: assertion failed!"},
        {"\n\nmake('x')", WHERE ": line 3: bad argument #1 to 'make' (number expected, "
                                "got string)"},
        {"local t = {1, 'a'}\ntable.sort(t) return t",
         WHERE ": line 2: attempt to compare string with number"},
        {"local function f()\n error('deep') end\n f() return 1",
         WHERE ": line 2: deep"},
        {"error('bare', 0)", WHERE ": line 1: bare"},
        {"error('@:99: not a place', 0)", WHERE ": line 99: not a place"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cdr_sandbox *sandbox = sandbox_or_abort(cases[i].text, CDR_SCRIPT_CHUNK);
        host self = {.status = CADRE_OK};
        cadre_error err = CADRE_ERROR_INIT;
        CHECK(run(sandbox, &self, CADRE_EFAILED, &err) == NULL);
        CHECK_TEXT(err.text, cases[i].message);
        cdr_sandbox_free(sandbox);
    }
}

static void test_sandbox__compiles_text_only(void)
{
    static const struct {
        const char *text;
        size_t len;
        cdr_script_kind kind;
        const char *message;
    } cases[] = {
        {LUA_SIGNATURE "T\0", 6, CDR_SCRIPT_CHUNK,
         WHERE ": attempt to load a binary chunk (mode is 't')"},
        {"x =", 3, CDR_SCRIPT_CHUNK, WHERE ": line 1: unexpected symbol near <eof>"},
        {"a\0b", 3, CDR_SCRIPT_EXPRESSION, WHERE ": line 1: <eof> expected"},
        {"1)", 2, CDR_SCRIPT_EXPRESSION, WHERE ": line 1: <eof> expected near ')'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cdr_sandbox *sandbox = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(cdr_sandbox_new(&host_names, &sandbox, &err), &err);
        cdr_script script = {cases[i].text, cases[i].len, WHERE, cases[i].kind};
        CHECK_STATUS(cdr_sandbox_load(sandbox, &script, &err), CADRE_EINVAL, &err);
        CHECK_TEXT(err.text, cases[i].message);
        cdr_sandbox_free(sandbox);
    }
    cdr_sandbox_free(NULL);
}

// --- Scripts that define functions ---

// Calls what it is given with "told", as a listener; an error goes on after it.
static int host_try(lua_State *lua)
{
    host *self = host_of(lua);
    lua_settop(lua, 1);
    cdr_sandbox_leave(cdr_sandbox_of(lua));
    lua_pushvalue(lua, 1);
    lua_pushliteral(lua, "told");
    bool is_well = cdr_sandbox_try(lua, 1);
    cdr_sandbox_enter(cdr_sandbox_of(lua));
    self->n_after++;
    CHECK_INT(lua_gettop(lua), 2); // its value, or its error
    if (!is_well)
        lua_error(lua);
    return 1;
}

static void push_try(lua_State *lua, void *ctx)
{
    (void)ctx;
    lua_pushcfunction(lua, host_try);
}

static cdr_sandbox *file_or_abort(const char *text)
{
    return sandbox_or_abort(text, CDR_SCRIPT_FILE);
}

// Calls `start` of a file with the function `try`.
static char *call_start(cdr_sandbox *sandbox, host *self, cadre_status expected,
                        cadre_error *err)
{
    json_t *value = NULL;
    cdr_sandbox_run what = {.values = self,
                            .take = take_json,
                            .ctx = &value,
                            .function = "start",
                            .push_argument = push_try};
    cadre_error_clear(err);
    CHECK_STATUS(cdr_sandbox_run_script(sandbox, &what, err), expected, err);
    char *shown = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    json_decref(value);
    return shown;
}

static void test_sandbox__calls_a_function_that_the_script_defines_anew(void)
{
    cdr_sandbox *sandbox = file_or_abort("local n = 0\n"
                                         "function start(try) n = n + 1 m = (m or 0) + "
                                         "n return {n, m, start ~= nil} end");
    for (int i = 0; i < 3; i++) {
        host self = {.status = CADRE_OK};
        cadre_error err = CADRE_ERROR_INIT;
        char *value = call_start(sandbox, &self, CADRE_EFAILED, &err);
        CHECK(value == NULL); // m is no name yet
        CHECK_CONTAINS(err.text, WHERE ":2: unknown name 'm'");
    }
    cdr_sandbox_free(sandbox);
    sandbox =
        file_or_abort("local n = 0\nm = 0\n"
                      "function start(try) n = n + 1 m = m + n return {n, m} end");
    for (int i = 0; i < 3; i++) {
        host self = {.status = CADRE_OK};
        cadre_error err = CADRE_ERROR_INIT;
        char *value = call_start(sandbox, &self, CADRE_OK, &err);
        CHECK_TEXT(value, "[1,1]");
        free(value);
    }
    cdr_sandbox_free(sandbox);
}

static void test_sandbox__passes_on_what_fails_in_a_function_that_c_calls(void)
{
    static const struct {
        const char *body, *message;
        cadre_status status;
    } cases[] = {
        {"error('no')", WHERE ":2: no", CADRE_EFAILED},
        {"error({})", WHERE ":2: error() was given a table", CADRE_EFAILED},
        {"fail()", "raised", CADRE_EPARKED},
        {"while true do end", WHERE ":2: it takes more than 10 million steps",
         CADRE_EFAILED},
        {"local s = 'x' while true do s = s .. s end",
         WHERE
         ": it needs more than 1024 KiB of memory, and 4 times what the values take",
         CADRE_EFAILED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[300];
        snprintf(text, sizeof(text),
                 "function start(try) return try(function(x)\n%s end)\n end",
                 cases[i].body);
        cdr_sandbox *sandbox = file_or_abort(text);
        host self = {.status = CADRE_EPARKED, .text = "raised"};
        cadre_error err = CADRE_ERROR_INIT;
        CHECK(call_start(sandbox, &self, cases[i].status, &err) == NULL);
        CHECK_TEXT(err.text, cases[i].message);
        CHECK_INT(self.n_after, 1); // the C code has returned
        cdr_sandbox_free(sandbox);
    }
}

static void test_sandbox__gives_the_value_of_a_function_that_c_calls(void)
{
    cdr_sandbox *sandbox = file_or_abort(
        "function start(try) return try(function(x) return x .. '!' end) end");
    host self = {.status = CADRE_OK};
    cadre_error err = CADRE_ERROR_INIT;
    char *value = call_start(sandbox, &self, CADRE_OK, &err);
    CHECK_TEXT(value, "\"told!\"");
    free(value);
    cdr_sandbox_free(sandbox);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sandbox__a_host_function_fails_with_its_own_status),
    CHECK_TEST(test_sandbox__a_script_cannot_hide_a_failure),
    CHECK_TEST(test_sandbox__runs_again_after_each_kind_of_failure),
    CHECK_TEST(test_sandbox__pushes_a_name_once_and_only_when_it_is_read),
    CHECK_TEST(test_sandbox__measures_values_only_when_memory_is_short),
    CHECK_TEST(test_sandbox__keeps_json_of_host_functions_for_the_run),
    CHECK_TEST(test_sandbox__work_of_the_host_is_not_the_scripts),
    CHECK_TEST(test_sandbox__names_the_line_of_the_script),
    CHECK_TEST(test_sandbox__compiles_text_only),
    CHECK_TEST(test_sandbox__calls_a_function_that_the_script_defines_anew),
    CHECK_TEST(test_sandbox__passes_on_what_fails_in_a_function_that_c_calls),
    CHECK_TEST(test_sandbox__gives_the_value_of_a_function_that_c_calls),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("expression/sandbox", tests);
}
