// Expressions in their limits: they look nowhere else, leave nothing, and end.
#include "support/check.h"
#include "support/expression_case.h"

#include "cadre/ext/expression.h"

#include "base/pool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_limits__lacks_what_looks_outside_or_hides_errors(void)
{
    static const char *const names[] = {
        "pcall",
        "xpcall",
        "coroutine",
        "load",
        "loadstring",
        "loadfile",
        "dofile",
        "require",
        "package",
        "setmetatable",
        "rawset",
        "rawget",
        "rawequal",
        "rawlen",
        "print",
        "io",
        "os",
        "debug",
        "collectgarbage",
        "warn",
        "next",
        "getmetatable",
        "_G",
        "_VERSION",
        "_ENV._G",
        "_ENV.load",
        "string.find",
        "string.match",
        "string.gmatch",
        "string.gsub",
        "string.rep",
        "string.dump",
        "string.pack",
        "string.unpack",
        "string.packsize",
        "math.random",
        "math.randomseed",
        "('').find",
        "('').rep",
        "('').gsub",
        "('').match",
        "('').gmatch",
        "('').dump",
        "('').pack",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char text[80];
        snprintf(text, sizeof(text), "local a return %s == nil", names[i]);
        cadre_error err = CADRE_ERROR_INIT;
        char *value = expression_value_of(text, &err);
        bool is_absent = value ? strcmp(value, "true") == 0
                               : strstr(err.text, "unknown name '") != NULL;
        if (!CHECK(is_absent))
            fprintf(stderr, "  %s is there: %s %s\n", names[i], value ? value : "",
                    err.text);
        free(value);
    }
    expression_check_failure("string.format('%p', 'x')",
                             EXPRESSION_WHERE ": line 1: string.format has no %p here");
    expression_check_failure("string.format('%-20p', 'x')",
                             EXPRESSION_WHERE ": line 1: string.format has no %p here");
}

static void test_limits__nothing_stays_from_one_evaluation_to_the_next(void)
{
    static const char *const texts[] = {
        "seen = (_ENV == nil) return seen",
        "local ok = string.extra == nil and ('').extra == nil return not ok",
    };
    expression_sample given;
    expression_sample_init(&given);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cadre_expression *expression = expression_of(texts[i]);
        for (int n = 0; n < 3; n++) {
            bool result = true;
            cadre_error err = CADRE_ERROR_INIT;
            CHECK_OK(cadre_expression_test(expression, &given.values, &result, &err),
                     &err);
            CHECK(!result);
        }
        cadre_expression_free(expression);
    }
    // The second evaluation would see what the first has set.
    cadre_expression *counter =
        expression_of("local function count() n = n + 1 return n end\n"
                      "if iteration == 1 then n = 0 input = 'mine' contains = nil "
                      "return count() end\n"
                      "return input");
    for (int i = 1; i <= 2; i++) {
        given.values.iteration = i;
        json_t *value = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(cadre_expression_value(counter, &given.values, &value, &err), &err);
        if (i == 1)
            CHECK_INT(json_integer_value(value), 1);
        else
            CHECK_TEXT(json_string_value(value), "I want a refund");
        json_decref(value);
    }
    cadre_expression_free(counter);
    expression_sample_fini(&given);
}

static void test_limits__libraries_and_values_are_read_only(void)
{
    expression_check_failure("string.len = 3 return 1",
                             EXPRESSION_WHERE ": line 1: libraries are read-only");
    expression_check_failure("table.insert(table, 3) return 1",
                             EXPRESSION_WHERE ": line 1: libraries are read-only");
    expression_check_failure("function math.floor() end return 1",
                             EXPRESSION_WHERE ": line 1: libraries are read-only");
    expression_check_failure("state.score = 9 return 1", EXPRESSION_WHERE
                             ": line 1: what a script reads cannot be changed");
    expression_check_failure("table.sort(state.numbers) return 1", EXPRESSION_WHERE
                             ": line 1: what a script reads cannot be changed");
    expression_check_failure("table.insert(state.numbers, 1) return 1", EXPRESSION_WHERE
                             ": line 1: what a script reads cannot be changed");
}

