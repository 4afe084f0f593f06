// See lua_case.h.
#include "support/lua_case.h"

#include "support/folder.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

team_case lua_team;

static team_case *const t = &lua_team;
static test_folder folder;

void lua_case_open(const char *team, const char *hooks)
{
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    team_case_open(t);
    cadre_team_free(t->team);
    t->team = NULL;
    if (!folder_make(&folder) || !folder_write(&folder, "hooks.lua", hooks, path) ||
        !folder_write(&folder, "team.yaml", team, path))
        abort();
    CHECK_OK(cadre_team_load(t->runtime, path, &t->team, &err), &err);
}

// "{create: ./hooks.lua, next: ./hooks.lua}"
static void append_hooks(cdr_buf *team, const char *names)
{
    char *copy = strdup(names);
    char *rest = NULL;
    const char *comma = "";
    cdr_buf_append_text(team, "{");
    for (char *name = strtok_r(copy, " ", &rest); name;
         name = strtok_r(NULL, " ", &rest)) {
        cdr_buf_printf(team, "%s%s: ./hooks.lua", comma, name);
        comma = ", ";
    }
    cdr_buf_append_text(team, "}");
    free(copy);
}

static void open_with(const char *before, const char *names, const char *hooks,
                      const char *after)
{
    cdr_buf team = CDR_BUF_INIT;
    cdr_buf_append_text(&team, before);
    append_hooks(&team, names);
    cdr_buf_append_text(&team, after);
    lua_case_open(cdr_buf_text(&team), hooks);
    cdr_buf_fini(&team);
}

void lua_case_open_alice(const char *names, const char *hooks)
{
    open_with(
        "tools:\n"
        "  echo: {type: command, argv: [cat], parameters: {type: object}}\n"
        "state:\n"
        "  notes: {reducer: append, default: [first]}\n"
        "agents:\n"
        "  alice: {model: driven/test, instructions: Be alice., tools: [echo], hooks: ",
        names, hooks,
        "}\n"
        "  bob: {model: driven/test}\n"
        "  carol: {model: driven/test}\n");
}

void lua_case_open_desk(const char *names, const char *hooks)
{
    open_with("agents:\n"
              "  desk: {type: handoff, members: [alice, bob, carol]}\n"
              "  alice: {model: driven/test, handoffs: [bob], hooks: ",
              names, hooks,
              "}\n"
              "  bob: {model: driven/test, handoffs: [carol]}\n"
              "  carol: {model: driven/test}\n");
}

void lua_case_close(void)
{
    team_case_close(t);
    folder_remove(&folder);
}

void lua_case_run(const char *input)
{
    if (t->team)
        team_case_run(t, input);
}

void lua_case_check(const char *text)
{
    if (CHECK_OK(t->status, &t->err) && CHECK(t->result != NULL))
        CHECK_TEXT(t->result->text, text);
}

void lua_case_check_failure(const char *hook, const char *text)
{
    cdr_buf expected = CDR_BUF_INIT;
    cdr_buf_printf(&expected, "agent 'alice': hook %s: %s", hook, text);
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_TEXT(t->err.text, cdr_buf_text(&expected));
    CHECK_INT(t->err.error_class, CADRE_CLASS_HOOK);
    cdr_buf_fini(&expected);
}

void lua_case_check_value(const char *expression, const char *value)
{
    cdr_buf hooks = CDR_BUF_INIT;
    cdr_buf_printf(&hooks, "function create(ctx)\n return {output = tostring(%s)}\nend",
                   expression);
    lua_case_open_alice("create", cdr_buf_text(&hooks));
    lua_case_run("hello");
    lua_case_check(value);
    lua_case_close();
    cdr_buf_fini(&hooks);
}

void lua_case_check_mistake(const char *statements, const char *text)
{
    cdr_buf hooks = CDR_BUF_INIT;
    cdr_buf_printf(&hooks, "function create(ctx)\n %s\nend", statements);
    lua_case_open_alice("create", cdr_buf_text(&hooks));
    lua_case_run("hello");
    lua_case_check_failure("create", text);
    lua_case_close();
    cdr_buf_fini(&hooks);
}
