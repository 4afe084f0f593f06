// Expressions: what they read and give, how they fail, and that they end.
#include "support/check.h"

#include "cadre/ext/expression.h"

#include "base/pool.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "graph.edges[2].when"

static json_t *json_or_abort(const char *text)
{
    json_error_t why;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &why);
    if (!CHECK(value != NULL))
        abort();
    return value;
}

// The values of all tests that need no others.
typedef struct sample {
    cadre_expression_values values;
    json_t *state, *outputs;
} sample;

static void sample_init(sample *self)
{
    self->state = json_or_abort(
        "{\"score\": 7, \"ratio\": 0.5, \"big\": 9007199254740993, \"ok\": true,"
        " \"none\": null, \"name\": \"Zoë\", \"tags\": [\"urgent\", null, \"paid\"],"
        " \"numbers\": [3, 1, 2], \"words\": [\"a\", \"b\"], \"empty\": {},"
        " \"user\": {\"name\": \"Ada\", \"roles\": [{\"id\": 1}, {\"id\": 2}]}}");
    self->outputs =
        json_or_abort("{\"writer\": \"draft two\", \"critic\": \"SOLVED\"}");
    self->values = (cadre_expression_values)
        CADRE_EXPRESSION_VALUES(.input = "I want a refund",
                                .last_response = "All done: SOLVED", .output = "text",
                                .state = self->state, .outputs = self->outputs,
                                .iteration = 3);
}

static void sample_fini(sample *self)
{
    json_decref(self->state);
    json_decref(self->outputs);
}

static cadre_expression *expression_or_null(const char *text)
{
    json_t *written = json_string(text);
    cadre_expression *expression = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cadre_expression_new(written, WHERE, &expression, &err), &err))
        fprintf(stderr, "  of: %s\n", text);
    json_decref(written);
    return expression;
}

// Evaluates a text over the sample to a value, as text; NULL: it failed.
static char *value_of(const char *text, cadre_error *err)
{
    sample given;
    sample_init(&given);
    cadre_expression *expression = expression_or_null(text);
    json_t *value = NULL;
    char *dumped = NULL;
    if (expression &&
        cadre_expression_value(expression, &given.values, &value, err) == CADRE_OK)
        dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    json_decref(value);
    cadre_expression_free(expression);
    sample_fini(&given);
    return dumped;
}

typedef struct value_case {
    const char *text;
    const char *value; // JSON
} value_case;

static void check_values(const value_case *cases)
{
    for (; cases->text; cases++) {
        cadre_error err = CADRE_ERROR_INIT;
        char *value = value_of(cases->text, &err);
        if (!CHECK_TEXT(value, cases->value))
            fprintf(stderr, "  of: %s\n  error: %s\n", cases->text, err.text);
        free(value);
    }
}

// Evaluates a text that must fail while it runs.
static void check_failure(const char *text, const char *message)
{
    cadre_error err = CADRE_ERROR_INIT;
    char *value = value_of(text, &err);
    if (!CHECK(value == NULL) || !CHECK_TEXT(err.text, message))
        fprintf(stderr, "  of: %s\n", text);
    CHECK_INT(err.status, CADRE_EFAILED);
    CHECK_INT(err.error_class, CADRE_CLASS_HOOK);
    free(value);
}

// Makes what must be refused.
static void check_refusal(const char *written_json, const char *message)
{
    json_t *written = json_or_abort(written_json);
    cadre_expression *expression = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cadre_expression_new(written, WHERE, &expression, &err);
    if (!CHECK_STATUS(status, CADRE_EINVAL, &err) || !CHECK_CONTAINS(err.text, message))
        fprintf(stderr, "  of: %s\n  error: %s\n", written_json, err.text);
    CHECK(strncmp(err.text, WHERE, strlen(WHERE)) == 0);
    CHECK(expression == NULL);
    cadre_expression_free(expression);
    json_decref(written);
}

