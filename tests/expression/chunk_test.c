// Scripts that define functions: which ones, and names that nothing has.
#include "support/check.h"

#include "expression/chunk.h"

#include <stdlib.h>
#include <string.h>

#define WHERE "hooks.lua"

static const cdr_sandbox_names no_names = {.count = 0};

// Looks at a script, which Lua must accept. The functions as compact JSON; NULL: it was
// refused, with `err`. free() it.
static char *look_at(const char *text, cadre_error *err)
{
    cdr_script script = {text, strlen(text), WHERE, CDR_SCRIPT_FILE};
    cdr_sandbox *sandbox = NULL;
    cadre_error bad = CADRE_ERROR_INIT;
    json_t *functions = NULL;
    CHECK_OK(cdr_sandbox_new(&no_names, &sandbox, &bad), &bad);
    CHECK_OK(cdr_sandbox_load(sandbox, &script, &bad), &bad);
    cdr_sandbox_free(sandbox);
    cdr_chunk_read(&script, &no_names, &functions, err);
    char *shown = functions ? json_dumps(functions, JSON_COMPACT) : NULL;
    json_decref(functions);
    return shown;
}

static void test_chunk__finds_the_functions_that_are_defined_outside_of_others(void)
{
    static const char *const cases[][2] = {
        {"", "{}"},
        {"function a() end", "{\"a\":true}"},
        {"function a(x, y, ...) return x end function b() end",
         "{\"a\":true,\"b\":true}"},
        {"local function a() end", "{\"a\":false}"},
        {"function a() function b() end end", "{\"a\":true}"},
        {"if true then function a() end end", "{}"},
        {"do function a() end end function b() end", "{\"b\":true}"},
        {"for i = 1, 2 do function a() end end function b() end", "{\"b\":true}"},
        {"while false do function a() end end function b() end", "{\"b\":true}"},
        {"repeat local x = 1 until x function b() end", "{\"b\":true}"},
        {"if 1 then local x elseif 2 then local y else local z end function b() end",
         "{\"b\":true}"},
        {"local t = {} function t.a() end function t.x.y:b() end", "{}"},
        {"-- function a() end\nlocal s = 'function b() end' function c() end",
         "{\"c\":true}"},
        {"local s = [[function a()]] function c() end", "{\"c\":true}"},
        {"local f = function() return 1 end function c() end", "{\"c\":true}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        char *shown = look_at(cases[i][0], &err);
        CHECK_OK(err.status, &err);
        CHECK_TEXT(shown, cases[i][1]);
        free(shown);
    }
}

// Each is a good script: nothing in it may be refused.
static void test_chunk__refuses_no_name_that_the_script_makes(void)
{
    static const char *const cases[] = {
        "local a = 1 function f() return a end",
        "local a <const>, b <const> = 1, 2 function f() return a + b end",
        "function f(a, b) return a .. b end",
        "function f() for i, v in ipairs({}) do error(i .. v) end end",
        "function f() for i = 1, 3 do error(i) end end",
        "a = 1 function f() return a end",
        "a, b = 1, 2 function f() return a + b end",
        "local t = {} a, t.x = 1, 2 function f() return a end",
        "local t = {} t.x, a = 1, 2 function f() return a end",
        "function f() pcall2 = 1 return pcall2 end",
        "function f() return g() end function g() end",
        "local t = {} function t:f() return self.x end",
        "function f() return {key = 1, ['x'] = 2, 3} end",
        "function f(x) return x.field.other, x:method() end",
        "function f() local g = function(y) z = y end g() return z end",
        "error(function() p, q = 1, 2 end, p, q)",
        "function f() goto done ::done:: end",
        "function f() _ENV = {} return anything end",
        "function f(x) return string.format('%s', x):upper() .. math.pi end",
        "function f(x) if x == nil then return not x end end",
        "function f() return 'unknown' .. [[names]] --[[in]] -- comments\n end",
        "function f(x) return x ~= 1 and x <= 2 or x >= 3 end",
        "function f() local a; do local b = a; return b end end",
        "function f(...) return select('#', ...) end",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        char *shown = look_at(cases[i], &err);
        if (!CHECK(shown != NULL))
            CHECK_TEXT(err.text, cases[i]);
        free(shown);
    }
}

static void test_chunk__tells_names_that_nothing_has_with_their_line(void)
{
    static const char *const cases[][2] = {
        {"function f(ctx)\n return ctz.input\nend",
         ":2: unknown name 'ctz'; did you mean "
         "'ctx'? (known: f, ctx, "},
        {"function f()\n\n return contians('x', 'y') end",
         ":3: unknown name 'contians'; did you mean 'contains'?"},
        {"function f(x) return contains(y, x) end", ":1: unknown name 'y'"},
        {"function f() return {a = b} end", ":1: unknown name 'b'"},
        {"function f() return {a = 1, c = a} end", ":1: unknown name 'a'"},
        {"function f() local x = os.time() end", ":1: unknown name 'os'"},
        {"function f() pcall(f) end", ":1: unknown name 'pcall'"},
        {"function f() t.x = 1 end", ":1: unknown name 't'"},
        {"function f() t[1] = 1 end", ":1: unknown name 't'"},
        {"function t.f() end", ":1: unknown name 't'"},
        {"function f(x) return x == y end", ":1: unknown name 'y'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        char *shown = look_at(cases[i][0], &err);
        CHECK(shown == NULL);
        CHECK_STATUS(err.status, CADRE_EINVAL, &err);
        CHECK(strncmp(err.text, WHERE, strlen(WHERE)) == 0);
        CHECK(strncmp(err.text + strlen(WHERE), cases[i][1], strlen(cases[i][1])) == 0);
        free(shown);
    }
}

// Where blocks nest deeper than is looked into, names are left to the run.
static void test_chunk__gives_up_on_names_in_deep_nesting(void)
{
    static char text[20000];
    char *at = text;
    for (int i = 0; i < 150; i++)
        at = stpcpy(at, "do ");
    at = stpcpy(at, "error(unknown) ");
    for (int i = 0; i < 150; i++)
        at = stpcpy(at, "end ");
    stpcpy(at, "function f() end");
    cadre_error err = CADRE_ERROR_INIT;
    char *shown = look_at(text, &err);
    CHECK_TEXT(shown, "{\"f\":true}");
    free(shown);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_chunk__finds_the_functions_that_are_defined_outside_of_others),
    CHECK_TEST(test_chunk__refuses_no_name_that_the_script_makes),
    CHECK_TEST(test_chunk__tells_names_that_nothing_has_with_their_line),
    CHECK_TEST(test_chunk__gives_up_on_names_in_deep_nesting),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("expression/chunk", tests);
}