static void test_limits__what_runs_away_is_cut(void)
{
    expression_check_failure("while true do end return 1", EXPRESSION_WHERE
                             ": line 1: it takes more than 10 million steps");
    expression_check_failure("local function f() return f() end\nreturn f()",
                             EXPRESSION_WHERE
                             ": line 1: it takes more than 10 million steps");
    expression_check_failure("for i = 1, math.huge do end return 1", EXPRESSION_WHERE
                             ": line 1: it takes more than 10 million steps");
    static const char no_memory[] = EXPRESSION_WHERE
        ": it needs more than 1024 KiB of memory, and 4 times what the values take";
    expression_check_failure("local s = 'x' while true do s = s .. s end return s",
                             no_memory);
    expression_check_failure("local t = {} while true do t[#t + 1] = {} end return t",
                             no_memory);
    expression_check_failure("local t = {} for i = 1, 1e9 do t[i] = i end return t",
                             no_memory);
    expression_check_failure("return table.move({}, 1, 1 << 40, 2)", EXPRESSION_WHERE
                             ": line 1: table.move moves at most 1000000 values");
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(expression_value_of("local function f(n) return 1 + f(n + 1) end return f(1)",
                              &err) == NULL);
    CHECK_INT(err.status, CADRE_EFAILED);
}

static void test_limits__regular_expressions_are_cut(void)
{
    static char text[50001];
    memset(text, 'a', sizeof(text) - 2);
    text[sizeof(text) - 2] = '!'; // no pattern fits; b or c must be tried for
    cadre_expression_values values = CADRE_EXPRESSION_VALUES(.last_response = text);
    static const char *const bombs[] = {
        "matches(last_response, '(a+)+$')",
        "matches(last_response, '(a|aa)+$')",
        "matches(last_response, '(.*)(.*)(.*)[bc]')",
    };
    for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
        cadre_expression *expression = expression_of(bombs[i]);
        bool result = false;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_expression_test(expression, &values, &result, &err),
                     CADRE_EFAILED, &err);
        CHECK_CONTAINS(err.text, "it takes too many steps on this text");
        cadre_expression_free(expression);
    }
}

static void test_limits__a_long_text_is_searched_to_its_end(void)
{
    size_t len = 1000000;
    char *text = malloc(len + 1);
    for (size_t i = 0; i < len; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    memcpy(text + len - 4, "edle", 4);
    text[len] = '\0';
    cadre_expression_values values = CADRE_EXPRESSION_VALUES(.last_response = text);
    static const struct {
        const char *text;
        bool result;
    } cases[] = {
        {"matches(last_response, 'edle$')", true},
        {"matches(last_response, '[^\\\\x{e9}]')", true},
        {"matches(last_response, '^e')", false},
        {"matches(last_response, 'z')", false},
        {"matches(last_response, '$')", true},
        {"contains(last_response, 'edle') and size(last_response) == 500002", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cadre_expression *expression = expression_of(cases[i].text);
        bool result = !cases[i].result;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(cadre_expression_test(expression, &values, &result, &err), &err);
        CHECK_INT(result, cases[i].result);
        cadre_expression_free(expression);
    }
    free(text);
}

static void test_limits__memory_follows_the_values(void)
{
    size_t len = (size_t)4 * 1024 * 1024;
    char *text = malloc(len + 1);
    memset(text, 'a', len);
    text[len] = '\0';
    json_t *state = json_pack("{s:s, s:s}", "big", text, "small", "x");
    cadre_expression_values values =
        CADRE_EXPRESSION_VALUES(.input = text, .state = state);
    static const char *const texts[] = {"#input + #(input .. 'x')",
                                        "#(state.big .. input)", "#state.big"};
    static const json_int_t sizes[] = {8388609, 8388608, 4194304};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cadre_expression *expression = expression_of(texts[i]);
        for (int n = 0; n < 5; n++) { // what one leaves is not in the next one's way
            json_t *value = NULL;
            cadre_error err = CADRE_ERROR_INIT;
            CHECK_OK(cadre_expression_value(expression, &values, &value, &err), &err);
            CHECK_INT(json_integer_value(value), sizes[i]);
            json_decref(value);
        }
        cadre_expression_free(expression);
    }
    cadre_expression *greedy = expression_of(
        "local t = {} for i = 1, 100 do t[i] = state.big .. i end return #t");
    json_t *value = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_expression_value(greedy, &values, &value, &err), CADRE_EFAILED,
                 &err);
    CHECK(value == NULL);
    cadre_expression_free(greedy);
    json_decref(state);
    free(text);
}