static void test_expression__reads_the_values(void)
{
    check_values((const value_case[]){
        {"input", "\"I want a refund\""},
        {"last_response", "\"All done: SOLVED\""},
        {"output", "\"text\""},
        {"iteration", "3"},
        {"iteration + 1 < 5", "true"},
        {"state.score >= 7 and state.ok", "true"},
        {"state.ratio", "0.5"},
        {"state.none", "null"},
        {"state.none == nil", "true"},
        {"state.absent == nil", "true"},
        {"state.name", "\"Zoë\""},
        {"state.user.name .. '!'", "\"Ada!\""},
        {"state['user']['roles'][2].id", "2"},
        {"#state.user.roles", "2"},
        {"#state.tags", "3"},
        {"state.tags[2] == nil and state.tags[3]", "\"paid\""},
        {"state.tags[0] == nil and state.tags['1'] == nil", "true"},
        {"outputs.critic", "\"SOLVED\""},
        {"state.user == state.user", "true"},
        {"state.user == state", "false"},
        {"type(state) .. type(state.score) .. type(input) .. type(nil)",
         "\"tablenumberstringnil\""},
        {NULL, NULL},
    });
}

static void test_expression__whole_numbers_stay_exact(void)
{
    check_values((const value_case[]){
        {"state.big", "9007199254740993"},
        {"state.big + 1", "9007199254740994"},
        {"state.big == 9007199254740992", "false"},
        {"9223372036854775807", "9223372036854775807"},
        {"7 // 2", "3"},
        {"7 / 2", "3.5"},
        {NULL, NULL},
    });
}

static void test_expression__what_is_not_given_is_nil(void)
{
    cadre_expression *expression = expression_or_null(
        "input == nil and last_response == nil and output == nil and state == nil and "
        "outputs == nil and iteration == nil");
    cadre_expression_values none = CADRE_EXPRESSION_VALUES(.iteration = 0);
    bool result = false;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_expression_test(expression, &none, &result, &err), &err);
    CHECK(result);
    result = false;
    CHECK_OK(cadre_expression_test(expression, NULL, &result, &err), &err);
    CHECK(result);
    none.struct_size = 0;
    CHECK_STATUS(cadre_expression_test(expression, &none, &result, &err), CADRE_EINVAL,
                 &err);
    cadre_expression_free(expression);
}

static void test_expression__has_functions_for_texts_and_lists(void)
{
    check_values((const value_case[]){
        {"contains(last_response, 'SOLVED')", "true"},
        {"contains(last_response, 'solved')", "false"},
        {"contains(last_response, '')", "true"},
        {"contains(nil, 'x')", "false"},
        {"contains(state.tags, 'paid')", "true"},
        {"contains(state.tags, 'pai')", "false"},
        {"contains({1, 2, 3}, 2)", "true"},
        {"contains('a+b', '+')", "true"},
        {"starts(last_response, 'All')", "true"},
        {"starts(last_response, 'done')", "false"},
        {"starts(nil, '')", "false"},
        {"ends(last_response, 'SOLVED')", "true"},
        {"ends('D', 'SOLVED')", "false"},
        {"matches(last_response, '^All.*[A-Z]{6}$')", "true"},
        {"matches(last_response, '(?i)solved')", "true"},
        {"matches(last_response, '\\\\d')", "false"},
        {"matches(state.name, '^\\\\w{3}$')", "true"},
        {"matches(nil, 'x')", "false"},
        {"size(state.name)", "3"},
        {"#state.name", "4"},
        {"size(state.tags)", "3"},
        {"size(state.user)", "2"},
        {"size({a = 1, b = 2, 3})", "3"},
        {"size(nil)", "0"},
        {"size(state.absent) == 0 and size(state.empty) == 0", "true"},
        {NULL, NULL},
    });
}

