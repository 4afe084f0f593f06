// Expressions: what they read and give, and what is said of those that are wrong.
#include "support/check.h"
#include "support/expression_case.h"

#include "cadre/ext/expression.h"

#include <stdlib.h>
#include <string.h>

static void test_expression__reads_the_values(void)
{
    expression_check_values((const expression_value_case[]){
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
    expression_check_values((const expression_value_case[]){
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
    cadre_expression *expression = expression_of(
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
    expression_check_values((const expression_value_case[]){
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
    expression_check_values((const expression_value_case[]){
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
    expression_check_values((const expression_value_case[]){
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
    expression_check_values((const expression_value_case[]){
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
    expression_check_values((const expression_value_case[]){
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
    expression_check_failure(
        "{1, nil, 3}",
        EXPRESSION_WHERE ": a table of the value is neither a list without gaps nor an "
                         "object with texts as keys");
    expression_check_failure(
        "{1, a = 2}",
        EXPRESSION_WHERE ": a table of the value is neither a list without gaps nor an "
                         "object with texts as keys");
    expression_check_failure(
        "{[true] = 2}",
        EXPRESSION_WHERE ": a table of the value is neither a list without gaps nor an "
                         "object with texts as keys");
    expression_check_failure("{[{}] = 2}", EXPRESSION_WHERE
                             ": keys of a table are texts, numbers or booleans "
                             "here, one is a table");
    expression_check_failure("{f = size}", EXPRESSION_WHERE ": a function is no JSON");
    expression_check_failure("1 / 0", EXPRESSION_WHERE ": JSON has no number for inf");
    expression_check_failure("('\\xff')", EXPRESSION_WHERE
                             ": a text of the value is not UTF-8, or has a NUL");
    expression_check_failure("local t = {} t[1] = t return t",
                             EXPRESSION_WHERE ": the value has more than 128 levels");
    expression_check_failure("local t = state for i = 1, 127 do t = {t} end return t",
                             EXPRESSION_WHERE ": the value has more than 128 levels");
    expression_check_failure(
        "local t = {1, 1} for i = 1, 60 do t = {t, t} end return t",
        EXPRESSION_WHERE ": the value is too large");
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
    expression_sample given;
    expression_sample_init(&given);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cadre_expression *expression = expression_of(cases[i].text);
        bool result = !cases[i].result;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_OK(cadre_expression_test(expression, &given.values, &result, &err), &err);
        CHECK_INT(result, cases[i].result);
        cadre_expression_free(expression);
    }
    static const char *const wrong[][2] = {
        {"state.score", EXPRESSION_WHERE ": must give true or false, not a number"},
        {"last_response", EXPRESSION_WHERE ": must give true or false, not a text"},
        {"state.tags", EXPRESSION_WHERE ": must give true or false, not a table"},
        {"contains", EXPRESSION_WHERE ": must give true or false, not a function"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cadre_expression *expression = expression_of(wrong[i][0]);
        bool result = true;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_expression_test(expression, &given.values, &result, &err),
                     CADRE_EFAILED, &err);
        CHECK_TEXT(err.text, wrong[i][1]);
        CHECK(result); // untouched
        cadre_expression_free(expression);
    }
    expression_sample_fini(&given);
}

static void test_expression__says_where_it_failed(void)
{
    expression_check_failure("state.absent > 3", EXPRESSION_WHERE
                             ": line 1: attempt to compare number with nil "
                             "(field 'absent' is nil)");
    expression_check_failure(
        "local n = 1\nreturn n < state.none", EXPRESSION_WHERE
        ": line 2: attempt to compare number with nil (field 'none' is "
        "nil)");
    expression_check_failure("state.absent.deeper", EXPRESSION_WHERE
                             ": line 1: attempt to index a nil value (field 'absent')");
    expression_check_failure("state.absent + 1", EXPRESSION_WHERE
                             ": line 1: attempt to perform arithmetic on a "
                             "nil value (field 'absent')");
    expression_check_failure("'a' .. state.tags", EXPRESSION_WHERE
                             ": line 1: attempt to concatenate a table "
                             "value (field 'tags')");
    expression_check_failure("size(3)", EXPRESSION_WHERE
                             ": line 1: bad argument #1 to 'size' (text, list or "
                             "object expected, got number)");
    expression_check_failure(
        "contains(input, nil)", EXPRESSION_WHERE
        ": line 1: bad argument #2 to 'contains' (string expected, got "
        "nil)");
    expression_check_failure(
        "contains(input)",
        EXPRESSION_WHERE ": line 1: bad argument #2 to 'contains' (value expected)");
    expression_check_failure("\n\n  error('no good')",
                             EXPRESSION_WHERE ": line 3: no good");
    expression_check_failure("error({})",
                             EXPRESSION_WHERE ": line 1: error() was given a table");
    expression_check_failure("error()",
                             EXPRESSION_WHERE ": line 1: error() was given a nil");
    expression_check_failure("error(7)", EXPRESSION_WHERE ": line 1: 7");
    expression_check_failure("assert(false, 'so\\nit is')",
                             EXPRESSION_WHERE ": line 1: so\\nit is");
    expression_check_failure(
        "matches(input, '(')", EXPRESSION_WHERE
        ": line 1: regular expression '(': missing closing parenthesis (at "
        "byte 1)");
}

static void test_expression__bad_syntax_is_found_when_made(void)
{
    expression_check_refusal("\"\"", ": the expression is empty");
    expression_check_refusal("\" \\n \"", ": the expression is empty");
    expression_check_refusal("\"-- only a comment\"", ": the expression is empty");
    expression_check_refusal("\"state.score >\"",
                             ": line 1: unexpected symbol near <eof>");
    expression_check_refusal("\"true and\\nand false\"",
                             ": line 2: unexpected symbol near 'and'");
    expression_check_refusal("\"iteration = 3\"", ": line 1: <eof> expected near '='");
    expression_check_refusal("\"x = 'return'\"", ": line 1: ");
    expression_check_refusal("\"if true return 1 end\"",
                             ": line 1: 'then' expected near 'return'");
    expression_check_refusal("\"return return\"", ": line 1: ");
    expression_check_refusal("\"\\u001bLua\"",
                             ": line 1: unexpected symbol near '<\\27>'");
    expression_check_refusal("5",
                             ": must be a text (an expression) or a short form such as "
                             "{contains: TEXT}, got 5");
    expression_check_refusal("null", "got null");
    expression_check_refusal("[\"true\"]", "got an array");
}

static void test_expression__unknown_names_are_found_when_made(void)
{
    expression_check_refusal(
        "\"contains(last_respone, 'SOLVED')\"",
        ": line 1: unknown name 'last_respone'; did you mean 'last_response'? "
        "(known: input, last_response, output, state, outputs, iteration, "
        "contains, starts, ends, matches, size)");
    expression_check_refusal(
        "\"true\\n or matchs(input, 'x')\"",
        ": line 2: unknown name 'matchs'; did you mean 'matches'?");
    expression_check_refusal("\"score > 3\"",
                             ": line 1: unknown name 'score' (known: ");
    expression_check_refusal("\"os.getenv('KEY')\"", "unknown name 'os'");
    expression_check_refusal("\"{a = nothing}\"", "unknown name 'nothing'");
    expression_check_refusal("\"'a' .. nothing\"", "unknown name 'nothing'");
    expression_check_refusal("\"1 .. nothing\"", "unknown name 'nothing'");
    expression_check_refusal("\"[[x]] == nothing\"", "unknown name 'nothing'");
    expression_check_refusal("\"[==[ ]] ]==] == nothing\"", "unknown name 'nothing'");
    expression_check_refusal("\"--[[ no ]] nothing\"", "unknown name 'nothing'");
    expression_check_refusal("\"if nothing then return true end\"",
                             "unknown name 'nothing'");
}

static void test_expression__no_good_name_is_refused(void)
{
    expression_check_values((const expression_value_case[]){
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
    expression_check_failure(
        "local a = 1\nreturn a + itration", EXPRESSION_WHERE
        ": line 2: unknown name 'itration'; did you mean 'iteration'? "
        "(known: input, last_response, output, state, outputs, iteration, "
        "contains, starts, ends, matches, size)");
    expression_check_failure("local a return _ENV[1]",
                             EXPRESSION_WHERE ": line 1: _ENV has names only");
}

static void test_expression__refuses_null(void)
{
    json_t *written = json_string("true");
    cadre_expression *expression = NULL;
    bool result = true;
    json_t *value = NULL;
    CHECK_INT(cadre_expression_new(NULL, EXPRESSION_WHERE, &expression, NULL),
              CADRE_EINVAL);
    CHECK_INT(cadre_expression_new(written, NULL, &expression, NULL), CADRE_EINVAL);
    CHECK_INT(cadre_expression_new(written, EXPRESSION_WHERE, NULL, NULL),
              CADRE_EINVAL);
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
    CHECK_TEST(test_expression__refuses_null),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("expression/expression", tests);
}
