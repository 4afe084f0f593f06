// Hooks in team files: what is read, how mistakes are told, and what else knows of
// them.
#include "support/check.h"
#include "support/folder.h"

#include "cadre/load.h"
#include "cadre/shape.h"
#include "team/team.h"

#include <stdlib.h>
#include <string.h>

static cadre_runtime *runtime;
static test_folder folder;

static bool begin(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    return folder_make(&folder) &&
           CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
}

static void end(void)
{
    cadre_runtime_close(runtime);
    folder_remove(&folder);
}

static void write(const char *name, const char *text)
{
    char path[FOLDER_PATH_SIZE];
    CHECK(folder_write(&folder, name, text, path));
}

static cadre_team *load(const char *text)
{
    char path[FOLDER_PATH_SIZE];
    cadre_team *team = NULL;
    folder_write(&folder, "team.yaml", text, path);
    cadre_team_load(runtime, path, &team, NULL);
    return team;
}

// What a mistake says, without the folder's name, which is another one each time.
static void shorten(char *text)
{
    size_t len = strlen(folder.path);
    for (char *at; (at = strstr(text, folder.path)) != NULL;)
        memmove(at, at + len + 1, strlen(at + len + 1) + 1);
}

static void check_told(const char *text, const char *const *expected, size_t n)
{
    cadre_team *team = load(text);
    size_t n_problems = 0;
    const char *const *problems = cadre_team_problems(team, &n_problems);
    CHECK_INT(n_problems, n);
    for (size_t i = 0; i < n_problems && i < n; i++) {
        char *told = strdup(problems[i]);
        shorten(told);
        CHECK_TEXT(told, expected[i]);
        free(told);
    }
    cadre_team_free(team);
}