static void test_expression__has_the_harmless_part_of_lua(void)
{
    check_values((const value_case[]){
        {"('x'):upper() .. string.lower('Y') .. string.sub('hello', 2, 3)", "\"Xyel\""},
        {"string.format('%d of %s: %.2f', 3, 'x', 0.5)", "\"3 of x: 0.50\""},
        {"string.format('%s %s', state, {})", "\"table table\""},
        {"math.floor(3.7) + math.max(1, 2) + math.pi // 1", "8.0"},
        {"table.concat(state.words, '-')", "\"a-b\""},
        {"select('#', table.unpack(state.numbers))", "3"},
        {"utf8.len(state.name)", "3"},
        {"tonumber('0x10') + tonumber('12')", "28"},
        {"tostring(1) .. tostring(nil) .. tostring(true) .. tostring(state)",
         "\"1niltruetable\""},
        {"local t = {3, 1, 2} table.sort(t) return t", "[1,2,3]"},
        {"local t = {'b', 'C', 'a'} table.sort(t, function(x, y) return x > y end) "
         "return t",
         "[\"b\",\"a\",\"C\"]"},
        {"local t = {1, 2} table.insert(t, 3) table.remove(t, 1) return t", "[2,3]"},
        {"return table.move({1, 2, 3}, 2, 3, 1)", "[2,3,3]"},
        {"local s = 0 for i, v in ipairs(state.numbers) do s = s + i * v end return s",
         "11"},
        {NULL, NULL},
    });
}

static void test_expression__pairs_has_one_order(void)
{
    check_values((const value_case[]){
        {"local s = '' for k, v in pairs(state.user.roles[1]) do s = s .. k .. v end "
         "return s",
         "\"id1\""},
        {"local s = '' for k in pairs(state) do s = s .. k .. ' ' end return s",
         "\"score ratio big ok name tags numbers words empty user \""},
        {"local s = '' for i, v in pairs(state.tags) do s = s .. i .. v end return s",
         "\"1urgent3paid\""},
        {"local t = {zoo = 1, [10] = 1, apple = 1, [2] = 1, [1.5] = 1, [true] = 1} "
         "local s = '' for k in pairs(t) do s = s .. tostring(k) .. ' ' end return s",
         "\"1.5 2 10 apple zoo true \""},
        {"local t = {a = 1, b = 2, c = 3} local n = 0 "
         "for k in pairs(t) do t.b = nil n = n + 1 end return n",
         "2"},
        {NULL, NULL},
    });
}

static void test_expression__sort_is_stable(void)
{
    check_values((const value_case[]){
        {"local t = {} for i = 1, 500 do t[i] = {key = i % 3, i = i} end "
         "table.sort(t, function(a, b) return a.key < b.key end) "
         "for i = 2, 500 do if t[i - 1].key == t[i].key and t[i - 1].i > t[i].i then "
         "return 'unstable' end end return t[1].key .. t[500].key",
         "\"02\""},
        {"local t = {3, 2, 1, 4} table.sort(t, function() return true end) return #t",
         "4"},
        {NULL, NULL},
    });
}

static void test_expression__gives_json(void)
{
    check_values((const value_case[]){
        {"nil", "null"},
        {"{}", "[]"},
        {"{1, 'two', {three = true}}", "[1,\"two\",{\"three\":true}]"},
        {"{z = 1, a = 2, m = {}}", "{\"a\":2,\"m\":[],\"z\":1}"},
        {"state.user", "{\"name\":\"Ada\",\"roles\":[{\"id\":1},{\"id\":2}]}"},
        {"return ({state.tags, state.none, last = state.empty}).last", "{}"},
        {"{roles = state.user.roles}", "{\"roles\":[{\"id\":1},{\"id\":2}]}"},
        {"1, 2, 3", "1"},
        {"if state.ok then return 'yes' end", "\"yes\""},
        {"-- a comment\nreturn 1", "1"},
        {"if false then return 1 end", "null"},
        {"'return'", "\"return\""},
        {NULL, NULL},
    });
    check_failure("{1, nil, 3}",
                  WHERE ": a table of the value is neither a list without gaps nor an "
                        "object with texts as keys");
    check_failure("{1, a = 2}",
                  WHERE ": a table of the value is neither a list without gaps nor an "
                        "object with texts as keys");
    check_failure("{[true] = 2}",
                  WHERE ": a table of the value is neither a list without gaps nor an "
                        "object with texts as keys");
    check_failure("{[{}] = 2}",
                  WHERE ": keys of a table are texts, numbers or booleans "
                        "here, one is a table");
    check_failure("{f = size}", WHERE ": a function is no JSON");
    check_failure("1 / 0", WHERE ": JSON has no number for inf");
    check_failure("('\\xff')",
                  WHERE ": a text of the value is not UTF-8, or has a NUL");
    check_failure("local t = {} t[1] = t return t",
                  WHERE ": the value has more than 128 levels");
    check_failure("local t = state for i = 1, 127 do t = {t} end return t",
                  WHERE ": the value has more than 128 levels");
    check_failure("local t = {1, 1} for i = 1, 60 do t = {t, t} end return t",
                  WHERE ": the value is too large");
}