// Fills with `open` n times, `middle`, and `close` n times.
static char *nested(const char *open, const char *middle, const char *close, size_t n)
{
    size_t size = n * (strlen(open) + strlen(close)) + strlen(middle) + 1;
    char *text = malloc(size);
    char *at = text;
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, open);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, close);
    return text;
}

static void try_deep(void *arg)
{
    (void)arg;
    static const char *const parts[][3] = {
        {"(", "1", ")"},
        {"{", "1", "}"},
        {"not ", "1", ""},
        {"-", "1", ""},
        {"size(", "1", ")"},
        {"state[", "1", "]"},
        {"'a' .. ", "'b'", ""},
        {"2 ^ ", "1", ""},
        {"(function() return ", "1", " end)()"},
        {"[[", "1", "]]"},
        {"matches(input, '(", "a", ")')"},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char *text = nested(parts[i][0], parts[i][1], parts[i][2], 100000);
        json_t *written = json_string(text);
        cadre_expression *expression = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        cadre_status status =
            cadre_expression_new(written, EXPRESSION_WHERE, &expression, &err);
        CHECK_STATUS(status, CADRE_EINVAL, &err);
        cadre_expression_free(expression);
        json_decref(written);
        free(text);
    }
    expression_check_values((const expression_value_case[]){
        {"((((((((((((((((((((1))))))))))))))))))))", "1"},
        {"{{{{{{{{{{}}}}}}}}}}", "[[[[[[[[[[]]]]]]]]]]"},
        {NULL, NULL},
    });
    char *regex = nested("(", "a", ")", 1000);
    char *text = nested("matches(input, '", regex, "')", 1);
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(expression_value_of(text, &err) == NULL);
    CHECK_CONTAINS(err.text, "parentheses are too deeply nested");
    free(text);
    free(regex);
}

static void run_job(void (*job)(void *arg), void *arg, int n)
{
    cdr_pool *pool = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cdr_pool_open(n, n, &pool, &err), &err))
        abort();
    for (int i = 0; i < n; i++)
        CHECK_OK(cdr_pool_run(pool, job, arg, &err), &err);
    cdr_pool_close(pool);
}

static void test_limits__deep_nesting_fits_the_stack_of_a_thread(void)
{
    run_job(try_deep, NULL, 1);
}

// One expression for all threads of a test.
typedef struct shared {
    const cadre_expression *expression;
    atomic_int next;
    atomic_int n_wrong;
} shared;

static void evaluate_often(void *arg)
{
    shared *self = arg;
    int offset = atomic_fetch_add(&self->next, 1) * 1000;
    expression_sample given;
    expression_sample_init(&given);
    for (int i = 1; i <= 300; i++) {
        given.values.iteration = offset + i;
        json_t *value = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        cadre_status status =
            cadre_expression_value(self->expression, &given.values, &value, &err);
        bool fails = (offset + i) % 50 == 0;
        bool is_right = fails ? status == CADRE_EFAILED
                              : json_integer_value(value) == offset + i + 7;
        if (!is_right)
            atomic_fetch_add(&self->n_wrong, 1);
        json_decref(value);
    }
    expression_sample_fini(&given);
}

static void test_limits__many_threads_share_one(void)
{
    cadre_expression *expression = expression_of(
        "local mine = iteration\nif iteration % 50 == 0 then error('so') end\n"
        "kept = matches(input, 'refund') and mine return kept + state.score");
    shared self = {.expression = expression};
    run_job(evaluate_often, &self, 16);
    CHECK_INT(atomic_load(&self.next), 16);
    CHECK_INT(atomic_load(&self.n_wrong), 0);
    cadre_expression_free(expression);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_limits__lacks_what_looks_outside_or_hides_errors),
    CHECK_TEST(test_limits__nothing_stays_from_one_evaluation_to_the_next),
    CHECK_TEST(test_limits__libraries_and_values_are_read_only),
    CHECK_TEST(test_limits__what_runs_away_is_cut),
    CHECK_TEST(test_limits__regular_expressions_are_cut),
    CHECK_TEST(test_limits__a_long_text_is_searched_to_its_end),
    CHECK_TEST(test_limits__memory_follows_the_values),
    CHECK_TEST(test_limits__deep_nesting_fits_the_stack_of_a_thread),
    CHECK_TEST(test_limits__many_threads_share_one),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("expression/limits", tests);
}