#define CHECK_TOLD(text, ...)                                                          \
    check_told(text, (const char *const[]){__VA_ARGS__},                               \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static const char sound[] = "function create(ctx) end\n";

static void test_hook_files__that_cannot_be_used_are_told_with_their_place(void)
{
    if (!begin())
        return;
    write("sound.lua", sound);
    write("syntax.lua", "function create(ctx)\n  local x = = 2\nend\n");
    write("names.lua", "function create(ctx)\n  return ctz\nend\n");
    write("local.lua", "local function create() end");
    CHECK_TOLD(
        "hooks: {create: ./lost.lua}\n"
        "agents:\n"
        "  a: {model: openai/x, hooks: {create: ./syntax.lua}}\n"
        "  b: {model: openai/x, hooks: {create: names.lua}}\n"
        "  c: {model: openai/x, hooks: {create: ./sound.lua, next: ./sound.lua}}\n"
        "  d: {model: openai/x, hooks: {create: ./local.lua}}\n",
        "team.yaml:1:17: hooks.create: cannot read './lost.lua': No such file or "
        "directory",
        "team.yaml:3:40: agents.a.hooks.create: ./syntax.lua:2: unexpected symbol "
        "near '='",
        "team.yaml:4:40: agents.b.hooks.create: names.lua:2: unknown name 'ctz'; did "
        "you mean 'ctx'? (known: create, ctx, contains, starts, ends, matches, size)",
        "team.yaml:5:59: agents.c.hooks.next: ./sound.lua: it defines no function "
        "'next' (it defines: create)",
        "team.yaml:6:40: agents.d.hooks.create: ./local.lua: its function 'create' is "
        "local; leave the word out");
    end();
}

static void test_hook_files__are_checked_by_the_schema(void)
{
    if (!begin())
        return;
    write("sound.lua", sound);
    CHECK_TOLD(
        "agents:\n"
        "  a: {model: openai/x, hooks: ./sound.lua}\n"
        "  b: {model: openai/x, hooks: {craete: ./sound.lua, x-note: 1}}\n"
        "  c: {model: openai/x, hooks: {create: ../sound.lua}}\n"
        "  d: {model: openai/x, hooks: {create: [./sound.lua]}}\n",
        "team.yaml:2:31: agents.a.hooks: expected a mapping, got \"./sound.lua\"",
        "team.yaml:3:32: agents.b.hooks: unknown key 'craete'; did you mean 'create'?",
        "team.yaml:4:40: agents.c.hooks.create: the path '../sound.lua' leaves the "
        "folder of the team file; write one that is relative to it, without '..'",
        "team.yaml:5:40: agents.d.hooks.create: expected a string, got a list");
    end();
}

static void test_hook_files__are_told_once_however_often_they_are_named(void)
{
    if (!begin())
        return;
    write("syntax.lua", "function create(ctx) x x end");
    CHECK_TOLD("hooks: {create: ./syntax.lua, next: ./syntax.lua}\n"
               "agents:\n"
               "  a: {model: openai/x, hooks: {create: ./syntax.lua}}\n",
               "team.yaml:1:17: hooks.create: ./syntax.lua:1: syntax error near 'x'");
    end();
}

static void test_hook_files__that_are_too_large_or_bytecode_are_refused(void)
{
    if (!begin())
        return;
    size_t size = CDR_HOOK_FILE_MAX_BYTES + 1;
    char *large = malloc(size + 1);
    if (!large)
        abort();
    memset(large, ' ', size);
    large[size] = '\0';
    write("large.lua", large);
    write("bytes.lua", "\x1bLua");
    CHECK_TOLD(
        "agents:\n"
        "  a: {model: openai/x, hooks: {create: large.lua}}\n"
        "  b: {model: openai/x, hooks: {create: bytes.lua}}\n",
        "team.yaml:2:40: agents.a.hooks.create: large.lua: it has more than 1024 KiB",
        "team.yaml:3:40: agents.b.hooks.create: bytes.lua: attempt to load a binary "
        "chunk (mode is 't')");
    free(large);
    end();
}

static cadre_team *load_sound(const char *text)
{
    cadre_team *team = load(text);
    size_t n = 0;
    const char *const *problems = cadre_team_problems(team, &n);
    if (!CHECK_INT(n, 0))
        CHECK_TEXT(problems[0], "");
    return team;
}

// Not even what stands outside of functions: it would not end.
static void test_hook_files__are_not_run_when_they_are_loaded(void)
{
    if (!begin())
        return;
    write("loop.lua", "\xEF\xBB\xBFwhile true do end function create() end");
    cadre_team *team =
        load_sound("agents: {a: {model: openai/x, hooks: {create: loop.lua}}}");
    CHECK(cadre_team_root(team) != NULL);
    cadre_team_free(team);
    end();
}

static void test_hook_files__belong_to_the_texts_of_a_team(void)
{
    static const char team_text[] =
        "hooks: {next: b.lua}\n"
        "agents: {a: {model: openai/x, hooks: {create: a.lua}}}\n";
    if (!begin())
        return;
    write("a.lua", sound);
    write("b.lua", "function next(ctx) end");
    cadre_team *first = load_sound(team_text);
    write("a.lua", "function create(ctx) return {output = 'x'} end");
    cadre_team *second = load_sound(team_text);
    write("b.lua", "function next(ctx) return {output = 'x'} end");
    cadre_team *third = load_sound(team_text);
    cadre_team *fourth = load_sound(team_text);
    CHECK_TEXT(first->shape_digest, second->shape_digest);
    CHECK(strcmp(first->text_digest, second->text_digest) != 0);
    CHECK(strcmp(second->text_digest, third->text_digest) != 0);
    CHECK_TEXT(third->text_digest, fourth->text_digest);
    cadre_team_free(first);
    cadre_team_free(second);
    cadre_team_free(third);
    cadre_team_free(fourth);
    end();
}

static void test_hook_files__use_the_agents_that_they_name(void)
{
    if (!begin())
        return;
    write("a.lua",
          "function create(ctx) ctx.call{agent = 'helper'} end -- not helpers");
    cadre_team *team = load_sound("agents:\n"
                                  "  a: {model: openai/x, hooks: {create: a.lua}}\n"
                                  "  helper: {model: openai/x}\n"
                                  "  help: {model: openai/x}\n");
    size_t n = 0;
    const char *const *notes = cadre_team_notes(team, &n);
    if (CHECK_INT(n, 1))
        CHECK_CONTAINS(notes[0], "agent 'help' is never used");
    cadre_team_free(team);
    end();
}

static void test_hook_files__leave_no_bound_on_calls(void)
{
    cadre_worst_case worst;
    cadre_error err = CADRE_ERROR_INIT;
    if (!begin())
        return;
    write("a.lua", sound);
    cadre_team *team = load_sound("agents:\n"
                                  "  top: {type: chain, members: [a]}\n"
                                  "  a: {model: openai/x, hooks: {create: a.lua}}\n");
    if (CHECK_OK(cadre_team_worst_case(team, &worst, &err), &err)) {
        CHECK_INT(worst.model_calls, CADRE_UNLIMITED);
        CHECK(worst.is_deeper);
    }
    cadre_team_free(team);
    end();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_hook_files__that_cannot_be_used_are_told_with_their_place),
    CHECK_TEST(test_hook_files__are_checked_by_the_schema),
    CHECK_TEST(test_hook_files__are_told_once_however_often_they_are_named),
    CHECK_TEST(test_hook_files__that_are_too_large_or_bytecode_are_refused),
    CHECK_TEST(test_hook_files__are_not_run_when_they_are_loaded),
    CHECK_TEST(test_hook_files__belong_to_the_texts_of_a_team),
    CHECK_TEST(test_hook_files__use_the_agents_that_they_name),
    CHECK_TEST(test_hook_files__leave_no_bound_on_calls),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("team/load_hooks", tests);
}