static void test_expression__a_condition_is_true_false_or_nil(void)
{
    static const struct {
        const char *text;
        bool result;
    } cases[] = {
        {"true", true},
        {"false", false},
        {"nil", false},
        {"state.absent", false},
        {"state.ok", true},
        {"state.score > 8", false},
        {"local a = 1\nreturn a == 1", true},
    };
    sample given;
    sample_init(&given);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cadre_expression *expression = expression_or_null(cases[i].text);
        bool result = !cases[i].result;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(cadre_expression_test(expression, &given.values, &result, &err), &err);
        CHECK_INT(result, cases[i].result);
        cadre_expression_free(expression);
    }
    static const char *const wrong[][2] = {
        {"state.score", WHERE ": must give true or false, not a number"},
        {"last_response", WHERE ": must give true or false, not a text"},
        {"state.tags", WHERE ": must give true or false, not a table"},
        {"contains", WHERE ": must give true or false, not a function"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cadre_expression *expression = expression_or_null(wrong[i][0]);
        bool result = true;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_expression_test(expression, &given.values, &result, &err),
                     CADRE_EFAILED, &err);
        CHECK_TEXT(err.text, wrong[i][1]);
        CHECK(result); // untouched
        cadre_expression_free(expression);
    }
    sample_fini(&given);
}

static void test_expression__says_where_it_failed(void)
{
    check_failure("state.absent > 3",
                  WHERE ": line 1: attempt to compare number with nil "
                        "(field 'absent' is nil)");
    check_failure("local n = 1\nreturn n < state.none",
                  WHERE ": line 2: attempt to compare number with nil (field 'none' is "
                        "nil)");
    check_failure("state.absent.deeper",
                  WHERE ": line 1: attempt to index a nil value (field 'absent')");
    check_failure("state.absent + 1",
                  WHERE ": line 1: attempt to perform arithmetic on a "
                        "nil value (field 'absent')");
    check_failure("'a' .. state.tags", WHERE ": line 1: attempt to concatenate a table "
                                             "value (field 'tags')");
    check_failure("size(3)", WHERE ": line 1: bad argument #1 to 'size' (text, list or "
                                   "object expected, got number)");
    check_failure("contains(input, nil)",
                  WHERE ": line 1: bad argument #2 to 'contains' (string expected, got "
                        "nil)");
    check_failure("contains(input)",
                  WHERE ": line 1: bad argument #2 to 'contains' (value expected)");
    check_failure("\n\n  error('no good')", WHERE ": line 3: no good");
    check_failure("error({})", WHERE ": line 1: error() was given a table");
    check_failure("error()", WHERE ": line 1: error() was given a nil");
    check_failure("error(7)", WHERE ": line 1: 7");
    check_failure("assert(false, 'so\\nit is')", WHERE ": line 1: so\\nit is");
    check_failure("matches(input, '(')", WHERE
                  ": line 1: regular expression '(': missing closing parenthesis (at "
                  "byte 1)");
}

