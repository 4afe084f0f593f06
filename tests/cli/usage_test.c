// Command lines that ask for help, and those that are wrong.
#include "support/program.h"

#include <jansson.h>
#include <string.h>

#define ARGUMENTS(...)                                                                 \
    .arguments = (const char *const[])                                                 \
    {                                                                                  \
        __VA_ARGS__, NULL                                                              \
    }

// A wrong command line: exit 2, nothing on stdout, the text on stderr.
static void check_refused(const char *const *arguments, const char *text)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, .arguments = arguments))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_TEXT(ran.out, "");
    CHECK_CONTAINS(ran.err, text);
    program_result_fini(&ran);
}

#define CHECK_REFUSED(text, ...)                                                       \
    check_refused((const char *const[]){__VA_ARGS__, NULL}, text)

static void test_usage__alone_it_shows_help_and_fails(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, .arguments = (const char *const[]){NULL}))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_TEXT(ran.out, "");
    CHECK_CONTAINS(ran.err, "Usage: cadre COMMAND");
    CHECK_CONTAINS(ran.err, "\n  run ");
    program_result_fini(&ran);
}

static void test_usage__help_lists_the_commands_on_stdout(void)
{
    static const char *const lines[] = {"\n  check ", "\n  help ",   "\n  list ",
                                        "\n  run ",   "\n  schema ", "\n  version "};
    program_result help, flag;

    if (!PROGRAM_RUN(&help, ARGUMENTS("help")))
        return;
    CHECK_INT(help.exit_status, 0);
    CHECK_TEXT(help.err, "");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        CHECK_CONTAINS(help.out, lines[i]);
    if (PROGRAM_RUN(&flag, ARGUMENTS("--help"))) {
        CHECK_TEXT(flag.out, help.out);
        program_result_fini(&flag);
    }
    program_result_fini(&help);
}

static void test_usage__every_command_explains_itself(void)
{
    static const char *const names[] = {"check", "help", "list",   "resume", "run",
                                        "runs",  "show", "schema", "tree",   "version"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        program_result by_flag, by_help;
        if (!PROGRAM_RUN(&by_flag, ARGUMENTS(names[i], "--help")))
            return;
        CHECK_INT(by_flag.exit_status, 0);
        CHECK_CONTAINS(by_flag.out, names[i]);
        CHECK_CONTAINS(by_flag.out, "  --help ");
        if (PROGRAM_RUN(&by_help, ARGUMENTS("help", names[i]))) {
            CHECK_TEXT(by_help.out, by_flag.out);
            program_result_fini(&by_help);
        }
        program_result_fini(&by_flag);
    }
}

static void test_usage__version_names_program_and_libraries(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, ARGUMENTS("--version")))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK(strncmp(ran.out, "cadre ", 6) == 0);
    CHECK_CONTAINS(ran.out, "\nlibcurl ");
    CHECK_CONTAINS(ran.out, "jansson ");
    program_result_fini(&ran);
}

static void test_usage__list_names_what_is_built_in(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, ARGUMENTS("list")))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_CONTAINS(ran.out, "topology  handoff ");
    CHECK_CONTAINS(ran.out, "\nagent     llm ");
    CHECK_CONTAINS(ran.out, " (from C)\n");
    CHECK_CONTAINS(ran.out, " (given by a topology)\n");
    CHECK_CONTAINS(ran.out, "\nmodel     openai ");
    CHECK_CONTAINS(ran.out, "\nstore     memory ");
    program_result_fini(&ran);
}

static void test_usage__schema_is_json(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, ARGUMENTS("schema")))
        return;
    CHECK_INT(ran.exit_status, 0);
    json_t *schema = json_loads(ran.out, 0, NULL);
    CHECK(json_is_object(json_object_get(schema, "properties")));
    json_decref(schema);
    program_result_fini(&ran);
}

static void test_usage__mistyped_words_get_the_nearest_one(void)
{
    CHECK_REFUSED("cadre: unknown command 'rnu'; did you mean 'run'?", "rnu");
    CHECK_REFUSED("cadre: unknown command 'frobnicate'; see `cadre help`\n",
                  "frobnicate");
    CHECK_REFUSED("cadre: unknown command 'chek'; did you mean 'check'?", "help",
                  "chek");
    CHECK_REFUSED("cadre: run: unknown option '--evnts'; did you mean '--events'?",
                  "run", "--evnts", "x", "y");
    CHECK_REFUSED("cadre: run: unknown option '-j'; see `cadre run --help`\n", "run",
                  "-j", "x", "y");
    CHECK_REFUSED("cadre: unknown option '--json' before a command", "--json", "run");
}

static void test_usage__arguments_and_values_are_counted(void)
{
    CHECK_REFUSED("cadre: run: too few arguments: TEAM [INPUT]", "run");
    CHECK_REFUSED("cadre: check: too few arguments: TEAM", "check");
    CHECK_REFUSED("cadre: list: takes no arguments, not 'x'", "list", "x");
    CHECK_REFUSED("cadre: run: one argument too many: 'order'", "run", "team.yaml",
                  "return", "order");
    CHECK_REFUSED("cadre: run: option '--script' needs a value: FILE", "run", "x", "y",
                  "--script");
    CHECK_REFUSED("cadre: run: option '--json' takes no value", "run", "--json=yes",
                  "x", "y");
}

static void test_usage__values_are_checked(void)
{
    CHECK_REFUSED("'--timeout': expected a duration such as 250ms, 10s, 5m or 2h, not "
                  "'10'",
                  "run", "x", "y", "--timeout", "10");
    CHECK_REFUSED("'--timeout': 0 is no limit; leave the option out; see", "run", "x",
                  "y", "--timeout=0s");
    CHECK_REFUSED("'--set': expected NAME=VALUE, not 'topic'", "run", "x", "y", "--set",
                  "topic");
    CHECK_REFUSED("'--json' and '--events' exclude each other", "run", "x", "y",
                  "--json", "--events");
    CHECK_REFUSED("'--all' goes with '--json'", "run", "x", "y", "--all");
}

static void test_usage__escape_sequences_in_arguments_come_out_as_text(void)
{
    CHECK_REFUSED("unknown command '\\x1b[2J\\u009bx\\u202e\\xff\\u202c'",
                  "\033[2J\302\233x\342\200\256\377\342\200\254");
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_usage__alone_it_shows_help_and_fails),
        CHECK_TEST(test_usage__help_lists_the_commands_on_stdout),
        CHECK_TEST(test_usage__every_command_explains_itself),
        CHECK_TEST(test_usage__version_names_program_and_libraries),
        CHECK_TEST(test_usage__list_names_what_is_built_in),
        CHECK_TEST(test_usage__schema_is_json),
        CHECK_TEST(test_usage__mistyped_words_get_the_nearest_one),
        CHECK_TEST(test_usage__arguments_and_values_are_counted),
        CHECK_TEST(test_usage__values_are_checked),
        CHECK_TEST(test_usage__escape_sequences_in_arguments_come_out_as_text),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/usage", tests);
}
