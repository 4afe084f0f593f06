// Inputs of a team: checked, completed, and put into texts.
#include "team/team.h"

#include "support/check.h"

#include <stdlib.h>

static cadre_runtime *runtime;

static cadre_team *make_team(void)
{
    static const struct {
        const char *name, *schema;
    } inputs[] = {
        {"topic", "{\"type\": \"string\", \"default\": \"orders\"}"},
        {"count", "{\"type\": \"integer\", \"minimum\": 1, \"default\": 3}"},
        {"loud", "{\"type\": \"boolean\", \"default\": false}"},
        {"who", "{\"type\": \"string\"}"},
    };
    const cdr_at at = {.path = "inputs"};
    cadre_team *team = cadre_team_new(runtime, "shop");
    for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
        json_t *schema = json_loads(inputs[i].schema, 0, NULL);
        cdr_team_add_input(team, inputs[i].name, schema, &at);
        json_decref(schema);
    }
    return team;
}

static void check_inputs(const char *given, const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = make_team();
    json_t *value = given ? json_loads(given, JSON_DECODE_ANY, NULL) : NULL;
    json_t *wanted = json_loads(expected, 0, NULL);
    json_t *inputs = cdr_team_inputs(team, value, &err);
    CHECK_TEXT(err.text, "");
    CHECK(json_equal(inputs, wanted));
    json_decref(inputs);
    json_decref(wanted);
    json_decref(value);
    cadre_team_free(team);
}

static void check_refused(const char *given, const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = make_team();
    json_t *value = given ? json_loads(given, JSON_DECODE_ANY, NULL) : NULL;
    CHECK(cdr_team_inputs(team, value, &err) == NULL);
    CHECK_TEXT(err.text, expected);
    json_decref(value);
    cadre_team_free(team);
}

static void test_inputs__fills_in_defaults(void)
{
    check_inputs("{\"who\": \"Ann\"}", "{\"topic\": \"orders\", \"count\": 3, "
                                       "\"loud\": false, \"who\": \"Ann\"}");
}

static void test_inputs__reads_texts_of_the_command_line(void)
{
    check_inputs("{\"who\": \"7\", \"count\": \"12\", \"loud\": \"true\"}",
                 "{\"topic\": \"orders\", \"count\": 12, \"loud\": true, "
                 "\"who\": \"7\"}");
}

static void test_inputs__refuses_what_is_missing_unknown_or_wrong(void)
{
    check_refused(NULL, "input 'who' is missing; it has no default");
    check_refused("{\"who\": \"a\", \"topik\": \"b\"}",
                  "unknown input 'topik'; did you mean 'topic'? (inputs: topic, count, "
                  "loud, who)");
    check_refused("{\"who\": \"a\", \"count\": \"many\"}",
                  "input 'count': expected an integer of at least 1, got \"many\"");
    check_refused("{\"who\": \"a\", \"count\": 0}",
                  "input 'count': expected an integer of at least 1, got 0");
    check_refused("[1]", "inputs: expected an object");
}

static void check_rendered(const char *text, const char *expected)
{
    json_t *inputs = json_loads("{\"topic\": \"{{inputs.count}}\", \"count\": 3, "
                                "\"list\": [1, true]}",
                                0, NULL);
    json_t *state =
        json_loads("{\"note\": \"{{inputs.count}}\", \"list\": [\"a\"]}", 0, NULL);
    char *rendered = cdr_team_render(text, inputs, state);
    CHECK_TEXT(rendered, expected);
    free(rendered);
    json_decref(inputs);
    json_decref(state);
}

static void test_inputs__stand_in_texts(void)
{
    check_rendered("", "");
    check_rendered("none", "none");
    check_rendered("a {{inputs.count}} b {{ inputs.list }}", "a 3 b [1,true]");
    // What an input says is not read again.
    check_rendered("{{inputs.topic}}", "{{inputs.count}}");
    check_rendered("{{state.note}}, {{ state.list }}.", "{{inputs.count}}, [\"a\"].");
    check_rendered("[{{state.nothing}}]", "[]");
}

static void test_inputs__leaves_other_braces_alone(void)
{
    check_rendered("{{inputs.}} {{inputs.count} {{{inputs.count}}} {{count}} {{",
                   "{{inputs.}} {{inputs.count} {3} {{count}} {{");
    check_rendered("{{inputs.other}}", "{{inputs.other}}");
}

static void test_inputs__four_braces_are_two(void)
{
    check_rendered("{{{{count}} {{{{inputs.count}}", "{{count}} {{inputs.count}}");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_inputs__fills_in_defaults),
    CHECK_TEST(test_inputs__reads_texts_of_the_command_line),
    CHECK_TEST(test_inputs__refuses_what_is_missing_unknown_or_wrong),
    CHECK_TEST(test_inputs__stand_in_texts),
    CHECK_TEST(test_inputs__leaves_other_braces_alone),
    CHECK_TEST(test_inputs__four_braces_are_two),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (cadre_runtime_open(NULL, &runtime, NULL) != CADRE_OK)
        return 1;
    int status = check_main("team/inputs", tests);
    cadre_runtime_close(runtime);
    return status;
}