static void test_expression__bad_syntax_is_found_when_made(void)
{
    check_refusal("\"\"", ": the expression is empty");
    check_refusal("\" \\n \"", ": the expression is empty");
    check_refusal("\"-- only a comment\"", ": the expression is empty");
    check_refusal("\"state.score >\"", ": line 1: unexpected symbol near <eof>");
    check_refusal("\"true and\\nand false\"", ": line 2: unexpected symbol near 'and'");
    check_refusal("\"iteration = 3\"", ": line 1: <eof> expected near '='");
    check_refusal("\"x = 'return'\"", ": line 1: ");
    check_refusal("\"if true return 1 end\"",
                  ": line 1: 'then' expected near 'return'");
    check_refusal("\"return return\"", ": line 1: ");
    check_refusal("\"\\u001bLua\"", ": line 1: unexpected symbol near '<\\27>'");
    check_refusal("5", ": must be a text (an expression) or a short form such as "
                       "{contains: TEXT}, got 5");
    check_refusal("null", "got null");
    check_refusal("[\"true\"]", "got an array");
}

static void test_expression__unknown_names_are_found_when_made(void)
{
    check_refusal(
        "\"contains(last_respone, 'SOLVED')\"",
        ": line 1: unknown name 'last_respone'; did you mean 'last_response'? "
        "(known: input, last_response, output, state, outputs, iteration, "
        "contains, starts, ends, matches, size)");
    check_refusal("\"true\\n or matchs(input, 'x')\"",
                  ": line 2: unknown name 'matchs'; did you mean 'matches'?");
    check_refusal("\"score > 3\"", ": line 1: unknown name 'score' (known: ");
    check_refusal("\"os.getenv('KEY')\"", "unknown name 'os'");
    check_refusal("\"{a = nothing}\"", "unknown name 'nothing'");
    check_refusal("\"'a' .. nothing\"", "unknown name 'nothing'");
    check_refusal("\"1 .. nothing\"", "unknown name 'nothing'");
    check_refusal("\"[[x]] == nothing\"", "unknown name 'nothing'");
    check_refusal("\"[==[ ]] ]==] == nothing\"", "unknown name 'nothing'");
    check_refusal("\"--[[ no ]] nothing\"", "unknown name 'nothing'");
    check_refusal("\"if nothing then return true end\"", "unknown name 'nothing'");
}

static void test_expression__no_good_name_is_refused(void)
{
    check_values((const value_case[]){
        {"state . user . name", "\"Ada\""},
        {"state.user --[[ the\nname ]] .name", "\"Ada\""},
        {"('nothing'):len()", "7"},
        {"('it\\'s nothing') == \"it's nothing\"", "true"},
        {"[[nothing]] .. '-- nothing' .. [==[]] nothing]==]",
         "\"nothing-- nothing]] nothing\""},
        {"{nothing = 1, other = {nothing = 2}}",
         "{\"nothing\":1,\"other\":{\"nothing\":2}}"},
        {"0xff + 1e2 + 3.e0 - .25", "357.75"},
        {"mine = 4 return mine", "4"},
        {"local mine = 4 return mine", "4"},
        {"a, b = 1, 2 return a + b", "3"},
        {"(function(mine) return mine end)(4)", "4"},
        {"for mine = 1, 3 do if mine == 2 then return mine end end", "2"},
        {"::again:: if true then return 5 end", "5"},
        {"_ENV.input", "\"I want a refund\""},
        {NULL, NULL},
    });
}

static void test_expression__unknown_names_elsewhere_fail_when_read(void)
{
    check_failure("local a = 1\nreturn a + itration", WHERE
                  ": line 2: unknown name 'itration'; did you mean 'iteration'? "
                  "(known: input, last_response, output, state, outputs, iteration, "
                  "contains, starts, ends, matches, size)");
    check_failure("local a return _ENV[1]", WHERE ": line 1: _ENV has names only");
}

static void test_expression__lacks_what_looks_outside_or_hides_errors(void)
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
        char *value = value_of(text, &err);
        bool is_absent = value ? strcmp(value, "true") == 0
                               : strstr(err.text, "unknown name '") != NULL;
        if (!CHECK(is_absent))
            fprintf(stderr, "  %s is there: %s %s\n", names[i], value ? value : "",
                    err.text);
        free(value);
    }
    check_failure("string.format('%p', 'x')",
                  WHERE ": line 1: string.format has no %p here");
    check_failure("string.format('%-20p', 'x')",
                  WHERE ": line 1: string.format has no %p here");
}

static void test_expression__nothing_stays_from_one_evaluation_to_the_next(void)
{
    static const char *const texts[] = {
        "seen = (_ENV == nil) return seen",
        "local ok = string.extra == nil and ('').extra == nil return not ok",
    };
    sample given;
    sample_init(&given);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cadre_expression *expression = expression_or_null(texts[i]);
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
        expression_or_null("local function count() n = n + 1 return n end\n"
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
    sample_fini(&given);
}

static void test_expression__libraries_and_values_are_read_only(void)
{
    check_failure("string.len = 3 return 1", WHERE ": line 1: libraries are read-only");
    check_failure("table.insert(table, 3) return 1",
                  WHERE ": line 1: libraries are read-only");
    check_failure("function math.floor() end return 1",
                  WHERE ": line 1: libraries are read-only");
    check_failure("state.score = 9 return 1",
                  WHERE ": line 1: what an expression reads cannot be changed");
    check_failure("table.sort(state.numbers) return 1",
                  WHERE ": line 1: what an expression reads cannot be changed");
    check_failure("table.insert(state.numbers, 1) return 1",
                  WHERE ": line 1: what an expression reads cannot be changed");
}

static void test_expression__what_runs_away_is_cut(void)
{
    check_failure("while true do end return 1",
                  WHERE ": line 1: it takes more than 10 million steps");
    check_failure("local function f() return f() end\nreturn f()",
                  WHERE ": line 1: it takes more than 10 million steps");
    check_failure("for i = 1, math.huge do end return 1",
                  WHERE ": line 1: it takes more than 10 million steps");
    static const char no_memory[] = WHERE
        ": it needs more than 1024 KiB of memory, and 4 times what the values take";
    check_failure("local s = 'x' while true do s = s .. s end return s", no_memory);
    check_failure("local t = {} while true do t[#t + 1] = {} end return t", no_memory);
    check_failure("local t = {} for i = 1, 1e9 do t[i] = i end return t", no_memory);
    check_failure("return table.move({}, 1, 1 << 40, 2)",
                  WHERE ": line 1: table.move moves at most 1000000 values");
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(value_of("local function f(n) return 1 + f(n + 1) end return f(1)", &err) ==
          NULL);
    CHECK_INT(err.status, CADRE_EFAILED);
}

static void test_expression__regular_expressions_are_cut(void)
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
        cadre_expression *expression = expression_or_null(bombs[i]);
        bool result = false;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_expression_test(expression, &values, &result, &err),
                     CADRE_EFAILED, &err);
        CHECK_CONTAINS(err.text, "it takes too many steps on this text");
        cadre_expression_free(expression);
    }
}

static void test_expression__a_long_text_is_searched_to_its_end(void)
{
    size_t len = 1000000;
    char *text = malloc(len + 1);
    for (size_t i = 0; i < len; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    memcpy(text + len - 4, "needle" + 2, 4);
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
        cadre_expression *expression = expression_or_null(cases[i].text);
        bool result = !cases[i].result;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(cadre_expression_test(expression, &values, &result, &err), &err);
        CHECK_INT(result, cases[i].result);
        cadre_expression_free(expression);
    }
    free(text);
}

static void test_expression__memory_follows_the_values(void)
{
    size_t len = 4 * 1024 * 1024;
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
        cadre_expression *expression = expression_or_null(texts[i]);
        for (int n = 0; n < 5; n++) { // what one leaves is not in the next one's way
            json_t *value = NULL;
            cadre_error err = CADRE_ERROR_INIT;
            CHECK_OK(cadre_expression_value(expression, &values, &value, &err), &err);
            CHECK_INT(json_integer_value(value), sizes[i]);
            json_decref(value);
        }
        cadre_expression_free(expression);
    }
    cadre_expression *greedy = expression_or_null(
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
        cadre_status status = cadre_expression_new(written, WHERE, &expression, &err);
        CHECK_STATUS(status, CADRE_EINVAL, &err);
        cadre_expression_free(expression);
        json_decref(written);
        free(text);
    }
    check_values((const value_case[]){
        {"((((((((((((((((((((1))))))))))))))))))))", "1"},
        {"{{{{{{{{{{}}}}}}}}}}", "[[[[[[[[[[]]]]]]]]]]"},
        {NULL, NULL},
    });
    char *regex = nested("(", "a", ")", 1000);
    char *text = nested("matches(input, '", regex, "')", 1);
    cadre_error err = CADRE_ERROR_INIT;
    CHECK(value_of(text, &err) == NULL);
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

static void test_expression__deep_nesting_fits_the_stack_of_a_thread(void)
{
    run_job(try_deep, NULL, 1);
}

static void check_short_form(const char *written_json, const char *text, bool expected)
{
    json_t *written = json_or_abort(written_json);
    cadre_expression *expression = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_expression_new(written, WHERE, &expression, &err), &err);
    json_decref(written); // the expression has copies
    cadre_expression_values values = CADRE_EXPRESSION_VALUES(.last_response = text);
    bool result = !expected;
    CHECK_OK(cadre_expression_test(expression, &values, &result, &err), &err);
    if (!CHECK_INT(result, expected))
        fprintf(stderr, "  of: %s\n", written_json);
    json_t *value = NULL;
    CHECK_OK(cadre_expression_value(expression, &values, &value, &err), &err);
    CHECK(json_equal(value, json_boolean(expected)));
    cadre_expression_free(expression);
}

static void test_expression__short_forms_look_at_the_last_response(void)
{
    check_short_form("{\"contains\": \"refund\"}", "I want a refund", true);
    check_short_form("{\"contains\": \"Refund\"}", "I want a refund", false);
    check_short_form("{\"contains\": [\"return\", \"refund\"]}", "a refund", true);
    check_short_form("{\"contains\": [\"return\", \"send\"]}", "a refund", false);
    check_short_form("{\"contains\": \"\"}", "", true);
    check_short_form("{\"starts\": \"YES\"}", "YES, do it", true);
    check_short_form("{\"starts\": \"YES\"}", "no YES", false);
    check_short_form("{\"starts\": \"YES\"}", "YE", false);
    check_short_form("{\"ends\": \"end\"}", "the end", true);
    check_short_form("{\"ends\": \"end\"}", "ending", false);
    check_short_form("{\"equals\": \"APPROVED\"}", "APPROVED", true);
    check_short_form("{\"equals\": \"APPROVED\"}", "APPROVED.", false);
    check_short_form("{\"matches\": \"^score: [89]\"}", "score: 9", true);
    check_short_form("{\"matches\": [\"^a$\", \"^b$\"]}", "b", true);
    check_short_form("{\"matches\": \"^b$\"}", "c", false);
    check_short_form("{\"contains\": \"\"}", NULL, false);
    check_short_form("{\"matches\": \".*\"}", NULL, false);
}

static void test_expression__bad_short_forms_are_refused(void)
{
    check_refusal("{}",
                  ": a short form has exactly one of contains, starts, ends, equals, "
                  "matches, got 0 keys");
    check_refusal("{\"contains\": \"a\", \"ends\": \"b\"}", "got 2 keys");
    check_refusal("{\"contain\": \"a\"}",
                  ": unknown short form 'contain'; did you mean 'contains'? (known: "
                  "contains, starts, ends, equals, matches)");
    check_refusal("{\"zzz\": \"a\"}", ": unknown short form 'zzz' (known: ");
    check_refusal("{\"contains\": 5}",
                  ".contains: must be a text or a list of texts, got 5");
    check_refusal("{\"equals\": [\"a\", true]}",
                  ".equals: must be a text or a list of texts, got true");
    check_refusal("{\"starts\": []}", ".starts: the list is empty");
    check_refusal(
        "{\"matches\": [\"a\", \"b(\"]}",
        ".matches: regular expression 'b(': missing closing parenthesis (at byte "
        "2)");
    check_refusal("{\"matches\": \"((a{1000}){1000}){1000}\"}",
                  "regular expression is too large");
}

static void test_expression__a_short_form_cannot_run_away(void)
{
    json_t *written = json_or_abort("{\"matches\": \"(a+)+$\"}");
    cadre_expression *expression = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_expression_new(written, WHERE, &expression, &err), &err);
    cadre_expression_values values = CADRE_EXPRESSION_VALUES(
            .last_response =
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
    bool result = false;
    CHECK_STATUS(cadre_expression_test(expression, &values, &result, &err),
                 CADRE_EFAILED, &err);
    CHECK_INT(err.error_class, CADRE_CLASS_HOOK);
    CHECK_TEXT(err.text,
               WHERE ": regular expression '(a+)+$': it takes too many steps on "
                     "this text");
    cadre_expression_free(expression);
    json_decref(written);
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
    sample given;
    sample_init(&given);
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
    sample_fini(&given);
}

static void test_expression__many_threads_share_one(void)
{
    cadre_expression *expression = expression_or_null(
        "local mine = iteration\nif iteration % 50 == 0 then error('so') end\n"
        "kept = matches(input, 'refund') and mine return kept + state.score");
    shared self = {.expression = expression};
    run_job(evaluate_often, &self, 16);
    CHECK_INT(atomic_load(&self.next), 16);
    CHECK_INT(atomic_load(&self.n_wrong), 0);
    cadre_expression_free(expression);
}

static void test_expression__refuses_null(void)
{
    json_t *written = json_string("true");
    cadre_expression *expression = NULL;
    bool result = true;
    json_t *value = NULL;
    CHECK_INT(cadre_expression_new(NULL, WHERE, &expression, NULL), CADRE_EINVAL);
    CHECK_INT(cadre_expression_new(written, NULL, &expression, NULL), CADRE_EINVAL);
    CHECK_INT(cadre_expression_new(written, WHERE, NULL, NULL), CADRE_EINVAL);
    CHECK_INT(cadre_expression_test(NULL, NULL, &result, NULL), CADRE_EINVAL);
    CHECK_INT(cadre_expression_value(NULL, NULL, &value, NULL), CADRE_EINVAL);
    cadre_expression_free(NULL);
    json_decref(written);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_expression__reads_the_values),
    CHECK_TEST(test_expression__whole_numbers_stay_exact),
    CHECK_TEST(test_expression__what_is_not_given_is_nil),
    CHECK_TEST(test_expression__has_functions_for_texts_and_lists),
    CHECK_TEST(test_expression__has_the_harmless_part_of_lua),
    CHECK_TEST(test_expression__pairs_has_one_order),
    CHECK_TEST(test_expression__sort_is_stable),
    CHECK_TEST(test_expression__gives_json),
    CHECK_TEST(test_expression__a_condition_is_true_false_or_nil),
    CHECK_TEST(test_expression__says_where_it_failed),
    CHECK_TEST(test_expression__bad_syntax_is_found_when_made),
    CHECK_TEST(test_expression__unknown_names_are_found_when_made),
    CHECK_TEST(test_expression__no_good_name_is_refused),
    CHECK_TEST(test_expression__unknown_names_elsewhere_fail_when_read),
    CHECK_TEST(test_expression__lacks_what_looks_outside_or_hides_errors),
    CHECK_TEST(test_expression__nothing_stays_from_one_evaluation_to_the_next),
    CHECK_TEST(test_expression__libraries_and_values_are_read_only),
    CHECK_TEST(test_expression__what_runs_away_is_cut),
    CHECK_TEST(test_expression__regular_expressions_are_cut),
    CHECK_TEST(test_expression__a_long_text_is_searched_to_its_end),
    CHECK_TEST(test_expression__memory_follows_the_values),
    CHECK_TEST(test_expression__deep_nesting_fits_the_stack_of_a_thread),
    CHECK_TEST(test_expression__short_forms_look_at_the_last_response),
    CHECK_TEST(test_expression__bad_short_forms_are_refused),
    CHECK_TEST(test_expression__a_short_form_cannot_run_away),
    CHECK_TEST(test_expression__many_threads_share_one),
    CHECK_TEST(test_expression__refuses_null),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("expression/expression", tests);
}
